"""Why a URL is never due is stored, and only what ends that reason makes the URL due again."""

from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from docstore.store import Store
from domain.administration import PendingAction
from domain.frontier import NewUrl, UrlExclusion, UrlKind, Visit
from domain.outcome import Outcome, Reason, Stage
from domain.page import Host
from tests.builders import ARTICLE, extract_all, fetched, keep_page, one_entry, operate
from tests.conftest import logic_store_url, on_both
from tests.docstore.test_migrations import restore_actions

store_url = logic_store_url
URL, HOST = "http://a.test/1", Host("a.test")


def exclusion(store: Store, url: str = URL) -> str:
    [row] = store.frontier.admin.iter_urls(url)
    assert (row.due_at is None) == bool(row.exclusion)
    return row.exclusion


def exclude(store: Store, reason: UrlExclusion) -> None:
    """Bring the URL of a saved page into a state."""
    if reason is UrlExclusion.IMPORTED:
        store.frontier.add_urls([NewUrl(URL, HOST, 0, 1, UrlKind.UNKNOWN, 0.0, exclusion=reason)])
    entry = keep_page(store)
    extract_all(store, ARTICLE)
    if reason is UrlExclusion.FINISHED:
        store.frontier.record_visits([fetched(entry, b"<p>two</p>", next_visit_at=None)])
    elif reason is UrlExclusion.BLOCKED:
        store.frontier.admin.block_urls(URL)
    elif reason is UrlExclusion.EXPIRED:
        assert store.retention.remove_expired(1, {}) == 1
    elif reason is UrlExclusion.REMOVED:
        store.site_pages.remove("a.test", PendingAction(0.0, "anna", "site_remove", "a.test", {}))
    elif reason is UrlExclusion.TAKEN_DOWN:
        operate(store, "page_takedown", url=URL, reason="")
    assert exclusion(store) == reason


def add_seed(store: Store) -> None:
    store.frontier.add_urls([NewUrl(URL, HOST, 0, 0, UrlKind.SEED, 0.0)])


ACTIONS = {
    "requeue": lambda store: store.frontier.admin.requeue_urls("*"),
    "seed": add_seed,
    "reopen": lambda store: store.site_pages.reopen("a.test"),
    "undo takedown": lambda store: operate(store, "page_restore", url=URL),
    "recrawl": lambda store: store.site_pages.recrawl("a.test", "anna"),
    "render": lambda store: store.frontier.admin.refetch_hosts(["a.test"]),
    "revisit": lambda store: store.frontier.admin.set_new_only(False),
    "sitemap": lambda store: store.frontier.reschedule({URL: 7.0}),
    "late visit": lambda store: store.frontier.record_visits(
        [fetched(store.frontier.find_entries([URL])[URL], b"<p>three</p>")]
    ),
    "lost record": lambda store: extract_again(store, Outcome(Reason.WARC_RECORD_LOST)),
    "list": lambda store: extract_again(store, Outcome(Reason.LIST_PAGE)),
}
BY_CRAWL = {"requeue", "seed", "recrawl", "render", "late visit"}
MAKES_DUE = {
    UrlExclusion.FINISHED: BY_CRAWL | {"revisit", "lost record", "list"},
    UrlExclusion.IMPORTED: {"requeue", "seed"},
    UrlExclusion.EXPIRED: {"requeue", "seed"},
    UrlExclusion.REMOVED: {"requeue", "seed", "reopen"},
    UrlExclusion.BLOCKED: {"requeue"},
    UrlExclusion.TAKEN_DOWN: {"undo takedown"},
}


def extract_again(store: Store, outcome: Outcome) -> None:
    store.articles.reextract_all()
    extract_all(store, outcome)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("reason", MAKES_DUE)
def test_only_what_ends_the_reason_makes_a_url_due(store: Store, reason: UrlExclusion, action: str) -> None:
    exclude(store, reason)
    ACTIONS[action](store)
    assert exclusion(store) == ("" if action in MAKES_DUE[reason] else reason)


@pytest.mark.parametrize("later", [UrlExclusion.EXPIRED, UrlExclusion.REMOVED])
def test_a_decision_of_a_person_outlasts_a_removal(store: Store, later: UrlExclusion) -> None:
    exclude(store, UrlExclusion.BLOCKED)
    if later is UrlExclusion.EXPIRED:
        store.retention.remove_expired(1, {})
    else:
        store.site_pages.remove("a.test", PendingAction(0.0, "anna", "site_remove", "a.test", {}))
    assert store.articles.count() == 0
    store.site_pages.reopen("a.test")
    assert exclusion(store) == UrlExclusion.BLOCKED


@on_both
def test_a_seed_that_shows_an_expired_article_stays_due(store: Store) -> None:
    add_seed(store)
    store.frontier.add_urls([NewUrl("http://a.test/2", HOST, 0, 1, UrlKind.UNKNOWN, 0.0)])
    keep_page(store), keep_page(store, "http://a.test/2", b"<p>two</p>")
    extract_all(store, ARTICLE)  # of one text: the seed shows the article of the other page
    expired_count = store.retention.remove_expired(1, {})
    assert (expired_count, store.articles.count()) in ((1, 0), (0, 1))
    assert exclusion(store) == ""


