"""What a reader asked, as Solr parameters. Pure: reads no clock, no store, no network.

How the documents are ordered is `ranking`'s; which are left out, what is shown of them and counted, stands
here. As there, a reader's words are only ever values of parameters that fixed queries name.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from docstore import solr_fields
from search_ui.query.cursors import FIRST_CURSOR_MARK
from search_ui.query.display_text import has_word
from search_ui.query.filters import build_filter_queries
from search_ui.query.min_should_match import any_part_query, enough_parts_query
from search_ui.query.ranking import BIGRAM_CLAUSE, PROFILES, build_query_texts, build_rank_query
from search_ui.query.search_request import SearchRequest, SortOrder
from search_ui.query.solr_query import (
    MATCH_ALL,
    MATCH_ALL_PARAM,
    Params,
    QueryParam,
    QueryVariant,
    QueryWords,
    SolrQuery,
    select_params,
)
from text.segment import Segmenter
from text.titles import title_key

HIGHLIGHT_START, HIGHLIGHT_END = "\U0010fffc", "\U0010fffd"  # private use, plane 16: what Solr puts around a match
HISTOGRAM_FIRST_YEAR = 1990  # of the date histogram

HIT_FIELDS = (solr_fields.ID, solr_fields.CLUSTER_ID, solr_fields.SERIES_ID, solr_fields.PICTURE)
_SORT_CLAUSES: Mapping[SortOrder, str] = {
    SortOrder.RELEVANCE: f"score desc,{solr_fields.PUBLISHED} desc,{solr_fields.ID} asc",
    SortOrder.DATE: f"{solr_fields.PUBLISHED} desc,score desc,{solr_fields.ID} asc",
}


def segment_words(text: str, segmenter: Segmenter) -> tuple[str, ...]:
    """The words of `text` in order, marks and blanks left out."""
    return tuple(word for word in segmenter.cut(text) if has_word(word))


def hits_params(
    request: SearchRequest,
    words: QueryWords,
    page_size: int,
    cursor_mark: str = "",
    spare_hits: int = 0,
    field_names: Sequence[str] = HIT_FIELDS,
    match_any: bool = False,
    summands: Sequence[QueryParam] = (),
    excluded_clusters: Sequence[str] = (),
) -> Params:
    """Solr parameters that find which documents a result page shows; `highlight_params` has what is shown of them.

    `words` holds the query's text (`asked.query.text`) cut by the published lexicon (`QueryVariant.DOMAIN`, always),
    those of its words that say what it is about (`CONTENT`), and, where that ranks, cut by the base dictionary. With
    the page begins after what Solr has marked so (`*`: at the beginning), else where its number says. With `spare_hits`
    it is so many hits longer, and near-duplicates are left in; `match_any` leaves out what holds no word of it; the
    scores of `summands` are added to the ranking. The clusters `excluded_clusters` are left out.
    """
    # Where Solr need not count to the end it passes over what cannot come first, which pays for few words alone.
    is_short = len(words.get(QueryVariant.BASE, words[QueryVariant.DOMAIN])) <= MAX_WORDS_FOR_EARLY_EXIT
    extra_params = [("cursorMark", cursor_mark) if cursor_mark else ("start", str((request.page - 1) * page_size))]
    extra_params += [("minExactCount", str(MIN_EXACT_COUNT))] if spare_hits and is_short else []
    q = ranking_query(request, words)
    q = SolrQuery.boolean([QueryParam("known", q), *summands]) if summands else q
    filters = [
        *_hit_filters(request, words, not (spare_hits or request.cluster), match_any),
        *_exclude_clusters(excluded_clusters),
    ]
    return select_params(
        q, filters, page_size + spare_hits, field_names, _SORT_CLAUSES[request.sort], extra_params=extra_params
    )


def _exclude_clusters(clusters: Sequence[str]) -> list[SolrQuery]:
    """The filter that leaves clusters out."""
    listed_query = SolrQuery.terms(solr_fields.CLUSTER_ID, "listed", clusters, separator=",")
    return (
        [SolrQuery.boolean(must=[MATCH_ALL_PARAM], must_not=[QueryParam("listed_before", listed_query)])]
        if clusters
        else []
    )


MAX_WORDS_FOR_EARLY_EXIT = 8
SPARE_HITS = 5  # hits that are asked for besides a first page's, where Solr does not collapse
EXACT_PAGING_HITS = 1000  # hits of which the pages must be numbered rightly: a hundred
MIN_EXACT_COUNT = EXACT_PAGING_HITS + 1  # hits that are counted at least


def highlight_params(request: SearchRequest, words: QueryWords, ids: Sequence[str]) -> Params:
    """What a result page shows of the documents `ids`, in whatever order, their terms marked.

    The whole title and the best sentences.
    """
    fragment_params = [("hl.snippets", "2"), ("hl.fragsize", "80"), ("hl.defaultSummary", "true")]
    extra_params = [
        *highlight_terms_params(request, words),
        *fragment_params,
        (f"f.{solr_fields.TITLE}.hl.fragsize", "0"),
    ]
    return select_params(_ids_query(ids), rows=len(ids), fl=_DISPLAY_FIELDS, extra_params=extra_params)


def hit_details_params(
    request: SearchRequest,
    words: QueryWords,
    ids: Sequence[str],
    clusters: Sequence[str],
    series: Sequence[str] = (),
    pictures: Sequence[str] = (),
) -> Params:
    """Which of the documents `ids` hold enough of the query.

    And, filters or not, how many documents each of their `clusters` has, how many clusters each of their `series`, and
    in how many each of their `pictures` (URLs) stands.
    """
    clusters_query = SolrQuery.terms(solr_fields.CLUSTER_ID, "clusters", clusters, separator=",")
    series_query = SolrQuery.terms(solr_fields.SERIES_ID, "all_series", series, separator=",")
    pictures_query = SolrQuery.terms(solr_fields.PICTURE, "pictures", pictures)
    facets = {"copies": _value_count_facet(solr_fields.CLUSTER_ID, clusters_query)}
    facets |= {"similar": _value_count_facet(solr_fields.SERIES_ID, series_query, _UNIQUE_CLUSTERS)} if series else {}
    facets |= (
        {"pictures": _value_count_facet(solr_fields.PICTURE, pictures_query, _UNIQUE_CLUSTERS)} if pictures else {}
    )
    extra_params = [*clusters_query.to_params(), *series_query.to_params(), *pictures_query.to_params()]
    return select_params(
        _ids_query(ids),
        _enough_filters(request, words),
        len(ids),
        [solr_fields.ID],
        facets=facets,
        extra_params=extra_params,
    )


_UNIQUE_CLUSTERS = {"n": f"unique({solr_fields.CLUSTER_ID})"}


def _value_count_facet(
    name: str, query: SolrQuery, extra_params: Mapping[str, str] = MappingProxyType({})
) -> Mapping[str, object]:
    """A facet that counts the values of a field in what `query` finds, whatever else is asked."""
    everything = {"domain": {"query": query.to_syntax()}, "facet": dict(extra_params)}
    return {"type": "terms", "field": name, "method": "dvhash", "limit": -1, **everything}


def _ids_query(ids: Sequence[str]) -> SolrQuery:
    return SolrQuery.terms(solr_fields.ID, "hits", ids, separator=",")


def cursor_start_params(request: SearchRequest, words: QueryWords, hits: int, match_any: bool = False) -> Params:
    """What finds Solr's mark after the first `hits` hits: where the pages without number begin."""
    return hits_params(request, words, hits, FIRST_CURSOR_MARK, field_names=[solr_fields.ID], match_any=match_any)


