"""Changes terms in a store as reviewers do, and candidates for a test."""

from collections.abc import Sequence
from math import log

from docstore.store import Store
from domain.review import ReviewDecision, ReviewDecisionKind, TermEdit
from domain.term import Term, TermStatus


def decide(store: Store, texts: Sequence[str], status: TermStatus, by: str = "") -> ReviewDecision:
    return store.review_history.apply(
        ReviewDecisionKind.DECIDE, [TermEdit(text, status) for text in dict.fromkeys(texts)], by
    )


def add(store: Store, texts: Sequence[str], by: str = "") -> ReviewDecision:
    edits = [TermEdit(text, TermStatus.ACCEPTED, create_if_missing=True) for text in dict.fromkeys(texts)]
    return store.review_history.apply(ReviewDecisionKind.ADD, edits, by)


def propose(store: Store, text: str, by: str = "") -> ReviewDecision:
    return store.review_history.apply(
        ReviewDecisionKind.PROPOSE, [TermEdit(text, create_if_missing=True, keep_existing=True)], by
    )


def set_synonyms(store: Store, text: str, synonyms: Sequence[str], by: str = "") -> ReviewDecision:
    return store.review_history.apply(ReviewDecisionKind.SYNONYMS, [TermEdit(text, synonyms=tuple(synonyms))], by)


def make_candidate(
    text: str,
    score: float = 0.9,
    frequency: int = 30,
    documents: int = 10,
    neighbour_count: int = 6,
    per_million: int = 1,
) -> Term:
    """Return a candidate whose most frequent neighbour stands beside `neighbour_count` of its occurrences."""
    parts = {"independent": log(frequency + 0.5 - neighbour_count), "association": 3.0, "specific": log(per_million)}
    return Term(text, score, frequency, documents, score_components=tuple(parts.items()))
