"""The steps of the setup: account, sites, sample pages, details, start."""

import re
import threading
import time
from dataclasses import dataclass
from typing import cast

from flask import Blueprint, Response, abort, current_app, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.errors import AccountError, PlumblineError
from domain.site_check import CheckState
from search_ui.accounts import start_session
from search_ui.context import render_page
from search_ui.i18n import translate, translate_code, translate_error
from search_ui.pages.originals import FRAME_HEADERS
from search_ui.passwords import MIN_PASSWORD_CHARS, check_password_length, hash_password
from search_ui.security import cookie_name
from search_ui.setup.access import COOKIE
from search_ui.setup.interfaces import SetupBackend, SetupState

blueprint = Blueprint("setup", __name__, url_prefix="/setup")

EXTENSION_KEY = "plumbline_setup"
STEPS = ("account", "sites", "samples", "details", "start")
REFRESH_SECONDS = 2
MAX_SITES = 50
MAX_TITLE_CHARS = 60
MAX_CONTACT_CHARS = 200
HANDOVER_SECONDS = 1  # until the browser requests the first page of the search site
FIRST_PAGE = "/admin/run"  # of the search site, after the setup
_TIME_RE = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


@dataclass(frozen=True)
class SetupContext:
    """The parts of the application: the backend, and an event that is set at the end."""

    backend: SetupBackend
    finished: threading.Event


def current_context() -> SetupContext:
    """Return the parts of the application of the current request."""
    return cast(SetupContext, current_app.extensions[EXTENSION_KEY])


def _backend() -> SetupBackend:
    return current_context().backend


def first_open_step(state: SetupState) -> str:
    """Return the first of `STEPS` that is not complete."""
    if not state.account_name:
        return "account"
    if not state.usable_sites or state.is_checking:
        return "sites"
    if state.samples_state is not CheckState.DONE or not all(sample.answer for sample in state.samples):
        return "samples"
    return "start" if state.are_details_complete else "details"


def _render_step(step: str, status: int = 200, **values: object) -> Response:
    """Render the page of a step with the current state."""
    state = _backend().state()
    open_step = first_open_step(state)
    return render_page(
        f"setup_{step}.html",
        status,
        state=state,
        step=step,
        steps=STEPS,
        reachable_steps=STEPS[: STEPS.index(open_step) + 1],
        refresh_seconds=REFRESH_SECONDS,
        **values,
    )


def _redirect_to(step: str) -> BaseResponse:
    return redirect(url_for(f"setup.{step}"), 303)


@blueprint.get("")
def show_open_step() -> BaseResponse:
    """Continue at the first step that is not complete."""
    return _redirect_to(first_open_step(_backend().state()))


# -- account


@blueprint.get("/account")
def account() -> Response:
    """Show the form of the first account."""
    return _render_account()


def _render_account(problem: str = "", name: str = "") -> Response:
    values = {"problem": problem, "name": name, "min_password_chars": MIN_PASSWORD_CHARS}
    return _render_step("account", 400 if problem else 200, **values)


@blueprint.post("/account")
def save_account() -> BaseResponse:
    """Check name and password of the first account, and save them."""
    name, password = request.form.get("name", "").strip(), request.form.get("password", "")
    if not _backend().is_valid_account_name(name):
        return _render_account(
            translate("The name may contain letters, digits and the characters . _ @ - only, at most 64."), name
        )
    try:
        check_password_length(password)
    except AccountError as error:
        return _render_account(translate_error(error), name)
    if password != request.form.get("repeated", ""):
        return _render_account(translate("The two passwords differ. Enter both again."), name)
    _backend().save_account(name, hash_password(password))
    return _redirect_to("sites")


# -- sites


@blueprint.get("/sites", endpoint="sites")
def site_form() -> BaseResponse:
    """Show the form for the URLs, and the checks of the sites."""
    if not _backend().state().account_name:
        return _redirect_to("account")
    return _render_step("sites", text="\n".join(site.url for site in _backend().state().sites), rejected_lines=[])


