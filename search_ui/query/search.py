"""Executes a search request: sends its Solr requests, fuses lexical and vector hits and returns a `SearchPage`.

    ┬─ count ────────────────┬─ details ── page
    └─ [works] ─┬─ vectors ──┤
                └─ hits ─────┘

`SolrRequest` lists all requests. Without a full match, count and hits are repeated for documents with a part of the
query. No Flask.
"""

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from domain.errors import SolrError
from domain.file_formats import HTML_FORMAT
from search_ui.query.curation import NO_CURATION, Curation
from search_ui.query.query_parser import as_plain_words
from search_ui.query.query_plan import MAX_KEYWORDS, QueryPlan
from search_ui.query.query_words import Thesaurus, segment_query
from search_ui.query.ranking import PROFILES, parse_work_boosts, works_params
from search_ui.query.results import (
    Quotation,
    SearchPage,
    SearchResponses,
    build_search_page,
    collapse_first_page,
    display_format,
    parse_total,
)
from search_ui.query.search_request import (
    RANKED_HITS,
    CursorCodec,
    CursorPosition,
    PageSpan,
    SearchRequest,
    SortOrder,
    last_page,
    page_span,
)
from search_ui.query.semantic.answer_extraction import answer_from_hits, find_source_ids
from search_ui.query.semantic.hybrid import (
    ANY_PART_FIELD,
    LEXICAL_MATCH_FIELD,
    FusedCandidates,
    QueryVector,
    QueryVectors,
    can_use_semantic_search,
    fuse,
    lexical_fields,
    vector_search_params,
)
from search_ui.query.solr_client import (
    SolrBackend,
    SolrResponse,
    background_pool,
    buckets,
    documents,
    get_text,
    match_count,
    with_documents,
)
from search_ui.query.solr_query import NO_FACETS, Facets, Params, QueryVariant
from search_ui.query.solr_requests import (
    EXACT_PAGING_HITS,
    FIRST_CURSOR_MARK,
    HIT_FIELDS,
    SPARE_HITS,
    count_params,
    cursor_start_params,
    details_params,
    display_fields_params,
    facet_values_params,
    hits_params,
    parse_index_counts,
)
from search_ui.settings import SearchSettings
from search_ui.spelling.did_you_mean import DidYouMeanKind, SuggestionSearch
from search_ui.spelling.vocabulary import Vocabulary
from solr_client import solr_fields
from text.segment import Segmenter, base_segmenter

_log = logging.getLogger(__name__)


class SolrRequest(StrEnum):
    """Every request that a results page can send, except those of suggestions (search_ui/spelling/did_you_mean.py).

    Requests are logged with their name and time at level DEBUG.
    """

    COUNT = "count"  # total, facets, size of the index
    VECTORS = "vectors"  # nearest neighbours
    WORKS = "works"  # only if the index has works (documents in several parts)
    HITS = "hits"  # twice if Solr has to collapse near-duplicates
    CURSOR_START = "cursor_start"  # only on the last numbered page, without vectors
    FACET_VALUES = "facet_values"  # only on the page with all values of a filter
    DETAILS = "details"  # display fields, highlighting, counts of near-duplicates, bodies for files, meaning, answers


@dataclass
class IndexState:
    """The number of documents in the index, and of those that are parts of works. None: not known yet.

    The response to each COUNT request updates it, so the next search of the process knows.
    """

    document_count: int | None = None
    work_part_count: int | None = None


@dataclass(frozen=True)
class RankedHits:
    """The hits of the numbered pages in their order, or those of one page that was reached by cursor.

    `response` is a Solr response with all documents of the list, near-duplicates once, and the number of documents that
    match as `numFound`. `candidates` is the fused list, None without vectors.
    """

    response: SolrResponse
    candidates: FusedCandidates | None = None

    @property
    def match_count(self) -> int:
        """The number of documents that can be paged through."""
        return match_count(self.response)

    def page_response(self, span: PageSpan) -> SolrResponse:
        """Return a response with the documents of one page only."""
        return with_documents(self.response, documents(self.response)[span.start : span.end])


