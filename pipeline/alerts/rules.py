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
from docstore.reports.site_runs import CERTIFICATE, Counts, SiteArticles, SiteRun

KINDS = ("run_failed", "night_missed", "site_stopped", "robots", "certificate", "template", "nothing_new")

GOOD = (Reason.FETCHED, Reason.UNCHANGED, Reason.OFF_TOPIC)
FORBIDDEN = (Reason.ROBOTS_FORBIDDEN, Reason.ROBOTS_UNAVAILABLE)
# One of these says something of the host, whatever page was asked; of others (404 ...) it takes several.
OF_HOST = (Reason.UNREACHABLE, Reason.TIMED_OUT, Reason.BAD_RESPONSE, *FORBIDDEN, CERTIFICATE)
NOTHING_FOUND = (Reason.NO_BODY, Reason.COPYRIGHT_ONLY, Reason.NEEDS_SCRIPTS, Reason.SUSPECT_BODY)
READ = (*NOTHING_FOUND, Reason.EXTRACTED, Reason.SAME_ARTICLE)

BEFORE = 7  # runs at a site that the newest one is compared with
MIN_BAD = 3  # pages that failed for reasons of their own
MIN_FORBIDDEN = 3
MOST = 0.5  # a share above this is most of it
MIN_READ = 8  # pages that were read, in the newest run and before it
MIN_RISE = 0.1  # of the share of pages on which nothing was found
MIN_DAYS = 3  # on which a site had new pages, for its silence to mean something
DAY = 86_400.0


@dataclass(frozen=True)
class SiteFacts:
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
class Facts:
    """What the rules go by. Times are epoch seconds. `failed` is the newest bad run after the last good one, `missed`
    the scheduled time at which no run began; `silent_days` after how many days without a new page a site is silent (0:
    never); `firing` what fires by now."""

    now: float
    failed: BadRun | None
    missed: float | None
    sites: Sequence[SiteFacts]
    silent_days: int
    firing: Mapping[AlertKey, Alert] = field(default_factory=dict)


def decide(facts: Facts) -> list[Alert]:
    """The alerts that fire."""
    return [*_of_runs(facts), *(alert for site in facts.sites for alert in _of_site(site, facts))]


def _of_runs(facts: Facts) -> Iterator[Alert]:
    if bad := facts.failed:
        values = {"time": local_minute(bad.started_at), "stage": bad.stage, "error": bad.error}
        yield Alert(AlertKey("run_failed"), values)
    if facts.missed is not None:
        yield Alert(AlertKey("night_missed"), {"time": local_minute(facts.missed)})


def _of_site(site: SiteFacts, facts: Facts) -> Iterator[Alert]:
    """An alert that goes on is judged by the runs before the one that set it off: what is wrong never becomes usual."""
    if not site.runs:
        return
    met: set[str] = set()
    for kind, rule in SITE_RULES.items():
        key = AlertKey(kind, site.host)
        known = facts.firing.get(key)
        first = int(known.values.get("run", site.runs[0].run_id)) if known else site.runs[0].run_id
        before = [run for run in site.runs if run.run_id < first]
        values = {} if met & SAYS_MORE.get(kind, set()) else rule(Case(site, before, facts, known))
        if values:
            met.add(kind)
            yield Alert(key, {"host": site.host, "run": first, **values})


@dataclass(frozen=True)
class Case:
    """What a rule on a site judges: its newest run against those `before`; `known` where the alert fires by now."""

    site: SiteFacts
    before: Sequence[SiteRun]
    facts: Facts
    known: Alert | None

    @property
    def now(self) -> "Counter[str]":
        """What the crawl met in the newest run."""
        return Counter(self.site.runs[0].crawl)

    @property
    def usual(self) -> "Counter[str]":
        """What it met before, in some runs from the newest good one back: a site that was down for weeks is compared
        with how it was before."""
        good = (n for n, one in enumerate(self.before) if _sum(one.crawl, GOOD))
        first = next(good, len(self.before))
        return _together([one.crawl for one in self.before[first : first + BEFORE]])


Values = Mapping[str, str | int]


def _shut_out_by_certificate(case: Case) -> Values:
    now = case.now
    is_shut = now[CERTIFICATE] and not _sum(now, GOOD) and _sum(case.usual, GOOD)
    return {"n": now[CERTIFICATE]} if is_shut else {}


def _shut_out_by_robots(case: Case) -> Values:
    now, usual = case.now, case.usual
    forbidden = _sum(now, FORBIDDEN)
    was_allowed = _sum(usual, GOOD) and _share(_sum(usual, FORBIDDEN), usual.total()) <= MOST
    is_all = forbidden and not _sum(now, GOOD)
    is_most = forbidden >= MIN_FORBIDDEN and _share(forbidden, now.total()) > MOST
    return {"n": forbidden, "all": now.total()} if was_allowed and (is_all or is_most) else {}


def _stopped(case: Case) -> Values:
    now = case.now
    if _sum(now, GOOD) or not _sum(case.usual, GOOD) or (now.total() < MIN_BAD and not _sum(now, OF_HOST)):
        return {}
    [(reason, count)] = now.most_common(1) or [("", 0)]
    return {"reason": reason, "n": count} if count else {}


def _template_changed(case: Case) -> Values:
    now, usual = Counter(case.site.runs[0].extract), _together([one.extract for one in case.before[:BEFORE]])
    if _sum(usual, READ) < MIN_READ:
        return {}
    if _sum(now, READ) < MIN_READ:
        return dict(case.known.values) if case.known else {}  # too few to say that it is over
    rate, before = _empty_rate(now), _empty_rate(usual)
    if rate < 2 * before or rate - before < MIN_RISE:
        return {}
    return {"now": round(100 * rate), "before": round(100 * before), "n": _sum(now, NOTHING_FOUND)}


def _silent(case: Case) -> Values:
    had, facts = case.site.articles, case.facts
    if not facts.silent_days or had is None or had.days < MIN_DAYS:
        return {}
    days = int((facts.now - had.newest) / DAY)
    was_asked = case.site.runs[0].started_at - had.newest > (facts.silent_days - 1) * DAY  # else the crawl is silent
    return {"n": days, "time": local_minute(had.newest)} if days >= facts.silent_days and was_asked else {}


SITE_RULES: Mapping[str, Callable[[Case], Values]] = {
    "certificate": _shut_out_by_certificate,
    "robots": _shut_out_by_robots,
    "site_stopped": _stopped,
    "template": _template_changed,
    "nothing_new": _silent,
}
# Where one of these fires, the other says nothing more.
SAYS_MORE: Mapping[str, Set[str]] = {
    "robots": {"certificate"},
    "site_stopped": {"certificate", "robots"},
    "nothing_new": {"certificate", "robots", "site_stopped"},
}


def _together(counts: Sequence[Counts]) -> "Counter[str]":
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return total


def _sum(counts: Counts, codes: Sequence[str]) -> int:
    return sum(counts.get(code, 0) for code in codes)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _empty_rate(counts: Counts) -> float:
    return _share(_sum(counts, NOTHING_FOUND), _sum(counts, READ))


def local_minute(seconds: float) -> str:
    """Epoch seconds as the server's clock shows them."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
