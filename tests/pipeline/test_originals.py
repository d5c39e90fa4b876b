"""Pages as they were fetched: read from a real archive, made harmless, or refused with a reason."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from lxml.html import document_fromstring

from docstore.store import Store, open_sqlite_store
from domain.article import Article, document_id
from domain.frontier import NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from domain.page import Host, Page
from pipeline.search_site.html_sanitizer import ALLOWED_ATTRIBUTES, ALLOWED_TAGS, sanitize_css, sanitize_page
from pipeline.search_site.originals import Originals
from search_ui.interfaces import OriginalError
from tests.hostile_page import hostile_page

BASE = "http://a.test/news/1.html"
HOSTILE = hostile_page("http://evil.test")


def shown(body: str | bytes, content_type: str = "text/html; charset=utf-8", robots: tuple[str, ...] = ()) -> str:
    data = body.encode() if isinstance(body, str) else body
    return sanitize_page(data, content_type, BASE, robots, "Plumbline").html


def test_what_acts_or_loads_is_taken_out_and_what_is_said_stays() -> None:
    html = shown(HOSTILE)
    root = document_fromstring(html)
    assert {one.tag for one in root.iter() if isinstance(one.tag, str)} <= ALLOWED_TAGS | {"meta"}
    names = {name for one in root.iter() for name in one.attrib}
    assert names <= ALLOWED_ATTRIBUTES | {"style", "href", "src", "charset"}
    assert {str(one) for one in root.xpath("//@href")} == {"#part"}
    assert {str(one) for one in root.xpath("//@src")} == {"data:image/png;base64,iVBORw0KGgo="}
    assert [str(one) for one in root.xpath("//meta/@*")] == ["utf-8"]
    styles = " ".join((*root.xpath("//style/text()"), *map(str, root.xpath("//@style"))))
    assert not re.search(r"url\s*\(|@import|\\", styles, re.IGNORECASE)
    assert "color: red" in styles and "color:blue" in styles
    text = root.text_content()
    for words in ("Words of the page", "[a picture]", "one", "two", "three", "card", "cell", "end"):
        assert words in text
    [other] = [one for one in root.iter("a") if one.text == "two"]
    assert other.get("title") == "http://evil.test/other.html"


@pytest.mark.parametrize(
    "css",
    [
        "a{background:url(http://e.test/x)}", "a{background:URL( 'http://e.test/x' )}", "@import 'http://e.test/x';",
        "@import url(http://e.test/x) screen;", r"a{background:\75\72\6c(http://e.test/x)}", "a{src:url(http://e.test/x",
        "a{background:image-set('http://e.test/x' 1x)}", "a{width:expression(alert(1))}", r"@\69mport 'http://e.test/x';",
    ],
)  # fmt: skip
def test_styles_load_nothing(css: str) -> None:
    """What hides behind an escape has lost its meaning, which is as good as to be gone."""
    safe = sanitize_css(css)
    assert "\\" not in safe
    assert "e.test" not in safe or not any(way in safe.lower() for way in ("url(", "@import", "image-set("))
    assert "expression(" not in safe


def test_the_charset_is_the_one_that_the_page_was_in() -> None:
    body = '<meta charset="gb2312"><title>新闻</title><p>世界石油大会在北京召开。'.encode("gbk")
    for kind in ("text/html", "text/html; charset=gbk"):
        html = shown(body, kind)
        assert "世界石油大会在北京召开。" in html and "gb2312" not in html and 'charset="utf-8"' in html


@pytest.mark.parametrize(
    ("head", "robots", "refused"),
    [
        ('<meta name="robots" content="noarchive">', (), True),
        ('<meta name=ROBOTS content="index, NoArchive">', (), True),
        ('<meta name="plumbline" content="nocache">', (), True),
        ('<meta name="googlebot" content="noarchive">', (), False),
        ("", ("noarchive",), True),
        ("", ("otherbot: noarchive",), False),
        ("", ("plumbline: noarchive",), True),
        ('<meta name="robots" content="nofollow">', (), False),
    ],
)
def test_who_asks_for_no_copies_is_heard(head: str, robots: tuple[str, ...], refused: bool) -> None:
    found = sanitize_page(f"<html><head>{head}</head><body><p>text".encode(), "text/html", BASE, robots, "plumbline")
    assert found.is_noarchive is refused and bool(found.html) is not refused


@pytest.mark.parametrize("body", ["<div>" * 100_000 + "deep", "<p " + "a=b " * 200_000 + ">x", "<", "<!--", "\x00\x01"])
def test_any_bytes_come_to_an_end(body: str) -> None:
    shown(body)


# -- on an archive


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_sqlite_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def originals(store: Store) -> Iterator[Originals]:
    with closing(Originals(store.source_pages, "Plumbline/0.1")) as made:
        yield made


def keep(store: Store, url: str, body: bytes, kind: str = "text/html", **headers: str) -> str:
    """A page of the store with its article; returns the article's id."""
    store.frontier.add_urls([NewUrl(url, Host("a.test"), 0, 0, UrlKind.UNKNOWN, 0.0)])
    entry = store.frontier.find_entries([url])[url]
    sent = tuple((name.replace("_", "-"), value) for name, value in (("Content_Type", kind), *headers.items()))
    digest = hashlib.sha256(body).hexdigest()
    page = Page(entry.url_id, url, url, 200, kind, body, digest, 1e9, headers=sent)
    store.frontier.record_visits([Visit(entry, Outcome(Reason.FETCHED), 1e9, None, 0.0, page=page)])
    from docstore.articles.extraction_writer import PageExtraction

    [waiting] = [one for one in store.articles.iter_pending() if one.url == url]
    store.articles.save([PageExtraction(waiting, Article(url, "title", f"body of {url}"))])
    return document_id(url)


