"""Kinds of pages, pages in doubt and pages that need scripts, through the store: outcomes, status, the change log."""

import hashlib

from docstore.articles.records import Op
from docstore.articles.table import Extraction
from docstore.frontier.table import NewUrl, Visit
from docstore.model import Article, Kind, Outcome, Page, PageType, Reason, Stage
from docstore.store import Store

DOUBT = Outcome(Reason.SUSPECT_BODY, "9% of the readable text is in the body; 900 of sentences were left out")
SCRIPTS = Outcome(Reason.NEEDS_SCRIPTS, "an application's root without text (root)")


def url(name: str) -> str:
    return f"http://a.test/{name}"


def crawl(store: Store, name: str, version: int = 1) -> None:
    store.frontier.add([NewUrl(url(name), "a.test", 3, 0, Kind.UNKNOWN, 0.0)])
    entry = store.frontier.entries([url(name)])[url(name)]
    body = f"{name} {version}".encode()
    page = Page(0, url(name), url(name), 200, "text/html", body, hashlib.sha256(body).hexdigest(), 1_000.0)
    store.frontier.record([Visit(entry, Outcome(Reason.FETCHED), 1_000.0, None, 0.0, page=page)])


def extract(store: Store, result: Article | Outcome, warning: Outcome | None = None) -> list[Reason]:
    return store.articles.save([Extraction(page, result, warning=warning) for page in store.articles.pending()])


def article(name: str, kind: str = PageType.ARTICLE) -> Article:
    return Article(url(name), "题目", f"{name}的正文，昨天写成。", method="blocks", page_type=kind)


def outcome(store: Store, name: str) -> tuple[str, str]:
    told = store.status.explain(url(name))
    found = told and told.outcome(Stage.EXTRACT)
    assert found
    return found.reason, found.detail


def kind(store: Store, name: str) -> Kind:
    return store.frontier.entries([url(name)])[url(name)].kind


def test_an_article_in_doubt_is_kept_and_counted_by_site(store: Store) -> None:
    crawl(store, "part")
    assert extract(store, article("part"), DOUBT) == [Reason.SUSPECT_BODY]
    assert [stored.article.body for stored in store.articles.all()] == [article("part").body]
    assert outcome(store, "part") == (DOUBT.reason, DOUBT.detail)
    assert store.status.outcome_counts()[Stage.EXTRACT] == {Reason.SUSPECT_BODY: 1}
    assert store.status.sites()[0].outcomes == {Reason.FETCHED: 1, Reason.SUSPECT_BODY: 1}
    assert kind(store, "part") is Kind.ARTICLE
    crawl(store, "part", version=2)
    assert extract(store, article("part"), DOUBT) == [Reason.SUSPECT_BODY], "the same article is still in doubt"
    crawl(store, "part", version=3)
    assert extract(store, article("part")) == [Reason.SAME_ARTICLE], "a better extractor takes it back"


def test_a_page_that_needs_scripts_is_counted_by_site_and_asked_again(store: Store) -> None:
    crawl(store, "app")
    assert extract(store, SCRIPTS) == [Reason.NEEDS_SCRIPTS]
    assert store.status.sites()[0].outcomes[Reason.NEEDS_SCRIPTS] == 1
    assert kind(store, "app") is Kind.HUB


def test_a_collection_is_asked_again_for_its_links(store: Store) -> None:
    crawl(store, "shelf")
    assert extract(store, article("shelf", PageType.COLLECTION)) == [Reason.EXTRACTED]
    assert kind(store, "shelf") is Kind.HUB


def test_another_kind_is_indexed_again(store: Store) -> None:
    crawl(store, "page")
    extract(store, article("page", ""))
    store.changes.done(store.changes.pending(10), [])
    crawl(store, "page", version=2)
    assert extract(store, article("page", PageType.THREAD)) == [Reason.SAME_ARTICLE]
    assert [(change.op, change.url) for change in store.changes.pending(10)] == [(Op.UPSERT, url("page"))]
    assert [stored.article.page_type for stored in store.articles.all()] == [PageType.THREAD]
