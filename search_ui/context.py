"""The context of a request: the parts of the site, and the reader's language and format."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast
from urllib.parse import urlencode

from flask import Flask, Response, abort, current_app, g, jsonify, make_response, render_template, request, url_for
from flask_login import current_user

from docstore.store import Store
from domain.account import Account, Role
from domain.term import AUTOMATIC_ACTOR
from search_ui.admin.administration import Administration
from search_ui.i18n import (
    HTML_LANGUAGES,
    LANGUAGES,
    lang_attribute,
    translate,
    translate_code,
    translate_code_markup,
    translate_markup,
    translate_message,
)
from search_ui.interfaces import SiteBackend
from search_ui.query.results import ArticleSummary
from search_ui.query.search_request import SearchRequest
from search_ui.query.semantic.hybrid import QueryVectors
from search_ui.query.solr_client import SolrBackend
from search_ui.search_log import SearchLogWriter
from search_ui.services.articles import is_doc_id
from search_ui.services.site import SiteCaches, SiteServices
from search_ui.settings import SearchSettings
from search_ui.signed_out import SignedOutParts

_EXTENSION_KEY = "plumbline"
_LANGUAGE_COOKIE = "lang"
_UNKEPT_PARAMETERS = frozenset({"lang", "format", "definitions"})  # choices of the reader and of programs
_API_PATHS = ("/api/", "/retrieval", "/glossary.json")
YEAR_SECONDS = 365 * 24 * 3600


@dataclass(frozen=True)
class SiteContext:
    """The parts passed to `create_app`. `clock` returns epoch seconds, `stopwatch` monotonic seconds."""

    load_settings: Callable[[], SearchSettings]
    solr: SolrBackend
    backend: SiteBackend
    administration: Administration
    search_log: SearchLogWriter
    query_vectors: QueryVectors
    clock: Callable[[], float] = time.time
    stopwatch: Callable[[], float] = time.monotonic
    caches: SiteCaches = field(default_factory=SiteCaches)
    signed_out: SignedOutParts = field(default_factory=SignedOutParts)

    @property
    def store(self) -> Store:
        """The store, for the signed-in area."""
        return self.administration.store

    @property
    def settings(self) -> SearchSettings:
        """The current settings, the same during a whole request."""
        if "search_settings" not in g:
            g.search_settings = self.load_settings()
        return cast(SearchSettings, g.search_settings)


def init_site(app: Flask, site: SiteContext) -> None:
    """Make `site` available to the views and templates of `app`."""
    app.extensions[_EXTENSION_KEY] = site
    app.before_request(_start_request)
    app.after_request(_keep_private)  # last: the functions run in reverse order
    app.after_request(remember_language)
    app.context_processor(_template_context)


def current_site() -> SiteContext:
    """Return the site of the current request."""
    return cast(SiteContext, current_app.extensions[_EXTENSION_KEY])


def current_services() -> SiteServices:
    """Return what the services of the current request work with: all that its reader may find, and nothing else.

    Public pages use `solr` and `backend` of these services, never those of `current_site()`.
    """
    if "services" not in g:
        site, secret = current_site(), cast(bytes, current_app.secret_key)
        parts = (site.settings, site.solr, site.backend, site.query_vectors, site.caches, site.clock)
        services = SiteServices(*parts, secret)
        is_open = not site.settings.signed_in_sites or is_signed_in()
        g.services = services if is_open else site.signed_out.limit(services)
    return cast(SiteServices, g.services)


def current_account() -> Account | None:
    """Return the account of the request's API token, see `search_ui.api_tokens`, or the signed-in account."""
    if token_account := g.get("token_account"):
        return cast(Account, token_account)
    return cast(Account, current_user.account) if current_user.is_authenticated else None


def must_change_password(account: Account) -> bool:
    """Return True if the account of the session has a temporary password. API tokens do not depend on passwords."""
    return account.password_is_temporary and "token_account" not in g


def is_signed_in() -> bool:
    """Return True if the reader finds the articles of sites for signed-in readers: with any active account."""
    account = current_account()
    return account is not None and not must_change_password(account)


def has_private_results() -> bool:
    """Return True if the pages of this request can show what only signed-in readers find."""
    services = current_services()
    return bool(services.settings.signed_in_sites) and not services.is_limited


def cluster_parameter(article: ArticleSummary) -> str:
    """Return the id by which the reader asks for the near-duplicates of an article (`QueryPlan.is_limited`)."""
    return article.doc_id if current_services().is_limited else article.cluster


def can_use_developer_tools() -> bool:
    """Return True if the reader may compare lexicons and choose a ranking profile."""
    account = current_account()
    return current_site().settings.developer_tools or (account is not None and not account.is_reader_only)


def external_url(endpoint: str, **values: Any) -> str:
    """Return the absolute URL of a view, based on `search.base_url` or the Host header of the request."""
    site_url = current_site().settings.site_url
    return f"{site_url}{url_for(endpoint, **values)}" if site_url else url_for(endpoint, **values, _external=True)


