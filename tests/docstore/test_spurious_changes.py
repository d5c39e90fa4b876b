"""New bytes around an unchanged article do not count as a change in the crawl."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from docstore.store import Store, open_sqlite_store
from domain.article import Article
from domain.frontier import UrlKind
from domain.outcome import Reason
from tests.builders import ARTICLE, extract_all, fetched, keep_page

URL = "http://a.test/1"
GAP, LONGEST = 4_000.0, 9_000.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_sqlite_store(tmp_path) as made:
        yield made


def longer(gap: float) -> float:
    return min(2 * gap, LONGEST)


def visit_again(store: Store, article: Article) -> None:
    entry = keep_page(store, URL, b"<p>one, 3 visitors</p>")
    extract_all(store, ARTICLE)
    store.frontier.record_visits([fetched(replace(entry, kind=UrlKind.ARTICLE), b"<p>one, 4 visitors</p>")])
    extract_all(store, article)


def due_at(store: Store) -> float | None:
    return store.frontier.last_visits([URL])[URL].due_at


def test_a_visit_that_found_the_same_article_is_discounted_once(store: Store) -> None:
    visit_again(store, ARTICLE)
    assert due_at(store) == 1_000.0 + GAP
    assert store.frontier.discount_spurious_changes(longer) == 1
    assert due_at(store) == 1_000.0 + longer(GAP)
    assert store.frontier.find_entries([URL])[URL].gap == longer(GAP)
    assert next(store.frontier.admin.iter_urls()).reason == Reason.UNCHANGED
    assert store.frontier.discount_spurious_changes(longer) == 0


def test_a_new_article_is_a_change(store: Store) -> None:
    visit_again(store, replace(ARTICLE, body="另一段正文。"))
    assert store.frontier.discount_spurious_changes(longer) == 0
    assert due_at(store) == 1_000.0 + GAP


def test_a_page_that_is_never_to_be_asked_again_is_left_so(store: Store) -> None:
    visit_again(store, ARTICLE)
    store.frontier.admin.block_urls(URL)
    assert store.frontier.discount_spurious_changes(longer) == 0
    assert due_at(store) is None
