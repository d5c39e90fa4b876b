"""Resources that a cluster worker keeps open between tasks: the store, the lease heartbeat and its worker processes.

Each process has one `ClusterWorker`, created with its first task. If the process is killed, its leases expire.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from docstore.locking.cluster_locks import ALLOWED_MISSED_BEATS, holder_name
from docstore.locking.leases import LeaseFence, LeaseHeartbeat
from docstore.store import Store
from domain.errors import EmbeddingError
from domain.lease import Lease
from extractor.settings import ExtractSettings
from locks.fences import hold_fence
from pipeline.embedding.settings import EmbedSettings
from pipeline.engine import open_store
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pipeline.embedding.embedding_pool import EmbeddingPool
    from pipeline.workers.extraction_pool import ExtractionPools
    from text.embedding.model_spec import ModelSpec

log = logging.getLogger(__name__)

P = TypeVar("P", bound="ExtractionPools | EmbeddingPool")
_workers: dict[str, "ClusterWorker"] = {}
_workers_lock = threading.Lock()


class ClusterWorker:
    """Store, leases and process pools of one cluster worker process."""

    def __init__(self, settings: Settings) -> None:
        self.store: Store = open_store(settings)
        self.leases = self.store.leases.with_holder(holder_name(settings.data_dir))
        heartbeat_seconds = settings.cluster.heartbeat_seconds
        self.heartbeat = LeaseHeartbeat(self.leases, ALLOWED_MISSED_BEATS * heartbeat_seconds, heartbeat_seconds)
        self._thread_local = threading.local()
        self._models: dict[str, ModelSpec] = {}

    def extraction_pools(self, settings: ExtractSettings) -> "ExtractionPools":
        """Return processes that extract pages; each thread of this worker has its own."""
        from pipeline.workers.extraction_pool import ExtractionPools  # not needed for crawling or embedding

        return self._thread_pool("extraction", settings, lambda: ExtractionPools(settings, workers=1))

    def embedding_pool(self, settings: EmbedSettings) -> "EmbeddingPool":
        """Return a process that embeds articles; each thread of this worker has its own."""
        from pipeline.embedding.embedding_pool import EmbeddingPool  # imports numpy, which extraction does not need

        return self._thread_pool("embedding", settings, lambda: EmbeddingPool(settings.passages, 1))

    def _thread_pool(self, name: str, settings: object, create_pool: Callable[[], P]) -> P:
        """Return the pool of this thread, a new one if the settings have changed since the last run."""
        pool_settings, pool = getattr(self._thread_local, name, (None, None))
        if pool is None or pool_settings != settings:
            if pool is not None:
                pool.close()
            pool = create_pool()
            setattr(self._thread_local, name, (settings, pool))
        return pool

    def get_model(self, model_id: str, settings: Settings) -> "ModelSpec":
        """Return the model with this id on this machine, after fetching missing files.

        Raises EmbeddingError or JarError if the files are not available or differ from those of the other machines.
        """
        from pipeline.embedding.models import configured_models, ensure_models_available

        if model_id not in self._models:
            ensure_models_available(settings.embed, log.info)
            self._models = {spec.model_id: spec for spec in configured_models(settings.embed, settings.folder)}
        if model_id not in self._models:
            raise EmbeddingError(
                f"a worker has another model than {model_id}: install the same program version and the same files of "
                "embed.model on all machines"
            )
        return self._models[model_id]

    @contextmanager
    def lease_block(self, stage: str, block_number: int) -> Iterator[Lease | None]:
        """Hold the lease of a block during the `with` block; yields None if another worker holds it.

        Every write to the store inside the `with` block is fenced by the lease.
        """
        leases = self.heartbeat.acquire(stage, [str(block_number)])
        if not leases:
            yield None
            return
        try:
            with hold_fence(LeaseFence(self.heartbeat, leases)):
                yield leases[0]
        finally:
            self.heartbeat.release(leases)


def get_worker(settings: Settings) -> ClusterWorker:
    """Return this process's worker for a vertical; creates it on the first call."""
    key = f"{settings.folder} {settings.store.url}"
    with _workers_lock:
        if key not in _workers:
            _workers[key] = ClusterWorker(settings)
        return _workers[key]
