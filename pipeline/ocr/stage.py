"""Stage `ocr`: read the text of scanned and garbled pages of PDF and OFD files from their pictures.

One worker process reads page by page, and each page is saved at once. The stage can therefore be killed at any time and
resumes with the next page. A complete document is marked for extraction, which uses the saved pages.
"""

import logging
import time
from collections import Counter
from contextlib import closing
from importlib.util import find_spec

from crawler.workers.worker_process import Limits, WorkerError, WorkerProcess
from docstore.articles.source_pages import ArchivedPage
from docstore.warc_archive import WarcRecordLostError
from domain.errors import PlumblineError
from domain.message import Message, error_message
from domain.outcome import Outcome, Reason, Stage, StageReport, has_common_cause
from domain.recognized_page import RecognizedPage
from pipeline.engine import Engine
from pipeline.ocr.recognition import list_unreadable_pages, recognize_page
from pipeline.ocr.settings import OFF, ON, OcrSettings

log = logging.getLogger(__name__)

PAGE_SECONDS = 120.0  # wall-clock time to read one page
MAX_FAILED_PAGES = 20  # more failures than this, and more than a fifth of all pages, stop the stage
MAX_DOCUMENTS_LISTED = 20
INSTALL_HINT = "pip install 'plumbline-search[ocr]'"
OFF_NOTE = Message("ocr.enabled is off: scanned and garbled pages are not read")
WORKER_PRELOAD = ("pipeline.ocr.recognition", "rapidocr")


def is_ocr_installed() -> bool:
    """Return True if the packages of the extra `ocr` are installed. Does not import them."""
    return all(find_spec(name) is not None for name in ("rapidocr", "onnxruntime"))


def run_ocr_stage(engine: Engine, seconds: float | None = None) -> StageReport:
    """Read the pages of all pending documents, for at most `seconds` if given.

    The report counts documents by outcome. Without the extra `ocr`, its notes list the pending documents. Raises
    PlumblineError if `ocr.enabled` is on and the extra is missing, or if many pages fail.
    """
    started_at, settings = time.monotonic(), engine.settings.ocr
    if settings.enabled == OFF:
        return StageReport(Stage.OCR, {}, 0.0, (OFF_NOTE,))
    documents = engine.store.recognized_pages.pending_documents()
    if not is_ocr_installed():
        if settings.enabled == ON:
            raise PlumblineError(f"ocr.enabled is on, but OCR is not installed: {INSTALL_HINT}")
        note = Message(
            "1 document with scanned or garbled pages; to read it: {command}",
            "{n} documents with scanned or garbled pages; to read them: {command}",
            n=len(documents),
            command=INSTALL_HINT,
        )
        notes = [note, *(document.url for document in documents[:MAX_DOCUMENTS_LISTED])] if documents else []
        return StageReport(Stage.OCR, {}, 0.0, tuple(notes))
    deadline = None if seconds is None else started_at + seconds
    with engine.lock("ocr"):
        reading = DocumentReading(engine, deadline)
        with closing(reading.worker), engine.progress.task("ocr", len(documents)) as advance:
            for document in documents:
                if not reading.read_document(document):
                    break
                advance(1)
    notes = [Message("1 page read", "{n} pages read", n=reading.page_count)] if reading.page_count else []
    if pending_count := engine.store.recognized_pages.pending_count():
        notes.append(Message("1 document left to read", "{n} documents left to read", n=pending_count))
    return StageReport(Stage.OCR, reading.outcome_counts, time.monotonic() - started_at, tuple(notes))


class DocumentReading:
    """Reads documents page by page in one worker process, until a deadline (`time.monotonic`; None: no limit)."""

    def __init__(self, engine: Engine, deadline: float | None) -> None:
        self._articles, self._table = engine.store.articles, engine.store.recognized_pages
        self._settings: OcrSettings = engine.settings.ocr
        self._deadline = deadline
        self.worker = WorkerProcess(Limits(PAGE_SECONDS, self._settings.memory_mb), WORKER_PRELOAD)
        self.outcome_counts = Counter[Reason]()
        self.page_count = self._failed_count = 0

    def read_document(self, document: ArchivedPage) -> bool:
        """Read the pages of a document that are not saved yet, and record its outcome.

        Returns False if the deadline ended it; the next run continues. Raises PlumblineError if many pages fail.
        """
        try:
            data = self._articles.read_page_body(document)
        except WarcRecordLostError as error:  # also if another machine has not uploaded it yet
            log.warning("OCR of %s deferred: %s", document.url, error)
            return True
        try:
            numbers = self.worker.call(list_unreadable_pages, data, document.url, document.content_type)
        except WorkerError as error:
            self._complete(document, Outcome(Reason.UNEXPECTED_ERROR, error_message(error)))
            return True
        saved_numbers = self._table.saved_numbers(document.url_id, document.digest)
        for number in numbers[: self._settings.pages]:
            if number in saved_numbers:
                continue
            if self._deadline is not None and time.monotonic() > self._deadline:
                return False
            page = self._read_page(document, data, number)
            self._table.save_page(document.url_id, document.digest, page)
            self.page_count += 1
        self._complete(document, self._document_outcome(document, len(numbers)))
        return True

    def _read_page(self, document: ArchivedPage, data: bytes, number: int) -> RecognizedPage:
        """Read one page; a page that fails has no lines, so that it is not read again."""
        try:
            return self.worker.call(recognize_page, data, number, self._settings.min_confidence)
        except WorkerError as error:
            log.error("OCR of page %d of %s failed: %s", number, document.url, error)
        self._failed_count += 1
        if has_common_cause(self._failed_count, self.page_count, MAX_FAILED_PAGES):
            raise PlumblineError(
                f"OCR of {self._failed_count} pages failed: see logs/plumb.log, then run plumb ocr again"
            )
        return RecognizedPage(number)

    def _document_outcome(self, document: ArchivedPage, unreadable_count: int) -> Outcome:
        """Return the outcome of a document whose pages are saved."""
        pages = self._articles.load_recognized_pages(document.url_id, document.digest)
        readable_count = sum(bool(page.lines) for page in pages)
        message = Message("{n} of {total} pages without text read by OCR", n=readable_count, total=unreadable_count)
        return Outcome(Reason.RECOGNIZED if readable_count else Reason.NOTHING_RECOGNIZED, message)

    def _complete(self, document: ArchivedPage, outcome: Outcome) -> None:
        self._table.complete_document(document.url_id, document.digest, outcome)
        self.outcome_counts[outcome.reason] += 1
