"""Why a page is not among the results, and the buttons that remedy it."""

from dataclasses import replace
from urllib.parse import urlsplit

from flask import abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.errors import PlumblineError
from domain.operation import Field
from domain.page_diagnosis import PageCause, PageCheck, PageCheckName, PageCheckState, PageDiagnosis, PageRemedy
from search_ui.accounts import require_role
from search_ui.admin import views
from search_ui.admin.operation_views import read_text, run_operation, run_with_message
from search_ui.context import current_services, current_site, render_page
from search_ui.i18n import translate, translate_code, translate_error
from search_ui.pages.active_filters import filter_label
from search_ui.query.ranking import PROFILES
from search_ui.query.result_position import MAX_RANK, ResultPosition, find_position
from search_ui.query.search_request import SearchRequest, page_at, parse_valid_parameters

blueprint = views.blueprint
MAX_URL_CHARS = 2_000  # of a URL that a reader enters


@blueprint.get("/page")
@require_role(Role.REPORTS)
def page_diagnosis() -> BaseResponse:
    """Show why the page at `url` is or is not among the results; with `q` and filters, the results of that search."""
    url = request.args.get("url", "").strip()[:MAX_URL_CHARS]
    search_request, _ = parse_valid_parameters(request.args, current_site().settings, PROFILES)
    diagnosis = current_site().administration.diagnose_page(url, current_site().solr) if url else None
    position = None
    if diagnosis is not None and diagnosis.doc_id and search_request.has_criteria():
        position = find_position(current_services().search, search_request, diagnosis.doc_id)
        diagnosis = _with_position(diagnosis, search_request, position)
    filters = [pair for pair in search_request.to_url_params(current_site().settings) if pair[0] not in ("q", "page")]
    return render_page(
        "admin_page.html",
        url=url,
        query=search_request.raw_query,
        filters=filters,
        diagnosis=diagnosis,
        position=position,
        moment=views.format_timestamp,
    )


def _with_position(
    diagnosis: PageDiagnosis, search_request: SearchRequest, position: ResultPosition | None
) -> PageDiagnosis:
    """Return the diagnosis with the step `FOUND`, judged by the position of the page in the results of a search."""
    if position is None:  # removed from Solr since the diagnosis
        return diagnosis
    other_checks = [check for check in diagnosis.checks if check.name is not PageCheckName.FOUND]
    check = _found_check(diagnosis.doc_id, search_request, position)
    return replace(diagnosis, checks=[*other_checks, check])


def _found_check(doc_id: str, search_request: SearchRequest, position: ResultPosition) -> PageCheck:
    name, page_size = PageCheckName.FOUND, current_site().settings.page_size
    if position.rank is None:
        cause = PageCause.RANKED_LOW
        values: dict[str, object] = {"n": MAX_RANK}
        if position.excluding_filters:
            labels = (filter_label(search_request, each) for each in position.excluding_filters)
            cause, values = PageCause.FILTERED, {"filters": translate(", ").join(labels)}
        elif position.word_count and len(position.missing_words) == position.word_count:
            cause, values = PageCause.NO_MATCH, {}
        return PageCheck(name, PageCheckState.FAILED, cause=cause, values=values)
    values = {"rank": position.rank, "page": page_at(position.rank, page_size)}
    if position.listed_id != doc_id:
        related_url = position.listed_url
        return PageCheck(name, PageCheckState.FAILED, cause=PageCause.COPY, values=values, related_url=related_url)
    return PageCheck(name, PageCheckState.PASSED, values=values)


@blueprint.post("/page/remedy")
@require_role(Role.OPERATOR)
def apply_page_remedy() -> BaseResponse:
    """Do what `remedy` says for the page at `url`, start a run with `now`, and show the page at `page` again."""
    form, administration = request.form, current_site().administration
    url, page_url = (read_text(Field(name, MAX_URL_CHARS)) for name in ("url", "page"))
    remedy = form.get("remedy", "")
    if remedy not in {*PageRemedy} - {PageRemedy.ADD_SITE}:
        abort(400)
    try:
        if remedy == PageRemedy.RESUME_SITE:
            run_operation("site_resume", host=urlsplit(url).netloc)
        elif run_operation(f"page_{remedy}", url=url) is None:
            abort(404)
    except PlumblineError as error:
        flash(translate_error(error))
    else:
        if "now" in form:
            run_with_message(administration.operations["run_start"], {})
        else:
            flash(translate_code("page_done", remedy))
    return redirect(url_for("admin.page_diagnosis", url=page_url or url), 303)
