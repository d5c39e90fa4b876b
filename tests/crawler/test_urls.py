"""Canonical URLs and refusals: tables, laws, and the hostile rows of ../shared."""

import json
import random
import re
from pathlib import Path

import pytest

from crawler.urls.canonical import (
    Scope,
    UrlForms,
    UrlRules,
    canonicalize_url,
    host_of,
    parse_scope,
    parse_url_forms,
    rejection_reason,
    resolve_url,
    url_origin,
)
from domain.outcome import Reason

HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "hostile"
BASE = "http://site.test/a/b?c"

CANONICAL = [
    ("HTTP://Site.Test:80/x#y", "http://site.test/x"),
    ("https://site.test:443", "https://site.test/"),
    ("https://site.test:80/", "https://site.test:80/"),
    ("http://site.test/a/../b/./c/..", "http://site.test/b/"),
    ("http://site.test/../../x", "http://site.test/x"),
    ("http://site.test/%2e%2E/x", "http://site.test/x"),
    ("http://site.test//a//b", "http://site.test/a/b"),
    ("http://site.test/%7euser/%2f", "http://site.test/~user/%2F"),
    ("http://site.test/100%", "http://site.test/100%25"),
    ("http://site.test/新闻", "http://site.test/%E6%96%B0%E9%97%BB"),
    ("http://site.test/?b=2&a=%e4", "http://site.test/?a=%E4&b=2"),
    ("http://site.test/?a=2&a=1&&b=&c&a=2", "http://site.test/?a=2&a=1&b&c"),
    ("http://site.test/?q=a|b[]=%7e", "http://site.test/?q=a%7Cb%5B%5D=~"),
    ("http://site.test/x?utm_source=a&id=3&gclid=b", "http://site.test/x?id=3"),
    ("http://site.test/x?id=3&PHPSESSID=9682993c8daa2c5497996114facdc805", "http://site.test/x?id=3"),
    ("http://site.test/x;jsessionid=E85FAC04E331FFCA?a=1", "http://site.test/x?a=1"),
    ("http://site.test/(S(4hqa0555fwsecu455xqckv45))/x.aspx", "http://site.test/x.aspx"),
    ("http://site.test/?sid=5&s=oil", "http://site.test/?s=oil&sid=5"),
    ("http://@site.test/", "http://site.test/"),
    ("http://site.test/\x00x", "http://site.test/%00x"),
    ("http://site.test/\ud800", "http://site.test/%EF%BF%BD"),
    ("http://site.test/?", "http://site.test/"),
    ("http://site.test/foo?&", "http://site.test/foo"),
    ("http://site.test/foo?&=&a=", "http://site.test/foo?a"),
    ("http://site.test/a/..;jsessionid=1/b", "http://site.test/b"),
    ("http://site.test/x?%75tm_source=a&id=3", "http://site.test/x?id=3"),
    ("  http://site.test/a\n b ", "http://site.test/a%20b"),
    ("http://site.test/\r\nX-Injected: 1", "http://site.test/X-Injected:%201"),
    ("http:\\\\site.test\\x", "http://site.test/x"),
    ("http:///site.test", "http://site.test/"),
    ("http://中国.test/", "http://xn--fiqs8s.test/"),
    ("http://site。test/", "http://site.test/"),
    ("http://my_host.test./", "http://my_host.test/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://0177.0.0.1/", "http://127.0.0.1/"),
    ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
    ("http://[0:0:0:0:0:0:0:1]:8080/", "http://[::1]:8080/"),
]
REFUSED = [
    "", "relative.html", "javascript:alert(1)", "mailto:a@b.c", "ftp://site.test/", "file:///etc/passwd",
    "http://", "http://:80/", "http://user:secret@site.test/", "http://site.test:0/",
    "http://site.test:99999/", "http://site.test:-1/", "http://site.test:0x50/", "http://a..b/", "http://-a.test/",
    "http://" + "a" * 64 + ".test/", "http://256.1.1.1/", "http://1.2.3.4.5/", "http://[::1/",
    "http://[fe80::1%25eth0]/", "http://./", "http://a b/", "http://site%00.test/", "http://[zz]/",
    "http://" + "9" * 5000 + "/", "http://site.test:" + "9" * 5000 + "/",
]  # fmt: skip
RELATIVE = [
    ("c.html", "http://site.test/a/c.html"),
    ("?q", "http://site.test/a/b?q"),
    ("#top", "http://site.test/a/b?c"),
    ("//other.test/x", "http://other.test/x"),
    ("\\\\other.test", "http://other.test/"),
    ("http:c.html", "http://site.test/a/c.html"),
    ("http:", "http://site.test/a/b?c"),
    ("https:other.test", "https://other.test/"),
    ("12:30.html", "http://site.test/a/12:30.html"),
    ("../../../x", "http://site.test/x"),
    ("", "http://site.test/a/b?c"),
]


