"""SQLite and PostgreSQL give the same results: lengths, integers, rounding, case, and order of texts."""

import os
import random
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Text, create_engine, inspect, text

from crawler.schedule.queues import make_host_queue_function
from docstore import database as database_module
from docstore.articles.extraction_writer import PageExtraction
from docstore.database import Database
from docstore.schema import metadata
from docstore.schema.migrations import TO_VERSION_14
from docstore.store import Store
from domain.article import Teaser
from domain.errors import StoreError
from domain.outcome import Outcome, Reason
from domain.review import TermQuery
from domain.search_log import Click, LoggedSearch
from domain.term import Term
from tests.builders import ARTICLE, extract_each, fetched, keep_page, new_url, one_entry
from tests.crash_harness import until
from tests.postgres_server import PostgresServer
from tests.web_fixture import PATIENCE

DAY = 86_400.0


def test_a_long_reference_fails_neither_page_nor_batch(store: Store) -> None:
    keep_page(store), keep_page(store, "http://a.test/2", b"<p>two</p>")
    path = "".join(random.Random(1).choices([chr(n) for n in range(0x4E00, 0x9FA5)], k=1_500))
    url = f"http://a.test/{path}"
    articles = [replace(ARTICLE, title=f"题目 {n}", canonical_url=url, next_url=url) for n in range(2)]
    extractions = [
        PageExtraction(page, article, teaser=Teaser(url, "题目", ("正文，第一段。",)))
        for page, article in zip(store.articles.iter_pending(), articles, strict=True)
    ]
    assert store.articles.save(extractions) == [Reason.EXTRACTED, Reason.EXTRACTED]


@pytest.mark.parametrize("host", ["www.bbc.co.uk", "www.nytimes.com"])
def test_queue_numbers_of_all_policies_fit(store: Store, host: str) -> None:
    url = f"http://{host}/1"
    queue = make_host_queue_function(1)(url) << 6  # earlier programs had a policy with larger numbers
    assert queue > 1 << 31
    store.frontier.add_urls([new_url(url, queue=queue)])
    assert store.frontier.find_entries([url])[url].queue == queue
    assert store.frontier.due_counts_by_queue(1.0) == {queue: 1}


def test_texts_may_be_longer_than_their_column(store: Store) -> None:
    searches = [LoggedSearch(f"s{n}", "q", 1, 1, page=1 << 40, filters="site " * 50) for n in range(2)]
    store.search_log.save(searches, [Click("s0", "d", 1 << 40)])
    assert store.search_log.report(40_000).search_count == 0  # of the first pages
    store.lexicons.replace_candidates([term("x" * 300, weight=1 << 40)])
    [found] = store.review_queue.find_page(TermQuery(None))[1]
    assert (len(found.text), found.dictionary_weight) == (300, 1 << 40)


def term(name: str, weight: int = 0) -> Term:
    return Term(name, 1.0, 5, 3, dictionary_weight=weight)


NAMES = ["shale", "Shale", "SHALE gas", "Äther", "äther", "_", "100%", "页岩"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("shale", ["SHALE gas", "Shale", "shale"]),
        ("SHALE", ["SHALE gas", "Shale", "shale"]),
        ("äther", ["äther"]),
        ("Ä", ["Äther"]),
        ("_", ["_"]),
        ("0%", ["100%"]),
        ("岩", ["页岩"]),
    ],
)
def test_a_search_for_terms_ignores_the_case_of_ascii_letters(store: Store, query: str, names: list[str]) -> None:
    store.lexicons.replace_candidates([term(name) for name in NAMES])
    assert [found.text for found in store.review_queue.find_page(TermQuery(None, query))[1]] == names
    assert sorted(found.text for found in store.review_queue.find_page(TermQuery(text=query))[1]) == names


def test_texts_are_ordered_by_their_bytes(store: Store) -> None:
    names = ["Zebra", "apple", "Äther", "a-b", "ab", "页岩", "天然气"]
    store.lexicons.replace_candidates([term(name) for name in names])
    assert [found.text for found in store.review_queue.find_page(TermQuery(None))[1]] == sorted(names)


