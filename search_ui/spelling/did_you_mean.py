"""Suggests alternative searches: spelling corrections, and others if a search has no or almost no hits.

    CORRECTED        a spelling correction (search_ui/spelling/corrections.py) that is much more frequent
    PHRASE_SPLIT     a quoted phrase searched by its words
    FILTER_REMOVED   one filter fewer
    WORD_LEFT_OUT    all content words of the query but one
    SINGLE_WORD      one word of the query

One set of facets counts the hits of all candidates, with the same queries that their searches would send. Corrections
without hits, and other candidates that do not find more than the original search, are dropped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from search_ui.query.filters import RequestFilter
from search_ui.query.full_matches import all_parts_query, contains_query
from search_ui.query.query_parser import ParsedQuery, PartKind, QueryPart, parse_query
from search_ui.query.query_plan import MAX_KEYWORDS, QueryPlan
from search_ui.query.search_request import PARAM_BY_FILTER, FilterFields, SearchRequest, SortOrder
from search_ui.query.solr_client import SolrResponse
from search_ui.query.solr_query import NO_FACETS, Facets, QueryParam, SolrQuery, whole_index_facet
from search_ui.spelling.corrections import Correction, correct_query, find_corrections
from search_ui.spelling.vocabulary import Vocabulary
from solr_client import solr_fields
from text.segment import Segmenter

MAX_HITS_FOR_SUGGESTIONS = 2  # more hits than this need no suggestions but corrections
MAX_CORRECTIONS = 4  # per tier
MIN_GAIN = 5  # how many times more documents a corrected query must find
MAX_RELAXATIONS = 8  # phrases and filters
MAX_SINGLE_WORDS = 8  # a query with more words gets no single-word suggestions

PlanQuery = Callable[[SearchRequest], QueryPlan]


class DidYouMeanKind(StrEnum):
    """The kind of a suggestion."""

    CORRECTED = "spelled"
    PHRASE_SPLIT = "loosened"
    FILTER_REMOVED = "without"
    WORD_LEFT_OUT = "shortened"
    SINGLE_WORD = "alone"


@dataclass(frozen=True)
class SearchSuggestion:
    """An alternative search with its number of hits.

    Attributes:
        label: The correction, phrase, word or removed condition; "" if `request_field` names it.
        request_field: The removed filter (`sites`, `date`, ...; `sort`: sorting by date, which requires every word).
        hit_count: Number of full matches.
        all_words_count: Number of documents with every word.
        typed_count: Number of documents with the text that a correction replaces.
    """

    kind: DidYouMeanKind
    request: SearchRequest
    label: str = ""
    request_field: str = ""
    hit_count: int = 0
    all_words_count: int = 0
    typed_count: int = 0


class SuggestionSearch:
    """Looks for searches that find more than another search, or what was probably meant.

    Two requests of the results page count for it: the first with `text_facets`, the second with `search_facets`.

    `plan` is the original search, `plan_query` segments the query of another request.
    """

    def __init__(self, plan: QueryPlan, vocabulary: Vocabulary, plan_query: PlanQuery, segmenter: Segmenter) -> None:
        self.plan, self._plan_query, self._total = plan, plan_query, 0
        self._pieces = find_corrections(plan.request.parsed_query, vocabulary, segmenter)
        words = (words for piece in self._pieces for each in piece for words in ((each.old,), each.words))
        self._texts = list(dict.fromkeys(words))
        self._likely: list[SearchSuggestion] = []
        self._less_likely: list[SearchSuggestion] = []
        self._candidates: list[SearchSuggestion] = []

    def text_facets(self) -> Facets:
        """Return facets of the documents with all words of each typed text and its corrections, in any form of a stem.

        A correction has to be much more frequent than what was typed.
        """
        facets, params = {}, []
        for n, words in enumerate(self._texts):
            names = [f"text{n}_{number}" for number in range(len(words))]
            clauses = [contains_query(name, (word,)) for name, word in zip(names, words, strict=True)]
            contains_all = SolrQuery.boolean(must=map(QueryParam, names, clauses))
            facets[f"text{n}"] = whole_index_facet(contains_all.to_syntax())
            params += contains_all.to_params()
        return facets, params

    def search_facets(self, text_response: SolrResponse, total: int) -> Facets:
        """Return facets of the hits of other searches.

        `text_response` has the `text_facets`; `total` is the number of hits of the original search.
        """
        request, self._total = self.plan.request, total
        pieces, typed_count = self._credible_corrections(text_response)
        self._likely, self._less_likely = (
            [
                SearchSuggestion(
                    DidYouMeanKind.CORRECTED, _with_query(request, query), query.ranking_text, typed_count=typed_count
                )
                for query in tier[:MAX_CORRECTIONS]
            ]
            for tier in correct_query(request.parsed_query, pieces)
        )
        self._candidates = [*self._likely, *self._less_likely]
        if total <= MAX_HITS_FOR_SUGGESTIONS:
            looser = [*_phrase_split_suggestions(request, self._plan_query), *_filter_removed_suggestions(self.plan)]
            self._candidates += [*looser[:MAX_RELAXATIONS], *_word_left_out_suggestions(self.plan)]
            self._candidates += _single_word_suggestions(self.plan)
        if not self._candidates:
            return NO_FACETS
        # Sorted by relevance, documents with some of the words are results too.
        searches = [
            replace(self._plan_query(offer.request), match_any=offer.request_field == "sort")
            for offer in self._candidates
        ]
        return suggestion_count_facets([*searches, self.plan])

    def suggestions(self, search_response: SolrResponse) -> list[SearchSuggestion]:
        """Return the corrections that fit the query and the other searches that find more, with their counts.

        `search_response` has the `search_facets`.
        """
        *counts, typed = parse_suggestion_counts(search_response, len(self._candidates) + 1)
        useful = [
            replace(offer, hit_count=count.hits, all_words_count=count.all_words)
            for offer, count in zip(self._candidates, counts, strict=True)
            if (count.is_clearly_above(typed) if offer.kind is DidYouMeanKind.CORRECTED else count.hits > self._total)
        ]
        if any(offer.request == other.request for offer in self._likely for other in useful):
            useful = [offer for offer in useful if all(offer.request != other.request for other in self._less_likely)]
        return useful

    def _credible_corrections(self, response: SolrResponse) -> tuple[list[list[Correction]], int]:
        """Return the corrections that are much more frequent than what was typed, and the documents with that."""
        facets = response.get("facets", {})
        counts = {words: int(facets.get(f"text{n}", {}).get("count", 0)) for n, words in enumerate(self._texts)}
        filtered = [
            [each for each in piece if each.is_credible(counts[each.old,], counts[each.words])]
            for piece in self._pieces
        ]
        credible = list(filter(None, filtered))
        return credible, max((counts[piece[0].old,] for piece in credible), default=0)


def _phrase_split_suggestions(request: SearchRequest, plan_query: PlanQuery) -> list[SearchSuggestion]:
    offers = []
    for part in filter(_is_required_phrase, request.parsed_query.conditions):
        words = plan_query(_with_query(request, ParsedQuery((part,)))).words.domain
        looser_request = _with_query(request, request.parsed_query.with_phrase_split(part, words))
        offers.append(SearchSuggestion(DidYouMeanKind.PHRASE_SPLIT, looser_request, part.text))
    return offers


def _filter_removed_suggestions(plan: QueryPlan) -> list[SearchSuggestion]:
    offers = [_without_filter(plan.request, request_filter) for request_filter in plan.filters]
    return [offer for offer in offers if offer and offer.request.parsed_query.parts]


def _word_left_out_suggestions(plan: QueryPlan) -> list[SearchSuggestion]:
    content = plan.words.content
    if plan.request.parsed_query.conditions or not 2 < len(content) <= MAX_KEYWORDS:
        return []  # of two words, each is suggested as a single word
    return [
        SearchSuggestion(
            DidYouMeanKind.WORD_LEFT_OUT,
            _with_query(plan.request, parse_query(" ".join(other for other in content if other != word))),
            word,
        )
        for word in content
    ]


def _single_word_suggestions(plan: QueryPlan) -> list[SearchSuggestion]:
    domain_words = frozenset(plan.words.domain)
    offered_words = [word for word in plan.words.content if word in domain_words]
    if len(domain_words) < 2 or len(offered_words) > MAX_SINGLE_WORDS:  # one word does not represent a long question
        return []
    return [
        SearchSuggestion(DidYouMeanKind.SINGLE_WORD, _with_query(plan.request, parse_query(word)), word)
        for word in offered_words
    ]


_FIELDS_TO_RESET: Mapping[str, Mapping[str, object]] = {
    **{name: {name: ()} for name in PARAM_BY_FILTER},
    "exclusions": {"exclusions": FilterFields()},
    "cluster": {"cluster": ""},
    "date": {"since": "", "until": ""},
    "sort": {"sort": SortOrder.RELEVANCE},
}


def _without_filter(request: SearchRequest, request_filter: RequestFilter) -> SearchSuggestion | None:
    """Return the request without one filter; None for a phrase, which is split instead."""
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


def suggestion_count_facets(searches: Sequence[QueryPlan]) -> Facets:
    """Build facets that count the hits of several searches, near-duplicates once."""
    facets, params = {}, []
    for n, plan in enumerate(searches):
        full_matches_param = QueryParam("all", _filtered(plan))
        all_parts_param, text = all_parts_query(plan.words), plan.words.typed
        texts = SolrQuery.phrases(solr_fields.BODY_CHARS, f"o{n}_texts", text.split(), "AND")
        phrase = SolrQuery.phrases(solr_fields.BODY_CHARS, f"o{n}_phrase", [text])
        params += [*full_matches_param.to_params(f"o{n}_"), *all_parts_param.to_params(f"o{n}_")]
        params += [*texts.to_params(), *phrase.to_params()]
        counts = {
            "total": "unique(id)" if plan.request.cluster else f"unique({solr_fields.CLUSTER_ID})",
            "whole": {"type": "query", "q": all_parts_param.as_clause().to_syntax(f"o{n}_")},
            "texts": {"type": "query", "q": texts.to_syntax()},
            "phrase": {"type": "query", "q": phrase.to_syntax()},
        }
        facets[f"o{n}"] = whole_index_facet(full_matches_param.as_clause().to_syntax(f"o{n}_"), **counts)
    return facets, params


def _filtered(plan: QueryPlan) -> SolrQuery:
    """Build a query for the documents that a search counts: its matches that pass all its filters."""
    filter_params = (QueryParam(f"must{n}", query) for n, query in enumerate(plan.filter_queries, start=1))
    return SolrQuery.boolean(must=[plan.matches, *filter_params])


class SuggestionCounts(NamedTuple):
    """Numbers of documents.

    Attributes:
        hits: Full matches.
        all_words: Documents with every word.
        texts: Documents with every text between blanks.
        phrase: Documents with the whole query as a phrase.
    """

    hits: int
    all_words: int
    texts: int
    phrase: int

    def is_clearly_above(self, typed: "SuggestionCounts") -> bool:
        """Return True if a correction fits the other words of the query much better than what was typed."""
        return self.hits > 0 and self.texts >= MIN_GAIN * typed.texts and self.phrase >= MIN_GAIN * typed.phrase


def parse_suggestion_counts(response: SolrResponse, requests: int) -> list[SuggestionCounts]:
    """Return the counts of `suggestion_count_facets` in its order."""
    facets = [response.get("facets", {}).get(f"o{n}", {}) for n in range(requests)]
    counts = [[facet.get(name, {}).get("count", 0) for name in ("whole", "texts", "phrase")] for facet in facets]
    return [SuggestionCounts(facet.get("total", 0), *more) for facet, more in zip(facets, counts, strict=True)]