@pytest.mark.parametrize(("text", "want"), CANONICAL, ids=[text[:40] for text, _ in CANONICAL])
def test_canonical_form(text: str, want: str) -> None:
    assert canonicalize_url(text) == want
    assert canonicalize_url(want) == want


@pytest.mark.parametrize("text", REFUSED, ids=[text[:40] for text in REFUSED])
def test_no_canonical_form(text: str) -> None:
    assert canonicalize_url(text) is Reason.INVALID_URL


@pytest.mark.parametrize(("text", "want"), RELATIVE, ids=[text for text, _ in RELATIVE])
def test_relative(text: str, want: str) -> None:
    assert canonicalize_url(text, BASE) == want


def test_query_is_encoded_as_the_page_is_and_the_path_never() -> None:
    assert canonicalize_url("/中?q=中", BASE, "gbk") == "http://site.test/%E4%B8%AD?q=%D6%D0"
    assert canonicalize_url("?q=€", BASE, "latin-1") == "http://site.test/a/b?q=%26%238364%3B"
    assert canonicalize_url("?q=中", BASE, "utf-16-le") == "http://site.test/a/b?q=%E4%B8%AD"
    assert canonicalize_url("?q=中", BASE, "no-such-codec") is Reason.INVALID_URL


@pytest.mark.parametrize(
    ("text", "fetch"),
    [
        ("http://site.test/%7euser//x?b=1&a=2#top", "http://site.test/%7euser//x?b=1&a=2"),
        ("http://site.test./100%?", "http://site.test./100%?"),
        ("/x?b=1&a=[2]&utm_medium=y", "http://site.test/x?b=1&a=[2]"),
        ("/plain/x.html?id=3", "http://site.test/plain/x.html?id=3"),
    ],
)
def test_an_address_is_asked_for_as_a_browser_would(text: str, fetch: str) -> None:
    found = parse_url_forms(text, BASE)
    assert isinstance(found, UrlForms)
    assert found.request_url == fetch
    assert found.url == canonicalize_url(fetch)


PLAIN = ["/a/b.html", "x.html", "?page=2", "http://site.test:8080/x/?id=1&page=2", "../c", "http://Site.test/a", "#top"]


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("base", [BASE, "http://site.test:8080/x/y/", "https://site.test", "http://site.test/%E4/b"])
def test_the_short_way_for_plain_addresses_leads_where_the_long_way_does(text: str, base: str) -> None:
    href = resolve_url(text, base).partition("#")[0]
    found = parse_url_forms(text, base)
    assert isinstance(found, UrlForms)
    assert found == UrlForms(found.url, href)
    assert found == parse_url_forms(href + "#\u4e2d ")  # never plain


def test_an_endless_text_is_refused_without_work() -> None:
    assert canonicalize_url("http://site.test/" + "a" * 10_000_000) is Reason.URL_TOO_LONG


def test_host_and_origin() -> None:
    assert host_of("https://site.test:8443/x") == "site.test:8443"
    assert url_origin("https://site.test:8443/x/y") == "https://site.test:8443"


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("news.test", Scope("news.test")),
        ("News.test/oil/", Scope("news.test", "/oil/")),
        ("*.news.test:8080", Scope("news.test:8080", includes_subdomains=True)),
        ("https://news.test/oil", Scope("news.test", "/oil")),
        ("", None),
        ("no host", None),
    ],
    ids=str,
)
def test_scope_setting(text: str, scope: Scope | None) -> None:
    assert parse_scope(text) == scope


