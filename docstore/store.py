"""The one store of a vertical: what is pending, what was achieved, and the log of changes between.

store.frontier   URLs: what is due, what a visit led to          (docstore/frontier/frontier_table.py)
store.learned    what crawls have learned of sites, on all machines      (docstore/frontier/site_state.py)
store.missed     documents that earlier crawls passed by      (docstore/frontier/document_backfill.py)
store.articles   pages that wait for extraction, and articles         (docstore/articles/article_table.py)
store.citations  who cites whom                                (docstore/articles/citations.py)
store.stories    news of one event                              (docstore/articles/stories.py)
store.vectors    what a model of meaning made of articles       (docstore/articles/vectors.py)
store.originals  the answers that articles were read from      (docstore/articles/source_pages.py)
store.judgements what a focused crawl thought of pages and links      (docstore/frontier/focused_decisions.py)
store.topic_questions   pages that a person is asked about          (docstore/frontier/topic_questions.py)
store.lexicon    candidate terms, decisions, published versions       (docstore/terms/lexicons.py)
store.acts       what reviewers did with terms; undo                  (docstore/terms/review_history.py)
store.glosses    terms that articles say in two languages             (docstore/terms/glosses.py)
store.queue      terms in the order of review                         (docstore/terms/review_queue.py)
store.changes    the change log that drives the index                 (docstore/change_log.py)
store.status     counts, one URL's path                               (docstore/reports/status.py)
store.runs       runs of the pipeline                                 (docstore/reports/runs.py)
store.site_runs  what each run did at each site                       (docstore/reports/site_runs.py)
store.alerts     what the operator shall know, and was told           (docstore/reports/alerts.py)
store.accounts   who may sign in to the search site                   (docstore/accounts.py)
store.sealing    keys of near-duplicates of past months      (docstore/near_duplicates/key_compaction.py)
store.leases     who does which work, on which machine       (docstore/locking/leases.py)
store.soundness  is what is kept what was written?         (docstore/integrity/integrity_checks.py)
store.searches   the search log, without personal data                (docstore/reports/search_log.py)
"""

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from sqlalchemy import select

from docstore.accounts import AccountTable
from docstore.articles.article_table import ArticleTable
from docstore.articles.citations import CitationTable
from docstore.articles.source_pages import SourcePageTable
from docstore.articles.stories import StoryTable
from docstore.articles.vectors import VectorTable
from docstore.change_log import ChangeLog
from docstore.database import Database
from docstore.errors import StoreError
from docstore.frontier.document_backfill import DocumentBackfill
from docstore.frontier.focused_decisions import FocusedDecisionTable
from docstore.frontier.frontier_table import FrontierTable
from docstore.frontier.site_state import SiteStateTable
from docstore.frontier.topic_questions import TopicQuestionTable
from docstore.integrity.integrity_checks import IntegrityChecks
from docstore.large_bodies import MAX_BODY
from docstore.locking.leases import LeaseTable
from docstore.near_duplicates.key_compaction import KeyCompaction
from docstore.reports.alerts import AlertTable
from docstore.reports.runs import RunTable
from docstore.reports.search_log import SearchLog
from docstore.reports.site_runs import SiteRunTable
from docstore.reports.status import StatusReports
from docstore.schema.base import store_meta
from docstore.terms.glosses import GlossTable
from docstore.terms.lexicons import LexiconTable
from docstore.terms.review_history import ReviewHistory
from docstore.terms.review_queue import ReviewQueue
from docstore.warc_archive import ROTATE_BYTES, WarcArchive


class Store:
    """Open the store of a vertical: database at `url`, WARC files in `warc_folder`. Close it, or use `with`.

    `store_id` says which store this is, see `docstore.database.Database`; `is_shared` that other machines may have it
    open too. Pages of more than `max_body` bytes are not read. With `warc_remote` WARC files go to that object store
    when they are closed (`docstore.warc_object_store`).

    Raises StoreError (or a child of it) with one line that says what to do.
    """

    def __init__(
        self,
        url: str,
        warc_folder: Path,
        rotate_bytes: int = ROTATE_BYTES,
        clock: Callable[[], float] = time.time,
        max_body_bytes: int = MAX_BODY,
        warc_object_store_url: str = "",
    ) -> None:
        self._database = Database(url)
        self.store_id = self._database.store_id
        self.is_shared = self._database.is_shared
        self.leases = LeaseTable(self._database)
        self.integrity = IntegrityChecks(self._database)
        self._archive = WarcArchive(warc_folder, rotate_bytes, max_body_bytes, warc_object_store_url)
        self.frontier = FrontierTable(self._database, self._archive, clock)
        self.site_state = SiteStateTable(self._database)
        self.document_backfill = DocumentBackfill(self._database)
        self.articles = ArticleTable(self._database, self._archive, clock)
        self.key_compaction = KeyCompaction(self._database, clock)
        self.citations = CitationTable(self._database, clock)
        self.stories = StoryTable(self._database)
        self.vectors = VectorTable(self._database, clock)
        self.source_pages = SourcePageTable(self._database, self._archive)
        self.focused_decisions = FocusedDecisionTable(self._database, clock)
        self.topic_questions = TopicQuestionTable(self._database, clock)
        self.lexicons = LexiconTable(self._database, clock)
        self.review_history = ReviewHistory(self._database, clock)
        self.glosses = GlossTable(self._database)
        self.review_queue = ReviewQueue(self._database)
        self.change_log = ChangeLog(self._database, clock)
        self.status = StatusReports(self._database, clock)
        self.runs = RunTable(self._database, clock)
        self.site_runs = SiteRunTable(self._database)
        self.alerts = AlertTable(self._database, clock)
        self.accounts = AccountTable(self._database, clock)
        self.search_log = SearchLog(self._database, clock)

    def ensure_secret(self, name: str, value: str) -> str:
        """A secret that all machines have from the store: `value`, where it has none yet."""
        with self._database.write() as connection:
            self._database.upsert(connection, store_meta, [{"key": name, "value": value}])
            return str(connection.scalar(select(store_meta.c.value).where(store_meta.c.key == name)))

    def upload_warc_files(self) -> int:
        """Let every machine read what this one has fetched; returns how many WARC files stay on it yet."""
        self._archive.close()
        return self._archive.upload_closed_files()

    def close(self) -> None:
        """Close files and connections."""
        self._archive.close()
        self._database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_sqlite_store(folder: Path) -> Store:
    """The default store: `store.db` and `warc/` in `folder`, which is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the data folder {folder}: {error.strerror}") from error
    return Store(f"sqlite:///{folder / 'store.db'}", folder / "warc")
