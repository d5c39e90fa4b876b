"""Results of runs by site, and firing alerts, on SQLite and PostgreSQL."""

from contextlib import nullcontext
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from docstore.articles.extraction_writer import PageExtraction
from docstore.reports.site_runs import CERTIFICATE_ERROR, MAX_STORED_RUNS, SECONDS_PER_DAY, limit_to_largest_hosts
from docstore.schema.operation_tables import site_runs
from docstore.store import Store
from domain.alert import Alert, AlertKey
from domain.article import Article
from domain.frontier import NewUrl, UrlKind, Visit
from domain.message import Message
from domain.outcome import Outcome, Reason, Stage
from domain.run import SiteRun
from tests.builders import extract_all, keep_page

EXPIRED = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)"


def visit(store: Store, url: str, outcome: Outcome, at: float) -> None:
    host = url.split("/")[2]
    store.frontier.add_urls([NewUrl(url, host, 3, 0, UrlKind.UNKNOWN, 0.0)])
    store.frontier.record_visits([Visit(store.frontier.find_entries([url])[url], outcome, at, None, 0.0)])


@pytest.fixture
def run_id(store: Store) -> int:
    """A run that has begun; the pages of `a.test` are of before."""
    keep_page(store, "http://a.test/before")
    extract_all(store, Outcome(Reason.NO_BODY))
    return store.runs.start("run")


def test_a_run_is_what_was_visited_and_read_since_it_began(store: Store, run_id: int) -> None:
    [run] = store.runs.list_newest(1)
    now = run.started_at + 1
    visit(store, "http://b.test/1", Outcome(Reason.UNREACHABLE, EXPIRED), now)
    visit(store, "http://b.test/2", Outcome(Reason.UNREACHABLE, "refused"), now)
    visit(store, "http://b.test/3", Outcome(Reason.GONE, "404"), now)
    visit(store, "http://c.test/1", Outcome(Reason.GONE, "404"), run.started_at - 1)
    store.site_runs.record_run(run_id)
    store.site_runs.record_run(run_id)  # once more changes nothing
    found = store.site_runs.runs_by_host()
    assert found["b.test"] == [SiteRun(run_id, run.started_at, {CERTIFICATE_ERROR: 1, "unreachable": 1, "gone": 1}, {})]
    assert "c.test" not in found
    assert store.site_runs.runs_by_host("b.test") == {"b.test": found["b.test"]}


def test_runs_long_past_are_forgotten_and_hosts_are_bounded(store: Store, run_id: int) -> None:
    for n in range(MAX_STORED_RUNS + 5):
        run_id = store.runs.start("run")
        visit(store, f"http://b.test/{n}", Outcome(Reason.GONE), store.runs.list_newest(1)[0].started_at)
        store.site_runs.record_run(run_id)
    assert len(store.site_runs.runs_by_host("b.test")["b.test"]) == MAX_STORED_RUNS
    rows = [(f"{n}.test", "crawl", "gone", n) for n in range(10)]
    assert limit_to_largest_hosts(rows, 3) == rows[7:]
    with store.runs._database.read() as connection:
        assert connection.scalar(select(func.count()).select_from(site_runs)) <= MAX_STORED_RUNS * 2


def test_articles_of_a_host_and_the_days_on_which_they_were_found(store: Store) -> None:
    days = (1.0, 2.2, 2.4, 9.0)
    for n, day in enumerate(days):
        store.frontier._clock = lambda day=day: day * SECONDS_PER_DAY  # type: ignore[misc]
        keep_page(store, f"http://a.test/{n}", f"<p>{n}</p>".encode())
    for n, page in enumerate(list(store.articles.iter_pending())):
        store.articles.save([PageExtraction(page, Article(page.url, f"title {n}", f"body {n}"))])
    found = store.site_runs.articles_by_host()["a.test"]
    assert (found.article_count, found.newest_found_at, found.days_with_articles) == (4, 9.0 * SECONDS_PER_DAY, 3)
    assert store.site_runs.articles_by_host(["b.test"]) == {}


