"""The setup pages as a WSGI application."""

import threading
import time
from typing import cast

from flask import Flask, Response, current_app, g, redirect, request
from flask_login import LoginManager
from flask_wtf.csrf import CSRFError
from werkzeug.wrappers import Response as BaseResponse

from domain.message import value_text
from search_ui.context import YEAR_SECONDS, choose_language, language_context, remember_language, render_page
from search_ui.i18n import translate
from search_ui.security import cookie_name, init_security
from search_ui.setup import views
from search_ui.setup.access import COOKIE, SetupAccess
from search_ui.setup.interfaces import SetupBackend

HANDOVER_SECONDS = 0.5  # between a request after the end of the setup and its repetition
_ACCESS_KEY = "plumbline_setup_access"


def create_setup_app(backend: SetupBackend, access: SetupAccess, secret_key: bytes, finished: threading.Event) -> Flask:
    """Create the application.

    Args:
        backend: The work behind the pages.
        access: Decides which requests are allowed.
        secret_key: Signs sessions. The search site uses the same key, so the person is signed in there afterwards.
        finished: Set when the setup is finished. Later requests wait for the search site.
    """
    app = Flask("search_ui")
    app.jinja_options = {"trim_blocks": True, "lstrip_blocks": True}
    app.jinja_env.filters.update(number=value_text)
    app.extensions[_ACCESS_KEY] = access
    app.extensions[views.EXTENSION_KEY] = views.SetupContext(backend, finished)
    app.before_request(_start_request)  # before the check of the form token
    init_security(app, secret_key, trusted_proxies=0)
    LoginManager(app, add_context_processor=False)
    app.after_request(remember_language)
    app.after_request(_forbid_caching)
    app.context_processor(language_context)
    app.register_blueprint(views.blueprint)
    app.register_error_handler(CSRFError, _on_csrf_error)
    app.register_error_handler(404, lambda _: redirect("/setup", 303))
    return app


def _start_request() -> BaseResponse | None:
    """Choose the language, and reject every request that does not come from the browser that opened the link."""
    g.language = choose_language()
    access = cast(SetupAccess, current_app.extensions[_ACCESS_KEY])
    if not access.is_allowed_host(request.host):
        return Response("This address is not allowed.\n", 403, mimetype="text/plain")
    if views.current_context().finished.is_set():  # over an open connection: repeat it over a new one
        time.sleep(HANDOVER_SECONDS)
        return redirect(request.full_path.rstrip("?"), 307)
    if access.is_allowed_cookie(request.cookies.get(cookie_name(COOKIE), "")):
        return None
    cookie = access.redeem_token(request.args.get("token", "")) if request.path == "/setup" else ""
    if not cookie:
        return render_page("setup_closed.html", 403)
    response = redirect("/setup", 303)
    response.set_cookie(cookie_name(COOKIE), cookie, max_age=YEAR_SECONDS, httponly=True, samesite="Strict")
    return response


def _forbid_caching(response: Response) -> Response:
    if request.endpoint != "static":
        response.headers["Cache-Control"] = "no-store"
    return response


def _on_csrf_error(_: CSRFError) -> Response:
    return render_page(
        "setup_problem.html",
        400,
        message=translate("This form has expired. Go back, reload the page and submit again."),
    )
