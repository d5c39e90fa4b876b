"""What answers and pages declare: Content-Type, charset, refresh, directives."""

import codecs

import pytest

from crawler.http.content_type import ContentType, content_type_of
from crawler.pages.meta_refresh import Refresh, refresh_of
from crawler.robots.directives import Directives, directives_of, header_directives, meta_directives
from text.decoding.declared_encoding import bom_encoding, declared_encoding
from text.decoding.encoding_labels import _CODECS, codec_of, encoding_named


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
    assert content_type_of(header) == want


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
    assert encoding_named(label) == name
    assert codec_of(label) == codec


def test_every_codec_exists() -> None:
    assert len(_CODECS) >= 40
    for codec in _CODECS.values():
        codecs.lookup(codec)


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
    assert declared_encoding(body) == want


def test_byte_order_marks() -> None:
    assert bom_encoding(b"\xff\xfe\x00\x00x") == ("utf-32-le", 4)
    assert bom_encoding(b"\xff\xfex\x00") == ("utf-16le", 2)
    assert bom_encoding(b"x") == ("", 0)


@pytest.mark.parametrize(
    ("content", "want"),
    [
        ("5", Refresh(5)),
        ("5; URL='/next page' ignored", Refresh(5, "/next page")),
        ("0,/next", Refresh(0, "/next")),
        ("1.9;url=x", Refresh(1, "x")),
        ("9" * 5000, Refresh(10**9)),
        ("5x", None),
        ("", None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_refresh(content: str, want: Refresh | None) -> None:
    assert refresh_of(content) == want


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
    assert directives_of(text) == want


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
    assert header_directives(values, "plumbline") == want


def test_meta_directives_for_all_and_for_us() -> None:
    assert meta_directives(" Robots ", "none") == Directives(True, True)
    assert meta_directives("plumbline", "nofollow", "Plumbline") == Directives(nofollow=True)
    assert meta_directives("otherbot", "nofollow", "Plumbline") == Directives()
    assert meta_directives("", "nofollow") == Directives()
