"""Compute when a page is due again. Pure: reads no clock and no store.

Taken literally, WD-A1 fetches no URL twice. Here seeds, front pages and list pages that change are fetched in every run
(docs/decisions/0006). The interval of a list page that stays unchanged triples, from half the minimum interval of
articles to 14 minimum intervals; a change ends it. After twenty visits to lists of a site of which hardly any has new
links, its new lists begin with an interval in the same run. Articles are fetched again when a change is expected.
Changes are modelled as a Poisson process whose rate is estimated from the visits.

With rate r, an interval of t = 1/r contains one change on average. If a visit finds a change, the expected number of
changes in the interval is rt/(1-e^-rt) = 1.58, otherwise 0. Averaged with the prior (one change per interval), the new
rate is (1 + 1.58)/2 or (1 + 0)/2 per interval. The interval therefore shrinks to 0.775 of itself or doubles. Only the
rate is stored per page, and old visits lose weight.

The first interval of a new article comes from its site: the mean rate of the visited articles and a prior. The prior is
one change in seven minimum intervals, with the weight of ten articles. A site with stable articles then uses little of
a run, and a site that edits its articles is soon visited daily.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from crawler.settings import NEW_ONLY, CrawlSettings
from domain.frontier import FrontierEntry, UrlKind
from domain.outcome import FETCH_SUCCESS_REASONS, Reason
from domain.page import Host

SECONDS_PER_HOUR = 3600.0
_CHANGED_FACTOR = 2 / (1 + 1 / (1 - math.exp(-1)))
_UNCHANGED_FACTOR = 2.0
_PRIOR_INTERVALS = 7.0  # in minimum intervals
_PRIOR_PAGES = 10
_UNCHANGED_HUB_FACTOR = 3.0
_FIRST_UNCHANGED_HUB_INTERVALS = 0.5  # in minimum intervals: one unchanged visit does not skip a nightly run
_MAX_HUB_INTERVALS = 14.0  # in minimum intervals
_MIN_VISITED_LISTS, _MAX_CHANGED_LISTS_SHARE = 20, 0.1  # before new lists of a site get an interval in this run
_MAX_BACKOFF_FAILURES = 5
_FIRST_RETRY_SECONDS = SECONDS_PER_HOUR
_RETRIED_REASONS = frozenset(
    (
        *(Reason.UNREACHABLE, Reason.TIMED_OUT, Reason.HTTP_ERROR, Reason.MALFORMED_RESPONSE, Reason.EMPTY_BODY),
        *(Reason.ROBOTS_UNAVAILABLE, Reason.UNEXPECTED_ERROR, Reason.BLOCKED, Reason.NEEDS_LOGIN),
        *(Reason.PARSING_TIMED_OUT, Reason.UNPARSABLE),
    )
)


@dataclass(frozen=True)
class NextVisit:
    """The next visit of a page.

    Attributes:
        due_at: epoch seconds, None for never.
        revisit_seconds: interval of the page.
        failed_attempts: failures in a row so far.
    """

    due_at: float | None
    revisit_seconds: float
    failed_attempts: int = 0


@dataclass(frozen=True)
class RevisitPolicy:
    """Computes when a page is due again. Intervals are in seconds.

    Attributes:
        is_new_only: WD-A1: never fetch an article again.
        change_rates_by_host: host -> (sum of the change rates of its articles in changes per second, number of
            articles).
    """

    min_revisit_seconds: float
    max_revisit_seconds: float
    hub_revisit_seconds: float
    is_new_only: bool = False
    change_rates_by_host: Mapping[Host, tuple[float, int]] = field(default_factory=dict)

    def initial_revisit_seconds(self, rates: float = 0.0, pages: int = 0) -> float:
        """Return the first interval of a new article of a site.

        Args:
            rates: sum of the change rates of the visited articles (changes per second).
            pages: number of visited articles.
        """
        prior = self.min_revisit_seconds * _PRIOR_INTERVALS
        if prior <= 0:
            return self.min_revisit_seconds
        return self._clamp((_PRIOR_PAGES + pages) / (_PRIOR_PAGES / prior + rates))

    def next_visit(self, entry: FrontierEntry, reason: Reason, now: float) -> NextVisit:
        """Return the next visit of `entry` after a visit at `now` (epoch seconds) that ended with `reason`."""
        is_success = reason in FETCH_SUCCESS_REASONS
        failed_attempts = 0 if is_success else entry.attempts + 1
        if entry.kind in (UrlKind.SEED, UrlKind.HUB):
            return self._next_hub_visit(entry, reason, now, failed_attempts)
        if is_success:
            return self._after_success(entry, reason, now)
        wait = self._retry_seconds(failed_attempts) if reason in _RETRIED_REASONS else self.max_revisit_seconds
        if self.is_new_only and reason not in _RETRIED_REASONS:
            return NextVisit(None, entry.gap, failed_attempts)
        return NextVisit(now + wait, entry.gap, failed_attempts)

    def first_list_seconds(self, visited_lists: int, changed_lists: int) -> float:
        """Return the first interval of a list page by the visits to the site's lists in this run; 0: no evidence.

        The prior is one change in each minimum interval, with the weight of ten lists.
        """
        if visited_lists < _MIN_VISITED_LISTS or changed_lists > _MAX_CHANGED_LISTS_SHARE * visited_lists:
            return 0.0
        intervals = (_PRIOR_PAGES + visited_lists) / (_PRIOR_PAGES + changed_lists)
        return min(min(intervals, _MAX_HUB_INTERVALS) * self.min_revisit_seconds, self.max_revisit_seconds)

    def next_interval(self, revisit_seconds: float) -> float:
        """Return the interval after a spurious change, which had shortened it to `revisit_seconds`."""
        return min(revisit_seconds * _UNCHANGED_FACTOR / _CHANGED_FACTOR, self.max_revisit_seconds)

    def _next_hub_visit(self, entry: FrontierEntry, reason: Reason, now: float, failed_attempts: int) -> NextVisit:
        """Return the next visit of a seed or list page: `hub_revisit_seconds`, or later if it stays unchanged."""
        if reason is Reason.UNCHANGED and entry.kind is UrlKind.HUB and not _is_front_page(entry.url):
            longer_seconds = max(
                entry.gap * _UNCHANGED_HUB_FACTOR, self.min_revisit_seconds * _FIRST_UNCHANGED_HUB_INTERVALS
            )
            max_seconds = min(self.min_revisit_seconds * _MAX_HUB_INTERVALS, self.max_revisit_seconds)
            revisit_seconds = max(self.hub_revisit_seconds, min(longer_seconds, max_seconds))
            return NextVisit(now + revisit_seconds, revisit_seconds)
        revisit_seconds = entry.gap if failed_attempts else self.hub_revisit_seconds
        return NextVisit(now + self.hub_revisit_seconds, revisit_seconds, failed_attempts)

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
        """Return the wait after failures: one hour, then doubled each time.

        After five failures, the maximum interval.
        """
        return (
            min(_FIRST_RETRY_SECONDS * 2.0 ** (attempts - 1), self.max_revisit_seconds)
            if attempts <= _MAX_BACKOFF_FAILURES
            else self.max_revisit_seconds
        )


def _is_front_page(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


def build_revisit_policy(settings: CrawlSettings) -> RevisitPolicy:
    """Build the policy from the settings, without change rates."""
    return RevisitPolicy(
        min_revisit_seconds=settings.revisit_shortest * SECONDS_PER_HOUR,
        max_revisit_seconds=settings.revisit_longest * SECONDS_PER_HOUR,
        hub_revisit_seconds=settings.hub_gap * SECONDS_PER_HOUR,
        is_new_only=settings.incremental == NEW_ONLY,
    )
