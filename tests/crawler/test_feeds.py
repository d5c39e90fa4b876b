"""Feeds of every kind, good and hostile."""

import base64
import json
import socket
import time
from pathlib import Path

import pytest

from crawler.sitemaps.feed_parser import MAX_ENTRIES, parse_feed
from crawler.sitemaps.sitemap import EMPTY_SITEMAP, SitemapEntry
from crawler.sitemaps.timestamps import parse_timestamp

HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "hostile"
URL = "http://site.test/feed/"
MAY = 1715263200.0  # 2024-05-09T14:00:00Z

RSS2 = """<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>石油 &amp; 天然气</title>
<link>http://site.test/</link><atom:link href="http://site.test/feed" rel="self"/>
<item><title><![CDATA[<b>新</b>闻&nbsp;1]]></title><link> http://site.test/1?utm_source=rss </link>
<pubDate>Thu, 09 May 2024 22:00:00 +0800</pubDate></item>
<item><title>2</title><guid isPermaLink="true">http://site.test/2</guid></item>
<item><title>no URL</title><guid isPermaLink="false">http://site.test/3</guid></item></channel></rss>"""
RSS1 = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="http://site.test/"><title>T</title></channel>
<item rdf:about="http://site.test/1"><title>新</title><dc:date>2024-05-09T22:00+08:00</dc:date></item></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://site.test/base/">
<title type="html">&lt;i&gt;T&lt;/i&gt;</title>
<entry><title type="html">&lt;em&gt;新&lt;/em&gt;</title><link rel="edit" href="/no"/><link href="1.html"/>
<published>2020-01-01T00:00:00Z</published><updated>2024-05-09T14:00:00Z</updated></entry></feed>"""
JSON = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "T",
        "items": [
            {"id": "1", "url": "http://site.test/1", "title": "新", "date_published": "2024-05-09T22:00:00+08:00"},
            {"id": "http://site.test/2"},
            {"id": "3"},
            "nonsense",
        ],
    }
)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        (RSS2, [("1", MAY), ("2", None)]),
        (RSS1, [("1", MAY)]),
        (ATOM, [("base/1.html", MAY)]),
        (JSON, [("1", MAY), ("2", None)]),
        (RSS2.replace("</item></channel></rss>", ""), [("1", MAY), ("2", None)]),
        ("junk\n" + RSS1, [("1", MAY)]),
    ],
    ids=["rss 2", "rss 1", "atom", "json", "cut off", "junk before"],
)
def test_kinds(text: str, entries: list[tuple[str, float | None]]) -> None:
    feed = parse_feed(text.encode(), URL)
    assert feed.entries == tuple(SitemapEntry(f"http://site.test/{path}", at) for path, at in entries)


def test_entries_have_their_canonical_address() -> None:
    for link in ("http://site.test/%7ea?b=1&amp;a=2", "http://site.test/%7ea?b=1&a=2", "<![CDATA[/%7ea?b=1&a=2]]>"):
        feed = parse_feed(f"<rss><channel><item><link>{link}</link></item></channel></rss>".encode(), URL)
        assert feed.entries == (SitemapEntry("http://site.test/~a?a=2&b=1"),)


@pytest.mark.parametrize("codec", ["gbk", "big5", "utf-16", "utf-8-sig", "utf-32", "utf-16-le"])
def test_encodings(codec: str) -> None:
    name = "utf-8" if codec == "utf-8-sig" else codec
    text = f'<?xml version="1.0" encoding="{name}"?><rss><channel><item><title>石油</title><link>http://site.test/1</link></item></channel></rss>'
    feed = parse_feed(text.encode(codec), URL)
    assert feed.entries == (SitemapEntry("http://site.test/1"),)


@pytest.mark.parametrize(
    "fault",
    [
        b"f&ecirc;te &nbsp; filters & fc", b"\x00\x0b\x1f", b'\xba\xc3\xb4" t\xff', b"<b>x<br></i>",
        b"a</p><img src=x>", b"&#xFFFF;&#0;&;",
    ],
    ids=["entities", "control characters", "invalid bytes", "markup", "ends", "references"],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["UTF-8", "gb2312", "unknown"])
def test_a_fault_in_a_field_leaves_the_entries(fault: bytes, encoding: str) -> None:
    items = b"".join(b"<item><title>%s</title><link>http://site.test/%d</link></item>" % (fault, n) for n in (1, 2))
    declaration = f'<?xml version="1.0" encoding="{encoding}"?><rss><channel>'.encode()
    feed = parse_feed(declaration + items + b"</channel></rss>", URL, "text/html; charset=gbk")
    assert [entry.url for entry in feed.entries] == ["http://site.test/1", "http://site.test/2"]


@pytest.mark.parametrize(
    "text", ["", "{", "<html><title>x</title></html>", "[" * 100_000, '{"a":' * 100_000, '{"version": 1}']
)
def test_no_feed(text: str) -> None:
    assert parse_feed(text.encode(), URL) == EMPTY_SITEMAP


def test_entries_are_bounded_and_each_address_comes_once() -> None:
    items = "".join(f"<item><link>http://site.test/{n % 6000}</link></item>" for n in range(20_000))
    assert len(parse_feed(f"<rss><channel>{items}</channel></rss>".encode(), URL).entries) == MAX_ENTRIES


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2024-05-09T22:00:00+08:00", MAY),
        ("2024-05-09 14:00", MAY),
        ("20240509T140000Z", MAY),
        ("Thu, 09 May 2024 14:00:00 GMT", MAY),
        ("2024", 1704067200.0),
        ("2024-02", 1706745600.0),
        ("2024-13-01", None),
        ("yesterday", None),
        ("9999999999999999999", None),
        ("0000-01-01", None),
        ("2024-05-09T14:00:00+99:99", None),
        ("1" * 100_000, None),
    ],
    ids=lambda value: str(value)[:30],
)
def test_moments(text: str, want: float | None) -> None:
    assert parse_timestamp(text) == want


@pytest.mark.shared
@pytest.mark.parametrize("name", ["feeds", "feeds_sanitize", "xml"])
def test_hostile_rows_end_well(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    rows = [json.loads(line) for line in (HOSTILE / f"{name}.jsonl").read_text("utf-8").splitlines()]
    assert rows
    before = time.thread_time()
    for row in rows:
        body = base64.b64decode(row["b64"]) if "b64" in row else row["text"].encode("utf-8", "surrogatepass")
        shown = "".join(entry.url for entry in parse_feed(body, URL).entries)
        assert "<script" not in shown.lower()
        assert "root:" not in shown and "SENTINEL" not in shown
    assert time.thread_time() - before < len(rows)  # CPU time; a second each is what is allowed
