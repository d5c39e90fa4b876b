"""The published terms: what is known of each, and where the articles use it.

The articles with a term are the full matches of a search for it, on every page and in the review, so each count
equals the total of the search that it links to, unless editors have rules for that search.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from itertools import islice
from typing import Any

from domain.concept import Concept
from domain.rising_term import RisingTerm
from domain.term import Lexicon
from search_ui.glossary import MAX_NAME_CHARS, GlossaryTerm
from search_ui.local_dates import local_day
from search_ui.query.curation import NO_CURATION
from search_ui.query.display_text import clean_text, site_display_name
from search_ui.query.facets import Facet, build_facets, facet_counts
from search_ui.query.full_matches import ARTICLE_COUNT
from search_ui.query.query_parser import as_plain_words
from search_ui.query.results import ArticleSummary, list_articles
from search_ui.query.search import SearchService
from search_ui.query.search_request import SOLR_FIELD_BY_FILTER, SearchRequest
from search_ui.query.solr_client import SolrResponse, buckets, select_in_background
from search_ui.query.solr_query import MATCH_ALL, Params, SolrQuery, select_params, terms_facet, values_facet
from search_ui.services.articles import DATED, NEWEST_FIRST, SUMMARY_FIELDS
from search_ui.services.definitions import QuotedDefinition, quote_definitions
from search_ui.services.site import SiteServices
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from text.folding import word_key

MAX_RELATED_SEARCHES = 8
MAX_QUERY_TERMS = 3  # terms of a query whose relations are looked up
MAX_SIMILAR_TERMS = 5
MAX_RISING_DAYS = 14  # without new articles no run removes a term from the list
USAGE_FACETS = ("sites", "sections", "authors")
MAX_FACET_VALUES = 10
MAX_ARTICLES = 5  # of a list
MAX_TERM_CANDIDATES = 120  # most frequent terms in the articles with a term
MAX_COOCCURRING_TERMS = 8
MIN_RELATEDNESS = 0.03  # of -1 to 1; about three standard deviations above the frequency in the whole index
MIN_SHARED_ARTICLES = 2
MAX_MONTHS = 120  # of the chart: the last ten years of use
MIN_MONTH_ARTICLES = 20  # in a month with fewer articles the share says little
_OLDEST_FIRST = f"{solr_fields.PUBLISHED} asc,{solr_fields.ID} asc"
_MOST_CITED_FIRST = f"{solr_fields.AUTHORITY} desc,{NEWEST_FIRST}"


@dataclass(frozen=True)
class MonthUsage:
    """One month (`2016-05`): the number of articles with the term, and of all articles.

    `bar_height` is the share of the month in percent of the largest share.
    """

    month: str
    count: int
    total: int
    bar_height: float = 0.0

    @property
    def percent(self) -> float:
        """The share of the articles with the term, in percent."""
        return 100 * self.count / self.total if self.total else 0.0

    @property
    def is_sparse(self) -> bool:
        """True if the month has too few articles for a meaningful share."""
        return self.total < MIN_MONTH_ARTICLES


@dataclass(frozen=True)
class TermCounts:
    """The number of articles with a term, by site, section and author (`USAGE_FACETS`).

    `first_month` and `last_month` are the months of the oldest and newest dated article, or "".
    """

    article_count: int
    facets: Mapping[str, tuple[Facet, ...]]
    first_month: str = ""
    last_month: str = ""


@dataclass(frozen=True)
class CooccurringTerm:
    """A term that is much more frequent in the articles with another term than elsewhere.

    `article_count` is the number of articles with both terms, `relatedness` Solr's value of -1 to 1.
    """

    text: str
    article_count: int
    relatedness: float


@dataclass(frozen=True)
class TermUsage:
    """The content of a term page that comes from the index.

    `first` is the oldest dated article, or None. `most_cited` has only cited articles. `cooccurring` has the most
    related terms first.
    """

    counts: TermCounts
    months: tuple[MonthUsage, ...] = ()
    first: ArticleSummary | None = None
    newest: tuple[ArticleSummary, ...] = ()
    most_cited: tuple[ArticleSummary, ...] = ()
    cooccurring: tuple[CooccurringTerm, ...] = ()


def term_articles_query(search: SearchService, text: str) -> SolrQuery:
    """Build the query for the articles with a term: the full matches of `term_request`, without rules of editors."""
    return replace(search.plan(term_request(text)), curation=NO_CURATION).full_matches.as_clause()


def term_request(text: str, **filters: Any) -> SearchRequest:
    """Return the search for a term. `filters` are fields of `SearchRequest`."""
    words = as_plain_words(text)
    return SearchRequest(raw_query=words, text=words, **filters)


def indexed_term_query(text: str) -> SolrQuery:
    """Build the query for the articles whose segmentation has an entry of the lexicon as a word."""
    return SolrQuery.term(solr_fields.DOMAIN_TERMS, "term0", text)


def term_counts_params(query: SolrQuery) -> Params:
    """Build the request for `parse_term_counts`."""
    bounds = {"first": f"min({solr_fields.PUBLISHED})", "last": f"max({solr_fields.PUBLISHED})"}
    dated_facet = {"type": "query", "q": DATED, "facet": bounds}
    fields = {name: SOLR_FIELD_BY_FILTER[name] for name in USAGE_FACETS}
    facets = {name: values_facet(field, MAX_FACET_VALUES, ARTICLE_COUNT) for name, field in fields.items()}
    return select_params(query, facets={**facets, "total": ARTICLE_COUNT, "dated": dated_facet})


def parse_term_counts(response: SolrResponse, settings: SearchSettings) -> TermCounts:
    """Parse the response to `term_counts_params`."""
    facets = response.get("facets", {})
    bounds = facets.get("dated", {})
    return TermCounts(
        int(facets.get("total", 0)),
        {
            name: build_facets(
                [
                    (value, site_display_name(value, settings) if name == "sites" else clean_text(value), count)
                    for value, count in facet_counts(response, name)
                ]
            )
            for name in USAGE_FACETS
        },
        str(bounds.get("first", ""))[:7],
        str(bounds.get("last", ""))[:7],
    )


def cooccurring_terms_params(query: SolrQuery) -> Params:
    """Build the request for `parse_cooccurring_terms`: Solr's `relatedness` of the most frequent terms to `query`."""
    counts = {"n": ARTICLE_COUNT, "relatedness": "relatedness($with_term,$whole_index)"}
    facet = terms_facet(solr_fields.DOMAIN_TERMS, MAX_TERM_CANDIDATES, facet=counts)
    sets = [("with_term", "{!filters param=$fq}"), ("whole_index", MATCH_ALL.to_syntax())]
    return select_params(MATCH_ALL, [query], facets={"terms": facet}, extra_params=sets)


