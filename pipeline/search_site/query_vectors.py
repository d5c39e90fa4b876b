"""Semantic search of the site: the embedding models of the vertical, and the passage vectors in the store."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from domain.errors import EmbeddingError, StoreError
from pipeline.engine import Engine
from search_ui.query.semantic.hybrid import QueryVector
from solr_client.solr_fields import vector_field_name

if TYPE_CHECKING:
    from pipeline.embedding.models import Embedders
    from text.embedding.embedder import Embedder
    from text.embedding.model_spec import ModelSpec

log = logging.getLogger(__name__)

QUERY_CACHE_SIZE = 512  # query vectors, about half a megabyte
REFRESH_SECONDS = 30.0  # interval between queries to the store for the models with vectors


@dataclass(frozen=True)
class ServingModels:
    """The models that searches use, and the ids of the models that have vectors in the store.

    `is_preparing`: there are no vectors yet; the models are being downloaded or articles embedded.
    """

    embedders: "Embedders"
    model_ids_with_vectors: frozenset[str] = frozenset()
    is_preparing: bool = False


class StoreQueryVectors:
    """Query and article vectors, see `search_ui.query.semantic.hybrid`.

    Each process loads a model with the first query that needs it, or with `load_models`; without vectors in the store
    it loads none. Errors are logged, and the search then uses keywords only.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._serving_models: ServingModels | None = None
        self._refresh_at = 0.0
        self._last_warning = ""
        self._cached_query_vector = cast(
            "Callable[[Embedder, ModelSpec, str], QueryVector]", lru_cache(QUERY_CACHE_SIZE)(compute_query_vector)
        )

    def query_vector(self, text: str) -> QueryVector | None:
        try:
            models = self._current_models()
        except (EmbeddingError, StoreError) as error:
            if str(error) != self._last_warning:
                log.warning("search uses keywords only: %s", error)
            self._last_warning = str(error)
            return None
        from pipeline.embedding.models import detect_query_language

        language = detect_query_language(text)
        spec = models.embedders.spec_for(language)
        if spec is None or spec.model_id not in models.model_ids_with_vectors:
            return None
        embedder = models.embedders.for_language(language)
        return self._cached_query_vector(embedder, spec, text) if embedder else None

    def load_models(self) -> None:
        """Load the models that have vectors, so that no search has to wait for them. Errors are logged."""
        for text in ("中文", "English"):
            self.query_vector(text)

    def _current_models(self) -> ServingModels:
        """Return the serving models, at most REFRESH_SECONDS old. Models that are still in use stay loaded."""
        from pipeline.embedding.models import Embedders

        with self._lock:
            if self._serving_models is None or time.monotonic() > self._refresh_at:
                self._refresh_at = time.monotonic() + REFRESH_SECONDS
                specs, previous = self._engine.serving_models(), self._serving_models
                embedders = previous.embedders if previous and previous.embedders.specs == specs else Embedders(specs)
                self._serving_models = ServingModels(embedders)  # the next line may fail
                model_ids = frozenset(self._engine.store.vectors.model_ids())
                is_preparing = bool(specs) and not model_ids and self._is_preparing()
                self._serving_models = ServingModels(embedders, model_ids, is_preparing)
            return self._serving_models

    def _is_preparing(self) -> bool:
        from pipeline.embedding.model_download import is_downloading

        return is_downloading(self._engine.settings.embed) or self._engine.lock_holder_pid("embed") is not None

    def is_preparing(self) -> bool:
        try:
            return self._current_models().is_preparing
        except (EmbeddingError, StoreError):  # `query_vector` logs it
            return False

    def article_vector(self, digest: str) -> QueryVector | None:
        from array import array

        try:
            models = self._current_models()
            vectors_by_model = self._engine.store.vectors.article_vectors([digest]).get(digest, {})
        except (EmbeddingError, StoreError) as error:
            log.warning("related articles use keywords only: %s", error)
            return None
        specs_with_vector = (spec for spec in models.embedders.specs if spec.model_id in vectors_by_model)
        if (spec := next(specs_with_vector, None)) is None:
            return None
        values = tuple(array("b", vectors_by_model[spec.model_id]))
        return QueryVector(
            spec.model_id, vector_field_name(spec.model_id, len(values)), values, spec.min_cosine, spec.languages
        )

    def best_passages(self, query_vector: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        import numpy as np

        from text.embedding.embedder import cosine_similarities, unpack_vectors

        query = np.array(query_vector.values, np.float32)
        best = {}
        for digest, passages in self._engine.store.vectors.passage_vectors(query_vector.model_id, digests).items():
            passages = [passage for passage in passages if len(passage.vector) == len(query)]
            if passages:
                passage = passages[
                    int(cosine_similarities(query, unpack_vectors([passage.vector for passage in passages])).argmax())
                ]
                best[digest] = passage.start_offset, passage.end_offset
        return best

    def text_cosines(self, query_vector: QueryVector, texts: Sequence[str]) -> Sequence[float]:
        """Return the cosine of each text to the query; 0 if the model of the query vector is not loaded."""
        models = self._serving_models
        embedder = models.embedders.for_model(query_vector.model_id) if models else None
        return compute_text_cosines(embedder, query_vector, texts) if embedder else [0.0] * len(texts)


def compute_text_cosines(embedder: "Embedder", query_vector: QueryVector, texts: Sequence[str]) -> list[float]:
    """Embed texts and return the cosine of each to a query vector."""
    import numpy as np

    query = np.array(query_vector.values, np.float32)
    vectors = embedder.encode_documents(texts)  # of length 1
    return [float(cosine) for cosine in vectors @ query / np.linalg.norm(query)]


def compute_query_vector(embedder: "Embedder", spec: "ModelSpec", text: str) -> QueryVector:
    """Compute the quantized vector of a query."""
    from text.embedding.embedder import quantize

    values = tuple(quantize(embedder.encode_queries([text]))[0].tolist())
    return QueryVector(
        spec.model_id, vector_field_name(spec.model_id, len(values)), values, spec.min_cosine, spec.languages
    )
