"""Solr's answer as what a page shows. Pure; nothing of the answer is trusted to be markup."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from docstore import solr_fields
from docstore.articles.page_offsets import page_number_at, parse_page_offsets
from docstore.file_formats import FORMATS_BY_NAME, HTML_FORMAT
from search_ui.query.display_text import (
    Segment,
    Segments,
    clean_text,
    safe_url,
    split_highlights,
    truncate_segments,
    url_file_name,
)
from search_ui.query.highlight import MarkRefiner, build_mark_refiner
from search_ui.query.search_request import PARAM_BY_FILTER, SearchRequest, last_numbered_page
from search_ui.query.semantic.answer_extraction import Quotation
from search_ui.query.solr_client import SolrResponse
from search_ui.query.solr_requests import EXACT_PAGING_HITS, HIGHLIGHT_END, HIGHLIGHT_START
from search_ui.settings import SearchSettings

SNIPPET_CHARS = 160  # characters
PDF_FORMAT = "pdf"


@dataclass(frozen=True)
class Hit:
    """One result.

    `safe_url` is "" where `url` is nothing a reader may be sent to.

    `cluster` is the id that it has in common with its copies, `copies` how many of those there are besides. `series` is
    the id that it has in common with articles that are `similar`, so many of them, and no copies of it. `is_partial`:
    it holds so little of the query that it is not among the total. `picture` is the URL of its own picture, or "".
    `format` is `html`, or that of a document (docstore/file_formats.py); `page` the page of a document on which what is
    shown of it stands, 0 where that is not known. `by_meaning`: no word of the query has found it, and its snippet is
    the passage nearest in meaning, which begins in paragraph `paragraph` of its text (from 1; 0: not known). `story` is
    the id of the story that it tells with others, or "".
    """

    doc_id: str
    title: Segments
    url: str
    safe_url: str
    site: str
    site_name: str
    published: str
    fetched: str
    snippet: Segments
    cluster: str
    copies: int = 0
    series: str = ""
    similar: int = 0
    is_partial: bool = False
    picture: str = ""
    format: str = HTML_FORMAT
    page: int = 0
    by_meaning: bool = False
    paragraph: int = 0
    story: str = ""

    @property
    def page_url(self) -> str:
        """The link, to the page of the passage where browsers can open a file there."""
        return (
            f"{self.safe_url}#page={self.page}"
            if self.safe_url and self.page and self.format == PDF_FORMAT
            else self.safe_url
        )

    @property
    def plain_title(self) -> str:
        """The title without marks."""
        return plain_text(self.title)


@dataclass(frozen=True)
class Facet:
    """One value that narrows the results. `bar_steps`: its count in twentieths of the largest, 0 only for 0."""

    value: str
    label: str
    count: int
    selected: bool
    bar_steps: int


@dataclass(frozen=True)
class SearchPage:
    """What one result page shows.

    `total` counts what holds a good share of the query, near-duplicates once; `documents` the same with each of them.
    `match_count` counts whatever can be paged through, down to the weakest match. `numbered_pages` is how many can be
    asked for by number, `cursor` where the next page without a number begins, "" if there is none. `quotations` answer
    a question, if there is an answer. `partial`: Solr ran out of time.
    """

    total: int = 0
    documents: int = 0
    match_count: int = 0
    took_ms: int = 0
    partial: bool = False
    page: int = 1
    numbered_pages: int = 1
    cursor: str = ""
    hits: tuple[Hit, ...] = ()
    quotations: tuple[Quotation, ...] = ()
    sites: tuple[Facet, ...] = ()
    sections: tuple[Facet, ...] = ()
    languages: tuple[Facet, ...] = ()
    authors: tuple[Facet, ...] = ()
    types: tuple[Facet, ...] = ()
    formats: tuple[Facet, ...] = ()
    terms: tuple[Facet, ...] = ()
    dates: tuple[Facet, ...] = ()


@dataclass(frozen=True)
class SearchResponses:
    """Solr's to the questions of one page:

    `query.hits_params`, `count_params`, `highlight_params`, `hit_details_params`, `body_params`. `passages`: of the
    documents that meaning alone has found the best passage (first character of the body, and the one after its last).
    """

    hits: SolrResponse
    count: SolrResponse
    highlights: SolrResponse = field(default_factory=dict)
    details: SolrResponse = field(default_factory=dict)
    bodies: SolrResponse = field(default_factory=dict)
    passages: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def build_search_page(
    answers: SearchResponses, request: SearchRequest, settings: SearchSettings, words: Sequence[str] = ()
) -> SearchPage:
    """Read the answers to `request`. `words` are the query's, which are marked whole.

    A document that went from the index between two of the questions is not shown.
    """
    count_response, match_count = answers.count, int(answers.hits.get("response", {}).get("numFound", 0))
    responses = (answers.hits, answers.count, answers.highlights, answers.details, answers.bodies)
    headers = [each.get("responseHeader", {}) for each in responses]
    return SearchPage(
        total=parse_total(count_response),
        documents=int(count_response.get("response", {}).get("numFound", 0)),
        match_count=match_count,
        took_ms=sum(int(header.get("QTime", 0)) for header in headers),
        partial=any(header.get("partialResults", False) for header in headers),
        page=request.page,
        numbered_pages=min(last_numbered_page(settings), max(1, -(-match_count // settings.page_size))),
        hits=tuple(_iter_hits(answers, settings, build_mark_refiner(request.parsed_query.ranking_text, words))),
        **{name: _build_facet(count_response, name, request, settings) for name in PARAM_BY_FILTER},  # type: ignore[arg-type]
        dates=_date_facets(count_response, request),
    )


def parse_total(count_response: SolrResponse) -> int:
    """How many documents hold enough, by Solr's answer to `query.count_params`; near-duplicates count once."""
    return int(count_response.get("facets", {}).get("total", 0))


