"""Small pictures of articles for the search site: fetched as the crawl would, made small, and kept.

    Pictures(...).of("https://news.example/1.html", "https://img.news.example/a.jpg") -> WebP of a few kB, or None

A reader's browser asks nobody but the search site, so no other site learns who searches for what. The picture is the
one that the index has for an article: a reader cannot name a URL. It is fetched from the article's own domain alone,
where robots.txt allows it, and from the public internet (`ip_policy`). What is served was decoded and written
anew here, so it is a picture and nothing else.
"""

import dataclasses
import hashlib
import io
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

from PIL import Image, ImageOps

from crawler.http.fetch import Fetcher, FetchError
from crawler.http.ip_policy import IpPolicy
from crawler.robots.robots_cache import RobotsCache, RobotsTable, fetch_robots, product_token
from crawler.settings import CrawlSettings
from crawler.urls.canonical import canonicalize_url, host_of, url_origin
from crawler.urls.registrable_domains import registrable_domain
from docstore.model import Reason

log = logging.getLogger(__name__)

THUMBNAIL_SIZE = (320, 240)  # pixels at most, twice what a page shows
MIN_SOURCE_SIDE = 80  # of the original: what is smaller is an icon
MAX_ASPECT_RATIO = 4  # times as long as wide: what is longer is a banner
MAX_DECODED_PIXELS = 8_000_000  # that are decoded, some 60 MB
MAX_PROGRESSIVE_PIXELS = 16_000_000  # pixels of a progressive JPEG, whose decoder holds all of it at some 7 bytes each
MAX_JPEG_SCANS = 40  # of a JPEG; encoders write ten. A scan of 26 bytes costs a pass over the whole picture
MAX_DOWNLOAD_BYTES = 5_000_000  # that are fetched
MAX_CACHED_FILES = 20_000  # that are kept, some 200 MB
MAX_REDIRECTS = 3  # redirects
FETCH_TIMEOUT_SECONDS = 4.0  # that one picture may take
MAX_CONCURRENT_FETCHES = (
    2  # pictures that are fetched at the same time; who comes then waits for `SLOT_TIMEOUT_SECONDS` seconds
)
SLOT_TIMEOUT_SECONDS = 1.0
RETRY_AFTER_SECONDS = 24 * 3600.0  # until a picture that could not be had is asked for again
JPEG_SCAN_MARKER = b"\xff\xda"  # in no other place of a JPEG's data, which has a 0 behind each 0xff of its own
IMAGE_FORMATS = ("JPEG", "PNG", "WEBP", "GIF")


class ThumbnailCache:
    """Small pictures in `folder`, at most `MAX_CACHED_FILES`. Safe to use from many threads.

    `robots` keeps robots.txt files, as the crawl's frontier does; `now` tells epoch seconds. Close it after use.
    """

    def __init__(
        self,
        folder: Path,
        settings: CrawlSettings,
        ip_policy: IpPolicy,
        robots: RobotsTable,
        now: Callable[[], float] = time.time,
    ) -> None:
        fetch_settings = dataclasses.replace(
            settings,
            connect_timeout=FETCH_TIMEOUT_SECONDS / 2,
            read_timeout=FETCH_TIMEOUT_SECONDS,
            total_timeout=FETCH_TIMEOUT_SECONDS,
        )
        self._folder = folder
        self._fetcher = Fetcher(fetch_settings, ip_policy)
        self._robots = RobotsCache(robots, product_token(settings.user_agent), now)
        self._robots_lock = threading.Lock()
        self._fetch_slots = threading.BoundedSemaphore(MAX_CONCURRENT_FETCHES)
        self._now = now

    def may_have(self, article_url: str, picture_url: str) -> bool:
        """Could `get` have one? Asks nobody."""
        url = canonicalize_url(picture_url)
        return (
            not isinstance(url, Reason)
            and is_same_site(article_url, url)
            and not self._failed_recently(self._cache_path(url))
        )

    def get(self, article_url: str, picture_url: str) -> bytes | None:
        """The picture, small, as WebP; None where there is none to be had, or not now. Never raises for bad answers."""
        url = canonicalize_url(picture_url)
        if isinstance(url, Reason) or not is_same_site(article_url, url):
            return None
        file = self._cache_path(url)
        if (cached := self._read_cached(file)) is not None:
            return cached or None
        if not self._fetch_slots.acquire(timeout=SLOT_TIMEOUT_SECONDS):
            return None
        try:
            thumbnail = make_thumbnail(self._fetch(url)) or b""
            write_cached(file, thumbnail)
            return thumbnail or None
        except FetchError as error:
            log.info("no picture %s: %s", url, error.outcome)
            write_cached(file, b"")
            return None
        finally:
            self._fetch_slots.release()

    def close(self) -> None:
        """Close the connections."""
        self._fetcher.close()

    def _cache_path(self, url: str) -> Path:
        name = hashlib.sha256(url.encode()).hexdigest()
        return self._folder / name[:2] / name[2:34]

    def _failed_recently(self, file: Path) -> bool:
        try:
            file_stat = file.stat()
            return not file_stat.st_size and self._now() - file_stat.st_mtime < RETRY_AFTER_SECONDS
        except OSError:
            return False

    def _read_cached(self, file: Path) -> bytes | None:
        """What is kept, b"" for what could not be had lately; None if it has to be fetched."""
        try:
            content = file.read_bytes()
            return content if content or self._failed_recently(file) else None
        except OSError:
            return None

    def _fetch(self, url: str) -> bytes:
        domain = registrable_domain(host_of(url))
        for _ in range(MAX_REDIRECTS + 1):
            self._check_robots(url)
            response = self._fetcher.get(url, {"Accept": "image/*"}, _is_image_response, MAX_DOWNLOAD_BYTES)
            target = response.redirect_url
            if target is None:
                return response.body
            if isinstance(target, Reason) or registrable_domain(host_of(target)) != domain:
                raise FetchError(Reason.REDIRECTED_OUT_OF_SCOPE)
            url = target
        raise FetchError(Reason.TOO_MANY_REDIRECTS)

    def _check_robots(self, url: str) -> None:
        with self._robots_lock:
            rules = self._robots.cached_rules(url_origin(url))
            if rules is None:
                rules = self._robots.store(fetch_robots(self._fetcher, url_origin(url), self._now))
        refusal = rules.rejection_outcome(url)
        if refusal is not None:
            raise FetchError(refusal.reason, refusal.detail)


