"""The interface between the review pages and the team work of reviewers. `pipeline` provides the implementation."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from domain.review import TermComment


class ReviewTeam(Protocol):
    """Comments on terms, and terms that are assigned to reviewers. `actor` is an account name."""

    def reviewers(self) -> Sequence[str]:
        """Return the accounts to which terms can be assigned."""

    def assigned_reviewers(self, texts: Sequence[str]) -> Mapping[str, str]:
        """Return the reviewer of each of `texts` that is assigned."""

    def count_assigned(self, account: str) -> int:
        """Return the number of candidates that are assigned to an account."""

    def assign(self, texts: Sequence[str], reviewer: str, actor: str) -> None:
        """Assign terms to a reviewer; "" for nobody. Raises LexiconError if a term or the reviewer is unknown."""

    def comments(self, texts: Sequence[str]) -> Mapping[str, Sequence[TermComment]]:
        """Return the comments on each of `texts` that has some, oldest first."""

    def add_comment(self, term: str, text: str, actor: str) -> None:
        """Comment on a term. Raises LexiconError if the text is empty or too long, or the term is unknown."""

    def remove_comment(self, comment_id: int, actor: str) -> bool:
        """Delete a comment that `actor` wrote. Returns False if there is none with this id."""
