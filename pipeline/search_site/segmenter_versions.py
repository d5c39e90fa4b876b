"""By which lexicon versions the documents in the index are cut, while a newly published one is on its way there.

Documents that hold a changed term are segmented again one after the other; until that is done some are cut by the
newer version and some by the older, and a query has to be cut by both to find the one as well as the other.
"""

import time
from collections.abc import Callable

from docstore.model import Lexicon
from docstore.terms.lexicons import LexiconTable
from indexer.mapping import Analysis
from text.segment import Segmenter

SEEN_AFTER = 5.0  # seconds from Solr's acknowledgement of a document until every search has it, with time to spare


class SegmenterVersions:
    """The segmenters of the versions in the index. For one thread at a time; `clock` counts seconds."""

    def __init__(
        self,
        lexicon: LexiconTable,
        make_segmenter: Callable[[Lexicon], Segmenter],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lexicon = lexicon
        self._make = make_segmenter
        self._clock = clock
        self._made: dict[int, Segmenter] = {}
        self._newest: int | None = None
        self._held: list[int] = []  # versions beside the newest
        self._mixed_at = 0.0  # when documents of several versions were last known

    def segmenters(self, newest: Analysis) -> tuple[Segmenter, ...]:
        """`newest.domain`, then the segmenters of older versions that documents in the index may be cut by."""
        version = newest.lexicon.version
        if version != self._newest:
            self._made[version] = newest.domain
            self._held = [] if self._newest is None else [self._newest]
            self._newest, self._mixed_at = version, self._clock()
            self._look(version)
        elif self._held:
            self._look(version)
        return (newest.domain, *(self._segmenter(number) for number in self._held))

    def _look(self, newest: int) -> None:
        held = [number for number in self._lexicon.versions_in_index() if number != newest]
        if held:
            self._held, self._mixed_at = held, self._clock()
        elif self._clock() - self._mixed_at > SEEN_AFTER:
            self._held = []
            self._made = {newest: self._made[newest]}

    def _segmenter(self, number: int) -> Segmenter:
        if number not in self._made:
            self._made[number] = self._make(self._lexicon.version(number))
        return self._made[number]
