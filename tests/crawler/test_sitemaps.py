"""Sitemaps: readers, hostile files, the walk over them, and whether lastmod can be trusted."""

import base64
import gzip
import json
import time
from pathlib import Path

import pytest

from crawler.robots.robots_txt import parse_robots_txt
from crawler.sitemaps.origin_sitemaps import (
    MAX_FILES_PER_ORIGIN,
    MAX_INDEX_DEPTH,
    OriginSitemaps,
    default_sitemap_urls,
    robots_sitemap_urls,
)
from crawler.sitemaps.sitemap import EMPTY_SITEMAP, Sitemap, SitemapEntry
from crawler.sitemaps.sitemap_parser import (
    MAX_URLS_PER_SITEMAP,
    LastmodTrustLevel,
    parse_sitemap,
    rate_lastmod,
)
from crawler.urls.canonical import Scope, UrlRules, rejection_reason

HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "hostile"
URL = "http://site.test/sitemap.xml"
MAY = 1715263200.0
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
PAGES = f"<urlset {NS}><url><loc>\n http://site.test/1 </loc><lastmod>2024-05-09T14:00:00Z</lastmod></url>"
NEWS = f"""<urlset {NS} xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"
xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><url><i:image><i:loc>http://site.test/1.jpg</i:loc></i:image>
<loc>http://site.test/1</loc><n:news><n:publication_date>2024-05-09T14:00:00Z</n:publication_date><n:title>新</n:title>
</n:news></url></urlset>"""


def paths(body: str | bytes) -> list[str]:
    found = parse_sitemap(body if isinstance(body, bytes) else body.encode(), URL)
    urls = (*(entry.url for entry in found.entries), *found.child_sitemaps)
    return [url.removeprefix("http://site.test/") for url in urls]


@pytest.mark.parametrize(
    ("body", "want"),
    [
        (PAGES + "</urlset>", ["1"]),
        (gzip.compress((PAGES + "</urlset>").encode()), ["1"]),
        (gzip.compress((PAGES + "</urlset>").encode())[:-12], ["1"]),
        (PAGES, ["1"]),
        (PAGES + "<url><loc>http://site.test/2?a=1&b=2</loc>", ["1", "2?a=1&b=2"]),
        ("<urlset><url><loc>/3</loc></url><url><loc>4</loc></url></urlset>", ["3"]),
        (
            f"<s:urlset {NS.replace('xmlns', 'xmlns:s')}><s:url><s:loc>http://site.test/5</s:loc></s:url></s:urlset>",
            ["5"],
        ),
        ("<sitemapindex><sitemap>http://site.test/6</sitemap></sitemapindex>", ["6"]),
        ("http://site.test/7\r\n\r\nhttp://site.test/8 \nnonsense\n/no\n", ["7", "8"]),
        ("\ufeff<rss><channel><item><link>http://site.test/9</link></item></channel></rss>", ["9"]),
        (NEWS, ["1"]),
        ("<p><loc>http://site.test/10</loc></b></urlset", ["10"]),
        ("<html><body>404 not found</body></html>", []),
        (b"\x1f\x8b" + b"\x00" * 100, []),
        (b"\x00\xff" * 100, []),
        ("", []),
    ],
    ids=[
        *("xml", "gzip", "gzip cut off", "cut off", "bare &", "relative", "prefix", "index without loc", "text", "rss"),
        *("news", "scraps", "html", "no gzip", "bytes", "empty"),
    ],
)
def test_forms(body: str | bytes, want: list[str]) -> None:
    assert paths(body) == want


def test_what_an_entry_says() -> None:
    assert parse_sitemap(NEWS.encode(), URL).entries == (SitemapEntry("http://site.test/1", MAY),)
    assert parse_sitemap(b"<urlset><url><loc>javascript:1</loc></url></urlset>", URL) == EMPTY_SITEMAP


def test_size_is_bounded() -> None:
    many = "".join(f"<url><loc>http://site.test/{n}</loc></url>" for n in range(MAX_URLS_PER_SITEMAP + 1000))
    assert len(paths(f"<urlset>{many}</urlset>")) == MAX_URLS_PER_SITEMAP
    assert (
        len(paths("\n".join(f"http://site.test/{n}" for n in range(2 * MAX_URLS_PER_SITEMAP)))) == MAX_URLS_PER_SITEMAP
    )


MONSTERS = {
    "entities": "<!DOCTYPE x [<!ENTITY a '" + "x" * 1000 + "'>" + "".join(
        f"<!ENTITY e{n} '{f'&e{n - 1};' * 10 if n else '&a;' * 10}'>" for n in range(10)
    ) + "]><urlset a='&e9;'><url><loc>http://site.test/&e9;</loc></url></urlset>",
    "elements": "<a/>" * 1_000_000,
    "depth": "<a>" * 100_000,
    "attributes": "<urlset " + " ".join(f"a{n}=''" for n in range(50_000)) + ">",
    "one text": "<urlset><url><loc>" + "x" * 5_000_000,
    "fields": "<urlset><url>" + "<loc>http://site.test/1</loc>" * 100_000,
    "bomb": gzip.compress(b"<urlset>" + b" " * 60_000_000),
}  # fmt: skip


@pytest.mark.parametrize("name", MONSTERS)
def test_monsters_cost_little(name: str) -> None:
    monster = MONSTERS[name]
    before = time.thread_time()
    found = parse_sitemap(monster if isinstance(monster, bytes) else monster.encode(), URL)
    assert time.thread_time() - before < 20  # CPU time, an order of magnitude above what it takes
    assert len(found.entries) <= 1


