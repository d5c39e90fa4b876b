"""Definitions in the text of an article: the first occurrence of a term with a definition is underlined.

A card with the definition belongs to each underlined term. `static/definition_cards.js` opens it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from flask import Response, current_app, request

from domain.term import Definition
from search_ui.context import YEAR_SECONDS, current_site
from search_ui.glossary import Glossary, GlossaryTerm, TermOccurrence, current_glossary
from search_ui.interfaces import LexiconBackend
from search_ui.query.display_text import Segment, Segments, safe_url, slice_segments
from search_ui.query.results import plain_text
from text.segment import Segmenter

EXTENSION_KEY = "plumbline defined terms"
MAX_DEFINITIONS = 10  # of a page
MAX_SEARCHED_CHARS = 50_000  # of a text: at most 0.1 s
SWITCH = "definitions"  # cookie and URL parameter: "off" or "on"


@dataclass(frozen=True)
class DefinitionCard:
    """The definition of an underlined term. `safe_url` is "" if the URL of the source is not safe to follow."""

    number: int
    term: GlossaryTerm
    definition: Definition
    safe_url: str


class TextRun(NamedTuple):
    """A part of a paragraph: an underlined term with its card, or the text between (`card` is None)."""

    segments: Sequence[Segment]
    card: DefinitionCard | None = None


@dataclass(frozen=True)
class InlineDefinitions:
    """The cards of a text in their order, and the runs of the paragraphs with underlined terms by index from 1."""

    cards: tuple[DefinitionCard, ...] = ()
    runs_by_paragraph: Mapping[int, tuple[TextRun, ...]] = field(default_factory=dict)


class DefinedTermsCache:
    """Holds the terms that have a definition, with the number of articles that use each. Thread-safe."""

    def __init__(self) -> None:
        self._cached: tuple[object, Mapping[str, int]] = (None, {})

    def get_document_counts(self, lexicon_backend: LexiconBackend) -> Mapping[str, int]:
        """Return the number of articles by term. It is loaded again after a run and after a review decision."""
        review_service = lexicon_backend.review_service
        revision = (review_service.definitions_revision(), review_service.last_decision_id())
        if self._cached[0] != revision:
            self._cached = (revision, review_service.defined_terms())
        return self._cached[1]


def current_inline_definitions(paragraphs: Sequence[Segments]) -> InlineDefinitions:
    """Return the definitions for a text of the current site; none if the reader has turned them off."""
    if are_definitions_off():
        return InlineDefinitions()
    return build_inline_definitions(paragraphs, *fetch_defined_terms([plain_text(part) for part in paragraphs]))


def fetch_defined_terms(
    texts: Sequence[str],
) -> tuple[list[tuple[int, TermOccurrence]], Mapping[str, Definition]]:
    """Return the occurrences of `find_defined_terms` with the lexicon of the site, and the definitions by term."""
    backend = current_site().backend
    cache = cast(DefinedTermsCache, current_app.extensions[EXTENSION_KEY])
    counts = cache.get_document_counts(backend)
    occurrences = find_defined_terms(texts, current_glossary(), counts, backend.domain_segmenter())
    terms = [occurrence.term.text for _, occurrence in occurrences]
    return occurrences, backend.review_service.best_definitions(terms) if terms else {}


def are_definitions_off() -> bool:
    """Return True if the reader has turned the definitions off, with this request or before."""
    return request.args.get(SWITCH, request.cookies.get(SWITCH)) == "off"


def remember_switch(response: Response) -> None:
    """Remember the choice of the reader if the request states one."""
    if request.args.get(SWITCH) in ("off", "on"):
        response.set_cookie(
            SWITCH, request.args[SWITCH], max_age=YEAR_SECONDS, samesite="Lax", httponly=True, secure=request.is_secure
        )


def find_defined_terms(
    texts: Sequence[str], glossary: Glossary, document_counts: Mapping[str, int], segmenter: Segmenter
) -> list[tuple[int, TermOccurrence]]:
    """Find the first occurrence of each term with a definition.

    Args:
        texts: The paragraphs. Those behind MAX_SEARCHED_CHARS characters are not searched.
        glossary: All published terms. A longer term without a definition takes precedence over its parts.
        document_counts: The terms with a definition, with the number of articles that use each.
        segmenter: Finds the word boundaries.

    Returns:
        The index of the paragraph and the occurrence, in the order of the text: of the MAX_DEFINITIONS rarest terms.
    """
    first_by_term: dict[str, tuple[int, TermOccurrence]] = {}
    chars = 0
    for index, text in enumerate(texts if document_counts else ()):
        chars += len(text)
        if chars > MAX_SEARCHED_CHARS:
            break
        for occurrence in glossary.iter_occurrences(text, segmenter):
            if occurrence.term.text in document_counts:
                first_by_term.setdefault(occurrence.term.text, (index, occurrence))
    rarest = sorted(first_by_term, key=lambda term: document_counts[term])[:MAX_DEFINITIONS]
    return sorted(first_by_term[term] for term in rarest)


def build_inline_definitions(
    paragraphs: Sequence[Segments],
    occurrences: Sequence[tuple[int, TermOccurrence]],
    definitions: Mapping[str, Definition],
) -> InlineDefinitions:
    """Build cards and runs. `occurrences` are those of `find_defined_terms`; terms without a definition are skipped."""
    cards: list[DefinitionCard] = []
    spans_by_paragraph: dict[int, list[tuple[TermOccurrence, DefinitionCard]]] = {}
    for index, occurrence in occurrences:
        if (definition := definitions.get(occurrence.term.text)) is not None:
            cards.append(DefinitionCard(len(cards) + 1, occurrence.term, definition, safe_url(definition.url)))
            spans_by_paragraph.setdefault(index, []).append((occurrence, cards[-1]))
    return InlineDefinitions(
        tuple(cards),
        {index + 1: tuple(_split_paragraph(paragraphs[index], spans)) for index, spans in spans_by_paragraph.items()},
    )


def _split_paragraph(paragraph: Segments, spans: Sequence[tuple[TermOccurrence, DefinitionCard]]) -> list[TextRun]:
    runs, offset = [], 0
    for occurrence, card in spans:
        runs.append(TextRun(slice_segments(paragraph, offset, occurrence.start)))
        runs.append(TextRun(slice_segments(paragraph, occurrence.start, occurrence.end), card))
        offset = occurrence.end
    return [*runs, TextRun(slice_segments(paragraph, offset, len(plain_text(paragraph))))]
