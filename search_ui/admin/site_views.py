"""Changing sites: add, pause, resume, recrawl, settings of one site, remove."""

from collections.abc import Callable, Sequence

from flask import Blueprint, abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.errors import BusyError, PlumblineError, SettingsError
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.interfaces.sites import SiteEdit, SiteOption, SiteOptionKind, SuggestedSite
from search_ui.admin.page_views import MAX_URL_CHARS
from search_ui.context import current_site, render_page
from search_ui.i18n import translate, translate_code, translate_error
from search_ui.review.term_display import current_account_name

blueprint = Blueprint("site_admin", __name__, url_prefix="/admin/sites")
blueprint.after_request(add_no_store_headers)

MAX_SUGGESTIONS = 20
MAX_VALUE_CHARS = 4000  # of a header, cookies or a proxy
MAX_LINES = 200  # of a list in a form
BYTES_PER_MEGABYTE = 1_000_000


@blueprint.get("/add")
@require_role(Role.REPORTS)
def suggested_sites() -> BaseResponse:
    """Show the form for a new site, and the hosts that saved pages link to."""
    suggestions: Sequence[SuggestedSite] = ()
    try:
        suggestions = current_site().backend.site_service.suggestions(MAX_SUGGESTIONS)
    except SettingsError as error:
        flash(translate_error(error))
    return render_page("admin_site_add.html", suggestions=suggestions, url=request.args.get("url", "")[:MAX_URL_CHARS])


@blueprint.post("/add")
@require_role(Role.OPERATOR)
def add_site() -> BaseResponse:
    """Add a site and show its settings."""
    url = request.form.get("url", "").strip()[:MAX_URL_CHARS]
    try:
        host = current_site().backend.site_service.add(url, current_account_name())
    except SettingsError as error:
        flash(translate_error(error))
        return redirect(url_for("site_admin.suggested_sites", url=url), 303)
    flash(translate("{host} is crawled again in the next run.", host=host))
    return redirect(url_for("site_admin.site_settings", host=host), 303)


@blueprint.get("/<host>/settings")
@require_role(Role.REPORTS)
def site_settings(host: str) -> BaseResponse:
    """Show what the settings file says about a host."""
    service = current_site().backend.site_service
    is_known = service.count_contents(host).url_count > 0
    return render_page("admin_site_settings.html", site=service.load(host), is_known=is_known, kinds=SiteOptionKind)


@blueprint.post("/<host>/settings")
@require_role(Role.OPERATOR)
def change_settings(host: str) -> BaseResponse:
    """Change the settings of a host."""
    form = request.form
    name, delay = form.get("name", "").strip()[:100], form.get("delay", "").strip()[:20]
    quiet_hours = form.get("quiet_hours", "").strip()[:MAX_VALUE_CHARS]
    scopes, seeds = split_lines(form.get("scopes", "")), split_lines(form.get("seeds", ""))
    edit = SiteEdit(name, delay, scopes, seeds, quiet_hours)
    return _act(host, lambda: current_site().backend.site_service.change(host, edit, current_account_name()), "changed")


@blueprint.post("/<host>/options")
@require_role(Role.OPERATOR)
def set_option(host: str) -> BaseResponse:
    """Set a header, cookies or the proxy of a host. No response contains the value."""
    kind, value = _requested_kind(), request.form.get("value", "").strip()[:MAX_VALUE_CHARS]
    service = current_site().backend.site_service
    return _act(host, lambda: service.set_option(host, kind, value, current_account_name()), "changed")


@blueprint.post("/<host>/options/remove")
@require_role(Role.OPERATOR)
def remove_option(host: str) -> BaseResponse:
    """Remove a header, cookies or a proxy of a host."""
    option = SiteOption(_requested_kind(), request.form.get("name", "")[:MAX_VALUE_CHARS])
    service = current_site().backend.site_service
    return _act(host, lambda: service.remove_option(host, option, current_account_name()), "changed")


def _requested_kind() -> SiteOptionKind:
    """Return the kind of option in the form; answers 400 if there is none."""
    text = request.form.get("kind", "")
    return SiteOptionKind(text) if text in list(SiteOptionKind) else abort(400)


@blueprint.post("/<host>/pause")
@require_role(Role.OPERATOR)
def pause(host: str) -> BaseResponse:
    """Leave a host out of the crawl."""
    return _act(host, lambda: current_site().backend.site_service.pause(host, current_account_name()), "paused")


@blueprint.post("/<host>/resume")
@require_role(Role.OPERATOR)
def resume(host: str) -> BaseResponse:
    """Crawl a paused host again."""
    return _act(host, lambda: current_site().backend.site_service.resume(host, current_account_name()), "resumed")


@blueprint.post("/<host>/recrawl")
@require_role(Role.OPERATOR)
def recrawl(host: str) -> BaseResponse:
    """Make all fetched pages of a host due."""
    return _act(host, lambda: current_site().backend.site_service.recrawl(host, current_account_name()), "requeued")


def _act(host: str, change: Callable[[], object], message: str) -> BaseResponse:
    """Apply a change, and show the settings of the host with the message `site.MESSAGE` or the error."""
    try:
        change()
    except SettingsError as error:
        flash(translate_error(error))
    else:
        flash(translate_code("site_change", message))
    return redirect(url_for("site_admin.site_settings", host=host), 303)


@blueprint.get("/<host>/remove")
@require_role(Role.OPERATOR)
def confirm_removal(host: str) -> BaseResponse:
    """Say what the removal of a host deletes."""
    service = current_site().backend.site_service
    contents = service.count_contents(host)
    return render_page(
        "admin_site_remove.html",
        host=host,
        contents=contents,
        megabytes=contents.archived_bytes / BYTES_PER_MEGABYTE,
        option_count=len(service.load(host).options),
    )


@blueprint.post("/<host>/remove")
@require_role(Role.OPERATOR)
def remove(host: str) -> BaseResponse:
    """Remove a host with its pages and articles, and show the other sites."""
    try:
        contents = current_site().backend.site_service.remove(host, current_account_name())
    except BusyError:
        flash(translate("A run is crawling. Stop it or wait for its end, then remove the site."))
    except PlumblineError as error:
        flash(translate_error(error))
    else:
        flash(
            translate(
                "{host} is removed, with {articles} articles. They leave the results within seconds.",
                host=host,
                articles=contents.article_count,
            )
        )
        return redirect(url_for("admin.sites"), 303)
    return redirect(url_for("site_admin.confirm_removal", host=host), 303)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text field without blank ones, at most MAX_LINES."""
    return [line.strip()[:MAX_URL_CHARS] for line in text.splitlines() if line.strip()][:MAX_LINES]
