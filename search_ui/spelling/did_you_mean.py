"""What to offer a reader who finds nothing, or nearly nothing.

    SPELLED    another spelling (search_ui/spelling/corrections.py)
    LOOSENED   a quoted phrase searched by its parts
    WITHOUT    one filter fewer
    ALONE      one word of the query by itself

All that could be offered is counted in one question to Solr, by the very queries that would be sent for it; what finds
no more than there is already, is not offered.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from docstore import solr_fields
from search_ui.query.filters import RequestFilter, build_filter_queries, build_filters
from search_ui.query.min_should_match import all_parts_query, content_parts, enough_parts_query
from search_ui.query.query_parser import ParsedQuery, PartKind, QueryPart, parse_query
from search_ui.query.search_request import PARAM_BY_FILTER, SearchRequest, SortOrder
from search_ui.query.solr_client import SolrBackend, SolrResponse
from search_ui.query.solr_query import MATCH_ALL, Params, QueryParam, QueryVariant, QueryWords, SolrQuery, select_params
from search_ui.spelling.corrections import (
    ExternalCorrections,
    correct_query,
    has_latin_word,
    parse_spellcheck,
    phonetic_candidates,
    spellcheck_params,
)
from search_ui.spelling.title_phonetics import find_homophones, pinyin_readings, title_sound_params
from search_ui.spelling.vocabulary import Vocabulary
from text.segment import Segmenter

MAX_HITS_FOR_SUGGESTIONS = 2  # results up to which help is offered
MAX_CORRECTIONS = 4  # spellings that are counted
MAX_RELAXATIONS = 8  # phrases and filters
MAX_SINGLE_WORDS = 8  # words of a query that are offered one by one

RequestWithWords = tuple[SearchRequest, QueryWords]


class DidYouMeanKind(StrEnum):
    """Why something is offered."""

    CORRECTED = "spelled"
    PHRASE_SPLIT = "loosened"
    FILTER_REMOVED = "without"
    SINGLE_WORD = "alone"


@dataclass(frozen=True)
class SearchSuggestion:
    """Another search, with the number of documents it finds.

    `label` is the other spelling, the phrase, the word, or the condition that is left out; it is "" where a whole kind
    of filter is, which `request_field` names (`sites`, `date`, ...; `sort` for the order by date, which asks for every
    word). `all_words_count` counts those of the documents that hold every word of it.
    """

    kind: DidYouMeanKind
    request: SearchRequest
    label: str = ""
    request_field: str = ""
    hit_count: int = 0
    all_words_count: int = 0


def find_suggestions(
    solr: SolrBackend,
    request: SearchRequest,
    vocabulary: Vocabulary,
    segment_query: Callable[[SearchRequest], QueryWords],
    base_segmenter: Segmenter,
    total: int,
) -> list[SearchSuggestion]:
    """What finds more than the `total` documents that `request` finds.

    Asks Solr at most three times; raises as `select` does.

    `segment_query` cuts the text of a request as `solr_requests` wants it, `base_segmenter` is the base dictionary's
    segmenter.
    """
    homophones = _fetch_title_homophones(
        solr,
        phonetic_candidates(request.parsed_query, content_parts(segment_query(request)), vocabulary),
        base_segmenter,
    )
    likely_and_unlikely = correct_query(
        request.parsed_query,
        vocabulary,
        ExternalCorrections(_fetch_solr_corrections(solr, request.parsed_query), homophones),
    )
    likely, less_likely = (_correction_suggestions(request, tier[:MAX_CORRECTIONS]) for tier in likely_and_unlikely)
    relaxations = [
        *_phrase_split_suggestions(request, segment_query),
        *_filter_removed_suggestions(request, segment_query(request)),
    ][:MAX_RELAXATIONS]
    useful = _keep_useful(
        solr,
        [*likely, *less_likely, *relaxations, *_single_word_suggestions(request, segment_query(request))],
        segment_query,
        total,
    )
    if any(offer.request == other.request for offer in likely for other in useful):
        useful = [offer for offer in useful if all(offer.request != other.request for other in less_likely)]
    return useful


def _fetch_solr_corrections(solr: SolrBackend, query: ParsedQuery) -> Mapping[str, str]:
    if not has_latin_word(query):
        return {}
    return parse_spellcheck(solr.select(select_params(MATCH_ALL, extra_params=spellcheck_params(query))))


def _fetch_title_homophones(
    solr: SolrBackend, pieces: Sequence[str], base_segmenter: Segmenter
) -> Mapping[str, Sequence[str]]:
    readings = pinyin_readings(pieces)
    return find_homophones(solr.select(title_sound_params(readings)), readings, base_segmenter) if readings else {}


def _keep_useful(
    solr: SolrBackend,
    candidates: Sequence[SearchSuggestion],
    segment_query: Callable[[SearchRequest], QueryWords],
    total: int,
) -> list[SearchSuggestion]:
    """Those of the offers that find more, with what they find."""
    if not candidates:
        return []
    params = suggestion_count_params([(offer.request, segment_query(offer.request)) for offer in candidates])
    counts = parse_suggestion_counts(solr.select(params), len(candidates))
    with_counts = (
        replace(offer, hit_count=n, all_words_count=all_words_count)
        for offer, (n, all_words_count) in zip(candidates, counts, strict=True)
    )
    return [offer for offer in with_counts if offer.hit_count > total or _is_equal_correction(offer, total)]


def _is_equal_correction(offer: SearchSuggestion, total: int) -> bool:
    """Another spelling may find what the query found by half of its characters, and this time by all of them."""
    return offer.kind is DidYouMeanKind.CORRECTED and offer.hit_count == total > 0


def _correction_suggestions(request: SearchRequest, queries: Sequence[ParsedQuery]) -> list[SearchSuggestion]:
    return [
        SearchSuggestion(DidYouMeanKind.CORRECTED, _with_query(request, query), query.ranking_text) for query in queries
    ]


def _phrase_split_suggestions(
    request: SearchRequest, segment_query: Callable[[SearchRequest], QueryWords]
) -> list[SearchSuggestion]:
    offers = []
    for part in filter(_is_required_phrase, request.parsed_query.conditions):
        words = segment_query(_with_query(request, ParsedQuery((part,))))[QueryVariant.DOMAIN]
        looser_request = _with_query(request, request.parsed_query.with_phrase_split(part, words))
        offers.append(SearchSuggestion(DidYouMeanKind.PHRASE_SPLIT, looser_request, part.text))
    return offers


def _filter_removed_suggestions(request: SearchRequest, words: QueryWords) -> list[SearchSuggestion]:
    offers = [
        _without_filter(request, request_filter) for request_filter in build_filters(request, content_parts(words))
    ]
    return [offer for offer in offers if offer and offer.request.parsed_query.parts]


def _single_word_suggestions(request: SearchRequest, words: QueryWords) -> list[SearchSuggestion]:
    domain_words = frozenset(words[QueryVariant.DOMAIN])
    offered_words = [word for word in content_parts(words) if word in domain_words]
    if (
        len(domain_words) < 2 or len(offered_words) > MAX_SINGLE_WORDS
    ):  # no word says by itself what a long question asks
        return []
    return [
        SearchSuggestion(DidYouMeanKind.SINGLE_WORD, _with_query(request, parse_query(word)), word)
        for word in offered_words
    ]


_FIELDS_TO_RESET: Mapping[str, Mapping[str, object]] = {
    **{name: {name: ()} for name in PARAM_BY_FILTER},
    "cluster": {"cluster": ""},
    "date": {"since": "", "until": ""},
    "sort": {"sort": SortOrder.RELEVANCE},
}


def _without_filter(request: SearchRequest, request_filter: RequestFilter) -> SearchSuggestion | None:
    """The request without one filter; a phrase is not left out but loosened."""
    if request_filter.request_field:
        return SearchSuggestion(
            DidYouMeanKind.FILTER_REMOVED,
            request.with_changes(**_FIELDS_TO_RESET[request_filter.request_field]),
            request_field=request_filter.request_field,
        )
    if any(_is_required_phrase(part) for part in request_filter.query_parts):
        return None
    label = " ".join(map(str, request_filter.query_parts))
    return SearchSuggestion(
        DidYouMeanKind.FILTER_REMOVED,
        _with_query(request, request.parsed_query.without(*request_filter.query_parts)),
        label,
    )


def _is_required_phrase(part: QueryPart) -> bool:
    return part.kind is PartKind.PHRASE and not part.is_excluded


def _with_query(request: SearchRequest, query: ParsedQuery) -> SearchRequest:
    return request.with_changes(raw_query=str(query), text=str(query))


def suggestion_count_params(requests: Sequence[RequestWithWords]) -> Params:
    """One question that counts the documents of several requests, near-duplicates once."""
    facets, params = {}, []
    for n, (request, words) in enumerate(requests):
        enough_param, all_parts_param = QueryParam("all", _request_clause(request, words)), all_parts_query(words)
        params += [*enough_param.to_params(f"o{n}_"), *all_parts_param.to_params(f"o{n}_")]
        counts = {
            "total": "unique(id)" if request.cluster else f"unique({solr_fields.CLUSTER_ID})",
            "whole": {"type": "query", "q": all_parts_param.as_clause().to_syntax(f"o{n}_")},
        }
        facets[f"o{n}"] = {"type": "query", "q": enough_param.as_clause().to_syntax(f"o{n}_"), "facet": counts}
    return select_params(MATCH_ALL, facets=facets, extra_params=params)


def _request_clause(request: SearchRequest, words: QueryWords) -> SolrQuery:
    """One request as a query: what holds enough of its text and passes all its filters."""
    filter_params = (
        QueryParam(f"must{n}", clause) for n, clause in enumerate(build_filter_queries(request, words), start=1)
    )
    return SolrQuery.boolean(must=[enough_parts_query(request, words), *filter_params])


def parse_suggestion_counts(response: SolrResponse, requests: int) -> list[tuple[int, int]]:
    """The counts that `suggestion_count_params` asked for, in its order.

    Of what holds enough, and of what holds all of it.
    """
    facets = (response.get("facets", {}).get(f"o{n}", {}) for n in range(requests))
    return [(int(facet.get("total", 0)), int(facet.get("whole", {}).get("count", 0))) for facet in facets]
