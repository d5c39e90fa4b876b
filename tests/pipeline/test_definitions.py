"""Definitions of published terms: found in articles, best first, and marked when the article changes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from docstore.articles.extraction_writer import PageExtraction
from docstore.store import Store, open_sqlite_store
from domain.article import Article
from domain.term import Lexicon, LexiconEntry
from pipeline.lexicon_stage.definitions import update_definitions
from tests.docstore.test_store import keep_page

DEFINITION = "页岩气是指赋存于富有机质泥页岩中的非常规天然气。"
OTHER = "页岩气是一种清洁高效的非常规天然气资源，主要成分为甲烷。"
MENTION = "今年第一口页岩气井在川南投产，日产量创新高。"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_sqlite_store(tmp_path) as opened:
        yield opened


def save_article(store: Store, number: int, body: str) -> None:
    article = Article(f"http://a.test/{number}", f"文章{number}", body, published="2024-05-01", language="zh")
    keep_page(store, article.url, body.encode())
    store.articles.save([PageExtraction(page, article) for page in store.articles.iter_pending()])


def publish(store: Store, *terms: str) -> None:
    version = store.lexicons.latest_version() + 1
    store.lexicons.publish(Lexicon(version, entries=tuple(map(LexiconEntry, terms))))


def sentences(store: Store, term: str) -> list[str]:
    return [definition.sentence for definition in store.definitions.find_by_term(term)]


def test_the_best_definition_is_first_with_its_source(store: Store) -> None:
    save_article(store, 1, f"{MENTION}\n{OTHER}")
    save_article(store, 2, f"{MENTION}{DEFINITION}")
    publish(store, "页岩气", "川南")
    assert update_definitions(store) == ("definitions found for 1 term",)
    best, other = store.definitions.find_by_term("页岩气", "zh")
    assert (best.sentence, best.url, best.title, best.published) == (
        DEFINITION,
        "http://a.test/2",
        "文章2",
        "2024-05-01",
    )
    assert other.sentence == OTHER and best.score > other.score and not best.needs_recheck
    assert store.definitions.find_by_term("川南") == store.definitions.find_by_term("页岩气", "en") == []


def test_copies_count_once_and_three_are_kept(store: Store) -> None:
    for number in range(6):
        save_article(
            store, number, DEFINITION if number < 2 else f"第{number}页。页岩气是一种{'好' * number}的天然气资源。"
        )
    publish(store, "页岩气")
    update_definitions(store)
    assert len(sentences(store, "页岩气")) == len(set(sentences(store, "页岩气"))) == 3
    update_definitions(store)
    assert len(sentences(store, "页岩气")) == 3


def test_new_articles_and_new_terms_are_searched(store: Store) -> None:
    save_article(store, 1, DEFINITION)
    publish(store, "天然气")
    update_definitions(store)
    assert sentences(store, "页岩气") == []
    publish(store, "天然气", "页岩气")
    update_definitions(store)
    assert sentences(store, "页岩气") == [DEFINITION]
    save_article(store, 2, OTHER)
    update_definitions(store)
    assert sorted(sentences(store, "页岩气")) == sorted([DEFINITION, OTHER])


def test_a_definition_whose_sentence_is_gone_is_marked(store: Store) -> None:
    save_article(store, 1, DEFINITION)
    publish(store, "页岩气")
    update_definitions(store)
    save_article(store, 1, MENTION)
    update_definitions(store)
    [definition] = store.definitions.find_by_term("页岩气")
    assert definition.needs_recheck and definition.sentence == DEFINITION


def test_a_store_without_a_lexicon_has_no_definitions(store: Store) -> None:
    save_article(store, 1, DEFINITION)
    assert update_definitions(store) == () and sentences(store, "页岩气") == []
