"""Team work in the review: comments on terms, and terms that are assigned to reviewers."""

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, abort, flash, jsonify, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.errors import LexiconError
from domain.operation import Field
from domain.review import MAX_COMMENT_CHARS
from search_ui.accounts import require_role
from search_ui.admin.operation_views import read_texts, run_operation
from search_ui.admin.views import format_timestamp
from search_ui.context import current_site, wants_json
from search_ui.i18n import translate, translate_code, translate_error
from search_ui.list_pages import parse_number
from search_ui.review.listing import redirect_back
from search_ui.review.term_display import MAX_TERM_CHARS, current_account_name

blueprint = Blueprint("team", __name__)


@blueprint.post("/comment")
@require_role(Role.REVIEWER)
def add_comment() -> BaseResponse:
    """Comment on the term `term` with the text `comment`."""
    comment = request.form.get("comment", "")[: 10 * MAX_COMMENT_CHARS]
    return _change_comments("term_comment", term=_requested_term(), comment=comment)


@blueprint.post("/comment/remove")
@require_role(Role.REVIEWER)
def remove_comment() -> BaseResponse:
    """Delete the comment `comment_id` on the term `term`, if this account wrote it."""
    return _change_comments("term_comment_remove", comment_id=parse_number(request.form.get("comment_id", "")))


def team_values(texts: Sequence[str]) -> dict[str, Any]:
    """Return the comments and reviewers of terms, for the templates."""
    administration = current_site().administration
    return {
        "comments_by_term": administration.store.term_comments.find(texts),
        "reviewers_by_term": administration.store.term_assignments.find(texts),
        "reviewers": administration.review.reviewers(),
        "max_comment_chars": MAX_COMMENT_CHARS,
        "moment": format_timestamp,
    }


def _requested_term() -> str:
    return request.form.get("term", "")[:MAX_TERM_CHARS]


def _change_comments(operation: str, **values: object) -> BaseResponse:
    """Change the comments on a term and return them as HTML in JSON, or redirect to the page of the form."""
    try:
        run_operation(operation, **values)
    except LexiconError as error:
        if not wants_json():
            flash(translate_error(error))
            return redirect_back()
        response = jsonify(error={"status": 409, "message": translate_error(error)})
        response.status_code = 409
        return response
    if not wants_json():
        return redirect_back()
    term = _requested_term()
    team = team_values([term])
    comments = team["comments_by_term"].get(term, ())
    return jsonify(html=render_template("_term_comments.html", term_text=term, comments=comments, **team))


@blueprint.post("/assign")
@require_role(Role.REVIEWER)
def assign_terms() -> BaseResponse:
    """Assign the terms `selected` (version and text) to the account `reviewer`; "" for nobody."""
    if "reviewer" not in request.form:
        abort(400)
    selected = read_texts(Field("selected"))
    texts, reviewer = [value.partition(" ")[2] for value in selected], request.form["reviewer"]
    if not texts:
        flash(translate("Select terms first."))
        return redirect_back()
    try:
        current_site().administration.review.assign(texts, reviewer, current_account_name())
    except LexiconError as error:
        flash(translate_error(error))
    else:
        flash(translate_code("review_now", "assigned" if reviewer else "unassigned", n=len(texts), name=reviewer))
    return redirect_back()
