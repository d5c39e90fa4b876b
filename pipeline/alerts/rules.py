"""Which alerts fire, by what the store knows: facts in, alerts out. Reads no clock, no store, no settings file.

`run_failed`     runs have not succeeded since one that failed or was killed
`night_missed`   a scheduled run did not take place
`site_stopped`   a site was asked and gave nothing, where it gave pages before
`robots`         a site's robots.txt forbids most of what it allowed before
`certificate`    a site's certificate is not valid, where it gave pages before
`template`       the extractor finds at least twice as often nothing on a site's pages as it did before
`nothing_new`    a site that had new pages on several days has had none for a while
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from docstore.model import Reason
from docstore.reports.alerts import Alert, AlertKey
from docstore.reports.site_runs import CERTIFICATE_ERROR, ReasonCounts, SiteArticles, SiteRun

ALERT_KINDS = ("run_failed", "night_missed", "site_stopped", "robots", "certificate", "template", "nothing_new")

SUCCESS_REASONS = (Reason.FETCHED, Reason.UNCHANGED, Reason.OFF_TOPIC)
ROBOTS_REASONS = (Reason.ROBOTS_FORBIDDEN, Reason.ROBOTS_UNAVAILABLE)
# One of these says something of the host, whatever page was asked; of others (404 ...) it takes several.
HOST_FAILURE_REASONS = (
    Reason.UNREACHABLE,
    Reason.TIMED_OUT,
    Reason.MALFORMED_RESPONSE,
    *ROBOTS_REASONS,
    CERTIFICATE_ERROR,
)
EMPTY_EXTRACTION_REASONS = (Reason.NO_BODY, Reason.COPYRIGHT_ONLY, Reason.NEEDS_JAVASCRIPT, Reason.INCOMPLETE_BODY)
EXTRACTION_REASONS = (*EMPTY_EXTRACTION_REASONS, Reason.EXTRACTED, Reason.ARTICLE_UNCHANGED)

BASELINE_RUNS = 7  # runs at a site that the newest one is compared with
MIN_FAILED_PAGES = 3  # pages that failed for reasons of their own
MIN_FORBIDDEN_PAGES = 3
MAJORITY_SHARE = 0.5  # a share above this is most of it
MIN_PAGES_READ = 8  # pages that were read, in the newest run and before it
MIN_EMPTY_RATE_RISE = 0.1  # of the share of pages on which nothing was found
MIN_DAYS_WITH_NEW_PAGES = 3  # on which a site had new pages, for its silence to mean something
SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True)
class SiteInputs:
    """A host: its runs, newest first (those that asked it), and its articles if it has any."""

    host: str
    runs: Sequence[SiteRun]
    articles: SiteArticles | None = None


@dataclass(frozen=True)
class BadRun:
    """A run that failed (`error` says why) or was killed (""); `stage` is "" before the first."""

    started_at: float
    stage: str
    error: str


@dataclass(frozen=True)
class AlertInputs:
    """What the rules go by. Times are epoch seconds. `failed_run` is the newest bad run after the last good one, `missed_at`
    the scheduled time at which no run began; `silent_days` after how many days without a new page a site is silent (0:
    never); `firing` what fires by now."""

    now: float
    failed_run: BadRun | None
    missed_at: float | None
    sites: Sequence[SiteInputs]
    silent_days: int
    firing: Mapping[AlertKey, Alert] = field(default_factory=dict)


def evaluate_rules(inputs: AlertInputs) -> list[Alert]:
    """The alerts that fire."""
    return [*_run_alerts(inputs), *(alert for site in inputs.sites for alert in _site_alerts(site, inputs))]


def _run_alerts(inputs: AlertInputs) -> Iterator[Alert]:
    if failed_run := inputs.failed_run:
        values = {
            "time": format_local_minute(failed_run.started_at),
            "stage": failed_run.stage,
            "error": failed_run.error,
        }
        yield Alert(AlertKey("run_failed"), values)
    if inputs.missed_at is not None:
        yield Alert(AlertKey("night_missed"), {"time": format_local_minute(inputs.missed_at)})


def _site_alerts(site: SiteInputs, inputs: AlertInputs) -> Iterator[Alert]:
    """An alert that goes on is judged by the runs before the one that set it off: what is wrong never becomes usual."""
    if not site.runs:
        return
    fired_kinds: set[str] = set()
    for kind, rule in SITE_RULES.items():
        key = AlertKey(kind, site.host)
        firing_alert = inputs.firing.get(key)
        first_run_id = (
            int(firing_alert.message_values.get("run", site.runs[0].run_id)) if firing_alert else site.runs[0].run_id
        )
        baseline_runs = [run for run in site.runs if run.run_id < first_run_id]
        values = (
            {}
            if fired_kinds & SUPPRESSED_BY.get(kind, set())
            else rule(SiteCase(site, baseline_runs, inputs, firing_alert))
        )
        if values:
            fired_kinds.add(kind)
            yield Alert(key, {"host": site.host, "run": first_run_id, **values})


@dataclass(frozen=True)
class SiteCase:
    """What a rule on a site judges: its newest run against those `baseline_runs`; `firing_alert` where the alert fires by now."""

    site: SiteInputs
    baseline_runs: Sequence[SiteRun]
    inputs: AlertInputs
    firing_alert: Alert | None

    @property
    def current_counts(self) -> "Counter[str]":
        """What the crawl met in the newest run."""
        return Counter(self.site.runs[0].crawl_counts)

    @property
    def baseline_counts(self) -> "Counter[str]":
        """What it met before, in some runs from the newest good one back: a site that was down for weeks is compared
        with how it was before."""
        good_positions = (
            n for n, run in enumerate(self.baseline_runs) if _count_reasons(run.crawl_counts, SUCCESS_REASONS)
        )
        first_good = next(good_positions, len(self.baseline_runs))
        return _merge_counts([run.crawl_counts for run in self.baseline_runs[first_good : first_good + BASELINE_RUNS]])


AlertValues = Mapping[str, str | int]


def _certificate_rule(case: SiteCase) -> AlertValues:
    current = case.current_counts
    is_blocked = (
        current[CERTIFICATE_ERROR]
        and not _count_reasons(current, SUCCESS_REASONS)
        and _count_reasons(case.baseline_counts, SUCCESS_REASONS)
    )
    return {"n": current[CERTIFICATE_ERROR]} if is_blocked else {}


def _robots_rule(case: SiteCase) -> AlertValues:
    current, baseline = case.current_counts, case.baseline_counts
    forbidden = _count_reasons(current, ROBOTS_REASONS)
    was_allowed = (
        _count_reasons(baseline, SUCCESS_REASONS)
        and _ratio(_count_reasons(baseline, ROBOTS_REASONS), baseline.total()) <= MAJORITY_SHARE
    )
    all_forbidden = forbidden and not _count_reasons(current, SUCCESS_REASONS)
    mostly_forbidden = forbidden >= MIN_FORBIDDEN_PAGES and _ratio(forbidden, current.total()) > MAJORITY_SHARE
    return {"n": forbidden, "all": current.total()} if was_allowed and (all_forbidden or mostly_forbidden) else {}


def _site_stopped_rule(case: SiteCase) -> AlertValues:
    current = case.current_counts
    if (
        _count_reasons(current, SUCCESS_REASONS)
        or not _count_reasons(case.baseline_counts, SUCCESS_REASONS)
        or (current.total() < MIN_FAILED_PAGES and not _count_reasons(current, HOST_FAILURE_REASONS))
    ):
        return {}
    [(reason, count)] = current.most_common(1) or [("", 0)]
    return {"reason": reason, "n": count} if count else {}


def _template_rule(case: SiteCase) -> AlertValues:
    current, baseline = (
        Counter(case.site.runs[0].extract_counts),
        _merge_counts([run.extract_counts for run in case.baseline_runs[:BASELINE_RUNS]]),
    )
    if _count_reasons(baseline, EXTRACTION_REASONS) < MIN_PAGES_READ:
        return {}
    if _count_reasons(current, EXTRACTION_REASONS) < MIN_PAGES_READ:
        return dict(case.firing_alert.message_values) if case.firing_alert else {}  # too few to say that it is over
    rate, baseline_rate = _empty_extraction_rate(current), _empty_extraction_rate(baseline)
    if rate < 2 * baseline_rate or rate - baseline_rate < MIN_EMPTY_RATE_RISE:
        return {}
    return {
        "now": round(100 * rate),
        "before": round(100 * baseline_rate),
        "n": _count_reasons(current, EMPTY_EXTRACTION_REASONS),
    }


def _nothing_new_rule(case: SiteCase) -> AlertValues:
    articles, facts = case.site.articles, case.inputs
    if not facts.silent_days or articles is None or articles.days_with_articles < MIN_DAYS_WITH_NEW_PAGES:
        return {}
    days = int((facts.now - articles.newest_found_at) / SECONDS_PER_DAY)
    was_crawled = (
        case.site.runs[0].started_at - articles.newest_found_at > (facts.silent_days - 1) * SECONDS_PER_DAY
    )  # else the crawl is silent
    return (
        {"n": days, "time": format_local_minute(articles.newest_found_at)}
        if days >= facts.silent_days and was_crawled
        else {}
    )


SITE_RULES: Mapping[str, Callable[[SiteCase], AlertValues]] = {
    "certificate": _certificate_rule,
    "robots": _robots_rule,
    "site_stopped": _site_stopped_rule,
    "template": _template_rule,
    "nothing_new": _nothing_new_rule,
}
# Where one of these fires, the other says nothing more.
SUPPRESSED_BY: Mapping[str, Set[str]] = {
    "robots": {"certificate"},
    "site_stopped": {"certificate", "robots"},
    "nothing_new": {"certificate", "robots", "site_stopped"},
}


def _merge_counts(counts: Sequence[ReasonCounts]) -> "Counter[str]":
    total: Counter[str] = Counter()
    for run_counts in counts:
        total.update(run_counts)
    return total


def _count_reasons(counts: ReasonCounts, reasons: Sequence[str]) -> int:
    return sum(counts.get(code, 0) for code in reasons)


def _ratio(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else 0.0


def _empty_extraction_rate(counts: ReasonCounts) -> float:
    return _ratio(_count_reasons(counts, EMPTY_EXTRACTION_REASONS), _count_reasons(counts, EXTRACTION_REASONS))


def format_local_minute(seconds: float) -> str:
    """Epoch seconds as the server's clock shows them."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
