"""What is written down of a search, and how: without personal data, and without making anyone wait.

`mask_personal_data` is pure. `SearchLogWriter` has a bounded queue and one thread; while the store is locked or gone it
counts what it cannot keep, and the pages answer as ever.
"""

import logging
import queue
import re
import threading
import unicodedata
from collections.abc import Callable, Sequence

from docstore.errors import PlumblineError
from docstore.reports.search_log import MAX_QUERY_CHARS, Click, LoggedSearch
from text.folding import word_key

_log = logging.getLogger(__name__)

MASK = "[…]"
MAX_PENDING_ENTRIES = 2000  # searches and clicks
FLUSH_SECONDS = 0.5  # seconds in which what comes is gathered into one transaction
_MIN_PERSONAL_DIGITS = 9  # so many digits in a row are somebody's number: an account, a card, an identity
# A URL, then numbers as they are written: Chinese and foreign telephones, cards, identity cards, passports.
# Years, dates (2016-05-09) and the numbers of standards (GB/T 19001-2016) are what people search a domain for.
_PERSONAL_DATA_RE = re.compile(
    "|".join(
        (
            r"[^\s@]+@[^\s@]+\.[^\s@]+",
            r"(?<![0-9])(?:\+?86[- ]?)?1[3-9][0-9][- ]?[0-9]{4}[- ]?[0-9]{4}(?![0-9])",
            r"(?<![0-9])\(?0[0-9]{2,3}[-) ]{1,2}[0-9]{3,4}[- ]?[0-9]{4}(?![0-9])",
            r"\+[0-9][0-9 ()-]{6,18}[0-9]",
            r"(?<![0-9])\(?[0-9]{3}[-.) ]{1,2}[0-9]{3}[-. ][0-9]{4}(?![0-9])",
            r"(?<![0-9])[0-9]{4}(?:[ -][0-9]{4}){3}(?:[ -][0-9]{1,3})?(?![0-9])",
            r"(?<![0-9])[0-9]{6}[- ]?[0-9]{8}[- ]?[0-9]{3}[0-9Xx](?![0-9])",
            r"(?<![A-Za-z0-9])[A-Za-z]{1,2}[0-9]{8}(?![0-9])",
            rf"[0-9]{{{_MIN_PERSONAL_DIGITS},}}[Xx]?",
        )
    )
)


def mask_personal_data(raw_query: str) -> tuple[str, bool]:
    """A query as the log keeps it: folded, short, personal data masked; and whether there was any."""
    text, count = _PERSONAL_DATA_RE.subn(MASK, unicodedata.normalize("NFKC", raw_query))
    return word_key(" ".join(text.split()))[:MAX_QUERY_CHARS], count > 0


class SearchLogWriter:
    """Takes searches and clicks at once, and hands them to `keep` from a thread of its own; `keep` may fail and wait.

    `keep` is told the searches, the clicks, and how many of both were dropped since it last succeeded. The thread
    begins with the first entry, so a process may be forked before.
    """

    def __init__(
        self,
        save: Callable[[Sequence[LoggedSearch], Sequence[Click], int], None],
        max_pending: int = MAX_PENDING_ENTRIES,
    ) -> None:
        self._save = save
        self._max_pending = max_pending
        self._pending: queue.SimpleQueue[LoggedSearch | Click] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._dropped_count = 0

    def enqueue(self, entry: LoggedSearch | Click) -> None:
        """Write `entry` down soon, or drop it where too many wait. Never blocks on the store."""
        with self._lock:
            if self._stop.is_set() or self._pending.qsize() >= self._max_pending:
                self._dropped_count += 1
                return
            self._pending.put(entry)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="search log", daemon=True)
                self._thread.start()

    @property
    def dropped_count(self) -> int:
        """How many entries were dropped and not yet counted in the store."""
        return self._dropped_count

    def close(self, timeout: float = 5.0) -> None:
        """Take nothing more, and write what waits, for `timeout` seconds at most."""
        with self._lock:
            self._stop.set()
            thread = self._thread
        if thread is not None:
            thread.join(timeout)

    def _run(self) -> None:
        while not self._stop.wait(FLUSH_SECONDS):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        entries = [self._pending.get() for _ in range(self._pending.qsize())]
        with self._lock:
            dropped_count, self._dropped_count = self._dropped_count, 0
        if not entries and not dropped_count:
            return
        searches = [entry for entry in entries if isinstance(entry, LoggedSearch)]
        clicks = [entry for entry in entries if isinstance(entry, Click)]
        try:
            self._save(searches, clicks, dropped_count)
        except PlumblineError as error:
            _log.warning("%d searches and clicks were not logged: %s", len(entries), error)
            self._add_dropped(dropped_count + len(entries))
        except Exception:  # the log outlives whatever one entry meets
            _log.exception("%d searches and clicks were not logged", len(entries))
            self._add_dropped(dropped_count + len(entries))

    def _add_dropped(self, count: int) -> None:
        with self._lock:
            self._dropped_count += count