def search_url(endpoint: str, search_request: SearchRequest, **values: Any) -> str:
    """Return the URL of a view that takes the parameters of a search. `values` are further values of its URL.

    A results page has about a hundred, so the path of each view is built once.
    """
    paths: dict[str, str] = g.setdefault("search_paths", {})
    if endpoint not in paths:
        paths[endpoint] = url_for(endpoint)
    params = [*search_request.to_url_params(current_site().settings), *values.items()]
    return f"{paths[endpoint]}?{urlencode(params)}"


def wants_json() -> bool:
    """Return True for API requests, `format=json`, and clients that prefer JSON to HTML."""
    if request.path.startswith(_API_PATHS):
        return True
    if "format" in request.args:
        return request.args["format"] == "json"
    best = request.accept_mimetypes.best_match(["text/html", "application/json"], default="text/html")
    return best == "application/json"


def render_page(template: str, status: int = 200, **values: object) -> Response:
    """Render a template as a response. NUL, which HTML cannot contain, becomes U+FFFD."""
    response = make_response(render_template(template, **values).replace("\0", "\ufffd"), status)
    response.vary.update(["Accept", "Accept-Language", "Cookie"])
    return response


_ERROR_CODE_BY_STATUS = {
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    410: "gone",
    429: "too_many_requests",
}


def error_response(status: int, message: str, code: str = "", **values: object) -> Response:
    """Return an error as a page, or as `{"error": {"status": …, "code": …, "message": …}}`.

    `code` identifies the error for programs, independently of the language of the message.
    """
    if wants_json():
        error_code = code or _ERROR_CODE_BY_STATUS.get(status, "bad_request" if status < 500 else "internal")
        response = jsonify(error={"status": status, "code": error_code, "message": message})
        response.status_code = status
        return response
    return render_page("error.html", status, error_status=status, message=message, **values)


def abort_missing(doc_id: str) -> NoReturn:
    """Abort with status 410 if the article was taken down, otherwise with 404."""
    is_taken_down = is_doc_id(doc_id) and current_services().backend.find_takedown(doc_id) is not None
    abort(410 if is_taken_down else 404)


def _keep_private(response: Response) -> Response:
    """Let no cache show to others, or after signing out, what only signed-in readers find."""
    if "services" in g and has_private_results() and not response.cache_control.no_store:
        response.headers["Cache-Control"] = "private, no-cache"
        response.vary.update(["Authorization", "Cookie"])
    return response


def _start_request() -> None:
    g.started = current_site().stopwatch()
    g.language = choose_language()


def choose_language() -> str:
    """Return the language of the reader: chosen now or before, or that of the browser.

    Readers of other languages and API clients get English, others that name no language the first of LANGUAGES.
    """
    requested_languages = (request.args.get("lang"), request.cookies.get(_LANGUAGE_COOKIE))
    chosen_language = next((choice for choice in requested_languages if choice in LANGUAGES), None)
    fallback = "en" if request.accept_languages or request.path.startswith(_API_PATHS) else LANGUAGES[0]
    return chosen_language or request.accept_languages.best_match(LANGUAGES) or fallback


def elapsed_ms() -> int:
    """Return the milliseconds since the start of the request."""
    elapsed: float = current_site().stopwatch() - g.started
    return round(1000 * elapsed)


def remember_language(response: Response) -> Response:
    """Set the cookie of the language if the reader has chosen it with this request."""
    return remember_choice(response, _LANGUAGE_COOKIE, LANGUAGES)


def remember_choice(response: Response, name: str, choices: Collection[str]) -> Response:
    """Set the cookie `name` if the URL parameter of this name is one of `choices`, unless caches share the response."""
    if (choice := request.args.get(name)) in choices and choice and not response.cache_control.public:
        response.set_cookie(name, choice, max_age=YEAR_SECONDS, samesite="Lax", httponly=True, secure=request.is_secure)
    return response


def language_context() -> dict[str, Any]:
    """Return what templates need to show texts and to change the language."""
    other_language = next(language for language in LANGUAGES if language != g.language)
    adapter = current_app.create_url_adapter(request)
    can_get = request.method == "GET" or (adapter is not None and "GET" in adapter.allowed_methods())
    return {
        "t": translate,
        "t_html": translate_markup,
        "t_message": translate_message,
        "code_name": translate_code,
        "code_name_html": translate_code_markup,
        "lang_of": lang_attribute,
        "sentence_gap": "" if g.language == "zh" else " ",  # Chinese punctuation contains its own blank
        "html_language": HTML_LANGUAGES[g.language],
        "language_page": "" if can_get else "/admin/",  # what the button of the language opens
        "other_language": other_language,
        "other_html_language": HTML_LANGUAGES[other_language],
        "kept_arguments": [
            (name, value) for name, value in request.args.items(multi=True) if name not in _UNKEPT_PARAMETERS
        ],
    }


def _template_context() -> dict[str, Any]:
    site = current_site()
    return {
        **language_context(),
        "site_title": site.settings.title,
        "settings": site.settings,
        "account": current_account(),
        "tools": can_use_developer_tools(),
        "Role": Role,
        "automatic_actor": AUTOMATIC_ACTOR,
    }
