"""Rows of the lexicon's tables as values, and back."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from docstore.articles.records import storable
from docstore.model import Lexicon, LexiconEntry, Term, TermClass, TermStatus

State = dict[str, Any]
"""The columns of a term that people change, as `term_changes` keeps them (JSON)."""

STATE = ("status", "category", "synonyms", "broader", "weight", "tag", "decided_at", "decided_by", "decided_on")
UNDECIDED: State = {
    "status": TermStatus.CANDIDATE.value,
    "category": "",
    "synonyms": "[]",
    "broader": "[]",
    "weight": 0,
    "tag": "",
    "decided_at": None,
    "decided_by": "",
    "decided_on": 0,
}


def term_row(term: Term, mined_at: float | None, now: float) -> dict[str, Any]:
    """The `terms` row of a term that comes in at `now`; `mined_at` is None for one that people bring."""
    return {
        "text": storable(term.text),
        "score": term.score,
        "frequency": term.frequency,
        "documents": term.documents,
        "tags": term.tags[:200],
        "contexts": listed(term.contexts),
        "status": term.status,
        "synonyms": listed(term.synonyms),
        "parts": json.dumps([[name, round(value, 4)] for name, value in term.parts]),
        "category": term.category,
        "broader": listed(term.broader),
        "weight": term.weight,
        "tag": term.tag,
        "place": term.score,
        "version": 0,
        "first_seen": now,
        "mined_at": mined_at,
    }


def listed(words: tuple[str, ...]) -> str:
    """Words as a column holds them."""
    return json.dumps([storable(word) for word in words], ensure_ascii=False)


def term_of(row: Row[Any]) -> Term:
    """The term in a `terms` row."""
    return Term(
        text=row.text,
        score=row.score,
        frequency=row.frequency,
        documents=row.documents,
        tags=row.tags,
        contexts=tuple(json.loads(row.contexts)),
        status=TermStatus(row.status),
        synonyms=tuple(json.loads(row.synonyms)),
        parts=tuple((name, value) for name, value in json.loads(row.parts)),
        category=TermClass(row.category),
        broader=tuple(json.loads(row.broader)),
        weight=row.weight,
        tag=row.tag,
        rank=row.place,
        version=row.version,
        first_seen=row.first_seen,
        decided_at=row.decided_at,
        decided_by=row.decided_by,
    )


def state_of(row: Row[Any]) -> State:
    """What people have said, of a `terms` row."""
    return {name: getattr(row, name) for name in STATE}


def state_text(state: Mapping[str, Any] | None) -> str:
    """A state as `term_changes` keeps it; None, for no term, is ""."""
    return "" if state is None else json.dumps(state, ensure_ascii=False)


def state_in(text: str) -> State | None:
    """The state in a text by `state_text`."""
    state: State | None = json.loads(text) if text else None
    return state


def entry_row(version: int, entry: LexiconEntry) -> dict[str, Any]:
    """The `lexicon_entries` row of one entry."""
    return {
        "version": version,
        "text": entry.text,
        "frequency": entry.frequency,
        "tag": entry.tag,
        "synonyms": listed(entry.synonyms),
        "category": entry.category,
        "broader": listed(entry.broader),
    }


def entry_of(row: Row[Any]) -> LexiconEntry:
    """The entry in a `lexicon_entries` row."""
    synonyms, broader = (tuple(json.loads(column)) for column in (row.synonyms, row.broader))
    return LexiconEntry(row.text, row.frequency, row.tag, synonyms, TermClass(row.category), broader)


def lexicon_of(row: Row[Any], entries: tuple[LexiconEntry, ...]) -> Lexicon:
    """The lexicon in a `lexicons` row."""
    return Lexicon(row.version, entries, row.published_at, row.applied_at, row.note, row.by_whom)
