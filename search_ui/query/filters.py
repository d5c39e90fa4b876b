"""Which documents a request leaves in, as Solr's filters. Pure.

Each filter has a tag of its own, so that a facet can be counted without it. As in `ranking`, a reader's text
is only ever the value of a parameter that a fixed query names; dates are written anew from dates that were read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import idna

from docstore import solr_fields
from search_ui.query.min_should_match import content_parts
from search_ui.query.query_parser import ParsedQuery, PartKind, QueryPart
from search_ui.query.search_request import PARAM_BY_FILTER, SearchRequest, SortOrder
from search_ui.query.solr_query import MATCH_ALL_PARAM, QueryParam, QueryVariant, QueryWords, SolrQuery
from search_ui.query.thesaurus import synonym_lookup

SynonymLookup = Callable[[str], Sequence[str]]
"""A word -> the other words that say the same (its synonyms in the lexicon), maybe none."""

_TITLE_AND_BODY = f"{solr_fields.TITLE_CHARS} {solr_fields.BODY_CHARS}"


@dataclass(frozen=True)
class RequestFilter:
    """One filter: its tag, the queries that a document has to match, and the `query_parts` of the query that ask for it.

    A filter that stands in the URL and not in the query has no parts and is named by `request_field` of the request.
    """

    tag: str
    queries: tuple[SolrQuery, ...]
    query_parts: tuple[QueryPart, ...] = ()
    request_field: str = ""


def no_synonyms(word: str) -> Sequence[str]:
    """No word has synonyms."""
    return ()


def build_filters(
    request: SearchRequest, words: Sequence[str], synonyms_for: SynonymLookup = no_synonyms
) -> list[RequestFilter]:
    """The filters of a request one by one: what is typed, then what was chosen beside the results.

    `words` is the query's text cut by the published lexicon.
    """
    return [
        *_typed_filters(request.parsed_query, synonyms_for),
        *_all_words_filter(request, words, synonyms_for),
        *_selected_filters(request),
    ]


def build_filter_queries(request: SearchRequest, words: QueryWords) -> list[SolrQuery]:
    """All filters of a request together; `words` is its text cut into words, with their synonyms."""
    synonyms_for = synonym_lookup(words.get(QueryVariant.SYNONYMS, ()))
    return [
        clause
        for request_filter in build_filters(request, content_parts(words), synonyms_for)
        for clause in request_filter.queries
    ]


def _typed_filters(query: ParsedQuery, synonyms_for: SynonymLookup) -> list[RequestFilter]:
    texts = [part for part in query.conditions if part.kind in (PartKind.WORD, PartKind.PHRASE, PartKind.TITLE)]
    filters = [_text_condition_filter(f"typed{n}", part, synonyms_for) for n, part in enumerate(texts)]
    for is_excluded in (False, True):
        sites = tuple(part for part in query.parts if part.kind is PartKind.SITE and part.is_excluded is is_excluded)
        filters += [_site_filter(sites, is_excluded)] if sites else []
    dates = tuple(part for part in query.parts if part.kind in (PartKind.AFTER, PartKind.BEFORE))
    if dates:
        filters.append(
            RequestFilter(
                "typed_date",
                (_published_between("typed_date", _to_solr_day(query.since), _to_solr_day(query.until)),),
                dates,
            )
        )
    return filters


def _text_condition_filter(tag: str, part: QueryPart, synonyms_for: SynonymLookup) -> RequestFilter:
    """What is quoted or excluded is meant to the letter; a title may say the same by another word."""
    in_title = part.kind is PartKind.TITLE
    texts = (part.text, *synonyms_for(part.text)) if in_title else (part.text,)
    contains = _contains_any(tag, tag, texts, solr_fields.TITLE_CHARS if in_title else _TITLE_AND_BODY)
    return RequestFilter(tag, (_excluding(tag, contains) if part.is_excluded else contains,), (part,))


def _all_words_filter(request: SearchRequest, words: Sequence[str], synonyms_for: SynonymLookup) -> list[RequestFilter]:
    """By date every word has to be there, or one that says the same: no score sinks a poor match then."""
    if request.sort is not SortOrder.DATE:
        return []
    unquoted_words = [
        word for word in dict.fromkeys(words) if word not in request.parsed_query.required_texts(PartKind.PHRASE)
    ]
    clauses = tuple(
        _contains_any("words", f"word{n}", (word, *synonyms_for(word)), _TITLE_AND_BODY)
        for n, word in enumerate(unquoted_words)
    )
    return [RequestFilter("words", clauses, request_field="sort")] if clauses else []


def _contains_any(tag: str, name: str, texts: Sequence[str], query_fields: str) -> SolrQuery:
    """A text of the document holds one of `texts` as a run of characters, whatever lexicon it was cut with."""
    return SolrQuery.phrases(query_fields, name, texts, "OR", tag)


def _excluding(tag: str, query: SolrQuery) -> SolrQuery:
    """All documents but those that `query` finds."""
    return SolrQuery.boolean(must=[MATCH_ALL_PARAM], must_not=[QueryParam(f"{tag}_out", query)], tag=tag)


def _site_filter(parts: tuple[QueryPart, ...], is_excluded: bool) -> RequestFilter:
    """The sites of any of the parts. `site:news.example` means the sites below that name as well."""
    tag = "outside" if is_excluded else "inside"
    in_site = SolrQuery.terms(
        solr_fields.HOST_SUFFIXES, f"{tag}_of", (_to_ascii_host(part.text) for part in parts), tag
    )
    return RequestFilter(tag, (_excluding(tag, in_site) if is_excluded else in_site,), parts)


def _published_between(tag: str, start: str, end: str) -> SolrQuery:
    return SolrQuery(options=(("tag", tag),), body=f"{solr_fields.PUBLISHED}:[{start} TO {end}}}")


def _to_ascii_host(raw_query: str) -> str:
    """A name as URLs have it: `例子.cn` -> `xn--fsqu00a.cn`."""
    name, separator, port = raw_query.partition(":")
    try:
        return idna.encode(name, uts46=True).decode("ascii") + separator + port
    except idna.IDNAError:
        return raw_query


def _to_solr_day(day: date | None) -> str:
    return f"{day.isoformat()}T00:00:00Z" if day else "*"


_FIELD_BY_FILTER: Mapping[str, str] = {
    "sites": solr_fields.SITE, "sections": solr_fields.SECTION, "languages": solr_fields.LANGUAGE, "authors": solr_fields.AUTHOR,
    "types": solr_fields.PAGE_TYPE, "formats": solr_fields.FORMAT,
}  # fmt: skip


def _selected_filters(request: SearchRequest) -> list[RequestFilter]:
    """What was chosen beside the results: any of the sites, sections ..., all of the terms, one cluster, a span."""
    multi_value_filters = (
        (PARAM_BY_FILTER[name], query_fields, getattr(request, name), name)
        for name, query_fields in _FIELD_BY_FILTER.items()
    )
    filters = [_any_value_filter(*filter_args) for filter_args in multi_value_filters if filter_args[2]]
    if request.terms:
        term_queries = (
            SolrQuery.term(solr_fields.DOMAIN_TERMS, f"terms{n}", term, "term") for n, term in enumerate(request.terms)
        )
        filters.append(RequestFilter("term", tuple(term_queries), request_field="terms"))
    if request.cluster:
        filters.append(_any_value_filter("cluster", solr_fields.CLUSTER_ID, (request.cluster,), "cluster"))
    if span := request.solr_date_range():
        filters.append(RequestFilter("date", (_published_between("date", *span),), request_field="date"))
    return filters


def _any_value_filter(tag: str, query_fields: str, values: Sequence[str], field: str) -> RequestFilter:
    return RequestFilter(tag, (SolrQuery.terms(query_fields, field, values, tag),), request_field=field)
