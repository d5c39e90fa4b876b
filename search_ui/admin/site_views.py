"""Changing sites: add, pause, resume, recrawl, settings of one site, remove."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps

from flask import Blueprint, abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.administration import HostSuggestion
from domain.errors import BusyError, PlumblineError, SettingsError, SiteError
from domain.login import LoginKind, LoginTrial, SiteReaders
from domain.message import error_message
from domain.operation import Field
from domain.site_check import SiteCheck
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.operation_views import read_text, run_operation
from search_ui.admin.page_views import MAX_URL_CHARS
from search_ui.admin.site_form import (
    LOGIN_FORM_KEYS,
    SITE_FORM_KEYS,
    SecretSource,
    SiteLogin,
    SiteOptionKind,
    SiteSettings,
)
from search_ui.context import current_site, render_page
from search_ui.i18n import translate, translate_code, translate_error, translate_message

blueprint = Blueprint("site_admin", __name__, url_prefix="/admin/sites")
blueprint.after_request(add_no_store_headers)

MAX_SUGGESTIONS = 20
MESSAGE_BY_ACTION = {"pause": "paused", "resume": "resumed", "recrawl": "requeued"}
BYTES_PER_MEGABYTE = 1_000_000
MAX_LOGIN_CHARS = 2_000  # of one field


def host_view(role: Role) -> Callable[[Callable[..., BaseResponse]], Callable[..., BaseResponse]]:
    """Guard a view of one host: it gets the canonical host; 404 if nothing is known of the host."""

    def decorate(view: Callable[..., BaseResponse]) -> Callable[..., BaseResponse]:
        @wraps(view)
        def show_host(host: str, **values: str) -> BaseResponse:
            return view(current_site().administration.site_reader.find_host(host) or abort(404), **values)

        return require_role(role)(show_host)

    return decorate


@blueprint.get("/add")
@require_role(Role.REPORTS)
def suggested_sites() -> BaseResponse:
    """Show the form for a new site, and the hosts that saved pages link to."""
    return _render_add(request.args.get("url", "")[:MAX_URL_CHARS])


def _render_add(url: str, check: SiteCheck | None = None) -> BaseResponse:
    """Show the form for a new site, and a check that speaks against the site."""
    suggestions: Sequence[HostSuggestion] = ()
    try:
        suggestions = current_site().administration.site_reader.suggestions(MAX_SUGGESTIONS)
    except SettingsError as error:
        flash(translate_error(error))
    status = 422 if check else 200
    return render_page("admin_site_add.html", status, suggestions=suggestions, url=url, check=check)


@blueprint.post("/add")
@require_role(Role.OPERATOR)
def add_site() -> BaseResponse:
    """Check a site, and add it and show its settings, with problems only if the operator wants it nevertheless."""
    url = read_text(Field("url", MAX_URL_CHARS))
    try:
        check = None if "nevertheless" in request.form else current_site().administration.site_reader.check(url)
        if check and check.problems:
            return _render_add(url, check)
        change = run_operation("site_add", url=check.seed_url if check else url)
    except SettingsError as error:
        flash(translate_error(error))
        return redirect(url_for("site_admin.suggested_sites", url=url), 303)
    host = change.result if change else ""
    flash(translate("{host} is crawled in the next run.", host=host))
    if "needs_login" in request.form:
        return redirect(url_for("site_admin.site_login", host=host), 303)
    if check:
        flash(" ".join(map(translate_message, check.findings)))
    return redirect(url_for("site_admin.site_settings", host=host), 303)


@blueprint.get("/<host>/settings")
@host_view(Role.REPORTS)
def site_settings(host: str) -> BaseResponse:
    """Show what the settings file says about a host."""
    return _render_settings(_load(host))


def _load(host: str) -> SiteSettings:
    return current_site().administration.site_reader.load(host)


def _render_settings(site: SiteSettings, errors: Mapping[str, str] | None = None) -> BaseResponse:
    """Show the form of a host with errors by key; "" is the key of an error of the whole form."""
    is_known = current_site().store.site_pages.count(site.host).url_count > 0
    values = {"site": site, "is_known": is_known, "kinds": SiteOptionKind, "errors": errors or {}}
    values["readers"] = ("", *SiteReaders)
    return render_page("admin_site_settings.html", 422 if errors else 200, **values)


@blueprint.post("/<host>/settings")
@host_view(Role.OPERATOR)
def change_settings(host: str) -> BaseResponse:
    """Change the values that differ from what the form showed; an invalid value is shown again with its error."""
    values = {key: request.form.get(key, "") for key in SITE_FORM_KEYS}
    try:
        changed_keys = [key for key in SITE_FORM_KEYS if values[key] != request.form.get(f"shown.{key}")]
        run_operation("site_change", host=host, values={key: values[key] for key in changed_keys})
    except SettingsError as error:
        problems = error.problems if isinstance(error, SiteError) else {"": error_message(error)}
        errors = {key: translate_message(problem) for key, problem in problems.items()}
        return _render_settings(replace(_load(host), values=values), errors)
    flash(translate("The settings of the site are saved."))
    return redirect(url_for("site_admin.site_settings", host=host), 303)


@blueprint.get("/<host>/login")
@host_view(Role.OPERATOR)
def site_login(host: str) -> BaseResponse:
    """Show how the crawl signs in to a host."""
    login = current_site().administration.site_reader.load_login(host)
    return _render_login(login, login.values, login.page_url)


def _render_login(
    login: SiteLogin,
    values: Mapping[str, str],
    page_url: str,
    trial: LoginTrial | None = None,
    errors: Mapping[str, str] | None = None,
) -> BaseResponse:
    """Show the form of a login with these values, what a trial showed, and errors as in `_render_settings`."""
    status = 422 if errors or (trial and trial.problem) else 200
    context = {"login": login, "values": values, "page_url": page_url, "trial": trial, "errors": errors or {}}
    return render_page("admin_site_login.html", status, kinds=LoginKind, **context)


@blueprint.post("/<host>/login")
@host_view(Role.OPERATOR)
def change_login(host: str) -> BaseResponse:
    """Try the login of the form, save it, or save it if the trial succeeds. No response has the password."""
    reader, action = current_site().administration.site_reader, request.form.get("action")
    if action not in ("try", "try_and_save", "save"):
        abort(400)
    values = {key: read_text(Field(key, MAX_LOGIN_CHARS)) for key in LOGIN_FORM_KEYS}
    secret, page_url = request.form.get("secret", ""), read_text(Field("page_url", MAX_URL_CHARS))
    removes_secret = "removes_secret" in request.form
    trial, errors = None, dict[str, str]()
    try:
        if action != "save":
            trial = reader.try_login(host, values, secret, page_url)
            found_fields = "\n".join(trial.login.fields)
            values = {**values, "login_fields": found_fields or values["login_fields"]}
        if action == "save" or (action == "try_and_save" and trial and trial.problem is None):
            run_operation("site_login", host=host, values=values, secret=secret, removes_secret=removes_secret)
            if trial:
                flash(translate("The sign-in succeeded."))
            flash(translate("The login is saved." if values["login"] else "The site has no login any more."))
            return redirect(url_for("site_admin.site_login", host=host), 303)
    except SettingsError as error:
        problems = error.problems if isinstance(error, SiteError) else {"": error_message(error)}
        errors = {key: translate_message(problem) for key, problem in problems.items()}
    return _render_login(reader.load_login(host), values, page_url, trial, errors)


@blueprint.post("/<host>/options")
@host_view(Role.OPERATOR)
def change_option(host: str) -> BaseResponse:
    """Set a header, cookies or the proxy of a host to a value, or remove it. No response has the value."""
    form = request.form
    kind = form["kind"] if form.get("kind") in list(SiteOptionKind) else abort(400)
    if "value" in form:
        return _act(host, "changed", "site_option_set", kind=kind, value=form["value"].strip())
    return _act(host, "changed", "site_option_remove", kind=kind, name=form.get("name", ""))


@blueprint.post("/<host>/<action>")
@host_view(Role.OPERATOR)
def act(host: str, action: str) -> BaseResponse:
    """Leave a host out of the crawl, crawl it again, or make all its fetched pages due."""
    return _act(host, MESSAGE_BY_ACTION.get(action) or abort(404), f"site_{action}")


def _act(host: str, message: str, operation: str, **values: str) -> BaseResponse:
    """Run an operation, and show the settings of the host with the name of the change or the error."""
    try:
        change = run_operation(operation, host=host, **values)
    except SettingsError as error:
        flash(translate_error(error))
    else:
        is_empty = change is not None and change.result == 0  # a count of pages
        flash(translate_code("site_change", "not_fetched" if is_empty else message))
    return redirect(url_for("site_admin.site_settings", host=host), 303)


@blueprint.get("/<host>/remove")
@host_view(Role.OPERATOR)
def confirm_removal(host: str) -> BaseResponse:
    """Say what the removal of a host deletes."""
    contents = current_site().store.site_pages.count(host)
    return render_page(
        "admin_site_remove.html",
        host=host,
        contents=contents,
        megabytes=contents.archived_bytes / BYTES_PER_MEGABYTE,
        option_count=len(_load(host).options),
        has_login=current_site().administration.site_reader.load_login(host).secret_source is SecretSource.FILE,
    )


@blueprint.post("/<host>/remove")
@host_view(Role.OPERATOR)
def remove(host: str) -> BaseResponse:
    """Remove a host with its pages and articles, and show the other sites."""
    try:
        change = run_operation("site_remove", host=host)
    except BusyError:
        flash(translate("A run is crawling. Stop it or wait for its end, then remove the site."))
    except PlumblineError as error:
        flash(translate_error(error))
    else:
        flash(
            translate(
                "{host} is removed, with {articles} articles. The next update of the index takes them out.",
                host=host,
                articles=change.result.article_count if change else 0,
            )
        )
        return redirect(url_for("admin.sites"), 303)
    return redirect(url_for("site_admin.confirm_removal", host=host), 303)
