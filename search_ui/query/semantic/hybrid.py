"""Hybrid search: fuses the lexical ranking with the nearest neighbours of the query vector.

    lexical      the first hits of the ranking, with Solr's scores        hits_params
    neighbours   the documents with the nearest vectors                   vector_search_params
    fused        both, by the sum of their scores

The scores of each list are measured in standard deviations above the last document of the list, which scores 0. A
document gets the sum, so documents in both lists come first. docs/decisions/index.md has the alternatives. Totals and
facets are lexical only.

While articles wait for their vectors, only a part of the neighbours is known. A document without a vector keeps its
lexical rank. Of the neighbours the first N are used, where N is `VECTOR_CANDIDATES` times the share of the lexical hits
that have a vector: about those that would be neighbours if every document had one. The weight of the semantic score is
reduced by the square of this share.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import pstdev
from typing import Protocol

from domain.curation import CurationAction
from search_ui.query.curation import NO_CURATION, Curation
from search_ui.query.query_plan import QueryPlan
from search_ui.query.ranking import EXACT_TITLE_PARAM
from search_ui.query.solr_client import SolrDocument, SolrResponse, documents, is_partial, with_documents
from search_ui.query.solr_query import Params, QueryParam, SolrQuery, select_params
from search_ui.query.solr_requests import FULL_MATCH_FIELD, FULL_MATCH_SCORE, is_full_match
from solr_client import solr_fields
from text.titles import title_lookup_keys

VECTOR_CANDIDATES = 100
VECTOR_AUTHORITY_WEIGHT = 0.04  # cosines differ less than scores; docs/background/ranking.md has other weights
COVERAGE_EXPONENT = 2  # of the share of documents with a vector, in the weight of the semantic score
EXACT_TITLE_FIELD = "titled"  # in a response: above 0 if the title of a document equals the query
# In the response to the kNN request: above 0 if the document matches the ranking query; if it has a content word.
LEXICAL_MATCH_FIELD, ANY_PART_FIELD = "lexical", "any_part"
SIMILARITY_FIELD = "similarity"  # in a response: (1 + cosine) / 2 of a document and the query; 0 without a vector
CARRIED_SHARE = 0.5  # a hit with a higher share of the semantic score is shown as a semantic match


@dataclass(frozen=True)
class QueryVector:
    """A query vector: id of the embedding model, Solr field of its vectors, and the values, one byte a dimension.

    `min_cosine` is the minimum cosine of a document without a lexical match. `languages` are the ISO 639 codes of the
    documents that the model embeds; empty: all.
    """

    model_id: str
    field: str
    values: tuple[int, ...]
    min_cosine: float
    languages: tuple[str, ...] = ()

    @property
    def solr_text(self) -> str:
        """The values as Solr parses them."""
        return "[" + ",".join(map(str, self.values)) + "]"

    def should_have_vector(self, doc: SolrDocument) -> bool:
        """Return True if the model embeds documents in the language of `doc`."""
        language = str(doc.get(solr_fields.LANGUAGE, ""))
        return not self.languages or language.partition("-")[0] in self.languages


class QueryVectors(Protocol):
    """The embedding models of the vertical and the vectors of its passages."""

    def query_vector(self, text: str) -> QueryVector | None:
        """Return the vector of a query; None if semantic search is unavailable. No network access."""

    def is_preparing(self) -> bool:
        """True while semantic search is being prepared for the first time: searches use keywords only."""

    def article_vector(self, digest: str) -> QueryVector | None:
        """Return the vector of the article with this digest; None if it has none."""

    def best_passages(self, query_vector: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """Return the passage with the highest cosine for each article that has passages.

        Returns:
            Start and end (exclusive) in the body, by digest.
        """

    def text_cosines(self, query_vector: QueryVector, texts: Sequence[str]) -> Sequence[float]:
        """Return the cosine of each text to the query. Embeds the texts with the model of the query vector."""


@dataclass(frozen=True)
class Candidate:
    """A document of a fused list with the two summands of its score.

    `is_semantic_only`: the document is not among the first lexical hits. `factor` is that of a rule of an editor.
    """

    doc: SolrDocument
    lexical_score: float
    semantic_score: float
    is_semantic_only: bool = False
    factor: float = 1.0

    @property
    def score(self) -> float:
        """The score that the list is sorted by."""
        score = self.lexical_score + self.semantic_score
        return score * self.factor if score > 0 else score / self.factor

    @property
    def semantic_share(self) -> float:
        """The share of the semantic score in the score, 0 to 1; 0 if the semantic score lowers it."""
        semantic_score = max(0.0, self.semantic_score)
        return semantic_score / (self.lexical_score + semantic_score) if semantic_score else 0.0


@dataclass(frozen=True)
class FusedCandidates:
    """The fused list of the numbered pages, with each cluster once.

    Attributes:
        tail_count: Number of further documents, which only the lexical ranking has.
        neighbours: Ids and cosines of the nearest neighbours, nearest first.
        is_truncated: Solr timed out and returned only a part of one of the lists.
    """

    vector: QueryVector
    entries: tuple[Candidate, ...]
    tail_count: int
    neighbours: tuple[tuple[str, float], ...] = ()
    is_truncated: bool = False

    @property
    def match_count(self) -> int:
        """The number of documents that can be paged through."""
        return len(self.entries) + self.tail_count

    @property
    def clusters(self) -> list[str]:
        """The clusters of the list. Later pages exclude them."""
        return [get_cluster(candidate.doc) for candidate in self.entries]

    def semantic_match_ids(self, ids: Sequence[str]) -> list[str]:
        """Return those of `ids` that are in the list because of their vector."""
        semantic_ids = {
            str(candidate.doc[solr_fields.ID])
            for candidate in self.entries
            if candidate.is_semantic_only or candidate.semantic_share > CARRIED_SHARE
        }
        return [doc_id for doc_id in ids if doc_id in semantic_ids]

    def get_semantic_share(self, doc_id: str) -> float:
        """Return the share of the semantic score in the score of a document, 0 to 1; 0 if it is not in the list."""
        return next(
            (candidate.semantic_share for candidate in self.entries if str(candidate.doc[solr_fields.ID]) == doc_id),
            0.0,
        )

    def page_response(self, start: int) -> SolrResponse:
        """Return the documents of the list from `start`, in the form of a Solr response."""
        header = {"responseHeader": {"partialResults": self.is_truncated}}
        return with_documents(header, [candidate.doc for candidate in self.entries[start:]], self.match_count)


def can_use_semantic_search(plan: QueryPlan) -> bool:
    """Return True if semantic search applies to a search.

    The query must consist of plain words only, sorted by relevance, without a cluster, and the profile must have a
    semantic weight.
    """
    is_plain = plan.is_ranked and not plan.request.parsed_query.conditions and not plan.request.cluster
    return is_plain and plan.profile.semantic_weight > 0


def vector_search_params(plan: QueryPlan, vector: QueryVector, field_names: Sequence[str]) -> Params:
    """Build the kNN request for the nearest documents that pass the filters.

    It also returns whether a document matches lexically, so that `fuse` counts each document once.
    """
    nearest = SolrQuery(
        "knn", (("f", vector.field), ("topK", str(VECTOR_CANDIDATES)), ("v", QueryParam("vector", vector.solr_text)))
    )
    match_params = {
        FULL_MATCH_FIELD: plan.full_matches,
        LEXICAL_MATCH_FIELD: QueryParam("ranked_words", plan.ranking),
        ANY_PART_FIELD: plan.any_part,
    }
    match_fields = [f"{name}:query(${param.name},0)" for name, param in match_params.items()]
    return select_params(
        nearest,
        plan.filter_queries,
        VECTOR_CANDIDATES,
        [*field_names, solr_fields.AUTHORITY, *match_fields],
        extra_params=[pair for param in match_params.values() for pair in param.to_params()],
    )


def lexical_fields(plan: QueryPlan, vector: QueryVector, field_names: Sequence[str]) -> list[str]:
    """Return the fields that `fuse` needs from the lexical response, besides `is_full_match`."""
    has_title_key = bool(title_lookup_keys(plan.words.typed))
    return [
        *field_names,
        "score",
        solr_fields.LANGUAGE,
        solr_fields.AUTHORITY,
        f"{SIMILARITY_FIELD}:vectorSimilarity({vector.field},{vector.solr_text})",
        *([f"{EXACT_TITLE_FIELD}:query(${EXACT_TITLE_PARAM},0)"] if has_title_key else []),
    ]


def fuse(
    lexical_response: SolrResponse,
    vector_response: SolrResponse,
    vector: QueryVector,
    weight: float,
    limit: int,
    cluster_count: int,
    full_first: bool = False,
    lexical_field: str = LEXICAL_MATCH_FIELD,
    curation: Curation = NO_CURATION,
) -> FusedCandidates:
    """Fuse the lexical and the vector response into one list.

    Pinned documents come first, in the order of the lexical response, then documents whose title equals the query.

    Args:
        lexical_response: Lexical hits with `lexical_fields` and `full_match_field`, each cluster once.
        vector_response: Nearest neighbours with `score`.
        vector: The query vector.
        weight: Weight of the semantic score.
        limit: Maximum length of the list.
        cluster_count: Total number of clusters that match lexically.
        full_first: All full matches come before all other documents.
        lexical_field: Field of the vector response that says whether a document is one of the lexical matches.
        curation: The rules of editors, with which the lexical response is ranked.
    """
    lexical_docs, neighbours = first_by_cluster(lexical_response), first_by_cluster(vector_response)
    pinned_candidates, scored_docs = _take_out_pinned(lexical_docs, curation)
    coverage = _vector_coverage(scored_docs.values(), vector)
    nearest = islice(neighbours.items(), round(coverage * len(neighbours)))
    vector_docs = {cluster: doc for cluster, doc in nearest if cluster not in pinned_candidates}
    exact_titles = {cluster for cluster, doc in scored_docs.items() if float(doc.get(EXACT_TITLE_FIELD, 0.0)) > 0}
    candidate_by_cluster = {
        cluster: replace(candidate, factor=_score_factor(candidate.doc, curation))
        for cluster, candidate in _score_candidates(
            scored_docs, vector_docs, exact_titles, vector, weight * coverage**COVERAGE_EXPONENT
        ).items()
    }
    lowered_clusters = {cluster for cluster, candidate in candidate_by_cluster.items() if candidate.factor < 1}
    ranked_clusters = _rank_candidates(candidate_by_cluster, scored_docs, exact_titles - lowered_clusters)
    if full_first:
        ranked_clusters.sort(key=lambda cluster: not is_full_match(candidate_by_cluster[cluster].doc))
    candidate_by_cluster |= pinned_candidates
    ranked_clusters = [*pinned_candidates, *ranked_clusters][:limit]
    # Also those behind the first lexical hits.
    lexical_clusters = {cluster for cluster, doc in neighbours.items() if float(doc.get(lexical_field, 0.0)) > 0}
    lexical_clusters.update(lexical_docs)
    return FusedCandidates(
        vector,
        tuple(candidate_by_cluster[cluster] for cluster in ranked_clusters),
        cluster_count - sum(cluster in lexical_clusters for cluster in ranked_clusters),
        tuple(
            (str(lexical_docs.get(cluster, doc)[solr_fields.ID]), neighbour_cosine(doc))
            for cluster, doc in neighbours.items()
        ),
        is_partial(lexical_response) or is_partial(vector_response),
    )


def _score_candidates(
    lexical_docs: dict[str, SolrDocument],
    vector_docs: dict[str, SolrDocument],
    exact_titles: Collection[str],
    vector: QueryVector,
    semantic_weight: float,
) -> dict[str, Candidate]:
    """Return the lexical hits and the neighbours that are similar enough, by cluster, with their scores.

    Args:
        lexical_docs: The lexical hits, by cluster.
        vector_docs: The nearest neighbours, by cluster.
        exact_titles: The clusters whose title equals the query.
        vector: The query vector.
        semantic_weight: Weight of the semantic score.
    """
    # The remainder is the score without that of full matches, if those rank first.
    word_scores = {
        cluster: float(doc["score"]) % FULL_MATCH_SCORE
        for cluster, doc in lexical_docs.items()
        if cluster not in exact_titles
    }
    lexical_scores = _standardize_scores(word_scores, word_scores.values())
    lexical_scores |= dict.fromkeys(exact_titles, max(lexical_scores.values(), default=1.0))
    cosines = {
        cluster: _with_authority(2 * float(doc[SIMILARITY_FIELD]) - 1, doc)
        for cluster, doc in lexical_docs.items()
        if vector_docs and _has_vector(doc)
    }
    neighbour_cosines = {cluster: _with_authority(neighbour_cosine(doc), doc) for cluster, doc in vector_docs.items()}
    semantic_scores = _standardize_scores(cosines | neighbour_cosines, neighbour_cosines.values())
    semantic_only = {
        cluster
        for cluster, doc in vector_docs.items()
        if cluster not in lexical_docs and neighbour_cosine(doc) >= vector.min_cosine
    }
    return {
        cluster: Candidate(
            doc,
            lexical_scores.get(cluster, 0.0),
            semantic_weight * semantic_scores.get(cluster, 0.0),
            cluster in semantic_only,
        )
        for cluster, doc in (lexical_docs | {cluster: vector_docs[cluster] for cluster in semantic_only}).items()
    }


def _rank_candidates(
    candidates: Mapping[str, Candidate], lexical_docs: Mapping[str, SolrDocument], exact_titles: Collection[str]
) -> list[str]:
    """Return the clusters by score, exact titles first. Documents without a vector keep their lexical rank.

    Args:
        candidates: All candidates by cluster, lexical hits first and in their order.
        lexical_docs: The lexical hits, by cluster.
        exact_titles: The clusters whose title equals the query.
    """
    fixed = {cluster for cluster, doc in lexical_docs.items() if not _has_vector(doc)}
    movable = [cluster for cluster in candidates if cluster not in fixed]
    movable.sort(key=lambda cluster: (cluster not in exact_titles, -candidates[cluster].score, cluster))
    by_score = iter(movable)
    return [*(cluster if cluster in fixed else next(by_score) for cluster in lexical_docs), *by_score]


def _vector_coverage(docs: Iterable[SolrDocument], vector: QueryVector) -> float:
    """Return the share of the documents of the model's languages that have a vector; 1 if there are none."""
    embeddable = [_has_vector(doc) for doc in docs if _has_vector(doc) or vector.should_have_vector(doc)]
    return sum(embeddable) / len(embeddable) if embeddable else 1.0


