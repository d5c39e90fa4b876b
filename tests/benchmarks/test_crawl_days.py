"""How the crawl's benchmark counts: ages of copies, days in one figure, where the site's source is."""

from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

import benchmarks.crawl
from benchmarks.crawl import source_of
from benchmarks.crawl_days import Ages, found_of, worst_of

DAY = 86400.0
HOUR = 3600.0


def row(etag: str, modified: float, status: int = 200) -> dict[str, object]:
    return {"etag": etag, "status": status, "last_modified": datetime.fromtimestamp(modified, UTC).isoformat()}


def test_a_change_found_in_the_next_crawl_is_as_old_as_the_oracles() -> None:
    ages, at = Ages(), 10 * DAY
    present = {"a": row("2", at - 6 * HOUR), "b": row("1", 0.0)}
    ages.crawled(at, {"a": "1", "b": "1"}, present, {"a": "2", "b": "1"})
    ages.crawled(at + DAY, {"a": "2", "b": "1"}, present, {"a": "2", "b": "1"})
    hours = ages.hours()
    assert hours["mean_age_h"] == pytest.approx((6 * 6 / 2) / (4 * 24))
    assert hours["age_by_oracle"] == 1.0


def test_a_change_found_a_day_late_is_older() -> None:
    ages, at = Ages(), 10 * DAY
    present = {"a": row("2", at - 6 * HOUR)}
    ages.crawled(at, {"a": "1"}, present, {"a": "1"})
    ages.crawled(at + DAY, {"a": "1"}, present, {"a": "2"})
    assert ages.ours == pytest.approx((30 * HOUR) ** 2 / 2)
    assert ages.oracle == pytest.approx((6 * HOUR) ** 2 / 2)


def test_without_a_change_nothing_is_old() -> None:
    ages = Ages()
    ages.crawled(DAY, {"a": "1"}, {"a": row("1", 0.0), "new": row("1", 0.0)}, {"a": "1", "new": "1"})
    assert ages.hours() == {"mean_age_h": 0.0, "mean_age_h oracle": 0.0, "age_by_oracle": 1.0}


def test_days_in_one_figure() -> None:
    before = {"a": row("1", 0.0), "b": row("1", 0.0), "c": row("1", 0.0)}
    present = {"a": row("2", 1.0), "b": row("1", 0.0), "c": row("1", 0.0, status=410), "d": row("1", 1.0)}
    found = found_of(before, present, {"a": "2", "b": "1", "c": "1"})
    assert (found["new_found_same_day"], found["changed_found_same_day"], found["gone_found_same_day"]) == (0, 1, 0)
    costs = [{"requests_share": share, "bytes": 100.0 * share, "cpu_s": 1.0} for share in (1.0, 0.9, 0.2, 0.1)]
    worst = worst_of([{**found, **cost} for cost in costs])
    assert worst["requests_share"] == 0.2
    assert worst["day 2 bytes share"] == pytest.approx(0.9)


@pytest.mark.parametrize("place", ["", "crawlbench", "tools/crawlbench", "../tools/crawlbench"])
def test_the_source_is_found_about_the_data(tmp_path: Path, place: str) -> None:
    data = tmp_path / "one" / "data"
    (data / place).mkdir(parents=True)
    data.mkdir(exist_ok=True)
    (data / place / "go.mod").touch()
    assert source_of(data) == (data / place).resolve()


def test_no_source_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks.crawl, "SOURCE", tmp_path / "none")
    with pytest.raises(click.UsageError, match="no source of crawlbench"):
        source_of(tmp_path)
