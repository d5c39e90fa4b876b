"""How far a crawl has come, as it tells while it runs, and its report at the end."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from crawler.schedule.throttle import HostThrottle
from docstore.errors import PlumblineError
from docstore.model import Host, Outcome, Reason, Stage, StageReport

GOOD = frozenset((Reason.FETCHED, Reason.UNCHANGED, Reason.OFF_TOPIC))
_SEED_GOOD = GOOD | {Reason.DUPLICATE}
_SEED_ADVICE = {
    Reason.ROBOTS_FORBIDDEN: "robots.txt forbids us these pages; name others in crawl.seeds",
    Reason.INSIDE_ADDRESS: "do so, then run again",
}


@dataclass(frozen=True)
class HostProgress:
    """One host in this run: pages and errors so far, URLs that wait, seconds between requests now, and to an answer;
    `is_resting` says that it is left alone after failures."""

    pages: int = 0
    errors: int = 0
    waiting: int = 0
    gap: float = 0.0
    answers_in: float = 0.0
    is_resting: bool = False


@dataclass(frozen=True)
class CrawlProgress:
    """How far a run has come: visits by reason, URLs added, fetches under way, seconds since the start.

    `left` URLs are due and not visited, `at_work` hosts have some of them, of which the slowest one `takes` so many
    seconds at its present gap. `hosts` are told only now and then.
    """

    counts: Mapping[Reason, int]
    added: int
    under_way: int
    seconds: float
    hosts: Mapping[str, HostProgress] = field(default_factory=dict)
    left: int = 0
    at_work: int = 0
    takes: float = 0.0

    @property
    def done(self) -> int:
        """Visits so far."""
        return sum(self.counts.values())


Tell = Callable[[CrawlProgress], None]
_TELL_EVERY = 0.5  # seconds


class Reporter:
    """Tells how far a run has come, not too often."""

    def __init__(self, tell: Tell | None, tally: "Tally", throttle: HostThrottle, started: float) -> None:
        self._tell = tell
        self._tally = tally
        self._gate = throttle
        self._started = started
        self._told_at = started
        self._work = (0, 0, 0.0)

    def say(self, now: float, under_way: int, left: Mapping[str, int]) -> None:
        """`left` has for each host how many of its URLs are due."""
        if self._tell is None:
            return
        tally = self._tally
        hosts: dict[str, HostProgress] = {}
        if now - self._told_at >= _TELL_EVERY:
            self._told_at, hosts = now, self._hosts(left)
            at_work = [one for one in hosts.values() if one.waiting and not one.is_resting]
            takes = max((one.waiting * (one.gap + one.answers_in) for one in at_work), default=0.0)
            self._work = (sum(left.values()), len(at_work), takes)
        self._tell(CrawlProgress(dict(tally.counts), tally.added, under_way, now - self._started, hosts, *self._work))

    def _hosts(self, left: Mapping[str, int]) -> dict[str, HostProgress]:
        pages, errors = self._tally.pages_of, self._tally.errors_of
        return {
            host: HostProgress(pages[host], errors[host], left.get(host, 0), how.gap, how.seconds, how.is_resting)
            for host, how in self._gate.manners().items()
        }


@dataclass
class Tally:
    """What a run counts, and whatever is worth a line at its end."""

    counts: Counter[Reason] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)  # links, not URLs of the table
    added: int = 0
    fetched: int = 0
    seeds: dict[str, Outcome] = field(default_factory=dict)
    rested: set[str] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)
    pages_of: Counter[str] = field(default_factory=Counter)
    errors_of: Counter[str] = field(default_factory=Counter)

    def visited(self, host: Host, reason: Reason) -> None:
        """A visit is over."""
        self.counts[reason] += 1
        (self.pages_of if reason in GOOD else self.errors_of)[host] += 1

    def note(self, text: str) -> None:
        """A line for the report, once."""
        self.notes[text] = None

    def merge(self, other: "Tally") -> None:
        """Add what another process counted."""
        for mine, theirs in ((self.counts, other.counts), (self.pages_of, other.pages_of)):
            mine.update(theirs)  # type: ignore[arg-type]
        self.refused.update(other.refused)
        self.errors_of.update(other.errors_of)
        self.added += other.added
        self.fetched += other.fetched
        self.seeds |= other.seeds
        self.rested |= other.rested
        self.notes |= other.notes

    def report(self, seconds: float) -> StageReport:
        """What the run did. Raises PlumblineError if no seed and no other page could be fetched."""
        bad = [f"{url}: {_shown(outcome)}" for url, outcome in self.seeds.items() if outcome.reason not in _SEED_GOOD]
        if bad and not self.fetched:
            first = next(outcome.reason for outcome in self.seeds.values() if outcome.reason not in _SEED_GOOD)
            advice = _SEED_ADVICE.get(first, "see that crawl.seeds is right and that the sites answer, then run again")
            raise PlumblineError(f"none of the seeds could be fetched ({'; '.join(bad[:3])}): {advice}")
        notes = [f"seed not fetched: {line}" for line in bad]
        notes += [f"host left alone after repeated failures: {host}" for host in sorted(self.rested)]
        notes += self.notes
        if self.refused:
            counted = ", ".join(f"{count} {reason}" for reason, count in self.refused.most_common())
            notes.append(f"links not followed: {counted}")
        return StageReport(Stage.CRAWL, dict(self.counts), seconds, tuple(notes))


def _shown(outcome: Outcome) -> str:
    return f"{outcome.reason}, {outcome.detail}" if outcome.detail else str(outcome.reason)
