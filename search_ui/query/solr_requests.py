"""Builds the Solr requests of a results page: hits, highlighting, details, counts and facets.

The order of documents is defined in `ranking`. No I/O and no clock.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from search_ui.query.full_matches import ARTICLE_COUNT
from search_ui.query.query_plan import QueryPlan
from search_ui.query.ranking import BIGRAM_CLAUSE, WORK_PARTS_QUERY, plain_text
from search_ui.query.search_request import (
    FILTER_NAMES,
    FILTERS_WITH_SITE_VALUES,
    PARAM_BY_FILTER,
    SOLR_FIELD_BY_FILTER,
    SearchRequest,
    SortOrder,
)
from search_ui.query.solr_client import SolrDocument, get_text
from search_ui.query.solr_query import (
    MATCH_ALL,
    MATCH_ALL_PARAM,
    NO_FACETS,
    VALUE_SEPARATOR,
    Facets,
    Params,
    QueryParam,
    SolrQuery,
    select_params,
    terms_facet,
    values_facet,
    whole_index_facet,
)
from solr_client import solr_fields
from text.titles import title_key

FIRST_CURSOR_MARK = "*"  # Solr's mark for the start of the results
HIGHLIGHT_START, HIGHLIGHT_END = "\U0010fffc", "\U0010fffd"  # around a match; private use characters of plane 16
HISTOGRAM_FIRST_YEAR = 1990

UNIQUE_SITES = {"n": f"unique({solr_fields.SITE})"}
HIT_FIELDS = (
    solr_fields.ID,
    solr_fields.CLUSTER_ID,
    solr_fields.SERIES_ID,
    solr_fields.PICTURE,
    solr_fields.FORMAT,
)
_SORT_CLAUSES: Mapping[SortOrder, str] = {
    SortOrder.RELEVANCE: f"score desc,{solr_fields.PUBLISHED} desc,{solr_fields.ID} asc",
    SortOrder.DATE: f"{solr_fields.PUBLISHED} desc,score desc,{solr_fields.ID} asc",
    SortOrder.OLDEST: (  # documents without a date come last
        f"if(exists({solr_fields.PUBLISHED}),0,1) asc,{solr_fields.PUBLISHED} asc,score desc,{solr_fields.ID} asc"
    ),
}


def hits_params(
    plan: QueryPlan,
    rows: int,
    cursor_mark: str = "",
    spare_hits: int = 0,
    field_names: Sequence[str] = HIT_FIELDS,
    excluded_clusters: Sequence[str] = (),
) -> Params:
    """Build the request that selects the first hits of a search. `details_params` fetches what is shown of them.

    Args:
        plan: The search.
        rows: Number of hits.
        cursor_mark: Continue after this Solr cursor mark (`*`: from the start).
        spare_hits: Request this many extra hits, and do not collapse near-duplicates.
        field_names: Fields to return.
        excluded_clusters: Skip these clusters.
    """
    # If Solr need not count all hits it skips those that cannot rank first. This only pays for short queries.
    is_short = len(plan.words.base or plan.words.domain) <= MAX_WORDS_FOR_EARLY_EXIT
    extra_params = [("cursorMark", cursor_mark) if cursor_mark else ("start", "0")]
    extra_params += [("minExactCount", str(MIN_EXACT_COUNT))] if spare_hits and is_short else []
    is_collapsed = not (spare_hits or plan.request.cluster)
    filters = [*_hit_filters(plan, is_collapsed), *_exclude_clusters(excluded_clusters)]
    if plan.is_ranked and not plan.match_any:
        field_names = [*field_names, f"{FULL_MATCH_FIELD}:query(${plan.full_matches.name},0)"]
        extra_params += plan.full_matches.to_params()
    sort = _SORT_CLAUSES[plan.request.sort]
    return select_params(_results_query(plan), filters, rows + spare_hits, field_names, sort, extra_params=extra_params)


def _exclude_clusters(clusters: Sequence[str]) -> list[SolrQuery]:
    """Build the filter that excludes clusters."""
    listed_query = SolrQuery.terms(solr_fields.CLUSTER_ID, "listed", clusters, separator=",")
    return (
        [SolrQuery.boolean(must=[MATCH_ALL_PARAM], must_not=[QueryParam("listed_before", listed_query)])]
        if clusters
        else []
    )


MAX_WORDS_FOR_EARLY_EXIT = 8
SPARE_HITS = 5  # extra hits of a first page that Solr does not collapse
EXACT_PAGING_HITS = 1000  # the number of pages is exact up to this many hits
MIN_EXACT_COUNT = EXACT_PAGING_HITS + 1  # Solr counts exactly up to this number


def details_params(
    plan: QueryPlan,
    hits: Sequence[SolrDocument],
    has_pictures: bool = True,
    has_bodies: bool = False,
    more_facets: Facets = NO_FACETS,
) -> Params:
    """Build the request for the display fields of `hits`, with title and best sentences highlighted.

    With `has_bodies` also for their bodies, in which passages are located.

    It also counts, independently of filters, the documents of each cluster of the hits, and the clusters of each series
    and each picture. In a search for the documents of one cluster they are not counted. If articles are left out it
    counts the sites of each story.
    """
    counted_fields = {
        "copies": (solr_fields.CLUSTER_ID, "clusters", ",", {}, not plan.request.cluster),
        "similar": (solr_fields.SERIES_ID, "all_series", ",", _UNIQUE_CLUSTERS, True),
        "pictures": (solr_fields.PICTURE, "pictures", VALUE_SEPARATOR, _UNIQUE_CLUSTERS, has_pictures),
        "stories": (solr_fields.STORY_ID, "all_stories", ",", UNIQUE_SITES, plan.is_limited),
    }
    facets, value_params = dict(more_facets[0]), [*more_facets[1]]
    for name, (field, param, separator, counts, is_counted) in counted_fields.items():
        values = list(dict.fromkeys(text for doc in hits if is_counted and (text := get_text(doc, field))))
        query = SolrQuery.terms(field, param, values, separator=separator)
        value_params += query.to_params()
        if values:
            domain = {"query": query.to_syntax()}
            facets[name] = {
                "type": "terms", "field": field, "method": "dvhash", "limit": -1, "domain": domain, "facet": counts
            }  # fmt: skip
    fragment_params = [("hl.snippets", "2"), ("hl.fragsize", "80"), ("hl.defaultSummary", "true")]
    extra_params = [
        *highlight_terms_params(plan),
        *fragment_params,
        (f"f.{solr_fields.TITLE}.hl.fragsize", "0"),
        *value_params,
    ]
    query = _ids_query([str(doc[solr_fields.ID]) for doc in hits])
    field_names = [*_DISPLAY_FIELDS, *([solr_fields.BODY, solr_fields.ARTICLE_DIGEST] if has_bodies else [])]
    return select_params(query, rows=len(hits), fl=field_names, facets=facets or None, extra_params=extra_params)


def display_fields_params(ids: Sequence[str]) -> Params:
    """Build the request for the display fields of the hits `ids`, without highlighting and counts."""
    return select_params(_ids_query(ids), rows=len(ids), fl=_DISPLAY_FIELDS)


_UNIQUE_CLUSTERS = {"n": ARTICLE_COUNT}


def document_params(doc_id: str) -> Params:
    """Build the request for the ID and the cluster of one document, which has no hit if the index does not have it."""
    return select_params(_ids_query([doc_id]), rows=1, fl=(solr_fields.ID, solr_fields.CLUSTER_ID))


def _ids_query(ids: Sequence[str]) -> SolrQuery:
    return SolrQuery.terms(solr_fields.ID, "hits", ids, separator=",")


def cursor_start_params(plan: QueryPlan, hits: int) -> Params:
    """Build the request for Solr's cursor mark after the first `hits` hits, the start of the pages without number."""
    return hits_params(plan, hits, FIRST_CURSOR_MARK, field_names=[solr_fields.ID])


