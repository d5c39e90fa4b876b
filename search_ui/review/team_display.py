"""Comments and reviewers of terms as the review pages show them."""

from collections.abc import Sequence
from typing import Any

from domain.review import MAX_COMMENT_CHARS
from search_ui.admin.views import format_timestamp
from search_ui.context import current_site


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
