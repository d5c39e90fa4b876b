"""Broader terms: refuses those that lead back to the term itself, and moves them with a renamed or merged term."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from docstore.schema.lexicon_tables import terms
from domain.errors import LexiconError
from domain.review import TermChange, TermEdit


def edits_of_narrower_terms(connection: Connection, text: str, new_text: str) -> list[TermEdit]:
    """Return the edits that give the narrower terms of `text` the broader term `new_text` instead."""
    query = select(terms.c.text, terms.c.broader).where(terms.c.broader != "[]", terms.c.text.not_in((text, new_text)))
    broader_by_text = {row.text: json.loads(row.broader) for row in connection.execute(query)}
    return [
        TermEdit(narrower, broader_terms=tuple(new_text if term == text else term for term in broader))
        for narrower, broader in broader_by_text.items()
        if text in broader
    ]


def joined_broader_terms(text: str, rows: Sequence[Row[Any]]) -> tuple[str, ...]:
    """Return the broader terms of rows of `terms`, without `text`."""
    return tuple(term for row in rows for term in json.loads(row.broader) if term != text)


def refuse_cycles(connection: Connection, changes: Sequence[TermChange]) -> None:
    """Raise LexiconError if the new broader terms of a change lead back to its term.

    Args:
        connection: A transaction.
        changes: The changes of one decision.
    """
    changed_texts = [
        change.text
        for change in changes
        if change.after and change.after["broader"] not in ("[]", change.before and change.before["broader"])
    ]
    if not changed_texts:
        return
    rows = connection.execute(select(terms.c.text, terms.c.broader).where(terms.c.broader != "[]")).all()
    broader_by_text = {row.text: json.loads(row.broader) for row in rows}
    broader_by_text |= {change.text: json.loads(change.after["broader"]) for change in changes if change.after}
    for text in changed_texts:
        if path := _find_cycle(text, broader_by_text):
            chain = " < ".join(path)
            raise LexiconError("{term} cannot be narrower than itself: {path}", term=text, path=chain)


def _find_cycle(text: str, broader_by_text: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the shortest path from a term over broader terms to itself; empty if there is none."""
    paths, seen_texts = [[text]], {text}
    for path in paths:
        for broader in broader_by_text.get(path[-1], ()):
            if broader == text:
                return [*path, broader]
            if broader not in seen_texts:
                seen_texts.add(broader)
                paths.append([*path, broader])
    return []
