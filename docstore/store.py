"""The store of one vertical: pending work, results, and the change log for the index.

Each attribute of `Store` is a group of tables or an operation on them; the docstring of its class says what it does.
"""

import time
from collections.abc import Callable
from pathlib import Path

from docstore.accounts import AccountTable
from docstore.api_tokens import ApiTokenTable
from docstore.articles.article_table import ArticleTable
from docstore.articles.citations import CitationTable
from docstore.articles.recognized_pages import RecognizedPageTable
from docstore.articles.source_pages import SourcePageTable
from docstore.articles.stories import StoryTable
from docstore.articles.text_compression import TextCompression
from docstore.articles.vectors import VectorTable
from docstore.bookkeeping import read_meta
from docstore.change_log import ChangeLog
from docstore.curation import CurationTable
from docstore.database import Database, sqlite_url
from docstore.frontier.document_backfill import DocumentBackfill
from docstore.frontier.focused_decisions import FocusedDecisionTable
from docstore.frontier.frontier_table import FrontierTable
from docstore.frontier.site_state import SiteStateTable
from docstore.frontier.topic_questions import TopicQuestionTable
from docstore.integrity.integrity_checks import IntegrityChecks
from docstore.large_bodies import MAX_BODY_BYTES
from docstore.locking.leases import LeaseTable
from docstore.near_duplicates.key_compaction import KeyCompaction
from docstore.operations import OperationTable
from docstore.reports.alert_mutes import AlertMuteTable
from docstore.reports.alerts import AlertTable
from docstore.reports.history import History
from docstore.reports.runs import RunTable
from docstore.reports.search_log import SearchLog
from docstore.reports.site_runs import SiteRunTable
from docstore.reports.status import StatusReports
from docstore.retention import Retention
from docstore.schema.base import store_meta
from docstore.site_pages import SitePages
from docstore.takedowns import TakedownTable
from docstore.terms.assignments import AssignmentTable
from docstore.terms.comments import CommentTable
from docstore.terms.definitions import DefinitionTable
from docstore.terms.glosses import GlossTable
from docstore.terms.lexicons import LexiconTable
from docstore.terms.relations import RelationTable
from docstore.terms.review_history import ReviewHistory
from docstore.terms.review_queue import ReviewQueue
from docstore.terms.rising_terms import RisingTermTable
from docstore.warc_archive import ROTATE_BYTES, WarcArchive
from domain.errors import StoreError


class Store:
    """The store of a vertical. Close it after use, or use `with`.

    Args:
        url: SQLAlchemy URL of the database.
        warc_folder: Folder of the WARC files.
        rotate_bytes: Size at which a new WARC file is started.
        clock: Returns the current time in epoch seconds.
        max_body_bytes: Responses with larger bodies are not read.
        warc_object_store_url: If set, closed WARC files move to this object store (`docstore.warc_object_store`).

    Attributes:
        store_id: Unique id of the store, see `docstore.database.Database`.
        is_shared: True if other machines can open the store too.

    Raises:
        StoreError: The store cannot be opened. The message is one line that says what to do.
    """

    def __init__(
        self,
        url: str,
        warc_folder: Path,
        rotate_bytes: int = ROTATE_BYTES,
        clock: Callable[[], float] = time.time,
        max_body_bytes: int = MAX_BODY_BYTES,
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
        self.recognized_pages = RecognizedPageTable(self._database, clock)
        self.key_compaction = KeyCompaction(self._database, clock)
        self.text_compression = TextCompression(self._database)
        self.citations = CitationTable(self._database, clock)
        self.stories = StoryTable(self._database)
        self.vectors = VectorTable(self._database, clock)
        self.source_pages = SourcePageTable(self._database, self._archive)
        self.focused_decisions = FocusedDecisionTable(self._database, clock)
        self.topic_questions = TopicQuestionTable(self._database, clock)
        self.lexicons = LexiconTable(self._database, clock)
        self.review_history = ReviewHistory(self._database, clock)
        self.term_comments = CommentTable(self._database, clock)
        self.term_assignments = AssignmentTable(self._database, clock)
        self.definitions = DefinitionTable(self._database)
        self.relations = RelationTable(self._database, clock)
        self.glosses = GlossTable(self._database)
        self.review_queue = ReviewQueue(self._database)
        self.rising_terms = RisingTermTable(self._database)
        self.change_log = ChangeLog(self._database, clock)
        self.status = StatusReports(self._database, clock)
        self.runs = RunTable(self._database, clock)
        self.site_runs = SiteRunTable(self._database)
        self.alerts = AlertTable(self._database, clock)
        self.alert_mutes = AlertMuteTable(self._database, clock)
        self.accounts = AccountTable(self._database, clock)
        self.operations = OperationTable(self._database, clock)
        self.api_tokens = ApiTokenTable(self._database, clock)
        self.history = History(self._database)
        self.retention = Retention(self._database, clock)
        self.site_pages = SitePages(self._database, clock)
        self.takedowns = TakedownTable(self._database, clock)
        self.curation = CurationTable(self._database, clock)
        self.search_log = SearchLog(self._database, clock)

    def ensure_secret(self, name: str, value: str) -> str:
        """Return the secret `name` that all machines share. If the store has none, save `value` first."""
        with self._database.write() as connection:
            self._database.insert_missing(connection, store_meta, [{"key": name, "value": value}])
            return read_meta(connection, name)

    def upload_warc_files(self) -> int:
        """Close the current WARC file and upload all closed files.

        Returns the number of files that stay on this machine.
        """
        self._archive.close()
        return self._archive.upload_closed_files()

    def close(self) -> None:
        """Close the WARC files and all database connections."""
        self._archive.close()
        self._database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_sqlite_store(folder: Path) -> Store:
    """Open the default store: `store.db` and `warc/` in `folder`, which is created if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot create the data folder {folder}: {error.strerror}") from error
    return Store(sqlite_url(folder / "store.db"), folder / "warc")
