"""The search log: saving, counting, suggesting and purging."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from docstore.reports.search_log import SearchLog
from docstore.store import Store
from domain.search_log import Click, DayCount, LoggedSearch, QueryCount, SlowSearch

DAY = 86400.0
NOW = 20_000 * DAY + 8 * 3600 + 59.0  # 08:00:59 UTC

Open = Callable[[float], SearchLog]


@pytest.fixture
def opened(store_url: str, tmp_path: Path) -> Open:
    """The log of one store, at any time."""
    return lambda now: Store(store_url, tmp_path / "warc", clock=lambda: now).search_log


def search(n: int, query: str = "页岩气", hits: int = 5, ms: int = 10, **more: object) -> LoggedSearch:
    return replace(LoggedSearch(f"s{n}", query, hits, ms, searched_at=NOW), **more)  # type: ignore[arg-type]


def test_only_the_minute_is_kept(opened: Open, store_url: str) -> None:
    opened(NOW).save([search(1, filters="site from", is_masked=True)], [Click("s1", "doc", 3)])
    engine = create_engine(store_url)
    with engine.connect() as connection:
        [row] = connection.execute(text("SELECT * FROM searches")).mappings()
        [click] = connection.execute(text("SELECT * FROM clicks")).mappings()
    engine.dispose()
    assert dict(row) == {
        "search_id": "s1", "minute": int(NOW // 60), "query": "页岩气", "masked": 1, "hits": 5, "page": 1,
        "filters": "site from", "latency_ms": 10,
    }  # fmt: skip
    assert dict(click) == {"search_id": "s1", "doc_id": "doc", "rank": 3, "minute": int(NOW // 60)}


def test_the_same_entries_again_change_nothing(opened: Open) -> None:
    table = opened(NOW)
    for _ in range(2):
        table.save([search(1), search(2)], [Click("s1", "doc", 1), Click("s1", "doc", 1)])
    report = table.report(7)
    assert (report.search_count, report.searches_with_click, report.dropped_count) == (2, 1, 0)


def test_a_purge_leaves_a_click_whose_search_is_saved_later(opened: Open) -> None:
    opened(NOW).save([], [Click("s1", "doc", 1)])
    opened(NOW).save([search(2, searched_at=NOW - 9 * DAY)], [])
    assert opened(NOW).purge(7) == 1
    opened(NOW).save([search(1)], [])
    assert opened(NOW).report(7).searches_with_click == 1
    assert opened(NOW + 8 * DAY).purge(7) == 1
    opened(NOW).save([search(1)], [])
    assert opened(NOW).report(7).searches_with_click == 0


def test_what_was_dropped_is_counted(opened: Open) -> None:
    table = opened(NOW)
    table.save([], [], dropped_count=3)
    table.save([], [], dropped_count=4)
    assert table.report(7).dropped_count == 7


def test_unstorable_and_long_queries_are_kept_as_far_as_they_go(opened: Open) -> None:
    table = opened(NOW)
    table.save([search(1, "a\0b\ud800" + "x" * 500)], [])
    assert table.report(7).top_queries[0].query.startswith("a\ufffdb\ufffdx")
    assert len(table.report(7).top_queries[0].query) == 160


def test_the_report_counts_days_queries_and_clicks(opened: Open) -> None:
    table = opened(NOW)
    yesterday = NOW - DAY
    table.save(
        [
            search(1), search(2), search(3, searched_at=yesterday), search(4, page=2, ms=900),
            search(5, "没有", 0), search(6, "没有", 0, searched_at=yesterday), search(7, "有时", 0), search(8, "有时", 2),  # noqa: E501
            search(9, "从前", searched_at=NOW - 7 * DAY),
        ],
        [Click("s1", "doc1", 1), Click("s1", "doc2", 2), Click("s8", "doc1", 1), Click("s4", "doc9", 11)],
    )  # fmt: skip
    report = table.report(7)
    assert report.by_day[-2:] == (DayCount("2024-10-03", 2, 1), DayCount("2024-10-04", 5, 2))
    assert len(report.by_day) == 7 and report.by_day[0] == DayCount("2024-09-28", 0, 0)
    assert (report.search_count, report.searches_without_hits, report.searches_with_click) == (7, 3, 2)
    assert report.top_queries == (
        QueryCount("页岩气", 3, 5, 1, False),
        QueryCount("有时", 2, 2, 1, False),
        QueryCount("没有", 2, 0, 0, False),
    )
    assert report.top_queries_without_hits == (QueryCount("没有", 2, 0, 0, False),)
    assert report.slowest_searches[0] == SlowSearch("页岩气", 900, NOW - 59.0)
    assert (report.median_ms, report.p95_ms) == (10, 900)


def test_a_corrected_search_is_not_one_without_results(opened: Open) -> None:
    table = opened(NOW)
    table.save([search(1, "页严气", 0, filters="site", is_corrected=True), search(2, "没有", 0)], [])
    report = table.report(7)
    assert (report.search_count, report.searches_without_hits, report.by_day[-1].without_hits) == (2, 1, 1)
    assert [one.query for one in report.top_queries_without_hits] == ["没有"]


def test_searches_with_only_partial_matches_have_their_own_list(opened: Open) -> None:
    table = opened(NOW)
    table.save(
        [
            search(1, "lng price", 0, is_partial=True), search(2, "lng price", 0, is_partial=True, page=2),
            search(3, "压裂 液", 0, filters="site", is_partial=True), search(4, "压裂 液", 3),
            search(5, "没有", 0), search(6, "加注站", 0), search(7, "加注站", 0, is_partial=True),
        ],
        [],
    )  # fmt: skip
    report = table.report(7)
    assert [one.query for one in report.top_partial_queries] == ["加注站", "lng price"]
    assert [one.query for one in report.top_queries_without_hits] == ["没有"]
    assert (report.search_count, report.searches_without_hits, report.partial_searches) == (6, 2, 3)


def test_searches_that_differ_in_case_alone_are_counted_together_as_one_was_typed(opened: Open) -> None:
    table = opened(NOW)
    table.save([search(n, query) for n, query in enumerate(["LNG 价格", "lng 价格", "LNG 价格", "lng价格"])], [])
    counts = [(one.query.casefold(), one.search_count) for one in table.report(7).top_queries]
    assert counts == [("lng 价格", 3), ("lng价格", 1)]
    table.save([search(10 + day, "PDC Drill", searched_at=NOW - day * DAY) for day in range(3)], [])
    assert table.popular_queries(10) == ["PDC Drill"]


def test_days_begin_where_the_clock_on_the_wall_says(opened: Open) -> None:
    table = opened(NOW)
    table.save([search(1, searched_at=20_000 * DAY - 3600)], [])  # 23:00 UTC on the day before is 07:00 in Peking
    assert table.report(7).by_day[-2].search_count == 1
    assert table.report(7, utc_offset=8 * 60).by_day[-1].search_count == 1


def test_an_empty_log_is_reported_as_one(opened: Open) -> None:
    report = opened(NOW).report(30)
    assert (len(report.by_day), report.search_count, report.median_ms, report.p95_ms, report.top_queries) == (
        30,
        0,
        0,
        0,
        (),
    )


def test_only_what_was_asked_on_three_days_is_popular(opened: Open) -> None:
    table = opened(NOW)
    numbers = iter(range(1000))

    def ask(query: str, days: list[int], **more: object) -> None:
        table.save([search(next(numbers), query, searched_at=NOW - day * DAY, **more) for day in days], [])

    ask("often", [0, 1, 2, 3, 3])
    ask("enough", [0, 4, 9])
    ask("one day only", [0] * 50)
    ask("two days", [0, 1, 0, 1])
    ask("finds nothing", [0, 1, 2], hits=0)
    ask("call […]", [0, 1, 2], is_masked=True)
    ask("turned pages", [0, 1, 2], page=2)
    assert table.popular_queries(10) == ["often", "enough"]
    assert table.popular_queries(1) == ["often"]


def test_old_searches_are_forgotten_with_their_clicks(opened: Open, store_url: str) -> None:
    for number, days in ((1, 91), (2, 89)):
        then = NOW - days * DAY
        opened(then).save([search(number, searched_at=then)], [Click(f"s{number}", "d", 1)])
    assert [opened(NOW).purge(90) for _ in range(2)] == [1, 0]
    engine = create_engine(store_url)
    with engine.connect() as connection:
        assert list(connection.execute(text("SELECT search_id FROM searches")).scalars()) == ["s2"]
        assert list(connection.execute(text("SELECT search_id FROM clicks")).scalars()) == ["s2"]
    engine.dispose()
    assert opened(NOW + 1).purge(0) == 1
