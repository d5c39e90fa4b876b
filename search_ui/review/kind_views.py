"""Reject all candidates of a kind at once: names of persons, quantities, fragments."""

from flask import Blueprint, abort
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.review import CandidateKind
from search_ui.accounts import require_role
from search_ui.context import current_site, render_page

blueprint = Blueprint("kinds", __name__)

MAX_TERMS = 500  # of one decision


@blueprint.get("/kind/<kind>")
@require_role(Role.REVIEWER)
def show_kind(kind: str) -> BaseResponse:
    """List the candidates of a kind, for a decision on all or some of them."""
    if kind not in set(CandidateKind):
        abort(404)
    terms = current_site().administration.lexicon_tools.find_by_kind(CandidateKind(kind), MAX_TERMS)
    return render_page("review_kind.html", kind=kind, terms=terms)
