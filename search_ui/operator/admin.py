"""The reports of the signed-in area: how the index is, what is searched for and not found, how the sites are."""

import time

from flask import Blueprint, abort, flash, g, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from docstore.errors import LexiconError, SolrError
from docstore.frontier.focused_decisions import Harvest
from docstore.model import Reason, Stage, TermStatus
from docstore.reports.status import Sample
from docstore.roles import Role
from search_ui.accounts import never_stored, requires
from search_ui.actions import CrawledSite
from search_ui.charts import Point, bar_chart
from search_ui.messages import name_of, say
from search_ui.operator import run_history
from search_ui.operator.alert_text import sentence
from search_ui.query.parse import parse
from search_ui.query.results import site_counts
from search_ui.query.solr_params import site_params
from search_ui.review.parts import LONGEST_TERM, reviewer
from search_ui.site import account, current_site, page

pages = Blueprint("admin", __name__, url_prefix="/admin")
pages.after_request(never_stored)

PERIODS = (7, 30, 90)  # days of the search log that can be asked for
ALERTS_LISTED = 30
RUNS_LISTED = 8  # in the table below the charts
MAX_TERMS = 300  # of the lexicon that are proposed where a synonym is named
MINUTE, HOUR, DAY = 60, 3600, 86400


@pages.get("/")
@requires()
def overview() -> BaseResponse:
    """Index, lexicon, last runs."""
    site = current_site()
    found = site.actions.overview()
    waiting = found.freshness.waiting_since
    who = account()
    is_operator = who is not None and Role.OPERATOR in who.roles
    return page(
        "admin_overview.html",
        overview=found,
        dashboard=site.actions.dashboard() if is_operator else "",  # it can stop work, and asks for no password
        in_solr=_documents_in_solr(),
        behind=0.0 if waiting is None else site.clock() - waiting,
        minutes=bar_chart(run_history.minutes(found.nights.runs)),
        visits=bar_chart(run_history.visits(found.nights.runs)),
        alerts=[(one, sentence(one, g.language)) for one in found.alerts],
        rows=RUNS_LISTED,
        most=ALERTS_LISTED,
        moment=moment,
        duration=duration,
        name_of=name_of,
    )


def _documents_in_solr() -> int | None:
    """None where Solr does not answer: the page is for finding that out."""
    try:
        return site_counts(current_site().search.select(site_params())).documents
    except SolrError:
        return None


@pages.get("/searches")
@requires(Role.REPORTS, Role.REVIEWER)
def searches() -> BaseResponse:
    """What was searched for in the last `days` days."""
    wanted = request.args.get("days", "")
    days = next((period for period in PERIODS if str(period) == wanted), PERIODS[1])
    report = current_site().actions.searches(days)
    chart = bar_chart([Point(day.day[5:], day.searches, day.nothing) for day in report.days])
    _, accepted = current_site().actions.terms(TermStatus.ACCEPTED, "", 0, MAX_TERMS)
    return page(
        "admin_searches.html",
        report=report,
        chart=chart,
        days=days,
        periods=PERIODS,
        accepted=accepted,
        longest=LONGEST_TERM,
        moment=moment,
    )


@pages.post("/searches/candidate")
@requires(Role.REVIEWER)
def propose() -> BaseResponse:
    """Make a lexicon candidate of a query, and show it."""
    text = _words_of_query()
    try:
        current_site().actions.review.propose(text, reviewer())
    except LexiconError as error:
        flash(str(error))
        return redirect(url_for("admin.searches"), 303)
    flash(say("searches.proposed", text=text))
    return redirect(url_for("review.lexicon", status="all", text=text), 303)


def _words_of_query() -> str:
    """What a query asks for, without its quotes and conditions."""
    return parse(request.form.get("query", "")[:LONGEST_TERM]).text


@pages.post("/searches/synonym")
@requires(Role.REVIEWER)
def join() -> BaseResponse:
    """Make a query another word for a term, from the next lexicon version on."""
    text, other = _words_of_query(), request.form.get("term", "")[:LONGEST_TERM]
    try:
        current_site().actions.review.add_synonym(other, text, reviewer())
    except LexiconError as error:
        flash(str(error))
    else:
        flash(say("searches.joined", text=text, term=other))
    return redirect(url_for("admin.searches"), 303)


@pages.get("/sites")
@requires(Role.REPORTS)
def sites() -> BaseResponse:
    """Each site with its last crawl and its pages by outcome."""
    found = current_site().actions.sites()
    harvest: dict[str, list[Harvest]] = {}
    for one in current_site().topics.harvest():
        harvest.setdefault(one.host, []).append(one)
    rows = [(_name(one.health.host), one, _troubles(one)) for one in found]
    nights = current_site().actions.nights()
    return page("admin_sites.html", rows=rows, harvest=harvest, nights=nights, moment=moment, day=day, name_of=name_of)


@pages.get("/sites/<host>")
@requires(Role.REPORTS)
def site(host: str) -> BaseResponse:
    """One site: its runs as a chart, and samples of what went wrong, by reason."""
    found = current_site().actions.site(host)
    if found is None:
        abort(404)
    by_reason: dict[tuple[Stage, Reason], list[Sample]] = {}
    for one in found.samples:
        if one.reason not in (run_history.FINE if one.stage is Stage.CRAWL else run_history.FINE_READ):
            by_reason.setdefault((one.stage, one.reason), []).append(one)
    return page(
        "admin_site.html",
        name=_name(host),
        one=found.site,
        troubles=_troubles(found.site),
        runs=found.runs[:RUNS_LISTED],
        chart=bar_chart(run_history.visits_of_site(found.runs)),
        samples=by_reason,
        nights=current_site().actions.nights(),
        moment=moment,
        day=day,
        name_of=name_of,
    )


def _name(host: str) -> str:
    return current_site().settings.site_names.get(host, host)


def _troubles(one: CrawledSite) -> list[tuple[Reason, int]]:
    """The outcomes that are not fine, most frequent first."""
    found = [(reason, count) for reason, count in one.health.outcomes.items() if reason not in run_history.FINE]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def day(seconds: float) -> str:
    """Epoch seconds as a day of the server's clock."""
    return time.strftime("%Y-%m-%d", time.localtime(seconds))


def moment(seconds: float) -> str:
    """Epoch seconds as the server's clock shows them, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def duration(seconds: float) -> str:
    """A length of time in its largest unit, in the reader's language."""
    for name, length in (("days", DAY), ("hours", HOUR), ("minutes", MINUTE)):
        if seconds >= length:
            return say(f"time.{name}", n=int(seconds // length))
    return say("time.seconds", n=max(0, int(seconds)))
