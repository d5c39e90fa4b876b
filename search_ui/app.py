"""The Flask factory: puts the parts together; says what an error looks like."""

import logging
import time
from collections.abc import Callable

from flask import Flask, Response
from werkzeug.exceptions import HTTPException

from docstore.errors import PlumblineError, SolrError, SolrUnavailableError
from search_ui import public, review
from search_ui.actions import ReviewActions
from search_ui.messages import say, use_babel
from search_ui.request import BadQueryError
from search_ui.search import Search
from search_ui.security import LoginBrake, protect
from search_ui.settings import SearchSettings
from search_ui.site import Site, attach, error_answer

_log = logging.getLogger(__name__)
_STATIC_SECONDS = 3600


def create_app(
    settings: SearchSettings,
    search: Search,
    actions: ReviewActions,
    secret_key: bytes,
    admin_password_hash: str,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Flask:
    """The site as a WSGI application.

    `secret_key` signs sessions (32 random bytes, kept between starts), `admin_password_hash` is made by
    `werkzeug.security.generate_password_hash`; "" closes the review pages. `clock` counts seconds for the brake on
    guessed passwords.
    """
    app = Flask(__name__)
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = _STATIC_SECONDS
    app.jinja_options = {"trim_blocks": True, "lstrip_blocks": True}
    use_babel(app)
    protect(app, secret_key)
    attach(app, Site(settings, search, actions, LoginBrake(clock), admin_password_hash))
    app.register_blueprint(public.pages)
    app.register_blueprint(review.pages)
    _register_errors(app)
    return app


def _register_errors(app: Flask) -> None:
    app.register_error_handler(BadQueryError, _bad_query)
    app.register_error_handler(SolrUnavailableError, _unavailable)
    app.register_error_handler(SolrError, _refused)
    app.register_error_handler(PlumblineError, _failed)
    app.register_error_handler(HTTPException, _http_error)


def _bad_query(error: BadQueryError) -> Response:
    return error_answer(400, say(str(error)))


def _unavailable(error: SolrUnavailableError) -> Response:
    _log.warning("%s", error)
    response = error_answer(503, say("error.unavailable"), advice=say("error.unavailable_advice"))
    response.headers["Retry-After"] = "10"
    return response


def _refused(error: SolrError) -> Response:
    _log.warning("%s", error)
    return error_answer(400, say("error.refused"))


def _failed(error: PlumblineError) -> Response:
    """The store, or whatever else stands behind an action; what is said is for the operator."""
    _log.error("%s", error)
    return error_answer(503, say("error.failed"), advice=say("error.failed_advice"))


def _http_error(error: HTTPException) -> Response:
    """Flask's own errors, and the unexpected (500), which Flask has logged with its traceback."""
    status = error.code or 500
    key = error.description if error.description == "error.token" else f"error.http_{status}"
    return error_answer(status, say(key) if _is_said(key) else say("error.http_other", status=status))


def _is_said(key: str) -> bool:
    return key in _SAID


_SAID = frozenset({"error.token", *(f"error.http_{status}" for status in (400, 404, 405, 413, 500))})
