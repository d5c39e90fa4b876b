"""Executes a search request: sends its Solr requests, fuses lexical and vector hits and returns a `SearchPage`.

    count ────────────────────────────┐        in the background
    works ── hits ──┬── highlighting ─┴── page
    neighbours ─┘   └── details: near-duplicates, full matches

If semantic search applies, the hits are fused from words and vectors (search_ui/query/semantic).
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from flask import current_app

from domain.errors import SolrError
from search_ui.context import current_site
from search_ui.interfaces import LexiconBackend
from search_ui.pages.article import (
    MAX_SIMILAR,
    SUMMARY_FIELDS,
    ArticleDetails,
    ArticleView,
    article_params,
    copies_params,
    explain_params,
    parse_article,
    parse_explanation,
    parse_related,
    series_params,
)
from search_ui.pages.home import is_domain_term
from search_ui.pages.question_answering import answer_from_hits
from search_ui.query.content_words import drop_question_words, split_content_words
from search_ui.query.cursors import FIRST_CURSOR_MARK, CursorCodec, CursorPosition
from search_ui.query.display_text import has_word
from search_ui.query.min_should_match import content_parts, lists_full_matches_first, ranks_full_matches_first
from search_ui.query.query_parser import as_plain_words
from search_ui.query.ranking import PROFILES, parse_work_boosts, works_params
from search_ui.query.results import (
    SearchPage,
    SearchResponses,
    build_search_page,
    collapse_first_page,
    digest_by_id,
    distinct_pictures,
    distinct_series,
    first_hits,
    ids_and_clusters,
    ids_with_page_passage,
    parse_total,
    with_full_matches_first,
    with_match_count,
)
from search_ui.query.score_explanation import add_semantic_part
from search_ui.query.search_request import SearchRequest, SortOrder, last_numbered_page, last_page
from search_ui.query.semantic.hybrid import (
    FusedCandidates,
    QueryVector,
    QueryVectors,
    can_use_semantic_search,
    fuse,
    lexical_fields,
    max_fused_candidates,
    vector_search_params,
)
from search_ui.query.semantic.related import drop_distant, fuse_by_rank, more_like_this_params, nearest_articles_params
from search_ui.query.solr_client import SolrBackend, SolrResponse, select_in_background
from search_ui.query.solr_query import QueryVariant
from search_ui.query.solr_requests import (
    HIT_FIELDS,
    SPARE_HITS,
    body_params,
    count_params,
    cursor_start_params,
    exact_title_params,
    highlight_params,
    hit_details_params,
    hits_params,
    segment_words,
)
from search_ui.query.thesaurus import Thesaurus, find_synonym_groups
from search_ui.settings import SearchSettings
from search_ui.spelling.did_you_mean import DidYouMeanKind, SearchSuggestion, find_suggestions
from search_ui.vocabulary_cache import current_vocabulary, current_vocabulary_cache
from text.segment import Segmenter

QueryWords = Mapping[QueryVariant, tuple[str, ...]]


@dataclass(frozen=True)
class SearchOutcome:
    """The result of a search with spelling correction.

    `request` and `query_words` belong to `page`. They differ from the original request if `is_corrected`. `suggestions`
    are alternative searches.
    """

    request: SearchRequest
    query_words: QueryWords
    page: SearchPage
    suggestions: tuple[SearchSuggestion, ...] = ()
    is_corrected: bool = False


@dataclass(frozen=True)
class SearchService:
    """The search of one site. `execute` raises what `SolrBackend.select` and `CursorCodec.decode` raise."""

    solr: SolrBackend
    lexicon_backend: LexiconBackend
    settings: SearchSettings
    cursors: CursorCodec
    thesaurus: Thesaurus
    query_vectors: QueryVectors

    @cached_property
    def _segmenters(self) -> Sequence[Segmenter]:
        return self.lexicon_backend.query_segmenters()

    def segment_query(self, request: SearchRequest) -> QueryWords:
        """Segment the query as the documents were: with the indexed lexicon and, if ranked by, the base dictionary.

        After a publication some documents are still segmented with an older version. New words are searched in them as
        consecutive characters.
        """
        segmenter, *older_segmenters = self._segmenters
        text = request.parsed_query.ranking_text
        if not request.parsed_query.conditions:
            text = drop_question_words(text, segmenter.cut(text))
        segmented_words = segmenter.cut(text)
        newest = tuple(filter(has_word, segmented_words))
        old_lexicon_words = [segment_words(text, old_segmenter) for old_segmenter in older_segmenters]
        older = tuple(word for segmented_words in old_lexicon_words for word in segmented_words)
        synonyms = find_synonym_groups(request.parsed_query, newest, self.thesaurus)
        new_words = tuple(word for word in newest if old_lexicon_words and word not in older)
        content, residual_chars = split_content_words(text, segmented_words)
        words = {
            QueryVariant.TEXT: (text,),
            QueryVariant.DOMAIN: newest,
            QueryVariant.CONTENT: content,
            QueryVariant.RESIDUAL_CHARS: residual_chars,
            QueryVariant.OLD_LEXICON: older,
            QueryVariant.NEW_WORDS: new_words,
            QueryVariant.SYNONYMS: synonyms,
        }
        if any(clause.variant is QueryVariant.BASE for clause in PROFILES[request.profile].field_clauses):
            words[QueryVariant.BASE] = segment_words(text, self.lexicon_backend.base_segmenter())
        return words

    def resolve_exact_title(self, request: SearchRequest) -> SearchRequest:
        """Return a request for plain words if the query equals the title of a document.

        This applies to titles that contain query syntax (`C++ -入门`). Sends one Solr request, only for queries with
        operators.
        """
        if not request.parsed_query.conditions:
            return request
        response = self.solr.select(exact_title_params(request.text))
        return replace(request, text=as_plain_words(request.text)) if response["response"]["numFound"] else request

    def execute_with_correction(self, request: SearchRequest) -> SearchOutcome:
        """Execute the request, or a spelling correction of it.

        A correction is executed instead if the request has no full matches and all words of the correction occur in one
        document. Raises what `execute` raises.
        """
        words = self.segment_query(request)
        page = self.execute(request, words)
        offers = self.suggest_alternatives(request, page)
        correction = next(
            (offer for offer in offers if offer.kind is DidYouMeanKind.CORRECTED and offer.all_words_count), None
        )
        if page.total or correction is None:
            return SearchOutcome(request, words, page, tuple(offers))
        other_suggestions = tuple(
            offer for offer in offers if offer.kind is DidYouMeanKind.CORRECTED and offer is not correction
        )
        words = self.segment_query(correction.request)
        return SearchOutcome(
            correction.request, words, self.execute(correction.request, words), other_suggestions, is_corrected=True
        )

    def execute(self, request: SearchRequest, words: QueryWords) -> SearchPage:
        """Return the requested results page.

        Returns an empty page without a Solr request if the request has no criteria. If no document is a full match,
        documents with at least one content word are returned.
        """
        if not request.has_criteria():
            return SearchPage()
        cursor_position = self.cursors.decode(request) if request.cursor else CursorPosition(request.page, "")
        page_request = replace(request, page=cursor_position.page)
        count_future = select_in_background(self.solr, count_params(page_request, words))
        vector_search = self._start_vector_search(page_request, words)
        words = self.add_work_boosts(request, words)
        candidates = self._fetch_candidates(page_request, words, vector_search)
        lexical_response = (
            self._fetch_lexical_hits(page_request, words) if candidates is None and not request.cursor else None
        )
        count_response = count_future.result()
        total = parse_total(count_response)
        is_related = request.sort is SortOrder.RELEVANCE and bool(content_parts(words)) and not total
        if is_related:
            candidates = self._fetch_candidates(page_request, words, vector_search, match_any=True)
            lexical_response = None
        full_first = lists_full_matches_first(page_request, words, total, self.settings.page_size)
        listed_count = self._count_listed(page_request, total if full_first else 0)
        if candidates is not None and not request.cursor:
            hits_response = candidates.page_response((page_request.page - 1) * self.settings.page_size)
        else:
            hits_response = lexical_response or self._fetch_lexical_hits(
                page_request, words, cursor_position.solr_mark, listed_count, candidates, match_any=is_related
            )
        if full_first:
            hits_response = with_full_matches_first(hits_response)
        hits_response = first_hits(hits_response, listed_count)
        responses = self._fetch_details(page_request, words, hits_response, count_response, candidates)
        page = build_search_page(responses, page_request, self.settings, words[QueryVariant.DOMAIN], full_first)
        quotations = (
            answer_from_hits(self.solr, page_request.parsed_query.ranking_text, words, candidates, page.hits)
            if candidates and page_request.page == 1
            else ()
        )
        cursor = self._next_cursor(page_request, words, page.listed_count, hits_response, is_related, candidates)
        segmenter = self.lexicon_backend.base_segmenter()
        terms = tuple(term for term in page.terms if term.selected or is_domain_term(term.value, segmenter))
        return replace(page, quotations=quotations, cursor=cursor, terms=terms)

    def _fetch_related(self, article: ArticleDetails) -> SolrResponse:
        """Fetch related articles by words and by vectors."""
        vector = self.query_vectors.article_vector(article.article_digest)
        cluster_and_series = (article.cluster, article.series)
        vector_future = (
            select_in_background(self.solr, nearest_articles_params(vector, *cluster_and_series, SUMMARY_FIELDS))
            if vector
            else None
        )
        answers = [self.solr.select(more_like_this_params(article.doc_id, *cluster_and_series, SUMMARY_FIELDS))]
        with suppress(SolrError):  # the collection has no such field
            answers += [drop_distant(vector_future.result(), vector)] if vector_future and vector else []
        return fuse_by_rank(answers, MAX_SIMILAR)

    def _start_vector_search(self, request: SearchRequest, words: QueryWords) -> "_VectorSearch | None":
        """Start the kNN request in the background. Returns None if semantic search does not apply or has no model."""
        vector = (
            self.query_vectors.query_vector(request.parsed_query.ranking_text)
            if can_use_semantic_search(request)
            else None
        )
        if vector is None:
            return None
        params = vector_search_params(request, words, vector, (*HIT_FIELDS, "score"))
        return _VectorSearch(vector, select_in_background(self.solr, params))

    def _fetch_candidates(
        self, request: SearchRequest, words: QueryWords, vector_search: "_VectorSearch | None", match_any: bool = False
    ) -> FusedCandidates | None:
        """Fuse the first lexical hits with the nearest neighbours.

        Returns None, for lexical ranking only, if there was no kNN request or it failed.
        """
        if vector_search is None:
            return None
        try:
            vector_response = vector_search.response_future.result()
        except SolrError:  # the collection has no such field, or Solr timed out
            return None
        limit, first_page_request = max_fused_candidates(self.settings), replace(request, page=1)
        field_names = lexical_fields(request, vector_search.query_vector, HIT_FIELDS)
        lexical_response = None
        if not match_any:
            lexical_response = collapse_first_page(
                self.solr.select(
                    hits_params(first_page_request, words, limit, spare_hits=SPARE_HITS, field_names=field_names)
                ),
                limit,
            )
        if lexical_response is None:
            lexical_response = self.solr.select(
                hits_params(first_page_request, words, limit, field_names=field_names, match_any=match_any)
            )
        match_count = int(lexical_response["response"]["numFound"])
        return fuse(
            lexical_response,
            vector_response,
            vector_search.query_vector,
            PROFILES[request.profile].semantic_weight,
            limit,
            match_count,
            ranks_full_matches_first(request, words),
        )

    def _fetch_details(
        self,
        request: SearchRequest,
        words: QueryWords,
        hits: SolrResponse,
        count_response: SolrResponse,
        candidates: FusedCandidates | None,
    ) -> SearchResponses:
        """Fetch highlighting, counts of near-duplicates and series, and bodies for the hits of the page."""
        ids, clusters = ids_and_clusters(hits)
        if not ids:
            return SearchResponses(hits, count_response)
        pictures = distinct_pictures(hits) if self.settings.pictures else []
        clusters = [] if request.cluster else clusters
        details_future = select_in_background(
            self.solr, hit_details_params(request, words, ids, clusters, distinct_series(hits), pictures)
        )
        highlight_response = self.solr.select(highlight_params(request, words, ids))
        semantic_ids = candidates.semantic_match_ids(ids) if candidates else []
        body_ids = list(dict.fromkeys([*ids_with_page_passage(highlight_response), *semantic_ids]))
        body_response = self.solr.select(body_params(body_ids)) if body_ids else {}
        passages = self._best_passages(candidates, semantic_ids, body_response)
        return SearchResponses(
            hits, count_response, highlight_response, details_future.result(), body_response, passages
        )

    def _best_passages(
        self, candidates: FusedCandidates | None, ids: Sequence[str], bodies: SolrResponse
    ) -> Mapping[str, tuple[int, int]]:
        """Return the best passages of the semantic matches `ids`: start and end in the body, by document id."""
        if candidates is None or not ids:
            return {}
        digests = {doc_id: digest for doc_id, digest in digest_by_id(bodies).items() if doc_id in ids}
        best = self.query_vectors.best_passages(candidates.vector, digests.values())
        return {doc_id: best.get(digest, (0, 0)) for doc_id, digest in digests.items()}

    def _count_listed(self, request: SearchRequest, full_match_count: int) -> int:
        """Return the number of hits on a page. On the last page of the full matches, a page of related results follows.

        If full matches are not listed first, or there are none (0), pages are equally long.
        """
        size = self.settings.page_size
        if not full_match_count:
            return size
        remaining_count = max(0, full_match_count - (request.page - 1) * size)  # on this page and later ones
        return remaining_count + size if 0 < remaining_count <= size else min(remaining_count, size)

    def _fetch_lexical_hits(
        self,
        request: SearchRequest,
        words: QueryWords,
        cursor_mark: str = "",
        listed_count: int = 0,
        candidates: FusedCandidates | None = None,
        match_any: bool = False,
    ) -> SolrResponse:
        """Fetch the hits of a page from the lexical ranking, near-duplicates once.

        A numbered page has more hits than needed, for the case that related results are listed after the full matches.
        A page reached by cursor has `listed_count` hits, because the next page continues after them. It omits the
        clusters of `candidates`, which were listed before.
        """
        page_size = self.settings.page_size
        rows = listed_count if cursor_mark else max_fused_candidates(self.settings)
        if ranks_full_matches_first(request, words) and not cursor_mark:
            rows = 2 * page_size
        extra_hits = rows - page_size
        if request.page == 1 and not request.cluster and not match_any:
            params = hits_params(request, words, page_size, spare_hits=SPARE_HITS, extra_hits=extra_hits)
            response = collapse_first_page(self.solr.select(params), rows)
            if response is not None:
                return response
        response = self.solr.select(
            hits_params(
                request,
                words,
                page_size,
                cursor_mark,
                extra_hits=extra_hits,
                match_any=match_any,
                excluded_clusters=candidates.clusters if candidates else (),
            )
        )
        return response if candidates is None else with_match_count(response, candidates.match_count)

    def add_work_boosts(self, request: SearchRequest, words: QueryWords) -> QueryWords:
        """Add the works whose parts match the query to `words`, if the ranking uses works."""
        params = (
            works_params(words[QueryVariant.TEXT][0], request.profile) if request.sort is SortOrder.RELEVANCE else []
        )
        return (
            {**words, QueryVariant.WORK_BOOSTS: parse_work_boosts(self.solr.select(params), request.profile)}
            if params
            else words
        )

    def suggest_alternatives(self, request: SearchRequest, page: SearchPage) -> list[SearchSuggestion]:
        """Return spelling corrections, and searches that would find more if there are almost no hits.

        Returns [] if Solr fails.
        """
        if not request.text or page.page > 1:
            return []
        base = self.lexicon_backend.base_segmenter()
        try:
            return find_suggestions(self.solr, request, current_vocabulary(), self.segment_query, base, page.total)
        except SolrError:
            return []

    def _next_cursor(
        self,
        request: SearchRequest,
        words: QueryWords,
        listed_count: int,
        response: SolrResponse,
        match_any: bool,
        candidates: FusedCandidates | None,
    ) -> str:
        """Return the cursor of the next page; "" if there is none or it has a number."""
        last_rank = request.page * self.settings.page_size
        if (
            request.page < last_numbered_page(self.settings)
            or request.page >= last_page(self.settings)
            or last_rank >= listed_count
        ):
            return ""
        if not request.cursor and candidates is not None:
            cursor_mark = FIRST_CURSOR_MARK  # the fused list ends here; later pages have the lexical order
        elif not request.cursor:
            cursor_mark = str(
                self.solr.select(cursor_start_params(request, words, last_rank, match_any))["nextCursorMark"]
            )
        else:
            cursor_mark = str(response["nextCursorMark"])
        return self.cursors.encode(request, CursorPosition(request.page + 1, cursor_mark))

    def get_article(self, doc_id: str, request: SearchRequest) -> ArticleView | None:
        """Return an article with its neighbours, and its explanation if there is a query; None if it does not exist."""
        words = self.add_work_boosts(request, self.segment_query(request))
        article = parse_article(self.solr.select(article_params(doc_id, request, words)), self.settings)
        if article is None:
            return None
        similar = self._fetch_related(article)
        series = self.solr.select(series_params(article.cluster, article.series)) if article.series else {}
        copies = self.solr.select(copies_params(doc_id, article.cluster))
        explain_response = (
            self.solr.select(explain_params(doc_id, request, words)) if request.parsed_query.ranking_text else None
        )
        vector_search = self._start_vector_search(request, words) if request.parsed_query.ranking_text else None
        candidates = self._fetch_candidates(replace(request, page=1), words, vector_search)
        semantic_share = candidates.get_semantic_share(doc_id) if candidates else 0.0
        return ArticleView(
            article,
            related=parse_related(similar, self.settings),
            same_series=parse_related(series, self.settings),
            copies=parse_related(copies, self.settings),
            explanation=add_semantic_part(parse_explanation(explain_response, doc_id), semantic_share)
            if explain_response is not None
            else None,
        )


@dataclass(frozen=True)
class _VectorSearch:
    """A query vector and the future of its kNN response."""

    query_vector: QueryVector
    response_future: "Future[SolrResponse]"


def current_search_service() -> SearchService:
    """Build the search service for the current request."""
    site, secret = current_site(), current_app.secret_key
    key = secret if isinstance(secret, bytes) else str(secret).encode()
    thesaurus = current_vocabulary_cache().get_thesaurus(site.backend.lexicon())
    return SearchService(
        site.solr, site.backend, site.settings, CursorCodec(key, site.settings), thesaurus, site.query_vectors
    )
