"""The reviewer's pages: judge candidate words, publish a lexicon.

Every form works without JavaScript; `static/review.js` adds keys and answers in place, by the same addresses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, abort, flash, jsonify, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from docstore.accounts import Role
from docstore.errors import LexiconError
from docstore.model import Term, TermStatus
from search_ui.accounts import never_stored, requires
from search_ui.messages import say
from search_ui.site import current_site, page, wants_json
from search_ui.texts import Segments, mark_all, shortened, shown

pages = Blueprint("review", __name__, url_prefix="/admin")

TERMS_ON_PAGE = 20
MOST_AT_ONCE = 500
LONGEST_TERM = 200  # characters; no term of a lexicon comes near
CONTEXT_LENGTH = 120  # characters
ANY_STATUS = "all"

pages.after_request(never_stored)


@dataclass(frozen=True)
class _Listing:
    """Which terms are on the page: `status` None for all, those that hold `text`, `number` counted from 1."""

    status: TermStatus | None
    text: str
    number: int


def _listing(values: Mapping[str, str]) -> _Listing:
    status, number = values.get("status", TermStatus.CANDIDATE), values.get("page", "1")
    return _Listing(
        status=TermStatus(status) if status in set(TermStatus) else None,
        text=values.get("text", "")[:LONGEST_TERM],
        number=max(1, int(number)) if number.isascii() and number.isdigit() and len(number) < 7 else 1,
    )


@pages.get("/lexicon")
@requires(Role.REVIEWER)
def lexicon() -> BaseResponse:
    """Terms with their evidence, best first."""
    site, listing = current_site(), _listing(request.args)
    offset = (listing.number - 1) * TERMS_ON_PAGE
    total, terms = site.actions.terms(listing.status, listing.text, offset, TERMS_ON_PAGE)
    return page(
        "lexicon.html",
        listing=listing,
        total=total,
        last=max(1, -(-total // TERMS_ON_PAGE)),
        first_number=offset + 1,
        terms=[(term, _contexts(term)) for term in terms],
        statuses=list(TermStatus),
        published=site.actions.lexicon(),
        lag=site.actions.index_lag(),
        state=_state(),
        most_at_once=MOST_AT_ONCE,
    )


def _contexts(term: Term) -> list[Segments]:
    return [shortened(mark_all(context, term.text), CONTEXT_LENGTH) for context in term.contexts]


def _state() -> dict[str, Any]:
    """The counts that a decision changes."""
    actions = current_site().actions
    counts, (added, removed) = actions.term_counts(), actions.pending_publication()
    return {
        "counts": {status.value: counts.get(status, 0) for status in TermStatus},
        "pending": {"added": added, "removed": removed},
    }


@pages.post("/lexicon/decide")
@requires(Role.REVIEWER)
def decide() -> BaseResponse:
    """Set the status of one term (`term`, `decision`)."""
    text, status = request.form.get("term", ""), _decision()
    try:
        current_site().actions.decide(text, status)
    except LexiconError as error:
        return _refused(error)
    if wants_json():
        return jsonify(text=text, status=status, **_state())
    flash(say(f"review.now_{status.value}", text=shown(text)))
    return _back()


@pages.post("/lexicon/bulk")
@requires(Role.REVIEWER)
def bulk() -> BaseResponse:
    """Set the status of several terms: those named by `term`, or the `top` best candidates."""
    status = _decision()
    done, refused = 0, 0
    for text in _bulk_terms():
        try:
            current_site().actions.decide(text, status)
            done += 1
        except LexiconError:
            refused += 1
    flash(say(f"review.bulk_{status.value}", n=done))
    if refused:
        flash(say("review.bulk_refused", n=refused))
    return _back()


def _bulk_terms() -> list[str]:
    top = request.form.get("top", "")
    if not top:
        return request.form.getlist("term")[:MOST_AT_ONCE]
    if not (top.isascii() and top.isdigit() and len(top) < 7):
        abort(400)
    text = _listing(request.form).text
    limit = min(int(top), MOST_AT_ONCE)
    return [term.text for term in current_site().actions.terms(TermStatus.CANDIDATE, text, 0, limit)[1]]


@pages.post("/lexicon/publish")
@requires(Role.REVIEWER)
def publish() -> BaseResponse:
    """Make the accepted terms the lexicon; documents that hold a changed term are indexed again."""
    try:
        made = current_site().actions.publish()
    except LexiconError as error:
        return _refused(error)
    flash(say("review.published", version=made.version, words=len(made.entries)))
    return _back()


def _decision() -> TermStatus:
    decision = request.form.get("decision", "")
    if decision not in set(TermStatus):
        abort(400)
    return TermStatus(decision)


def _refused(error: LexiconError) -> BaseResponse:
    if wants_json():
        response = jsonify(error={"status": 409, "message": str(error)})
        response.status_code = 409
        return response
    flash(str(error))
    return _back()


def _back() -> BaseResponse:
    listing = _listing(request.form)
    status = str(listing.status or ANY_STATUS)
    return redirect(url_for("review.lexicon", status=status, text=listing.text, page=listing.number), 303)
