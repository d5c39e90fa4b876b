"""What a search asks of Solr, derived once from its request. All later steps use the parts of a `QueryPlan`."""

from dataclasses import dataclass
from functools import cached_property

from domain.curation import CurationAction
from search_ui.query.curation import NO_CURATION, Curation
from search_ui.query.filters import RequestFilter, build_filters, hidden_filter
from search_ui.query.full_matches import any_part_query, part_queries
from search_ui.query.query_words import QueryWords
from search_ui.query.ranking import PROFILES, RankingProfile, build_rank_query
from search_ui.query.search_request import SearchRequest
from search_ui.query.semantic.answer_types import is_question
from search_ui.query.solr_query import MATCH_ALL, FieldClause, QueryParam, QueryVariant, SolrQuery
from solr_client import solr_fields

MAX_KEYWORDS = 5
"""Content words of a keyword query; a longer one is read as a sentence."""


@dataclass(frozen=True)
class QueryPlan:
    """A request with the words of its query and the queries that follow from them.

    `match_any`: no document is a full match, so the documents with at least one content word are listed and counted.
    `curation`: the rules of editors. `is_limited`: some articles are left out, so neither the id of a cluster, which is
    that of its first article, nor a story of one site may tell of them.
    """

    request: SearchRequest
    words: QueryWords
    match_any: bool = False
    curation: Curation = NO_CURATION
    is_limited: bool = False

    @property
    def profile(self) -> RankingProfile:
        """The ranking profile."""
        return PROFILES[self.request.profile]

    @property
    def is_ranked(self) -> bool:
        """True if the request has words and is sorted by relevance. Otherwise all hits are full matches."""
        return self.request.is_ranked

    @cached_property
    def full_first(self) -> bool:
        """True if full matches rank before all others, whatever their scores: for keywords.

        A question and a query of more words are ranked by relevance alone, because a good answer seldom repeats all of
        their words (docs/decisions/0125).
        """
        return self.is_ranked and len(self.words.content) <= MAX_KEYWORDS and not is_question(self.words.typed)

    @cached_property
    def full_matches(self) -> QueryParam:
        """The query `full_matches`, which matches documents with all content words, and pinned ones.

        Sorted by date, every word is required anyway.
        """
        query = MATCH_ALL
        if self.is_ranked and self.words.content:
            query = SolrQuery.boolean(must=part_queries(self.words))
        elif self.is_ranked:  # symbols and emoji, matched one by one
            clause = FieldClause(QueryVariant.TEXT, ((solr_fields.TITLE, 1.0), (solr_fields.BODY, 1.0)))
            query = clause.to_query(self.words.typed)
        if self.curation.ids(CurationAction.PIN):
            pinned_articles = self.curation.articles_clause("pinned", CurationAction.PIN)
            query = SolrQuery.boolean([QueryParam("all_words", query), pinned_articles])
        return QueryParam("full_matches", query)

    @cached_property
    def any_part(self) -> QueryParam:
        """The query `any_part`, which matches documents with at least one content word."""
        return any_part_query(self.words)

    @property
    def matches(self) -> QueryParam:
        """The query for what is counted: full matches or, with `match_any`, documents with a content word."""
        return self.any_part if self.match_any else self.full_matches

    @cached_property
    def filters(self) -> list[RequestFilter]:
        """The filters: those typed as operators first, then those chosen beside the results."""
        return build_filters(self.request, self.words, self.is_limited)

    @cached_property
    def hidden_filters(self) -> list[RequestFilter]:
        """The filter that excludes what editors have hidden; [] if that is nothing."""
        hidden_ids = self.curation.ids(CurationAction.HIDE)
        return [hidden_filter(hidden_ids)] if hidden_ids else []

    @property
    def filter_queries(self) -> list[SolrQuery]:
        """The queries of all filters."""
        return [query for request_filter in (*self.filters, *self.hidden_filters) for query in request_filter.queries]

    @cached_property
    def ranking(self) -> SolrQuery:
        """The ranking query with the rules of editors."""
        return self.curation.rank(self.word_ranking)

    @cached_property
    def word_ranking(self) -> SolrQuery:
        """The ranking query; all documents if the query consists of conditions only, such as `site:news.example`."""
        return build_rank_query(self.words, self.request.profile) if self.words.typed else MATCH_ALL
