"""The resources of the stages: store, locks, Solr, segmenters, embedding models. Opened once and closed together.

Resources that not every command needs are opened at their first use: `plumb status` opens only the store.
"""

import logging
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlsplit

from crawler.http.document_types import max_response_bytes
from crawler.http.ip_policy import IpPolicy, PublicOnlyPolicy
from docstore.articles.vectors import EmbeddingPart
from docstore.database import sqlite_url
from docstore.follows import FOLLOWS_FILE, FollowTable
from docstore.locking.cluster_locks import cluster_stage_holder, cluster_stage_lock
from docstore.schema_state import read_schema_state
from docstore.store import Store
from domain.errors import (
    BusyError,
    EmbeddingError,
    PlumblineError,
    SolrUnavailableError,
    StoreDamagedError,
    StoreError,
)
from domain.outcome import Reason, Stage
from locks.file_locks import stage_lock, stage_lock_holder
from pipeline.compute.settings import DASK, ClusterSettings
from pipeline.logs import ensure_folder
from pipeline.progress import Progress
from pipeline.settings import Settings

if TYPE_CHECKING:
    from crawler.settings import CrawlSettings
    from indexer.document_mapping import TextAnalysis
    from indexer.solr_index import SolrIndex
    from pipeline.compute.backend import ComputeBackend
    from pipeline.search_site.originals import Originals
    from pipeline.search_site.thumbnails import ThumbnailCache
    from text.embedding.model_spec import ModelSpec

MEGABYTE = 1024 * 1024
REPLACE_WAIT_SECONDS = 60.0  # for another process that replaces a damaged store
log = logging.getLogger(__name__)
T = TypeVar("T")


class BackgroundOpener(Generic[T]):
    """Calls `open_function` in a daemon thread, started at once.

    Attributes:
        seconds: Duration of the call, 0 while it runs.
    """

    def __init__(self, open_function: Callable[[], T]) -> None:
        self.seconds = 0.0
        self._open_function = open_function
        self._future: Future[T] = Future()
        threading.Thread(target=self._open, name="opening", daemon=True).start()

    def result(self) -> T:
        """Wait for the call; returns its result or raises its exception."""
        return self._future.result()

    def _open(self) -> None:
        started = time.monotonic()
        try:
            resource = self._open_function()
        except Exception as error:  # noqa: BLE001  # raised by result()
            self.seconds = time.monotonic() - started
            self._future.set_exception(error)
        else:
            self.seconds = time.monotonic() - started
            self._future.set_result(resource)