@blueprint.post("/sites")
def save_sites() -> BaseResponse:
    """Save the URLs and start their checks, or add one with problems nevertheless, or allow its private network."""
    if url := request.form.get("accept"):
        _backend().accept_site(url, "own_network" in request.form)
        return _redirect_to("sites")
    text = request.form.get("urls", "")
    lines = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))[:MAX_SITES]
    rejected_lines = _backend().check_sites(lines) if lines else []
    if rejected_lines or not lines:
        return _render_step("sites", 400, text=text, rejected_lines=rejected_lines, is_empty=not lines)
    return _redirect_to("sites")


# -- sample pages


@blueprint.get("/samples")
def samples() -> BaseResponse:
    """Show sample pages beside their extraction."""
    state = _backend().state()
    if not state.usable_sites:
        return _redirect_to("sites")
    _backend().load_samples()
    return _render_step("samples")


@blueprint.get("/samples/<int:index>")
def sample_frame(index: int) -> Response:
    """Return a sample page without active content, for its frame."""
    state = _backend().state()
    if index >= len(state.samples) or not state.samples[index].html:
        abort(404)
    response = Response(state.samples[index].html, mimetype="text/html")
    response.headers.update(FRAME_HEADERS)
    return response


@blueprint.post("/samples")
def save_answers() -> BaseResponse:
    """Save the answers; continue if each page has one and no page is wrong."""
    state = _backend().state()
    answers = [request.form.get(f"answer-{index}", "") for index in range(len(state.samples))]
    _backend().answer_samples([answer if answer in ("yes", "no") else "" for answer in answers])
    if "no" in answers and "continue" not in request.form:
        return _redirect_to("samples")
    return _redirect_to("details")


# -- contact and hours


@blueprint.get("/details")
def details() -> BaseResponse:
    """Show the form for name, contact and hours."""
    if not _backend().state().usable_sites:
        return _redirect_to("sites")
    return _render_step("details", form=_backend().state(), problem="")


@blueprint.post("/details")
def save_details() -> BaseResponse:
    """Save name, contact and hours."""
    form = {name: request.form.get(name, "").strip() for name in ("title", "contact", "daily_at")}
    form |= {name: request.form.get(name, "").strip() for name in ("quiet_from", "quiet_to")}
    problem = _details_problem(form)
    if problem:
        return _render_step("details", 400, form=form, problem=problem)
    _backend().save_details(**form)
    return _redirect_to("start")


def _details_problem(form: dict[str, str]) -> str:
    """Return what is wrong with the first invalid field, or ""."""
    if not form["title"] or len(form["title"]) > MAX_TITLE_CHARS:
        return translate("Enter a name of at most 60 characters.")
    quiet_hours = (form["quiet_from"], form["quiet_to"]) if form["quiet_from"] or form["quiet_to"] else ()
    if not all(map(_TIME_RE.fullmatch, (form["daily_at"], *quiet_hours))):
        return translate("Enter times as HH:MM, and both times of the quiet hours or none.")
    is_too_long = len(form["contact"]) > MAX_CONTACT_CHARS
    problem = _backend().details_problem(form["contact"], form["daily_at"], "-".join(quiet_hours))
    return translate_code("setup", "contact_invalid" if is_too_long else problem) if is_too_long or problem else ""


# -- start


@blueprint.get("/start")
def start() -> BaseResponse:
    """Show what is written and started."""
    open_step = first_open_step(_backend().state())
    if open_step != "start":
        return _redirect_to(open_step)
    return _render_step("start", problem="", settings_text=_backend().settings_text())


@blueprint.post("/start")
def finish() -> BaseResponse:
    """Write the settings, create the account, start the first run, and sign in at the search site.

    The page stays visible until the search site answers, because its connection waits in the listening socket.
    """
    state = _backend().state()
    if first_open_step(state) != "start":
        return _redirect_to(first_open_step(state))
    try:
        result = _backend().finish()
    except PlumblineError as error:
        return _render_step("start", 500, problem=translate_error(error), settings_text=_backend().settings_text())
    start_session(result.account, time.time())
    target = f"{result.site_url}{FIRST_PAGE}"
    response = _render_step("starting", target=target)
    response.headers["Refresh"] = f"{HANDOVER_SECONDS}; url={target}"
    response.delete_cookie(cookie_name(COOKIE), httponly=True, samesite="Strict")
    current_context().finished.set()
    return response
