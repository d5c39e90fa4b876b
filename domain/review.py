"""Review of terms: edits, decisions, queries for lists of terms, and statistics."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from domain.errors import LexiconError
from domain.term import AUTOMATIC_ACTOR, ConceptTerm, DefinitionChoice, TermClass, TermStatus
from domain.term_relation import RelatedPair


class ReviewDecisionKind(StrEnum):
    """Kind of a review decision."""

    DECIDE = "decide"
    MERGE = "merge"
    RENAME = "rename"
    CLASSIFY = "class"
    RELATE = "relate"
    DEFINE = "define"
    SYNONYMS = "synonyms"
    CONCEPT = "concept"  # the terms of a concept were edited together
    ADD = "add"
    PROPOSE = "propose"
    REVERT = "revert"
    REOPEN = "return"  # by the term miner: a rejected term whose frequency doubled
    UNDO = "undo"
    # Of earlier versions, in which an edit waited for a second reviewer.
    PROPOSE_EDIT = "propose_edit"
    APPROVE = "approve"
    DECLINE = "decline"
    WITHDRAW = "withdraw"

    @property
    def has_effect(self) -> bool:
        """False if the decision leaves its terms as they are."""
        return self not in (self.PROPOSE_EDIT, self.DECLINE, self.WITHDRAW)


MAX_COMMENT_CHARS = 1000
MAX_NAMED_TERMS = 5  # of a change of several terms


@dataclass(frozen=True)
class TermComment:
    """A comment of the reviewer `account` on a term. `at` is epoch seconds."""

    comment_id: int
    term: str
    account: str
    text: str
    at: float


class CandidateKind(StrEnum):
    """A kind of candidates that are seldom terms of the domain."""

    PERSON = "person"
    QUANTITY = "quantity"
    FRAGMENT = "fragment"  # of a longer candidate or accepted term


@dataclass(frozen=True)
class TermEdit:
    """An edit of one term. None leaves a field unchanged.

    Attributes:
        seen_version: Version of the term on which the edit is based, for optimistic locking; None skips the check.
        create_if_missing: Create the term if it does not exist.
        keep_existing: Do nothing if the term exists.
        related_pairs: Related terms that the edit accepts or rejects.
    """

    text: str
    status: TermStatus | None = None
    category: TermClass | None = None
    synonyms: tuple[str, ...] | None = None
    broader_terms: tuple[str, ...] | None = None
    dictionary_weight: int | None = None
    dictionary_tag: str | None = None
    concept_id: str | None = None
    source_ids: tuple[str, ...] | None = None
    concept_terms: tuple[ConceptTerm, ...] | None = None
    definition: DefinitionChoice | None = None
    seen_version: int | None = None
    create_if_missing: bool = False
    keep_existing: bool = False
    related_pairs: tuple[RelatedPair, ...] = ()


def status_with_two_reviewers(
    kind: ReviewDecisionKind, edit: TermEdit, current_status: TermStatus, decided_by: str, actor: str
) -> TermStatus | None:
    """Return the status that an edit gives its term if two accounts must accept a term; None: it stays.

    Args:
        kind: Kind of the decision.
        edit: The edit.
        current_status: Status of the term before.
        decided_by: Account that decided on the term last.
        actor: Account of the reviewer.

    Raises:
        LexiconError: The same account accepts the term a second time.
    """
    is_second_reviewer = current_status is TermStatus.PROVISIONAL and decided_by != actor
    if edit.status is TermStatus.REJECTED and kind is ReviewDecisionKind.DECIDE and is_second_reviewer:
        return TermStatus.CANDIDATE
    is_unchecked = current_status is not TermStatus.ACCEPTED and not is_second_reviewer
    if edit.status is not TermStatus.ACCEPTED or actor == AUTOMATIC_ACTOR or not is_unchecked:
        return edit.status
    if current_status is TermStatus.PROVISIONAL and kind is ReviewDecisionKind.DECIDE:
        raise LexiconError("You accepted “{term}”. Another account must confirm it.", term=edit.text)
    return TermStatus.PROVISIONAL


class Order(StrEnum):
    """Order of a term list; always descending."""

    REVIEW = "review"  # rising terms first, then by the gain of a decision
    SCORE = "score"
    FREQUENCY = "frequency"
    NEWEST = "newest"


@dataclass(frozen=True)
class TermQuery:
    """Filter, order and page of a list of terms.

    Attributes:
        status: Only terms with this status; None for any.
        text: Only terms that contain this text, in the term or a synonym.
        category: Only terms of this class; None for any.
        min_documents: Minimum number of documents that contain the term.
        pattern: Only terms that match this regular expression.
        is_automatic: Only terms that were accepted automatically and that no reviewer has confirmed.
        is_definition_outdated: Only terms whose chosen definition is no longer in its article.
        needs_definition: Only terms that a person accepted, with candidates for a definition of which readers see none.
        assigned_to: Only terms that are assigned to this account.
    """

    status: TermStatus | None = TermStatus.CANDIDATE
    text: str = ""
    category: TermClass | None = None
    min_documents: int = 0
    pattern: str = ""
    is_automatic: bool = False
    is_definition_outdated: bool = False
    needs_definition: bool = False
    assigned_to: str = ""
    order: Order = Order.REVIEW
    offset: int = 0
    limit: int = 20


@dataclass(frozen=True)
class TermStatistics:
    """Statistics of all terms.

    Attributes:
        lengths: (length in characters, status, number of terms).
        pos_tags: (part-of-speech sequence, status, number of terms).
        scores: (score, status) of each term.
    """

    lengths: tuple[tuple[int, TermStatus, int], ...]
    pos_tags: tuple[tuple[str, TermStatus, int], ...]
    scores: tuple[tuple[float, TermStatus], ...]


DecisionState = dict[str, Any]
"""Values of the columns of a term that people edit; stored as JSON in `term_changes`."""


@dataclass(frozen=True)
class TermChange:
    """Change of one term by a decision.

    `before` and `after` are its states, None if the term does not exist. `version` is its version after the decision.
    """

    text: str
    before: DecisionState | None
    after: DecisionState | None
    version: int


@dataclass(frozen=True)
class ReviewDecision:
    """One review decision. The field names are public: `plumb lexicon history --json` prints them.

    Attributes:
        act_id: Id, increasing.
        at: Epoch seconds.
        by: Account of the reviewer; "" for the term miner.
        changes: Changed terms.
        undoes: Id of the decision that this one undid, or (earlier versions) of the edit that it decided on; else None.
        undone: True if this decision was undone.
    """

    act_id: int
    at: float
    by: str
    kind: ReviewDecisionKind
    changes: tuple[TermChange, ...]
    undoes: int | None = None
    undone: bool = False


def shorten_terms(terms: Sequence[str]) -> str:
    """Return the first terms of a change as one text."""
    return ", ".join(terms[:MAX_NAMED_TERMS]) + (" …" if len(terms) > MAX_NAMED_TERMS else "")
