"""Following a search: by feed, by mail without an account (double opt-in), by webhook for signed-in accounts.

Nothing is saved before the follower confirms by the link in a mail. Links are signed, so that they work without an
account; a GET request changes nothing, because mail programs open links by themselves.
"""

from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from flask import Blueprint, Response, current_app, g, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.errors import PlumblineError
from domain.follow import (
    MAX_ADDRESS_CHARS,
    MAX_FOLLOWS,
    MAX_WEBHOOK_CHARS,
    Follow,
    FollowChannel,
    Interval,
    is_mail_address,
)
from search_ui.context import current_account, current_site, error_response, render_page
from search_ui.i18n import translate, translate_error
from search_ui.query.ranking import PROFILES
from search_ui.query.search_request import BadSearchRequestError, SearchRequest, parse_search_request
from search_ui.security import client_network
from search_ui.services.follow import follow_label, followed_query, parse_followed_query
from search_ui.services.follow_links import CONFIRM_DAYS, FollowLinks

blueprint = Blueprint("follow", __name__, url_prefix="/follow")
link_blueprint = Blueprint("follow_links", __name__, url_prefix="/follow")  # its requests are signed


def _links() -> FollowLinks:
    return FollowLinks(cast(bytes, current_app.secret_key))


def _label(query: str) -> str:
    """Return the name of a followed search; its query string if the settings do not allow it any more."""
    settings = current_site().settings
    try:
        return follow_label(parse_followed_query(query, settings), settings)
    except BadSearchRequestError:
        return query


@blueprint.get("")
def show_form() -> Response:
    """Show how the search of the URL can be followed."""
    return _render_form(_followed_query(parse_search_request(request.args, current_site().settings, PROFILES)))


def _followed_query(search_request: SearchRequest) -> str:
    if not search_request.has_criteria():
        raise BadSearchRequestError("follow")
    return followed_query(search_request, current_site().settings)


def _render_form(query: str, problem: str = "", sent_to: str = "", status: int = 200) -> Response:
    values = request.form if request.method == "POST" else {}
    return render_page(
        "follow.html",
        status,
        query=query,
        label=_label(query),
        can_mail=current_site().backend.follows.can_mail(),
        intervals=list(Interval),
        values=values,
        problem=problem,
        sent_to=sent_to,
        confirm_days=CONFIRM_DAYS,
        max_address=MAX_ADDRESS_CHARS,
        max_webhook=MAX_WEBHOOK_CHARS,
    )


@blueprint.post("")
def request_follow() -> BaseResponse:
    """Send a mail with a link that starts the follow, or start the follow of a webhook."""
    follows, language = current_site().backend.follows, g.language
    query = _followed_query(parse_followed_query(request.form.get("query", ""), current_site().settings))
    try:
        interval = Interval(request.form.get("interval", ""))
        channel = FollowChannel(request.form.get("channel", ""))
    except ValueError as error:
        raise BadSearchRequestError("follow") from error
    address = request.form.get("address", "").strip()
    follow = Follow("", channel, address, query, interval, language)
    problem = _find_problem(follow)
    if problem:
        return _render_form(query, problem, status=400)
    if not follows.allow_request(address, client_network()):
        return _render_form(query, translate("Too many requests. Try again in an hour."), status=429)
    try:
        if channel is FollowChannel.MAIL:
            follows.send_mail(address, *_confirmation(follow))
            return _render_form(query, sent_to=address)
        follows.test_webhook(address)
    except PlumblineError as error:
        return _render_form(query, translate_error(error), status=502)
    follows.start(follow)
    return redirect(_links().list_path(address), 303)


def _find_problem(follow: Follow) -> str:
    """Return why a follow cannot be started; "" if it can."""
    follows = current_site().backend.follows
    if follow.channel is FollowChannel.MAIL:
        if not follows.can_mail():
            return translate("This site sends no mail.")
        if not is_mail_address(follow.address):
            return translate("This is not a mail address.")
    elif current_account() is None:
        return translate("Sign in to use a webhook.")
    elif urlsplit(follow.address).scheme not in ("http", "https") or len(follow.address) > MAX_WEBHOOK_CHARS:
        return translate("A webhook has an http or https URL.")
    followed_queries = [other.query for other in follows.list_by_address(follow.address)]
    if len(followed_queries) >= MAX_FOLLOWS and follow.query not in followed_queries:
        return translate("Nobody can follow more than {n} searches.", n=MAX_FOLLOWS)
    return ""


def _confirmation(follow: Follow) -> tuple[str, str]:
    """Return subject and text of the mail that asks for a confirmation.

    It does not contain the query, which anybody can choose: otherwise this site would send everybody's texts.
    """
    settings = current_site().settings
    lines = [
        translate("Somebody, probably you, wants to follow a search of {site} with this address.", site=settings.title),
        translate("Open this link to see the search and to confirm:"),
        settings.site_url + _links().confirm_path(follow),
        translate("Otherwise do nothing: nothing is saved, and you get no further mail."),
    ]
    return translate("{site}: confirm that you follow a search", site=settings.title), "\n\n".join(lines) + "\n"


@link_blueprint.get("/confirm")
def confirm() -> Response:
    """Show the search of a confirmation link, with a button that starts the follow."""
    follow = _links().read_confirm_key(request.args.get("key", ""))
    if follow is None:
        return _invalid_link()
    return render_page("follow_confirm.html", follow=follow, label=_label(follow.query), key=request.args["key"])


@link_blueprint.post("/confirm")
def start() -> BaseResponse:
    """Start the follow of a confirmation link. A second confirmation changes nothing."""
    follow = _links().read_confirm_key(request.form.get("key", ""))
    if follow is None:
        return _invalid_link()
    if problem := _find_problem(follow):
        return error_response(400, problem)
    current_site().backend.follows.start(follow)
    return redirect(_links().list_path(follow.address), 303)


@dataclass(frozen=True)
class FollowLine:
    """A follow in the list of its address, with the name of its search and the URL of its results."""

    follow: Follow
    label: str
    url: str


def _invalid_link() -> Response:
    return error_response(400, translate("This link is not valid or out of date. Follow the search again."))


@link_blueprint.get("/list")
def list_follows() -> Response:
    """Show all follows of the address of a link."""
    key = request.args.get("key", "")
    address = _links().read_list_key(key)
    if address is None:
        return _invalid_link()
    follows = current_site().backend.follows.list_by_address(address)
    lines = [
        FollowLine(follow, _label(follow.query), f"{url_for('public.search')}?{follow.query}") for follow in follows
    ]
    return render_page("follow_list.html", lines=lines, address=address, key=key)


@link_blueprint.get("/stop")
def ask_stop() -> Response:
    """Show the follow of a link, with a button that ends it."""
    key, follow_id = request.args.get("key", ""), request.args.get("id", "")
    address = _links().read_list_key(key)
    if address is None:
        return _invalid_link()
    follows = current_site().backend.follows.list_by_address(address)
    labels = [_label(follow.query) for follow in follows if follow.follow_id == follow_id]
    return render_page("follow_stop.html", labels=labels, address=address, key=key, follow_id=follow_id)


@link_blueprint.post("/stop")
def stop() -> BaseResponse:
    """End a follow of an address, or all of them (`id` empty). Mail programs send this request too (RFC 8058)."""
    key = request.values.get("key", "")
    address = _links().read_list_key(key)
    if address is None:
        return _invalid_link()
    current_site().backend.follows.stop(address, request.values.get("id", ""))
    return redirect(_links().list_path(address), 303)
