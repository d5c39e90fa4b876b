"""Why a page is not among the results: the first step on its way to the index that it has not passed."""

from docstore.reports.url_report import UrlReport
from domain.administration import Takedown
from domain.outcome import FETCH_SUCCESS_REASONS, Reason, Stage
from search_ui.interfaces import PageCheck, PageCheckName, PageCheckState, PageDiagnosis

REPRESENTED_REASONS = frozenset((Reason.CONTINUATION, Reason.ALTERNATE_VERSION))
"""Outcomes of pages whose text is listed under another URL."""


def diagnose_page(url: str, rejection: Reason | None, report: UrlReport | None, is_in_solr: bool) -> PageDiagnosis:
    """Judge the steps of a page in order, up to the first one that it has not passed.

    Args:
        url: The canonical URL.
        rejection: Why the crawl settings exclude the URL; None if they allow it.
        report: What the store contains about it; None if it is unknown.
        is_in_solr: Whether Solr returns its document.
    """
    if report is None:
        advice = "scope" if rejection is Reason.OUT_OF_SCOPE else "excluded" if rejection else "no_link"
        unknown = PageCheck(PageCheckName.KNOWN, PageCheckState.FAILED, rejection, advice=advice)
        return PageDiagnosis(url, [unknown])
    checks = [PageCheck(PageCheckName.KNOWN, PageCheckState.PASSED, at=report.url_row.found_at)]
    for check in (fetch_check(report, rejection), article_check(report), index_check(report, is_in_solr)):
        checks.append(check)
        if check.state is not PageCheckState.PASSED:
            break
    leaders = [duplicate.url for duplicate in report.near_duplicates if duplicate.stands_for_the_group]
    return PageDiagnosis(
        url,
        checks,
        due_at=report.url_row.due_at,
        doc_id=report.article.doc_id if report.article and report.indexed and is_in_solr else "",
        listed_as=leaders[0] if leaders else "",
    )


def diagnose_takedown(takedown: Takedown) -> PageDiagnosis:
    """Return the diagnosis of a page that is taken down."""
    check = PageCheck(
        PageCheckName.KNOWN, PageCheckState.FAILED, Reason.TAKEN_DOWN, takedown.reason, takedown.at, "taken_down"
    )
    return PageDiagnosis(takedown.url, [check], takedown=takedown)


def fetch_check(report: UrlReport, rejection: Reason | None) -> PageCheck:
    """Judge whether the page was fetched: it is saved, or its last visit succeeded."""
    visit = report.outcome(Stage.CRAWL)
    if visit is None:
        advice = "scope" if rejection is Reason.OUT_OF_SCOPE else "next_crawl"
        return PageCheck(PageCheckName.FETCHED, PageCheckState.PENDING, rejection, advice=advice)
    reason = Reason(visit.reason)
    if reason is not Reason.OFF_TOPIC and (report.page is not None or reason in FETCH_SUCCESS_REASONS):
        return PageCheck(PageCheckName.FETCHED, PageCheckState.PASSED, reason, visit.detail, visit.at)
    advice = {
        Reason.OUT_OF_SCOPE: "scope",
        Reason.ROBOTS_FORBIDDEN: "robots",
        Reason.OFF_TOPIC: "topic",
        Reason.CRAWLER_TRAP: "crawl_now",
    }.get(reason, "crawl_now" if report.url_row.due_at is None else "next_crawl")
    return PageCheck(PageCheckName.FETCHED, PageCheckState.FAILED, reason, visit.detail, visit.at, advice)


def article_check(report: UrlReport) -> PageCheck:
    """Judge whether the page has an article."""
    outcome = report.outcome(Stage.EXTRACT)
    if outcome is None:
        return PageCheck(PageCheckName.ARTICLE, PageCheckState.PENDING, advice="extract")
    reason = Reason(outcome.reason)
    if report.article is not None:
        return PageCheck(PageCheckName.ARTICLE, PageCheckState.PASSED, reason, outcome.detail, outcome.at)
    advice = "represented" if reason in REPRESENTED_REASONS else "explain"
    return PageCheck(PageCheckName.ARTICLE, PageCheckState.FAILED, reason, outcome.detail, outcome.at, advice)


def index_check(report: UrlReport, is_in_solr: bool) -> PageCheck:
    """Judge whether Solr has the document of the page."""
    outcome = report.outcome(Stage.INDEX)
    if report.indexed is not None and is_in_solr:
        return PageCheck(PageCheckName.INDEXED, PageCheckState.PASSED, Reason.INDEXED, at=report.indexed.indexed_at)
    if outcome is not None and outcome.reason == Reason.REJECTED_BY_SOLR:
        return PageCheck(
            PageCheckName.INDEXED, PageCheckState.FAILED, Reason(outcome.reason), outcome.detail, outcome.at, "index"
        )
    return PageCheck(PageCheckName.INDEXED, PageCheckState.PENDING, advice="index")