def parse_cooccurring_terms(
    response: SolrResponse, term: str, is_shown: Callable[[str], bool]
) -> tuple[CooccurringTerm, ...]:
    """Parse the response to `cooccurring_terms_params`, the most related term first.

    Args:
        response: The response.
        term: The term. Its parts and longer forms are left out: an article with the longer one contains both.
        is_shown: Returns False for other terms to leave out.
    """
    key = word_key(term)
    rows = [
        (float(bucket.get("relatedness", {}).get("relatedness", 0.0)), str(bucket["val"]), int(bucket.get("n", 0)))
        for bucket in buckets(response, "terms")
    ]
    related_rows = [
        (-relatedness, -count, text)
        for relatedness, text, count in rows
        if relatedness >= MIN_RELATEDNESS and count >= MIN_SHARED_ARTICLES and is_shown(text)
        if word_key(text) not in key and key not in word_key(text)
    ]
    return tuple(
        CooccurringTerm(text, -count, -relatedness)
        for relatedness, count, text in sorted(related_rows)[:MAX_COOCCURRING_TERMS]
    )


def articles_with_both_params(text: str, other: str, limit: int) -> Params:
    """Build the request for the ids of at most `limit` articles with two terms."""
    filters = [SolrQuery.term(solr_fields.DOMAIN_TERMS, "term1", other)]
    return select_params(indexed_term_query(text), filters, limit, (solr_fields.ID,), f"{solr_fields.ID} asc")