def test_a_site_and_samples_of_its_ends(store: Store) -> None:
    keep_page(store, "http://a.test/fine")
    for n in range(5):
        visit(store, f"http://a.test/{n}", Outcome(Reason.GONE, f"404 {n}"), 2_000.0 + n)
    extract_all(store, Outcome(Reason.NO_BODY, Message("1 character of text", "{n} characters of text", n=0)))
    found = store.status.outcome_samples("a.test", per_reason=2)
    told = [(one.stage, one.reason, one.url, one.detail) for one in found]
    assert told == [
        (Stage.CRAWL, Reason.FETCHED, "http://a.test/fine", ""),
        (Stage.CRAWL, Reason.GONE, "http://a.test/4", "404 4"),
        (Stage.CRAWL, Reason.GONE, "http://a.test/3", "404 3"),
        (Stage.EXTRACT, Reason.NO_BODY, "http://a.test/fine", "0 characters of text"),
    ]
    detail = found[-1].detail  # what the catalogs need to say it in another language
    assert isinstance(detail, Message) and (detail.template, detail.values) == ("1 character of text", {"n": 0})
    site = store.status.find_site_totals("a.test")
    assert site is not None and site == store.status.site_totals()[0] and site.outcome_counts[Reason.GONE] == 5
    assert store.status.find_site_totals("nowhere.test") is None and store.status.outcome_samples("nowhere.test") == []


def test_what_is_due_and_since_when(store: Store) -> None:
    assert store.status.due_count_and_since(5_000.0) == (0, None)
    keep_page(store)  # due at 5,000
    assert store.status.due_count_and_since(5_001.0) == (1, 5_000.0)
    store.frontier._clock = lambda: 4_000.0
    store.frontier.add_urls([NewUrl("http://a.test/new", "a.test", 3, 0, UrlKind.UNKNOWN, 0.0)])
    assert store.status.due_count_and_since(5_001.0) == (2, 4_000.0)


def test_alerts_keep_when_they_began_and_what_each_channel_was_told(store: Store) -> None:
    store.alerts._clock = lambda: 100.0
    one, two = Alert(AlertKey("robots", "a.test"), {"n": 3, "host": "文"}), Alert(AlertKey("run_failed"))
    store.alerts.replace_firing([one])
    store.alerts._clock = lambda: 200.0
    store.alerts.replace_firing([one, two])
    assert store.alerts.firing() == [replace(one, firing_since=100.0), replace(two, firing_since=200.0)]
    store.alerts.record_notified("mail", [one, two], [])
    store.alerts.record_notified("mail", [one], [two.key])
    store.alerts.record_notified("webhook", [two], [])
    assert store.alerts.unresolved_notices("mail") == {one.key: one.message_values} and list(
        store.alerts.unresolved_notices("webhook")
    ) == [two.key]
    store.alerts.replace_firing([])
    assert store.alerts.firing() == []


def test_only_hosts_that_are_asked_for_are_due(store: Store) -> None:
    for host in ("a.test", "b.test:8080", "[::1]:80"):
        store.frontier.add_urls([NewUrl(f"http://{host}/", host, 3, 0, UrlKind.SEED, 1.0)])
    table = store.frontier
    assert (
        len(table.due_entries(3, 1.0, 10))
        == table.due_counts_by_queue(1.0)[3]
        == len(table.due_counts_by_host_and_queue(1.0))
        == 3
    )
    table.restrict_to_hosts(("b.test:8080", "[::1]:80"))
    assert {one.host for one in table.due_entries(3, 1.0, 10)} == {"b.test:8080", "[::1]:80"}
    assert table.due_counts_by_queue(1.0) == {3: 2} and {
        host for host, _ in table.due_counts_by_host_and_queue(1.0)
    } == {
        "b.test:8080",
        "[::1]:80",
    }
    with table.reopen() as elsewhere:
        assert len(elsewhere.due_entries(3, 1.0, 10)) == 2
    table.exclude_hosts(("[::1]:80", "a.test"))
    for open_table in (nullcontext(table), table.reopen()):
        with open_table as frontier:
            assert [one.host for one in frontier.due_entries(3, 1.0, 10)] == ["b.test:8080"]
            assert frontier.due_counts_by_queue(1.0) == {3: 1}
            assert frontier.due_counts_by_host_and_queue(1.0) == {("b.test:8080", 3): 1}
    for select_hosts in (table.exclude_hosts, table.restrict_to_hosts):
        select_hosts(("x' OR 1=1 --",))
        with pytest.raises(ValueError, match="not a host"):
            table.due_entries(3, 1.0, 10)
        select_hosts(())
