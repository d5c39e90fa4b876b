"""What is like an article: by its words, and by its meaning where it has a vector. Pure.

Each way gives a list, and a document counts by its places in both (reciprocal ranks: Cormack, Clarke, Büttcher 2009,
"Reciprocal rank fusion outperforms Condorcet and individual rank learning methods"). Copies and the other articles of
its series are not what is meant.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from docstore import solr_fields
from search_ui.query.semantic.hybrid import QueryVector, neighbour_cosine
from search_ui.query.solr_client import SolrResponse
from search_ui.query.solr_query import MATCH_ALL_PARAM, Params, QueryParam, SolrQuery, select_params

CANDIDATES_PER_LIST = 30  # of each list
RRF_K = 10  # how slowly the worth of a place falls

_MORE_LIKE_THIS_OPTIONS = {"mintf": "1", "mindf": "2", "maxdfpct": "20", "minwl": "2", "maxqt": "25", "boost": "true"}


def more_like_this_params(doc_id: str, cluster: str, series: str, field_names: Sequence[str]) -> Params:
    """What is like an article by the pairs of characters that tell it from others.

    Those that are in a fifth of all documents, and single characters, tell nothing.
    """
    query_fields = f"'{solr_fields.BODY} {solr_fields.TITLE}'"
    like = SolrQuery("mlt", (("qf", query_fields), *_MORE_LIKE_THIS_OPTIONS.items(), ("v", QueryParam("doc", doc_id))))
    each = SolrQuery.collapse_clusters(f"score desc,{solr_fields.ID} asc")
    return select_params(like, [_outside_group(cluster, series), each], CANDIDATES_PER_LIST, field_names)


def nearest_articles_params(vector: QueryVector, cluster: str, series: str, field_names: Sequence[str]) -> Params:
    """What is nearest to an article in meaning; `vector` is its own."""
    vector_text = "[" + ",".join(map(str, vector.values)) + "]"
    nearest = SolrQuery(
        "knn", (("f", vector.field), ("topK", str(CANDIDATES_PER_LIST)), ("v", QueryParam("vector", vector_text)))
    )
    return select_params(nearest, [_outside_group(cluster, series)], CANDIDATES_PER_LIST, (*field_names, "score"))


def _outside_group(cluster: str, series: str) -> SolrQuery:
    copies = QueryParam("copies", SolrQuery.term(solr_fields.CLUSTER_ID, "cluster", cluster))
    members = QueryParam("members", SolrQuery.term(solr_fields.SERIES_ID, "series", series))
    return SolrQuery.boolean(must=[MATCH_ALL_PARAM], must_not=[copies, members])


def drop_distant(response: SolrResponse, vector: QueryVector) -> SolrResponse:
    """An answer to `nearest_articles_params` without what is not near: there is always a nearest."""
    docs = [doc for doc in response.get("response", {}).get("docs", ()) if neighbour_cosine(doc) >= vector.min_cosine]
    return {"response": {"numFound": len(docs), "docs": docs}}


def fuse_by_rank(answers: Sequence[SolrResponse], limit: int) -> SolrResponse:
    """Solr's answers as one, of each cluster the first, at most so many documents."""
    score_by_cluster: dict[str, float] = defaultdict(float)
    docs: dict[str, Mapping[str, Any]] = {}
    for response in answers:
        document_by_cluster = {get_cluster(doc): doc for doc in reversed(response.get("response", {}).get("docs", ()))}
        for rank, (cluster, doc) in enumerate(reversed(document_by_cluster.items())):
            score_by_cluster[cluster] += 1 / (RRF_K + rank)
            docs.setdefault(cluster, doc)
    best = sorted(score_by_cluster, key=lambda cluster: (-score_by_cluster[cluster], cluster))[:limit]
    return {"response": {"numFound": len(best), "docs": [docs[cluster] for cluster in best]}}


def get_cluster(doc: Mapping[str, Any]) -> str:
    return str(doc.get(solr_fields.CLUSTER_ID, doc.get(solr_fields.ID)))
