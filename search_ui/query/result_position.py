"""Where the results of a search list one document, and what keeps it from a higher position."""

from dataclasses import dataclass, replace

from search_ui.query.filters import RequestFilter
from search_ui.query.full_matches import part_queries
from search_ui.query.query_plan import QueryPlan
from search_ui.query.search import SearchService, SolrRequest
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_client import documents
from search_ui.query.solr_query import QueryParam, SolrQuery, select_params
from search_ui.query.solr_requests import hits_params
from solr_client import solr_fields

MAX_RANK = 1_000


@dataclass(frozen=True)
class ResultPosition:
    """The position of a document in the results of a search.

    Attributes:
        rank: Position from 1, the same as on the results pages; None if the results do not list the document, or list
            it behind position MAX_RANK.
        listed_id: ID of the document that the results list: a near-duplicate of this one, or the document itself; "" if
            `rank` is None.
        listed_url: Its URL.
        word_count: Number of content words of the query.
        missing_words: Content words that the document lacks, also as synonyms.
        excluding_filters: Filters that the document does not pass.
    """

    rank: int | None
    listed_id: str
    listed_url: str
    word_count: int
    missing_words: tuple[str, ...]
    excluding_filters: tuple[RequestFilter, ...]


def find_position(search: SearchService, request: SearchRequest, doc_id: str) -> ResultPosition | None:
    """Find a document in the results of `request`; None if the index does not have it.

    Sends the requests of up to ten results pages. Raises what `SolrBackend.select` raises.
    """
    plan = search.plan(request)
    parts, filters = plan.words.content, [*plan.filters, *plan.hidden_filters]
    part_clauses = [param.as_clause() for param in part_queries(plan.words)]
    filter_clauses = [_joined_clause(request_filter) for request_filter in filters]
    clauses = [*part_clauses, *filter_clauses]
    facets = {f"c{n}": {"type": "query", "q": clause.to_syntax(f"c{n}_")} for n, clause in enumerate(clauses)}
    params = select_params(
        SolrQuery.term(solr_fields.ID, "doc", doc_id),
        rows=1,
        fl=(solr_fields.ID, solr_fields.CLUSTER_ID),
        facets=facets,
        extra_params=[pair for n, clause in enumerate(clauses) for pair in clause.to_params(f"c{n}_")],
    )
    response = search.select(SolrRequest.DETAILS, params)
    docs = documents(response)
    if not docs:
        return None
    matches = [bool(response.get("facets", {}).get(f"c{n}", {}).get("count")) for n in range(len(clauses))]
    excluding = tuple(each for each, passes in zip(filters, matches[len(parts) :], strict=True) if not passes)
    cluster = str(docs[0].get(solr_fields.CLUSTER_ID, ""))
    rank, listed_id, listed_url = (None, "", "") if excluding else _find_rank(search, plan, doc_id, cluster)
    missing_words = tuple(word for word, contains in zip(parts, matches, strict=False) if not contains)
    return ResultPosition(rank, listed_id, listed_url, len(parts), missing_words, excluding)


def _joined_clause(request_filter: RequestFilter) -> SolrQuery:
    """Return a query for the documents that pass a filter."""
    return SolrQuery.boolean(must=[QueryParam(f"q{n}", query) for n, query in enumerate(request_filter.queries)])


def _find_rank(search: SearchService, plan: QueryPlan, doc_id: str, cluster: str) -> tuple[int | None, str, str]:
    """Return the rank of a document or its best near-duplicate, and ID and URL of the listed one.

    The numbered pages are read as a reader sees them; behind them the order is that of the words.
    """
    request = plan.request
    page, last_rank = search.execute(replace(plan, request=replace(request, page=1, cursor=""))), 0
    match_any = not page.total
    while page.hits:
        for rank, hit in enumerate(page.hits, start=page.span.start + 1):
            if hit.doc_id == doc_id or (cluster and hit.cluster == cluster and not request.cluster):
                return rank, hit.doc_id, hit.url
        last_rank = page.span.start + len(page.hits)
        if page.page >= page.numbered_pages:
            break
        page = search.execute(replace(plan, request=replace(request, page=page.page + 1, cursor="")))
    fields = (solr_fields.ID, solr_fields.CLUSTER_ID, solr_fields.URL)
    params = hits_params(replace(plan, match_any=match_any), MAX_RANK, field_names=fields)
    for rank, doc in enumerate(documents(search.select(SolrRequest.HITS, params)), start=1):
        listed_id = str(doc.get(solr_fields.ID))
        if listed_id == doc_id or (cluster and doc.get(solr_fields.CLUSTER_ID) == cluster):
            return max(rank, last_rank + 1), listed_id, str(doc.get(solr_fields.URL, ""))
    return None, "", ""
