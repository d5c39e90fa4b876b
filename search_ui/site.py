"""What every view needs: the parts the site was made of, and the reader's language and format."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from flask import Flask, Response, current_app, g, jsonify, make_response, render_template, request, url_for
from flask_login import current_user

from docstore.accounts import Account
from docstore.roles import Role
from search_ui.actions import Accounts, SiteActions
from search_ui.messages import HTML_LANGUAGES, LANGUAGES, say
from search_ui.query.semantic.meaning import WORDS_ALONE, Meaning
from search_ui.query.solr_client import Search
from search_ui.review.topic_actions import NO_TOPICS, TopicActions
from search_ui.search_log import SearchLog
from search_ui.settings import SearchSettings

_KEY = "plumbline"
_LANGUAGE_COOKIE = "lang"
_YEAR = 365 * 24 * 3600  # seconds


@dataclass(frozen=True)
class Site:
    """The parts `create_app` was given. `clock` tells epoch seconds, `stopwatch` seconds that never go back."""

    settings: SearchSettings
    search: Search
    actions: SiteActions
    accounts: Accounts
    log: SearchLog
    topics: TopicActions = NO_TOPICS
    meaning: Meaning = WORDS_ALONE
    clock: Callable[[], float] = time.time
    stopwatch: Callable[[], float] = time.monotonic


def attach(app: Flask, site: Site) -> None:
    """Make `site` known to the views and templates of `app`."""
    app.extensions[_KEY] = site
    app.before_request(_begin)
    app.after_request(_remember_language)
    app.context_processor(_template_values)


def current_site() -> Site:
    """The site that answers this request."""
    return cast(Site, current_app.extensions[_KEY])


def account() -> Account | None:
    """The account that is signed in."""
    return cast(Account, current_user.account) if current_user.is_authenticated else None


def has_tools() -> bool:
    """May this reader compare lexicons and choose a ranking?"""
    return current_site().settings.developer_tools or account() is not None


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


def page(template: str, status: int = 200, **values: object) -> Response:
    """A rendered template as a response. NUL, which HTML cannot carry, shows as U+FFFD wherever it came from."""
    response = make_response(render_template(template, **values).replace("\0", "\ufffd"), status)
    response.vary.update(["Accept", "Accept-Language", "Cookie"])
    return response


_CODES = {403: "forbidden", 404: "not_found", 405: "method_not_allowed", 429: "too_many_requests"}


def error_answer(status: int, message: str, code: str = "", **values: object) -> Response:
    """An error as the reader wants it: a page, or `{"error": {"status": …, "code": …, "message": …}}`.

    `code` names the error for programs, whatever the language of the message.
    """
    if wants_json():
        named = code or _CODES.get(status, "bad_request" if status < 500 else "internal")
        response = jsonify(error={"status": status, "code": named, "message": message})
        response.status_code = status
        return response
    return page("error.html", status, error_status=status, message=message, **values)


def _begin() -> None:
    g.started = current_site().stopwatch()
    choices = (request.args.get("lang"), request.cookies.get(_LANGUAGE_COOKIE))
    named = next((choice for choice in choices if choice in LANGUAGES), None)
    g.language = named or request.accept_languages.best_match(LANGUAGES) or LANGUAGES[0]


def _remember_language(response: Response) -> Response:
    if request.args.get("lang") in LANGUAGES:
        response.set_cookie(
            _LANGUAGE_COOKIE, g.language, max_age=_YEAR, samesite="Lax", httponly=True, secure=request.is_secure
        )
    return response


def _template_values() -> dict[str, Any]:
    site = current_site()
    other = next(language for language in LANGUAGES if language != g.language)
    return {
        "t": say,
        "html_language": HTML_LANGUAGES[g.language],
        "other_language": other,
        "other_html_language": HTML_LANGUAGES[other],
        "kept_arguments": [
            (name, value) for name, value in request.args.items(multi=True) if name not in ("lang", "format")
        ],
        "site_title": site.settings.title,
        "settings": site.settings,
        "account": account(),
        "tools": has_tools(),
        "Role": Role,
    }