@pytest.mark.shared
def test_hostile_rows_name_no_file_and_no_inside_place_in_scope() -> None:
    rows = [json.loads(line) for line in (HOSTILE / "xml.jsonl").read_text("utf-8").splitlines()]
    rules = UrlRules((Scope("site.test"),))
    assert rows
    for row in rows:
        body = base64.b64decode(row["b64"]) if "b64" in row else row["text"].encode("utf-8", "surrogatepass")
        walk = OriginSitemaps("http://site.test", lambda url: rejection_reason(url, rules), [URL])
        next_url(walk)
        for entry in walk.handle_sitemap(parse_sitemap(body, URL)):
            assert entry.url.startswith("http://site.test/")
            assert "root:" not in entry.url and "SENTINEL" not in entry.url
        assert next_url(walk) is None, row


def index(*urls: str) -> Sitemap:
    return Sitemap(child_sitemaps=urls)


def pages(*urls: str) -> Sitemap:
    return Sitemap(entries=tuple(map(SitemapEntry, urls)))


def walk_of(*start: str) -> OriginSitemaps:
    rules = UrlRules((Scope("www.site.test"),))
    return OriginSitemaps("http://www.site.test", lambda url: rejection_reason(url, rules), start)


def next_url(walk: OriginSitemaps) -> str | None:
    """Return the URL of the next file, or None."""
    file = walk.next_file()
    return file and file[1]


def test_where_a_walk_begins() -> None:
    said = parse_robots_txt("Sitemap: /a.xml\nSitemap: ftp://x/\nSitemap: http://other.test/s.xml", "x")
    assert robots_sitemap_urls(said, "http://site.test") == ("http://site.test/a.xml", "http://other.test/s.xml")
    assert robots_sitemap_urls(parse_robots_txt("", "x"), "http://site.test") == ()
    places = default_sitemap_urls("http://site.test", ["/docs/"])
    assert (places[0], places[-1]) == ("http://site.test/sitemap.xml", "http://site.test/docs/sitemap.xml")


def test_usual_places_are_asked_until_one_names_pages() -> None:
    usual = default_sitemap_urls("http://www.site.test")
    walk = OriginSitemaps("http://www.site.test", lambda url: None, ["http://www.site.test/named.xml"], usual)
    assert next_url(walk) == "http://www.site.test/named.xml"
    walk.handle_sitemap(Sitemap())
    assert next_url(walk) == usual[0]
    walk.handle_sitemap(Sitemap(), "http://www.site.test/wp-sitemap.xml")
    assert next_url(walk) == "http://www.site.test/wp-sitemap.xml"
    walk.handle_sitemap(pages("http://www.site.test/1"))
    assert next_url(walk) is None


def test_a_sitemap_that_moves_in_circles_ends() -> None:
    walk = walk_of("http://www.site.test/0.xml")
    for _ in range(20):
        url = next_url(walk)
        walk.handle_sitemap(
            Sitemap(),
            "http://www.site.test/1.xml" if url == "http://www.site.test/0.xml" else "http://www.site.test/0.xml",
        )
    assert next_url(walk) is None


def test_a_walk_goes_through_indexes_and_ends() -> None:
    walk = walk_of("http://www.site.test/i.xml")
    assert next_url(walk) == "http://www.site.test/i.xml"
    assert (
        walk.handle_sitemap(index("http://cdn.site.test/a.xml", "http://evil.test/b.xml", "http://www.site.test/i.xml"))
        == ()
    )
    assert next_url(walk) == "http://cdn.site.test/a.xml"
    taken = walk.handle_sitemap(pages("http://www.site.test/1", "http://evil.test/2", "http://www.site.test/3.pdf"))
    assert [entry.url for entry in taken] == ["http://www.site.test/1", "http://www.site.test/3.pdf"]
    assert next_url(walk) is None


def test_indexes_in_indexes_end() -> None:
    walk = walk_of("http://www.site.test/0.xml")
    asked = 0
    while (url := next_url(walk)) is not None:
        asked += 1
        walk.handle_sitemap(index(f"{url}x"))
    assert asked == MAX_INDEX_DEPTH + 1


def test_files_are_bounded() -> None:
    walk = walk_of("http://www.site.test/0.xml")
    next_url(walk)
    walk.handle_sitemap(index(*(f"http://www.site.test/{n}.xml" for n in range(5000))))
    asked = 1
    while next_url(walk) is not None:
        asked += 1
    assert asked == MAX_FILES_PER_ORIGIN


@pytest.mark.parametrize(
    ("visits", "want"),
    [
        ([], LastmodTrustLevel.UNKNOWN),
        ([(True, True)] * 50, LastmodTrustLevel.UNKNOWN),  # it never stood still: that it misses nothing is not shown
        ([(False, False)] * 20 + [(True, True)] * 5, LastmodTrustLevel.RELIABLE),
        ([(False, False)] * 18 + [(False, True)] * 2, LastmodTrustLevel.UNRELIABLE),
        ([(False, False)] * 99 + [(False, True)] * 1, LastmodTrustLevel.RELIABLE),
        ([(True, False)] * 20, LastmodTrustLevel.UNRELIABLE),  # today's date on everything
        ([(True, False)] * 10 + [(True, True)] * 10 + [(False, False)] * 20, LastmodTrustLevel.RELIABLE),
    ],
    ids=["nothing", "only moves", "right", "misses", "misses rarely", "always moves", "moves too often"],
)
def test_whether_lastmod_proves_right(visits: list[tuple[bool, bool]], want: LastmodTrustLevel) -> None:
    assert rate_lastmod(visits) is want
