"""Our hybrid search: keywords, and the vectors that the program itself would compute.

Vectors are computed once and saved in `out/vectors`, by model and text. Those of the largest collection take 15
minutes.
"""

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from benchmarks.results import OUT
from benchmarks.search_data import Document
from benchmarks.search_systems import DEPTH, Ours
from docstore.articles.vectors import ARTICLE_PASSAGE_NUMBER, EmbeddingPart, PendingText
from domain.article import StoredArticle
from domain.batches import batched
from domain.term import Lexicon
from extractor.fields.language import detect_language
from pipeline.embedding.embedding_pool import embed_in_processes
from pipeline.embedding.models import Embedders, configured_models, fetch_models
from pipeline.embedding.settings import EmbedSettings
from pipeline.search_site.query_vectors import compute_text_cosines
from search_ui.query.query_plan import QueryPlan
from search_ui.query.semantic.hybrid import FusedCandidates, QueryVector, fuse, lexical_fields, vector_search_params
from search_ui.query.solr_requests import hits_params
from search_ui.services.articles import (
    CANDIDATES_PER_LIST,
    drop_distant,
    fuse_by_rank,
    more_like_this_params,
    nearest_articles_params,
)
from solr_client import solr_fields
from text.embedding.embedder import Embedder, Vectors, quantize
from text.embedding.model_spec import ModelSpec

VECTORS = OUT / "vectors"
SETTINGS = EmbedSettings(passages=0)
SAMPLE = 200  # documents that determine the language of a collection


class WithMeaning(Ours):
    """Our search with its defaults. See `benchmarks.search_systems.System`.

    `embedded_percent` of the documents have a vector; those of a smaller percentage are among those of a larger one.
    """

    def __init__(
        self, url: str, name: str, lexicon: Lexicon, profile: str = "plumbline", embedded_percent: int = 100
    ) -> None:
        super().__init__(url, name, lexicon, profile)
        self._embedded_percent = embedded_percent
        fetch_models(SETTINGS, print)
        self._embedders = Embedders(configured_models(SETTINGS, Path()))
        self._vectors: dict[str, bytes] = {}
        self._spec: ModelSpec | None = None
        self._stored: dict[str, StoredArticle] = {}

    def load(self, documents: Sequence[Document]) -> None:
        """See `System`."""
        self._spec = self._embedders.spec_for(collection_language(documents))
        if self._spec is not None:
            stored = [document.stored(self._collection) for document in documents]
            self._vectors = vectors_of(stored, self._spec)
        self._stored = {document.id: document.stored(self._collection) for document in documents}
        super().load(documents)

    def vectors(self, stored: StoredArticle) -> dict[str, bytes]:
        """Return the vector of a document, by model."""
        found = self._vectors.get(stored.article.digest)
        is_embedded = crc32(stored.doc_id.encode()) % 100 < self._embedded_percent
        return {self._spec.model_id: found} if found and self._spec and is_embedded else {}

    def search_lexically(self, text: str) -> list[str]:
        """Return the results of keyword search only, as `search` does."""
        return [self._ids[doc_id] for doc_id in super().found(self.understood(text))]

    def found(self, plan: QueryPlan) -> list[str]:
        """Return the Solr ids of the hybrid results."""
        both = self.both(plan)
        return self.listed(both.page_response(0)) if both else super().found(plan)

    def both(self, plan: QueryPlan) -> FusedCandidates | None:
        """Return the hybrid results; None without semantic matches."""
        vector = self._vector_of(plan.words.typed)
        if vector is None:
            return None
        near = self._client.select(
            vector_search_params(plan, vector, (solr_fields.ID, solr_fields.CLUSTER_ID, "score"))
        )
        shown = lexical_fields(plan, vector, (solr_fields.ID, solr_fields.CLUSTER_ID))
        by_words = self._client.select(hits_params(plan, DEPTH, field_names=shown))
        return fuse(by_words, near, vector, plan.profile.semantic_weight, DEPTH, 0, plan.full_first)

    def text_cosines(self, query: QueryVector, texts: Sequence[str]) -> list[float]:
        """Return the cosine of each text to a query vector of this collection."""
        return compute_text_cosines(self._embedder_of(query), query, texts)

    def text_vectors(self, query: QueryVector, texts: Sequence[str]) -> Vectors:
        """Embed texts with the model of a query vector."""
        return self._embedder_of(query).encode_documents(texts)

    def _embedder_of(self, query: QueryVector) -> Embedder:
        embedder = self._embedders.for_model(query.model_id)
        assert embedder is not None, "the vector is from this model"
        return embedder

    def similar(self, name: str, with_meaning: bool) -> list[str]:
        """Return the most similar documents in the collection."""
        stored = self._stored[name]
        group, shown = (stored.doc_id, stored.doc_id), (solr_fields.ID, solr_fields.CLUSTER_ID)
        answers = [self._client.select(more_like_this_params(stored.doc_id, *group, shown))]
        near_enough = self._spec.min_cosine if self._spec else 0.0
        for model, kept in self.vectors(stored).items() if with_meaning else ():
            vector = QueryVector(
                model, solr_fields.vector_field_name(model, len(kept)), tuple(array("b", kept)), near_enough
            )
            answers.append(drop_distant(self._client.select(nearest_articles_params(vector, *group, shown)), vector))
        found = fuse_by_rank(answers, CANDIDATES_PER_LIST)["response"]["docs"]
        return [self.named(str(doc[solr_fields.ID])) for doc in found]

    def _vector_of(self, text: str) -> QueryVector | None:
        spec = self._spec
        embedder = self._embedders.for_language(spec.languages[0]) if spec and text else None
        if spec is None or embedder is None:
            return None
        values = tuple(quantize(embedder.encode_queries([text]))[0].tolist())
        return QueryVector(
            spec.model_id,
            solr_fields.vector_field_name(spec.model_id, len(values)),
            values,
            spec.min_cosine,  # no languages: each document of a collection gets a vector
        )