def _take_out_pinned(
    lexical_docs: Mapping[str, SolrDocument], curation: Curation
) -> tuple[dict[str, Candidate], dict[str, SolrDocument]]:
    """Return the pinned documents as candidates, and the others with their scores without the rules of editors.

    The rules change the fused score, so they must not change the scale of the lexical one.
    """
    pinned_ids = curation.ids(CurationAction.PIN)
    pinned_clusters = {cluster for cluster, doc in lexical_docs.items() if str(doc[solr_fields.ID]) in pinned_ids}
    pinned_candidates = {
        cluster: Candidate(doc, 0.0, 0.0) for cluster, doc in lexical_docs.items() if cluster in pinned_clusters
    }
    scored_docs: dict[str, SolrDocument] = {
        cluster: {**doc, "score": float(doc["score"]) % FULL_MATCH_SCORE / _score_factor(doc, curation)}
        for cluster, doc in lexical_docs.items()
        if cluster not in pinned_clusters
    }
    return pinned_candidates, scored_docs


def _score_factor(doc: SolrDocument, curation: Curation) -> float:
    return curation.score_factor(str(doc[solr_fields.ID]))


def _has_vector(doc: SolrDocument) -> bool:
    return float(doc.get(SIMILARITY_FIELD, 0.0)) > 0


