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
from docstore.model import FrontierEntry, Kind, Reason

HOUR = 3600.0
_CHANGED = 2 / (1 + 1 / (1 - math.exp(-1)))
_UNCHANGED = 2.0
_PRIOR = 7.0  # shortest intervals
_PRIOR_PAGES = 10
_RETRIES = 5
_FIRST_RETRY = HOUR
_GOOD = frozenset((Reason.FETCHED, Reason.UNCHANGED, Reason.OFF_TOPIC))
_PASSING = frozenset(
    (
        *(Reason.UNREACHABLE, Reason.TIMED_OUT, Reason.HTTP_ERROR, Reason.BAD_RESPONSE, Reason.EMPTY),
        *(Reason.ROBOTS_UNAVAILABLE, Reason.FAILED),
    )
)


@dataclass(frozen=True)
class Due:
    """When a page is due again (epoch seconds; None: never), its interval in seconds, and failures in a row so far."""

    next_visit: float | None
    gap: float
    attempts: int = 0


@dataclass(frozen=True)
class RevisitPolicy:
    """Say when a page is due again. Intervals in seconds; `new_only` is WD-A1: a fetched article never again.

    `rates` has for each host the sum of the rates of its articles (changes a second), and of how many.
    """

    shortest: float
    longest: float
    hub_gap: float
    new_only: bool = False
    rates: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    def first_gap(self, rates: float = 0.0, pages: int = 0) -> float:
        """The first interval of a new article of a site: `rates` is the sum of those of its `pages` that were visited
        (changes a second)."""
        prior = self.shortest * _PRIOR
        if prior <= 0:
            return self.shortest
        return self._within((_PRIOR_PAGES + pages) / (_PRIOR_PAGES / prior + rates))

    def after(self, entry: FrontierEntry, reason: Reason, now: float) -> Due:
        """When `entry` is due after a visit at `now` that ended with `reason`."""
        good = reason in _GOOD
        attempts = 0 if good else entry.attempts + 1
        if entry.kind in (Kind.SEED, Kind.HUB):
            return Due(now + self.hub_gap, self.hub_gap, attempts)
        if good:
            return self._after_answer(entry, reason, now)
        wait = self._retry_gap(attempts) if reason in _PASSING else self.longest
        if self.new_only and reason not in _PASSING:
            return Due(None, entry.gap, attempts)
        return Due(now + wait, entry.gap, attempts)

    def longer(self, gap: float) -> float:
        """The interval without the change that had shortened it to `gap`: that change proved to be none."""
        return min(gap * _UNCHANGED / _CHANGED, self.longest)

    def _after_answer(self, entry: FrontierEntry, reason: Reason, now: float) -> Due:
        known = entry.gap * (_CHANGED if reason is Reason.FETCHED else _UNCHANGED)
        gap = self._within(known) if entry.gap else self.first_gap(*self.rates.get(entry.host, (0.0, 0)))
        return Due(None if self.new_only else now + gap, gap)

    def _within(self, gap: float) -> float:
        return min(max(gap, self.shortest), self.longest)

    def _retry_gap(self, attempts: int) -> float:
        """An hour after the first failure, doubling; after some failures in a row only the longest interval."""
        return min(_FIRST_RETRY * 2.0 ** (attempts - 1), self.longest) if attempts <= _RETRIES else self.longest


def policy_of(settings: CrawlSettings) -> RevisitPolicy:
    """The policy that the settings describe, for sites of which nothing is known yet."""
    return RevisitPolicy(
        shortest=settings.revisit_shortest * HOUR,
        longest=settings.revisit_longest * HOUR,
        hub_gap=settings.hub_gap * HOUR,
        new_only=settings.incremental == "new_only",
    )