RULES = UrlRules(
    (Scope("site.test"), Scope("two.test", "/oil/"), Scope("wide.test", includes_subdomains=True)), max_depth=3
)


@pytest.mark.parametrize(
    ("url", "depth", "want"),
    [
        ("http://site.test/", 0, None),
        ("http://site.test/?file=a.pdf", 3, None),
        ("http://site.test/v1.2", 1, None),
        ("http://site.test/", 4, Reason.TOO_DEEP),
        ("http://site.test:8080/", 0, Reason.OUT_OF_SCOPE),
        ("http://other.test/", 0, Reason.OUT_OF_SCOPE),
        ("http://two.test/oil/1", 0, None),
        ("http://two.test/gas/1", 0, Reason.OUT_OF_SCOPE),
        ("http://a.b.wide.test/", 0, None),
        ("http://notwide.test/", 0, Reason.OUT_OF_SCOPE),
        ("http://site.test/a.PDF?x=1", 0, None),
        ("http://site.test/ads.txt", 0, Reason.UNSUPPORTED_EXTENSION),
        ("http://site.test/" + "a" * 2000, 0, Reason.URL_TOO_LONG),
    ],
    ids=lambda value: str(value)[:30],
)
def test_refusals(url: str, depth: int, want: Reason | None) -> None:
    assert rejection_reason(url, RULES, depth) is want


@pytest.mark.shared
@pytest.mark.parametrize("name", ["urls_odd", "urls_redirect", "urls_ssrf", "strings", "xss"])
def test_hostile_rows_give_one_form_or_a_reason(name: str) -> None:
    rows = [json.loads(line) for line in (HOSTILE / f"{name}.jsonl").read_text("utf-8").splitlines()]
    texts = [row["text"] for row in rows if "text" in row]
    assert texts
    for text in texts:
        for base in ("", BASE):
            url = canonicalize_url(text, base)
            if not isinstance(url, Reason):
                assert re.fullmatch(r"https?://[^\s/?#@\\]+/[!-~]*", url), text
                assert canonicalize_url(url) == url, text
                rejection_reason(url, RULES)


PIECES = (
    *("foo", "/", "//", "?", "&", "&&", "=", "a=", "=b", "a=1", "x==", "=&", "&=", "#x", "+", " ", "%", "%2", "%25"),
    *("%2f", "%41", "%zz", "..", "/./", "/../", ".", "%2e", "%2E%2e", "é", "油", "\t", "\n", "\\", "@", ":", "'", '"'),
    *("<", "|", "^", "[", "]", "~", "!", "*", "(", ")", ",", "$", "\x00", "\x7f", "\u200b", "\ud800", "%00", "%e6"),
    *("utm_source=x", "%75tm_source=x", "utm%5Fid=1", "sid=0123456789abcdef", "phpsessid=%30123456789abcdef0"),
    *(";jsessionid=1", ";%6Asessionid=1", "/(S(4hqa0555fwsecu455xqckv45))", "/(4hqa0555fwsecu455xqckv45)/"),
)


@pytest.mark.parametrize("seed", range(8))
def test_every_form_of_nasty_urls_is_canonical_at_the_first_try(seed: int) -> None:
    rng = random.Random(seed)
    starts = ("http://e.com", "https://E.com:443", "http://e.com.", "//e.com", "", "http://[::1]", "http://例え.test")
    found = 0
    for _ in range(3000):
        text = rng.choice(starts) + "".join(rng.choices(PIECES, k=rng.randrange(9)))
        url = parse_url_forms(text, rng.choice(("", BASE, "http://b.test")), rng.choice(("utf-8", "gb18030")))
        if isinstance(url, UrlForms):
            found += 1
            assert {canonicalize_url(form) for form in url} == {url.url}, text
    assert found > 500
