"""What every view needs: the parts the site was made of, and the reader's language and format."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from flask import Flask, Response, current_app, g, jsonify, make_response, render_template, request, url_for
from flask_login import current_user

from docstore.accounts import Account
from docstore.roles import Role
from search_ui.i18n import HTML_LANGUAGES, LANGUAGES, translate, translate_markup
from search_ui.interfaces import AccountStore, SiteBackend
from search_ui.query.semantic.hybrid import NO_QUERY_VECTORS, QueryVectors
from search_ui.query.solr_client import SolrBackend
from search_ui.review.topic_interfaces import NO_TOPIC_BACKEND, TopicBackend
from search_ui.search_log import SearchLogWriter
from search_ui.settings import SearchSettings

_EXTENSION_KEY = "plumbline"
_LANGUAGE_COOKIE = "lang"
_YEAR_SECONDS = 365 * 24 * 3600  # seconds


@dataclass(frozen=True)
class SiteContext:
    """The parts `create_app` was given. `clock` tells epoch seconds, `stopwatch` seconds that never go back."""

    settings: SearchSettings
    solr: SolrBackend
    backend: SiteBackend
    accounts: AccountStore
    search_log: SearchLogWriter
    topic_backend: TopicBackend = NO_TOPIC_BACKEND
    query_vectors: QueryVectors = NO_QUERY_VECTORS
    clock: Callable[[], float] = time.time
    stopwatch: Callable[[], float] = time.monotonic


def init_site(app: Flask, site: SiteContext) -> None:
    """Make `site` known to the views and templates of `app`."""
    app.extensions[_EXTENSION_KEY] = site
    app.before_request(_start_request)
    app.after_request(_remember_language)
    app.context_processor(_template_context)


def current_site() -> SiteContext:
    """The site that answers this request."""
    return cast(SiteContext, current_app.extensions[_EXTENSION_KEY])


def current_account() -> Account | None:
    """The account that is signed in."""
    return cast(Account, current_user.account) if current_user.is_authenticated else None


def can_use_developer_tools() -> bool:
    """May this reader compare lexicons and choose a ranking?"""
    return current_site().settings.developer_tools or current_account() is not None


def external_url(endpoint: str, **values: Any) -> str:
    """The address of a view as the world knows it: below `search.base_url`, or as this request's Host header has it."""
    base = current_site().settings.base_url
    return f"{base.rstrip('/')}{url_for(endpoint, **values)}" if base else url_for(endpoint, **values, _external=True)


def wants_json() -> bool:
    """True if the reader is a program: at the API, `format=json`, or JSON preferred to HTML."""
    if request.path.startswith("/api/"):
        return True
    if "format" in request.args:
        return request.args["format"] == "json"
    best = request.accept_mimetypes.best_match(["text/html", "application/json"], default="text/html")
    return best == "application/json"


def render_page(template: str, status: int = 200, **values: object) -> Response:
    """A rendered template as a response. NUL, which HTML cannot carry, shows as U+FFFD wherever it came from."""
    response = make_response(render_template(template, **values).replace("\0", "\ufffd"), status)
    response.vary.update(["Accept", "Accept-Language", "Cookie"])
    return response


_ERROR_CODE_BY_STATUS = {403: "forbidden", 404: "not_found", 405: "method_not_allowed", 429: "too_many_requests"}


def error_response(status: int, message: str, code: str = "", **values: object) -> Response:
    """An error as the reader wants it: a page, or `{"error": {"status": …, "code": …, "message": …}}`.

    `code` names the error for programs, whatever the language of the message.
    """
    if wants_json():
        error_code = code or _ERROR_CODE_BY_STATUS.get(status, "bad_request" if status < 500 else "internal")
        response = jsonify(error={"status": status, "code": error_code, "message": message})
        response.status_code = status
        return response
    return render_page("error.html", status, error_status=status, message=message, **values)


def _start_request() -> None:
    g.started = current_site().stopwatch()
    requested_languages = (request.args.get("lang"), request.cookies.get(_LANGUAGE_COOKIE))
    chosen_language = next((choice for choice in requested_languages if choice in LANGUAGES), None)
    g.language = chosen_language or request.accept_languages.best_match(LANGUAGES) or LANGUAGES[0]


def _remember_language(response: Response) -> Response:
    if request.args.get("lang") in LANGUAGES:
        response.set_cookie(
            _LANGUAGE_COOKIE, g.language, max_age=_YEAR_SECONDS, samesite="Lax", httponly=True, secure=request.is_secure
        )
    return response


def _template_context() -> dict[str, Any]:
    site = current_site()
    other_language = next(language for language in LANGUAGES if language != g.language)
    return {
        "t": translate,
        "t_html": translate_markup,
        "html_language": HTML_LANGUAGES[g.language],
        "other_language": other_language,
        "other_html_language": HTML_LANGUAGES[other_language],
        "kept_arguments": [
            (name, value) for name, value in request.args.items(multi=True) if name not in ("lang", "format")
        ],
        "site_title": site.settings.title,
        "settings": site.settings,
        "account": current_account(),
        "tools": can_use_developer_tools(),
        "Role": Role,
    }