def test_a_page_of_the_archive(store: Store, originals: Originals) -> None:
    doc_id = keep(store, BASE, HOSTILE.encode())
    kept = originals.find(doc_id)
    assert kept is not None and (kept.url, kept.fetched_at, kept.format) == (BASE, 1e9, "html")
    assert kept.sha256 == hashlib.sha256(HOSTILE.encode()).hexdigest()
    assert "Words of the page" in originals.sanitized_html(doc_id) and originals.find("nothing") is None
    with pytest.raises(OriginalError, match="not_found"):
        originals.file_bytes(doc_id)


def test_headers_of_the_archive_are_heard(store: Store, originals: Originals) -> None:
    page = keep(store, BASE, b"<p>text", X_Robots_Tag="noarchive")
    file = keep(store, "http://a.test/a.pdf", b"%PDF-1.4", "application/pdf", X_Robots_Tag="noarchive")
    free = keep(store, "http://a.test/b.pdf", b"%PDF-1.5", "application/pdf")
    for ask, doc_id in ((originals.sanitized_html, page), (originals.file_bytes, file)):
        with pytest.raises(OriginalError, match="refused"):
            ask(doc_id)
    assert originals.file_bytes(free) == b"%PDF-1.5"


def test_bytes_that_are_lost_are_said_to_be(store: Store, originals: Originals, tmp_path: Path) -> None:
    doc_id = keep(store, BASE, b"<p>text")
    for file in (tmp_path / "warc").iterdir():
        file.unlink()
    with pytest.raises(OriginalError, match="lost"):
        originals.sanitized_html(doc_id)


def test_a_page_that_is_too_much_is_unreadable_and_the_next_is_not(store: Store, originals: Originals) -> None:
    large = keep(store, BASE, b"<p>" + b"words of a very long page " * 250_000)
    small = keep(store, "http://a.test/2", b"<p>short")
    with pytest.raises(OriginalError, match="unreadable"):
        originals.sanitized_html(large)
    assert "short" in originals.sanitized_html(small)