@on_both
def test_fetching_each_article_once_ends_the_visits_of_fetched_articles_only(store: Store) -> None:
    urls = {name: f"http://a.test/{name}" for name in ("article", "requested", "failed", "list", "new")}
    for name, url in urls.items():
        if name != "new":
            keep_page(store, url, name.encode())
    store.frontier.add_urls([NewUrl(urls["new"], HOST, 0, 1, UrlKind.UNKNOWN, 0.0)])
    extract_all(store, ARTICLE)
    store.frontier.add_urls([NewUrl(urls["list"], HOST, 0, 0, UrlKind.SEED, 0.0)])
    store.frontier.admin.requeue_urls(urls["requested"])
    failed = store.frontier.find_entries([urls["failed"]])[urls["failed"]]
    store.frontier.record_visits([Visit(failed, Outcome(Reason.TIMED_OUT), 1_000.0, 4_600.0, 9.0, failed_attempts=1)])
    assert store.frontier.admin.set_new_only(True) == 1
    assert {name: exclusion(store, url) for name, url in urls.items()} == {
        "article": UrlExclusion.FINISHED, "requested": "", "failed": "", "list": "", "new": ""
    }  # fmt: skip
    assert store.frontier.admin.set_new_only(False) == 1
    assert exclusion(store, urls["article"]) == ""
    assert store.frontier.admin.set_new_only(True) == 1 and store.frontier.admin.make_due(urls["article"])
    assert store.frontier.admin.set_new_only(True) == 0
    store.frontier.admin.block_urls(urls["article"])
    assert not store.frontier.admin.make_due(urls["article"])


def test_a_page_that_was_requested_early_stays_due(store: Store) -> None:
    entry = keep_page(store)
    extract_all(store, ARTICLE)
    store.frontier.record_visits([fetched(entry, b"<p>one, again</p>")])
    store.frontier.admin.requeue_urls(URL)
    extract_all(store, ARTICLE)
    assert store.frontier.discount_spurious_changes(lambda gap: 2 * gap) == 0
    assert store.frontier.last_visits([URL])[URL].due_at == 0.0


UNREASONED = {
    "never": (None, "", "", UrlExclusion.BLOCKED),
    "kept": (1_000.0, "x", "", UrlExclusion.FINISHED),
    "imported": (1_000.0, "x", "imported", UrlExclusion.IMPORTED),
    "expired": (1_000.0, "", "", UrlExclusion.EXPIRED),
    "noindex": (1_000.0, "", "noindex: not saved", UrlExclusion.FINISHED),
    "down": (1_000.0, "", "", UrlExclusion.TAKEN_DOWN),
}


@on_both
@pytest.mark.parametrize("has_revisits", [True, False])
def test_an_older_store_gets_the_reasons(store_url: str, tmp_path: Path, has_revisits: bool) -> None:
    with Store(store_url, tmp_path / "warc") as store:
        for name in UNREASONED:
            keep_page(store, f"http://a.test/{name}", name.encode())
        store.frontier.add_urls([NewUrl("http://b.test/gone", Host("b.test"), 0, 1, UrlKind.UNKNOWN, 0.0)])
        keep_page(store, "http://b.test/gone")
        operate(store, "page_takedown", url="http://a.test/down", reason="")
        store.site_pages.remove("b.test", PendingAction(0.0, "anna", "site_remove", "b.test", {}))
        add_seed(store)
        one_entry(store, "http://c.test/1")
        if has_revisits:
            keep_page(store, "http://c.test/2", b"two")
    engine = create_engine(store_url)
    with engine.begin() as connection:
        for name, (visited_at, digest, detail, _) in UNREASONED.items():
            values = {"url": f"http://a.test/{name}", "visited": visited_at, "digest": digest, "detail": detail}
            connection.execute(
                text("UPDATE urls SET due_at = NULL, visited_at = :visited, digest = :digest WHERE url = :url"), values
            )
            query = "UPDATE outcomes SET detail = :detail WHERE url_id = (SELECT url_id FROM urls WHERE url = :url)"
            connection.execute(text(query), values)
        connection.execute(
            text("DELETE FROM outcomes WHERE url_id IN (SELECT url_id FROM urls WHERE visited_at IS NULL)")
        )
        connection.execute(text(f"UPDATE urls SET due_at = NULL, visited_at = 5 WHERE url = '{URL}'"))
        statement = f"INSERT INTO outcomes SELECT url_id, 'crawl', 'fetched', '', '', 5 FROM urls WHERE url = '{URL}'"
        connection.execute(text(statement))
        connection.execute(text("UPDATE urls SET kind = 'article' WHERE url = 'http://c.test/2'"))
        connection.execute(text("ALTER TABLE urls DROP COLUMN exclusion"))
        restore_actions(connection)
        connection.execute(text("UPDATE meta SET value = '16' WHERE key = 'schema_version'"))
    engine.dispose()
    with Store(store_url, tmp_path / "warc") as store:
        finished = UrlExclusion.BLOCKED if has_revisits else UrlExclusion.FINISHED
        for name, (*_, reason) in UNREASONED.items():
            expected = finished if reason is UrlExclusion.FINISHED else reason
            assert exclusion(store, f"http://a.test/{name}") == expected, name
        assert exclusion(store, "http://b.test/gone") == UrlExclusion.REMOVED
        assert exclusion(store, "http://c.test/1") == exclusion(store) == ""
        report = store.status.url_report("http://a.test/noindex")
        assert report is not None and report.outcome(Stage.CRAWL).reason == Reason.NOINDEX
