"""Copies and series in a store, decided by the texts: in any order, after a restart, among thousands of articles."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from docstore.near_duplicates.clusters import CopyDetection
from docstore.store import Store
from domain.article import Article, document_id
from extractor.minhash import minhash_signature
from extractor.settings import ExtractSettings
from pipeline.explain.url_explanation import copy_verdicts
from pipeline.explain.url_report_text import relation_sentences
from tests.conftest import logic_store_url, on_both
from tests.docstore.test_resolve_roles import Web as AnyWeb
from tests.text.test_duplicates import NOTICES, OTHER_NOTICES, SERIES, framed, language_of, prices_zh
from text.similarity.duplicates import ComparedArticle

store_url = logic_store_url
GROUPING = CopyDetection(ExtractSettings().near_duplicate, ComparedArticle)


class Web(AnyWeb):
    """Pages as `plumb extract` keeps them."""

    grouping = GROUPING


def article(url: str, text: ComparedArticle) -> Article:
    return Article(url, text.title, text.body, published=text.published_on, signature=minhash_signature(text.body))


def issues_of(texts: Sequence[ComparedArticle]) -> list[tuple[str, Article]]:
    """Each text on its own site, and on two others with their notices: issue, article."""
    found = []
    for n, text in enumerate(texts):
        language = language_of(text)
        for host, shown in {
            "a.test": text,
            "b.test": framed(text, *NOTICES[language]),
            "c.test": framed(text, *OTHER_NOTICES[language]),
        }.items():
            found.append((str(n), article(f"http://{host}/{n}", shown)))
    return found


def groups(store: Store, issues: Mapping[str, str]) -> dict[str, list[str]]:
    """Article that stands for itself -> the issues of those behind it."""
    names = {document_id(url): url for url in issues}
    found: dict[str, list[str]] = {}
    for stored in store.articles.iter_all():
        leader = names[stored.duplicate_of] if stored.duplicate_of else stored.article.url
        found.setdefault(leader, []).append(issues[stored.article.url])
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.exhaustive] if number else []) for number, name in enumerate(SERIES)]
)
def test_a_series_is_shown_whole_and_its_copies_once_in_any_order(name: str, tmp_path: Path) -> None:
    made = issues_of(SERIES[name])
    issues = {one.url: issue for issue, one in made}
    for order in range(3):
        shuffled = random.Random(order).sample(made, len(made))
        folder = tmp_path / str(order)
        folder.mkdir()
        for start in range(0, len(shuffled), 8):  # a new Store per batch, as if each batch ran in a separate process
            with Store(f"sqlite:///{folder}/x.db", folder / "warc") as store:
                Web(store).add(*(one for _, one in shuffled[start : start + 8]))
        with Store(f"sqlite:///{folder}/x.db", folder / "warc") as store:
            found = groups(store, issues)
            assert sorted(map(sorted, found.values())) == [[str(n)] * 3 for n in range(len(SERIES[name]))]


@pytest.mark.parametrize("name", SERIES)
def test_a_series_is_similar(name: str, store: Store) -> None:
    texts = SERIES[name]
    Web(store).add(*(article(f"http://a.test/{n}", text) for n, text in enumerate(texts)))
    assert [stored.duplicate_of for stored in store.articles.iter_all()] == [""] * len(texts)
    assert len({stored.series_id for stored in store.articles.iter_all()}) <= len(texts) - 1


def test_the_copy_of_one_day_is_found_among_hundreds(store: Store) -> None:
    days = [prices_zh(n % 12 + 1, n % 28 + 1, 50 + n / 100, 7000 + n, 6500 + n) for n in range(300)]
    web = Web(store)
    for start in range(0, len(days), 100):
        web.add(*(article(f"http://a.test/{n}", days[n]) for n in range(start, start + 100)))
    assert not any(stored.duplicate_of for stored in store.articles.iter_all())
    wanted = (1, 150, 298)
    web.add(*(article(f"http://b.test/{n}", framed(days[n], *NOTICES["zh"])) for n in wanted))
    behind = {stored.article.url: stored.duplicate_of for stored in store.articles.iter_all() if stored.duplicate_of}
    assert behind == {f"http://b.test/{n}": document_id(f"http://a.test/{n}") for n in wanted}


@on_both
def test_explain_says_which_difference_decides(store: Store) -> None:
    first, other, *_ = SERIES["amended laws zh"]
    web = Web(store)
    web.add(article("http://a.test/1", first), article("http://a.test/2", other))
    web.add(article("http://b.test/1", framed(first, *NOTICES["zh"])))

    def said(url: str) -> list[str]:
        told = store.status.url_report(url)
        assert told is not None
        return list(relation_sentences(told, copy_verdicts(store.articles, told)))

    copy, similar = said("http://a.test/1")
    assert copy.startswith("Duplicate: http://b.test/1 (same text; frame")
    assert similar.startswith("Similar, but not a duplicate: http://a.test/2 (numbers or dates differ; numbers after “")
    assert "“一”, other “五”" in similar
    assert "which represents both" in said("http://b.test/1")[0]
    assert all("http://a.test/2" not in line for line in said("http://a.test/2"))


@on_both
def test_a_copy_of_other_length_loses_nothing(store: Store) -> None:
    """A list that holds an article and others, and a teaser of it, stand for themselves."""
    texts = SERIES["conferences en"]
    whole = replace(texts[0], body="\n".join(text.body for text in texts[:3]))
    web = Web(store)
    web.add(article("http://a.test/list", whole))
    web.add(article("http://a.test/1", texts[0]), article("http://a.test/2", texts[1]))
    assert not any(stored.duplicate_of for stored in store.articles.iter_all())