_DISPLAY_FIELDS = (
    solr_fields.ID, solr_fields.URL, solr_fields.SITE, solr_fields.TITLE, solr_fields.PUBLISHED_TEXT, solr_fields.FETCHED, solr_fields.CLUSTER_ID,
    solr_fields.SERIES_ID, solr_fields.PICTURE, solr_fields.FORMAT, solr_fields.PAGE_STARTS, solr_fields.STORY_ID,
)  # fmt: skip


def body_params(ids: Sequence[str]) -> Params:
    """The texts of the documents `ids`, in which a passage is looked for."""
    return select_params(
        _ids_query(ids), rows=len(ids), fl=[solr_fields.ID, solr_fields.BODY, solr_fields.ARTICLE_DIGEST]
    )


def ranking_query(request: SearchRequest, words: QueryWords) -> SolrQuery:
    """The ranking; all documents alike where the query names conditions alone, as `site:news.example`."""
    return (
        build_rank_query(request.parsed_query.ranking_text, words, request.profile)
        if request.parsed_query.ranking_text
        else MATCH_ALL
    )


def _enough_filters(request: SearchRequest, words: QueryWords) -> list[SolrQuery]:
    """The filter by `enough_parts_query`: Solr keeps what passes it, so that one question of a page works for the next.

    A profile that does not look at characters may miss what holds enough; only what it finds is counted then.
    """
    enough_query = enough_parts_query(request, words).as_clause()
    if any(
        name == solr_fields.BODY_CHARS
        for clause in PROFILES[request.profile].field_clauses
        for name, _ in clause.weights
    ):
        return [enough_query]
    return [enough_query, QueryParam("found", ranking_query(request, words)).as_clause()]


def _hit_filters(
    request: SearchRequest, words: QueryWords, is_collapsed: bool = False, match_any: bool = False
) -> list[SolrQuery]:
    """The filters of a request, and for the hits what leaves out near-duplicates and what holds no word of it."""
    # By score is what collapsing does by itself, four times as fast as by an order that it is told.
    collapse_sort = (
        "" if request.sort is SortOrder.RELEVANCE and request.parsed_query.ranking_text else _SORT_CLAUSES[request.sort]
    )
    return [
        *build_filter_queries(request, words),
        *([SolrQuery.collapse_clusters(collapse_sort)] if is_collapsed else []),
        *([any_part_query(words).as_clause()] if match_any else []),
    ]


