"""The page of proposed relations between terms: accept or reject each with one key, and undo."""

from typing import Any

from flask import Blueprint, abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.article import document_id
from domain.errors import ConcurrentEditError, LexiconError
from domain.review import ReviewDecision
from domain.term_relation import ProposalState, RelationKind
from search_ui.accounts import require_role
from search_ui.context import current_site, render_page
from search_ui.i18n import translate, translate_code, translate_error
from search_ui.review.name_usage import fetch_renaming_usage
from search_ui.review.term_display import MAX_TERM_CHARS, current_account_name

blueprint = Blueprint("relations", __name__)

MAX_PROPOSALS = 20
MAX_DECIDED = 200  # of accepted, and of rejected relations


@blueprint.get("/relations")
@require_role(Role.REVIEWER)
def show_relations() -> BaseResponse:
    """Show the best proposals, and the form that undoes the last decision.

    The URL names the decision (`act`), or the proposal (`kind`, `term` and `other`) if it was not an edit of a term.
    `pattern` in the URL shows the proposals of one pattern, also if it is paused.
    """
    relations, pattern = current_site().store.relations, request.args.get("pattern", "")[:MAX_TERM_CHARS]
    total, proposals = relations.list_open(MAX_PROPOSALS, pattern)
    return render_page(
        "review_relations.html",
        total=total,
        proposals=proposals,
        pattern=pattern,
        paused=relations.paused_patterns(),
        usage_by_renaming=fetch_renaming_usage(current_site().solr, proposals),
        accepted=relations.list_decided(ProposalState.ACCEPTED, MAX_DECIDED),
        rejected=relations.list_decided(ProposalState.REJECTED, MAX_DECIDED),
        document_id=document_id,
        last_act=request.args.get("act", type=int),
        last_proposal={name: request.args.get(name, "")[:MAX_TERM_CHARS] for name in ("kind", "term", "other")},
        position=request.args.get("position", 0, type=int),
    )


@blueprint.post("/relations/decide")
@require_role(Role.REVIEWER)
def decide_relation() -> BaseResponse:
    """Accept, reject or reopen (`decision`) the proposal to relate `term` to `other` (`kind`)."""
    form, review = request.form, current_site().administration.review
    text, other = (form.get(name, "") for name in ("term", "other"))
    decision, kind_name = form.get("decision", ""), form.get("kind", "")
    if kind_name not in set(RelationKind) or decision not in set(ProposalState):
        abort(400)
    kind, url_params = RelationKind(kind_name), dict[str, Any](position=form.get("position", 0, type=int))
    if pattern := form.get("pattern"):
        url_params["pattern"] = pattern
    try:
        review_decision: ReviewDecision | None = None
        if decision == ProposalState.ACCEPTED:
            review_decision = review.accept_relation(kind, text, other, current_account_name())
        else:
            review.set_relation_state(kind, text, other, ProposalState(decision), current_account_name())
        if review_decision is not None:
            url_params["act"] = review_decision.act_id
        elif decision != ProposalState.PROPOSED:
            url_params.update(kind=kind.value, term=text, other=other)
        flash(translate_code("review_relation", decision, text=text, other=other))
    except ConcurrentEditError:
        flash(translate("Another reviewer has just changed {text}. Look at it again.", text=text))
    except LexiconError as error:
        flash(translate_error(error))
    return redirect(url_for("review.relations.show_relations", **url_params), 303)