def months_params(query: SolrQuery, counts: TermCounts) -> Params:
    """Build the request for the articles by month, with the term and in total. `counts` has to have a first month."""
    first_index = max(_month_index(counts.first_month), _month_index(counts.last_month) - MAX_MONTHS + 1)
    span = {
        "start": f"{_format_month(first_index)}-01T00:00:00Z",
        "end": f"{_format_month(_month_index(counts.last_month) + 1)}-01T00:00:00Z",
        "gap": "+1MONTH",
        "mincount": 0,
        "facet": {"n": ARTICLE_COUNT},
    }
    month_facet = {"type": "range", "field": solr_fields.PUBLISHED, **span}
    whole_index = {"domain": {"query": MATCH_ALL.to_syntax()}}
    return select_params(query, facets={"months": month_facet, "all_months": month_facet | whole_index})


def parse_months(response: SolrResponse) -> tuple[MonthUsage, ...]:
    """Parse the response to `months_params`, oldest month first."""
    totals = dict(facet_counts(response, "all_months"))
    months = [
        MonthUsage(moment[:7], count, max(count, totals.get(moment, 0)))
        for moment, count in facet_counts(response, "months")
    ]
    largest = largest_percent(months) or max((month.percent for month in months), default=0.0) or 1.0
    return tuple(
        MonthUsage(month.month, month.count, month.total, round(min(100.0, 100 * month.percent / largest), 1))
        for month in months
    )


def largest_percent(months: Sequence[MonthUsage]) -> float | None:
    """Return the largest share among the months with enough articles, in percent; None if there is no such month."""
    return max((month.percent for month in months if not month.is_sparse), default=None)


def _month_index(month: str) -> int:
    """Return the number of months since year 0."""
    return 12 * int(month[:4]) + int(month[5:7]) - 1


def _format_month(index: int) -> str:
    return f"{index // 12:04}-{index % 12 + 1:02}"


def _articles_params(query: SolrQuery, condition: str, order: str, limit: int = MAX_ARTICLES) -> Params:
    """Build the request for the first articles with a term that meet a condition."""
    filters = [SolrQuery(body=condition), SolrQuery.collapse_clusters(order)]
    return select_params(query, filters, limit, SUMMARY_FIELDS, order)


