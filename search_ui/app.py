"""The Flask factory: puts the parts together; says what an error looks like."""

import logging
import time
from collections.abc import Callable
from typing import cast

from flask import Flask, Response
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as BaseResponse

from docstore.errors import PlumblineError, SolrError, SolrStartingError, SolrUnavailableError
from search_ui import api
from search_ui.accounts import use_accounts
from search_ui.actions import Accounts, SiteActions
from search_ui.messages import say, use_babel
from search_ui.operator import admin
from search_ui.operator.access_log import use_access_log
from search_ui.operator.metrics import Metrics, measure
from search_ui.operator.metrics import pages as metrics_pages
from search_ui.pages import clicks, feeds, originals, pictures, public, suggestions
from search_ui.query.request import BadQueryError
from search_ui.query.semantic.meaning import WORDS_ALONE, Meaning
from search_ui.query.solr_client import Search
from search_ui.review import term_list
from search_ui.review.topic_actions import NO_TOPICS, TopicActions
from search_ui.review.topics import pages as topic_pages
from search_ui.search_log import SearchLog
from search_ui.security import protect
from search_ui.settings import SearchSettings
from search_ui.site import Site, attach, error_answer

_log = logging.getLogger(__name__)
_STATIC_SECONDS = 3600
_STARTING_SECONDS = 5  # until a reader's browser asks again while Solr starts


def create_app(
    settings: SearchSettings,
    search: Search,
    actions: SiteActions,
    accounts: Accounts,
    log: SearchLog,
    secret_key: bytes,
    *,
    topics: TopicActions = NO_TOPICS,
    metrics: Metrics | None = None,
    meaning: Meaning = WORDS_ALONE,
    clock: Callable[[], float] = time.time,
) -> Flask:
    """The site as a WSGI application.

    `secret_key` signs sessions and results (32 random bytes, kept between starts); `clock` tells epoch seconds. Close
    `log` when the site is closed.
    """
    app = Flask(__name__)
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = _STATIC_SECONDS
    app.jinja_options = {"trim_blocks": True, "lstrip_blocks": True}
    use_babel(app)
    attach(app, Site(settings, search, actions, accounts, log, topics, meaning, clock))
    tokens = protect(app, secret_key, settings.trusted_proxies)
    use_accounts(app)
    measure(app, metrics or Metrics())
    if settings.access_log:
        use_access_log(app)
    readers = (public.pages, feeds.pages, api.pages, clicks.pages, pictures.pages, suggestions.pages, originals.pages)
    for blueprint in (*readers, term_list.pages, topic_pages, admin.pages, metrics_pages):
        app.register_blueprint(blueprint)
    tokens.exempt(clicks.pages)  # what it takes is signed
    app.jinja_env.globals["ping"] = clicks.ping
    app.jinja_env.globals["has_picture"] = pictures.has_picture
    _register_errors(app)
    return app


def _register_errors(app: Flask) -> None:
    app.register_error_handler(BadQueryError, _bad_query)
    app.register_error_handler(SolrStartingError, _starting)
    app.register_error_handler(SolrUnavailableError, _unavailable)
    app.register_error_handler(SolrError, _refused)
    app.register_error_handler(PlumblineError, _failed)
    app.register_error_handler(HTTPException, _http_error)


def _bad_query(error: BadQueryError) -> Response:
    return error_answer(400, say(str(error)), str(error).removeprefix("error."))


def _starting(_: SolrStartingError) -> Response:
    """A page that asks again by itself."""
    seconds = _STARTING_SECONDS
    advice = say("error.starting_advice")
    response = error_answer(503, say("error.starting"), "starting", advice=advice, again_after=seconds)
    response.headers["Retry-After"] = str(seconds)
    return response


def _unavailable(error: SolrUnavailableError) -> Response:
    _log.warning("%s", error)
    response = error_answer(503, say("error.unavailable"), "unavailable", advice=say("error.unavailable_advice"))
    response.headers["Retry-After"] = "10"
    return response


def _refused(error: SolrError) -> Response:
    _log.warning("%s", error)
    return error_answer(400, say("error.refused"), "refused")


def _failed(error: PlumblineError) -> Response:
    """The store, or whatever else stands behind an action; what is said is for the operator."""
    _log.error("%s", error)
    return error_answer(503, say("error.failed"), "failed", advice=say("error.failed_advice"))


def _http_error(error: HTTPException) -> BaseResponse:
    """Flask's own errors, and the unexpected (500), which Flask has logged with its traceback."""
    if error.response is not None:
        return cast(BaseResponse, error.response)
    status = error.code or 500
    key = "error.token" if isinstance(error, CSRFError) else str(error.description)
    known = next((name for name in (key, f"error.http_{status}") if name in _SAID), None)
    return error_answer(status, say(known) if known else say("error.http_other", status=status))


_SAID = frozenset({"error.token", "error.role", *(f"error.http_{status}" for status in (400, 404, 405, 413, 500))})
