"""Bytes to text: proof before hints, and labels that lie."""

import zlib

import pytest

from text.decoding.decode import decode_page

ZH = "中国石油新闻中心报道，今天我们的工作人员在现场看到，这是一个新的发现。"
TW = "中國石油新聞中心報導，今天我們的工作人員在現場看到，這是一個新的發現。"
META = '<meta charset="{}">'


@pytest.mark.parametrize(
    ("raw", "header", "text"),
    [
        (ZH.encode(), "", ZH),
        (ZH.encode(), "text/html; charset=gb2312", ZH),
        (ZH.encode("utf-8-sig"), "text/html; charset=big5", ZH),
        (ZH.encode("gbk"), "", ZH),
        ((ZH + "㐀镕").encode("gb18030"), "text/html; charset=gb2312", ZH + "㐀镕"),
        (ZH.encode("gbk"), "text/html; charset=utf-8", ZH),
        (ZH.encode("gbk"), "text/html; charset=iso-8859-1", ZH),
        (ZH.encode("gbk"), "text/html; charset=big5", ZH),
        (TW.encode("big5"), "text/html; charset=gb2312", TW),
        (("<html><p>" + ZH).encode("utf-16-le"), "text/html; charset=GBK", "<html><p>" + ZH),
        (ZH.encode("utf-16"), "", ZH),
        (ZH.encode("hz"), "", ZH),
        (b"caf\xe9 cr\xe8me br\xfbl\xe9e", "text/html; charset=iso-8859-1", "café crème brûlée"),
        ("Привет, как у вас дела сегодня?".encode("cp1251"), "", "Привет, как у вас дела сегодня?"),
        (b"plain", "text/html; charset=x-nope", "plain"),
        (b"", "", ""),
    ],
    ids=[
        "utf-8", "utf-8 called gb2312", "byte order mark against header", "gbk unlabelled",
        "gb2312 label means gb18030", "gbk called utf-8", "gbk called latin-1", "gbk called big5",
        "big5 called gb2312", "utf-16 without mark", "utf-16 with mark", "hz", "latin-1", "cyrillic", "unknown label",
        "empty",
    ],
)  # fmt: skip
def test_text_is_read_in_the_encoding_it_has(raw: bytes, header: str, text: str) -> None:
    found = decode_page(raw, header)
    assert found is not None
    assert found.text == text


def test_a_late_meta_counts() -> None:
    raw = ("<html>" + " " * 3_000 + META.format("gbk") + "<p>短句。").encode("gbk")
    found = decode_page(raw)
    assert found is not None
    assert "短句。" in found.text


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_a_broken_byte_does_not_lose_the_page(encoding: str) -> None:
    raw = (META.format(encoding) + ZH * 20).encode(encoding)
    found = decode_page(raw[:200] + b"\xff" + raw[200:])
    assert found is not None
    assert found.encoding == encoding
    assert found.text.count(ZH) >= 18


@pytest.mark.parametrize(
    "raw",
    [zlib.compress(ZH.encode() * 50), b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, bytes(range(32)) * 40],
    ids=["compressed", "picture", "control characters"],
)
def test_bytes_that_are_no_text_are_none(raw: bytes) -> None:
    assert decode_page(raw) is None