def highlight_terms_params(request: SearchRequest, words: QueryWords) -> Params:
    """How the terms of the query are marked in title and body.

    By pairs of characters, which join to words where they stand side by side: by words as well would cost Solr three
    times as much, and twice the text to keep.
    """
    texts = build_query_texts(request.parsed_query.ranking_text, words)
    synonym_query = SolrQuery.simple(f"{solr_fields.TITLE} {solr_fields.BODY}", texts[QueryVariant.SYNONYMS])
    highlight_query = SolrQuery.boolean(
        [QueryParam("hl_text", BIGRAM_CLAUSE.to_query(texts)), QueryParam("hl_also", synonym_query)]
    )
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


def count_params(request: SearchRequest, words: QueryWords) -> Params:
    """What is said about all that was found: how much, by site, section, term and time.

    A question of its own: what holds enough of the query is some hundred documents, where some of it is in nearly all.
    """
    filter_queries = [*_enough_filters(request, words), *_hit_filters(request, words)]
    return select_params(MATCH_ALL, filter_queries, facets=_search_facets(request))


MAX_FACET_VALUES = 24  # of a facet
MAX_SITE_FACETS = 200  # whose own values are told from others
EXACT_FACET_OPTIONS: Mapping[str, object] = {"refine": True, "overrequest": 100}
"""In a facet: values are counted on all shards of an index, also where some do not have them among their first."""

TOP_SITE_SUBFACET: Mapping[str, object] = {
    "of": {"type": "terms", "field": solr_fields.SITE, "limit": 1, **EXACT_FACET_OPTIONS}
}
"""In a facet: the site that most documents with a value are of."""


def _search_facets(request: SearchRequest) -> Mapping[str, object]:
    """A facet of which several values can be chosen ignores its own filter. Near-duplicates count once."""
    count_expression = "unique(id)" if request.cluster else f"unique({solr_fields.CLUSTER_ID})"
    return {
        "total": count_expression,
        "sites": _values_facet(solr_fields.SITE, count_expression, "site"),
        "sections": _values_facet(solr_fields.SECTION, count_expression, "section", TOP_SITE_SUBFACET),
        "languages": _values_facet(solr_fields.LANGUAGE, count_expression, "language"),
        "authors": _values_facet(solr_fields.AUTHOR, count_expression, "author", TOP_SITE_SUBFACET),
        "types": _values_facet(solr_fields.PAGE_TYPE, count_expression, "type"),
        "formats": _values_facet(solr_fields.FORMAT, count_expression, "filetype"),
        "terms": _values_facet(solr_fields.DOMAIN_TERMS, count_expression),
        "dates": _dates_facet(request, count_expression),
        "sections_of_sites": _documents_per_site_facet("section"),
        "authors_of_sites": _documents_per_site_facet("author"),
    }


def _documents_per_site_facet(tag: str) -> Mapping[str, object]:
    """The documents of each site, counted where the facet with this tag is."""
    return {
        "type": "terms",
        "field": solr_fields.SITE,
        "limit": MAX_SITE_FACETS,
        **EXACT_FACET_OPTIONS,
        "domain": {"excludeTags": tag},
    }


def _values_facet(
    name: str, count_expression: str, tag: str = "", extra_params: Mapping[str, object] = MappingProxyType({})
) -> Mapping[str, object]:
    """The most frequent values, most documents first; which those are is found by a count that costs less."""
    domain = {"domain": {"excludeTags": tag}} if tag else {}
    sort_options = {"sort": "n desc", "prelim_sort": "count desc"}
    return {
        "type": "terms",
        "field": name,
        "limit": MAX_FACET_VALUES,
        **EXACT_FACET_OPTIONS,
        **sort_options,
        "facet": {"n": count_expression, **extra_params},
        **domain,
    }


def _dates_facet(request: SearchRequest, count_expression: str) -> Mapping[str, object]:
    """Years, or the months of the one year asked for."""
    year = request.single_year()
    start, end, gap = f"{HISTOGRAM_FIRST_YEAR}-01-01T00:00:00Z", "NOW/YEAR+1YEAR", "+1YEAR"
    if year:
        start, end, gap = f"{year:04}-01-01T00:00:00Z", f"{year + 1:04}-01-01T00:00:00Z", "+1MONTH"
    span = {"start": start, "end": end, "gap": gap, "mincount": 0}
    facet_options = {"facet": {"n": count_expression}, "domain": {"excludeTags": "date"}}
    return {"type": "range", "field": solr_fields.PUBLISHED, **span, **facet_options}


def exact_title_params(text: str) -> Params:
    """What asks whether a document has just this title."""
    return select_params(SolrQuery.term(solr_fields.TITLE_KEY, "key", title_key(text)))


def site_counts_params() -> Params:
    """What is counted of the vertical: documents, sites, newest day."""
    sites_facet = {
        "type": "terms",
        "field": solr_fields.SITE,
        "limit": -1,
    }  # `unique` is an estimate where there are shards
    facets = {"sites": sites_facet, "newest": f"max({solr_fields.PUBLISHED})"}
    return select_params(MATCH_ALL, facets=facets)
