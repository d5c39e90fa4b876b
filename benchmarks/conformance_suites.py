"""The checks of each test suite, and the rules by which the crawler differs on purpose."""

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl

from lxml import etree

from crawler.dedup.dust import apply_all_equivalences
from crawler.http.content_type import parse_content_type
from crawler.parsing.links import parse_page
from crawler.parsing.meta_refresh import parse_meta_refresh
from crawler.robots.robots_cache import MAX_CRAWL_DELAY_SECONDS, parse_stored_robots
from crawler.robots.robots_txt import product_token
from crawler.sitemaps.sitemap_parser import parse_sitemap
from crawler.sitemaps.timestamps import parse_timestamp
from crawler.urls.canonical import canonicalize_url, parse_url_forms, resolve_url
from crawler.urls.registrable_domains import registrable_domain
from domain.frontier import StoredRobots
from domain.outcome import Reason
from domain.page import Origin, Page
from text.decoding.decode import decode_page
from text.decoding.encoding_labels import python_codec
from text.decoding.meta_charset import detect_bom, find_meta_charset

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """Result of one case; `shown` is printed for a miss."""

    same: bool
    rule: str = ""
    shown: str = ""


Check = Callable[[Row], Iterator[Verdict]]

NOT_HTTP = "only http and https URLs are fetched"
CREDENTIALS = "a URL with credentials is rejected, not fetched without them"
NO_HOST = "hosts that DNS cannot hold, and port 0, are rejected"
NO_SCHEME = "a URL without scheme is relative; only settings read it as http"
UNESCAPED = "escapes of reserved characters stay, and none is decoded twice: `%2561` is not `a`"
BROWSER = "the URL is sent as browsers send it (WHATWG): this character or host stays"
PATH_UTF8 = "a path is UTF-8 in any page encoding (WHATWG)"
BLANK = "parameters without a value stay: they may have a meaning"
RAW_UTF8 = "a URL in raw UTF-8 equals its escaped form"
SAME_PATH = "`%7e` equals `~` (RFC 9309, 2.2.2), in rules and URLs"
UNKNOWN_LINE = "an unknown line does not end a group (RFC 9309, 2.2.4; like google/robotstxt)"
IMAGES = "image entries of a sitemap are not pages"
LENIENT = "an unclosed quoted charset, and parameters without a type, are read as in WHATWG"
WHOLE_SECONDS = "seconds are whole numbers (HTML standard)"
XML = "XML declarations apply to XML only"
BODY = "a declaration in the body is valid too (HTML standard)"
LOOSE = "only declarations that browsers accept are used"
TWICE = "the first of two equal attributes is used (HTML standard)"
COMMENT = "an unclosed comment contains no links"
NOSCRIPT = "no scripts run, so the content of noscript is used"
LEARNED = "a parameter that sites also use for content is ignored only if the pages of the site are equal without it"
NO_PARSER = "bytes are decoded by their content first and by their label second"


_WHOLE_META = re.compile(
    rb"<meta(?:[^>\"']|\"[^\"]*\"|'[^']*')*?\s(?:charset|http-equiv\s*=\s*[\"']?content-type[\"'\s])", re.IGNORECASE
)


def read(value: object) -> bytes:
    """Decode bytes that the files store as base64 or as text."""
    if isinstance(value, dict):
        return base64.b64decode(value["b64"])
    return str(value).encode("utf-8", "surrogatepass")


def text_of(value: object) -> str:
    """Return the same value as text."""
    return read(value).decode("utf-8", "surrogatepass") if not isinstance(value, dict) else _decoded(read(value))