def is_same_site(article_url: str, picture_url: str) -> bool:
    """Does the picture stand on the article's own site, or one of the same domain?"""
    article = canonicalize_url(article_url)
    if isinstance(article, Reason):
        return False
    domain = registrable_domain(host_of(picture_url))
    return bool(domain) and domain == registrable_domain(host_of(article))


def _is_image_response(status: int, content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return status == HTTPStatus.OK and kind in {f"image/{image_format.lower()}" for image_format in IMAGE_FORMATS}


def make_thumbnail(content: bytes) -> bytes | None:
    """The picture as a WebP that fits into `THUMBNAIL_SIZE`; None for what is no picture, an icon, a banner, or too large.

    Of a moving picture it is the first frame.
    """
    try:
        with Image.open(io.BytesIO(content), formats=IMAGE_FORMATS) as picture:
            width, height = picture.size
            if min(width, height) < MIN_SOURCE_SIDE or max(width, height) > MAX_ASPECT_RATIO * min(width, height):
                return None
            picture.draft("RGB", THUMBNAIL_SIZE)  # a JPEG is decoded as small as will do
            if picture.width * picture.height > MAX_DECODED_PIXELS or (
                picture.format == "JPEG"
                and is_expensive_jpeg(content, width * height, bool(picture.info.get("progressive")))
            ):
                return None
            image = ImageOps.exif_transpose(picture).convert("RGBA")
        image.thumbnail(THUMBNAIL_SIZE)
        on_white = Image.new("RGB", image.size, "white")
        on_white.paste(image, mask=image)
        buffer = io.BytesIO()
        on_white.save(buffer, "WEBP", quality=75)
        return buffer.getvalue()
    except Exception:  # decoders of broken files raise whatever comes to their mind
        log.info("a picture could not be read", exc_info=True)
        return None


def is_expensive_jpeg(jpeg: bytes, pixels: int, is_progressive: bool) -> bool:
    """Would a JPEG take much memory or time to decode, however small it is wanted?"""
    return jpeg.count(JPEG_SCAN_MARKER) > MAX_JPEG_SCANS or (is_progressive and pixels > MAX_PROGRESSIVE_PIXELS)


def write_cached(file: Path, content: bytes) -> None:
    """Write a picture, or b"" for one that cannot be had, all of it or nothing. A full disk costs the picture alone."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
        temporary.write_bytes(content)
        temporary.replace(file)
        delete_oldest(file.parent, MAX_CACHED_FILES // 256)


def delete_oldest(folder: Path, max_files: int) -> None:
    """Delete the oldest files of a folder beyond `max_files`."""
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
    for file in files[: max(0, len(files) - max_files)]:
        file.unlink(missing_ok=True)
