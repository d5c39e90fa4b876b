"""Logs searches and clicks without personal data and without delaying responses.

`SearchLogWriter` has a bounded queue and one thread. If the store is locked or unavailable, entries are dropped and
counted.
"""

import logging
import queue
import re
import threading
import unicodedata
from collections.abc import Callable, Sequence

from domain.errors import PlumblineError
from domain.search_log import MAX_QUERY_CHARS, Click, LoggedSearch

_log = logging.getLogger(__name__)

MASK = "[…]"
MAX_PENDING_ENTRIES = 2000  # searches and clicks
FLUSH_SECONDS = 0.5  # entries of this time are saved in one transaction
_MIN_PERSONAL_DIGITS = 9  # as many digits in a row identify a person: an account, a card, an ID
# E-mail addresses, then numbers as people write them: Chinese and foreign telephones, cards, ID cards, passports.
# Years, dates (2016-05-09) and numbers of standards (GB/T 19001-2016) are ordinary searches.
_PERSONAL_DATA_RE = re.compile(
    "|".join(
        (
            r"(?<![^\s@])[^\s@]++@[^\s@]+\.[^\s@]+",
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
    """Return a query as typed, truncated and with personal data masked, and whether data was masked."""
    masked_text, count = _PERSONAL_DATA_RE.subn(MASK, unicodedata.normalize("NFKC", raw_query))
    return " ".join((masked_text if count else raw_query).split())[:MAX_QUERY_CHARS], count > 0


class SearchLogWriter:
    """Queues searches and clicks and saves them in a background thread.

    The thread starts with the first entry, so a process can fork before.

    Args:
        save: Saves searches and clicks. Its third argument is the number of entries dropped since its last success. It
            may block or fail.
        max_pending: Maximum length of the queue. Further entries are dropped; 0 drops every entry.
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
        """Queue an entry, or drop it if the queue is full. Never blocks on the store."""
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
        """The number of dropped entries that the store has not counted yet."""
        return self._dropped_count

    def close(self, timeout: float = 5.0) -> None:
        """Accept no more entries and save the queue, within `timeout` seconds."""
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
        except Exception:  # noqa: BLE001 (one bad entry must not stop the log)
            _log.exception("%d searches and clicks were not logged", len(entries))
            self._add_dropped(dropped_count + len(entries))

    def _add_dropped(self, count: int) -> None:
        with self._lock:
            self._dropped_count += count
