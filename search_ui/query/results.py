"""Reads Solr's responses into the model of a results page. No text of a response is treated as markup."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from domain.curation import CurationAction
from domain.file_formats import FORMATS_BY_NAME, HTML_FORMAT, PDF_FORMAT
from domain.page_offsets import page_number_at, parse_page_offsets
from search_ui.query.display_text import (
    MarkRefiner,
    Segment,
    Segments,
    build_mark_refiner,
    clean_text,
    first_sentences,
    from_sentence_with,
    is_spaced_script,
    paragraph_number,
    safe_url,
    site_display_name,
    split_highlights,
    truncate_segments,
    url_file_name,
)
from search_ui.query.facets import Facet, build_date_facets, build_facet, facet_counts, has_more_values
from search_ui.query.query_plan import QueryPlan
from search_ui.query.search_request import (
    FILTER_NAMES,
    FilterFields,
    PageSpan,
    count_numbered_pages,
    last_numbered_page,
    page_span,
)
from search_ui.query.solr_client import (
    SolrResponse,
    buckets,
    documents,
    get_text,
    is_partial,
    match_count,
    with_documents,
)
from search_ui.query.solr_requests import (
    EXACT_PAGING_HITS,
    HIGHLIGHT_END,
    HIGHLIGHT_START,
    is_full_match,
)
from search_ui.settings import SearchSettings
from search_ui.spelling.did_you_mean import SearchSuggestion
from solr_client import solr_fields

SNIPPET_CHARS = 160
SENTENCE_SNIPPET_CHARS = 320  # of a snippet of whole sentences


@dataclass(frozen=True, kw_only=True)
class ArticleSummary:
    """What lists show of an article, and references state. Values that its page did not state are "".

    Attributes:
        safe_url: The URL to link to; "" if `url` is not safe to follow.
        cluster: Id shared by the document and its near-duplicates.
        series: Id shared by the document and its other versions or issues.
        format: `html`, or the file format (domain/file_formats.py).
        text_source: A value of `domain.article.TextSource`, or "".
        story: Id of the news story of the document, or "".
        fetched: Time of the fetch (ISO 8601, UTC), or "".
        language: Language of the document (ISO 639), or "".
        author: Authors, joined by ", ", or "".
        source: Original publisher of a republished document, or "".
    """

    doc_id: str
    title: Segments = ()
    url: str = ""
    safe_url: str = ""
    site: str = ""
    site_name: str = ""
    published: str = ""
    fetched: str = ""
    cluster: str = ""
    series: str = ""
    story: str = ""
    format: str = HTML_FORMAT
    text_source: str = ""
    language: str = ""
    author: str = ""
    source: str = ""

    @property
    def plain_title(self) -> str:
        """The title without highlighting marks."""
        return plain_text(self.title)


def summary_values(doc: Mapping[str, Any], settings: SearchSettings) -> dict[str, Any]:
    """Return the values of an `ArticleSummary` for a document of a response, with its title without marks."""
    url, site = get_text(doc, solr_fields.URL), get_text(doc, solr_fields.SITE)
    return {
        "doc_id": get_text(doc, solr_fields.ID),
        "title": (Segment(display_title(doc)),),
        "url": clean_text(url),
        "safe_url": safe_url(url),
        "site": clean_text(site),
        "site_name": site_display_name(site, settings),
        "published": clean_text(get_text(doc, solr_fields.PUBLISHED_TEXT)),
        "fetched": get_text(doc, solr_fields.FETCHED)[:19] + "Z" if solr_fields.FETCHED in doc else "",
        "cluster": get_text(doc, solr_fields.CLUSTER_ID),
        "series": get_text(doc, solr_fields.SERIES_ID),
        "story": get_text(doc, solr_fields.STORY_ID),
        "format": display_format(doc),
        "text_source": get_text(doc, solr_fields.TEXT_SOURCE),
        "language": clean_text(get_text(doc, solr_fields.LANGUAGE)),
        "author": clean_text(get_text(doc, solr_fields.AUTHOR)),
        "source": clean_text(get_text(doc, solr_fields.SOURCE)),
    }


def list_articles(response: SolrResponse, settings: SearchSettings) -> tuple[ArticleSummary, ...]:
    """Return the documents of a response, in its order."""
    return tuple(ArticleSummary(**summary_values(doc, settings)) for doc in documents(response))


@dataclass(frozen=True, kw_only=True)
class Hit(ArticleSummary):
    """One search result.

    Attributes:
        copies: Number of near-duplicates of this document.
        similar: Number of other documents of the series, without near-duplicates.
        is_partial: The document contains too little of the query to be counted in the total.
        picture: URL of the document's own picture, or "".
        page: Page of the file that contains the snippet, from 1; 0 if unknown.
        by_meaning: No word of the query matches; the snippet is the passage with the highest cosine.
        paragraph: Paragraph in which that passage begins, from 1; 0 if unknown.
        is_recommended: An editor has pinned or raised it for the query.
    """

    snippet: Segments = ()
    copies: int = 0
    similar: int = 0
    is_partial: bool = False
    picture: str = ""
    page: int = 0
    by_meaning: bool = False
    paragraph: int = 0
    is_recommended: bool = False

    @property
    def page_url(self) -> str:
        """The link. For PDF files it opens the page of the snippet."""
        return (
            f"{self.safe_url}#page={self.page}"
            if self.safe_url and self.page and self.format == PDF_FORMAT
            else self.safe_url
        )


@dataclass(frozen=True)
class Quotation:
    """A quotation with the title, site, publication date and language ("": unknown) of its article."""

    doc_id: str
    text: str
    paragraph: int
    title: str
    site_name: str
    published: str
    language: str = ""


@dataclass(frozen=True)
class SearchPage(FilterFields[Facet]):
    """The content of one results page, with the counted values of each filter (`FilterFields`).

    Attributes:
        total: Number of full matches (`full_matches`), near-duplicates counted once.
        partial_total: If there are none, the number of documents with at least one content word.
        documents: Number of these documents including near-duplicates.
        match_count: Number of documents that the pages list: full matches and related results.
        full_first: The full matches come first. Otherwise related results stand among them.
        partial: Solr timed out and returned partial results.
        numbered_pages: Number of pages that can be requested by number.
        span: Offsets of the hits of this page among all hits.
        cursor: Signed start of the next page if that has no number; "" if there is none.
        suggestions: Other searches; only on request.
        is_corrected: The page shows the results of the corrected spelling.
        is_title: The query has operators and is the title of a document.
        quotations: Quotations that answer a question; () if there is no answer.
        incomplete_filters: The filters with more values than the page lists.
    """

    total: int = 0
    partial_total: int = 0
    documents: int = 0
    match_count: int = 0
    full_first: bool = False
    partial: bool = False
    page: int = 1
    numbered_pages: int = 1
    span: PageSpan = field(default=PageSpan(0, 0))
    cursor: str = ""
    hits: tuple[Hit, ...] = ()
    suggestions: tuple[SearchSuggestion, ...] = ()
    is_corrected: bool = False
    is_title: bool = False
    quotations: tuple[Quotation, ...] = ()
    dates: tuple[Facet, ...] = ()
    incomplete_filters: tuple[str, ...] = ()

    @property
    def full_matches(self) -> tuple[Hit, ...]:
        """The full matches of this page."""
        return tuple(hit for hit in self.hits if not hit.is_partial)

    @property
    def related_hits(self) -> tuple[Hit, ...]:
        """The related results of this page. They follow the full matches."""
        return tuple(hit for hit in self.hits if hit.is_partial)


@dataclass(frozen=True)
class SearchResponses:
    """The Solr responses for one results page, by request.

    `hits`, `count` and `details` are the responses to `hits_params`, `count_params` and `details_params`.
    `passages` maps the ids of semantic matches to their best passage: offsets in the body, end exclusive.
    """

    hits: SolrResponse
    count: SolrResponse
    details: SolrResponse = field(default_factory=dict)
    passages: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def build_search_page(answers: SearchResponses, plan: QueryPlan, settings: SearchSettings) -> SearchPage:
    """Build the results page from the responses to the requests of `plan`.

    Documents that were deleted between two of the Solr requests are omitted.
    """
    request = plan.request
    count_response, hit_count = answers.count, match_count(answers.hits)
    total = parse_total(count_response)
    return SearchPage(
        total=0 if plan.match_any else total,
        partial_total=total if plan.match_any else 0,
        full_first=plan.full_first and not plan.match_any,
        documents=match_count(count_response),
        match_count=hit_count,
        partial=any(map(is_partial, (answers.hits, answers.count, answers.details))),
        page=request.page,
        numbered_pages=min(count_numbered_pages(hit_count, settings.page_size), last_numbered_page(settings)),
        span=page_span(request.page, settings.page_size),
        is_title=count_response.get("facets", {}).get("titled", {}).get("count", 0) > 0,
        hits=tuple(_iter_hits(answers, plan, settings)),
        **{name: build_facet(count_response, name, request, settings) for name in FILTER_NAMES},  # type: ignore[arg-type]
        dates=build_date_facets(count_response, request),
        incomplete_filters=tuple(name for name in FILTER_NAMES if has_more_values(count_response, name)),
    )


def parse_total(count_response: SolrResponse) -> int:
    """Return the number of full matches, near-duplicates counted once, from the response to `count_params`."""
    return int(count_response.get("facets", {}).get("total", 0))


def _most_marked_passage(highlights: Mapping[str, Any]) -> str:
    """Return the passage of the body with the most marks; "" if there are no passages."""
    return max(
        map(str, highlights.get(solr_fields.BODY, ())), key=lambda passage: passage.count(HIGHLIGHT_START), default=""
    )


def _page_number_of_passage(doc: Mapping[str, Any], passage: str) -> int:
    """Return the page on which a passage of the body begins to match, from 1; 0 if it is not found."""
    body = get_text(doc, solr_fields.BODY)
    text_before, cursor_mark, _ = passage.partition(HIGHLIGHT_START)
    offset = body.find(passage.replace(HIGHLIGHT_START, "").replace(HIGHLIGHT_END, "")) if cursor_mark else -1
    return (
        page_number_at(parse_page_offsets(get_text(doc, solr_fields.PAGE_STARTS)), offset + len(text_before))
        if offset >= 0
        else 0
    )


MIN_STORY_SITES = 2  # fewer tell no story
MAX_CLUSTERS_PER_PICTURE = 2  # a picture of more clusters belongs to the site, not to the article


def _iter_hits(answers: SearchResponses, plan: QueryPlan, settings: SearchSettings) -> Iterator[Hit]:
    mark_refiner = build_mark_refiner(plan.words.typed, plan.words.domain)
    document_by_id = {get_text(doc, solr_fields.ID): doc for doc in documents(answers.details)}
    copies_by_cluster = {str(bucket["val"]): int(bucket["count"]) - 1 for bucket in buckets(answers.details, "copies")}
    similar_by_series = {series: clusters - 1 for series, clusters in facet_counts(answers.details, "similar")}
    article_pictures = {
        url for url, clusters in facet_counts(answers.details, "pictures") if clusters <= MAX_CLUSTERS_PER_PICTURE
    }
    told_stories = {story for story, sites in facet_counts(answers.details, "stories") if sites >= MIN_STORY_SITES}
    highlights = answers.details.get("highlighting", {})
    recommended_ids = plan.curation.ids(CurationAction.PIN, CurationAction.RAISE)
    for ranked_doc in documents(answers.hits):
        doc_id = get_text(ranked_doc, solr_fields.ID)
        if (doc := document_by_id.get(doc_id)) is None:
            continue
        hit = _to_hit(doc, highlights.get(doc_id, {}), settings, mark_refiner)
        hit = replace(
            hit,
            copies=copies_by_cluster.get(hit.cluster, 0),
            similar=similar_by_series.get(hit.series, 0),
            is_partial=plan.is_ranked and not is_full_match(ranked_doc),
            is_recommended=doc_id in recommended_ids,
            picture=hit.picture if hit.picture in article_pictures else "",
            story=hit.story if not plan.is_limited or hit.story in told_stories else "",
            page=_page_number_of_passage(doc, _most_marked_passage(highlights.get(doc_id, {}))),
        )
        is_semantic_only = hit.is_partial and doc_id in answers.passages
        yield _as_semantic_hit(hit, doc, answers.passages[doc_id]) if is_semantic_only else hit


def _as_semantic_hit(hit: Hit, doc: Mapping[str, Any], passage: tuple[int, int]) -> Hit:
    """Return a semantic match with its best passage as the snippet; with the start of its text if that is unknown."""
    body, (start, end) = get_text(doc, solr_fields.BODY), passage
    text = clean_text(" ".join(body[start:end].split()))
    if is_spaced_script(text[:SENTENCE_SNIPPET_CHARS]):
        snippet = truncate_segments((Segment(first_sentences(text, SENTENCE_SNIPPET_CHARS)),), SENTENCE_SNIPPET_CHARS)
    else:
        snippet = truncate_segments((Segment(text),), SNIPPET_CHARS) if text else hit.snippet
    text_start = start + len(body[start:]) - len(body[start:].lstrip())
    paragraph = paragraph_number(body, text_start) if end else 0
    page = page_number_at(parse_page_offsets(get_text(doc, solr_fields.PAGE_STARTS)), start) if end else 0
    return replace(hit, snippet=snippet, by_meaning=True, paragraph=paragraph, page=page)


def collapse_first_page(response: SolrResponse, page_size: int) -> SolrResponse | None:
    """Collapse near-duplicate clusters of a first page that was requested with `SPARE_HITS` extra hits.

    Collapsing in Solr costs half as much as the ranking. The result is `page_size` hits long, with the first hit of
    each cluster. Returns None if Solr has to collapse: too few distinct clusters to fill the page, or at most
    `EXACT_PAGING_HITS` matches that contain duplicates, whose number of pages is unknown.
    """
    docs, total = documents(response), match_count(response)
    clusters = [str(doc.get(solr_fields.CLUSTER_ID, doc.get(solr_fields.ID))) for doc in docs]
    first_of_cluster = [doc for position, doc in enumerate(docs) if clusters.index(clusters[position]) == position]
    duplicate_count = len(docs) - len(first_of_cluster)
    if total > len(docs) and duplicate_count and (len(first_of_cluster) < page_size or total <= EXACT_PAGING_HITS):
        return None
    return with_documents(response, first_of_cluster[:page_size], total - duplicate_count)


def build_plain_hits(response: SolrResponse, settings: SearchSettings) -> tuple[Hit, ...]:
    """Return the documents of a response as hits without highlighting, in its order."""
    return tuple(_to_hit(doc, {}, settings, build_mark_refiner("", ())) for doc in documents(response))


def _to_hit(
    doc: Mapping[str, Any], highlights: Mapping[str, Any], settings: SearchSettings, mark_refiner: MarkRefiner
) -> Hit:
    values = summary_values(doc, settings)
    title = _join_fragments(highlights.get(solr_fields.TITLE, ())) or values["title"]
    return Hit(
        **{**values, "title": truncate_segments(mark_refiner.refine(title), 2 * SNIPPET_CHARS)},
        snippet=_build_snippet(highlights.get(solr_fields.BODY, ()), mark_refiner),
        picture=get_text(doc, solr_fields.PICTURE),
    )


def display_title(doc: Mapping[str, Any]) -> str:
    """Return the title of a document for display. A file without a title has its file name."""
    title = clean_text(get_text(doc, solr_fields.TITLE))
    return title if title or display_format(doc) == HTML_FORMAT else url_file_name(get_text(doc, solr_fields.URL))


def display_format(doc: Mapping[str, Any]) -> str:
    """Return the file format of a document; `html` if the index has none or an unknown one."""
    name = get_text(doc, solr_fields.FORMAT)
    return name if name in FORMATS_BY_NAME else HTML_FORMAT


def _build_snippet(fragments: Sequence[str], mark_refiner: MarkRefiner) -> Segments:
    """Return the snippet from Solr's fragments, which consist of whole sentences.

    A text in a script with spaces between words is cut between two sentences; only a long sentence is cut itself.
    """
    if not fragments or not is_spaced_script(fragments[0]):
        return truncate_segments(mark_refiner.refine(_join_fragments(fragments)), SNIPPET_CHARS)
    if sum(map(len, fragments)) > SENTENCE_SNIPPET_CHARS:
        best = max(fragments, key=lambda fragment: fragment.count(HIGHLIGHT_START))
        fragments = [first_sentences(from_sentence_with(best, HIGHLIGHT_START), SENTENCE_SNIPPET_CHARS)]
    return truncate_segments(mark_refiner.refine(_join_fragments(fragments)), SENTENCE_SNIPPET_CHARS)


def _join_fragments(fragments: Sequence[str]) -> Segments:
    return split_highlights(" … ".join(fragments), HIGHLIGHT_START, HIGHLIGHT_END)


def plain_text(segments: Segments) -> str:
    """Return the text of the segments without marks."""
    return "".join(segment.text for segment in segments)


@dataclass(frozen=True)
class SiteCounts:
    """Counts of the index. `newest` is the latest date of publication (`2016-05-09`) or ""."""

    documents: int
    sites: int
    newest: str


def parse_site_counts(response: SolrResponse) -> SiteCounts:
    """Parse the response to `site_counts_params`."""
    facets = response.get("facets", {})
    documents = match_count(response)
    return SiteCounts(documents, len(buckets(response, "sites")), str(facets.get("newest", ""))[:10])
