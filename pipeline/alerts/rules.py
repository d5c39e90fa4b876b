"""The alert rules: decide which alerts fire. Pure functions that read neither clock nor store nor settings.

`run_failed`     no run has succeeded since one that failed or was killed
`night_missed`   a scheduled run was missed
`lexicon_blocked` an automatic lexicon version would have made articles harder to find
`rising_terms`   terms suddenly occur in many more documents (only with `alerts.rising_terms`)
`site_stopped`   a site that returned pages before returned none in its newest run, or fewer than it blocked
`robots`         the robots.txt of a site forbids most of the pages that it allowed before
`certificate`    the certificate of a site that returned pages before is invalid
`login_failed`   the login of a site was refused, or its page did not respond as expected
`needs_login`    most pages of a site ask for a login
`needs_javascript` most pages of a site have no text until scripts run, and the site is not rendered
`template`       the share of a site's pages without an extracted body has at least doubled
`no_article`     a site has never given an article
`few_articles`   hardly any of the known URLs of a site gave an article
`nothing_new`    a site that had new pages on several days has had none for `alerts.silent_days`
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from docstore.terms.lexicons import BlockedVersion
from domain.alert import Alert, AlertKey
from domain.outcome import CERTIFICATE_ERROR, FETCH_SUCCESS_REASONS, Reason
from domain.rising_term import RisingTerm
from domain.run import ReasonCounts, RunSummary, SiteArticles, SiteRun, SiteTotals
from pipeline.local_time import local_minute

ROBOTS_REASONS = (Reason.ROBOTS_FORBIDDEN, Reason.ROBOTS_UNAVAILABLE)
# One outcome with such a reason indicates a failure of the host; other reasons (404 ...) need MIN_FAILED_PAGES.
HOST_FAILURE_REASONS = (
    Reason.UNREACHABLE,
    Reason.TIMED_OUT,
    Reason.MALFORMED_RESPONSE,
    *ROBOTS_REASONS,
    CERTIFICATE_ERROR,
)
ARTICLE_REASONS = (*FETCH_SUCCESS_REASONS, Reason.EXTRACTED, Reason.ARTICLE_UNCHANGED)
EMPTY_EXTRACTION_REASONS = (Reason.NO_BODY, Reason.COPYRIGHT_ONLY, Reason.NEEDS_JAVASCRIPT, Reason.INCOMPLETE_BODY)
EXTRACTION_REASONS = (*EMPTY_EXTRACTION_REASONS, Reason.EXTRACTED, Reason.ARTICLE_UNCHANGED)

BASELINE_RUNS = 7  # earlier runs with which the newest run of a site is compared
MIN_FAILED_PAGES = 3  # minimum for reasons that concern single pages
MIN_FORBIDDEN_PAGES = 3
MAJORITY_SHARE = 0.5  # exclusive minimum
MIN_PAGES_READ = 8  # extracted pages, in the newest run and in the baseline
MIN_EMPTY_RATE_RISE = 0.1  # difference of the shares of pages without an extracted body
MIN_KNOWN_URLS = 20
MAX_ARTICLE_SHARE = 0.05  # of the known URLs of a site that hardly works
MIN_DAYS_WITH_NEW_PAGES = 3  # below this, a site without new pages is not unusual
SECONDS_PER_DAY = 86_400.0
MAX_RISING_TERMS_NAMED = 10  # in one alert


@dataclass(frozen=True)
class SiteInputs:
    """A host with the runs that crawled it, newest first, its articles (None if it has none), and its totals."""

    host: str
    runs: Sequence[SiteRun]
    articles: SiteArticles | None = None
    totals: SiteTotals | None = None

    @property
    def main_failure(self) -> Mapping[str, str | int]:
        """The most frequent reason of all runs why a page is no article, and its count; empty if there is none."""
        counts = _merge_counts([counts for run in self.runs for counts in (run.crawl_counts, run.extract_counts)])
        failures = Counter({code: n for code, n in counts.items() if code not in ARTICLE_REASONS})
        return next(({"reason": code, "n": n} for code, n in failures.most_common(1)), {})


@dataclass(frozen=True)
class AlertInputs:
    """Inputs of the rules. Times are epoch seconds.

    Attributes:
        now: Current time.
        failed_run: Newest failed or killed run after the last successful one.
        missed_at: Scheduled time of a missed run.
        sites: All hosts that were crawled and are neither paused nor removed.
        blocked_lexicon: The automatic lexicon version that was not published; None if there is none.
        javascript_pages: Number of pages that need JavaScript, by host; only hosts to which an administrator must
            react.
        login_failures: The reason why the login failed, by host.
        rising_terms: The rising terms of the newest run; none without `alerts.rising_terms`.
        silent_days: Setting `alerts.silent_days`: days without a new page; 0: never alert.
        firing: The alerts that fired at the last evaluation.
    """

    now: float
    failed_run: RunSummary | None
    missed_at: float | None
    sites: Sequence[SiteInputs]
    silent_days: int
    firing: Mapping[AlertKey, Alert] = field(default_factory=dict)
    blocked_lexicon: BlockedVersion | None = None
    javascript_pages: Mapping[str, int] = field(default_factory=dict)
    rising_terms: Sequence[RisingTerm] = ()
    login_failures: Mapping[str, str] = field(default_factory=dict)


def evaluate_rules(inputs: AlertInputs) -> list[Alert]:
    """Return the alerts that fire: alerts about runs first, then those about sites."""
    return [*_run_alerts(inputs), *(alert for site in inputs.sites for alert in _site_alerts(site, inputs))]


def _run_alerts(inputs: AlertInputs) -> Iterator[Alert]:
    if failed_run := inputs.failed_run:
        values = {"stage": failed_run.last_stage, "error": failed_run.error}
        yield Alert(AlertKey("run_failed"), {"time": local_minute(failed_run.started_at), **values})
    if inputs.missed_at is not None:
        yield Alert(AlertKey("night_missed"), {"time": local_minute(inputs.missed_at)})
    if blocked := inputs.blocked_lexicon:
        counts = {"all": blocked.query_count, "lost": blocked.lost_count, "gained": blocked.gained_count}
        yield Alert(AlertKey("lexicon_blocked"), {"time": local_minute(blocked.at), **counts})
    for day in sorted({term.since for term in inputs.rising_terms}):  # one alert for all terms that rise since a day
        texts = [term.text for term in inputs.rising_terms if term.since == day]
        names = ", ".join(texts[:MAX_RISING_TERMS_NAMED])
        yield Alert(AlertKey("rising_terms", day), {"day": day, "n": len(texts), "terms": names})


def _site_alerts(site: SiteInputs, inputs: AlertInputs) -> Iterator[Alert]:
    """Yield the alerts of a site.

    While an alert fires, its baseline stays the runs before the one that triggered it, so that a lasting fault does not
    become the baseline.
    """
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
    """Inputs of one rule for one site: its newest run is compared with `baseline_runs`.

    `firing_alert` is the alert of this rule if it fires already.
    """

    site: SiteInputs
    baseline_runs: Sequence[SiteRun]
    inputs: AlertInputs
    firing_alert: Alert | None

    @property
    def current_counts(self) -> "Counter[str]":
        """Crawl outcomes of the newest run by reason."""
        return Counter(self.site.runs[0].crawl_counts)

    @property
    def baseline_counts(self) -> "Counter[str]":
        """Crawl outcomes of up to BASELINE_RUNS runs, starting with the newest successful one.

        A site that was down for weeks is thus compared with its state before.
        """
        good_positions = (
            n for n, run in enumerate(self.baseline_runs) if _count_reasons(run.crawl_counts, FETCH_SUCCESS_REASONS)
        )
        first_good = next(good_positions, len(self.baseline_runs))
        return _merge_counts([run.crawl_counts for run in self.baseline_runs[first_good : first_good + BASELINE_RUNS]])


AlertValues = Mapping[str, str | int]


def _certificate_rule(case: SiteCase) -> AlertValues:
    current = case.current_counts
    is_blocked = (
        current[CERTIFICATE_ERROR]
        and not _count_reasons(current, FETCH_SUCCESS_REASONS)
        and _count_reasons(case.baseline_counts, FETCH_SUCCESS_REASONS)
    )
    return {"n": current[CERTIFICATE_ERROR]} if is_blocked else {}


def _robots_rule(case: SiteCase) -> AlertValues:
    current, baseline = case.current_counts, case.baseline_counts
    forbidden = _count_reasons(current, ROBOTS_REASONS)
    was_allowed = (
        _count_reasons(baseline, FETCH_SUCCESS_REASONS)
        and _ratio(_count_reasons(baseline, ROBOTS_REASONS), baseline.total()) <= MAJORITY_SHARE
    )
    all_forbidden = forbidden and not _count_reasons(current, FETCH_SUCCESS_REASONS)
    mostly_forbidden = forbidden >= MIN_FORBIDDEN_PAGES and _ratio(forbidden, current.total()) > MAJORITY_SHARE
    return {"n": forbidden, "all": current.total()} if was_allowed and (all_forbidden or mostly_forbidden) else {}


def _site_stopped_rule(case: SiteCase) -> AlertValues:
    current = case.current_counts
    if (
        _count_reasons(current, FETCH_SUCCESS_REASONS) > _count_reasons(current, (Reason.BLOCKED,))
        or not _count_reasons(case.baseline_counts, FETCH_SUCCESS_REASONS)
        or (current.total() < MIN_FAILED_PAGES and not _count_reasons(current, HOST_FAILURE_REASONS))
    ):
        return {}
    [(reason, count)] = current.most_common(1) or [("", 0)]
    return {"reason": reason, "n": count} if count else {}


def _login_failed_rule(case: SiteCase) -> AlertValues:
    problem = case.inputs.login_failures.get(case.site.host, "")
    return {"problem": problem} if problem else {}


def _needs_login_rule(case: SiteCase) -> AlertValues:
    count, all_count = case.current_counts[Reason.NEEDS_LOGIN], case.current_counts.total()
    return {"n": count} if _ratio(count, all_count) > MAJORITY_SHARE else {}


def _no_article_rule(case: SiteCase) -> AlertValues:
    """A host that only redirects, such as a domain without www., gives no article of its own."""
    crawl = _merge_counts([run.crawl_counts for run in case.site.runs])
    extraction = _merge_counts([run.extract_counts for run in case.site.runs])
    has_articles = case.site.articles or extraction[Reason.EXTRACTED]
    is_unread = _count_reasons(crawl, FETCH_SUCCESS_REASONS) and not extraction
    is_alias = not crawl.keys() - {Reason.REDIRECTED_TO_KNOWN_URL}
    return {} if has_articles or is_unread or is_alias else case.site.main_failure


def _few_articles_rule(case: SiteCase) -> AlertValues:
    totals = case.site.totals
    if totals is None or totals.url_count < MIN_KNOWN_URLS or 2 * totals.due_count > totals.url_count:
        return {}
    values = {"articles": totals.article_count, "all": totals.url_count, **case.site.main_failure}
    return values if "n" in values and totals.article_count <= MAX_ARTICLE_SHARE * totals.url_count else {}


def _needs_javascript_rule(case: SiteCase) -> AlertValues:
    count = case.inputs.javascript_pages.get(case.site.host, 0)
    return {"n": count} if count else {}


def _template_rule(case: SiteCase) -> AlertValues:
    current, baseline = (
        Counter(case.site.runs[0].extract_counts),
        _merge_counts([run.extract_counts for run in case.baseline_runs[:BASELINE_RUNS]]),
    )
    if _count_reasons(baseline, EXTRACTION_REASONS) < MIN_PAGES_READ:
        return {}
    if _count_reasons(current, EXTRACTION_REASONS) < MIN_PAGES_READ:
        return dict(case.firing_alert.message_values) if case.firing_alert else {}  # too few pages to resolve the alert
    rate, baseline_rate = _empty_extraction_rate(current), _empty_extraction_rate(baseline)
    if rate < 2 * baseline_rate or rate - baseline_rate < MIN_EMPTY_RATE_RISE:
        return {}
    return {
        "now": round(100 * rate),
        "before": round(100 * baseline_rate),
        "n": _count_reasons(current, EMPTY_EXTRACTION_REASONS),
    }


def _nothing_new_rule(case: SiteCase) -> AlertValues:
    articles, inputs = case.site.articles, case.inputs
    if not inputs.silent_days or articles is None or articles.days_with_articles < MIN_DAYS_WITH_NEW_PAGES:
        return {}
    days = int((inputs.now - articles.newest_found_at) / SECONDS_PER_DAY)
    was_crawled = (
        case.site.runs[0].started_at - articles.newest_found_at > (inputs.silent_days - 1) * SECONDS_PER_DAY
    )  # otherwise the site was not crawled
    return (
        {"n": days, "time": local_minute(articles.newest_found_at)}
        if days >= inputs.silent_days and was_crawled
        else {}
    )


SITE_RULES: Mapping[str, Callable[[SiteCase], AlertValues]] = {
    "certificate": _certificate_rule,
    "robots": _robots_rule,
    "login_failed": _login_failed_rule,
    "needs_login": _needs_login_rule,
    "site_stopped": _site_stopped_rule,
    "needs_javascript": _needs_javascript_rule,
    "template": _template_rule,
    "no_article": _no_article_rule,
    "few_articles": _few_articles_rule,
    "nothing_new": _nothing_new_rule,
}
ALERT_KINDS = ("run_failed", "night_missed", "lexicon_blocked", "rising_terms", *SITE_RULES)
SITE_FAULTS = {"certificate", "robots", "login_failed", "needs_login", "site_stopped", "needs_javascript"}
# Rule -> rules that suppress it if they fire for the same site.
SUPPRESSED_BY: Mapping[str, Set[str]] = {
    "robots": {"certificate"},
    "needs_login": {"login_failed"},
    "site_stopped": {"certificate", "robots", "login_failed", "needs_login"},
    "template": {"needs_javascript"},
    **{kind: SITE_FAULTS | {"no_article"} - {kind} for kind in ("no_article", "few_articles", "nothing_new")},
}


def _merge_counts(counts: Sequence[ReasonCounts]) -> "Counter[str]":
    return sum(map(Counter, counts), Counter())


def _count_reasons(counts: ReasonCounts, reasons: Collection[str]) -> int:
    return sum(counts.get(code, 0) for code in reasons)


def _ratio(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else 0.0


def _empty_extraction_rate(counts: ReasonCounts) -> float:
    return _ratio(_count_reasons(counts, EMPTY_EXTRACTION_REASONS), _count_reasons(counts, EXTRACTION_REASONS))
