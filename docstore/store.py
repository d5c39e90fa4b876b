"""The one store of a vertical: what is pending, what was achieved, and the log of changes between.

store.frontier   URLs: what is due, what a visit led to          (docstore/frontier/table.py)
store.learned    what crawls have learned of sites, on all machines      (docstore/frontier/learned.py)
store.missed     documents that earlier crawls passed by      (docstore/frontier/missed_documents.py)
store.articles   pages that wait for extraction, and articles         (docstore/articles/table.py)
store.citations  who cites whom                                (docstore/articles/citations.py)
store.stories    news of one event                              (docstore/grouping/stories.py)
store.vectors    what a model of meaning made of articles       (docstore/articles/vectors.py)
store.originals  the answers that articles were read from      (docstore/articles/originals.py)
store.judgements what a focused crawl thought of pages and links      (docstore/frontier/focused_decisions.py)
store.topic_questions   pages that a person is asked about          (docstore/frontier/topic_questions.py)
store.lexicon    candidate terms, decisions, published versions       (docstore/terms/lexicons.py)
store.acts       what reviewers did with terms; undo                  (docstore/terms/history.py)
store.glosses    terms that articles say in two languages             (docstore/terms/glosses.py)
store.queue      terms in the order of review                         (docstore/terms/review_queue.py)
store.changes    the change log that drives the index                 (docstore/changes.py)
store.status     counts, one URL's path                               (docstore/reports/status.py)
store.runs       runs of the pipeline                                 (docstore/reports/runs.py)
store.site_runs  what each run did at each site                       (docstore/reports/site_runs.py)
store.alerts     what the operator shall know, and was told           (docstore/reports/alerts.py)
store.accounts   who may sign in to the search site                   (docstore/accounts.py)
store.sealing    keys of near-duplicates of past months      (docstore/grouping/sealing.py)
store.leases     who does which work, on which machine       (docstore/locking/leases.py)
store.soundness  is what is kept what was written?         (docstore/integrity/soundness.py)
store.searches   the search log, without personal data                (docstore/reports/searches.py)
"""

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from sqlalchemy import select

from docstore.accounts import AccountTable
from docstore.archive import ROTATE_BYTES, Archive
from docstore.articles.citations import CitationTable
from docstore.articles.originals import OriginalTable
from docstore.articles.table import ArticleTable
from docstore.articles.vectors import VectorTable
from docstore.changes import ChangeLog
from docstore.database import Database
from docstore.errors import StoreError
from docstore.frontier.focused_decisions import DecisionTable
from docstore.frontier.learned import LearnedTable
from docstore.frontier.missed_documents import MissedDocuments
from docstore.frontier.table import FrontierTable
from docstore.frontier.topic_questions import TopicQuestions
from docstore.grouping.sealing import KeySealing
from docstore.grouping.stories import StoryTable
from docstore.integrity.soundness import Soundness
from docstore.large_bodies import MAX_BODY
from docstore.locking.leases import LeaseTable
from docstore.reports.alerts import AlertTable
from docstore.reports.runs import RunTable
from docstore.reports.searches import SearchTable
from docstore.reports.site_runs import SiteRunTable
from docstore.reports.status import StatusTable
from docstore.schema.base import meta
from docstore.terms.glosses import GlossTable
from docstore.terms.history import TermActs
from docstore.terms.lexicons import LexiconTable
from docstore.terms.review_queue import TermQueue


class Store:
    """Open the store of a vertical: database at `url`, WARC files in `warc_folder`. Close it, or use `with`.

    `store_id` says which store this is, see `docstore.database.Database`; `is_shared` that other machines may have it
    open too. Pages of more than `max_body` bytes are not read. With `warc_remote` WARC files go to that object store
    when they are closed (`docstore.remote_pages`).

    Raises StoreError (or a child of it) with one line that says what to do.
    """

    def __init__(
        self,
        url: str,
        warc_folder: Path,
        rotate_bytes: int = ROTATE_BYTES,
        clock: Callable[[], float] = time.time,
        max_body: int = MAX_BODY,
        warc_remote: str = "",
    ) -> None:
        self._database = Database(url)
        self.store_id = self._database.store_id
        self.is_shared = self._database.is_shared
        self.leases = LeaseTable(self._database)
        self.soundness = Soundness(self._database)
        self._archive = Archive(warc_folder, rotate_bytes, max_body, warc_remote)
        self.frontier = FrontierTable(self._database, self._archive, clock)
        self.learned = LearnedTable(self._database)
        self.missed = MissedDocuments(self._database)
        self.articles = ArticleTable(self._database, self._archive, clock)
        self.sealing = KeySealing(self._database, clock)
        self.citations = CitationTable(self._database, clock)
        self.stories = StoryTable(self._database)
        self.vectors = VectorTable(self._database, clock)
        self.originals = OriginalTable(self._database, self._archive)
        self.judgements = DecisionTable(self._database, clock)
        self.topic_questions = TopicQuestions(self._database, clock)
        self.lexicon = LexiconTable(self._database, clock)
        self.acts = TermActs(self._database, clock)
        self.glosses = GlossTable(self._database)
        self.queue = TermQueue(self._database)
        self.changes = ChangeLog(self._database, clock)
        self.status = StatusTable(self._database, clock)
        self.runs = RunTable(self._database, clock)
        self.site_runs = SiteRunTable(self._database)
        self.alerts = AlertTable(self._database, clock)
        self.accounts = AccountTable(self._database, clock)
        self.searches = SearchTable(self._database, clock)

    def secret(self, name: str, value: str) -> str:
        """A secret that all machines have from the store: `value`, where it has none yet."""
        with self._database.write() as connection:
            self._database.upsert(connection, meta, [{"key": name, "value": value}])
            return str(connection.scalar(select(meta.c.value).where(meta.c.key == name)))

    def upload_pages(self) -> int:
        """Let every machine read what this one has fetched; returns how many WARC files stay on it yet."""
        self._archive.close()
        return self._archive.upload()

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


def sqlite_store(folder: Path) -> Store:
    """The default store: `store.db` and `warc/` in `folder`, which is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the data folder {folder}: {error.strerror}") from error
    return Store(f"sqlite:///{folder / 'store.db'}", folder / "warc")
