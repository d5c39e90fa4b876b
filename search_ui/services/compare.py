"""The comparison search of Wang Du 2019 (WD-S3, WD-E5): one term with both lexicons, side by side.

The paper's claim: with the base dictionary the hits match parts of 世界石油大会; with the domain lexicon the documents
that contain the full term come first.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search_ui.query.display_text import (
    Segments,
    clean_text,
    mark_occurrences,
    normalize_query,
    safe_url,
    truncate_segments,
)
from search_ui.query.query_words import QueryWords, segment_words
from search_ui.query.ranking import build_rank_query
from search_ui.query.solr_client import SolrBackend
from search_ui.query.solr_query import select_params
from solr_client import solr_fields
from text.segment import Segmenter

COMPARED_RESULTS = 50  # results examined for the term, on each side
SHOWN_RESULTS = 10
LEXICON_NAMES = ("base", "domain")  # names of segmenters, ranking profiles and sides


@dataclass(frozen=True)
class WholeTermMeasures:
    """Ranking metrics for documents with the full term (WD-S3).

    Attributes:
        first_rank: Rank of the first such document, from 1; None if there is none.
        reciprocal_rank: 1 / `first_rank`, or 0: the MRR of one query.
        precision_at_10: Share of such documents in the first ten.
        whole_term_count: Number of such documents in all examined results.
    """

    first_rank: int | None
    reciprocal_rank: float
    precision_at_10: float
    whole_term_count: int


@dataclass(frozen=True)
class ComparedHit:
    """One result of a side. `has_whole_term`: title or body contain the full term."""

    title: Segments
    snippet: Segments
    safe_url: str
    published: str
    has_whole_term: bool
    language: str = ""


@dataclass(frozen=True)
class LexiconResult:
    """The results with one lexicon: words of the term, metrics over `COMPARED_RESULTS` results, the first ten hits."""

    name: str
    words: tuple[str, ...]
    total: int
    measures: WholeTermMeasures
    hits: tuple[ComparedHit, ...]


def measure_whole_term(texts_in_rank_order: Sequence[str], term: str) -> WholeTermMeasures:
    """Compute the metrics of WD-S3 for one query. A text is title and body. Ignores width and case."""
    folded_term = _fold(term)
    contains_term = [bool(folded_term) and folded_term in _fold(text) for text in texts_in_rank_order]
    first_rank = contains_term.index(True) + 1 if True in contains_term else None
    return WholeTermMeasures(
        first_rank, 1 / first_rank if first_rank else 0.0, sum(contains_term[:10]) / 10, sum(contains_term)
    )


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def compare_lexicons(solr: SolrBackend, segmenters: Mapping[str, Segmenter], term: str) -> tuple[LexiconResult, ...]:
    """Search for `term` with each of `LEXICON_NAMES`.

    Raises what `SolrBackend.select` raises. A term without letters or digits has no results and sends no request.

    Args:
        solr: The search server.
        segmenters: Segmenter by lexicon name.
        term: The term.
    """
    return tuple(_search_with(solr, name, segmenters[name], normalize_query(term, len(term))) for name in LEXICON_NAMES)


def _search_with(solr: SolrBackend, name: str, segmenter: Segmenter, term: str) -> LexiconResult:
    words = segment_words(term, segmenter)
    if not words:
        return LexiconResult(name, words, 0, measure_whole_term((), term), ())
    shown_fields = (
        solr_fields.URL,
        solr_fields.TITLE,
        solr_fields.BODY,
        solr_fields.PUBLISHED_TEXT,
        solr_fields.LANGUAGE,
    )
    q = build_rank_query(QueryWords(term, term, domain=words, base=words), name)
    result = solr.select(select_params(q, rows=COMPARED_RESULTS, fl=shown_fields)).get("response", {})
    docs = result.get("docs", ())
    measures = measure_whole_term([_title_and_body(doc) for doc in docs], term)
    hits = tuple(
        ComparedHit(
            title=mark_occurrences(str(doc.get(solr_fields.TITLE, "")), term),
            snippet=truncate_segments(mark_occurrences(str(doc.get(solr_fields.BODY, "")), term), 120),
            safe_url=safe_url(str(doc.get(solr_fields.URL, ""))),
            published=clean_text(str(doc.get(solr_fields.PUBLISHED_TEXT, ""))),
            language=str(doc.get(solr_fields.LANGUAGE, "")),
            has_whole_term=measure_whole_term([_title_and_body(doc)], term).whole_term_count == 1,
        )
        for doc in docs[:SHOWN_RESULTS]
    )
    return LexiconResult(name, words, int(result.get("numFound", 0)), measures, hits)


def _title_and_body(doc: Mapping[str, Any]) -> str:
    return f"{doc.get(solr_fields.TITLE, '')}\n{doc.get(solr_fields.BODY, '')}"
