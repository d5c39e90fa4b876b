"""What a worker of a cluster has open from one piece of work to the next: store, heartbeat, processes that read pages
or embed articles.

One a process, made with the first piece. A worker that is killed takes it along; its leases run out.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from docstore.database import guarded
from docstore.errors import EmbedError
from docstore.locking.leases import Heartbeat, Lease, fence
from docstore.locking.shared_locks import BEATS, holder_name
from docstore.store import Store
from pipeline.engine import open_store
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pipeline.embedding.work import EmbeddingPool
    from pipeline.workers.extraction import ExtractionPools
    from text.embedding.spec import ModelSpec

log = logging.getLogger(__name__)

_opened: dict[str, "Worker"] = {}
_guard = threading.Lock()


class Worker:
    """One process's own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store: Store = open_store(settings)
        self.leases = self.store.leases.named(holder_name(settings.data_dir))
        beat = settings.cluster.heartbeat_seconds
        self.heartbeat = Heartbeat(self.leases, BEATS * beat, beat)
        self._own = threading.local()
        self._models: dict[str, ModelSpec] = {}

    @property
    def pools(self) -> "ExtractionPools":
        """Processes that read pages: one for each thread of this worker that asks."""
        from pipeline.workers.extraction import ExtractionPools  # whoever only crawls or embeds does without

        if not hasattr(self._own, "pools"):
            self._own.pools = ExtractionPools(self.settings.extract, workers=1)
        pools: ExtractionPools = self._own.pools
        return pools

    @property
    def embedding(self) -> "EmbeddingPool":
        """A process that embeds articles: one for each thread of this worker that asks."""
        from pipeline.embedding.work import EmbeddingPool  # numpy: who only reads pages does without

        if not hasattr(self._own, "embedding"):
            self._own.embedding = EmbeddingPool(self.settings.embed.passages, 1)
        pool: EmbeddingPool = self._own.embedding
        return pool

    def model(self, model_id: str) -> "ModelSpec":
        """The model of this id, as it is on this machine; its files are fetched where they are not there. EmbedError or
        JarError where they cannot be had, or are others than elsewhere."""
        from pipeline.embedding.models import make_usable, specs

        if model_id not in self._models:
            make_usable(self.settings.embed, log.info)
            self._models = {spec.model_id: spec for spec in specs(self.settings.embed, self.settings.folder)}
        if model_id not in self._models:
            raise EmbedError(
                f"a worker has another model than {model_id}: see that program and files of embed.model are the same "
                "on all machines"
            )
        return self._models[model_id]

    @contextmanager
    def block(self, stage: str, number: int) -> Iterator[Lease | None]:
        """Hold the lease of a block while its work is done; None where somebody else has it. What is written meanwhile
        is fenced by it."""
        taken = self.heartbeat.take(stage, [str(number)])
        if not taken:
            yield None
            return
        try:
            with guarded(partial(fence, held=taken)):
                yield taken[0]
        finally:
            self.heartbeat.release(taken)


def worker_for(settings: Settings) -> Worker:
    """This process's worker for a vertical."""
    key = f"{settings.folder} {settings.store.url}"
    with _guard:
        if key not in _opened:
            _opened[key] = Worker(settings)
        return _opened[key]