@dataclass(frozen=True)
class SearchService:
    """The search of one site. `execute` raises what `SolrBackend.select` and `CursorCodec.decode` raise.

    `is_term` tells the terms that readers see. `get_vocabulary` returns the words for suggestions, `find_curation` the
    rules of editors for a request. Without `has_snippets`, the hits have no highlighting, snippets, passages and counts
    of near-duplicates, which cost most of the time of a long list. `is_limited`: `solr` leaves out articles, see
    `QueryPlan`.
    """

    solr: SolrBackend
    segmenter: Segmenter
    settings: SearchSettings
    cursors: CursorCodec
    thesaurus: Thesaurus
    query_vectors: QueryVectors
    is_term: Callable[[str], bool]
    get_vocabulary: Callable[[], Vocabulary] = Vocabulary
    index_state: IndexState = field(default_factory=IndexState)
    has_snippets: bool = True
    find_curation: Callable[[SearchRequest], Curation] = lambda _: NO_CURATION
    is_limited: bool = False

    def select(self, name: SolrRequest, params: Params) -> SolrResponse:
        """Send a request and log its time. See `SolrBackend.select`."""
        started = time.perf_counter()
        response = self.solr.select(params)
        _log.debug("solr request %s: %.0f ms", name, 1000 * (time.perf_counter() - started))
        return response

    def _start(self, name: SolrRequest, params: Params) -> "Future[SolrResponse]":
        return background_pool.submit(self.select, name, params)

    def plan(self, request: SearchRequest) -> QueryPlan:
        """Segment the query of a request, with the published lexicon and, if ranked by, the base dictionary."""
        base = base_segmenter() if PROFILES[request.profile].scores(QueryVariant.BASE) else None
        is_term = self.is_term if PROFILES[request.profile].recency_score else None
        words = segment_query(request, self.segmenter, base, self.thesaurus, is_term)
        return QueryPlan(request, words, curation=self.find_curation(request), is_limited=self.is_limited)

    def search(self, request: SearchRequest) -> tuple[QueryPlan, SearchPage]:
        """Execute a request with suggestions. If its query with operators is a title (`C++ -入门`), its plain words."""
        plan = self.plan(request)
        page = self.execute(plan, self.has_snippets)
        if page.is_title:
            plan = self.plan(replace(request, text=as_plain_words(request.text)))
            page = self.execute(plan, self.has_snippets)
        return plan, page

    def search_with_correction(self, request: SearchRequest) -> tuple[QueryPlan, SearchPage]:
        """Search for the request, or for a spelling correction of it.

        A correction is executed instead if the request has no full matches, no document contains what the correction
        replaces, and all words of the correction occur in one document. Raises what `execute` raises.
        """
        plan, page = self.search(request)
        corrections = [offer for offer in page.suggestions if offer.kind is DidYouMeanKind.CORRECTED]
        correction = next((offer for offer in corrections if offer.all_words_count and not offer.typed_count), None)
        if page.total or correction is None:
            return plan, page
        plan = self.plan(correction.request)
        other_offers = tuple(offer for offer in corrections if offer is not correction)
        return plan, replace(self.execute(plan), suggestions=other_offers, is_corrected=True)

    def execute(self, plan: QueryPlan, has_suggestions: bool = False) -> SearchPage:
        """Return the requested results page; with `has_suggestions` on its first page also other searches.

        Returns an empty page without a Solr request if the request has no criteria. If no document is a full match,
        documents with at least one content word are listed and counted.
        """
        if not plan.request.has_criteria():
            return SearchPage()
        solr_mark = ""
        if plan.request.cursor:
            position = self.cursors.decode(plan.request)
            solr_mark, plan = position.solr_mark, replace(plan, request=replace(plan.request, page=position.page))
        suggestion_search = None
        if has_suggestions and plan.request.text and plan.request.page == 1:
            suggestion_search = SuggestionSearch(plan, self.get_vocabulary(), self.plan, self.segmenter)
        text_facets = suggestion_search.text_facets() if suggestion_search else NO_FACETS
        first_count = count = self._start(SolrRequest.COUNT, count_params(plan, text_facets))
        plan = self.add_work_boosts(plan)
        vector_search = self._start_vector_search(plan)
        has_list = vector_search or not plan.request.cursor
        ranked_hits = None
        if has_list and len(plan.words.content) <= MAX_KEYWORDS:  # more words seldom have a full match
            ranked_hits = self._rank(plan, vector_search)
        if plan.is_ranked and plan.words.content and not match_count(first_count.result()):
            plan, ranked_hits = replace(plan, match_any=True), None
            count = self._start(SolrRequest.COUNT, count_params(plan))
        if has_list and ranked_hits is None:
            ranked_hits = self._rank(plan, vector_search)
        count_response = self._drop_words(count.result(), plan.request.terms)
        self.index_state.document_count, self.index_state.work_part_count = parse_index_counts(count_response)
        span = page_span(plan.request.page, self.settings.page_size)
        candidates = ranked_hits.candidates if ranked_hits else None
        if ranked_hits is None or plan.request.cursor:
            ranked_hits = self._continue_at_cursor(plan, solr_mark, span, candidates)
            hits_response = ranked_hits.response
        else:
            hits_response = ranked_hits.page_response(span)
        facets = NO_FACETS
        if suggestion_search:
            total = 0 if plan.match_any else parse_total(count_response)
            facets = suggestion_search.search_facets(first_count.result(), total)
        responses = self._fetch_details(plan, hits_response, count_response, candidates, facets)
        page = build_search_page(responses, plan, self.settings)
        quotations: tuple[Quotation, ...] = ()
        if candidates and page.page == 1:
            cosines = partial(self.query_vectors.text_cosines, candidates.vector)
            quotations = answer_from_hits(plan.words, candidates, page.hits, responses.details, cosines)
        suggestions = tuple(suggestion_search.suggestions(responses.details)) if suggestion_search else ()
        cursor = self._next_cursor(plan, ranked_hits, span)
        return replace(page, quotations=quotations, suggestions=suggestions, cursor=cursor)

    def list_hits(self, plan: QueryPlan, hits: SolrResponse) -> SearchPage:
        """Return a page with all hits of a response to HITS, without counts and facets."""
        return build_search_page(self._fetch_details(plan, hits, {}, None, NO_FACETS), plan, self.settings)

    def count_values(self, request: SearchRequest, name: str, limit: int) -> SolrResponse:
        """Return the response with the most frequent values of the filter `name` in the results of a request.

        The counts are those of the results page: without a full match, of the documents with a content word.
        """
        plan = self.plan(request)
        response = self.select(SolrRequest.FACET_VALUES, facet_values_params(plan, name, limit))
        if plan.is_ranked and plan.words.content and not match_count(response):
            params = facet_values_params(replace(plan, match_any=True), name, limit)
            response = self.select(SolrRequest.FACET_VALUES, params)
        return self._drop_words(response, request.terms)

    def _drop_words(self, response: SolrResponse, selected_terms: Collection[str]) -> SolrResponse:
        """Return a response to COUNT whose facet of terms has only published and selected ones."""
        facets = response.get("facets", {})
        rows = [row for row in buckets(response, "terms") if row["val"] in selected_terms or self.is_term(row["val"])]
        return {**response, "facets": {**facets, "terms": {"buckets": rows}}}

    def _start_vector_search(self, plan: QueryPlan) -> "VectorSearch | None":
        """Start the kNN request in the background. Returns None if semantic search does not apply or has no model."""
        vector = self.query_vectors.query_vector(plan.words.typed) if can_use_semantic_search(plan) else None
        if vector is None:
            return None
        params = vector_search_params(plan, vector, (*HIT_FIELDS, "score"))
        return VectorSearch(vector, self._start(SolrRequest.VECTORS, params))

    def add_work_boosts(self, plan: QueryPlan) -> QueryPlan:
        """Add the works whose parts match the query, if the ranking uses works and the index has any."""
        profile = plan.request.profile
        if plan.request.sort is not SortOrder.RELEVANCE or self.index_state.work_part_count == 0:
            return plan
        if not (params := works_params(plan.words, profile)):
            return plan
        boosts = parse_work_boosts(self.select(SolrRequest.WORKS, params), profile)
        return replace(plan, words=replace(plan.words, work_boosts=boosts)) if boosts else plan

    def find_candidates(self, plan: QueryPlan) -> FusedCandidates | None:
        """Return the fused list of a query; None if semantic search does not apply or failed."""
        vector_search = self._start_vector_search(plan)
        return self._rank(plan, vector_search).candidates if vector_search else None

    def _rank(self, plan: QueryPlan, vector_search: "VectorSearch | None") -> RankedHits:
        """Fetch the hits of the numbered pages, and fuse them with the nearest neighbours.

        The ranking is lexical only if there was no kNN request or it failed.
        """
        field_names = lexical_fields(plan, vector_search.query_vector, HIT_FIELDS) if vector_search else HIT_FIELDS
        lexical_response = self._fetch_lexical_hits(plan, field_names)
        try:
            vector_response = vector_search.response_future.result() if vector_search else None
        except SolrError:  # the collection has no such field, or Solr timed out
            vector_response = None
        if vector_search is None or vector_response is None:
            return RankedHits(lexical_response)
        candidates = fuse(
            lexical_response,
            vector_response,
            vector_search.query_vector,
            plan.profile.semantic_weight,
            RANKED_HITS,
            match_count(lexical_response),
            plan.full_first,
            ANY_PART_FIELD if plan.match_any else LEXICAL_MATCH_FIELD,
            plan.curation,
        )
        return RankedHits(candidates.page_response(0), candidates)

    def _fetch_lexical_hits(self, plan: QueryPlan, field_names: Sequence[str]) -> SolrResponse:
        """Fetch the hits of the numbered pages, near-duplicates once.

        In a large index Solr does not collapse near-duplicates, because this costs half as much as the ranking. If the
        first hits have too many of them, the request is repeated with collapsing.
        """
        document_count = self.index_state.document_count
        is_small = document_count is not None and document_count <= EXACT_PAGING_HITS
        if not (is_small or plan.match_any or plan.request.cluster):
            params = hits_params(plan, RANKED_HITS, spare_hits=SPARE_HITS, field_names=field_names)
            first_page = collapse_first_page(self.select(SolrRequest.HITS, params), RANKED_HITS)
            if first_page is not None:
                return first_page
        return self.select(SolrRequest.HITS, hits_params(plan, RANKED_HITS, field_names=field_names))

    def _continue_at_cursor(
        self, plan: QueryPlan, cursor_mark: str, span: PageSpan, candidates: FusedCandidates | None
    ) -> RankedHits:
        """Fetch the hits of a page that was reached by cursor, in lexical order.

        The clusters of `candidates` are omitted: the numbered pages listed them.
        """
        listed = candidates.clusters if candidates else ()
        params = hits_params(plan, span.end - span.start, cursor_mark, excluded_clusters=listed)
        response = self.select(SolrRequest.HITS, params)
        if candidates is not None:
            response = with_documents(response, documents(response), candidates.match_count)
        return RankedHits(response, candidates)

    def _fetch_details(
        self,
        plan: QueryPlan,
        hits: SolrResponse,
        count_response: SolrResponse,
        candidates: FusedCandidates | None,
        more_facets: Facets,
    ) -> SearchResponses:
        """Fetch highlighting, counts of near-duplicates and series, and bodies for the hits of the page.

        Bodies are needed for the passages of files, which have page numbers, of semantic matches, and of answers.
        """
        docs = documents(hits)
        ids = [get_text(doc, solr_fields.ID) for doc in docs]
        if not (ids or more_facets[0]):
            return SearchResponses(hits, count_response)
        if not self.has_snippets:
            return SearchResponses(hits, count_response, self.select(SolrRequest.DETAILS, display_fields_params(ids)))
        semantic_ids = candidates.semantic_match_ids(ids) if candidates else []
        has_files = any(display_format(doc) != HTML_FORMAT for doc in docs)
        question = plan.words.typed if plan.request.page == 1 else ""
        has_bodies = bool(semantic_ids or has_files or find_source_ids(question, ids, candidates))
        params = details_params(plan, docs, self.settings.pictures, has_bodies, more_facets)
        details_response = self.select(SolrRequest.DETAILS, params)
        passages = self._best_passages(candidates, semantic_ids, details_response)
        return SearchResponses(hits, count_response, details_response, passages)

    def _best_passages(
        self, candidates: FusedCandidates | None, ids: Sequence[str], details: SolrResponse
    ) -> Mapping[str, tuple[int, int]]:
        """Return the best passages of the semantic matches `ids`: start and end in the body, by document id."""
        if candidates is None or not ids:
            return {}
        digests = {
            doc_id: get_text(doc, solr_fields.ARTICLE_DIGEST)
            for doc in documents(details)
            if (doc_id := get_text(doc, solr_fields.ID)) in ids
        }
        best = self.query_vectors.best_passages(candidates.vector, digests.values())
        return {doc_id: best.get(digest, (0, 0)) for doc_id, digest in digests.items()}

    def _next_cursor(self, plan: QueryPlan, ranked_hits: RankedHits, span: PageSpan) -> str:
        """Return the cursor of the next page; "" if there is none or it has a number."""
        has_number, request = span.end < RANKED_HITS, plan.request
        if has_number or request.page >= last_page(self.settings) or span.end >= ranked_hits.match_count:
            return ""
        if request.cursor:
            cursor_mark = str(ranked_hits.response.get("nextCursorMark", ""))  # missing in partial results
        elif ranked_hits.candidates is not None:
            cursor_mark = FIRST_CURSOR_MARK  # the fused list ends here; later pages have the lexical order
        else:
            params = cursor_start_params(plan, span.end)
            cursor_mark = str(self.select(SolrRequest.CURSOR_START, params).get("nextCursorMark", ""))
        return self.cursors.encode(request, CursorPosition(request.page + 1, cursor_mark)) if cursor_mark else ""


@dataclass(frozen=True)
class VectorSearch:
    """A query vector and the future of its kNN response."""

    query_vector: QueryVector
    response_future: "Future[SolrResponse]"