_DISPLAY_FIELDS = (
    solr_fields.ID,
    solr_fields.URL,
    solr_fields.SITE,
    solr_fields.TITLE,
    solr_fields.PUBLISHED_TEXT,
    solr_fields.FETCHED,
    solr_fields.CLUSTER_ID,
    solr_fields.SERIES_ID,
    solr_fields.PICTURE,
    solr_fields.FORMAT,
    solr_fields.TEXT_SOURCE,
    solr_fields.PAGE_STARTS,
    solr_fields.STORY_ID,
    solr_fields.LANGUAGE,
    solr_fields.AUTHOR,
    solr_fields.SOURCE,
)


def body_params(ids: Sequence[str]) -> Params:
    """Build the request for the bodies of `ids`."""
    return select_params(_ids_query(ids), rows=len(ids), fl=[solr_fields.ID, solr_fields.BODY])


FULL_MATCH_SCORE = 1024.0  # more than all other scores together; a power of two keeps the precision of their sum
FULL_MATCH_FIELD = "full"


def _results_query(plan: QueryPlan) -> SolrQuery:
    """Return the ranking query of the results page: for keywords full matches first."""
    if plan.match_any or not plan.full_first:
        return plan.ranking
    full = replace(plan.full_matches, template=f"'_query_:\"{{!v=$}}\"^={FULL_MATCH_SCORE:g}'")
    full_param = QueryParam("full", SolrQuery("lucene", (("v", full),)))
    return SolrQuery.boolean([full_param], must=[QueryParam("ranked", plan.ranking)])


