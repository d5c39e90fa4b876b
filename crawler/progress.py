"""The progress of a running crawl and its final report."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from crawler.schedule.throttle import HostThrottle
from domain.errors import PlumblineError
from domain.message import Message
from domain.outcome import FETCH_SUCCESS_REASONS, SUCCESS_REASONS, Outcome, Reason, Stage, StageReport
from domain.page import Host

_SEED_SUCCESS_REASONS = FETCH_SUCCESS_REASONS | {Reason.REDIRECTED_TO_KNOWN_URL, Reason.SAME_CONTENT}
_SEED_ADVICE = Message(
    "check the start URLs of the sites (urls of [[sites]]) and that the sites respond, then run again"
)
_SEED_ADVICE_BY_REASON = {
    Reason.ROBOTS_FORBIDDEN: Message("robots.txt forbids these pages; enter other start URLs (urls of [[sites]])"),
    Reason.PRIVATE_ADDRESS: Message("add the host to crawl.inside_hosts, then run again"),
}


@dataclass(frozen=True)
class HostProgress:
    """One host in this run.

    Attributes:
        pages: visits without a failure.
        errors: failed visits.
        due_urls: URLs that are due and not visited.
        crawl_delay: current seconds between requests.
        response_seconds: recent mean response time.
        is_suspended: True if the host is skipped after repeated failures.
    """

    pages: int = 0
    errors: int = 0
    due_urls: int = 0
    crawl_delay: float = 0.0
    response_seconds: float = 0.0
    is_suspended: bool = False


@dataclass(frozen=True)
class CrawlProgress:
    """The progress of a run.

    Attributes:
        counts: visits by reason.
        elapsed_seconds: seconds since the start.
        hosts: host -> its progress. Filled only at intervals, otherwise empty.
        backlog: URLs that are due and not visited.
        active_hosts: hosts with a backlog that are not suspended.
        slowest_host_seconds: maximum over hosts of the seconds to fetch the backlog at the current crawl delay.
        slowest_host: the host that needs them, or "".
    """

    counts: Mapping[Reason, int]
    urls_added: int
    in_flight: int
    elapsed_seconds: float
    hosts: Mapping[str, HostProgress] = field(default_factory=dict)
    backlog: int = 0
    active_hosts: int = 0
    slowest_host_seconds: float = 0.0
    slowest_host: str = ""

    @property
    def visits(self) -> int:
        """Number of visits so far."""
        return sum(self.counts.values())


ProgressCallback = Callable[[CrawlProgress], None]
_REPORT_INTERVAL_SECONDS = 0.5


class ProgressReporter:
    """Calls the progress callback, with host details at most every half second."""

    def __init__(
        self, callback: ProgressCallback | None, tally: "Tally", throttle: HostThrottle, started_at: float
    ) -> None:
        self._callback = callback
        self._tally = tally
        self._throttle = throttle
        self._started_at = started_at
        self._last_reported_at = started_at
        self._backlog_summary = (0, 0, 0.0, "")

    def report(self, now: float, in_flight: int, due_by_host: Mapping[str, int]) -> None:
        """Report the current progress. `due_by_host` maps each host to its number of due URLs."""
        if self._callback is None:
            return
        tally = self._tally
        hosts: dict[str, HostProgress] = {}
        if now - self._last_reported_at >= _REPORT_INTERVAL_SECONDS:
            self._last_reported_at, hosts = now, self._host_progress(due_by_host)
            seconds_by_host = {
                name: host.due_urls * (host.crawl_delay + host.response_seconds)
                for name, host in hosts.items()
                if host.due_urls and not host.is_suspended
            }
            seconds, slowest = max(((seconds, name) for name, seconds in seconds_by_host.items()), default=(0.0, ""))
            self._backlog_summary = (sum(due_by_host.values()), len(seconds_by_host), seconds, slowest)
        self._callback(
            CrawlProgress(
                dict(tally.visits_by_reason),
                tally.urls_added,
                in_flight,
                now - self._started_at,
                hosts,
                *self._backlog_summary,
            )
        )

    def _host_progress(self, due_by_host: Mapping[str, int]) -> dict[str, HostProgress]:
        pages, errors = self._tally.pages_by_host, self._tally.errors_by_host
        return {
            host: HostProgress(
                pages[host],
                errors[host],
                due_by_host.get(host, 0),
                status.crawl_delay,
                status.response_seconds,
                status.is_suspended,
            )
            for host, status in self._throttle.status_by_host().items()
        }


@dataclass
class Tally:
    """The counts of a run and the notes for its report."""

    visits_by_reason: Counter[Reason] = field(default_factory=Counter)
    rejected_links: Counter[str] = field(default_factory=Counter)  # links, not URLs of the table, by reason or message
    urls_added: int = 0
    pages_fetched: int = 0
    seed_outcomes: dict[str, Outcome] = field(default_factory=dict)
    suspended_hosts: set[str] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)
    pages_by_host: Counter[str] = field(default_factory=Counter)
    errors_by_host: Counter[str] = field(default_factory=Counter)

    def count_visit(self, host: Host, reason: Reason) -> None:
        """Count a finished visit by its reason."""
        self.visits_by_reason[reason] += 1
        (self.pages_by_host if reason in SUCCESS_REASONS else self.errors_by_host)[host] += 1

    def add_note(self, text: str) -> None:
        """Add a line to the report, once."""
        self.notes[text] = None

    def merge(self, other: "Tally") -> None:
        """Add the counts of another process."""
        for own_counts, other_counts in (
            (self.visits_by_reason, other.visits_by_reason),
            (self.pages_by_host, other.pages_by_host),
        ):
            own_counts.update(other_counts)  # type: ignore[arg-type]
        self.rejected_links.update(other.rejected_links)
        self.errors_by_host.update(other.errors_by_host)
        self.urls_added += other.urls_added
        self.pages_fetched += other.pages_fetched
        self.seed_outcomes |= other.seed_outcomes
        self.suspended_hosts |= other.suspended_hosts
        self.notes |= other.notes

    def report(self, seconds: float) -> StageReport:
        """Build the report. Raises PlumblineError if neither a seed nor another page could be fetched."""
        failed_seeds = [
            Message("{url}: {cause}", url=url, cause=outcome.summary)
            for url, outcome in self.seed_outcomes.items()
            if outcome.reason not in _SEED_SUCCESS_REASONS
        ]
        if failed_seeds and not self.pages_fetched:
            first = next(
                outcome.reason for outcome in self.seed_outcomes.values() if outcome.reason not in _SEED_SUCCESS_REASONS
            )
            advice = _SEED_ADVICE_BY_REASON.get(first, _SEED_ADVICE)
            raise PlumblineError(
                "None of the seeds could be fetched ({seeds}): {advice}", seeds=tuple(failed_seeds[:3]), advice=advice
            )
        notes: list[str] = [Message("Seed not fetched: {seed}", seed=line) for line in failed_seeds]
        notes += [
            Message("Host suspended after repeated failures: {host}", host=host)
            for host in sorted(self.suspended_hosts)
        ]
        notes += self.notes
        if self.rejected_links:
            counts = tuple(
                Message("{n} {reason}", n=count, reason=reason) for reason, count in self.rejected_links.most_common()
            )
            notes.append(Message("Links not followed: {counts}", counts=counts))
        return StageReport(Stage.CRAWL, dict(self.visits_by_reason), seconds, tuple(notes))
