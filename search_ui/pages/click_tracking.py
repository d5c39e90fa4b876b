"""Searches and the results opened from them, for the search log.

A result's link is its true URL. Browsers that know HTML's `click_url` tell us in passing that it was followed; others
do not, and nothing is lost but the count. What they send is signed: only what a page of ours showed can be told.
"""

import secrets

from flask import Blueprint, Response, abort, current_app, g, request, url_for
from itsdangerous import BadData, URLSafeTimedSerializer

from docstore.reports.search_log import Click, LoggedSearch
from search_ui.context import current_site
from search_ui.search_log import mask_personal_data

blueprint = Blueprint("clicks", __name__)

CLICK_MAX_AGE_SECONDS = 24 * 3600  # how long a result page may stand open


def log_search(raw_query: str, hits: int, page: int = 1, filters: tuple[str, ...] = ()) -> None:
    """Note that a result page is being shown; `click_url` then names its results. `filters` are names, never values."""
    site = current_site()
    if not site.settings.log_days:
        return
    query, is_masked = mask_personal_data(raw_query)
    g.search_id = secrets.token_urlsafe(12)
    now = site.clock()
    latency_ms = max(0, round(1000 * (site.stopwatch() - g.started)))
    site.search_log.enqueue(LoggedSearch(g.search_id, query, hits, latency_ms, page, " ".join(filters), is_masked, now))


def click_url(doc_id: str, rank: int) -> str:
    """The URL to tell that the result `doc_id` at `rank` (from 1, over all pages) was opened; "" without a log."""
    if "search_id" not in g:
        return ""
    return url_for("clicks.record_click", t=_click_signer().dumps([g.search_id, doc_id, rank]))


@blueprint.post("/click")
def record_click() -> Response:
    """A browser tells that a result was opened.

    The signature stands in for a form's token: `click_url` can send none.
    """
    try:
        search_id, doc_id, rank = _click_signer().loads(request.args.get("t", ""), max_age=CLICK_MAX_AGE_SECONDS)
    except BadData:
        abort(400)
    current_site().search_log.enqueue(Click(search_id, doc_id, rank))
    return Response(status=204)


def _click_signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.secret_key or b"", salt="click")
