"""Definitions of terms: quoted with their articles, and for the terms in the text of an article.

In a text, the first occurrence of a term with a definition is underlined. A card with the definition belongs to each
underlined term; `static/definition_cards.js` opens it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.article import document_id
from domain.term import Definition
from search_ui.glossary import Glossary, GlossaryTerm, TermOccurrence
from search_ui.local_dates import format_day
from search_ui.query.display_text import Segment, Segments, safe_url, slice_segments
from search_ui.query.results import ArticleSummary, list_articles, plain_text
from search_ui.query.solr_query import SolrQuery, select_params
from search_ui.services.articles import SUMMARY_FIELDS
from search_ui.services.site import SiteServices
from solr_client import solr_fields
from text.segment import Segmenter

MAX_DEFINITIONS = 10  # of a page
MAX_SEARCHED_CHARS = 50_000  # of a text: at most 0.1 s


@dataclass(frozen=True)
class QuotedDefinition:
    """A definition, quoted. `article` is its article if the index has it: only then there is a page with a saved copy.

    `safe_url` is "" if the URL of the source is not safe to follow, or if a reviewer wrote the definition.
    `copy_id` is the id of the article, and `copy_date` the ISO date of its saved copy, if the article is gone and the
    copy can be shown; otherwise "".
    """

    definition: Definition
    safe_url: str
    article: ArticleSummary | None
    copy_id: str = ""
    copy_date: str = ""


def quote_definitions(site: SiteServices, definitions: Sequence[Definition]) -> list[QuotedDefinition]:
    """Fetch the articles of definitions. Raises what `SolrBackend.select` raises."""
    doc_ids = [document_id(definition.url) if definition.url else "" for definition in definitions]
    known_ids = [doc_id for doc_id in doc_ids if doc_id]
    sources = SolrQuery.terms(solr_fields.ID, "sources", known_ids, separator=",")
    params = select_params(sources, rows=len(known_ids), fl=SUMMARY_FIELDS)
    articles = list_articles(site.solr.select(params), site.settings) if known_ids else ()
    article_by_id = {article.doc_id: article for article in articles}
    return [
        _quote_definition(site, definition, doc_id, article_by_id.get(doc_id))
        for definition, doc_id in zip(definitions, doc_ids, strict=True)
    ]


def _quote_definition(
    site: SiteServices, definition: Definition, doc_id: str, article: ArticleSummary | None
) -> QuotedDefinition:
    can_have_copy = definition.is_source_gone and doc_id and site.settings.originals
    saved_copy = site.backend.originals.find(doc_id) if can_have_copy else None
    copy = (doc_id, format_day(saved_copy.fetched_at)) if saved_copy else ("", "")
    return QuotedDefinition(definition, safe_url(definition.url), article, *copy)


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


def explain_terms(site: SiteServices, paragraphs: Sequence[Segments]) -> InlineDefinitions:
    """Return the definitions for a text."""
    counts = site.caches.defined_terms.get_document_counts(site.backend)
    texts = [plain_text(paragraph) for paragraph in paragraphs]
    occurrences = find_defined_terms(texts, site.glossary, counts, site.segmenter)
    terms = [occurrence.term.text for _, occurrence in occurrences]
    definitions = site.backend.public_definitions(terms)
    return build_inline_definitions(paragraphs, occurrences, definitions)


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
    definitions: Mapping[str, Sequence[Definition]],
) -> InlineDefinitions:
    """Build cards and runs. `occurrences` are those of `find_defined_terms`; terms without a definition are skipped."""
    cards: list[DefinitionCard] = []
    spans_by_paragraph: dict[int, list[tuple[TermOccurrence, DefinitionCard]]] = {}
    for index, occurrence in occurrences:
        for definition in definitions[occurrence.term.text][:1]:
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
