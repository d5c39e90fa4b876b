"""Content types, incomplete pages and pages that need JavaScript in the store: outcomes, status, the change log."""

import hashlib

from docstore.articles.extraction_writer import PageExtraction
from docstore.store import Store
from domain.article import Article, PageType
from domain.frontier import NewUrl, UrlKind, Visit
from domain.index_change import IndexOperation
from domain.outcome import Outcome, Reason, Stage
from domain.page import Page

DOUBT = Outcome(Reason.INCOMPLETE_BODY, "9% of the readable text is in the body; 900 of sentences outside the body")
SCRIPTS = Outcome(Reason.NEEDS_JAVASCRIPT, "The page requires JavaScript to show its text")


def url(name: str) -> str:
    return f"http://a.test/{name}"


def crawl(store: Store, name: str, version: int = 1) -> None:
    store.frontier.add_urls([NewUrl(url(name), "a.test", 3, 0, UrlKind.UNKNOWN, 0.0)])
    entry = store.frontier.find_entries([url(name)])[url(name)]
    body = f"{name} {version}".encode()
    page = Page(0, url(name), url(name), 200, "text/html", body, hashlib.sha256(body).hexdigest(), 1_000.0)
    store.frontier.record_visits([Visit(entry, Outcome(Reason.FETCHED), 1_000.0, None, 0.0, page=page)])


def extract(store: Store, result: Article | Outcome, warning: Outcome | None = None) -> list[Reason]:
    return store.articles.save(
        [PageExtraction(page, result, warning=warning) for page in store.articles.iter_pending()]
    )


def article(name: str, kind: str = PageType.ARTICLE) -> Article:
    return Article(url(name), "题目", f"{name}的正文，昨天写成。", method="blocks", page_type=kind)


def outcome(store: Store, name: str) -> tuple[str, str]:
    told = store.status.url_report(url(name))
    found = told and told.outcome(Stage.EXTRACT)
    assert found
    return found.reason, found.detail


def kind(store: Store, name: str) -> UrlKind:
    return store.frontier.find_entries([url(name)])[url(name)].kind


def test_an_article_in_doubt_is_kept_and_counted_by_site(store: Store) -> None:
    crawl(store, "part")
    assert extract(store, article("part"), DOUBT) == [Reason.INCOMPLETE_BODY]
    assert [stored.article.body for stored in store.articles.iter_all()] == [article("part").body]
    assert outcome(store, "part") == (DOUBT.reason, DOUBT.detail)
    assert store.status.outcome_counts()[Stage.EXTRACT] == {Reason.INCOMPLETE_BODY: 1}
    assert store.status.site_totals()[0].outcome_counts == {Reason.FETCHED: 1, Reason.INCOMPLETE_BODY: 1}
    assert kind(store, "part") is UrlKind.ARTICLE
    crawl(store, "part", version=2)
    assert extract(store, article("part"), DOUBT) == [Reason.INCOMPLETE_BODY], "the same article is still in doubt"
    crawl(store, "part", version=3)
    assert extract(store, article("part")) == [Reason.ARTICLE_UNCHANGED], "a better extractor takes it back"


def test_a_page_that_needs_scripts_is_counted_by_site_and_asked_again(store: Store) -> None:
    crawl(store, "app")
    assert extract(store, SCRIPTS) == [Reason.NEEDS_JAVASCRIPT]
    assert store.status.site_totals()[0].outcome_counts[Reason.NEEDS_JAVASCRIPT] == 1
    assert kind(store, "app") is UrlKind.HUB


def test_a_collection_is_asked_again_for_its_links(store: Store) -> None:
    crawl(store, "shelf")
    assert extract(store, article("shelf", PageType.COLLECTION)) == [Reason.EXTRACTED]
    assert kind(store, "shelf") is UrlKind.HUB


def test_another_kind_is_indexed_again(store: Store) -> None:
    crawl(store, "page")
    extract(store, article("page", ""))
    store.change_log.acknowledge(store.change_log.pending(10), [])
    crawl(store, "page", version=2)
    assert extract(store, article("page", PageType.THREAD)) == [Reason.ARTICLE_UNCHANGED]
    assert [(change.operation, change.url) for change in store.change_log.pending(10)] == [
        (IndexOperation.UPSERT, url("page"))
    ]
    assert [stored.article.page_type for stored in store.articles.iter_all()] == [PageType.THREAD]
