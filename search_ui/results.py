"""Solr's answer as what a page shows. Pure; nothing of the answer is trusted to be markup.

The same page as JSON (`format=json`, or `Accept: application/json`), see `as_json`:

    {"query": "页岩气", "profile": "plumbline", "sort": "relevance",
     "total": 42, "partial": false, "took_ms": 3, "page": 1, "pages": 5, "page_size": 10,
     "hits": [{"id": "…", "title": "…", "url": "…", "site": "news.example", "published": "2016-05-09",
               "snippet": [{"text": "四川盆地", "marked": false}, {"text": "页岩气", "marked": true}]}],
     "facets": {"sites": [{"value": "news.example", "label": "…", "count": 40, "selected": false}],
                "dates": [{"value": "2016", "label": "2016", "count": 42, "selected": false}]}}

An error is `{"error": {"status": 400, "message": "…"}}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docstore import fields
from search_ui.query import MARK_OFF, MARK_ON
from search_ui.request import SearchRequest, last_page
from search_ui.search import Answer
from search_ui.settings import SearchSettings
from search_ui.texts import Segment, Segments, link_to, marked_segments, shortened, shown

SNIPPET_LENGTH = 160  # characters


@dataclass(frozen=True)
class Hit:
    """One result. `link` is "" where `url` is nothing a reader may be sent to."""

    doc_id: str
    title: Segments
    url: str
    link: str
    site: str
    site_name: str
    published: str
    snippet: Segments


@dataclass(frozen=True)
class Facet:
    """One value that narrows the results. `share`: its count in twentieths of the largest, 0 only for 0."""

    value: str
    label: str
    count: int
    selected: bool
    share: int


@dataclass(frozen=True)
class SearchPage:
    """What one result page shows. `pages` is how many can be asked for; `partial`: Solr ran out of time."""

    total: int
    took_ms: int
    partial: bool
    page: int
    pages: int
    hits: tuple[Hit, ...]
    sites: tuple[Facet, ...]
    dates: tuple[Facet, ...]


NOTHING = SearchPage(0, 0, False, 1, 1, (), (), ())


def search_page(answer: Answer, asked: SearchRequest, settings: SearchSettings) -> SearchPage:
    """Read Solr's answer to `query.search_params(asked, ...)`."""
    header, found = answer.get("responseHeader", {}), answer.get("response", {})
    total = int(found.get("numFound", 0))
    highlights = answer.get("highlighting", {})
    return SearchPage(
        total=total,
        took_ms=int(header.get("QTime", 0)),
        partial=bool(header.get("partialResults", False)),
        page=asked.page,
        pages=min(last_page(settings), max(1, -(-total // settings.page_size))),
        hits=tuple(_hit(doc, highlights, settings) for doc in found.get("docs", ())),
        sites=_sites(answer, asked, settings),
        dates=_dates(answer, asked),
    )


def _hit(doc: Mapping[str, Any], highlights: Mapping[str, Any], settings: SearchSettings) -> Hit:
    marked = highlights.get(_text(doc, fields.ID), {})
    url, site = _text(doc, fields.URL), _text(doc, fields.SITE)
    title = _best(marked, (fields.TITLE_DOMAIN, fields.TITLE)) or (Segment(shown(_text(doc, fields.TITLE))),)
    return Hit(
        doc_id=_text(doc, fields.ID),
        title=shortened(tuple(piece for piece in title if piece.text), 2 * SNIPPET_LENGTH),
        url=shown(url),
        link=link_to(url),
        site=shown(site),
        site_name=settings.site_names.get(site, shown(site)),
        published=shown(_text(doc, fields.PUBLISHED_TEXT)),
        snippet=shortened(_best(marked, (fields.BODY_DOMAIN, fields.BODY)), SNIPPET_LENGTH),
    )


def _text(doc: Mapping[str, Any], name: str) -> str:
    value = doc.get(name, "")
    return str(value[0]) if isinstance(value, list) and value else str(value)


def _best(marked: Mapping[str, Any], names: Sequence[str]) -> Segments:
    """The first of these fields with a match in it; else the first with any text."""
    texts = [_fragments(marked.get(name, ())) for name in names]
    matched = [segments for segments in texts if any(segment.marked for segment in segments)]
    return next((segments for segments in matched + texts if segments), ())


def _fragments(fragments: Sequence[str]) -> Segments:
    return marked_segments(" … ".join(fragments), MARK_ON, MARK_OFF)


def _sites(answer: Answer, asked: SearchRequest, settings: SearchSettings) -> tuple[Facet, ...]:
    counts = [(str(bucket["val"]), int(bucket["count"])) for bucket in _buckets(answer, "sites")]
    named = [(site, settings.site_names.get(site, shown(site)), count) for site, count in counts]
    return _facets(named, frozenset(asked.sites))


def _dates(answer: Answer, asked: SearchRequest) -> tuple[Facet, ...]:
    """Years as `2016`, months as `2016-05`, oldest first: both are what `since` and `until` take.

    Empty ones stay where they stand between others, so that the picture is true.
    """
    length = 7 if asked.only_year() else 4
    buckets = [(str(bucket["val"])[:length], int(bucket["count"])) for bucket in _buckets(answer, "dates")]
    filled = [n for n, (_, count) in enumerate(buckets) if count]
    counts = buckets[filled[0] : filled[-1] + 1] if filled else []
    chosen = {asked.since} if asked.since == asked.until else set()
    return _facets([(day, day, count) for day, count in counts], frozenset(chosen))


def _buckets(answer: Answer, name: str) -> Sequence[Mapping[str, Any]]:
    buckets: Sequence[Mapping[str, Any]] = answer.get("facets", {}).get(name, {}).get("buckets", ())
    return buckets


def _facets(counted: Sequence[tuple[str, str, int]], selected: frozenset[str]) -> tuple[Facet, ...]:
    largest = max((count for _, _, count in counted), default=1) or 1
    return tuple(
        Facet(value, label, count, value in selected, -(-20 * count // largest)) for value, label, count in counted
    )


def as_json(page: SearchPage, asked: SearchRequest, settings: SearchSettings) -> dict[str, Any]:
    """The page as the module's docstring shows it."""
    return {
        "query": asked.typed,
        "profile": asked.profile,
        "sort": asked.sort,
        "total": page.total,
        "partial": page.partial,
        "took_ms": page.took_ms,
        "page": page.page,
        "pages": page.pages,
        "page_size": settings.page_size,
        "hits": [_hit_json(hit) for hit in page.hits],
        "facets": {"sites": _facet_json(page.sites), "dates": _facet_json(page.dates)},
    }


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.doc_id,
        "title": plain(hit.title),
        "url": hit.url,
        "site": hit.site,
        "published": hit.published,
        "snippet": [{"text": segment.text, "marked": segment.marked} for segment in hit.snippet],
    }


def _facet_json(facets: Sequence[Facet]) -> list[dict[str, Any]]:
    return [
        {"value": facet.value, "label": facet.label, "count": facet.count, "selected": facet.selected}
        for facet in facets
    ]


def plain(segments: Segments) -> str:
    """The text without its marks."""
    return "".join(segment.text for segment in segments)


@dataclass(frozen=True)
class SiteCounts:
    """What the home page counts. `newest` is a day (`2016-05-09`) or ""."""

    documents: int
    sites: int
    newest: str


def site_counts(answer: Answer) -> SiteCounts:
    """Read Solr's answer to `query.site_params()`."""
    facets = answer.get("facets", {})
    documents = int(answer.get("response", {}).get("numFound", 0))
    return SiteCounts(documents, int(facets.get("sites", 0)), str(facets.get("newest", ""))[:10])
