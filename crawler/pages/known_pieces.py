"""What the pages of a run have said so far, piece by piece: a page that has nothing but known pieces says nothing new.

Two Bloom filters of a fixed size take turns, so memory is bounded; what was said long ago may count as new again, and
one new piece in a hundred as known.
"""

from rbloom import Bloom

from crawler.pages.content import Content

_ROOM = 500_000  # pieces in one filter: two times 0.6 MB
_WRONG = 0.01
_FEWEST = 40  # bytes: less is no news, be it the words of a search that found nothing
_MIN_SHARE = 0.1


class KnownPieces:
    """The pieces of text that were met, by host."""

    def __init__(self) -> None:
        self._now, self._before = Bloom(_ROOM, _WRONG), Bloom(_ROOM, _WRONG)
        self._count = 0

    def new_share(self, host: str, content: Content) -> float:
        """Remember what a page says; the part of its text that no page of its host has said before, 0 to 1. 0 where
        that is hardly any; 1 for a page without text, of which nothing can be said."""
        if not content.exact:
            return 1.0
        new = total = 0
        for piece, size in dict.fromkeys(content.pieces):  # what a page repeats is its frame
            key = hash((host, piece))
            total += size
            if key not in self._now and key not in self._before:
                new += size
                self._add(key)
        return new / total if new >= _FEWEST and new >= _MIN_SHARE * total else 0.0

    def _add(self, key: int) -> None:
        if self._count >= _ROOM:
            self._before, self._now, self._count = self._now, Bloom(_ROOM, _WRONG), 0
        self._now.add(key)
        self._count += 1