@pytest.mark.parametrize(
    ("hours", "days"), [((0.0, 11.0, 12.0, 13.0, 18.0, 23.9999), 1), ((23.9999, 24.0), 2), ((0.0, 24.0, 47.9, 48.0), 3)]
)
def test_articles_are_counted_by_utc_day(store_url: str, tmp_path: Path, hours: tuple[float, ...], days: int) -> None:
    times = iter([20_000 * DAY + 3600 * hour for hour in hours])
    now = [0.0]
    with Store(store_url, tmp_path / "warc", clock=lambda: now[0]) as store:
        for number, time in enumerate(times):
            now[0] = time
            keep_page(store, f"http://a.test/{number}", str(number).encode())
        extract_each(store, ARTICLE)
        assert store.site_runs.articles_by_host()["a.test"].days_with_articles == days


def test_a_failed_certificate_is_found_in_any_case(store: Store) -> None:
    outcome = Outcome(Reason.UNREACHABLE, "[SSL: CERTIFICATE_VERIFY_FAILED] Certificate Verify Failed: expired")
    run_id = store.runs.start("run")
    store.frontier.record_visits([fetched(one_entry(store), page=None, outcome=outcome, visited_at=4e9)])
    store.site_runs.record_run(run_id)
    [[run]] = store.site_runs.runs_by_host().values()
    assert run.crawl_counts == {"certificate": 1}


@pytest.mark.postgres
def test_an_older_postgresql_store_gets_the_types(postgres_store: str, tmp_path: Path) -> None:
    Store(postgres_store, tmp_path / "warc").close()
    engine = create_engine(postgres_store)
    texts = [
        (table.name, column.name)
        for table in metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, Text) is False and str(column.type).startswith("VARCHAR")
    ]
    with engine.begin() as connection:
        for table, column in texts:
            statement = f'ALTER TABLE {table} ALTER COLUMN "{column}" TYPE VARCHAR(64) COLLATE "default"'
            connection.execute(text(statement))
        connection.execute(text("ALTER TABLE urls ALTER COLUMN queue TYPE INTEGER"))
        connection.execute(text(TO_VERSION_14[0]))  # the table `actions`
        connection.execute(text("ALTER TABLE urls DROP COLUMN exclusion"))
        connection.execute(text("ALTER TABLE clicks DROP COLUMN minute"))
        connection.execute(text("UPDATE meta SET value = '16' WHERE key = 'schema_version'"))
    Store(postgres_store, tmp_path / "warc").close()
    found = inspect(engine)
    for table, column in texts:
        [kind] = [str(item["type"]) for item in found.get_columns(table) if item["name"] == column]
        assert kind == 'TEXT COLLATE "C"', (table, column)
    assert str(next(item["type"] for item in found.get_columns("urls") if item["name"] == "queue")) == "BIGINT"
    engine.dispose()


@pytest.mark.postgres
@pytest.mark.process
def test_no_thread_waits_for_a_server_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "SILENCE_SECONDS", 0.3)
    monkeypatch.setattr(database_module, "CONNECT_SECONDS", 2)
    with (
        closing(PostgresServer(tmp_path / "postgres")) as server,
        closing(Database(server.database("hangs"))) as database,
        ThreadPoolExecutor(8) as threads,
    ):

        def sleep(seconds: float = 0.0) -> None:
            with database.read() as connection:
                connection.execute(text(f"SELECT pg_sleep({seconds})"))

        with database.read() as connection:  # a suspended machine keeps its locks no longer
            assert connection.scalar(text("SHOW idle_in_transaction_session_timeout")) == "5min"
        sleep(1.0)  # a long statement of a server that responds
        reading = [threads.submit(sleep, PATIENCE * 2) for _ in range(4)]
        until(lambda: count_sleeping(server.url) == 4)
        stopped = server_processes(server.pid)
        send_to_all(stopped, signal.SIGSTOP)
        try:
            for future in [*reading, *(threads.submit(sleep) for _ in range(20))]:
                with pytest.raises(StoreError, match=r"does not respond|timeout expired"):
                    future.result(PATIENCE)
        finally:
            send_to_all(stopped, signal.SIGCONT)
        until(lambda: threads.submit(sleep).exception() is None)


def send_to_all(pids: list[int], number: signal.Signals) -> None:
    """Send a signal to processes; that of `count_sleeping` may be ending."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def count_sleeping(url: str) -> int:
    """Return the number of statements that sleep."""
    engine = create_engine(url)
    with engine.connect() as connection:
        count = connection.scalar(text("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"))
    engine.dispose()
    return count or 0


def server_processes(pid: int) -> list[int]:
    """Return the processes of a PostgreSQL server."""
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
