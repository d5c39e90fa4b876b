"""What the stages need, opened once and closed together: store, locks, Solr, the segmenters of a lexicon version.

What not every command needs is loaded where it is first used: `plumb status` asks the store alone.
"""

import os
import socket
import stat
import threading
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.http.documents import document_rules
from crawler.http.ip_policy import IpPolicy, PublicAddresses
from docstore.errors import BusyError, EmbedError, PlumblineError, SolrUnavailableError, StoreError
from docstore.locking.file_locks import holder, stage_lock
from docstore.locking.shared_locks import shared_holder, shared_lock
from docstore.model import Lexicon, Reason, Stage
from docstore.store import Store
from pipeline.engines.settings import DASK, ClusterSettings
from pipeline.opening import Opening
from pipeline.progress import Progress
from pipeline.settings import Settings

if TYPE_CHECKING:
    from indexer.mapping import Analysis
    from indexer.solr import SolrIndex
    from pipeline.engines.contract import WorkEngine
    from pipeline.search_site.originals import Originals
    from pipeline.search_site.pictures import Pictures
    from pipeline.search_site.segmenter_versions import SegmenterVersions
    from text.embedding.spec import ModelSpec
    from text.segment import Segmenter

MEGABYTE = 1024 * 1024


class Engine:
    """One vertical, open. Solr is started (or asked for) when it is first needed. Use with `with`."""

    def __init__(self, settings: Settings, progress: Progress, addresses: IpPolicy | None = None) -> None:
        self.settings = settings
        self.progress = progress
        self.addresses = addresses or PublicAddresses(settings.crawl.inside_hosts)
        self._stack = ExitStack()
        self._guard = threading.RLock()
        self._index_guard = threading.RLock()  # of its own: a query is cut while Solr is still being waited for
        self._index: SolrIndex | None = None
        self._opening: Opening[SolrIndex] | None = None
        self._closed = False
        self.index_fault = ""  # why Solr could not be opened the last time it was tried
        self._base: Segmenter | None = None
        self._analysis: Analysis | None = None
        self._pictures: Pictures | None = None
        self._originals: Originals | None = None
        self._cuts: SegmenterVersions | None = None
        self._model_specs: tuple[ModelSpec, ...] | None = None
        self._work: WorkEngine | None = None
        self.store = self._stack.enter_context(open_store(settings))

    @property
    def index(self) -> "SolrIndex":
        """The index in a Solr that answers."""
        with self._index_guard:
            opening, self._opening = self._opening, None  # one that failed is forgotten: the next call tries again
            if opening is not None:
                self._index = opening.result()
            elif self._index is None:
                self._index = self._open_index()
            return self._index

    @property
    def has_index(self) -> bool:
        """Has Solr answered, so that `index` will not have to wait for it?"""
        return self._index is not None

    def open_index_beside(self) -> "Opening[SolrIndex]":
        """Begin to open Solr and to make its collection while other work goes on.

        `index` waits for it then, and raises what went wrong.
        """
        with self._index_guard:
            if self._opening is None:
                self._opening = Opening(self._open_whole_index)
            return self._opening

    def _open_whole_index(self) -> "SolrIndex":
        opened = self._index or self._open_index()
        with suppress(BusyError), self.lock("index"):  # who is in there has a collection, or makes it
            opened.ensure()
        return opened

    def _open_index(self) -> "SolrIndex":
        from indexer.solr import SolrIndex
        from indexer.solr_node import open_solr

        settings, home = self.settings.index, self.settings.data_dir / "solr"
        self.progress.note("asking Solr ..." if settings.solr_url else "starting Solr ...")
        opened = ExitStack()
        try:
            url = opened.enter_context(open_solr(settings, home, self.progress.note))
        except PlumblineError as error:
            self.index_fault = str(error)
            raise
        self.index_fault = ""
        with self._guard:
            if self._closed:
                opened.close()
                raise SolrUnavailableError("Solr was not waited for")
            self._stack.push(opened)
        return SolrIndex(
            url, settings.collection, settings.request_timeout, shards=settings.shards, replicas=settings.replicas
        )

    def revive_solr(self) -> None:
        """If the embedded Solr was killed, start it anew, at another URL; until then searches fail at once."""
        if self._index is not None and not self.settings.index.solr_url and refuses(self._index.base_url):
            self._index = self._open_index()

    def analysis(self) -> "Analysis":
        """How documents and queries are cut now: by the lexicon version that was last applied to the index."""
        from indexer.mapping import Analysis
        from text.segment import base_segmenter

        with self._guard:
            version = self.store.lexicon.applied_version()
            if self._analysis is None or self._analysis.lexicon.version != version:
                self._base = self._base or base_segmenter()
                lexicon = self.store.lexicon.applied()
                self._analysis = Analysis(lexicon, domain_segmenter(lexicon), self._base)
            return self._analysis

    def segmenters(self) -> "tuple[Segmenter, ...]":
        """Cuts for queries: by `analysis`, and by the older lexicon versions that documents in the index have yet."""
        from pipeline.search_site.segmenter_versions import SegmenterVersions

        with self._guard:
            self._cuts = self._cuts or SegmenterVersions(self.store.lexicon, domain_segmenter)
            return self._cuts.segmenters(self.analysis())

    @property
    def model_specs(self) -> "tuple[ModelSpec, ...]":
        """The models of meaning that the settings name. Raises EmbedError where `embed.model` is wrong."""
        from pipeline.embedding.models import specs

        with self._guard:
            if self._model_specs is None:
                self._model_specs = specs(self.settings.embed, self.settings.folder)
            return self._model_specs

    def served_specs(self) -> "tuple[ModelSpec, ...]":
        """The models that searches use: those that were complete last; before there are any, those of the settings.
        None where meaning is switched off."""
        from pipeline.embedding.models import of_text

        return (of_text(self.store.vectors.served()) or self.model_specs) if self.model_specs else ()

    def to_embed(self) -> int:
        """How many articles wait for a vector."""
        counted = self.store.vectors.pending_count
        return sum(counted(spec.model_id, spec.languages) for spec in self.model_specs)

    def serve_complete_models(self) -> None:
        """Let searches use the models of the settings, if the index has all that these could make of the articles."""
        from pipeline.embedding.models import as_text

        try:
            wanted = as_text(self.model_specs)
            if not self.model_specs or self.store.vectors.served() == wanted:
                return
            failed = self.store.status.outcome_counts().get(Stage.EMBED, {}).get(Reason.FAILED, 0)
            if self.to_embed() <= failed:
                self.store.vectors.serve(wanted)
        except EmbedError:  # the stage `embed` says it
            return

    @property
    def pictures(self) -> "Pictures":
        """Small pictures of articles, fetched as the crawl would."""
        from pipeline.search_site.pictures import Pictures

        with self._guard:
            if self._pictures is None:
                folder, crawl = self.settings.data_dir / "pictures", self.settings.crawl
                made = Pictures(folder, crawl, self.addresses, self.store.frontier)
                self._pictures = self._stack.enter_context(closing(made))
            return self._pictures

    @property
    def originals(self) -> "Originals":
        """Pages and documents as they were fetched."""
        from pipeline.search_site.originals import Originals

        with self._guard:
            if self._originals is None:
                made = Originals(self.store.originals, self.settings.crawl.user_agent)
                self._originals = self._stack.enter_context(closing(made))
            return self._originals

    def lock(self, stage: str, wait: float = 0.0) -> AbstractContextManager[None]:
        """One process at a time in `stage`; where other machines share the store, on all of them together."""
        folder, note = self.settings.data_dir, self.progress.note
        if not self.store.is_shared:
            return stage_lock(folder, stage, wait, note)
        beat = self.settings.cluster.heartbeat_seconds
        return shared_lock(folder, self.store.leases, stage, beat, wait, note)

    def holder(self, stage: str) -> int | None:
        """The process that is in `stage` now, 0 if it has not said its id yet; None if nobody is."""
        if self.store.is_shared:
            return shared_holder(self.store.leases, stage)
        return holder(self.settings.data_dir, stage)

    @property
    def work(self) -> "WorkEngine":
        """Who computes: see pipeline/engines/contract.py."""
        with self._guard:
            if self._work is None:
                self._work = self._stack.enter_context(closing(work_engine(self.settings.cluster)))
            return self._work

    def close(self) -> None:
        """Close everything that was opened; a Solr that nobody else uses stops."""
        with self._guard:
            self._closed = True
        self._stack.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def refuses(url: str) -> bool:
    """Does nobody listen at `url` any more? A server that is only slow does not refuse."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 80), timeout=1).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def work_engine(settings: ClusterSettings) -> "WorkEngine":
    """The engine that the settings name."""
    if settings.engine == DASK:
        from pipeline.engines.dask_engine import DaskEngine

        return DaskEngine(settings.scheduler)
    from pipeline.engines.local import LocalEngine

    return LocalEngine()


def open_store(settings: Settings) -> Store:
    """The vertical's store, made if it does not exist."""
    folder = settings.data_dir
    make_folder(folder)
    if not settings.store.url:
        keep_private(folder / "store.db")
    url = settings.store.url or f"sqlite:///{folder / 'store.db'}"
    megabytes, crawl = settings.store.warc_megabytes, settings.crawl
    largest = max(crawl.max_bytes, document_rules(crawl).max_bytes)
    return Store(url, folder / "warc", megabytes * MEGABYTE, max_body=largest, warc_remote=settings.store.warc)


def keep_private(file: Path) -> None:
    """Make `file` if there is none, for its owner alone; take one that is there from those who are not of its group.

    It holds the hashes of passwords and what was searched for; SQLite gives its other files the same mode.
    """
    with suppress(OSError):  # opening it says what is wrong
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        mode = file.stat().st_mode
        if mode & stat.S_IRWXO:
            file.chmod(stat.S_IMODE(mode) & ~stat.S_IRWXO)


def make_folder(folder: Path) -> None:
    """Make `folder`; an error says what to do."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make {folder}: {error.strerror}; choose another vertical.data_dir") from error


def domain_segmenter(lexicon: Lexicon) -> "Segmenter":
    """A segmenter of its own for one version of the lexicon."""
    from text.segment import RjiebaSegmenter

    return RjiebaSegmenter((entry.text, entry.frequency, entry.tag) for entry in lexicon.entries)
