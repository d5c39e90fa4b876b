"""Small pictures: fetched from a real server as the crawl would, made small, kept."""

import io
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from PIL import Image

from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.http.login_secrets import save_secret
from crawler.settings import CrawlSettings
from crawler.site import Sites
from domain.frontier import StoredRobots
from pipeline.search_site import thumbnails
from pipeline.search_site.thumbnails import (
    MAX_CACHED_FILES,
    MAX_DOWNLOAD_BYTES,
    RETRY_AFTER_SECONDS,
    THUMBNAIL_SIZE,
    ThumbnailCache,
    delete_oldest,
    make_thumbnail,
)
from tests.web_fixture import Answer, Site


class Table:
    """robots.txt files as the frontier keeps them."""

    def __init__(self) -> None:
        self.kept: dict[str, StoredRobots] = {}

    def find_robots(self, origin: str) -> StoredRobots | None:
        return self.kept.get(origin)

    def save_robots(self, robots: StoredRobots) -> None:
        self.kept[robots.origin] = robots


@cache
def drawn(width: int = 640, height: int = 400, kind: str = "PNG", mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    Image.new(mode, (width, height), "teal" if mode == "RGB" else None).save(file, kind)
    return file.getvalue()


@cache
def scanned(width: int, height: int, scans: int) -> bytes:
    """A progressive JPEG whose last scan is there `scans` times."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, "JPEG", progressive=True, quality=30)
    content = file.getvalue()
    last = content.rfind(b"\xff\xda")
    return content[:last] + content[last:-2] * scans + content[-2:]


def image(content: bytes, kind: str = "image/png", **more: str) -> Answer:
    return Answer(body=content, headers={"Content-Type": kind, **more})


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.fixture
def site() -> Iterator[Site]:
    answers = {
        "/robots.txt": Answer(body=b"User-agent: *\nDisallow: /private/", headers={"Content-Type": "text/plain"}),
        "/p.png": image(drawn()),
        "/photo.jpg": image(drawn(4000, 3000, "JPEG"), "image/jpeg"),
        "/private/p.png": image(drawn()),
        "/moved.png": Answer(302, headers={"Location": "/p.png"}),
        "/away.png": Answer(302, headers={"Location": "http://other.example/p.png"}),
        "/inside.png": Answer(302, headers={"Location": "http://127.0.0.2/p.png"}),
        "/round.png": Answer(302, headers={"Location": "/round.png"}),
        "/icon.png": image(drawn(32, 32)),
        "/banner.png": image(drawn(1000, 90)),
        "/drawing.svg": image(SVG, "image/svg+xml"),
        "/page.png": image(b"<html><script>alert(1)</script></html>"),
        "/half.png": image(drawn()[:200]),
        "/bomb.png": image(drawn(9000, 9000, mode="1")),
        "/progressive.jpg": image(scanned(1600, 1200, 1), "image/jpeg"),
        "/scans.jpg": image(scanned(1600, 1200, 1000), "image/jpeg"),
        "/coefficients.jpg": image(scanned(8000, 4000, 1), "image/jpeg"),
        "/heavy.png": image(b"\x89PNG" + b"x" * MAX_DOWNLOAD_BYTES),
    }
    with Site(answers) as running:
        yield running


@pytest.fixture
def made(site: Site, tmp_path: Path) -> Iterator[ThumbnailCache]:
    settings = CrawlSettings(sites=Sites().with_urls([f"http://{site.host}/"]))
    found = ThumbnailCache(tmp_path / "pictures", settings, PublicOnlyPolicy([site.host]), Table())
    yield found
    found.close()


def of(made: ThumbnailCache, site: Site, path: str) -> bytes | None:
    return made.get(f"http://{site.host}/article.html", path if "//" in path else f"http://{site.host}{path}")


def asked(site: Site, path: str) -> int:
    return sum(request.path == path for request in site.requests)


@pytest.mark.parametrize("path", ["/p.png", "/photo.jpg", "/progressive.jpg", "/moved.png"])
def test_a_picture_is_made_small_and_asked_for_once(made: ThumbnailCache, site: Site, path: str) -> None:
    content = of(made, site, path)
    assert content is not None and len(content) < 20_000
    with Image.open(io.BytesIO(content)) as picture:
        assert (
            picture.format == "WEBP" and picture.size[0] <= THUMBNAIL_SIZE[0] and picture.size[1] <= THUMBNAIL_SIZE[1]
        )
    assert of(made, site, path) == content and made.may_have(f"http://{site.host}/", f"http://{site.host}{path}")
    assert asked(site, path) == asked(site, "/robots.txt") == 1


@pytest.mark.parametrize(
    "path",
    [
        "/private/p.png", "/away.png", "/inside.png", "/round.png", "/icon.png", "/banner.png", "/drawing.svg",
        "/page.png", "/half.png", "/bomb.png", "/scans.jpg", "/coefficients.jpg", "/heavy.png", "/missing.png",
    ],
)  # fmt: skip
def test_what_may_not_be_had_or_is_no_picture_is_none_and_not_asked_for_again(
    made: ThumbnailCache, site: Site, path: str
) -> None:
    assert of(made, site, path) is None
    before = len(site.requests)
    assert of(made, site, path) is None and len(site.requests) == before
    assert not made.may_have(f"http://{site.host}/", f"http://{site.host}{path}")


def test_a_picture_behind_a_login_is_not_asked_for_with_it(site: Site, tmp_path: Path) -> None:
    site.pages["/member.png"] = Answer(401, headers={"WWW-Authenticate": 'Basic realm="members"'})
    table = {"host": site.host, "urls": [site.url("/")], "login": "basic", "login_user": "anna"}
    save_secret(tmp_path, site.host, "secret of anna")
    settings = CrawlSettings(sites=Sites.parse([table]), inside_hosts=("127.0.0.1",), folder=tmp_path)
    made = ThumbnailCache(tmp_path, settings, PublicOnlyPolicy(("127.0.0.1",)), Table())
    assert of(made, site, "/member.png") is None
    assert not any("Authorization" in request.headers for request in site.requests)
    made.close()


def test_robots_txt_is_heeded(made: ThumbnailCache, site: Site) -> None:
    of(made, site, "/private/p.png")
    assert asked(site, "/private/p.png") == 0


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.2:{port}/p.png", "http://other.example/p.png", "javascript:alert(1)", "file:///etc/passwd", ""],
)
def test_a_picture_from_elsewhere_is_never_asked_for(made: ThumbnailCache, site: Site, url: str) -> None:
    picture = url.replace("{port}", str(site.port))
    assert made.get(f"http://{site.host}/article.html", picture) is None
    assert not made.may_have(f"http://{site.host}/article.html", picture)
    assert made.get(picture, f"http://{site.host}/p.png") is None and site.requests == []


def test_an_inside_address_is_refused(site: Site, tmp_path: Path) -> None:
    """As in the crawl: unless the operator has named it, nothing on a private network is fetched."""
    guarded = ThumbnailCache(tmp_path, CrawlSettings(), PublicOnlyPolicy(), Table())
    assert of(guarded, site, "/p.png") is None and site.requests == []
    guarded.close()


def test_what_failed_is_asked_for_again_after_a_day(site: Site, tmp_path: Path) -> None:
    now = [time.time()]
    found = ThumbnailCache(tmp_path, CrawlSettings(), PublicOnlyPolicy([site.host]), Table(), lambda: now[0])
    assert of(found, site, "/late.png") is None
    site.pages["/late.png"] = image(drawn())
    assert of(found, site, "/late.png") is None
    now[0] += RETRY_AFTER_SECONDS + 60
    assert of(found, site, "/late.png") is not None
    found.close()


def test_only_so_many_are_fetched_at_once(made: ThumbnailCache, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes while all places are taken gets none, and the page goes on without it."""
    monkeypatch.setattr(thumbnails, "SLOT_TIMEOUT_SECONDS", 0.01)
    go_on, arrived = threading.Event(), threading.Semaphore(0)

    def slow(request: object) -> Answer:
        arrived.release()
        assert go_on.wait(60)
        return image(drawn())

    for n in range(thumbnails.MAX_CONCURRENT_FETCHES):
        site.pages[f"/slow{n}.png"] = slow
    of(made, site, "/icon.png")  # robots.txt is known
    busy = [
        threading.Thread(target=of, args=(made, site, f"/slow{n}.png"))
        for n in range(thumbnails.MAX_CONCURRENT_FETCHES)
    ]
    for thread in busy:
        thread.start()
        assert arrived.acquire(timeout=60)
    assert of(made, site, "/p.png") is None and asked(site, "/p.png") == 0
    go_on.set()
    for thread in busy:
        thread.join()
    assert of(made, site, "/p.png") is not None  # it was not taken for one that cannot be had


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    most = MAX_CACHED_FILES // 256
    for n in range(most + 5):
        (tmp_path / str(n)).write_bytes(b"x")
    delete_oldest(tmp_path, most)
    assert len(list(tmp_path.iterdir())) == most


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF"])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_every_kind_and_mode_is_read(kind: str, mode: str) -> None:
    assert make_thumbnail(drawn(300, 200, kind, mode)) is not None


def test_what_is_no_picture_is_none() -> None:
    for content in (b"", SVG, b"\x89PNG\r\n\x1a\n" + b"\0" * 99, drawn(90_000, 90, mode="1")):
        assert make_thumbnail(content) is None