def is_full_match(doc: Mapping[str, Any]) -> bool:
    """Return True if a document of a response is a full match (`full_matches`)."""
    return float(doc.get(FULL_MATCH_FIELD, 0.0)) > 0


def _counted_filters(plan: QueryPlan) -> list[SolrQuery]:
    """Build the filters for what is counted: `QueryPlan.matches` that pass the filters of the request.

    Solr caches its results, so the requests of one page share them. A profile without character fields can miss full
    matches. Then only its own matches are counted.
    """
    fields = {name for clause in plan.profile.field_clauses for name, _ in clause.weights}
    own_matches = QueryParam("found", plan.ranking).as_clause()
    may_miss = not plan.match_any and solr_fields.BODY_CHARS not in fields
    return [plan.matches.as_clause(), *([own_matches] if may_miss else []), *_hit_filters(plan)]


def _hit_filters(plan: QueryPlan, is_collapsed: bool = False) -> list[SolrQuery]:
    """Build the filter queries of a request. `is_collapsed` keeps the best document of each near-duplicate cluster."""
    # Without a sort, Solr keeps the document with the best score; that is four times as fast as an explicit sort.
    collapse_sort = "" if plan.is_ranked else _SORT_CLAUSES[plan.request.sort]
    return [
        *plan.filter_queries,
        *([SolrQuery.collapse_clusters(collapse_sort)] if is_collapsed else []),
        *([plan.any_part.as_clause()] if plan.match_any else []),
    ]


_TOKEN_SPLIT_RE = re.compile(r"(?<=[0-9])(?=[^\W\d_])|(?<=[^\W\d_])(?=[0-9])|(?<=\w)['.,_](?=\w)")
"""The places at which the index splits a token; the parts are highlighted where they follow each other (5 GHz)."""


def highlight_terms_params(plan: QueryPlan) -> Params:
    """Build the parameters that highlight the terms of the query in title and body.

    Highlighting uses character pairs, which join to words where they are adjacent. Highlighting by words as well would
    take three times as long and twice the stored text.
    """
    split_words = [_TOKEN_SPLIT_RE.sub(" ", word) for word in plan.words.content]
    phrases = [*(word for word in split_words if " " in word), *plan.words.synonyms]
    phrase_query = SolrQuery.phrases(f"{solr_fields.TITLE} {solr_fields.BODY}", "hl_phrases", phrases)
    text_query = BIGRAM_CLAUSE.to_query(plain_text(plan.words))
    highlight_query = SolrQuery.boolean([QueryParam("hl_text", text_query), QueryParam("hl_also", phrase_query)])
    return [
        ("hl", "true"),
        ("hl.method", "unified"),
        ("hl.fl", f"{solr_fields.TITLE},{solr_fields.BODY}"),
        ("hl.q", highlight_query.to_syntax()),
        *highlight_query.to_params(),
        ("hl.requireFieldMatch", "true"),
        ("hl.tag.pre", HIGHLIGHT_START),
        ("hl.tag.post", HIGHLIGHT_END),
    ]


