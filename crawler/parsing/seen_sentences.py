"""The sentences of the pages of a run, to measure how much of a page is new.

Two Bloom filters of fixed size alternate, so memory is bounded. Old sentences may count as new again. One new sentence
in a hundred may count as known.
"""

from rbloom import Bloom

from crawler.parsing.content_fingerprint import ContentFingerprint

_FILTER_CAPACITY = 500_000  # sentences per filter; two filters of 0.6 MB
_ERROR_RATE = 0.01
_MIN_NEW_BYTES = 40  # less text is not new, e.g. the words of a search without results
_MIN_NEW_SHARE = 0.1


class SeenSentences:
    """The sentences seen so far, by host."""

    def __init__(self) -> None:
        self._current_filter, self._previous_filter = (
            Bloom(_FILTER_CAPACITY, _ERROR_RATE),
            Bloom(_FILTER_CAPACITY, _ERROR_RATE),
        )
        self._count = 0

    def add_and_score_novelty(self, host: str, content: ContentFingerprint) -> float:
        """Add the page's sentences and return its novelty: the share of bytes in sentences new to this host, 0 to 1.

        Returns 0 if less than 40 bytes or 10% are new, and 1 for a page without text.
        """
        if not content.exact_digest:
            return 1.0
        new_bytes = total_bytes = 0
        for sentence_hash, size in dict.fromkeys(content.sentence_hashes):  # repeated sentences are navigation
            key = hash((host, sentence_hash))
            total_bytes += size
            if key not in self._current_filter and key not in self._previous_filter:
                new_bytes += size
                self._add(key)
        return (
            new_bytes / total_bytes
            if new_bytes >= _MIN_NEW_BYTES and new_bytes >= _MIN_NEW_SHARE * total_bytes
            else 0.0
        )

    def _add(self, key: int) -> None:
        if self._count >= _FILTER_CAPACITY:
            self._previous_filter, self._current_filter, self._count = (
                self._current_filter,
                Bloom(_FILTER_CAPACITY, _ERROR_RATE),
                0,
            )
        self._current_filter.add(key)
        self._count += 1
