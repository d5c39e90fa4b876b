"""Builds the Solr filters of a request.

Each filter has its own tag, so that a facet can be counted without it. Dates are formatted from parsed dates, never
copied from the request.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import idna

from search_ui.query.full_matches import contains_phrase_query, contains_query
from search_ui.query.query_parser import ParsedQuery, PartKind, QueryPart
from search_ui.query.query_words import QueryWords
from search_ui.query.search_request import PARAM_BY_FILTER, SOLR_FIELD_BY_FILTER, SearchRequest, SortOrder
from search_ui.query.solr_query import MATCH_ALL_PARAM, QueryParam, SolrQuery
from solr_client import solr_fields

FINDABLE_PARAM = "findable"  # the query for what the reader finds, in requests of `search_ui.signed_out`
HIDDEN = "hidden"  # `RequestFilter.request_field` of the filter that no request has: `hidden_filter`


@dataclass(frozen=True)
class RequestFilter:
    """One filter of a request: its tag and the queries that a document has to match.

    `query_parts` are the operators of the query that the filter comes from. A filter that comes from a URL parameter
    has no parts; `request_field` names its field of `SearchRequest`.
    """

    tag: str
    queries: tuple[SolrQuery, ...]
    query_parts: tuple[QueryPart, ...] = ()
    request_field: str = ""


def build_filters(request: SearchRequest, words: QueryWords, is_limited: bool = False) -> list[RequestFilter]:
    """Build the filters of a request: those typed as operators first, then those chosen beside the results.

    `is_limited` is that of `QueryPlan`.
    """
    return [
        *_typed_filters(request.parsed_query, words),
        *_all_words_filter(request, words),
        *_selected_filters(request, is_limited),
    ]


def _typed_filters(query: ParsedQuery, words: QueryWords) -> list[RequestFilter]:
    texts = [part for part in query.conditions if part.kind in (PartKind.WORD, PartKind.PHRASE, PartKind.TITLE)]
    filters = [_text_condition_filter(f"typed{n}", part, words) for n, part in enumerate(texts)]
    for is_excluded in (False, True):
        sites = tuple(part for part in query.parts if part.kind is PartKind.SITE and part.is_excluded is is_excluded)
        filters += [_site_filter(sites, is_excluded)] if sites else []
    dates = tuple(part for part in query.parts if part.kind in (PartKind.AFTER, PartKind.BEFORE))
    if dates:
        published = _published_between("typed_date", query.since, query.until)
        filters.append(RequestFilter("typed_date", (published,), dates))
    return filters


def _text_condition_filter(tag: str, part: QueryPart, words: QueryWords) -> RequestFilter:
    """Build the filter of a quoted, excluded or title text. Only title texts also match by synonym."""
    in_title = part.kind is PartKind.TITLE
    texts = (part.text, *words.find_synonyms(part.text)) if in_title else (part.text,)
    contains = contains_phrase_query(tag, texts, in_title, tag)
    return RequestFilter(tag, (_excluding(tag, contains) if part.is_excluded else contains,), (part,))


def _all_words_filter(request: SearchRequest, words: QueryWords) -> list[RequestFilter]:
    """Build the filter that requires every word or a synonym of it.

    It applies to sorting by date, where no score demotes poor matches.
    """
    if request.sort is SortOrder.RELEVANCE:
        return []
    phrases = request.parsed_query.required_texts(PartKind.PHRASE)
    unquoted_words = [word for word in dict.fromkeys(words.content) if word not in phrases]
    clauses = tuple(
        contains_query(f"word{n}", (word, *words.find_synonyms(word)), tag="words")
        for n, word in enumerate(unquoted_words)
    )
    return [RequestFilter("words", clauses, request_field="sort")] if clauses else []


def _excluding(tag: str, query: SolrQuery) -> SolrQuery:
    """Build a query for all documents that `query` does not match."""
    return SolrQuery.boolean(must=[MATCH_ALL_PARAM], must_not=[QueryParam(f"{tag}_out", query)], tag=tag)


def hidden_filter(doc_ids: Sequence[str]) -> RequestFilter:
    """Build the filter that excludes the documents that editors have hidden for this query."""
    hidden_docs = SolrQuery.terms(solr_fields.ID, "hidden_ids", doc_ids, separator=",")
    return RequestFilter("hidden", (_excluding("hidden", hidden_docs),), request_field=HIDDEN)


def _site_filter(parts: tuple[QueryPart, ...], is_excluded: bool) -> RequestFilter:
    """Build the filter for the sites of any of the parts, including subdomains."""
    tag = "outside" if is_excluded else "inside"
    in_site = SolrQuery.terms(
        solr_fields.HOST_SUFFIXES, f"{tag}_of", (_to_ascii_host(part.text) for part in parts), tag
    )
    return RequestFilter(tag, (_excluding(tag, in_site) if is_excluded else in_site,), parts)


def _published_between(tag: str, start: date | None, end: date | None) -> SolrQuery:
    """Build the filter for a range of dates. `end` is exclusive; None is no limit."""
    bounds = [f"{day.isoformat()}T00:00:00Z" if day else "*" for day in (start, end)]
    return SolrQuery(options=(("tag", tag),), body=f"{solr_fields.PUBLISHED}:[{bounds[0]} TO {bounds[1]}}}")


def _to_ascii_host(raw_query: str) -> str:
    """Return a host name as URLs contain it: `例子.cn` -> `xn--fsqu00a.cn`."""
    name, separator, port = raw_query.partition(":")
    try:
        return idna.encode(name, uts46=True).decode("ascii") + separator + port
    except idna.IDNAError:
        return raw_query


def _selected_filters(request: SearchRequest, is_limited: bool) -> list[RequestFilter]:
    """Build the filters chosen beside the results.

    Documents match any selected site, section etc., all selected terms, and no excluded value.
    """
    multi_value_filters = (
        (PARAM_BY_FILTER[name], query_fields, getattr(request, name), name)
        for name, query_fields in SOLR_FIELD_BY_FILTER.items()
        if name != "terms"
    )
    filters = [_any_value_filter(*filter_args) for filter_args in multi_value_filters if filter_args[2]]
    if request.terms:
        term_queries = (
            SolrQuery.term(solr_fields.DOMAIN_TERMS, f"terms{n}", term, "term") for n, term in enumerate(request.terms)
        )
        filters.append(RequestFilter("term", tuple(term_queries), request_field="terms"))
    if request.cluster and is_limited:
        filters.append(RequestFilter("cluster", (_same_cluster(request.cluster),), request_field="cluster"))
    elif request.cluster:
        filters.append(_any_value_filter("cluster", solr_fields.CLUSTER_ID, (request.cluster,), "cluster"))
    if request.since or request.until:
        published = _published_between("date", *request.date_range())
        filters.append(RequestFilter("date", (published,), request_field="date"))
    excluding_queries = tuple(
        _excluding(f"not_{name}", SolrQuery.terms(query_fields, f"not_{name}", values))
        for name, query_fields in SOLR_FIELD_BY_FILTER.items()
        if (values := getattr(request.exclusions, name))
    )
    if excluding_queries:
        filters.append(RequestFilter("excluded", excluding_queries, request_field="exclusions"))
    return filters


def _any_value_filter(tag: str, query_fields: str, values: Sequence[str], field: str) -> RequestFilter:
    return RequestFilter(tag, (SolrQuery.terms(query_fields, field, values, tag),), request_field=field)


def _same_cluster(doc_id: str) -> SolrQuery:
    """Build the filter for the cluster of an article that the reader finds (`search_ui.signed_out`).

    The documents of a cluster are on one shard, so the join finds all of them.
    """
    member = QueryParam("member", SolrQuery.term(solr_fields.ID, "cluster", doc_id))
    article = SolrQuery("bool", (("must", member), ("must", f"${FINDABLE_PARAM}")))
    fields = (("from", solr_fields.CLUSTER_ID), ("to", solr_fields.CLUSTER_ID), ("score", "none"))
    return SolrQuery("join", (("tag", "cluster"), *fields, ("v", QueryParam("one_of_cluster", article))))
