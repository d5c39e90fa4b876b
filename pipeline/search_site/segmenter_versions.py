"""By which lexicon versions the documents in the index are cut, while a newly published one is on its way there.

Documents that hold a changed term are segmented again one after the other; until that is done some are cut by the
newer version and some by the older, and a query has to be cut by both to find the one as well as the other.
"""

import time
from collections.abc import Callable

from docstore.model import Lexicon
from docstore.terms.lexicons import LexiconTable
from indexer.document_mapping import TextAnalysis
from text.segment import Segmenter

VISIBILITY_SECONDS = (
    5.0  # seconds from Solr's acknowledgement of a document until every search has it, with time to spare
)


class SegmenterVersions:
    """The segmenters of the versions in the index. For one thread at a time; `clock` counts seconds."""

    def __init__(
        self,
        lexicon: LexiconTable,
        create_segmenter: Callable[[Lexicon], Segmenter],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lexicon = lexicon
        self._create_segmenter = create_segmenter
        self._clock = clock
        self._by_version: dict[int, Segmenter] = {}
        self._newest: int | None = None
        self._older_versions: list[int] = []  # versions beside the newest
        self._last_mixed = 0.0  # when documents of several versions were last known

    def segmenters(self, analysis: TextAnalysis) -> tuple[Segmenter, ...]:
        """`newest.domain`, then the segmenters of older versions that documents in the index may be cut by."""
        version = analysis.lexicon.version
        if version != self._newest:
            self._by_version[version] = analysis.domain_segmenter
            self._older_versions = [] if self._newest is None else [self._newest]
            self._newest, self._last_mixed = version, self._clock()
            self._refresh(version)
        elif self._older_versions:
            self._refresh(version)
        return (analysis.domain_segmenter, *(self._segmenter(number) for number in self._older_versions))

    def _refresh(self, newest_version: int) -> None:
        older_versions = [number for number in self._lexicon.versions_in_index() if number != newest_version]
        if older_versions:
            self._older_versions, self._last_mixed = older_versions, self._clock()
        elif self._clock() - self._last_mixed > VISIBILITY_SECONDS:
            self._older_versions = []
            self._by_version = {newest_version: self._by_version[newest_version]}

    def _segmenter(self, number: int) -> Segmenter:
        if number not in self._by_version:
            self._by_version[number] = self._create_segmenter(self._lexicon.load_version(number))
        return self._by_version[number]
