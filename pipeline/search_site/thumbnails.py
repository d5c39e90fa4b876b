"""Thumbnails of article pictures for the search site: fetched under the rules of the crawl, resized and cached.

    ThumbnailCache(...).get("https://news.example/1.html", "https://img.news.example/a.jpg") -> WebP bytes, or None

A browser requests thumbnails only from the search site, so other sites learn nothing about searches. The picture URL
comes from the index, so a request cannot name an arbitrary URL. Pictures are fetched only from the article's own
domain, only as robots.txt allows, and only from the public internet (`ip_policy`). Every picture is decoded and encoded
again, so a thumbnail cannot contain anything else.
"""

import dataclasses
import hashlib
import io
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

from PIL import Image, ImageOps

from crawler.http.fetch import Fetcher, FetchError
from crawler.http.ip_policy import IpPolicy
from crawler.robots.robots_cache import RobotsCache, RobotsTable, fetch_robots
from crawler.robots.robots_txt import product_token
from crawler.settings import CrawlSettings
from crawler.urls.canonical import canonicalize_url, host_of, url_origin
from crawler.urls.registrable_domains import registrable_domain
from domain.outcome import Reason
from locks.private_files import replace_file

log = logging.getLogger(__name__)

THUMBNAIL_SIZE = (320, 240)  # maximum pixels, twice the size on the page
MIN_SOURCE_SIDE = 80  # pixels; a smaller picture is an icon
MAX_ASPECT_RATIO = 4  # a picture with a higher ratio is a banner
MAX_DECODED_PIXELS = 8_000_000  # about 60 MB
MAX_PROGRESSIVE_PIXELS = 16_000_000  # of a progressive JPEG, which is decoded in full at about 7 bytes per pixel
MAX_JPEG_SCANS = 40  # encoders write ten; each scan costs a pass over all pixels, even if it has only 26 bytes
MAX_DOWNLOAD_BYTES = 5_000_000
MAX_CACHED_FILES = 20_000  # about 200 MB
MAX_REDIRECTS = 3
FETCH_TIMEOUT_SECONDS = 4.0  # per picture
MAX_CONCURRENT_FETCHES = 2  # further requests wait up to SLOT_TIMEOUT_SECONDS
SLOT_TIMEOUT_SECONDS = 1.0
RETRY_AFTER_SECONDS = 24 * 3600.0  # after a failed fetch
JPEG_SCAN_MARKER = b"\xff\xda"  # unambiguous: within JPEG data each 0xff byte is followed by a 0 byte
IMAGE_FORMATS = ("JPEG", "PNG", "WEBP", "GIF")


class ThumbnailCache:
    """Thumbnails in `folder`, at most MAX_CACHED_FILES. Thread-safe. Close it after use.

    `robots` stores robots.txt files, as the crawl's frontier does; `now` returns epoch seconds.
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
            sites=settings.sites.without_logins(),  # a public article must show no picture behind a login
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
        """True if `get` may return a thumbnail. Makes no request."""
        url = canonicalize_url(picture_url)
        return (
            not isinstance(url, Reason)
            and is_same_site(article_url, url)
            and not self._failed_recently(self._cache_path(url))
        )

    def get(self, article_url: str, picture_url: str) -> bytes | None:
        """Return the thumbnail as WebP; None if there is none or it is not available now.

        Network errors are not raised.
        """
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
            log.info("cannot fetch picture %s: %s", url, error.outcome)
            write_cached(file, b"")
            return None
        finally:
            self._fetch_slots.release()

    def close(self) -> None:
        """Close the connections to image hosts."""
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
        """Return the cached thumbnail, b"" after a recent failure, None if it has to be fetched."""
        try:
            content = file.read_bytes()
            return content if content or self._failed_recently(file) else None
        except OSError:
            return None

    def _fetch(self, url: str) -> bytes:
        domain = registrable_domain(host_of(url))
        for _ in range(MAX_REDIRECTS + 1):
            with self._robots_lock:
                rules = self._robots.cached_rules(url_origin(url))
                if rules is None:
                    rules = self._robots.store(fetch_robots(self._fetcher, url_origin(url), self._now))
            refusal = rules.rejection_outcome(url)
            if refusal is not None:
                raise FetchError(refusal.reason, refusal.detail)
            response = self._fetcher.get(url, {"Accept": "image/*"}, _is_image_response, MAX_DOWNLOAD_BYTES)
            target = response.redirect_url
            if target is None:
                return response.body
            if isinstance(target, Reason) or registrable_domain(host_of(target)) != domain:
                raise FetchError(Reason.REDIRECTED_OUT_OF_SCOPE)
            url = target
        raise FetchError(Reason.TOO_MANY_REDIRECTS)


def is_same_site(article_url: str, picture_url: str) -> bool:
    """True if the picture is on the article's host or another host of the same domain."""
    article = canonicalize_url(article_url)
    if isinstance(article, Reason):
        return False
    domain = registrable_domain(host_of(picture_url))
    return bool(domain) and domain == registrable_domain(host_of(article))


def _is_image_response(status: int, content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return status == HTTPStatus.OK and kind in {f"image/{image_format.lower()}" for image_format in IMAGE_FORMATS}


def make_thumbnail(content: bytes) -> bytes | None:
    """Return the picture as a WebP that fits into THUMBNAIL_SIZE.

    None for an icon, a banner, or data that is not a picture.

    Also returns None for a picture that is too large. An animation gives its first frame.
    """
    try:
        with Image.open(io.BytesIO(content), formats=IMAGE_FORMATS) as picture:
            width, height = picture.size
            if min(width, height) < MIN_SOURCE_SIDE or max(width, height) > MAX_ASPECT_RATIO * min(width, height):
                return None
            picture.draft("RGB", THUMBNAIL_SIZE)  # a JPEG is decoded at the smallest sufficient size
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
    except Exception:  # decoders of damaged files raise arbitrary exceptions
        log.info("cannot decode a picture", exc_info=True)
        return None


def is_expensive_jpeg(jpeg: bytes, pixels: int, is_progressive: bool) -> bool:
    """True if decoding a JPEG takes much memory or time at any output size."""
    return jpeg.count(JPEG_SCAN_MARKER) > MAX_JPEG_SCANS or (is_progressive and pixels > MAX_PROGRESSIVE_PIXELS)


def write_cached(file: Path, content: bytes) -> None:
    """Write a thumbnail, or b"" after a failure, atomically. Write errors such as a full disk are ignored."""
    with suppress(OSError):
        with replace_file(file) as new_file:
            new_file.write(content)
        delete_oldest(file.parent, MAX_CACHED_FILES // 256)


def delete_oldest(folder: Path, max_files: int) -> None:
    """Delete the oldest files of a folder beyond `max_files`."""
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
    for file in files[: max(0, len(files) - max_files)]:
        file.unlink(missing_ok=True)
