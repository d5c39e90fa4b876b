"""Repair of double-encoded text: UTF-8 that was read in another encoding and written again."""

import pytest

from domain.article import Article
from extractor import extract
from extractor.page.parsed_page import decode_page

EN = (
    "The harbour wasn’t opened on Monday — “too early”, the port authority said, and the café by the quay stayed shut. "
)
ZH = "大庆油田今天宣布，今年前三个季度的原油产量超过去年同期，创下五年来的新高，负责人表示将继续努力。"


def misread(text: str, name: str) -> str:
    """A text as a program writes it that took its UTF-8 for something else."""
    return "".join(
        char.encode("utf-8").decode(name, "replace") if name == "latin-1" else by_windows(char) for char in text
    )


def by_windows(char: str) -> str:
    return "".join(bytes([one]).decode("windows-1252", "ignore") or chr(one) for one in char.encode("utf-8"))


@pytest.mark.parametrize("name", ["latin-1", "windows-1252", "iso-8859-15"])
@pytest.mark.parametrize("encoding", ["gbk", "gb18030"])
def test_gbk_that_was_read_as_latin_is_repaired(name: str, encoding: str) -> None:
    title, text = "大庆油田产量创新高", f"{ZH}朱镕基总理来访，合同价为 20 元/吨。" * 2
    misread_title, misread_text = (text.encode(encoding).decode(name, "replace") for text in (title, text))
    article = extract(page(misread_title, misread_text), "http://news.test/1.html")
    assert isinstance(article, Article)
    assert (article.title, article.body, article.language) == (title, text, "zh")


def page(title: str, text: str) -> bytes:
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>".encode()


@pytest.mark.parametrize("name", ["windows-1252", "latin-1"])
@pytest.mark.parametrize(("title", "text"), [("The café’s harbour is closed", EN * 3), ("大庆油田产量创新高", ZH * 3)])
def test_a_double_encoded_page_is_repaired(name: str, title: str, text: str) -> None:
    article = extract(page(misread(title, name), misread(text, name)), "http://news.test/a/harbour-is-closed")
    assert isinstance(article, Article)
    assert (article.title, article.body) == (title, text.strip())


def test_correct_text_is_not_changed() -> None:
    html = f"<p>{misread(EN, 'windows-1252')}</p><p>© 2024 Ÿâ, l’été à Zürich: „ja“</p><p>{ZH}</p>"
    source = decode_page(html.encode())
    assert source is not None
    assert source.text == f"<p>{EN}</p><p>© 2024 Ÿâ, l’été à Zürich: „ja“</p><p>{ZH}</p>"


def test_json_ld_of_a_double_encoded_page_is_repaired() -> None:
    script = f'{{"headline": "{misread("The café’s harbour", "latin-1")}", "name": "Zürich"}}'
    source = decode_page(
        f'<script type="application/ld+json">{script}</script><p>{misread(EN, "latin-1")}</p>'.encode()
    )
    assert source is not None
    assert source.json_ld == ('{"headline": "The café’s harbour", "name": "Zürich"}',)


@pytest.mark.parametrize(
    "text",
    [
        "Why does my page show â€™ where an apostrophe should be? That is mojibake, and Ã© is the same.",
        "网页上出现 ä¸­æ–‡ 这样的乱码，是因为编码不对。",
        "If you see Ã©, your UTF-8 was read as Latin-1.",
        "Ein Ä°, ein Ñ“ und CAFÉ® stehen hier, Über Â.",
        "«À» ÀÀ ······ ¡¡¡¡¡¡ °°°° ÄÄÄÄÄÄÄÄ INFORMAÇÕES ½¾",
        "Õ½Õ¡ is Armenian only by chance; SÃO PAULO is not.",
    ],
)
def test_mojibake_on_purpose_or_by_chance_is_not_changed(text: str) -> None:
    source = decode_page(f"<p>{text}</p>".encode())
    assert source is not None
    assert source.text == f"<p>{text}</p>"
