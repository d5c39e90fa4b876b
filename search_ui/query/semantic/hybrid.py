"""Hybrid search: fuses the lexical ranking with the nearest neighbours of the query vector.

    lexical      the first hits of the ranking, with Solr's scores        hits_params
    neighbours   the documents with the nearest vectors                   vector_search_params
    fused        both, by the sum of their scores

The scores of each list are measured in standard deviations above the last document of the list, which scores 0. A
document gets the sum, so documents in both lists come first. docs/decisions/index.md has the alternatives. Totals and
facets are lexical only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import pstdev
from typing import Any, Protocol

from docstore import solr_fields
from search_ui.query.filters import build_filter_queries
from search_ui.query.ranking import EXACT_TITLE_PARAM, PROFILES
from search_ui.query.search_request import SearchRequest, SortOrder, last_numbered_page
from search_ui.query.solr_client import SolrResponse
from search_ui.query.solr_query import Params, QueryParam, QueryWords, SolrQuery, select_params
from search_ui.settings import SearchSettings
from text.titles import title_lookup_keys

VECTOR_CANDIDATES = 100
VECTOR_AUTHORITY_WEIGHT = 0.02  # cosines differ less than scores; docs/background/ranking.md has other weights
EXACT_TITLE_FIELD = "titled"  # in a response: above 0 if the title of a document equals the query
SolrDocument = Mapping[str, Any]


@dataclass(frozen=True)
class QueryVector:
    """A query vector: id of the embedding model, Solr field of its vectors, and the values, one byte a dimension.

    `min_cosine` is the minimum cosine of a document without a lexical match.
    """

    model_id: str
    field: str
    values: tuple[int, ...]
    min_cosine: float


class QueryVectors(Protocol):
    """The embedding models of the vertical and the vectors of its passages."""

    def query_vector(self, text: str) -> QueryVector | None:
        """Return the vector of a query; None if semantic search is unavailable. No network access."""

    def article_vector(self, digest: str) -> QueryVector | None:
        """Return the vector of the article with this digest; None if it has none."""

    def best_passages(self, query_vector: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """Return the passage with the highest cosine for each article that has passages.

        Returns:
            Start and end (exclusive) in the body, by digest.
        """


class NoQueryVectors:
    """Semantic search is not configured."""

    def query_vector(self, text: str) -> QueryVector | None:
        """Return None."""

    def article_vector(self, digest: str) -> QueryVector | None:
        """Return None."""

    def best_passages(self, query_vector: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """Return no passages."""
        return {}


NO_QUERY_VECTORS = NoQueryVectors()


@dataclass(frozen=True)
class Candidate:
    """A document of a fused list with the two summands of its score.

    `is_semantic_only`: the document is not among the first lexical hits.
    """

    doc: SolrDocument
    lexical_score: float
    semantic_score: float
    is_semantic_only: bool = False

    @property
    def score(self) -> float:
        """The score that the list is sorted by."""
        return self.lexical_score + self.semantic_score

    @property
    def semantic_share(self) -> float:
        """The share of the semantic score in the score, 0 to 1."""
        return self.semantic_score / self.score if self.score else 0.0


@dataclass(frozen=True)
class FusedCandidates:
    """The fused list of the numbered pages, with each cluster once.

    Attributes:
        tail_count: Number of further documents, which only the lexical ranking has.
        neighbours: Ids and cosines of the nearest neighbours, nearest first.
        lexical_ids: Ids of the first lexical hits, in their order.
    """

    vector: QueryVector
    entries: tuple[Candidate, ...]
    tail_count: int
    neighbours: tuple[tuple[str, float], ...] = ()
    lexical_ids: tuple[str, ...] = ()

    @property
    def match_count(self) -> int:
        """The number of documents that can be paged through."""
        return len(self.entries) + self.tail_count

    @property
    def clusters(self) -> list[str]:
        """The clusters of the list. Later pages exclude them."""
        return [get_cluster(candidate.doc) for candidate in self.entries]

    def semantic_only_ids(self, ids: Sequence[str]) -> list[str]:
        """Return those of `ids` that only the semantic search found."""
        semantic_only = {str(candidate.doc[solr_fields.ID]) for candidate in self.entries if candidate.is_semantic_only}
        return [doc_id for doc_id in ids if doc_id in semantic_only]

    def get_semantic_share(self, doc_id: str) -> float:
        """Return the share of the semantic score in the score of a document, 0 to 1; 0 if it is not in the list."""
        return next(
            (candidate.semantic_share for candidate in self.entries if str(candidate.doc[solr_fields.ID]) == doc_id),
            0.0,
        )

    def page_response(self, number: int, size: int) -> SolrResponse:
        """Return page `number` of the list in the form of a Solr response."""
        docs = [candidate.doc for candidate in self.entries[(number - 1) * size : number * size]]
        return {"response": {"numFound": self.match_count, "docs": docs}}


def can_use_semantic_search(request: SearchRequest) -> bool:
    """Return True if semantic search applies to a request.

    The query must consist of plain words only, sorted by relevance, without a cluster, and the profile must have a
    semantic weight.
    """
    is_plain = bool(request.parsed_query.ranking_text) and not request.parsed_query.conditions and not request.cluster
    return is_plain and request.sort is SortOrder.RELEVANCE and PROFILES[request.profile].semantic_weight > 0


def vector_search_params(
    request: SearchRequest, words: QueryWords, vector: QueryVector, field_names: Sequence[str]
) -> Params:
    """Build the kNN request for the nearest documents that pass the filters."""
    vector_text = "[" + ",".join(map(str, vector.values)) + "]"
    nearest = SolrQuery(
        "knn", (("f", vector.field), ("topK", str(VECTOR_CANDIDATES)), ("v", QueryParam("vector", vector_text)))
    )
    return select_params(
        nearest, build_filter_queries(request, words), VECTOR_CANDIDATES, [*field_names, solr_fields.AUTHORITY]
    )


def max_fused_candidates(settings: SearchSettings) -> int:
    """Return the maximum length of a fused list: the hits of the numbered pages."""
    return last_numbered_page(settings) * settings.page_size


def lexical_fields(request: SearchRequest, field_names: Sequence[str]) -> list[str]:
    """Return the fields that `fuse` needs from the lexical response."""
    exact_title_fields = (
        [f"{EXACT_TITLE_FIELD}:query(${EXACT_TITLE_PARAM},0)"]
        if title_lookup_keys(request.parsed_query.ranking_text)
        else []
    )
    return [*field_names, "score", *exact_title_fields]


def fuse(
    lexical_response: SolrResponse,
    vector_response: SolrResponse,
    vector: QueryVector,
    weight: float,
    limit: int,
    cluster_count: int,
) -> FusedCandidates:
    """Fuse the lexical and the vector response into one list. Documents whose title equals the query come first.

    Args:
        lexical_response: Lexical hits with `score`, each cluster once.
        vector_response: Nearest neighbours with `score`.
        vector: The query vector.
        weight: Weight of the semantic score.
        limit: Maximum length of the list.
        cluster_count: Total number of clusters that match lexically.
    """
    lexical_docs, vector_docs = _first_by_cluster(lexical_response), _first_by_cluster(vector_response)
    exact_title_clusters = [
        cluster for cluster, doc in lexical_docs.items() if float(doc.get(EXACT_TITLE_FIELD, 0.0)) > 0
    ]
    lexical_scores = _standardize_scores(
        {cluster: doc for cluster, doc in lexical_docs.items() if cluster not in exact_title_clusters}
    )
    lexical_scores |= dict.fromkeys(exact_title_clusters, max(lexical_scores.values(), default=1.0))
    semantic_scores = _standardize_scores(
        {cluster: {**doc, "score": _cosine_with_authority(doc)} for cluster, doc in vector_docs.items()}
    )
    semantic_only = {
        cluster
        for cluster, doc in vector_docs.items()
        if cluster not in lexical_docs and neighbour_cosine(doc) >= vector.min_cosine
    }
    candidate_by_cluster = {
        cluster: Candidate(
            doc, lexical_scores.get(cluster, 0.0), weight * semantic_scores.get(cluster, 0.0), cluster in semantic_only
        )
        for cluster, doc in (vector_docs | lexical_docs).items()
        if cluster in lexical_docs or cluster in semantic_only
    }
    ranked_clusters = sorted(
        candidate_by_cluster,
        key=lambda cluster: (cluster not in exact_title_clusters, -candidate_by_cluster[cluster].score, cluster),
    )[:limit]
    id_by_cluster = {cluster: str(doc[solr_fields.ID]) for cluster, doc in (vector_docs | lexical_docs).items()}
    return FusedCandidates(
        vector,
        tuple(candidate_by_cluster[cluster] for cluster in ranked_clusters),
        cluster_count - sum(cluster in lexical_docs for cluster in ranked_clusters),
        tuple((id_by_cluster[cluster], neighbour_cosine(doc)) for cluster, doc in reversed(vector_docs.items())),
        tuple(id_by_cluster[cluster] for cluster in reversed(lexical_docs)),
    )


def neighbour_cosine(doc: SolrDocument) -> float:
    """Return the cosine of a neighbour, from Solr's score (1 + cosine) / 2."""
    return 2 * float(doc["score"]) - 1


def _cosine_with_authority(doc: SolrDocument) -> float:
    """Return the cosine multiplied by the authority boost, as in the lexical score."""
    return neighbour_cosine(doc) * (1 + VECTOR_AUTHORITY_WEIGHT * float(doc.get(solr_fields.AUTHORITY, 0.0)))


def get_cluster(doc: SolrDocument) -> str:
    """Return the id that a document shares with its near-duplicates."""
    return str(doc.get(solr_fields.CLUSTER_ID, doc.get(solr_fields.ID)))


def _standardize_scores(docs: Mapping[str, SolrDocument]) -> dict[str, float]:
    """Return scores in standard deviations above the lowest; all 1 if they are equal."""
    scores = {key: float(doc["score"]) for key, doc in docs.items()}
    lowest, deviation = min(scores.values(), default=0.0), pstdev(scores.values()) if scores else 0.0
    return {key: (score - lowest) / deviation if deviation else 1.0 for key, score in scores.items()}


def _first_by_cluster(response: SolrResponse) -> dict[str, SolrDocument]:
    """Return the first document of each cluster in a response."""
    docs: Sequence[SolrDocument] = response.get("response", {}).get("docs", ())
    return {get_cluster(doc): doc for doc in reversed(docs)}
