"""What answers and pages declare: Content-Type, charset, refresh, directives."""

import pytest

from crawler.http.content_type import ContentType, parse_content_type
from crawler.parsing.meta_refresh import MetaRefresh, parse_meta_refresh
from crawler.robots.page_directives import Directives, parse_directives, parse_meta_robots, parse_x_robots_tag
from text.decoding.encoding_labels import python_codec, standard_encoding_name
from text.decoding.meta_charset import detect_bom, find_meta_charset


@pytest.mark.parametrize(
    ("header", "want"),
    [
        ("text/html", ContentType("text/html")),
        (" Text/HTML ; Charset=GB2312 ", ContentType("text/html", "gbk")),
        ('text/html;x="a;charset=gbk";charset=big5', ContentType("text/html", "big5")),
        ('text/html;charset="utf\\-8"', ContentType("text/html", "utf-8")),
        ("text/html;charset=no-such", ContentType("text/html")),
        ("text/html;charset=;charset=gbk", ContentType("text/html", "gbk")),
        ("text/html;charset=gbk, text/html", ContentType("text/html", "gbk")),
        ("text/html, text/html;charset=gbk", ContentType("text/html", "gbk")),
        ("text/html;charset=gbk, text/html;charset=big5", ContentType("text/html", "big5")),
        ("text/html;charset=gbk, application/xml", ContentType("application/xml")),
        ("text/html;charset=gbk, , */*", ContentType("text/html", "gbk")),
        ('text/html;x="a,b";charset=gbk', ContentType("text/html", "gbk")),
        ("text/html;x=a,b;charset=gbk", ContentType("text/html", "gbk")),
        ("," * 100_000, ContentType()),
        ("html", ContentType()),
        ("a b/html", ContentType()),
        ("", ContentType()),
        ("text/html" + ";" * 100_000, ContentType("text/html")),
        ('text/html;charset="' + "\\" * 100_000, ContentType("text/html")),
    ],
    ids=lambda value: str(value)[:30],
)
def test_content_type(header: str, want: ContentType) -> None:
    assert parse_content_type(header) == want


@pytest.mark.parametrize(
    ("label", "name", "codec"),
    [
        ("\tUTF8\n", "utf-8", "utf-8"),
        ("gb2312", "gbk", "gb18030"),
        ("x-gbk", "gbk", "gb18030"),
        ("big5-hkscs", "big5", "big5hkscs"),
        ("latin1", "windows-1252", "cp1252"),
        ("x-sjis", "shift_jis", "cp932"),
        ("hz-gb-2312", "hz-gb-2312", "hz"),
        ("utf-7", "", ""),
        ("rot13", "", ""),
    ],
)
def test_labels(label: str, name: str, codec: str) -> None:
    assert standard_encoding_name(label) == name
    assert python_codec(label) == codec


@pytest.mark.parametrize(
    ("body", "want"),
    [
        (b"<meta charset=gbk>", "gbk"),
        (b"<META http-equiv='content-type' content='text/html; charset=big5'>", "big5"),
        (b"<meta content='text/html; charset=big5'>", ""),
        (b"<!-- <meta charset=gbk> --><meta charset=big5>", "big5"),
        (b"<a title='<meta charset=gbk>'><meta charset=big5>", "big5"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=nonsense><meta charset=gbk>", "gbk"),
        (b"<!--" + b"x" * 5000 + b"--><meta charset=gbk>", "gbk"),
        (b"<meta charset='gbk>", ""),
        (b"<", ""),
        (b"<!", ""),
        (b"<!--", ""),
        (b"<meta", ""),
        (b"<meta " * 50_000, ""),
        (b"<a " + b"=" * 50_000, ""),
        (b"</" * 50_000, ""),
    ],
    ids=lambda value: str(value)[:40],
)
def test_declared_encoding(body: bytes, want: str) -> None:
    assert find_meta_charset(body) == want


def test_byte_order_marks() -> None:
    assert detect_bom(b"\xff\xfe\x00\x00x") == ("utf-32-le", 4)
    assert detect_bom(b"\xff\xfex\x00") == ("utf-16le", 2)
    assert detect_bom(b"x") == ("", 0)


@pytest.mark.parametrize(
    ("content", "want"),
    [
        ("5", MetaRefresh(5)),
        ("5; URL='/next page' ignored", MetaRefresh(5, "/next page")),
        ("0,/next", MetaRefresh(0, "/next")),
        ("1.9;url=x", MetaRefresh(1, "x")),
        ("9" * 5000, MetaRefresh(10**9)),
        ("5x", None),
        ("", None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_refresh(content: str, want: MetaRefresh | None) -> None:
    assert parse_meta_refresh(content) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("NOINDEX, follow", Directives(noindex=True)),
        ("noindex nofollow", Directives(True, True)),
        ("none", Directives(True, True)),
        ("nofollowing, index", Directives()),
        ("", Directives()),
    ],
)
def test_directives(text: str, want: Directives) -> None:
    assert parse_directives(text) == want


@pytest.mark.parametrize(
    ("values", "want"),
    [
        (["noindex", "nofollow"], Directives(True, True)),
        (["otherbot: noindex, nofollow"], Directives()),
        (["Plumbline: nofollow"], Directives(nofollow=True)),
        (["noindex, otherbot: nofollow"], Directives(noindex=True)),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], Directives(noindex=True)),
        (["max-snippet: 5, nofollow"], Directives(nofollow=True)),
    ],
)
def test_header_directives(values: list[str], want: Directives) -> None:
    assert parse_x_robots_tag(values, "plumbline") == want


def test_meta_directives_for_all_and_for_us() -> None:
    assert parse_meta_robots(" Robots ", "none") == Directives(True, True)
    assert parse_meta_robots("plumbline", "nofollow", "Plumbline") == Directives(nofollow=True)
    assert parse_meta_robots("otherbot", "nofollow", "Plumbline") == Directives()
    assert parse_meta_robots("", "nofollow") == Directives()
