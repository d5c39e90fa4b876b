"""Edits of terms by reviewers."""

from dataclasses import dataclass
from enum import StrEnum

from docstore.model import TermClass, TermStatus


class ReviewDecisionKind(StrEnum):
    """Kind of a review decision."""

    DECIDE = "decide"
    MERGE = "merge"
    RENAME = "rename"
    CLASSIFY = "class"
    RELATE = "relate"
    SYNONYMS = "synonyms"
    ADD = "add"
    PROPOSE = "propose"
    REVERT = "revert"
    REOPEN = "return"  # by the term miner: a rejected term whose frequency doubled
    UNDO = "undo"


@dataclass(frozen=True)
class TermEdit:
    """An edit of one term. None leaves a field unchanged.

    Attributes:
        seen_version: Version of the term on which the edit is based, for optimistic locking; None skips the check.
        create_if_missing: Create the term if it does not exist.
        keep_existing: Do nothing if the term exists.
    """

    text: str
    status: TermStatus | None = None
    category: TermClass | None = None
    synonyms: tuple[str, ...] | None = None
    broader_terms: tuple[str, ...] | None = None
    dictionary_weight: int | None = None
    dictionary_tag: str | None = None
    seen_version: int | None = None
    create_if_missing: bool = False
    keep_existing: bool = False
