"""When a page is due again. Pure: reads no clock and no store.

WD-A1 taken literally asks no URL twice; read sensibly (METHODS 1.3 e, f) seeds and list pages are asked in every
run, and articles again when a change is to be expected: changes are taken for a Poisson process, whose rate is
estimated from what each visit found.

With rate r, an interval of t = 1/r holds one change on average. A visit says whether there was any: if so, rt/(1-e^-rt)
changes are to be expected in it (1.58), else none. Weighed equally with what was known (one change in one interval)
that is a new rate of (1 + 1.58)/2 or (1 + 0)/2 per interval: the interval shrinks to 0.775 of itself or doubles.
The rate is all that has to be kept of a page's history, and what lies long ago fades.

Of a new article nothing is known but its site. Its first interval is the site's: the mean rate of the articles that
were visited, with the prior, one change in seven of the shortest intervals, counted as ten of them. So a site whose
articles stand still takes little of a night, and one that edits them is soon asked daily.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from crawler.settings import CrawlSettings
from docstore.model import FrontierEntry, Reason, UrlKind

SECONDS_PER_HOUR = 3600.0
_CHANGED_FACTOR = 2 / (1 + 1 / (1 - math.exp(-1)))
_UNCHANGED_FACTOR = 2.0
_PRIOR_INTERVALS = 7.0  # shortest intervals
_PRIOR_PAGES = 10
_MAX_BACKOFF_FAILURES = 5
_FIRST_RETRY_SECONDS = SECONDS_PER_HOUR
SUCCESS_REASONS = frozenset((Reason.FETCHED, Reason.UNCHANGED, Reason.OFF_TOPIC))
_RETRIED_REASONS = frozenset(
    (
        *(Reason.UNREACHABLE, Reason.TIMED_OUT, Reason.HTTP_ERROR, Reason.MALFORMED_RESPONSE, Reason.EMPTY_BODY),
        *(Reason.ROBOTS_UNAVAILABLE, Reason.UNEXPECTED_ERROR),
    )
)


@dataclass(frozen=True)
class NextVisit:
    """When a page is due again (epoch seconds; None: never), its interval in seconds, and failures in a row so far."""

    due_at: float | None
    revisit_seconds: float
    failed_attempts: int = 0


@dataclass(frozen=True)
class RevisitPolicy:
    """Say when a page is due again. Intervals in seconds; `is_new_only` is WD-A1: a fetched article never again.

    `change_rates_by_host` has for each host the sum of the rates of its articles (changes a second), and of how many.
    """

    min_revisit_seconds: float
    max_revisit_seconds: float
    hub_revisit_seconds: float
    is_new_only: bool = False
    change_rates_by_host: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    def initial_revisit_seconds(self, rates: float = 0.0, pages: int = 0) -> float:
        """The first interval of a new article of a site: `rates` is the sum of those of its `pages` that were visited
        (changes a second)."""
        prior = self.min_revisit_seconds * _PRIOR_INTERVALS
        if prior <= 0:
            return self.min_revisit_seconds
        return self._clamp((_PRIOR_PAGES + pages) / (_PRIOR_PAGES / prior + rates))

    def next_visit(self, entry: FrontierEntry, reason: Reason, now: float) -> NextVisit:
        """When `entry` is due after a visit at `now` that ended with `reason`."""
        is_success = reason in SUCCESS_REASONS
        failed_attempts = 0 if is_success else entry.attempts + 1
        if entry.kind in (UrlKind.SEED, UrlKind.HUB):
            return NextVisit(now + self.hub_revisit_seconds, self.hub_revisit_seconds, failed_attempts)
        if is_success:
            return self._after_success(entry, reason, now)
        wait = self._retry_seconds(failed_attempts) if reason in _RETRIED_REASONS else self.max_revisit_seconds
        if self.is_new_only and reason not in _RETRIED_REASONS:
            return NextVisit(None, entry.gap, failed_attempts)
        return NextVisit(now + wait, entry.gap, failed_attempts)

    def next_interval(self, revisit_seconds: float) -> float:
        """The interval without the change that had shortened it to `revisit_seconds`: that change proved to be none."""
        return min(revisit_seconds * _UNCHANGED_FACTOR / _CHANGED_FACTOR, self.max_revisit_seconds)

    def _after_success(self, entry: FrontierEntry, reason: Reason, now: float) -> NextVisit:
        adjusted_seconds = entry.gap * (_CHANGED_FACTOR if reason is Reason.FETCHED else _UNCHANGED_FACTOR)
        revisit_seconds = (
            self._clamp(adjusted_seconds)
            if entry.gap
            else self.initial_revisit_seconds(*self.change_rates_by_host.get(entry.host, (0.0, 0)))
        )
        return NextVisit(None if self.is_new_only else now + revisit_seconds, revisit_seconds)

    def _clamp(self, revisit_seconds: float) -> float:
        return min(max(revisit_seconds, self.min_revisit_seconds), self.max_revisit_seconds)

    def _retry_seconds(self, attempts: int) -> float:
        """An hour after the first failure, doubling; after some failures in a row only the longest interval."""
        return (
            min(_FIRST_RETRY_SECONDS * 2.0 ** (attempts - 1), self.max_revisit_seconds)
            if attempts <= _MAX_BACKOFF_FAILURES
            else self.max_revisit_seconds
        )


def build_revisit_policy(settings: CrawlSettings) -> RevisitPolicy:
    """The policy that the settings describe, for sites of which nothing is known yet."""
    return RevisitPolicy(
        min_revisit_seconds=settings.revisit_shortest * SECONDS_PER_HOUR,
        max_revisit_seconds=settings.revisit_longest * SECONDS_PER_HOUR,
        hub_revisit_seconds=settings.hub_gap * SECONDS_PER_HOUR,
        is_new_only=settings.incremental == "new_only",
    )