def count_params(plan: QueryPlan, more_facets: Facets = NO_FACETS) -> Params:
    """Build the request for the total and the facets of `QueryPlan.matches`.

    It also counts the index, for `parse_index_counts`, and if the query has operators, the documents whose title equals
    it (`C++ -入门`). It is a separate request because facets run over the full matches (hundreds), not over all
    documents with any term.
    """
    relatedness_params = [("results", "{!filters param=$fq}"), ("whole_index", MATCH_ALL.to_syntax())]
    facets = {**_search_facets(plan.request), **more_facets[0]}
    if plan.request.parsed_query.conditions:
        is_title = SolrQuery.term(solr_fields.TITLE_KEY, "exact_title", title_key(plan.request.text))
        facets["titled"] = whole_index_facet(is_title.to_syntax())
        relatedness_params += is_title.to_params()
    extra_params = [*relatedness_params, *more_facets[1]]
    return select_params(MATCH_ALL, _counted_filters(plan), facets=facets, extra_params=extra_params)


def facet_values_params(plan: QueryPlan, name: str, limit: int) -> Params:
    """Build the request for up to `limit` values of the filter `name` with their counts, most frequent first."""
    count = "unique(id)" if plan.request.cluster else ARTICLE_COUNT
    facet = values_facet(SOLR_FIELD_BY_FILTER[name], limit, count)
    if name != "terms":
        facet["domain"] = {"excludeTags": PARAM_BY_FILTER[name]}
    return select_params(MATCH_ALL, _counted_filters(plan), facets={name: facet})


def parse_index_counts(count_response: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the number of documents in the index, and of those that are parts of works; None if they are missing."""
    index = count_response.get("facets", {}).get("index", {})
    return index.get("count"), index.get("work_parts", {}).get("count")


MAX_FACET_VALUES = 24  # one more is requested, to know whether there are more
MAX_TERM_CANDIDATES = 120  # most frequent terms of the results, from which the page selects the characteristic ones
MAX_SITE_FACETS = 200  # sites whose boilerplate values are detected
TOP_SITE_SUBFACET = {"of": terms_facet(solr_fields.SITE, 1)}
"""Subfacet: the site with the most documents of a value."""


def _search_facets(request: SearchRequest) -> dict[str, object]:
    """Build all facets. A facet with several selectable values ignores its own filter. Near-duplicates count once.

    Terms have Solr's `relatedness` of the results to each: the share of the results that contain the term, compared
    with its share in the whole index.
    """
    count = "unique(id)" if request.cluster else ARTICLE_COUNT
    facets: dict[str, object] = {"total": count}
    for name in FILTER_NAMES:
        domain, field = {"excludeTags": PARAM_BY_FILTER[name]}, SOLR_FIELD_BY_FILTER[name]
        if name == "terms":
            counts = {"n": count, "relatedness": "relatedness($results,$whole_index)"}
            facets[name] = terms_facet(field, MAX_TERM_CANDIDATES, facet=counts)
        elif name in FILTERS_WITH_SITE_VALUES:
            facets[name] = {**values_facet(field, MAX_FACET_VALUES + 1, count, **TOP_SITE_SUBFACET), "domain": domain}
            facets[f"{name}_of_sites"] = terms_facet(solr_fields.SITE, MAX_SITE_FACETS, domain=domain)
        else:
            facets[name] = {**values_facet(field, MAX_FACET_VALUES + 1, count), "domain": domain}
    index = whole_index_facet(MATCH_ALL.to_syntax(), work_parts={"type": "query", "q": WORK_PARTS_QUERY})
    return {**facets, "dates": _dates_facet(request, count), "index": index}


def _dates_facet(request: SearchRequest, count_expression: str) -> Mapping[str, object]:
    """Build a facet of years, or of the months of a single requested year."""
    year = request.single_year()
    start, end, gap = f"{HISTOGRAM_FIRST_YEAR}-01-01T00:00:00Z", "NOW/YEAR+1YEAR", "+1YEAR"
    if year:
        start, end, gap = f"{year:04}-01-01T00:00:00Z", f"{year + 1:04}-01-01T00:00:00Z", "+1MONTH"
    span = {"start": start, "end": end, "gap": gap, "mincount": 0}
    facet_options = {"facet": {"n": count_expression}, "domain": {"excludeTags": "date"}}
    return {"type": "range", "field": solr_fields.PUBLISHED, **span, **facet_options}


def site_counts_params() -> Params:
    """Build the request for the counts of the index: documents, sites, latest publication."""
    # All sites are listed, because `unique` is an estimate on several shards.
    sites_facet = {"type": "terms", "field": solr_fields.SITE, "limit": -1}
    facets = {"sites": sites_facet, "newest": f"max({solr_fields.PUBLISHED})"}
    return select_params(MATCH_ALL, facets=facets)
