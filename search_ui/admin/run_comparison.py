"""Compares a run with the median of earlier runs. No I/O."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import median

from domain.run import RunState
from search_ui.admin.run_charts import effective_end
from search_ui.interfaces import RunSummary

MIN_EARLIER_RUNS = 3
MIN_DIFFERENCE_PERCENT = 20  # smaller differences are usual
MIN_COUNT = 5  # of the larger value: small counts differ by chance


@dataclass(frozen=True)
class UsualDifference:
    """A figure of a run that differs from the median of earlier runs by `percent` (negative: less)."""

    figure: str
    value: int
    usual_value: int
    percent: int


def count_minutes(run: RunSummary) -> int:
    """Return the duration in minutes."""
    return round((effective_end(run) - run.started_at) / 60)


FIGURES: Mapping[str, Callable[[RunSummary], int]] = {
    "articles": attrgetter("new_article_count"),
    "visits": attrgetter("requested_count"),
    "failures": attrgetter("failure_count"),
    "minutes": count_minutes,
}


def compare_with_usual(run: RunSummary, earlier_runs: Sequence[RunSummary]) -> list[UsualDifference] | None:
    """Return the unusual figures of a run; None if it did not succeed or too few earlier runs are known."""
    if run.state is not RunState.DONE or len(earlier_runs) < MIN_EARLIER_RUNS:
        return None
    differences = []
    for name, figure in FIGURES.items():
        value, usual_value = figure(run), round(median(figure(earlier) for earlier in earlier_runs))
        if not usual_value or max(value, usual_value) < MIN_COUNT:
            continue
        percent = round(100 * (value - usual_value) / usual_value)
        if abs(percent) >= MIN_DIFFERENCE_PERCENT:
            differences.append(UsualDifference(name, value, usual_value, percent))
    return differences
