"""Concepts: what a term means, with its preferred, admitted and deprecated terms in several languages."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from domain.term import ConceptTerm, ConceptTermStatus, TermClass

ConceptFormat = Literal["tbx", "skos", "csv"]
"""File formats of concepts: TBX-Basic, SKOS in Turtle, CSV with a row per term."""


@dataclass(frozen=True)
class Concept:
    """A concept with its terms, sorted by `ConceptTerm.sort_key`.

    Attributes:
        concept_id: Id that does not depend on the terms. In an imported file: the id or URI in the file.
        source_ids: Ids or URIs of the concept in the files from which it was imported.
        broader_ids: Ids of broader concepts, sorted.
        is_automatic: True if no reviewer has confirmed the term.
        related_ids: Ids of related concepts, sorted. In an imported file: their ids, URIs or terms; None if the file
            has no place for them.
    """

    concept_id: str
    terms: tuple[ConceptTerm, ...]
    source_ids: tuple[str, ...] = ()
    broader_ids: tuple[str, ...] = ()
    category: TermClass = TermClass.NONE
    is_automatic: bool = field(default=False, compare=False)
    related_ids: tuple[str, ...] | None = ()

    @property
    def label(self) -> str:
        """The first preferred term, else the id."""
        return next((term.text for term in self.terms if term.status is ConceptTermStatus.PREFERRED), self.concept_id)


def create_concept_id() -> str:
    """Return a new id: "c" and 16 hexadecimal digits. It is a valid XML id."""
    return "c" + secrets.token_hex(8)


def sort_terms(terms: Iterable[ConceptTerm]) -> tuple[ConceptTerm, ...]:
    """Return the terms of a concept in their order."""
    return tuple(sorted(terms, key=lambda term: term.sort_key))