def ids_and_clusters(hits: SolrResponse) -> tuple[list[str], list[str]]:
    """The ids of the documents in an answer, in their order, and the clusters they are of."""
    docs = _docs(hits)
    return [_get_text(doc, solr_fields.ID) for doc in docs], [_get_text(doc, solr_fields.CLUSTER_ID) for doc in docs]


def distinct_series(hits: SolrResponse) -> list[str]:
    """The series that the documents in an answer are of."""
    return list(dict.fromkeys(series for doc in _docs(hits) if (series := _get_text(doc, solr_fields.SERIES_ID))))


def distinct_pictures(hits: SolrResponse) -> list[str]:
    """The URLs of the pictures of the documents in an answer."""
    return list(dict.fromkeys(url for doc in _docs(hits) if (url := _get_text(doc, solr_fields.PICTURE))))


def ids_with_page_passage(response: SolrResponse) -> list[str]:
    """The ids of the documents in an answer that have pages, and a passage to look for on them."""
    highlights = response.get("highlighting", {})
    ids = (_get_text(doc, solr_fields.ID) for doc in _docs(response) if _get_text(doc, solr_fields.PAGE_STARTS))
    return [doc_id for doc_id in ids if HIGHLIGHT_START in _most_marked_passage(highlights.get(doc_id, {}))]


def _most_marked_passage(highlights: Mapping[str, Any]) -> str:
    """Of the passages of the body the one with the most marks; "" where there is none."""
    return max(
        map(str, highlights.get(solr_fields.BODY, ())), key=lambda passage: passage.count(HIGHLIGHT_START), default=""
    )


def _page_number_of_passage(doc: Mapping[str, Any], body: str, passage: str) -> int:
    """The page of a document on which a passage of its body begins to match; 0 where that is not to be found."""
    text_before, cursor_mark, _ = passage.partition(HIGHLIGHT_START)
    offset = body.find(passage.replace(HIGHLIGHT_START, "").replace(HIGHLIGHT_END, "")) if cursor_mark else -1
    return (
        page_number_at(parse_page_offsets(_get_text(doc, solr_fields.PAGE_STARTS)), offset + len(text_before))
        if offset >= 0
        else 0
    )


