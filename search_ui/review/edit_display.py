"""Proposed edits as the review pages show them: the old and the new value of each field."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from domain.review import ReviewDecision, TermChange
from domain.term_relation import ProposalState
from search_ui.i18n import translate
from search_ui.query.display_text import clean_text

MAX_WAITING_EDITS = 50  # on a page; the next ones follow when these are decided
MAX_EDITS_OF_TERMS = 1_000  # counted in the notes of the terms of a page
MAX_TERMS_PER_EDIT = 20  # an import can change many more


@dataclass(frozen=True)
class FieldChange:
    """A field of a term with its old and its new value, in the reader's language; "" is an empty value."""

    label: str
    before: str
    after: str


@dataclass(frozen=True)
class EditedTerm:
    """A term with the fields that an edit changes. `is_new` is True if the edit adds the term."""

    text: str
    is_new: bool
    fields: Sequence[FieldChange]


@dataclass(frozen=True)
class EditDescription:
    """An edit that waits for a second reviewer.

    Attributes:
        act_id: Id of the decision.
        at: Epoch seconds.
        by: Account that proposed the edit.
        is_own: True if the reader proposed it.
        terms: The first terms.
        hidden_count: Number of the other terms.
    """

    act_id: int
    at: float
    by: str
    is_own: bool
    terms: Sequence[EditedTerm]
    hidden_count: int


def describe_edits(proposals: Sequence[ReviewDecision], account: str) -> list[EditDescription]:
    """Describe proposed edits for an account."""
    return [
        EditDescription(
            proposal.act_id,
            proposal.at,
            proposal.by,
            proposal.by == account,
            [
                EditedTerm(change.text, change.before is None, _field_changes(change))
                for change in proposal.changes[:MAX_TERMS_PER_EDIT]
            ],
            max(0, len(proposal.changes) - MAX_TERMS_PER_EDIT),
        )
        for proposal in proposals
    ]


def _field_changes(change: TermChange) -> list[FieldChange]:
    before, values = change.before or {}, change.changed_values()
    fields = [
        FieldChange(translate(f"review.field_{name}"), format_value(before.get(name) or ""), format_value(values[name]))
        for name, format_value in FORMATTER_BY_COLUMN.items()
        if name in values
    ]
    if "related" in values:
        fields.append(FieldChange(translate("review.field_related"), *_related_terms(change.text, values["related"])))
    return [field for field in fields if field.before != field.after]


def _related_terms(text: str, pairs: Sequence[tuple[str, str, tuple[str, str], tuple[str, str]]]) -> tuple[str, str]:
    """Return the related terms of `text` before and after the edit, of those that it changes."""
    words: tuple[list[str], list[str]] = ([], [])
    for term, other, *states in pairs:
        for index, (state, _) in enumerate(states):
            if state == ProposalState.ACCEPTED:
                words[index].append(other if term == text else term)
    return _join_words(words[0]), _join_words(words[1])


def _join_words(words: Sequence[str]) -> str:
    return translate("list.separator").join(map(clean_text, words))


def _format_words(value: str) -> str:
    return _join_words(json.loads(value)) if value else ""


def _format_definition(value: str) -> str:
    return (clean_text(json.loads(value)["sentence"]) or translate("review.no_definition")) if value else ""


def _format_concept_terms(value: str) -> str:
    """Return one line for each term of a concept: text, language, status, and its definition, source and note."""
    lines = []
    for text, language, status, *texts in json.loads(value or "[]"):
        details = " | ".join(filter(None, map(clean_text, texts)))
        line = f"{clean_text(text)} ({clean_text(language)}, {translate(f'concept.{status}')})"
        lines.append(f"{line} {details}" if details else line)
    return "\n".join(lines)


FORMATTER_BY_COLUMN: Mapping[str, Callable[[str], str]] = {
    "status": lambda value: translate(f"review.{value}") if value else "",
    "category": lambda value: translate(f"review.class_{value}") if value else "",
    "synonyms": _format_words,
    "broader": _format_words,
    "definition": _format_definition,
    "concept_terms": _format_concept_terms,
    "source_ids": _format_words,
    "weight": lambda value: str(value or ""),
    "tag": clean_text,
}
"""How the value of a column of a state is shown; "" is no value."""
