"""Finding by meaning beside words: who is asked, and how both lists of candidates become one.

Pure.

    words       the first of the ranking, with Solr's scores      hits_params
    neighbours  the documents whose vectors are nearest to the query's      neighbours_params
    fused       both, by the sum of their scores

Each list's scores are measured in its own standard deviations, from the last of the list on, which counts nothing, and
a document has the sum: one that both find comes before one that either finds alone. docs/decisions/index.md has what
other ways would do. Totals and facets stay with the words.
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
VECTOR_AUTHORITY_WEIGHT = (
    0.02  # cosines differ by less than scores; docs/background/ranking.md has what other weights would do
)
EXACT_TITLE_FIELD = "titled"  # in an answer: above 0 where a document has the query for its title
SolrDocument = Mapping[str, Any]


@dataclass(frozen=True)
class QueryVector:
    """What a query means: the id of the model, the field with its vectors, and the query's own, a byte a dimension.

    `min_cosine` is the cosine from which on the model finds two texts alike: what words do not find has to be as near.
    """

    model_id: str
    field: str
    values: tuple[int, ...]
    min_cosine: float


class QueryVectors(Protocol):
    """The models of the vertical and the vectors of its passages."""

    def query_vector(self, text: str) -> QueryVector | None:
        """What a query means; None where nothing can be found by meaning. Asks no network."""

    def article_vector(self, digest: str) -> QueryVector | None:
        """What the article with this digest means; None where no model has read it."""

    def best_passages(self, query_vector: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """Of articles with these digests the passage nearest to the query.

        Digest -> first character of the body, and the one after its last.
        """


class NoQueryVectors:
    """Nothing is found by meaning."""

    def query_vector(self, text: str) -> QueryVector | None:
        """None."""

    def article_vector(self, digest: str) -> QueryVector | None:
        """None."""

    def best_passages(self, query_vector: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """None."""
        return {}


NO_QUERY_VECTORS = NoQueryVectors()


@dataclass(frozen=True)
class Candidate:
    """A document of a fused list: what Solr said of it, and the two summands of its score.

    `is_semantic_only`: it is not among those that the words find first.
    """

    doc: SolrDocument
    lexical_score: float
    semantic_score: float
    is_semantic_only: bool = False

    @property
    def score(self) -> float:
        """What the list is ordered by."""
        return self.lexical_score + self.semantic_score

    @property
    def semantic_share(self) -> float:
        """The share of meaning in the score, 0 to 1."""
        return self.semantic_score / self.score if self.score else 0.0


@dataclass(frozen=True)
class FusedCandidates:
    """The fused list as far as pages have numbers, each cluster once.

    Behind it come `tail_count` documents that only words find. `neighbours` are the ids of what is nearest in meaning,
    with the cosines, `lexical_ids` those of what words find first; each in its order.
    """

    vector: QueryVector
    entries: tuple[Candidate, ...]
    tail_count: int
    neighbours: tuple[tuple[str, float], ...] = ()
    lexical_ids: tuple[str, ...] = ()

    @property
    def match_count(self) -> int:
        """How many documents can be paged through."""
        return len(self.entries) + self.tail_count

    @property
    def clusters(self) -> list[str]:
        """The clusters of the list: what comes behind it has others."""
        return [get_cluster(candidate.doc) for candidate in self.entries]

    def semantic_only_ids(self, ids: Sequence[str]) -> list[str]:
        """Those of the documents `ids` that meaning alone has found."""
        semantic_only = {str(candidate.doc[solr_fields.ID]) for candidate in self.entries if candidate.is_semantic_only}
        return [doc_id for doc_id in ids if doc_id in semantic_only]

    def semantic_share_of(self, doc_id: str) -> float:
        """The share of meaning in the score of a document, 0 to 1; 0 for one that is not in the list."""
        return next(
            (candidate.semantic_share for candidate in self.entries if str(candidate.doc[solr_fields.ID]) == doc_id),
            0.0,
        )

    def page_response(self, number: int, size: int) -> SolrResponse:
        """Page `number` of the list, as Solr would answer."""
        docs = [candidate.doc for candidate in self.entries[(number - 1) * size : number * size]]
        return {"response": {"numFound": self.match_count, "docs": docs}}


def can_use_semantic_search(request: SearchRequest) -> bool:
    """May meaning help? What is quoted, typed with an operator or sorted otherwise is meant to the letter."""
    is_plain = bool(request.parsed_query.ranking_text) and not request.parsed_query.conditions and not request.cluster
    return is_plain and request.sort is SortOrder.RELEVANCE and PROFILES[request.profile].semantic_weight > 0


def vector_search_params(
    request: SearchRequest, words: QueryWords, vector: QueryVector, field_names: Sequence[str]
) -> Params:
    """What finds the nearest documents among those that pass the filters: Solr looks at no others."""
    vector_text = "[" + ",".join(map(str, vector.values)) + "]"
    nearest = SolrQuery(
        "knn", (("f", vector.field), ("topK", str(VECTOR_CANDIDATES)), ("v", QueryParam("vector", vector_text)))
    )
    return select_params(
        nearest, build_filter_queries(request, words), VECTOR_CANDIDATES, [*field_names, solr_fields.AUTHORITY]
    )


def max_fused_candidates(settings: SearchSettings) -> int:
    """How many documents a fused list has at most: those of the numbered pages."""
    return last_numbered_page(settings) * settings.page_size


def lexical_fields(request: SearchRequest, field_names: Sequence[str]) -> list[str]:
    """The fields that a list of words brings along for `fuse`."""
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
    """Both answers as one list of at most `limit`, what has the query for its title first.

    Documents carry `score`; `lexical_response` has each cluster once, and there are `cluster_count` of those in all.
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
    """The cosine behind Solr's score of a neighbour."""
    return 2 * float(doc["score"]) - 1


def _cosine_with_authority(doc: SolrDocument) -> float:
    """The cosine of a neighbour with what others think of it, as the words' scores have it (`RankingProfile.authority`)."""
    return neighbour_cosine(doc) * (1 + VECTOR_AUTHORITY_WEIGHT * float(doc.get(solr_fields.AUTHORITY, 0.0)))


def get_cluster(doc: SolrDocument) -> str:
    """What a document has in common with its copies."""
    return str(doc.get(solr_fields.CLUSTER_ID, doc.get(solr_fields.ID)))


def _standardize_scores(docs: Mapping[str, SolrDocument]) -> dict[str, float]:
    """Scores in standard deviations above the lowest; all 1 where they do not differ."""
    scores = {key: float(doc["score"]) for key, doc in docs.items()}
    lowest, deviation = min(scores.values(), default=0.0), pstdev(scores.values()) if scores else 0.0
    return {key: (score - lowest) / deviation if deviation else 1.0 for key, score in scores.items()}


def _first_by_cluster(response: SolrResponse) -> dict[str, SolrDocument]:
    """The first document of each cluster in an answer."""
    docs: Sequence[SolrDocument] = response.get("response", {}).get("docs", ())
    return {get_cluster(doc): doc for doc in reversed(docs)}