@dataclass(frozen=True)
class PublishedTerm:
    """A published term. What is known of it is fetched when it is first asked for.

    The properties raise what `SolrBackend.select` raises.
    """

    site: SiteServices
    term: GlossaryTerm

    @property
    def label(self) -> str:
        """The term in its usual spelling."""
        return self.site.display_name(self.term.text)

    @cached_property
    def concept(self) -> Concept | None:
        """The concept of the term."""
        return self.site.backend.find_concept(self.term.text)

    @property
    def first_version(self) -> Lexicon | None:
        """The oldest version with the term, without its entries."""
        return self.site.backend.first_version(self.term.text)

    @cached_property
    def definitions(self) -> list[QuotedDefinition]:
        """The definitions of the term, best first."""
        return quote_definitions(self.site, self.site.backend.public_definitions([self.term.text])[self.term.text])

    @property
    def narrower(self) -> Sequence[GlossaryTerm]:
        """The published terms with this broader term."""
        return self.site.glossary.narrower_terms(self.term)

    @cached_property
    def _related_texts(self) -> Sequence[str]:
        return self.site.backend.list_related(self.term.text)

    @property
    def related(self) -> list[GlossaryTerm]:
        """The published terms that reviewers accepted as related to the term."""
        glossary = self.site.glossary
        return [other for text in self._related_texts if (other := glossary.find_exact(text))]

    @cached_property
    def usage(self) -> TermUsage:
        """Where the articles use the term."""
        site, query = self.site, term_articles_query(self.site.search, self.term.text)
        first, newest, most_cited, cooccurring = (
            select_in_background(site.solr, params)
            for params in (
                _articles_params(query, DATED, _OLDEST_FIRST, 1),
                _articles_params(query, DATED, NEWEST_FIRST),
                _articles_params(query, f"{solr_fields.AUTHORITY}:{{0 TO *]", _MOST_CITED_FIRST),
                cooccurring_terms_params(query),
            )
        )
        counts = parse_term_counts(site.solr.select(term_counts_params(query)), site.settings)
        months = parse_months(site.solr.select(months_params(query, counts))) if counts.first_month else ()
        return TermUsage(
            counts,
            months,
            next(iter(list_articles(first.result(), site.settings)), None),
            list_articles(newest.result(), site.settings),
            list_articles(most_cited.result(), site.settings),
            parse_cooccurring_terms(cooccurring.result(), self.term.text, self._is_unrelated),
        )

    def _is_unrelated(self, text: str) -> bool:
        """Return True for another published term without a stated relation to this one."""
        other = self.site.glossary.find_exact(text)
        return other is not None and self._related_keys.isdisjoint(other.word_keys)

    @cached_property
    def _related_keys(self) -> frozenset[str]:
        stated_texts = (*self.term.broader_terms, *self._related_texts)
        narrower_keys = (narrower.word_keys[0] for narrower in self.narrower)
        return frozenset([*self.term.word_keys, *map(word_key, stated_texts), *narrower_keys])


def find_term(site: SiteServices, name: str) -> PublishedTerm | None:
    """Return the published term with this name or synonym; None if there is none."""
    term = site.glossary.find(name)
    return PublishedTerm(site, term) if term else None


def find_related_searches(site: SiteServices, text: str) -> list[GlossaryTerm]:
    """Return the broader, narrower and related terms of the published terms in a query that occur in articles.

    There are at most MAX_RELATED_SEARCHES, without the terms of the query.
    """
    glossary = site.glossary
    whole_query = glossary.find(text)
    occurrences = () if whole_query else glossary.iter_occurrences(text, site.segmenter)
    terms = [whole_query] if whole_query else [occurrence.term for occurrence in islice(occurrences, MAX_QUERY_TERMS)]
    searches: dict[str, GlossaryTerm] = {}
    for published in (PublishedTerm(site, term) for term in terms):
        broader = (glossary.find(name) for name in published.term.broader_terms)
        for other in (*broader, *published.narrower, *published.related):
            if other and other not in terms and site.vocabulary.is_used(other.text):
                searches.setdefault(other.text, other)
    return list(searches.values())[:MAX_RELATED_SEARCHES]


def find_similar_terms(site: SiteServices, text: str) -> list[GlossaryTerm]:
    """Return the published terms whose spelling is most similar to a text, at most MAX_SIMILAR_TERMS."""
    words = site.vocabulary.similar_words(text) if len(text) <= MAX_NAME_CHARS else {}
    terms = (site.glossary.find(word) for word in sorted(words, key=lambda word: words[word]))
    return list(dict.fromkeys(filter(None, terms)))[:MAX_SIMILAR_TERMS]


def find_rising_terms(site: SiteServices) -> Sequence[RisingTerm]:
    """Return the published terms that rise and are not out of date, the newest first."""
    oldest = local_day(site.clock()) - timedelta(days=MAX_RISING_DAYS)
    rising_terms = (term for term in site.backend.rising_terms() if term.since >= oldest.isoformat())
    return [term for term in rising_terms if site.glossary.has_term(term.text)]
