"""Finds related articles, by words and by vectors.

The two lists are fused by reciprocal ranks (Cormack, Clarke, Büttcher 2009, "Reciprocal rank fusion outperforms
Condorcet and individual rank learning methods"). Near-duplicates and articles of the same series are excluded.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from search_ui.query.semantic.hybrid import QueryVector, get_cluster, neighbour_cosine
from search_ui.query.solr_client import SolrResponse, documents, with_documents
from search_ui.query.solr_query import MATCH_ALL_PARAM, Params, QueryParam, SolrQuery, select_params
from solr_client import solr_fields

CANDIDATES_PER_LIST = 30
RRF_K = 10  # the larger, the slower the score falls with the rank

_MORE_LIKE_THIS_OPTIONS = {"mintf": "1", "mindf": "2", "maxdfpct": "20", "minwl": "2", "maxqt": "25", "boost": "true"}


def more_like_this_params(doc_id: str, cluster: str, series: str, field_names: Sequence[str]) -> Params:
    """Build the request for articles with the same distinctive character pairs.

    Pairs that occur in a fifth of all documents, and single characters, are ignored.
    """
    query_fields = f"'{solr_fields.BODY} {solr_fields.TITLE}'"
    like = SolrQuery("mlt", (("qf", query_fields), *_MORE_LIKE_THIS_OPTIONS.items(), ("v", QueryParam("doc", doc_id))))
    each = SolrQuery.collapse_clusters(f"score desc,{solr_fields.ID} asc")
    return select_params(like, [_outside_group(cluster, series), each], CANDIDATES_PER_LIST, field_names)


def nearest_articles_params(vector: QueryVector, cluster: str, series: str, field_names: Sequence[str]) -> Params:
    """Build the kNN request for the nearest articles to `vector`, the vector of the article itself."""
    nearest = SolrQuery(
        "knn", (("f", vector.field), ("topK", str(CANDIDATES_PER_LIST)), ("v", QueryParam("vector", vector.solr_text)))
    )
    return select_params(nearest, [_outside_group(cluster, series)], CANDIDATES_PER_LIST, (*field_names, "score"))


def _outside_group(cluster: str, series: str) -> SolrQuery:
    copies = QueryParam("copies", SolrQuery.term(solr_fields.CLUSTER_ID, "cluster", cluster))
    members = QueryParam("members", SolrQuery.term(solr_fields.SERIES_ID, "series", series))
    return SolrQuery.boolean(must=[MATCH_ALL_PARAM], must_not=[copies, members])


def drop_distant(response: SolrResponse, vector: QueryVector) -> SolrResponse:
    """Return a response to `nearest_articles_params` without documents below the minimum cosine."""
    docs = [doc for doc in documents(response) if neighbour_cosine(doc) >= vector.min_cosine]
    return with_documents({}, docs, len(docs))


def fuse_by_rank(answers: Sequence[SolrResponse], limit: int) -> SolrResponse:
    """Fuse Solr responses by rank into one of at most `limit` documents, the first of each cluster."""
    score_by_cluster: dict[str, float] = defaultdict(float)
    docs: dict[str, Mapping[str, Any]] = {}
    for response in answers:
        document_by_cluster = {get_cluster(doc): doc for doc in reversed(documents(response))}
        for rank, (cluster, doc) in enumerate(reversed(document_by_cluster.items())):
            score_by_cluster[cluster] += 1 / (RRF_K + rank)
            docs.setdefault(cluster, doc)
    best = sorted(score_by_cluster, key=lambda cluster: (-score_by_cluster[cluster], cluster))[:limit]
    return with_documents({}, [docs[cluster] for cluster in best], len(best))
