"""Broken, hostile and adversarial input gives an article or an outcome, never an exception."""

import base64
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from domain.article import Article
from domain.outcome import Outcome
from extractor import ExtractSettings
from extractor.article_extractor import ArticleExtractor
from extractor.body_methods import BODY_METHODS
from extractor.fields.dates.date_parsing import find_date_in_text
from text.decoding.decode import decode_page

HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "hostile"
SENTENCE = "大庆油田今天宣布，今年产量超过去年同期，创下新高。"


def rows(name: str) -> Iterator[dict[str, str]]:
    with (HOSTILE / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def payload(row: dict[str, str]) -> bytes | str:
    return base64.b64decode(row["b64"]) if "b64" in row else row["text"]


DEFAULT = ExtractSettings().method


@pytest.mark.shared
@pytest.mark.parametrize(
    ("method", "every"),
    [
        (DEFAULT, 1),
        *((method, 8) for method in BODY_METHODS if method != DEFAULT),
        *(pytest.param(method, 1, marks=pytest.mark.exhaustive) for method in BODY_METHODS if method != DEFAULT),
    ],
)
@pytest.mark.parametrize("name", ["html_tree", "html_tok", "xss", "strings", "xml", "feeds", "enc_sniff"])
def test_every_hostile_row_is_an_article_or_an_outcome(name: str, method: str, every: int) -> None:
    """All rows with the default method, one in eight with each other method; `exhaustive`: all with all."""
    extractor = ArticleExtractor(ExtractSettings(method=method))
    found = [extractor.extract(payload(row), "http://a.test/1.html") for row in islice(rows(name), 0, None, every)]
    assert found
    assert all(isinstance(one, Article | Outcome) for one in found)
    assert not any(isinstance(one, Article) and not one.body.strip() for one in found)


@pytest.mark.shared
def test_cjk_pages_with_wrong_labels_are_decoded() -> None:
    found = [
        row["truth"] in (read.text if (read := decode_page(base64.b64decode(row["b64"]), header_of(row))) else "")
        for row in rows("enc_pages")
    ]
    assert sum(found) / len(found) > 0.98


def header_of(row: dict[str, str]) -> str:
    return f"text/html; charset={row['header']}" if row["header"] else ""


@pytest.mark.shared
def test_date_look_alikes_are_none_or_one_iso_date() -> None:
    for row in rows("dates"):
        recipe = json.loads(row["text"])
        text = recipe.get("text") or recipe["pre"] + recipe["repeat"] * recipe["times"] + recipe["post"]
        day = find_date_in_text(text)
        assert day == "" or (len(day) == 10 and "1990" <= day[:4] <= "2099")
        found = ArticleExtractor().extract(f"<p>{text}</p><p>{SENTENCE}</p>", f"http://a.test/{text}")
        assert isinstance(found, Article | Outcome)


@pytest.mark.parametrize("method", BODY_METHODS)
@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + SENTENCE * 5 + "</div>" * 100_000,
        "<a href=x>" * 30_000 + SENTENCE,
        "<table><tr><td>" * 20_000 + SENTENCE,
        "".join(f"<a href=/{n}>{n}</a>" for n in range(30_000)) + SENTENCE,
        "<br>" * 50_000 + SENTENCE,
        "<p>" + " " * 2_000_000 + SENTENCE,
        "<p>" + "1" * 1_000_000 + SENTENCE,
        "<title>" + "标题" * 300_000 + "</title><h1>" + "标题" * 300_000 + f"</h1><p>{SENTENCE}",
        "".join(f'<div class="article-content nav-{n}">{SENTENCE}</div>' for n in range(3_000)),
        '<div class="comments">' * 300 + '<p class="article-body">x，y。</p>' * 3_000,
        "<script type='application/ld+json'>" + '"datePublished":"' * 20_000 + f"</script><p>{SENTENCE}",
        "\x00\ufeff\ud800<p \x00=>" + SENTENCE,
    ],
    ids=[
        "deep",
        "links",
        "numbers",
        "tables",
        "breaks",
        "spaces",
        "digits",
        "title",
        "names",
        "asides",
        "json",
        "control",
    ],
)
def test_sizes_that_hurt_are_survived(html: str, method: str) -> None:
    found = ArticleExtractor(ExtractSettings(method=method)).extract(html, "http://a.test/1.html")
    assert isinstance(found, Article | Outcome)


def test_text_below_100_000_tags_is_found() -> None:
    html = "<title>x</title>" + "<div>" * 100_000 + f"<p>{SENTENCE}</p>" * 3
    found = ArticleExtractor().extract(html, "http://a.test/1.html")
    assert isinstance(found, Article)
    assert found.body.count(SENTENCE) == 3


@pytest.mark.parametrize(
    "url",
    ["", "http://[", "http://a.test:99999999/", "x" * 100_000, "http://a.test/\ud800\x00"],
    ids=lambda url: url[:15],
)
def test_no_url_hurts(url: str) -> None:
    found = ArticleExtractor().extract(f"<p>{SENTENCE}</p>", url)
    assert isinstance(found, Article)
    assert found.url == url
