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
from crawler.robots.cache import Robots, RobotsTable, fetch_robots, product_token
from crawler.settings import CrawlSettings
from crawler.urls.canonical import canonical, host_of, origin_of
from crawler.urls.registered_domains import registrable_domain
from docstore.model import Reason

log = logging.getLogger(__name__)

SIDES = (320, 240)  # pixels at most, twice what a page shows
MIN_SIDE = 80  # of the original: what is smaller is an icon
MAX_SHAPE = 4  # times as long as wide: what is longer is a banner
MAX_PIXELS = 8_000_000  # that are decoded, some 60 MB
MAX_PROGRESSIVE = 16_000_000  # pixels of a progressive JPEG, whose decoder holds all of it at some 7 bytes each
MAX_SCANS = 40  # of a JPEG; encoders write ten. A scan of 26 bytes costs a pass over the whole picture
MAX_BYTES = 5_000_000  # that are fetched
MAX_FILES = 20_000  # that are kept, some 200 MB
MAX_HOPS = 3  # redirects
SECONDS = 4.0  # that one picture may take
AT_ONCE = 2  # pictures that are fetched at the same time; who comes then waits for `PATIENCE` seconds
PATIENCE = 1.0
FAILED_SECONDS = 24 * 3600.0  # until a picture that could not be had is asked for again
START_OF_SCAN = b"\xff\xda"  # in no other place of a JPEG's data, which has a 0 behind each 0xff of its own
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")


class Pictures:
    """Small pictures in `folder`, at most `MAX_FILES`. Safe to use from many threads.

    `robots` keeps robots.txt files, as the crawl's frontier does; `now` tells epoch seconds. Close it after use.
    """

    def __init__(
        self,
        folder: Path,
        settings: CrawlSettings,
        addresses: IpPolicy,
        robots: RobotsTable,
        now: Callable[[], float] = time.time,
    ) -> None:
        quick = dataclasses.replace(settings, connect_timeout=SECONDS / 2, read_timeout=SECONDS, total_timeout=SECONDS)
        self._folder = folder
        self._fetcher = Fetcher(quick, addresses)
        self._robots = Robots(robots, product_token(settings.user_agent), now)
        self._asking_robots = threading.Lock()
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self._now = now

    def may_be(self, article_url: str, picture_url: str) -> bool:
        """Could `of` have one? Asks nobody."""
        url = canonical(picture_url)
        return not isinstance(url, Reason) and is_own(article_url, url) and not self._failed(self._file(url))

    def of(self, article_url: str, picture_url: str) -> bytes | None:
        """The picture, small, as WebP; None where there is none to be had, or not now. Never raises for bad answers."""
        url = canonical(picture_url)
        if isinstance(url, Reason) or not is_own(article_url, url):
            return None
        file = self._file(url)
        if (kept := self._kept(file)) is not None:
            return kept or None
        if not self._places.acquire(timeout=PATIENCE):
            return None
        try:
            made = small(self._fetched(url)) or b""
            keep(file, made)
            return made or None
        except FetchError as error:
            log.info("no picture %s: %s", url, error.outcome)
            keep(file, b"")
            return None
        finally:
            self._places.release()

    def close(self) -> None:
        """Close the connections."""
        self._fetcher.close()

    def _file(self, url: str) -> Path:
        name = hashlib.sha256(url.encode()).hexdigest()
        return self._folder / name[:2] / name[2:34]

    def _failed(self, file: Path) -> bool:
        try:
            kept = file.stat()
            return not kept.st_size and self._now() - kept.st_mtime < FAILED_SECONDS
        except OSError:
            return False

    def _kept(self, file: Path) -> bytes | None:
        """What is kept, b"" for what could not be had lately; None if it has to be fetched."""
        try:
            content = file.read_bytes()
            return content if content or self._failed(file) else None
        except OSError:
            return None

    def _fetched(self, url: str) -> bytes:
        domain = registrable_domain(host_of(url))
        for _ in range(MAX_HOPS + 1):
            self._check_robots(url)
            answer = self._fetcher.ask(url, {"Accept": "image/*"}, _is_picture, MAX_BYTES)
            target = answer.target
            if target is None:
                return answer.body
            if isinstance(target, Reason) or registrable_domain(host_of(target)) != domain:
                raise FetchError(Reason.REDIRECTED_OFF_SCOPE)
            url = target
        raise FetchError(Reason.TOO_MANY_REDIRECTS)

    def _check_robots(self, url: str) -> None:
        with self._asking_robots:
            rules = self._robots.rules(origin_of(url))
            if rules is None:
                rules = self._robots.learn(fetch_robots(self._fetcher, origin_of(url), self._now))
        refusal = rules.refuse(url)
        if refusal is not None:
            raise FetchError(refusal.reason, refusal.detail)


def is_own(article_url: str, picture_url: str) -> bool:
    """Does the picture stand on the article's own site, or one of the same domain?"""
    article = canonical(article_url)
    if isinstance(article, Reason):
        return False
    domain = registrable_domain(host_of(picture_url))
    return bool(domain) and domain == registrable_domain(host_of(article))


def _is_picture(status: int, content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return status == HTTPStatus.OK and kind in {f"image/{one.lower()}" for one in FORMATS}


def small(content: bytes) -> bytes | None:
    """The picture as a WebP that fits into `SIDES`; None for what is no picture, an icon, a banner, or too large.

    Of a moving picture it is the first frame.
    """
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as picture:
            width, height = picture.size
            if min(width, height) < MIN_SIDE or max(width, height) > MAX_SHAPE * min(width, height):
                return None
            picture.draft("RGB", SIDES)  # a JPEG is decoded as small as will do
            if picture.width * picture.height > MAX_PIXELS or (
                picture.format == "JPEG" and is_dear(content, width * height, bool(picture.info.get("progressive")))
            ):
                return None
            made = ImageOps.exif_transpose(picture).convert("RGBA")
        made.thumbnail(SIDES)
        on_white = Image.new("RGB", made.size, "white")
        on_white.paste(made, mask=made)
        written = io.BytesIO()
        on_white.save(written, "WEBP", quality=75)
        return written.getvalue()
    except Exception:  # decoders of broken files raise whatever comes to their mind
        log.info("a picture could not be read", exc_info=True)
        return None


def is_dear(jpeg: bytes, pixels: int, is_progressive: bool) -> bool:
    """Would a JPEG take much memory or time to decode, however small it is wanted?"""
    return jpeg.count(START_OF_SCAN) > MAX_SCANS or (is_progressive and pixels > MAX_PROGRESSIVE)


def keep(file: Path, content: bytes) -> None:
    """Write a picture, or b"" for one that cannot be had, all of it or nothing. A full disk costs the picture alone."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        passing = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
        passing.write_bytes(content)
        passing.replace(file)
        prune(file.parent, MAX_FILES // 256)


def prune(folder: Path, most: int) -> None:
    """Delete the oldest files of a folder beyond `most`."""
    files = sorted(folder.iterdir(), key=lambda one: one.stat().st_mtime)
    for file in files[: max(0, len(files) - most)]:
        file.unlink(missing_ok=True)
