"""Changes terms in a store as reviewers do."""

from collections.abc import Sequence

from docstore.model import TermStatus
from docstore.store import Store
from docstore.terms.review_history import ActKind, ReviewDecision, TermEdit


def decide(store: Store, texts: Sequence[str], status: TermStatus, by: str = "") -> ReviewDecision:
    return store.review_history.apply(ActKind.DECIDE, [TermEdit(text, status) for text in dict.fromkeys(texts)], by)


def add(store: Store, texts: Sequence[str], by: str = "") -> ReviewDecision:
    edits = [TermEdit(text, TermStatus.ACCEPTED, adds=True) for text in dict.fromkeys(texts)]
    return store.review_history.apply(ActKind.ADD, edits, by)


def propose(store: Store, text: str, by: str = "") -> ReviewDecision:
    return store.review_history.apply(ActKind.PROPOSE, [TermEdit(text, adds=True, keeps=True)], by)


def set_synonyms(store: Store, text: str, synonyms: Sequence[str], by: str = "") -> ReviewDecision:
    return store.review_history.apply(ActKind.SYNONYMS, [TermEdit(text, synonyms=tuple(synonyms))], by)