def _decoded(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def judge(got: object, want: object, row: Row, rule: str = "") -> Verdict:
    """Compare two values: same, by rule, or a miss."""
    return Verdict(got == want, rule, f"`{str(dict(row))[:300]}`: {got!r}")


def robots(row: Row, agent: str) -> Iterator[Verdict]:
    """Check `allowed` or `crawl_delay`."""
    rules = parse_stored_robots(StoredRobots(Origin(""), 200, read(row["robots"]), 0.0), agent)
    if "allowed" not in row:
        yield judge(rules.crawl_delay, min(row["crawl_delay"] or 0.0, MAX_CRAWL_DELAY_SECONDS), row)
        return
    url = text_of(row["url"])
    rule = "" if url.isascii() else RAW_UTF8
    if re.search(r"^\s*\w+_\w+\s*:", text_of(row["robots"]), re.MULTILINE):
        rule = UNKNOWN_LINE
    yield judge(rules.rejection_outcome(url) is None, row["allowed"], row, rule)


def robots_google(row: Row) -> Iterator[Verdict]:
    """Check google/robotstxt cases, which use a product token."""
    yield from robots(row, row["agent"])


def robots_protego(row: Row) -> Iterator[Verdict]:
    """Check Protego cases, which use a complete User-Agent."""
    yield from robots(row, product_token(row["agent"]))


def robots_real(row: Row) -> Iterator[Verdict]:
    """Check every probe of a real file."""
    stored = StoredRobots(Origin(""), 200, read(row["robots"]), 0.0)
    by_agent = {agent: parse_stored_robots(stored, agent) for agent in {probe["agent"] for probe in row["probes"]}}
    for probe in row["probes"]:
        allowed = by_agent[probe["agent"]].rejection_outcome(probe["url"]) is None
        rule = SAME_PATH if re.search(r"%(?:7e|2d|2e|5f|[346][1-9a-f])", probe["url"], re.IGNORECASE) else ""
        yield judge(allowed, probe["reference"], {**probe, "host": row["host"]}, rule)


def sitemaps(row: Row) -> Iterator[Verdict]:
    """Compare the canonical URLs and the lastmod values of pages, and the URLs of child sitemaps, as sets."""
    found = parse_sitemap(read(row["body"]), row["url"])
    told = row["crawler_commons"]
    want = {(canonicalize_url(one["loc"]), parse_timestamp(one["lastmod"] or "")) for one in told.get("urls", ())}
    want |= {(canonicalize_url(one["loc"]), None) for one in told.get("sitemaps", ())}
    got = {(one.url, one.lastmod) for one in found.entries} | {(url, None) for url in found.child_sitemaps}
    pictures = all(re.search(r"\.(?:jpe?g|png|gif|webp)\b", place) for place, _ in want - got)
    yield judge(got, want, {"name": row["name"]}, IMAGES if got < want and pictures else "")


def whatwg(row: Row) -> Iterator[Verdict]:
    """Compare with the standard, for any scheme."""
    yield judge(_resolved(row["input"], row["base"] or ""), row.get("href"), row)


def whatwg_asked(row: Row) -> Iterator[Verdict]:
    """Compare the URL that we would request: http or https, without the fragment; any other URL is rejected."""
    href = row.get("href") or ""
    want = href.partition("#")[0] if href.startswith(("http:", "https:")) else None
    found = parse_url_forms(row["input"], row["base"] or "")
    rule = _policy(href) if isinstance(found, Reason) and want else ""
    yield judge(None if isinstance(found, Reason) else found.request_url, want, row, rule)


def _resolved(text: str, base: str = "", encoding: str = "utf-8") -> str | None:
    try:
        return resolve_url(text, base, encoding)
    except (ValueError, LookupError):
        return None


def _policy(href: str | None, text: str = "://") -> str:
    """Return the rule by which we reject the URL `text`, which browsers resolve to `href`."""
    if href is None:
        return NO_HOST if "://" in text else NO_SCHEME
    if not href.startswith(("http:", "https:")):
        return NOT_HTTP
    return CREDENTIALS if "@" in href.partition("//")[2].partition("/")[0] else NO_HOST


def crawler_commons(row: Row) -> Iterator[Verdict]:
    """Check `normalize` against the canonical form, `resolve` against the standard; `invalid` must be rejected."""
    if row["fn"] == "resolve":
        yield judge(_resolved(row["url"], row["base"]), row["want"], row)
        return
    found = canonicalize_url(row["url"])
    if row["fn"] == "invalid":
        yield judge(isinstance(found, Reason), True, row)
        return
    want = row["want"]
    rule = ""
    if isinstance(found, Reason):
        rule = (
            NO_SCHEME if "://" not in row["url"] and canonicalize_url(f"http://{row['url']}") == want else _policy(want)
        )
        rule = NO_HOST if want in ("http:/", "https:/") else rule
    yield judge(found, want, row, rule)


def urlcanon(row: Row) -> Iterator[Verdict]:
    """Semantic: both URLs have the same canonical form. Aggressive: both URLs have the same loose form."""
    url, want = _bytes(row["url"]), _bytes(row["want"])
    if "://" not in url and re.match(r"\s*[\w%][\w.%-]*/|\s*www", url):
        url = f"http://{url.strip()}"  # as the settings take it
    found = canonicalize_url(url)
    if row["fn"] == "aggressive":
        rule = LEARNED if re.search(r"[?&](?:sid|cfid|cftoken|s|session_?id)=", url, re.IGNORECASE) else ""
        yield judge(found if isinstance(found, Reason) else apply_all_equivalences(found), want, row, rule)
        return
    href = _resolved(url)
    if isinstance(found, Reason):
        yield judge(found, want, row, _policy(href) if href else NOT_HTTP if not want.startswith("http") else NO_HOST)
        return
    goal = canonicalize_url(want)
    rule = UNESCAPED if re.search(r"%[0-9A-Fa-f]{2}|%%", url) else ""
    yield judge(found, goal, {**row, "url": url}, BROWSER if re.search(r"[{}\[\]|^`\"]", want) and not rule else rule)


def _bytes(text: str) -> str:
    """Decode bytes that the suite writes as the characters with the same numbers."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def w3lib(row: Row) -> Iterator[Verdict]:
    """Check the functions that have an equivalent here; options without an equivalent are skipped."""
    check = _W3LIB.get(row["fn"])
    if check is not None:
        yield from check(row)


def _w3lib_address(row: Row) -> Iterator[Verdict]:
    """True if both URLs are equal in canonical or in loose form."""
    if isinstance(row["want"], dict) and "error" in row["want"]:
        return
    text, want, encoding = text_of(row["args"][0]), text_of(row["want"]), str(row["kwargs"].get("encoding", "utf-8"))
    if not isinstance(row["args"][0], str | dict):
        return
    href = _resolved(text, "", encoding)
    if href is not None and href in (want, _resolved(want)):
        yield Verdict(True)
        return
    ours, theirs = canonicalize_url(text, "", encoding), canonicalize_url(want)
    rule = ""
    if isinstance(ours, Reason):
        rule = _policy(href, text)
    elif "path_encoding" in row["kwargs"] or (not text.isascii() and _paths_differ(ours, theirs)):
        rule = PATH_UTF8
    elif row["kwargs"].get("keep_blank_values") is False:
        rule = BLANK
    elif isinstance(theirs, str) and _unescaped(ours) == _unescaped(theirs):
        rule = UNESCAPED
    elif "%26%23" in ours:
        rule = BROWSER
    yield Verdict(ours == theirs and not isinstance(ours, Reason), rule, judge(ours, want, row).shown)


def _paths_differ(ours: str, theirs: str) -> bool:
    return ours.partition("?")[0] != theirs.partition("?")[0]


def _unescaped(url: str) -> object:
    path, _, query = url.partition("?")
    return re.sub(r"%([2-7][0-9A-F])", lambda m: chr(int(m[1], 16)), path), parse_qsl(query, keep_blank_values=True)


def _w3lib_header(row: Row) -> Iterator[Verdict]:
    header = re.sub(r"^Content-Type:\s*", "", str(row["args"][0]), flags=re.IGNORECASE)
    got = python_codec(parse_content_type(header).charset) or None
    odd = header.count('"') % 2 or not re.match(r"[^;/]+/[^;]+(?:;|\Z)", header)
    yield judge(got, row["want"] and python_codec(row["want"]), row, LENIENT if odd else "")


def _w3lib_body(row: Row) -> Iterator[Verdict]:
    body = read(row["args"][0])
    want = row["want"] and (python_codec(row["want"]) or row["want"])
    rule = XML if body.lstrip().startswith(b"<?xml") else BODY if b"<body>" in body else ""
    yield judge(
        python_codec(find_meta_charset(body)) or None, want, row, rule or ("" if _WHOLE_META.search(body) else LOOSE)
    )


def _w3lib_bom(row: Row) -> Iterator[Verdict]:
    name, length = detect_bom(read(row["args"][0]))
    want = row["want"][0]
    yield judge((python_codec(name) or name or None, length), (want, len(read(row["want"][1])) if want else 0), row)


def _w3lib_page(row: Row) -> Iterator[Verdict]:
    header = re.sub(r"^Content-Type:\s*", "", str(row["args"][0] or ""), flags=re.IGNORECASE)
    found = decode_page(read(row["args"][1]), header)
    yield judge(found.text if found else None, row["want"][1], row, NO_PARSER)


def _w3lib_refresh(row: Row) -> Iterator[Verdict]:
    html = text_of(row["args"][0])
    tree = etree.HTML(html.encode("utf-8", "replace"), etree.HTMLParser(encoding="utf-8", remove_comments=True))
    found = None
    for meta in tree.iter("meta") if tree is not None else ():
        if str(meta.get("http-equiv") or "").strip().lower() == "refresh" and found is None:
            found = parse_meta_refresh(str(meta.get("content") or ""))
    delay, want = row["want"]
    base = str(row["args"][1]) if len(row["args"]) > 1 else ""
    got = None if found is None or not found.url else _resolved(found.url, base, _encoding(row))
    rule = WHOLE_SECONDS if delay and delay != int(delay) else ""
    if html.count("<") == 1 and html.count("http-equiv") > 1:
        rule = TWICE
    yield judge(
        (found.delay_seconds if found and got else None, got), (delay, want and _resolved(text_of(want))), row, rule
    )


def _encoding(row: Row) -> str:
    return str(row["args"][2] if len(row["args"]) > 2 else row["kwargs"].get("encoding", "utf-8"))


def _w3lib_base(row: Row) -> Iterator[Verdict]:
    """Detect the base URL from the target of a link without path."""
    start = text_of(row["args"][1]) if len(row["args"]) > 1 else "http://none.test/"
    html = text_of(row["args"][0]).encode("utf-8", "replace") + b"<a href='zz'>z</a>"
    links = parse_page(Page(1, start, start, 200, "text/html; charset=utf-8", html, "", 0.0)).links
    want = canonicalize_url("zz", _resolved(text_of(row["want"]) or start) or "")
    rule = COMMENT if b"<!--" in html else NOSCRIPT if b"<noscript" in html else ""
    yield judge(links[-1].url if links else None, want, row, rule)


_W3LIB: Mapping[str, Check] = MappingProxyType(
    {
        "safe_url_string": _w3lib_address,
        "safe_download_url": _w3lib_address,
        "canonicalize_url": _w3lib_address,
        "http_content_type_encoding": _w3lib_header,
        "html_body_declared_encoding": _w3lib_body,
        "read_bom": _w3lib_bom,
        "html_to_unicode": _w3lib_page,
        "get_meta_refresh": _w3lib_refresh,
        "get_base_url": _w3lib_base,
    }
)


def encoding(row: Row) -> Iterator[Verdict]:
    """Check the encoding that the prescan detects."""
    body = read(row["body"])
    yield judge(detect_bom(body)[0] or find_meta_charset(body) or "windows-1252", row["want"].lower(), row)


def content_type(row: Row) -> Iterator[Verdict]:
    """Check type and encoding of a header."""
    found = parse_content_type(row["input"])
    yield judge((found.media_type or None, found.charset), (row["type"], (row["encoding"] or "").lower()), row)


def meta_refresh(row: Row) -> Iterator[Verdict]:
    """Check delay and URL."""
    found = parse_meta_refresh(row["input"])
    yield judge(found and {"delay": found.delay_seconds, "url": found.url or None}, row["want"], row)


def public_suffix(row: Row) -> Iterator[Verdict]:
    """Check registrable domains."""
    yield judge(registrable_domain(row["host"]) or None, row["want"], row)


SUITES: Mapping[str, tuple[str, Check]] = MappingProxyType(
    {
        "robots_google": ("robots_google", robots_google),
        "robots_protego": ("robots_protego", robots_protego),
        "robots_real": ("robots_real", robots_real),
        "sitemaps": ("sitemaps", sitemaps),
        "url_whatwg": ("url_whatwg", whatwg),
        "url_whatwg, as we ask": ("url_whatwg", whatwg_asked),
        "url_crawler_commons": ("url_crawler_commons", crawler_commons),
        "url_urlcanon": ("url_urlcanon", urlcanon),
        "w3lib": ("w3lib", w3lib),
        "encoding_html5lib": ("encoding_html5lib", encoding),
        "content_type": ("content_type", content_type),
        "meta_refresh": ("meta_refresh", meta_refresh),
        "public_suffix": ("public_suffix", public_suffix),
    }
)
