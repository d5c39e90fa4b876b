"""The comparison search of Wang Du 2019 (WD-S3, WD-E5): one term against both lexicons, side by side.

The paper's claim: with the base dictionary the hits are about the parts of 世界石油大会, with the domain lexicon the
documents that hold the whole term come first.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docstore import fields
from search_ui.query.clauses import QueryVariant, select_params
from search_ui.query.ranking import rank_query
from search_ui.query.solr_client import Search
from search_ui.query.solr_params import words_of
from search_ui.query.texts import Segments, link_to, mark_all, searchable, shortened, shown
from text.segment import Segmenter

DEPTH = 50  # results that are looked through for the term, on each side
SHOWN = 10
SIDES = ("base", "domain")  # names of segmenters, ranking profiles and sides alike


@dataclass(frozen=True)
class Measures:
    """How early the documents with the whole term come (WD-S3).

    `first_rank` counts from 1, None if no such document was returned; `reciprocal_rank` is its inverse or 0, the
    MRR of one query; `precision_at_10` the share of such documents in the first ten places; `whole` how many there
    are in all that was returned.
    """

    first_rank: int | None
    reciprocal_rank: float
    precision_at_10: float
    whole: int


@dataclass(frozen=True)
class ComparedHit:
    """One result of a side. `is_whole`: its title or body holds the whole term."""

    title: Segments
    snippet: Segments
    link: str
    published: str
    is_whole: bool


@dataclass(frozen=True)
class Side:
    """One lexicon's answer: the `words` the term was cut into, measures over `DEPTH` results, the first ten."""

    name: str
    words: tuple[str, ...]
    total: int
    measures: Measures
    hits: tuple[ComparedHit, ...]


def whole_term_measures(texts_in_rank_order: Sequence[str], term: str) -> Measures:
    """Wang Du 2019, WD-S3, for one query. A text is title and body; width and letter case do not count."""
    looked_for = _folded(term)
    holds = [bool(looked_for) and looked_for in _folded(text) for text in texts_in_rank_order]
    first = holds.index(True) + 1 if True in holds else None
    return Measures(first, 1 / first if first else 0.0, sum(holds[:10]) / 10, sum(holds))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def compare(search: Search, segmenters: Mapping[str, Segmenter], term: str) -> tuple[Side, ...]:
    """Search for `term` with each of `SIDES`; `segmenters` holds one by each name.

    Raises what `Search.select` raises. A term without letters or digits finds nothing, without asking.
    """
    return tuple(_side(search, name, segmenters[name], searchable(term, len(term))) for name in SIDES)


def _side(search: Search, name: str, segmenter: Segmenter, term: str) -> Side:
    words = words_of(term, segmenter)
    if not words:
        return Side(name, words, 0, whole_term_measures((), term), ())
    form = QueryVariant.DOMAIN if name == "domain" else QueryVariant.BASE
    shown_fields = (fields.URL, fields.TITLE, fields.BODY, fields.PUBLISHED_TEXT)
    q = rank_query(term, {form: words}, name)
    found = search.select(select_params(q, rows=DEPTH, fl=shown_fields)).get("response", {})
    docs = found.get("docs", ())
    measures = whole_term_measures([_full_text(doc) for doc in docs], term)
    hits = tuple(_compared(doc, term) for doc in docs[:SHOWN])
    return Side(name, words, int(found.get("numFound", 0)), measures, hits)


def _full_text(doc: Mapping[str, Any]) -> str:
    return f"{doc.get(fields.TITLE, '')}\n{doc.get(fields.BODY, '')}"


def _compared(doc: Mapping[str, Any], term: str) -> ComparedHit:
    return ComparedHit(
        title=mark_all(str(doc.get(fields.TITLE, "")), term),
        snippet=shortened(mark_all(str(doc.get(fields.BODY, "")), term), 120),
        link=link_to(str(doc.get(fields.URL, ""))),
        published=shown(str(doc.get(fields.PUBLISHED_TEXT, ""))),
        is_whole=whole_term_measures([_full_text(doc)], term).whole == 1,
    )
