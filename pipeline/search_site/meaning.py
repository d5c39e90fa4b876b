"""What the search site knows of meaning: the models of the vertical, and the vectors of passages in the store."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from docstore.errors import EmbedError, StoreError
from docstore.fields import vector_field
from pipeline.engine import Engine
from search_ui.query.semantic.meaning import QueryVector

if TYPE_CHECKING:
    from pipeline.embedding.models import Embedders
    from text.embedding.contract import Embedder
    from text.embedding.spec import ModelSpec

log = logging.getLogger(__name__)

REMEMBERED = 512  # queries whose vectors are kept: half a megabyte
LOOK_AGAIN = 30.0  # seconds after which the store is asked again which models have vectors


@dataclass(frozen=True)
class Served:
    """The models that searches use, and those that have made vectors."""

    embedders: "Embedders"
    with_vectors: frozenset[str] = frozenset()


class StoreMeaning:
    """See `search_ui.query.semantic.meaning`. A model is loaded with the first query that needs it, once a process; a
    vertical without vectors loads none. What fails is logged, and words alone find then."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._guard = threading.Lock()
        self._served: Served | None = None
        self._look_again = 0.0
        self._said = ""
        self._remembered = cast("Callable[[Embedder, ModelSpec, str], QueryVector]", lru_cache(REMEMBERED)(computed))

    def vector_of(self, text: str) -> QueryVector | None:
        """What a query means; None where no model reads it, or none has read the articles."""
        try:
            served = self._serving()
        except (EmbedError, StoreError) as error:
            if str(error) != self._said:
                log.warning("ranking by words alone: %s", error)
            self._said = str(error)
            return None
        from pipeline.embedding.models import language_of_query

        language = language_of_query(text)
        spec = served.embedders.spec_for(language)
        if spec is None or spec.model_id not in served.with_vectors:
            return None
        embedder = served.embedders.for_language(language)
        return self._remembered(embedder, spec, text) if embedder else None

    def _serving(self) -> Served:
        """As it was some seconds ago at the most; models that go on serving stay loaded."""
        from pipeline.embedding.models import Embedders

        with self._guard:
            if self._served is None or time.monotonic() > self._look_again:
                self._look_again = time.monotonic() + LOOK_AGAIN
                specs, kept = self._engine.served_specs(), self._served
                embedders = kept.embedders if kept and kept.embedders.specs == specs else Embedders(specs)
                self._served = Served(embedders)  # what follows may fail
                self._served = Served(embedders, frozenset(self._engine.store.vectors.models()))
            return self._served

    def of_article(self, digest: str) -> QueryVector | None:
        """What the article with this digest means, by the model that has read it; the store alone is asked."""
        from array import array

        try:
            served = self._serving()
            kept = self._engine.store.vectors.whole([digest]).get(digest, {})
        except (EmbedError, StoreError) as error:
            log.warning("similar by words alone: %s", error)
            return None
        known = (spec for spec in served.embedders.specs if spec.model_id in kept)
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


def computed(embedder: "Embedder", spec: "ModelSpec", text: str) -> QueryVector:
    """What a query means to a model."""
    from text.embedding.contract import quantised

    values = tuple(quantised(embedder.encode_queries([text]))[0].tolist())
    return QueryVector(spec.model_id, vector_field(spec.model_id, len(values)), values, spec.near_enough)