MAX_CLUSTERS_PER_PICTURE = 2  # clusters in which an article's own picture stands; one that more have is the site's


def _iter_hits(answers: SearchResponses, settings: SearchSettings, mark_refiner: MarkRefiner) -> Iterator[Hit]:
    document_by_id = {_get_text(doc, solr_fields.ID): doc for doc in _docs(answers.highlights)}
    ids_holding_enough = {_get_text(doc, solr_fields.ID) for doc in _docs(answers.details)}
    copies_by_cluster = {str(bucket["val"]): int(bucket["count"]) - 1 for bucket in _buckets(answers.details, "copies")}
    similar_by_series = {series: clusters - 1 for series, clusters in facet_counts(answers.details, "similar")}
    article_pictures = {
        url for url, clusters in facet_counts(answers.details, "pictures") if clusters <= MAX_CLUSTERS_PER_PICTURE
    }
    highlights = answers.highlights.get("highlighting", {})
    bodies = {_get_text(doc, solr_fields.ID): _get_text(doc, solr_fields.BODY) for doc in _docs(answers.bodies)}
    for doc_id in ids_and_clusters(answers.hits)[0]:
        if doc := document_by_id.get(doc_id):
            hit = _to_hit(doc, highlights.get(doc_id, {}), settings, mark_refiner)
            hit = replace(
                hit, copies=copies_by_cluster.get(hit.cluster, 0), similar=similar_by_series.get(hit.series, 0)
            )
            picture = hit.picture if hit.picture in article_pictures else ""
            page = _page_number_of_passage(
                doc, bodies.get(doc_id, ""), _most_marked_passage(highlights.get(doc_id, {}))
            )
            hit = replace(hit, is_partial=doc_id not in ids_holding_enough, picture=picture, page=page)
            is_semantic_only = hit.is_partial and doc_id in answers.passages
            yield (
                _as_semantic_hit(hit, doc, bodies.get(doc_id, ""), answers.passages[doc_id])
                if is_semantic_only
                else hit
            )


def _as_semantic_hit(hit: Hit, doc: Mapping[str, Any], body: str, passage: tuple[int, int]) -> Hit:
    """A hit that meaning alone has found, with its best passage; the beginning of its text where that is not known."""
    start, end = passage
    text = clean_text(" ".join(body[start:end].split()))
    snippet = truncate_segments((Segment(text),), SNIPPET_CHARS) if text else hit.snippet
    paragraph = paragraph_number(body, start) if end else 0
    page = page_number_at(parse_page_offsets(_get_text(doc, solr_fields.PAGE_STARTS)), start) if end else 0
    return replace(hit, snippet=snippet, by_meaning=True, paragraph=paragraph, page=page)


def paragraph_number(body: str, offset: int) -> int:
    """The number, from 1, of the paragraph with a character of the body: those of blanks alone do not count."""
    offset += len(body[offset:]) - len(body[offset:].lstrip())
    return sum(1 for line in body[:offset].split("\n")[:-1] if line.strip()) + 1


def with_match_count(response: SolrResponse, match_count: int) -> SolrResponse:
    """An answer to a part of a question, with what the whole has matched."""
    return {**response, "response": {**response["response"], "numFound": match_count}}


def digest_by_id(response: SolrResponse) -> dict[str, str]:
    """The digests of the articles in an answer, by their ids."""
    return {_get_text(doc, solr_fields.ID): _get_text(doc, solr_fields.ARTICLE_DIGEST) for doc in _docs(response)}


