"""What the pages of a run have said so far, piece by piece: a page that has nothing but known pieces says nothing new.

Two Bloom filters of a fixed size take turns, so memory is bounded; what was said long ago may count as new again, and
one new piece in a hundred as known.
"""

from rbloom import Bloom

from crawler.parsing.content_fingerprint import ContentFingerprint

_FILTER_CAPACITY = 500_000  # pieces in one filter: two times 0.6 MB
_ERROR_RATE = 0.01
_MIN_NEW_BYTES = 40  # bytes: less is no news, be it the words of a search that found nothing
_MIN_NEW_SHARE = 0.1


class SeenSentences:
    """The pieces of text that were met, by host."""

    def __init__(self) -> None:
        self._current_filter, self._previous_filter = (
            Bloom(_FILTER_CAPACITY, _ERROR_RATE),
            Bloom(_FILTER_CAPACITY, _ERROR_RATE),
        )
        self._count = 0

    def add_and_score_novelty(self, host: str, content: ContentFingerprint) -> float:
        """Remember what a page says; the part of its text that no page of its host has said before, 0 to 1. 0 where
        that is hardly any; 1 for a page without text, of which nothing can be said."""
        if not content.exact_digest:
            return 1.0
        new_bytes = total_bytes = 0
        for sentence_hash, size in dict.fromkeys(content.sentence_hashes):  # what a page repeats is its frame
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
