"""Why a page is not among the results: the first step on its way to the index that it has not passed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from docstore.reports.url_report import UrlReport
from domain.administration import Takedown
from domain.outcome import RELATED_URL_REASONS, Outcome, Reason, Stage
from domain.page_diagnosis import (
    PageCause,
    PageCheck,
    PageCheckName,
    PageCheckState,
    PageDiagnosis,
    PageRemedy,
)

FORBIDDING_REASONS = frozenset(
    (
        *(Reason.OUT_OF_SCOPE, Reason.URL_TOO_LONG, Reason.TOO_DEEP, Reason.CRAWLER_TRAP),
        *(Reason.UNSUPPORTED_EXTENSION, Reason.ROBOTS_FORBIDDEN, Reason.ROBOTS_UNAVAILABLE, Reason.PRIVATE_ADDRESS),
    )
)
"""Outcomes of visits that sent no request, because a rule forbids it."""


@dataclass(frozen=True)
class LinkingPage:
    """A stored page that links to an unknown URL.

    `depth` counts the links from a start URL. `is_followed` is False if a robots directive or `rel` forbids to follow
    the link.
    """

    url: str
    depth: int
    is_followed: bool


@dataclass(frozen=True)
class PageFacts:
    """What the settings, the store and Solr know about a page.

    Attributes:
        url: The canonical URL.
        host: Its host, with a port that is not the default.
        rejection: Why the crawl settings exclude the URL; None if they allow it.
        is_host_allowed: Some pages of the host are in the scope of the crawl.
        report: What the store contains about it; None if it is unknown.
        is_in_solr: Solr returns its document; None if Solr does not respond.
        linking_page: A stored page that links to it; None if none was found, or if the URL is known or excluded.
        max_depth: Maximum number of links from a start URL.
        due_count: Number of due URLs of the host.
        host_visited_at: Time of the last visit to the host in epoch seconds; None without a visit.
        takedown: Who took the page down, and why; None if it is not taken down.
        is_paused: The crawl leaves the host out until an operator resumes it.
    """

    url: str
    host: str
    rejection: Reason | None
    is_host_allowed: bool
    report: UrlReport | None
    is_in_solr: bool | None = False
    linking_page: LinkingPage | None = None
    max_depth: int = 0
    due_count: int = 0
    host_visited_at: float | None = None
    takedown: Takedown | None = None
    is_paused: bool = False


def diagnose_page(facts: PageFacts) -> PageDiagnosis:
    """Judge the steps of a page in order, up to the first one that it has not passed."""
    report = facts.report
    if facts.takedown is not None:  # the store has deleted everything else about the page
        stop = PageCheck(
            PageCheckName.ALLOWED,
            PageCheckState.FAILED,
            Reason.TAKEN_DOWN,
            facts.takedown.reason,
            facts.takedown.at,
            PageCause.TAKEN_DOWN,
        )
        return PageDiagnosis(facts.url, _with_all_steps([stop]), is_known=False, takedown=facts.takedown)
    if report is None:
        return PageDiagnosis(facts.url, _with_all_steps([_unknown_check(facts)]), is_known=False)
    checks = [PageCheck(PageCheckName.KNOWN, PageCheckState.PASSED, at=report.url_row.found_at)]
    for judge in (_allowed_check, _fetch_check, _article_check, _index_check, _copy_check):
        check = judge(facts, report)
        if check is not None:
            checks.append(check)
            if check.is_stop:
                break
    return PageDiagnosis(
        facts.url,
        _with_all_steps(checks),
        due_at=report.url_row.due_at,
        doc_id=report.article.doc_id if report.article and report.indexed and facts.is_in_solr else "",
    )


def _with_all_steps(checks: list[PageCheck]) -> list[PageCheck]:
    """Add the steps that the page has not reached. `FOUND` belongs to a query, so it is added only after a stop."""
    check_by_name = {check.name: check for check in checks}
    has_stop = any(check.is_stop for check in checks)
    return [
        check_by_name.get(name, PageCheck(name, PageCheckState.NOT_REACHED))
        for name in PageCheckName
        if name in check_by_name or has_stop
    ]


def _unknown_check(facts: PageFacts) -> PageCheck:
    """Return the stop of a page that the store does not know: no rule allows it, or no link leads to it."""
    if facts.rejection is not None:
        return _forbidden_check(facts, facts.rejection)
    if facts.is_paused:
        return _paused_check(facts)
    link = facts.linking_page
    remedies = (PageRemedy.ADD_URL,)
    if link is None:
        return _failed(PageCheckName.KNOWN, PageCause.NO_LINK, remedies=remedies)
    if not link.is_followed:
        return _failed(PageCheckName.KNOWN, PageCause.NOFOLLOW, related_url=link.url, remedies=remedies)
    if link.depth >= facts.max_depth:
        values = {"depth": link.depth + 1, "max_depth": facts.max_depth}
        return _failed(PageCheckName.ALLOWED, PageCause.TOO_DEEP, values, related_url=link.url, remedies=remedies)
    return _failed(PageCheckName.KNOWN, PageCause.LINK_NOT_FOLLOWED, related_url=link.url, remedies=remedies)


def _failed(
    name: PageCheckName,
    cause: PageCause,
    values: Mapping[str, object] = {},
    related_url: str = "",
    remedies: tuple[PageRemedy, ...] = (),
) -> PageCheck:
    return PageCheck(
        name, PageCheckState.FAILED, cause=cause, values=values, related_url=related_url, remedies=remedies
    )


def _forbidden_check(facts: PageFacts, reason: Reason) -> PageCheck:
    """Return the stop of a page that a rule of the crawl or of its site forbids."""
    if reason is Reason.OUT_OF_SCOPE:
        cause = PageCause.OTHER_PATH if facts.is_host_allowed else PageCause.OTHER_HOST
        return _failed(PageCheckName.ALLOWED, cause, {"host": facts.host}, remedies=(PageRemedy.ADD_SITE,))
    remedies = {
        Reason.TOO_DEEP: (PageRemedy.ADD_URL,),
        Reason.CRAWLER_TRAP: (PageRemedy.ADD_URL,),
        Reason.ROBOTS_FORBIDDEN: (PageRemedy.CRAWL_AGAIN,),
        Reason.ROBOTS_UNAVAILABLE: (PageRemedy.CRAWL_AGAIN,),
    }.get(reason, ())
    values: Mapping[str, object] = {"host": facts.host}
    if reason is Reason.TOO_DEEP and facts.report is not None:
        values = {"depth": facts.report.url_row.depth, "max_depth": facts.max_depth}
    return _failed(PageCheckName.ALLOWED, PageCause(reason), values, remedies=remedies)


def _paused_check(facts: PageFacts) -> PageCheck:
    """Return the stop of a page of a paused site."""
    remedies = (PageRemedy.RESUME_SITE,)
    return _failed(PageCheckName.ALLOWED, PageCause.SITE_PAUSED, {"host": facts.host}, remedies=remedies)


def _allowed_check(facts: PageFacts, report: UrlReport) -> PageCheck:
    """Judge whether the settings and the site allow the crawl to fetch the page."""
    visit = report.outcome(Stage.CRAWL)
    if report.page is None and visit is not None and not Outcome(Reason(visit.reason), visit.detail).related_url:
        reason = Reason(visit.reason)
        if reason in FORBIDDING_REASONS:
            check = _forbidden_check(facts, reason)
            return replace(check, reason=reason, detail=visit.detail, at=visit.at)
    if report.page is None and facts.rejection is not None:
        return _forbidden_check(facts, facts.rejection)
    if report.page is None and facts.is_paused:
        return _paused_check(facts)
    return PageCheck(PageCheckName.ALLOWED, PageCheckState.PASSED)


def _fetch_check(facts: PageFacts, report: UrlReport) -> PageCheck:
    """Judge whether the page was fetched and saved."""
    name, visit = PageCheckName.FETCHED, report.outcome(Stage.CRAWL)
    if visit is None and report.url_row.due_at is None:
        return _failed(name, PageCause.STOPPED, remedies=(PageRemedy.CRAWL_AGAIN,))
    if visit is None:
        is_left_over = facts.host_visited_at is not None and facts.host_visited_at > report.url_row.found_at
        cause = PageCause.BACKLOG if is_left_over and facts.due_count > 1 else PageCause.NOT_VISITED
        values = {"host": facts.host, "n": facts.due_count}
        return PageCheck(name, PageCheckState.PENDING, cause=cause, values=values)
    reason = Reason(visit.reason)
    visit_check = PageCheck(name, PageCheckState.PASSED, reason, visit.detail, visit.at)
    if report.page is not None and reason is not Reason.OFF_TOPIC:
        return visit_check
    if _is_deleted(reason) and report.url_row.due_at is not None:
        return PageCheck(name, PageCheckState.PENDING, cause=PageCause.DELETED, remedies=(PageRemedy.CRAWL_AGAIN,))
    stop = _fetch_stop(Outcome(Reason(visit.reason), visit.detail))
    return replace(stop, reason=reason, detail=visit.detail, at=visit.at)


def _is_deleted(reason: Reason) -> bool:
    """Return True if a visit with this outcome saved a page. Without a stored page, it was deleted since."""
    return reason in (Reason.FETCHED, Reason.UNCHANGED)


def _fetch_stop(outcome: Outcome) -> PageCheck:
    """Return the stop of a visit after which no page is stored."""
    name, again, reason = PageCheckName.FETCHED, (PageRemedy.CRAWL_AGAIN,), outcome.reason
    if reason in RELATED_URL_REASONS:
        return _failed(name, _cause_for(reason), related_url=outcome.related_url)
    if outcome.related_url:
        cause = PageCause.REDIRECTED_OUT_OF_SCOPE
        remedies = (PageRemedy.ADD_SITE,) if reason is Reason.REDIRECTED_OUT_OF_SCOPE else ()
        return _failed(name, cause, related_url=outcome.related_url, remedies=remedies)
    if _is_deleted(reason):
        return _failed(name, PageCause.EXPIRED)
    remedies = () if reason in (Reason.OFF_TOPIC, Reason.NOINDEX) else again
    return _failed(name, _cause_for(reason), {"status": str(outcome.detail)}, remedies=remedies)


def _cause_for(reason: Reason) -> PageCause:
    """Return the cause with the value of a reason; `UNEXPECTED_ERROR` if there is none."""
    return PageCause(reason.value) if reason.value in set(PageCause) else PageCause.UNEXPECTED_ERROR


def _article_check(facts: PageFacts, report: UrlReport) -> PageCheck:
    """Judge whether the page has an article."""
    name, outcome = PageCheckName.ARTICLE, report.outcome(Stage.EXTRACT)
    if outcome is None:
        return PageCheck(name, PageCheckState.PENDING, cause=PageCause.NOT_EXTRACTED)
    reason = Reason(outcome.reason)
    if report.article is not None:
        return PageCheck(name, PageCheckState.PASSED, reason, outcome.detail, outcome.at)
    remedies = (PageRemedy.CRAWL_AGAIN,) if reason is Reason.WARC_RECORD_LOST else ()
    return PageCheck(
        name,
        PageCheckState.FAILED,
        reason,
        outcome.detail,
        outcome.at,
        _cause_for(reason),
        related_url=Outcome(reason, outcome.detail).related_url,
        remedies=remedies,
    )


def _index_check(facts: PageFacts, report: UrlReport) -> PageCheck:
    """Judge whether Solr has the document of the page."""
    name, outcome = PageCheckName.INDEXED, report.outcome(Stage.INDEX)
    if report.indexed is not None and facts.is_in_solr:
        return PageCheck(name, PageCheckState.PASSED, Reason.INDEXED, at=report.indexed.indexed_at)
    if outcome is not None and outcome.reason == Reason.REJECTED_BY_SOLR:
        cause = PageCause.REJECTED_BY_SOLR
        return PageCheck(name, PageCheckState.FAILED, Reason(outcome.reason), outcome.detail, outcome.at, cause)
    if report.indexed is not None and facts.is_in_solr is None:
        return PageCheck(name, PageCheckState.PENDING, cause=PageCause.INDEX_NOT_CHECKED)
    if report.indexed is not None:
        return PageCheck(name, PageCheckState.FAILED, cause=PageCause.DOCUMENT_LOST)
    return PageCheck(name, PageCheckState.PENDING, cause=PageCause.NOT_INDEXED)


def _copy_check(facts: PageFacts, report: UrlReport) -> PageCheck | None:
    """Return a stop for a near-duplicate: the results list the best copy. None for other pages."""
    leaders = [duplicate.url for duplicate in report.near_duplicates if duplicate.stands_for_the_group]
    return _failed(PageCheckName.FOUND, PageCause.COPY, related_url=leaders[0]) if leaders else None