def collection_language(documents: Sequence[Document]) -> str:
    """Return the language of most documents of a collection."""
    told = [detect_language(f"{one.title}\n{one.text}") for one in documents[:: max(1, len(documents) // SAMPLE)]]
    return max(set(told), key=told.count)


def vectors_of(stored: Sequence[StoredArticle], spec: ModelSpec) -> dict[str, bytes]:
    """Return the vectors of articles by digest: saved ones, and new ones, which are then saved."""
    path = VECTORS / f"{spec.model_id}.npz"
    known = dict(kept(path))
    missing = {one.article.digest: one for one in stored if one.article.digest not in known}
    pending = (PendingText(0, digest, one.article.title, one.article.body) for digest, one in missing.items())
    for batches in batched(embed_in_processes(pending, spec, SETTINGS, EmbeddingPart.ARTICLE), SAVE_EVERY):
        made = [one for batch in batches for one in batch]
        known |= {
            one.digest: part.vector
            for one in made
            for part in one.vectors
            if part.passage_number == ARTICLE_PASSAGE_NUMBER
        }
        save(path, known)
    return known


SAVE_EVERY = 200  # batches


def kept(path: Path) -> Iterator[tuple[str, bytes]]:
    """Load digests and vectors from a file; empty if it does not exist."""
    if path.exists():
        with np.load(path) as file:
            digests, vectors = file["digests"], file["vectors"]
        yield from ((str(digest), row.tobytes()) for digest, row in zip(digests, vectors, strict=True))


def save(path: Path, known: dict[str, bytes]) -> None:
    """Save vectors atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    full = {digest: vector for digest, vector in known.items() if vector}
    rows = np.frombuffer(b"".join(full.values()), np.int8).reshape(len(full), -1)
    draft = path.with_suffix(".partial.npz")
    np.savez(draft, digests=np.array(list(full)), vectors=rows)
    draft.replace(path)