def neighbour_cosine(doc: SolrDocument) -> float:
    """Return the cosine of a neighbour, from Solr's score (1 + cosine) / 2."""
    return 2 * float(doc["score"]) - 1


def _with_authority(cosine: float, doc: SolrDocument) -> float:
    """Return the cosine multiplied by the authority boost, as in the lexical score."""
    return cosine * (1 + VECTOR_AUTHORITY_WEIGHT * float(doc.get(solr_fields.AUTHORITY, 0.0)))


def get_cluster(doc: SolrDocument) -> str:
    """Return the id that a document shares with its near-duplicates."""
    return str(doc.get(solr_fields.CLUSTER_ID, doc.get(solr_fields.ID)))


def _standardize_scores(scores: Mapping[str, float], reference: Collection[float]) -> dict[str, float]:
    """Return scores in standard deviations above the lowest of `reference`; all 1 if that has no two values."""
    lowest, deviation = min(reference, default=0.0), pstdev(reference) if reference else 0.0
    return {key: (score - lowest) / deviation if deviation else 1.0 for key, score in scores.items()}


def first_by_cluster(response: SolrResponse) -> dict[str, SolrDocument]:
    """Return the first document of each cluster in a response, in its order."""
    docs_by_cluster: dict[str, SolrDocument] = {}
    for doc in documents(response):
        docs_by_cluster.setdefault(get_cluster(doc), doc)
    return docs_by_cluster
