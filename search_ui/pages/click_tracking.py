"""Records searches and clicks on results in the search log.

The link of a result is its true URL. Browsers that support the attribute `ping` report that it was followed; other
browsers are not counted. The report is signed, so that only results that this site displayed can be reported.
"""

import secrets

from flask import Blueprint, Response, abort, current_app, g, request, url_for
from itsdangerous import BadData, URLSafeTimedSerializer

from domain.search_log import SIGNED_IN_MARK, Click, LoggedSearch
from search_ui.context import current_site, has_private_results
from search_ui.query.results import SearchPage
from search_ui.query.search_request import SearchRequest
from search_ui.search_log import mask_personal_data

blueprint = Blueprint("clicks", __name__)

CLICK_MAX_AGE_SECONDS = 24 * 3600  # age of a results page from which clicks are ignored


def log_search(request: SearchRequest, page: SearchPage) -> None:
    """Log a search as it was typed, without the values of its filters, and enable `click_url` for its results."""
    site = current_site()
    if not site.settings.log_days:
        return
    query, is_masked = mask_personal_data(request.raw_query)
    g.search_id = secrets.token_urlsafe(12)
    now = site.clock()
    latency_ms = max(0, round(1000 * (site.stopwatch() - g.started)))
    site.search_log.enqueue(
        LoggedSearch(
            g.search_id,
            query,
            0 if page.is_corrected else page.total,  # a misspelling with results would be suggested to other readers
            latency_ms,
            page.page,
            " ".join([*request.active_filter_params(), *([SIGNED_IN_MARK] if has_private_results() else [])]),
            is_masked,
            now,
            page.is_corrected,
            is_partial=not page.total and page.match_count > 0,
        )
    )


def click_url(doc_id: str, rank: int) -> str:
    """Return the URL that reports a click on `doc_id` at `rank` (from 1, over all pages); "" without a log."""
    if "search_id" not in g:
        return ""
    return url_for("clicks.record_click", t=_click_signer().dumps([g.search_id, doc_id, rank]))


@blueprint.post("/click")
def record_click() -> Response:
    """Record that a result was opened. The signature replaces the form token, because `ping` cannot send one."""
    try:
        search_id, doc_id, rank = _click_signer().loads(request.args.get("t", ""), max_age=CLICK_MAX_AGE_SECONDS)
    except BadData:
        abort(400)
    current_site().search_log.enqueue(Click(search_id, doc_id, rank))
    return Response(status=204)


def _click_signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.secret_key or b"", salt="click")
