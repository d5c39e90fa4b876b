"""What the search site knows of meaning: the models of the vertical, and the vectors of passages in the store."""

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache

from docstore.errors import EmbedError, StoreError
from docstore.fields import vector_field
from pipeline.engine import Engine
from search_ui.query.meaning import QueryVector

log = logging.getLogger(__name__)

REMEMBERED = 512  # queries whose vectors are kept: half a megabyte
LOOK_AGAIN = 30.0  # seconds after which the store is asked again which models have vectors


class StoreMeaning:
    """See `search_ui.query.meaning.Meaning`. A model is loaded with the first query that needs it, once a process; a
    vertical without vectors loads none. What fails is logged once, and words alone find then."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._guard = threading.Lock()
        self._models: frozenset[str] = frozenset()
        self._looked_at = 0.0
        self._is_faulty = False
        self._remembered = lru_cache(REMEMBERED)(self._computed)

    def vector_of(self, text: str) -> QueryVector | None:
        """What a query means; None where no model reads it, or none has read the articles."""
        if self._is_faulty:
            return None
        try:
            return self._remembered(text) if self._has_vectors(text) else None
        except EmbedError as error:
            self._is_faulty = True
            log.warning("ranking by words alone: %s", error)
        except StoreError as error:
            log.warning("ranked by words alone: %s", error)
        return None

    def _has_vectors(self, text: str) -> bool:
        from pipeline.embedding.models import language_of_query  # numpy: a site without meaning does without

        spec = self._engine.embedders.spec_for(language_of_query(text))
        return spec is not None and spec.model_id in self._known()

    def _known(self) -> frozenset[str]:
        """The models that have made vectors, as they were some seconds ago at the most."""
        with self._guard:
            if time.monotonic() - self._looked_at > LOOK_AGAIN or not self._looked_at:
                self._models = frozenset(self._engine.store.vectors.models())
                self._looked_at = time.monotonic()
            return self._models

    def _computed(self, text: str) -> QueryVector | None:
        from pipeline.embedding.models import language_of_query
        from text.embedding.contract import quantised

        language = language_of_query(text)
        embedder, spec = self._engine.embedders.for_language(language), self._engine.embedders.spec_for(language)
        if embedder is None or spec is None:
            return None
        values = tuple(quantised(embedder.encode_queries([text]))[0].tolist())
        return QueryVector(spec.model_id, vector_field(spec.model_id, len(values)), values, spec.near_enough)

    def of_article(self, digest: str) -> QueryVector | None:
        """What the article with this digest means, by the model that has read it; the store alone is asked."""
        from array import array

        try:
            kept = self._engine.store.vectors.whole([digest]).get(digest, {})
        except StoreError as error:
            log.warning("similar by words alone: %s", error)
            return None
        known = (spec for spec in self._engine.embedders.specs if spec.model_id in kept)
        if (spec := next(known, None)) is None:
            return None
        values = tuple(array("b", kept[spec.model_id]))
        return QueryVector(spec.model_id, vector_field(spec.model_id, len(values)), values, spec.near_enough)

    def best_passages(self, asked: QueryVector, digests: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """Of articles with these digests the passage nearest to the query; their beginnings have a say as well."""
        import numpy as np

        from text.embedding.contract import cosines, unpacked

        query = np.array(asked.values, np.float32)
        best = {}
        for digest, parts in self._engine.store.vectors.passages(asked.model_id, digests).items():
            parts = [part for part in parts[1:] or parts if len(part.vector) == len(query)]
            if parts:
                part = parts[int(cosines(query, unpacked([part.vector for part in parts])).argmax())]
                best[digest] = part.start, part.end
        return best
