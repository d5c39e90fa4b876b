"""The review list: decisions on terms, with keyboard shortcuts and undo.

Every form works without JavaScript. `static/review.js` adds shortcuts and updates in place, with the same URLs.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from flask import Blueprint, abort, flash, jsonify, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from docstore.terms.review import TermReview
from domain.account import Role
from domain.errors import ConcurrentEditError, LexiconError, SolrError
from domain.operation import MAX_LIST_LENGTH, Field
from domain.review import CandidateKind, Order, ReviewDecision, ReviewDecisionKind, TermEdit
from domain.term import ConceptTerm, ConceptTermStatus, TermClass, TermStatus, split_terms
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.operation_views import read_text, read_texts
from search_ui.context import current_services, current_site, remember_choice, render_page, wants_json
from search_ui.i18n import translate, translate_code, translate_error
from search_ui.list_pages import load_page, parse_number
from search_ui.query.display_text import clean_text
from search_ui.review import lexicon_views as review_pages
from search_ui.review import relation_views as review_relations
from search_ui.review import team_views as review_team
from search_ui.review import term_views as review_term
from search_ui.review.listing import (
    ANY_VALUE,
    TERMS_ON_PAGE,
    parse_listing,
    redirect_back,
)
from search_ui.review.term_display import (
    MAX_NOTE_CHARS,
    MAX_TERM_CHARS,
    build_term_row,
    current_account_name,
    expected_version,
    find_terms,
    load_rising_terms,
    term_to_json,
    undo_label,
)
from search_ui.review.usage import count_articles
from text.scripts import LANGUAGE_PATTERNS

blueprint = Blueprint("review", __name__, url_prefix="/admin/lexicon")
blueprint.register_blueprint(review_term.blueprint)
blueprint.register_blueprint(review_pages.blueprint)
blueprint.register_blueprint(review_relations.blueprint)
blueprint.register_blueprint(review_team.blueprint)
blueprint.after_request(add_no_store_headers)

CONCEPT_FIELDS = ("word", "language", "status", "definition", "source", "note")  # in the order of ConceptTerm
MIN_DOCUMENT_CHOICES = (0, 2, 5, 10, 50)
LANGUAGE_COOKIE = "language"  # of the terms that this browser's reviewer decides on; also the URL parameter


@blueprint.get("")
@require_role(Role.REVIEWER)
def review_list() -> BaseResponse:
    """Show terms with their evidence, in the recommended order."""
    site, listing = (
        current_site(),
        parse_listing({"language": request.cookies.get(LANGUAGE_COOKIE, ""), **request.args}, current_account_name()),
    )
    administration = site.administration
    page = load_page(
        lambda offset, limit: site.store.review_queue.find_page(replace(listing.query, offset=offset, limit=limit)),
        str(listing.page_number),
        TERMS_ON_PAGE,
    )
    listing, terms = replace(listing, page_number=page.number), page.items
    related_terms, rise_by_text = administration.review.related_terms(terms), load_rising_terms()
    state = review_state()
    hidden_statuses = () if site.store.review_history.needs_second_reviewer() else (TermStatus.PROVISIONAL,)
    try:
        article_counts = count_articles(current_services().search, [term.text for term in terms])
    except SolrError:
        article_counts = {}
    response = render_page(
        "review_list.html",
        listing=listing,
        arguments=listing.url_params,
        total=page.total,
        article_counts=article_counts,
        last=page.last,
        first_number=(page.number - 1) * TERMS_ON_PAGE + 1,
        rows=[
            build_term_row(term, words, rise_by_text.get(term.text), kind)
            for term, words, kind in zip(
                terms, related_terms, administration.lexicon_tools.candidate_kinds(terms, related_terms), strict=True
            )
        ],
        statuses=list(TermStatus),
        shown_statuses=[status for status in TermStatus if status not in hidden_statuses or state["counts"][status]],
        classes=list(TermClass),
        orders=list(Order),
        languages=[*LANGUAGE_PATTERNS, ANY_VALUE],
        least_documents=MIN_DOCUMENT_CHOICES,
        published=site.backend.applied_lexicon().lexicon,
        lag=site.backend.count_pending_documents(),
        state=state,
        most_at_once=MAX_LIST_LENGTH,
        longest=MAX_TERM_CHARS,
        **review_team.team_values([term.text for term in terms]),
    )
    return remember_choice(response, LANGUAGE_COOKIE, (*LANGUAGE_PATTERNS, ANY_VALUE))


def review_state() -> dict[str, Any]:
    """Return the counts that a decision changes."""
    store = current_site().store
    counts, (added, removed, changed) = store.lexicons.status_counts(), store.review_queue.unpublished_change_counts()
    accepted_count, decided_count = store.review_queue.recent_acceptance()
    status_counts = {status.value: counts.get(status, 0) for status in TermStatus}
    now = time.localtime(current_site().clock())
    midnight = time.mktime((now.tm_year, now.tm_mon, now.tm_mday, 0, 0, 0, 0, 0, -1))
    return {
        "assigned": store.term_assignments.count_candidates(current_account_name()),
        "counts": status_counts,
        "pending": {"added": added, "removed": removed, "changed": changed},
        "last": {"good": accepted_count, "of": decided_count},
        "today": store.review_history.count_decided_terms(current_account_name(), midnight),
    }


@blueprint.get("/kind/<kind>")
@require_role(Role.REVIEWER)
def show_kind(kind: str) -> BaseResponse:
    """List the candidates of a kind, for a decision on all or some of them."""
    if kind not in set(CandidateKind):
        abort(404)
    terms = current_site().administration.lexicon_tools.find_by_kind(CandidateKind(kind), MAX_LIST_LENGTH)
    return render_page("review_kind.html", kind=kind, terms=terms)


@blueprint.post("/decide")
@require_role(Role.REVIEWER)
def decide() -> BaseResponse:
    """Set the status of one term (`term`, `decision`) in the version that the reviewer saw (`seen`)."""
    text, status = request.form.get("term", ""), _requested_status()
    term_edit = TermEdit(text, status, seen_version=expected_version(request.form))
    return apply_and_respond(
        lambda review: review.apply(ReviewDecisionKind.DECIDE, [term_edit], current_account_name()),
        lambda decision: translate_code("review_now", _status_after(decision, status), text=clean_text(text)),
    )


@blueprint.post("/add")
@require_role(Role.REVIEWER)
def add_term() -> BaseResponse:
    """Accept the term `term`, which need not be a candidate."""
    text = request.form.get("term", "").strip()
    edit = TermEdit(text, TermStatus.ACCEPTED, create_if_missing=True)
    return apply_and_respond(
        lambda review: review.apply(ReviewDecisionKind.ADD, [edit], current_account_name()),
        lambda decision: translate_code(
            "review_now", _status_after(decision, TermStatus.ACCEPTED), text=clean_text(text)
        ),
    )


@blueprint.post("/change")
@require_role(Role.REVIEWER)
def change_term() -> BaseResponse:
    """Change one term (`term`, `what`, `value`): class, synonyms or broader terms; merge or rename it."""
    form = request.form
    text, operation_name, value = (form.get(name, "") for name in ("term", "what", "value"))
    version = expected_version(form)
    words = split_terms(value.replace("，", ","), ",")

    def edit(kind: ReviewDecisionKind, **fields: Any) -> Callable[[TermReview], ReviewDecision]:
        term_edit = TermEdit(text, seen_version=version, **fields)
        return lambda review: review.apply(kind, [term_edit], current_account_name())

    operations: dict[str, Callable[[TermReview], ReviewDecision]] = {
        "class": lambda review: edit(ReviewDecisionKind.CLASSIFY, category=_requested_category(value))(review),
        "synonyms": edit(ReviewDecisionKind.SYNONYMS, synonyms=words),
        "broader": edit(ReviewDecisionKind.RELATE, broader_terms=words),
        "merge": lambda review: review.merge(text, value.strip(), current_account_name(), version),
        "rename": lambda review: review.rename(text, value.strip(), current_account_name(), version),
    }
    if operation_name not in operations:
        abort(400)
    return apply_and_respond(operations[operation_name], translate("Saved changes to “{text}”.", text=clean_text(text)))


@blueprint.post("/definition")
@require_role(Role.REVIEWER)
def define_term() -> BaseResponse:
    """Choose the candidate `sentence` as the definition of `term`, "" for none, or `own`, which the reviewer wrote."""
    form = request.form
    text, version = form.get("term", ""), expected_version(form)
    if not {"sentence", "own"} & form.keys():
        abort(400)

    def define(review: TermReview) -> ReviewDecision:
        if "own" in form:
            return review.write_definition(text, form["own"], current_account_name(), version)
        return review.choose_definition(text, form["sentence"], current_account_name(), version)

    return apply_and_respond(define, translate("Saved changes to “{text}”.", text=clean_text(text)))


@blueprint.post("/concept")
@require_role(Role.REVIEWER)
def edit_concept() -> BaseResponse:
    """Replace the terms of the concept of `term`. Each term has one value of each field; empty terms are removed."""
    form = request.form
    text, version = form.get("term", ""), expected_version(form)
    columns = [form.getlist(name) for name in CONCEPT_FIELDS]
    if len({len(column) for column in columns}) != 1 or not set(columns[2]) <= set(ConceptTermStatus):
        abort(400)
    terms = [
        ConceptTerm(word, language, ConceptTermStatus(status), *texts)
        for word, language, status, *texts in zip(*columns, strict=True)
        if word.strip()
    ]
    return apply_and_respond(
        lambda _: current_site().administration.lexicon_tools.edit_concept(
            text, terms, current_account_name(), version
        ),
        translate("Saved changes to “{text}”.", text=clean_text(text)),
    )


@blueprint.post("/undo")
@require_role(Role.REVIEWER)
def undo_decision() -> BaseResponse:
    """Undo the action `act`, else the last action of this account.

    An action on more than one term is shown with its account and its extent, and undone if the form says `confirmed`.
    The list of terms names the action (`act`) that its reader has just done.
    """
    act_id, account = parse_number(request.form.get("act", "")) or None, current_account_name()
    history = current_site().store.review_history
    try:
        decision = history.find_undoable(account, act_id)
    except LexiconError as error:
        return _rejected_response(error)
    is_confirmed = "confirmed" in request.form or (wants_json() and act_id is not None and decision.by == account)
    if len(decision.changes) > 1 and not is_confirmed:
        if wants_json():
            response = jsonify(error={"status": 409, "message": undo_label(decision), "confirm": True})
            response.status_code = 409
            return response
        return render_page("review_undo.html", act=decision, language_page=url_for("review.pages.history"))
    return apply_and_respond(lambda _: history.undo(account, decision.act_id), translate("Undone."))


def _status_after(decision: ReviewDecision, status: TermStatus) -> str:
    """Return the status of the terms after a decision, which can differ from the requested `status`."""
    states = (change.after for change in decision.changes)
    return next((str(state["status"]) for state in states if state is not None), status.value)


def apply_and_respond(
    operation: Callable[[TermReview], ReviewDecision], message: str | Callable[[ReviewDecision], str]
) -> BaseResponse:
    """Perform a change and return the changed terms as JSON, or redirect to the page."""
    try:
        decision = operation(current_site().administration.review)
    except LexiconError as error:
        return _rejected_response(error)
    message = message if isinstance(message, str) else message(decision)
    if not wants_json():
        flash(message)
        return redirect_back()
    texts = [change.text for change in decision.changes]
    term_by_text = find_terms(texts)
    changed = [term_to_json(text, term_by_text.get(text)) for text in texts]
    return jsonify(act=decision.act_id, message=message, terms=changed, **review_state())


@blueprint.post("/bulk")
@require_role(Role.REVIEWER)
def decide_bulk() -> BaseResponse:
    """Set the status of several terms: `term`, `selected` (version and text), a `kind`, or the `top` ones by score.

    They are one action if possible. As JSON, it is one action or none.
    """
    status, review = _requested_status(), current_site().administration.review
    edits = _bulk_edits(status)
    if wants_json():
        return apply_and_respond(
            lambda review: review.apply(ReviewDecisionKind.DECIDE, edits, current_account_name()),
            lambda decision: _bulk_message(decision, status),
        )
    try:
        flash(_bulk_message(review.apply(ReviewDecisionKind.DECIDE, edits, current_account_name()), status))
    except LexiconError:
        for result, count in Counter(_decide_singly(review, edits)).items():
            flash(translate_code("review_bulk", result, n=count))
    return redirect_back()


def _bulk_message(decision: ReviewDecision, status: TermStatus) -> str:
    """Return what happened to the terms of a decision, which can differ from the requested `status`."""
    counts = Counter(change.after["status"] for change in decision.changes if change.after is not None)
    return " ".join(translate_code("review_bulk", name, n=n) for name, n in (counts or {status.value: 0}).items())


def _decide_singly(review: TermReview, edits: Sequence[TermEdit]) -> Iterator[str]:
    """Apply each edit as a decision of its own. Yields the status of each term, or the reason why it was rejected."""
    for edit in edits:
        try:
            decision = review.apply(ReviewDecisionKind.DECIDE, [edit], current_account_name())
            yield _status_after(decision, edit.status or TermStatus.CANDIDATE)
        except ConcurrentEditError:
            yield "changed"
        except LexiconError:
            yield "refused"


def _bulk_edits(status: TermStatus) -> list[TermEdit]:
    limit_text = request.form.get("top", "")
    if "selection" in request.form:
        pairs = [value.partition(" ")[::2] for value in read_texts(Field("selected"))]
        return [TermEdit(text, status, seen_version=parse_number(version)) for version, text in pairs]
    if (kind := request.form.get("kind", "")) in set(CandidateKind):
        terms = current_site().administration.lexicon_tools.find_by_kind(CandidateKind(kind), MAX_LIST_LENGTH)
        return [TermEdit(term.text, status, seen_version=term.version) for term in terms]
    if not limit_text:
        texts = read_texts(Field("term"))
        versions: list[int | None] = [parse_number(version) for version in request.form.getlist("seen")]
        if len(versions) not in (0, len(texts)):
            abort(400)
        versions = versions or [None] * len(texts)
        return [TermEdit(text, status, seen_version=version) for text, version in zip(texts, versions, strict=True)]
    if not parse_number(limit_text):
        abort(400)
    form = {**request.form, "status": TermStatus.CANDIDATE, "page": "1"}
    query = parse_listing(form, current_account_name()).query
    query = replace(query, order=Order.SCORE, limit=min(int(limit_text), MAX_LIST_LENGTH))
    terms = current_site().store.review_queue.find_page(query)[1]
    return [TermEdit(term.text, status, seen_version=term.version) for term in terms]


@blueprint.post("/publish")
@require_role(Role.REVIEWER)
def publish() -> BaseResponse:
    """Publish the accepted terms as a new version with a `note`. Documents with a changed term are reindexed."""
    note, is_confirmed = read_text(Field("note", MAX_NOTE_CHARS)), "confirmed" in request.form
    try:
        new_version = current_site().administration.lexicon_tools.publish(current_account_name(), note, is_confirmed)
    except LexiconError as error:
        return _rejected_response(error)
    flash(
        translate(
            "Published version {version} with {n} term. Affected documents are being reindexed.",
            "Published version {version} with {n} terms. Affected documents are being reindexed.",
            version=new_version.version,
            n=len(new_version.entries),
        )
    )
    return redirect_back()


def _requested_status() -> TermStatus:
    decision = request.form.get("decision", "")
    if decision not in set(TermStatus) - {TermStatus.MERGED, TermStatus.PROVISIONAL}:
        abort(400)
    return TermStatus(decision)


def _requested_category(value: str) -> TermClass:
    if value not in set(TermClass):
        abort(400)
    return TermClass(value)


def _rejected_response(error: LexiconError) -> BaseResponse:
    if isinstance(error, ConcurrentEditError):
        status = translate_code("status", error.status) if error.status in set(TermStatus) else translate("Removed")
        message = translate(
            "“{text}” was changed by {by} in the meantime. Status: {status}. Check it and decide again.",
            text=clean_text(error.text),
            by=error.changed_by or translate("System"),
            status=status,
        )
    else:
        message = translate_error(error)
    if wants_json():
        text = error.text if isinstance(error, ConcurrentEditError) else request.form.get("term", "")
        terms_json = [term_to_json(text, term) for term in find_terms([text]).values()]
        response = jsonify(error={"status": 409, "message": message}, terms=terms_json)
        response.status_code = 409
        return response
    flash(message)
    return redirect_back()
