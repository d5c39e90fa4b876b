"""The reviewer's list: judge candidate words, one key each, and have every act taken back.

Every form works without JavaScript; `static/review.js` adds keys and answers in place, by the same URLs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, abort, flash, jsonify, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from docstore.errors import ChangedMeanwhileError, LexiconError
from docstore.model import Term, TermClass, TermStatus
from docstore.roles import Role
from docstore.terms.edits import ActKind, TermEdit
from docstore.terms.history import Act
from docstore.terms.queries import Order, TermQuery
from search_ui.accounts import never_stored, requires
from search_ui.messages import say
from search_ui.query.texts import shown
from search_ui.review import pages as review_pages
from search_ui.review import term as review_term
from search_ui.review.actions import ReviewService
from search_ui.review.parts import LONGEST_TERM, reviewer, row_of, seen, term_json
from search_ui.site import current_site, page, wants_json
from text.scripts import LANGUAGES

pages = Blueprint("review", __name__, url_prefix="/admin/lexicon")
pages.register_blueprint(review_term.pages)
pages.register_blueprint(review_pages.pages)
pages.after_request(never_stored)

TERMS_ON_PAGE = 20
MAX_AT_ONCE = 500
ANY = "all"
MIN_DOCUMENTS = (0, 2, 5, 10, 50)
LANGUAGE_COOKIE = "review_language"  # in which language this browser's reviewer works
YEAR = 365 * 24 * 3600


@dataclass(frozen=True)
class Listing:
    """Which terms are on the page, in which order; `number` counts from 1, `language` is one of LANGUAGES or ANY."""

    query: TermQuery
    number: int
    language: str = ANY

    @property
    def arguments(self) -> dict[str, str]:
        """The listing as parameters of a URL, without its page."""
        wanted = self.query
        named = {
            "status": str(wanted.status or ANY),
            "text": wanted.text,
            "language": self.language,
            "category": str(wanted.category or ""),
            "least": str(wanted.least_documents or ""),
            "order": wanted.order.value if wanted.order is not Order.REVIEW else "",
        }
        return {name: value for name, value in named.items() if value or name in ("status", "text")}


def listing(values: Mapping[str, str]) -> Listing:
    """Read a URL or a form; what cannot be is as if it was not said."""
    status, category, order, language = (values.get(name, "") for name in ("status", "category", "order", "language"))
    number, least = (_number(values.get(name, "")) for name in ("page", "least"))
    number = max(1, number)
    wanted_status: TermStatus | None = TermStatus.CANDIDATE
    if status:
        wanted_status = TermStatus(status) if status in set(TermStatus) else None
    return Listing(
        TermQuery(
            status=wanted_status,
            text=values.get("text", "")[:LONGEST_TERM],
            category=TermClass(category) if category and category in set(TermClass) else None,
            least_documents=least,
            pattern=LANGUAGES.get(language, ""),
            order=Order(order) if order in set(Order) else Order.REVIEW,
            offset=(number - 1) * TERMS_ON_PAGE,
            limit=TERMS_ON_PAGE,
        ),
        number,
        language if language in LANGUAGES else ANY,
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


@pages.get("")
@requires(Role.REVIEWER)
def lexicon() -> BaseResponse:
    """Terms with their evidence, those to be reviewed first first."""
    site, wanted = current_site(), listing({"language": request.cookies.get(LANGUAGE_COOKIE, ""), **request.args})
    total, terms = site.actions.review.page(wanted.query)
    near = site.actions.review.surroundings(terms)
    response = page(
        "review_list.html",
        listing=wanted,
        arguments=wanted.arguments,
        total=total,
        last=max(1, -(-total // TERMS_ON_PAGE)),
        first_number=wanted.query.offset + 1,
        rows=[row_of(term, words) for term, words in zip(terms, near, strict=True)],
        statuses=list(TermStatus),
        classes=list(TermClass),
        orders=list(Order),
        languages=[*LANGUAGES, ANY],
        least_documents=MIN_DOCUMENTS,
        published=site.actions.lexicon(),
        lag=site.actions.index_lag(),
        state=state(),
        most_at_once=MAX_AT_ONCE,
    )
    if "language" in request.args:
        response.set_cookie(
            LANGUAGE_COOKIE, wanted.language, max_age=YEAR, samesite="Lax", httponly=True, secure=request.is_secure
        )
    return response


def state() -> dict[str, Any]:
    """The figures that a decision changes."""
    actions = current_site().actions
    counts, (added, removed, changed) = actions.term_counts(), actions.review.pending()
    good, of = actions.review.last_decisions()
    return {
        "counts": {status.value: counts.get(status, 0) for status in TermStatus},
        "pending": {"added": added, "removed": removed, "changed": changed},
        "last": {"good": good, "of": of},
    }


@pages.post("/decide")
@requires(Role.REVIEWER)
def decide() -> BaseResponse:
    """Set the status of one term (`term`, `decision`), as it was seen (`seen`)."""
    text, status = request.form.get("term", ""), _decision()
    edit = TermEdit(text, status, seen=seen(request.form))
    return acted(
        lambda desk: desk.do(ActKind.DECIDE, [edit], reviewer()), say(f"review.now_{status.value}", text=shown(text))
    )


@pages.post("/change")
@requires(Role.REVIEWER)
def change() -> BaseResponse:
    """Change what a term is (`term`, `what`, `value`): its class, synonyms, broader terms; merge or rename it."""
    form = request.form
    text, what, value = (form.get(name, "")[: 10 * LONGEST_TERM] for name in ("term", "what", "value"))
    version = seen(form)
    words = tuple(word.strip() for word in value.replace("，", ",").split(",") if word.strip())
    doings: dict[str, Callable[[ReviewService], Act]] = {
        "class": lambda desk: desk.do(
            ActKind.CLASSIFY, [TermEdit(text, category=_category(value), seen=version)], reviewer()
        ),
        "synonyms": lambda desk: desk.do(ActKind.SYNONYMS, [TermEdit(text, synonyms=words, seen=version)], reviewer()),
        "broader": lambda desk: desk.do(ActKind.RELATE, [TermEdit(text, broader=words, seen=version)], reviewer()),
        "merge": lambda desk: desk.merge(text, value.strip(), reviewer(), version),
        "rename": lambda desk: desk.rename(text, value.strip(), reviewer(), version),
    }
    if what not in doings:
        abort(400)
    return acted(doings[what], say("review.changed", text=shown(text)))


@pages.post("/undo")
@requires(Role.REVIEWER)
def undo() -> BaseResponse:
    """Take an act back: the one named by `act`, else the last one of this account."""
    act_id = _number(request.form.get("act", "")) or None
    return acted(lambda desk: desk.undo(reviewer(), act_id), say("review.undone"))


def acted(do: Callable[[ReviewService], Act], message: str) -> BaseResponse:
    """Do something with the desk, and answer as the reader wants it: with the terms as they are now, or the page."""
    desk = current_site().actions.review
    try:
        act = do(desk)
    except LexiconError as error:
        return _refused(desk, error)
    if not wants_json():
        flash(message)
        return _back()
    texts = [change.text for change in act.changes]
    now = desk.named(texts)
    changed = [term_json(text, now.get(text)) for text in texts]
    return jsonify(act=act.act_id, message=message, terms=changed, **state())


@pages.post("/bulk")
@requires(Role.REVIEWER)
def bulk() -> BaseResponse:
    """Set the status of several terms: those named by `term`, or the `top` first candidates; one act if possible."""
    status, desk = _decision(), current_site().actions.review
    edits = _bulk_edits(status, desk)
    refused = 0
    try:
        desk.do(ActKind.DECIDE, edits, reviewer())
    except LexiconError:
        refused = sum(not _is_done(desk, edit) for edit in edits)
    flash(say(f"review.bulk_{status.value}", n=len(edits) - refused))
    if refused:
        flash(say("review.bulk_refused", n=refused))
    return _back()


def _is_done(desk: ReviewService, edit: TermEdit) -> bool:
    try:
        desk.do(ActKind.DECIDE, [edit], reviewer())
    except LexiconError:
        return False
    return True


def _bulk_edits(status: TermStatus, desk: ReviewService) -> list[TermEdit]:
    top = request.form.get("top", "")
    if not top:
        texts = request.form.getlist("term")[:MAX_AT_ONCE]
        versions: list[int | None] = [_number(one) for one in request.form.getlist("seen")]
        versions = versions or [None] * len(texts)
        return [TermEdit(text, status, seen=one) for text, one in zip(texts, versions, strict=False)]
    if not _number(top):
        abort(400)
    wanted = listing({**request.form, "status": TermStatus.CANDIDATE, "page": "1"}).query
    limit = min(int(top), MAX_AT_ONCE)
    terms: Sequence[Term] = desk.page(TermQuery(**{**vars(wanted), "limit": limit}))[1]
    return [TermEdit(term.text, status, seen=term.version) for term in terms]


@pages.post("/publish")
@requires(Role.REVIEWER)
def publish() -> BaseResponse:
    """Make the accepted terms the lexicon; documents that hold a changed term are indexed again."""
    desk = current_site().actions.review
    try:
        made = desk.publish(reviewer())
    except LexiconError as error:
        return _refused(desk, error)
    flash(say("review.published", version=made.version, words=len(made.entries)))
    return _back()


def _decision() -> TermStatus:
    decision = request.form.get("decision", "")
    if decision not in set(TermStatus) - {TermStatus.MERGED}:
        abort(400)
    return TermStatus(decision)


def _category(value: str) -> TermClass:
    if value not in set(TermClass):
        abort(400)
    return TermClass(value)


def _refused(desk: ReviewService, error: LexiconError) -> BaseResponse:
    if isinstance(error, ChangedMeanwhileError):
        status = say(f"review.{error.status}") if error.status in set(TermStatus) else say("review.gone")
        message = say("review.meanwhile", text=shown(error.text), by=error.by or say("review.miner"), status=status)
    else:
        message = str(error)
    if wants_json():
        text = error.text if isinstance(error, ChangedMeanwhileError) else request.form.get("term", "")
        now = [term_json(text, term) for term in desk.named([text]).values()]
        response = jsonify(error={"status": 409, "message": message}, terms=now)
        response.status_code = 409
        return response
    flash(message)
    return _back()


def _back() -> BaseResponse:
    """To the page that the form stood on: that of a term (`from`), the history, or the list."""
    origin = request.form.get("from", "")
    if origin == "term":
        return redirect(url_for("review.term.show", text=request.form.get("term", "")), 303)
    if origin == "history":
        return redirect(url_for("review.pages.history"), 303)
    wanted = listing(request.form)
    address: dict[str, Any] = {**wanted.arguments, "page": wanted.number}
    return redirect(url_for("review.lexicon", **address), 303)
