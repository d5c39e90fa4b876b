"""Changes terms in a store as reviewers do."""

from collections.abc import Sequence

from docstore.store import Store
from domain.review import ReviewDecision, ReviewDecisionKind, TermEdit
from domain.term import TermStatus


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