def collapse_first_page(response: SolrResponse, page_size: int) -> SolrResponse | None:
    """An answer that was not collapsed as if it had been, `page_size` hits long.

    None if Solr has to collapse after all.

    Collapsing costs half as much as the ranking. So a first page is asked for with `SPARE` hits more, and of each
    cluster the first stays, as collapsing in this order would have it. Solr has to where there are too few to fill the
    page, and where few were found and copies among them: how many pages those make nobody can tell from the first.
    """
    docs, match_count = _docs(response), int(response.get("response", {}).get("numFound", 0))
    clusters = [str(doc.get(solr_fields.CLUSTER_ID, doc.get(solr_fields.ID))) for doc in docs]
    first_of_cluster = [doc for position, doc in enumerate(docs) if clusters.index(clusters[position]) == position]
    duplicate_count = len(docs) - len(first_of_cluster)
    if (
        match_count > len(docs)
        and duplicate_count
        and (len(first_of_cluster) < page_size or match_count <= EXACT_PAGING_HITS)
    ):
        return None
    return {
        **response,
        "response": {
            **response.get("response", {}),
            "numFound": match_count - duplicate_count,
            "docs": first_of_cluster[:page_size],
        },
    }


def build_plain_hits(response: SolrResponse, settings: SearchSettings) -> tuple[Hit, ...]:
    """The documents of an answer that shows them itself, in its order."""
    return tuple(_to_hit(doc, {}, settings, build_mark_refiner("", ())) for doc in _docs(response))


def _docs(response: SolrResponse) -> Sequence[Mapping[str, Any]]:
    docs: Sequence[Mapping[str, Any]] = response.get("response", {}).get("docs", ())
    return docs


def _to_hit(
    doc: Mapping[str, Any], highlights: Mapping[str, Any], settings: SearchSettings, mark_refiner: MarkRefiner
) -> Hit:
    url, site, cluster = (
        _get_text(doc, solr_fields.URL),
        _get_text(doc, solr_fields.SITE),
        _get_text(doc, solr_fields.CLUSTER_ID),
    )
    title = _join_fragments(highlights.get(solr_fields.TITLE, ())) or (Segment(display_title(doc)),)
    return Hit(
        doc_id=_get_text(doc, solr_fields.ID),
        title=truncate_segments(mark_refiner.refine(title), 2 * SNIPPET_CHARS),
        url=clean_text(url),
        safe_url=safe_url(url),
        site=clean_text(site),
        site_name=site_display_name(site, settings),
        published=clean_text(_get_text(doc, solr_fields.PUBLISHED_TEXT)),
        fetched=_get_text(doc, solr_fields.FETCHED)[:19] + "Z" if solr_fields.FETCHED in doc else "",
        snippet=truncate_segments(
            mark_refiner.refine(_join_fragments(highlights.get(solr_fields.BODY, ()))), SNIPPET_CHARS
        ),
        cluster=cluster,
        series=_get_text(doc, solr_fields.SERIES_ID),
        picture=_get_text(doc, solr_fields.PICTURE),
        format=display_format(doc),
        story=_get_text(doc, solr_fields.STORY_ID),
    )


def display_title(doc: Mapping[str, Any]) -> str:
    """The title of a document as a reader sees it: of a file that has none, its name."""
    title = clean_text(_get_text(doc, solr_fields.TITLE))
    return title if title or display_format(doc) == HTML_FORMAT else url_file_name(_get_text(doc, solr_fields.URL))


def display_format(doc: Mapping[str, Any]) -> str:
    """The file format of a document, `html` where the index has none or one that is not known."""
    name = _get_text(doc, solr_fields.FORMAT)
    return name if name in FORMATS_BY_NAME else HTML_FORMAT


def site_display_name(site: str, settings: SearchSettings) -> str:
    """The name of a site, as the operator gave it, else its URL."""
    return settings.site_names.get(site, clean_text(site))


def _get_text(doc: Mapping[str, Any], name: str) -> str:
    value = doc.get(name, "")
    return str(value[0]) if isinstance(value, list) and value else str(value)


def _join_fragments(fragments: Sequence[str]) -> Segments:
    return split_highlights(" … ".join(fragments), HIGHLIGHT_START, HIGHLIGHT_END)


SITE_BOILERPLATE_SHARE = 0.9  # of a site's documents: what so many have is what the site writes on every page


