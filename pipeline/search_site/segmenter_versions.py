"""Lexicon versions of the documents in the index while a newly published version is being applied.

After a publish, the documents that contain a changed term are segmented again one by one. Until this is done, some
documents use the newer version and some the older, so a query must be segmented with both.
"""

import time
from collections.abc import Callable

from docstore.terms.lexicons import LexiconTable
from domain.term import Lexicon
from indexer.document_mapping import TextAnalysis
from text.segment import Segmenter

VISIBILITY_SECONDS = 5.0  # from Solr's acknowledgement of a document until every search sees it, with a margin


class SegmenterVersions:
    """The segmenters of the lexicon versions in the index. Not thread-safe.

    `clock` is a monotonic clock in seconds.
    """

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
        self._older_versions: list[int] = []  # versions in the index, without the newest
        self._last_mixed_at = 0.0  # when the index last had documents of several versions

    def segmenters(self, analysis: TextAnalysis) -> tuple[Segmenter, ...]:
        """Return the newest segmenter, then those of older versions that documents in the index may use."""
        version = analysis.lexicon.version
        if version != self._newest:
            self._by_version[version] = analysis.domain_segmenter
            self._older_versions = [] if self._newest is None else [self._newest]
            self._newest, self._last_mixed_at = version, self._clock()
            self._refresh(version)
        elif self._older_versions:
            self._refresh(version)
        return (analysis.domain_segmenter, *(self._segmenter(number) for number in self._older_versions))

    def _refresh(self, newest_version: int) -> None:
        older_versions = [number for number in self._lexicon.versions_in_index() if number != newest_version]
        if older_versions:
            self._older_versions, self._last_mixed_at = older_versions, self._clock()
        elif self._clock() - self._last_mixed_at > VISIBILITY_SECONDS:
            self._older_versions = []
            self._by_version = {newest_version: self._by_version[newest_version]}

    def _segmenter(self, number: int) -> Segmenter:
        if number not in self._by_version:
            self._by_version[number] = self._create_segmenter(self._lexicon.load_version(number))
        return self._by_version[number]
