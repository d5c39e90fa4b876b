"""Comments and assignments of reviewers on the store: implements `search_ui.review.team_interfaces.ReviewTeam`."""

from collections.abc import Mapping, Sequence

from docstore.store import Store
from domain.account import Role
from domain.errors import LexiconError
from domain.review import TermComment


class StoreReviewTeam:
    """The team work of reviewers on one store; the methods are documented in `ReviewTeam`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def reviewers(self) -> Sequence[str]:
        """See `ReviewTeam`, also for the methods below."""
        return [account.name for account in self._store.accounts.list_accounts() if account.has_role(Role.REVIEWER)]

    def assigned_reviewers(self, texts: Sequence[str]) -> Mapping[str, str]:
        return self._store.term_assignments.find(texts)

    def count_assigned(self, account: str) -> int:
        return self._store.term_assignments.count_candidates(account)

    def assign(self, texts: Sequence[str], reviewer: str, actor: str) -> None:
        if reviewer and reviewer not in self.reviewers():
            raise LexiconError("No reviewer has the name “{name}”.", name=reviewer[:64])
        self._store.term_assignments.assign(texts, reviewer, actor)

    def comments(self, texts: Sequence[str]) -> Mapping[str, Sequence[TermComment]]:
        return self._store.term_comments.find(texts)

    def add_comment(self, term: str, text: str, actor: str) -> None:
        self._store.term_comments.add(term, actor, text)

    def remove_comment(self, comment_id: int, actor: str) -> bool:
        return self._store.term_comments.remove(comment_id, actor, author=actor) is not None
