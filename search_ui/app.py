"""The Flask application factory and the error pages."""

import json
import logging
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, cast

from flask import Flask, Response
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as BaseResponse

from domain.errors import PlumblineError, SolrError, SolrStartingError, SolrUnavailableError
from domain.message import Message, value_text
from domain.term import join_terms
from search_ui import api
from search_ui.accounts import init_accounts
from search_ui.admin import (
    account_views,
    alert_views,
    curation_views,
    history_views,
    operation_views,
    page_views,
    run_control_views,
    run_views,
    settings_views,
    site_views,
    takedown_views,
    token_views,
)
from search_ui.admin.access_log import log_response
from search_ui.admin.administration import Administration
from search_ui.admin.metrics import SiteMetrics, init_metrics
from search_ui.admin.metrics import blueprint as metrics_pages
from search_ui.connect.views import blueprint as connections
from search_ui.context import SiteContext, error_response, init_site
from search_ui.i18n import has_name, translate, translate_code, translate_message
from search_ui.interfaces import SiteBackend
from search_ui.pages import (
    bookmarks,
    click_tracking,
    feeds,
    filter_values,
    follow,
    glossary_views,
    originals,
    public_views,
    rising_terms,
    suggestions,
    thumbnails,
)
from search_ui.query.search_request import BadSearchRequestError
from search_ui.query.semantic.hybrid import QueryVectors
from search_ui.query.solr_client import SolrBackend
from search_ui.review import candidate_views
from search_ui.review.term_display import definition_excerpt
from search_ui.review.topic_views import blueprint as topic_pages
from search_ui.search_log import SearchLogWriter
from search_ui.security import init_security
from search_ui.settings import SearchSettings

_log = logging.getLogger(__name__)
_STATIC_SECONDS = 3600
_VERSION = version("plumbline-search")
_STARTUP_RETRY_SECONDS = 5  # reload interval while Solr starts
_BLUEPRINTS = (
    public_views.blueprint,
    glossary_views.blueprint,
    connections,
    feeds.blueprint,
    filter_values.blueprint,
    rising_terms.blueprint,
    api.blueprint,
    click_tracking.blueprint,
    thumbnails.blueprint,
    suggestions.blueprint,
    originals.blueprint,
    bookmarks.blueprint,
    follow.blueprint,
    follow.link_blueprint,
    candidate_views.blueprint,
    topic_pages,
    page_views.blueprint,  # with the routes of admin/views.py
    settings_views.blueprint,
    account_views.blueprint,
    token_views.blueprint,
    takedown_views.blueprint,
    curation_views.blueprint,
    site_views.blueprint,
    run_views.blueprint,
    run_control_views.blueprint,
    alert_views.blueprint,
    history_views.blueprint,
    operation_views.blueprint,
    metrics_pages,
)


def create_app(
    load_settings: Callable[[], SearchSettings],
    solr: SolrBackend,
    backend: SiteBackend,
    administration: Administration,
    search_log: SearchLogWriter,
    secret_key: bytes,
    *,
    metrics: SiteMetrics | None = None,
    query_vectors: QueryVectors,
    clock: Callable[[], float] = time.time,
) -> Flask:
    """Create the site as a WSGI application. Close `search_log` when the site is closed.

    Args:
        load_settings: Returns the current settings; each request calls it once. `access_log` and `trusted_proxies` stay
            as they are now.
        solr: The search server.
        backend: Lexicon and reports.
        administration: The store, and what the signed-in area does with it.
        search_log: Logs searches and clicks.
        secret_key: Signs sessions, cursors and clicks: 32 random bytes, the same at every start.
        metrics: Metrics to record.
        query_vectors: The embedding models.
        clock: Returns epoch seconds.
    """
    settings = load_settings()
    app = Flask(__name__)
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = _STATIC_SECONDS
    app.jinja_options = {"trim_blocks": True, "lstrip_blocks": True}
    app.jinja_env.filters.update(number=value_text, from_json=json.loads, join_terms=join_terms)
    init_site(app, SiteContext(load_settings, solr, backend, administration, search_log, query_vectors, clock))
    csrf = init_security(app, secret_key, settings.trusted_proxies)
    init_accounts(app)
    init_metrics(app, metrics or SiteMetrics())
    if settings.access_log:
        app.after_request(log_response)
    for blueprint in _BLUEPRINTS:
        app.register_blueprint(blueprint)
    csrf.exempt(click_tracking.blueprint)  # its parameters are signed
    csrf.exempt(follow.link_blueprint)  # its links are signed, and mail programs send its requests (RFC 8058)
    csrf.exempt(connections)  # they change nothing
    app.jinja_env.globals.update(
        definition_excerpt=definition_excerpt,
        ping=click_tracking.click_url,
        has_picture=thumbnails.has_thumbnail,
        max_bookmarks=bookmarks.MAX_BOOKMARKS,
    )
    app.url_defaults(_add_version)
    _register_errors(app)
    return app


