"""Searches and the results opened from them, for the search log.

A result's link is its true URL. Browsers that know HTML's `ping` tell us in passing that it was followed; others
do not, and nothing is lost but the count. What they send is signed: only what a page of ours showed can be told.
"""

import secrets

from flask import Blueprint, Response, abort, current_app, g, request, url_for
from itsdangerous import BadData, URLSafeTimedSerializer

from docstore.reports.searches import Click, LoggedSearch
from search_ui.search_log import masked
from search_ui.site import current_site

pages = Blueprint("clicks", __name__)

KEPT_SECONDS = 24 * 3600  # how long a result page may stand open


def log_search(typed: str, hits: int, page: int = 1, filters: tuple[str, ...] = ()) -> None:
    """Note that a result page is being shown; `ping` then names its results. `filters` are names, never values."""
    site = current_site()
    if not site.settings.log_days:
        return
    query, is_masked = masked(typed)
    g.search_id = secrets.token_urlsafe(12)
    now = site.clock()
    latency = max(0, round(1000 * (site.stopwatch() - g.started)))
    site.log.note(LoggedSearch(g.search_id, query, hits, latency, page, " ".join(filters), is_masked, now))


def ping(doc_id: str, rank: int) -> str:
    """The URL to tell that the result `doc_id` at `rank` (from 1, over all pages) was opened; "" without a log."""
    if "search_id" not in g:
        return ""
    return url_for("clicks.click", t=_signer().dumps([g.search_id, doc_id, rank]))


@pages.post("/click")
def click() -> Response:
    """A browser tells that a result was opened. The signature stands in for a form's token: `ping` can send none."""
    try:
        search_id, doc_id, rank = _signer().loads(request.args.get("t", ""), max_age=KEPT_SECONDS)
    except BadData:
        abort(400)
    current_site().log.note(Click(search_id, doc_id, rank))
    return Response(status=204)


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.secret_key or b"", salt="click")
