"""What sizes cost, by slopes that are known."""

import pytest

from benchmarks.scale_model import GB, SLOPES, Machine, Size, broken, need_of

BY_HAND = {
    "articles_a_page": 0.5,
    "crawl_cpu_ms": 10.0,
    "extract_cpu_ms": 26.0,
    "mine_cpu_ms": 30.0,
    "index_cpu_ms": 10.0,
    "solr_cpu_ms": 32.0,
    "rows_a_page": 100.0,
    "sealed_rows_a_page": 60.0,
    "database_bytes": 30_000.0,
    "sealed_database_bytes": 20_000.0,
    "warc_bytes": 40_000.0,
    "index_bytes": 100_000.0,
}
MILLION = Size("a million", 1000, 1e6)
MACHINE = Machine()


def test_pages_and_articles_cost_what_their_slopes_say() -> None:
    need = need_of(MILLION, BY_HAND, days=30)
    assert need.core_hours == pytest.approx(
        {"crawl": 10 / 3.6, "extract": 26 / 3.6, "mine": 0.5 * 30 / 3.6, "index": 0.5 * 42 / 3.6}
    )
    assert need.page_bytes == pytest.approx(40 * GB)
    assert need.index_bytes == pytest.approx(50 * GB)
    assert need.days_by_manners == pytest.approx(1000 / 86_400)


@pytest.mark.parametrize(
    ("days", "rows", "size"),
    [
        pytest.param(10, 100e6, 30 * GB, id="all in the open month"),
        pytest.param(30, 100e6, 30 * GB, id="a month"),
        pytest.param(60, 80e6, 25 * GB, id="half is sealed"),
        pytest.param(120, 70e6, 22.5 * GB, id="a quarter is open"),
    ],
)
def test_keys_of_open_months_are_rows_and_those_before_are_sealed(days: float, rows: float, size: float) -> None:
    need = need_of(MILLION, BY_HAND, days)
    assert need.rows == pytest.approx(rows)
    assert need.database_bytes == pytest.approx(size)
    assert need.sealed_rows == pytest.approx(60e6)
    assert need.sealed_database_bytes == pytest.approx(20 * GB)


def test_a_small_store_seals_nothing() -> None:
    need = need_of(Size("small", 10, 20_000), BY_HAND, days=90)  # 800,000 keys
    assert need.rows == need.sealed_rows == pytest.approx(2e6)
    assert need.database_bytes == need.sealed_database_bytes == pytest.approx(0.6 * GB)


def test_the_worst_limit_comes_first_and_counts_open_months() -> None:
    size = Size("ten million", 1000, 1e7)
    ratios = {what.partition(":")[0]: ratio for ratio, what in broken(need_of(size, BY_HAND, 30), 16, 30)}
    assert list(ratios.values()) == sorted(ratios.values(), reverse=True)
    assert ratios["rows in SQLite"] == pytest.approx(1e9 / 300e6)
    slowly = {what.partition(":")[0]: ratio for ratio, what in broken(need_of(size, BY_HAND, 120), 16, 120)}
    assert slowly["rows in SQLite"] == pytest.approx(0.7e9 / 300e6)


def test_a_host_is_asked_no_faster_in_a_larger_cluster() -> None:
    size = Size("a large host", 1, 1e7)
    assert any("crawl delay" in what for _, what in broken(need_of(size, BY_HAND, 30), 16, 30))


def test_nodes_are_whole_machines() -> None:
    assert min(need_of(Size("tiny", 1, 1), SLOPES, 30).nodes(MACHINE, 30).values()) == 1
    assert need_of(Size("much", 1, 1e9), BY_HAND, 30).nodes(MACHINE, 30)["solr"] == 200


def test_the_slopes_of_the_file_are_those_that_are_asked_for() -> None:
    assert SLOPES.keys() == BY_HAND.keys()
    assert SLOPES["sealed_rows_a_page"] < SLOPES["rows_a_page"]
    assert SLOPES["sealed_database_bytes"] < SLOPES["database_bytes"]