def _add_version(endpoint: str, values: dict[str, Any]) -> None:
    """Add the program's version to the URLs of static files, so that new pages never meet old scripts."""
    if endpoint == "static":
        values["v"] = _VERSION


def _register_errors(app: Flask) -> None:
    app.register_error_handler(BadSearchRequestError, _on_bad_query)
    app.register_error_handler(SolrStartingError, _on_solr_starting)
    app.register_error_handler(SolrUnavailableError, _on_solr_unavailable)
    app.register_error_handler(SolrError, _on_solr_rejected)
    app.register_error_handler(PlumblineError, _on_store_error)
    app.register_error_handler(HTTPException, _on_http_error)


def _on_bad_query(error: BadSearchRequestError) -> Response:
    return error_response(400, translate_code("search_error", str(error)), str(error))


def _on_solr_starting(_: SolrStartingError) -> Response:
    """Return a page that reloads by itself."""
    seconds = _STARTUP_RETRY_SECONDS
    advice = translate("This usually takes less than a minute. The page reloads by itself.")
    response = error_response(503, translate("Search is starting"), "starting", advice=advice, again_after=seconds)
    response.headers["Retry-After"] = str(seconds)
    return response


def _on_solr_unavailable(error: SolrUnavailableError) -> Response:
    _log.warning("%s", error)
    response = error_response(
        503,
        translate("Search is temporarily unavailable"),
        "unavailable",
        advice=translate(
            "The search index is not responding. Try again in a few minutes. Administrators: open the "
            "overview of the administration, or run “plumb status”, and check that Solr is running."
        ),
    )
    response.headers["Retry-After"] = "10"
    return response


def _on_solr_rejected(error: SolrError) -> Response:
    _log.warning("%s", error)
    return error_response(400, translate("This query cannot be processed"), "refused")


def _on_store_error(error: PlumblineError) -> Response:
    """Return the page for an error of the store or another backend. The details are logged for the administrator."""
    _log.error("%s", error)
    return error_response(
        503,
        translate("The action failed. Nothing was lost; try again."),
        "failed",
        advice=translate("Administrators: see logs/plumb.log in the data folder for the cause."),
    )


def _on_http_error(error: HTTPException) -> BaseResponse:
    """Return the page for HTTP errors, including unexpected exceptions (500), which Flask has logged."""
    if error.response is not None:
        return cast(BaseResponse, error.response)
    status = error.code or 500
    if isinstance(error, CSRFError):
        message = translate("This form has expired. Go back, reload the page and submit again.")
    elif isinstance(error.description, Message):
        message = translate_message(error.description)
    elif has_name("http_status", str(status)):
        message = translate_code("http_status", str(status))
    else:
        message = translate("Request failed ({status})", status=status)
    response = error_response(status, message)
    for name, value in error.get_headers():  # Allow, Retry-After
        response.headers.setdefault(name, value)
    return response
