"""Removal of old articles."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from docstore.articles.extraction_writer import PageExtraction
from docstore.store import Store
from domain.article import Article, document_id
from domain.frontier import NewUrl, UrlKind
from domain.page import Host
from tests.builders import ARTICLE, keep_page

NOW = datetime(2024, 6, 1, tzinfo=UTC).timestamp()
PUBLISHED = {
    "new": "2024-05-20",
    "old": "2024-01-01",
    "year": "2023",
    "this-year": "2024",
    "undated": "",
    "seed": "2020",
}


@pytest.fixture
def dated_store(store_url: str, tmp_path: Path) -> Iterator[Store]:
    """A store with an article of each date of PUBLISHED on a.test, and with an old one on b.test."""
    with Store(store_url, tmp_path / "warc", clock=lambda: NOW) as store:
        for name in PUBLISHED:
            add_page(store, "a.test", name, UrlKind.SEED if name == "seed" else UrlKind.UNKNOWN)
        add_page(store, "b.test", "old")
        pending = list(store.articles.iter_pending())
        store.articles.save([PageExtraction(page, dated_article(page.url)) for page in pending])
        yield store


def add_page(store: Store, host: str, name: str, kind: UrlKind = UrlKind.UNKNOWN) -> None:
    url = f"http://{host}/{name}"
    store.frontier.add_urls([NewUrl(url, Host(host), 0, 1, kind, 0.0)])
    keep_page(store, url, url.encode())


def dated_article(url: str) -> Article:
    name = url.rpartition("/")[2]
    return replace(ARTICLE, title=url, body=f"{url} 的正文。", published=PUBLISHED[name])


def article_names(store: Store) -> set[str]:
    doc_ids = {article.doc_id for article in store.articles.iter_all()}
    names = {**{name: f"http://a.test/{name}" for name in PUBLISHED}, "b-old": "http://b.test/old"}
    return {name for name, url in names.items() if document_id(url) in doc_ids}


ALL = {*PUBLISHED, "b-old"}


@pytest.mark.parametrize(
    ("days", "by_host", "removed"),
    [
        (0, {}, set()),
        (60, {}, {"old", "year", "b-old"}),
        (60, {"b.test": 0}, {"old", "year"}),
        (0, {"b.test": 60}, {"b-old"}),
        (60, {"b.test": 600}, {"old", "year"}),
        (10_000, {}, set()),
    ],
)
def test_articles_older_than_their_site_keeps_them_are_removed(
    dated_store: Store, days: int, by_host: dict[str, int], removed: set[str]
) -> None:
    assert dated_store.retention.remove_expired(days, by_host) == len(removed)
    assert article_names(dated_store) == ALL - removed
    due = {row.url.rpartition("/")[2] for row in dated_store.frontier.admin.iter_urls("http://a.test*") if row.due_at}
    assert due == {name for name in PUBLISHED if name not in removed}
    assert dated_store.integrity.damaged_rows() == {}
    assert dated_store.retention.remove_expired(days, by_host) == 0