class Engine:
    """An open vertical; a context manager. Solr is started or contacted at its first use.

    Args:
        settings: The settings of the vertical.
        progress: Receives the progress of all stages.
        ip_policy: Decides which IP addresses may be fetched; by default public ones and `crawl.inside_hosts`.

    Attributes:
        touch: Called at each step of a run, which shows that it does not hang.
    """

    def __init__(self, settings: Settings, progress: Progress, ip_policy: IpPolicy | None = None) -> None:
        self.settings = settings
        self.progress = progress
        self.touch: Callable[[], object] = lambda: None
        self.ip_policy = ip_policy or PublicOnlyPolicy(settings.crawl.inside_hosts)
        self._stack = ExitStack()
        self._lock = threading.RLock()
        self._index_lock = threading.RLock()  # separate, so that queries are segmented while Solr starts
        self._index: SolrIndex | None = None
        self._index_opener: BackgroundOpener[SolrIndex] | None = None
        self._closed = False
        self.index_error = ""  # error of the last failed attempt to open Solr, "" if none
        self._analysis: TextAnalysis | None = None
        self._thumbnails: tuple[CrawlSettings, ThumbnailCache] | None = None
        self._originals: Originals | None = None
        self._follows: FollowTable | None = None
        self._model_specs: tuple[ModelSpec, ...] | None = None
        self._compute_backend: ComputeBackend | None = None
        self.store = self._stack.enter_context(open_store(settings))
        self.store.review_history.needs_second_reviewer = lambda: settings.current().lexicon.two_reviewers

    @property
    def index(self) -> "SolrIndex":
        """The index; opens Solr if needed. Raises SolrUnavailableError or another PlumblineError if that fails."""
        with self._index_lock:
            # Cleared first: after a failure, the next call tries again.
            opener, self._index_opener = self._index_opener, None
            if opener is not None:
                self._index = opener.result()
            elif self._index is None:
                self._index = self._open_index()
            return self._index

    @property
    def has_index(self) -> bool:
        """True if Solr is open, so that `index` returns without waiting."""
        return self._index is not None

    def open_index_in_background(self) -> "BackgroundOpener[SolrIndex]":
        """Start to open Solr and to create its collection in a thread.

        `index` then waits for the thread and raises its error.
        """
        with self._index_lock:
            if self._index_opener is None:
                self._index_opener = BackgroundOpener(self._open_and_ensure_index)
            return self._index_opener

    def _open_and_ensure_index(self) -> "SolrIndex":
        index = self._index or self._open_index()
        with suppress(BusyError), self.lock("index"):  # the process with the lock creates the collection
            index.ensure_collection()
        return index

    def _open_index(self) -> "SolrIndex":
        from indexer.embedded_solr import open_solr
        from indexer.solr_index import SolrIndex

        settings, solr_dir = self.settings.index, self.settings.data_dir / "solr"
        if settings.solr_url:
            self.progress.note("connecting to Solr ...")
        solr_stack = ExitStack()
        try:
            url = solr_stack.enter_context(open_solr(settings, solr_dir, self.progress.note))
        except PlumblineError as error:
            self.index_error = str(error)
            raise
        self.index_error = ""
        with self._lock:
            if self._closed:
                solr_stack.close()
                raise SolrUnavailableError("the engine was closed while Solr was starting")
            self._stack.push(solr_stack)
        return SolrIndex(
            url, settings.collection, settings.request_timeout, shards=settings.shards, replicas=settings.replicas
        )

    def keep_index_open(self) -> None:
        """Open Solr; if the embedded one was killed, start it again, at another URL. Until then searches fail."""
        index = self.index
        if not self.settings.index.solr_url and refuses_connection(index.base_url):
            self._index = self._open_index()

    def analysis(self) -> "TextAnalysis":
        """Return the text analysis of the lexicon version that was last applied to the index."""
        from indexer.document_mapping import TextAnalysis
        from lexicon.jieba_dictionary import create_domain_segmenter
        from text.segment import base_segmenter

        with self._lock:
            version = self.store.lexicons.applied_version()
            if self._analysis is None or self._analysis.lexicon.version != version:
                lexicon = self.store.lexicons.load_applied()
                self._analysis = TextAnalysis(lexicon, create_domain_segmenter(lexicon), base_segmenter())
            return self._analysis

    @property
    def configured_models(self) -> "tuple[ModelSpec, ...]":
        """The embedding models of the settings. Raises EmbeddingError if `embed.model` is invalid."""
        from pipeline.embedding.models import configured_models

        with self._lock:
            if self._model_specs is None:
                self._model_specs = configured_models(self.settings.embed, self.settings.folder)
            return self._model_specs

    def serving_models(self) -> "tuple[ModelSpec, ...]":
        """Return the models that searches use: the last ones with vectors for every article.

        Before any model is complete, the configured models; empty if `embed.model` is off.
        """
        from pipeline.embedding.models import deserialize_models

        return (
            (deserialize_models(self.store.vectors.served_models()) or self.configured_models)
            if self.configured_models
            else ()
        )

    def count_pending_embeddings(self) -> int:
        """Return the number of articles without a vector, summed over the configured models."""
        return self._count_pending(EmbeddingPart.ARTICLE)

    def pending_embedding_url_ids(self) -> set[int]:
        """Return the ids of the articles without a vector of a configured model that supports their language."""
        pending_url_ids = self.store.vectors.pending_url_ids
        return {url_id for spec in self.configured_models for url_id in pending_url_ids(spec.model_id, spec.languages)}

    def count_pending_passages(self) -> int:
        """Return the number of articles whose passages are pending embedding, summed over the configured models."""
        return self._count_pending(EmbeddingPart.PASSAGES) if self.settings.embed.passages else 0

    def _count_pending(self, part: EmbeddingPart) -> int:
        pending_count = self.store.vectors.pending_count
        return sum(pending_count(spec.model_id, spec.languages, part) for spec in self.configured_models)

    def count_uncovered_articles(self) -> dict[str, int]:
        """Return the number of articles by language (ISO 639) that no configured model supports."""
        models = self.configured_models
        if not models or not all(spec.languages for spec in models):
            return {}
        return self.store.vectors.uncovered_languages([language for spec in models for language in spec.languages])

    def activate_complete_models(self) -> None:
        """Switch searches to the configured models if every article has a vector or failed to get one."""
        from pipeline.embedding.models import serialize_models

        try:
            serialized_models = serialize_models(self.configured_models)
            if not self.configured_models or self.store.vectors.served_models() == serialized_models:
                return
            failed = self.store.status.outcome_counts().get(Stage.EMBED, {}).get(Reason.UNEXPECTED_ERROR, 0)
            if self.count_pending_embeddings() <= failed:
                self.store.vectors.set_served_models(serialized_models)
        except EmbeddingError:  # the stage `embed` reports it
            return

    def open_thumbnails(self, crawl: "CrawlSettings") -> "ThumbnailCache":
        """Return the thumbnails of articles, fetched by the rules of these settings of the crawl."""
        from pipeline.search_site.thumbnails import ThumbnailCache

        with self._lock:
            if self._thumbnails is None or self._thumbnails[0] != crawl:
                if self._thumbnails is not None:
                    self._thumbnails[1].close()
                is_same_policy = crawl.inside_hosts == self.settings.crawl.inside_hosts
                policy = self.ip_policy if is_same_policy else PublicOnlyPolicy(crawl.inside_hosts)
                thumbnails = ThumbnailCache(self.settings.data_dir / "pictures", crawl, policy, self.store.frontier)
                self._thumbnails = crawl, self._stack.enter_context(closing(thumbnails))
            return self._thumbnails[1]

    @property
    def originals(self) -> "Originals":
        """Saved pages and files, for display on the search site."""
        from pipeline.search_site.originals import Originals

        with self._lock:
            if self._originals is None:
                originals = Originals(self.store.source_pages, self.settings.crawl.user_agent)
                self._originals = self._stack.enter_context(closing(originals))
            return self._originals

    @property
    def follows(self) -> FollowTable:
        """Followed searches and what their followers get."""
        with self._lock:
            if self._follows is None:
                self._follows = self._stack.enter_context(closing(open_follows(self.settings)))
            return self._follows

    def lock(self, stage: str, wait_seconds: float = 0.0) -> AbstractContextManager[None]:
        """Return a lock that admits one process to `stage`, on all machines that share the store.

        Args:
            stage: Name of the lock: a stage, or "run".
            wait_seconds: Seconds to wait for the lock; then entering the context raises BusyError.
        """
        folder, report_progress = self.settings.data_dir, self.progress.note
        if not self.store.is_shared:
            return stage_lock(folder, stage, wait_seconds, report_progress)
        heartbeat_seconds = self.settings.cluster.heartbeat_seconds
        return cluster_stage_lock(folder, self.store.leases, stage, heartbeat_seconds, wait_seconds, report_progress)

    def lock_holder_pid(self, stage: str) -> int | None:
        """Return the id of the process that holds the lock of `stage`: 0 if not known yet, None if the lock is free."""
        if self.store.is_shared:
            return cluster_stage_holder(self.store.leases, stage)
        return stage_lock_holder(self.settings.data_dir, stage)

    @property
    def compute_backend(self) -> "ComputeBackend":
        """The backend for parallel work (`cluster.engine`), see pipeline/compute/backend.py."""
        with self._lock:
            if self._compute_backend is None:
                self._compute_backend = self._stack.enter_context(
                    closing(create_compute_backend(self.settings.cluster, self.progress.note))
                )
            return self._compute_backend

    def close(self) -> None:
        """Close all resources. An embedded Solr stops unless another process uses it."""
        with self._lock:
            self._closed = True
        self._stack.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def refuses_connection(url: str) -> bool:
    """True if connections to `url` are refused; a slow or unreachable server does not count."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 80), timeout=1).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def create_compute_backend(settings: ClusterSettings, report_wait: Callable[[str], None]) -> "ComputeBackend":
    """Create the backend that `cluster.engine` names. `report_wait` gets a message when it waits for workers."""
    if settings.engine == DASK:
        from pipeline.compute.dask_backend import DaskBackend

        return DaskBackend(settings.scheduler, report_wait=report_wait)
    from pipeline.compute.backend import LocalBackend

    return LocalBackend()


def open_store(settings: Settings) -> Store:
    """Open the store of the vertical; creates it if it does not exist. Raises StoreError."""
    folder = settings.data_dir
    ensure_folder(folder)
    if not settings.store.url:
        require_store_or_new_folder(folder / "store.db")
        ensure_private_file(folder / "store.db")
    url = settings.store.url or sqlite_url(folder / "store.db")
    warc_max_mb, max_body_bytes = settings.store.warc_megabytes, max_response_bytes(settings.crawl)
    return Store(
        url,
        folder / "warc",
        warc_max_mb * MEGABYTE,
        max_body_bytes=max_body_bytes,
        warc_object_store_url=settings.store.warc,
    )


def open_follows(settings: Settings) -> FollowTable:
    """Open the follows of the vertical. Raises StoreError."""
    if settings.store.is_shared:
        return FollowTable(settings.store.url)
    file = settings.data_dir / FOLLOWS_FILE
    ensure_private_file(file)
    try:
        return FollowTable(sqlite_url(file))
    except StoreDamagedError as error:
        advice = "{file} is damaged: stop `plumb serve`, then run `plumb check --repair`"
        raise StoreDamagedError(advice, file=str(file)) from error


def require_store_or_new_folder(file: Path) -> None:
    """Raise StoreError if the database file is missing in a folder that had a store. Finishes an interrupted repair."""
    with suppress(OSError):
        file.with_name(f"{file.name}-sums").unlink()  # page checksums of earlier programs, which would be stale
    if file.with_name(f"{file.name}.fresh").exists():
        replace_damaged_store(file, None)
    if file.exists() and file.stat().st_size:
        return
    if any((file.parent / "warc").glob("*")) or any(file.parent.glob(f"{file.name}.damaged-*")):
        raise StoreError(
            f"{file} is missing, but its folder has WARC files or a damaged store: correct vertical.data_dir, "
            "or run `plumb check --repair`"
        )


def replace_damaged_store(file: Path, rebuilt: Path | None) -> None:
    """Replace the database file by `rebuilt`, and keep it as `store.db.damaged-TIME`. None finishes a killed exchange.

    `rebuilt` becomes `store.db.fresh`, then `store.db`. If there is no `store.db`, the next start continues.
    """
    fresh = file.with_name(f"{file.name}.fresh")
    with stage_lock(file.parent, "repair", REPLACE_WAIT_SECONDS):
        if rebuilt:
            rebuilt.replace(fresh)
        elif not fresh.exists():
            return  # another process has finished it
        elif file.exists() and file.stat().st_size:
            fresh.unlink()  # the exchange had not begun
            return
        else:
            log.warning("%s is missing: an interrupted repair is finished with %s", file, fresh)
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(fresh.stat().st_mtime))
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                file.with_name(f"{file.name}{suffix}").replace(file.with_name(f"{file.name}.damaged-{stamp}{suffix}"))
        fresh.replace(file)


@contextmanager
def lock_stage(settings: Settings, stage: str) -> Iterator[None]:
    """Lock `stage` as `Engine.lock` does, for work that opens engines itself. A store file may be damaged.

    Raises BusyError if another process holds the lock.
    """
    folder, seconds = settings.data_dir, settings.cluster.heartbeat_seconds
    if not settings.store.is_shared:
        with stage_lock(folder, stage):
            yield
    else:
        with open_store(settings) as store, cluster_stage_lock(folder, store.leases, stage, seconds):
            yield


def active_stages(settings: Settings) -> dict[str, int]:
    """Return the process ids that hold locks, by stage, without upgrading the store. Raises StoreError."""
    if settings.store.is_shared:
        state = read_schema_state(settings.store.url)
        return dict(state.pid_by_stage) if state else {}
    stages = [path.name for path in (settings.data_dir / "locks").glob("*")]
    return {stage: pid for stage in stages if (pid := stage_lock_holder(settings.data_dir, stage)) is not None}


def ensure_private_file(file: Path) -> None:
    """Create `file` with mode 600 if it does not exist; otherwise remove the permissions of others.

    The file contains password hashes and the search log. SQLite gives its journal files the same mode.
    """
    with suppress(OSError):  # opening the database reports the error
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        mode = file.stat().st_mode
        if mode & stat.S_IRWXO:
            file.chmod(stat.S_IMODE(mode) & ~stat.S_IRWXO)


OpenEngine = Callable[[], AbstractContextManager[Engine]]
"""Opens the engine of a vertical; the context manager closes it."""