def _build_facet(
    response: SolrResponse, name: str, request: SearchRequest, settings: SearchSettings
) -> tuple[Facet, ...]:
    """The values of a facet that tell documents apart; () if there is one alone.

    Left out is what all that was found has, and a section or an author that nearly all documents of one site have and
    no others: its slogan, or its `admin`. What was chosen stays in sight, however little of it there is.
    """
    selected_values: tuple[str, ...] = getattr(request, name)
    hidden_values = site_specific_values(response, name)
    hidden_values |= frozenset() if selected_values else _universal_values(response, name)
    counts = [
        (value, count)
        for value, count in facet_counts(response, name)
        if value in selected_values or value not in hidden_values
    ]
    counts += [(value, 0) for value in selected_values if value not in dict(counts)]
    if len(counts) < 2 and not selected_values:
        return ()
    labelled_counts = [
        (value, site_display_name(value, settings) if name == "sites" else clean_text(value), n) for value, n in counts
    ]
    return build_facets(
        sorted(labelled_counts, key=lambda labelled_count: -labelled_count[2]), frozenset(selected_values)
    )


def _universal_values(response: SolrResponse, name: str) -> frozenset[str]:
    """The values that each document has that was found."""
    match_count = int(response.get("response", {}).get("numFound", 0))
    return frozenset(str(bucket["val"]) for bucket in _buckets(response, name) if bucket["count"] == match_count)


def site_specific_values(response: SolrResponse, name: str) -> frozenset[str]:
    """The values that stand on nearly every page of one site, and on no other."""
    count_by_site = {str(bucket["val"]): int(bucket["count"]) for bucket in _buckets(response, f"{name}_of_sites")}
    specific = set()
    for bucket in _buckets(response, name):
        for site in bucket.get("of", {}).get("buckets", ())[:1]:
            site_total = count_by_site.get(str(site["val"]), 0)
            if site["count"] == bucket["count"] >= SITE_BOILERPLATE_SHARE * site_total > 0:
                specific.add(str(bucket["val"]))
    return frozenset(specific)


def facet_counts(response: SolrResponse, name: str) -> list[tuple[str, int]]:
    """The values of a facet with the documents that have them, of near-duplicates one."""
    return [(str(bucket["val"]), int(bucket.get("n", 0))) for bucket in _buckets(response, name)]


def _date_facets(response: SolrResponse, request: SearchRequest) -> tuple[Facet, ...]:
    """Years as `2016`, months as `2016-05`, oldest first: both are what `since` and `until` take.

    Empty ones stay where they stand between others, so that the picture is true.
    """
    length = 7 if request.single_year() else 4
    buckets = [(moment[:length], count) for moment, count in facet_counts(response, "dates")]
    non_empty = [n for n, (_, count) in enumerate(buckets) if count]
    counts = buckets[non_empty[0] : non_empty[-1] + 1] if non_empty else []
    selected_values = {request.since} if request.since == request.until else set()
    return build_facets([(day, day, count) for day, count in counts], frozenset(selected_values))


def _buckets(response: SolrResponse, name: str) -> Sequence[Mapping[str, Any]]:
    buckets: Sequence[Mapping[str, Any]] = response.get("facets", {}).get(name, {}).get("buckets", ())
    return buckets


def build_facets(
    labelled_counts: Sequence[tuple[str, str, int]], selected: frozenset[str] = frozenset()
) -> tuple[Facet, ...]:
    """Facets of values, each with its label and its count."""
    largest = max((count for _, _, count in labelled_counts), default=1) or 1
    return tuple(
        Facet(value, label, count, value in selected, -(-20 * count // largest))
        for value, label, count in labelled_counts
    )


def plain_text(segments: Segments) -> str:
    """The text without its marks."""
    return "".join(segment.text for segment in segments)


@dataclass(frozen=True)
class SiteCounts:
    """What is counted of the vertical. `newest` is a day (`2016-05-09`) or ""."""

    documents: int
    sites: int
    newest: str


def parse_site_counts(response: SolrResponse) -> SiteCounts:
    """Read Solr's answer to `query.site_counts_params()`."""
    facets = response.get("facets", {})
    documents = int(response.get("response", {}).get("numFound", 0))
    return SiteCounts(documents, len(_buckets(response, "sites")), str(facets.get("newest", ""))[:10])
