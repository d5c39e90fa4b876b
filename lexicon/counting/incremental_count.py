"""Incremental n-gram counting in memory that does not grow with the corpus.

    digests, stored digests -> changes -> old texts subtracted, new texts added: sorted runs
    stored rows, runs       -> merged key range by key range -> stored rows; candidate rows

Documents whose digest changed are subtracted (old text) and added (new text). One key range is in memory at a time.
Lines repeated in several documents are counted once, because repetition is no evidence for the words in them.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from itertools import groupby, tee
from operator import itemgetter
from typing import Any

import numpy as np

from domain.article import text_hash64
from domain.batches import batched
from domain.progress import AdvanceProgress, ProgressTask, no_progress, track
from lexicon.arrays import Int64Array
from lexicon.c_value.candidates import normalize_text
from lexicon.counting.candidate_selection import CandidateSelector, should_retain
from lexicon.counting.corpus import Corpus
from lexicon.counting.counts_store import CountsStore
from lexicon.counting.distributed_count import (
    PIECE_CHARACTERS,
    count_piece,
    iter_chunks,
)
from lexicon.counting.ngram_table import (
    COLUMN_INDEX,
    NO_DOCUMENT,
    NgramRows,
    merge_rows,
    negate_rows,
)
from lexicon.counting.prose_filter import prose_text
from lexicon.counting.sorted_runs import SortedRuns, range_ends
from lexicon.model.term_model import CandidateSelection, ModelByLanguage, counting_digest

ROWS_PER_KEY_RANGE = 200_000  # target size of a key range
EXPECTED_ROWS_PER_DOCUMENT = 250  # estimate for new documents, to choose the number of key ranges
EVICTION_MIN_ROWS = 250_000  # in a corpus with more rows, unlikely rows are evicted
DOCUMENTS_PER_GENERATION = 50_000  # changed documents per generation of rows
DOCUMENTS_PER_READ = 200

MapFunction = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""Like the built-in `map`, but may distribute the items to workers. Returns the results in the order of the items."""


@dataclass(frozen=True)
class DocumentChange:
    """Change of a document: its new `digest` (None if deleted), and whether it `was_stored` before."""

    document_id: int
    digest: str | None
    was_stored: bool


def diff_digests(
    old_digests: Iterable[tuple[int, str]], new_digests: Iterable[tuple[int, str]]
) -> Iterator[DocumentChange]:
    """Yield the changes between two lists of document ids and digests, both by ascending id."""
    rows = merge(((*item, False) for item in old_digests), ((*item, True) for item in new_digests), key=itemgetter(0))
    for document_id, versions in groupby(rows, itemgetter(0)):
        digests = {is_new: digest for _, digest, is_new in versions}
        if digests.get(False) != digests.get(True):
            yield DocumentChange(document_id, digests.get(True), was_stored=False in digests)


@dataclass(frozen=True)
class IncrementalCount:
    """Updates the stored counts and selects candidates. Only changed documents are counted.

    Attributes:
        corpus: documents to count.
        models: models by language.
        counts_store: counts of earlier runs.
        progress_task: reports progress.
        map_ordered: `map` that distributes the counting.
    """

    corpus: Corpus
    models: ModelByLanguage
    counts_store: CountsStore
    progress_task: ProgressTask = no_progress
    map_ordered: MapFunction = map

    def run(self, min_frequency: int) -> CandidateSelection:
        """Count all changes and return the rows with at least `min_frequency` occurrences.

        Raises:
            DamagedCountsError: stored rows are damaged.
            LexiconError: stored rows cannot be read, or a worker has other models.
            sqlite3.DatabaseError: the database is damaged.
        """
        remaining_changes, text_count, document_count = 0, 0, self.counts_store.document_count()
        for change in self._iter_changes():
            remaining_changes += 1
            text_count += (change.digest is not None) + change.was_stored
            document_count += (change.digest is not None) - change.was_stored
        selector = CandidateSelector(self.models, required_frequency(min_frequency, document_count))
        with self.progress_task("lexicon: count", text_count) as advance:
            for batch in batched(self._iter_changes(), DOCUMENTS_PER_GENERATION):
                remaining_changes -= len(batch)
                self._count_generation(batch, advance, None if remaining_changes else selector)
        if not selector.has_received_rows:
            for range_index in track(self.progress_task, "lexicon: select", range(self.counts_store.key_range_count)):
                selector.add(self.counts_store.read_rows(range_index), self.counts_store.has_evicted_rows)
        return selector.build_selection(self.counts_store)

    def _iter_changes(self) -> Iterator[DocumentChange]:
        return diff_digests(self.counts_store.iter_document_digests(), self.corpus.iter_digests())

    def _count_generation(
        self, batch: Sequence[DocumentChange], advance: AdvanceProgress, selector: CandidateSelector | None
    ) -> None:
        """Subtract the old texts and add the new texts of a batch of changes, and commit a generation."""
        counts_store = self.counts_store
        removed_ids = [change.document_id for change in batch if change.was_stored]
        digest_by_added_id = {change.document_id: change.digest for change in batch if change.digest is not None}
        with tempfile.TemporaryFile(dir=counts_store.folder) as file:
            runs = SortedRuns(
                file, max(counts_store.key_range_count, key_range_count(EXPECTED_ROWS_PER_DOCUMENT * len(batch)))
            )
            self._count_into_runs(self._iter_removed_texts(removed_ids), runs, -1, advance)
            counts_store.delete_documents(removed_ids)
            self._count_into_runs(self._iter_added_texts(digest_by_added_id), runs, 1, advance)
            self._merge_runs(runs, np.array(removed_ids, dtype=np.int64), selector)

    def _iter_removed_texts(self, removed_ids: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Yield id and text of removed documents, without lines that other documents contain."""
        for batch in batched(removed_ids, DOCUMENTS_PER_READ):
            yield from self._iter_changed_lines(list(self.counts_store.iter_texts(batch)), -1)

    def _iter_added_texts(self, digests: Mapping[int, str]) -> Iterator[tuple[int, str]]:
        """Save new documents, and yield id and text, without lines that are counted already."""
        for document_ids in batched(sorted(digests), DOCUMENTS_PER_READ):
            texts = [
                (document.document_id, normalize_text(prose_text(document)).encode("utf-8", "replace").decode())
                for document in self.corpus.iter_documents(document_ids)
            ]
            self.counts_store.save_documents((document_id, digests[document_id], text) for document_id, text in texts)
            yield from self._iter_changed_lines(texts, 1)

    def _iter_changed_lines(self, texts: Sequence[tuple[int, str]], delta: int) -> Iterator[tuple[int, str]]:
        """Apply `delta` (+1 or -1) to the document count of every line.

        Yields document id and text, reduced to the lines whose count changed from or to 0.
        """
        lines = [(document_id, dict.fromkeys(text.split("\n"))) for document_id, text in texts]
        hashes = {line: text_hash64(line) for _, document_lines in lines for line in document_lines}
        documents_by_line = dict.fromkeys(hashes.values(), 0) | self.counts_store.documents_by_line(hashes.values())
        for document_id, document_lines in lines:
            changed_lines = []
            for line in document_lines:
                previous_count = documents_by_line[hashes[line]]
                documents_by_line[hashes[line]] = max(0, previous_count + delta)
                if not previous_count or not documents_by_line[hashes[line]]:
                    changed_lines.append(line)
            yield document_id, "\n".join(changed_lines)
        self.counts_store.save_line_counts(documents_by_line)

    def _count_into_runs(
        self, texts: Iterable[tuple[int, str]], runs: SortedRuns, sign: int, advance: AdvanceProgress
    ) -> None:
        """Count texts into runs within the memory limits. `sign` is -1 to subtract them."""
        count = partial(count_piece, expected_digest=counting_digest(self.models))
        occurrences = np.zeros(0, dtype=np.int64)
        chunks, counted_chunks = tee(iter_chunks(texts, PIECE_CHARACTERS))
        for counted_pieces, chunk in zip(self.map_ordered(count, chunks), counted_chunks, strict=True):
            for piece in counted_pieces:
                word_ids = np.append(self.counts_store.get_or_add_word_ids(piece.words), np.int32(-1))
                occurrences = np.pad(occurrences, (0, max(0, word_ids.max() + 1 - len(occurrences))))
                occurrences[word_ids[:-1]] += sign * piece.occurrences
                rows = replace(piece.rows, word_ids=word_ids[piece.rows.word_ids])
                runs.add_run(rows if sign > 0 else negate_rows(rows))
            advance(len(chunk))
        occurring_ids = np.flatnonzero(occurrences)
        self.counts_store.add_occurrences(occurring_ids, occurrences[occurring_ids])

    def _merge_runs(self, runs: SortedRuns, removed_ids: Int64Array, selector: CandidateSelector | None) -> None:
        """Write the next generation of rows. With a selector, also select candidate rows."""
        counts_store, row_count, row_estimate = self.counts_store, 0, self.counts_store.row_count + runs.rows_added
        evicts = counts_store.has_evicted_rows or row_estimate > EVICTION_MIN_ROWS
        ranges = max(1, counts_store.key_range_count, min(runs.range_count, key_range_count(row_estimate)))
        all_stored_rows = _iter_key_ranges(counts_store, ranges)
        for range_index in track(self.progress_task, "lexicon: add up", range(ranges)):
            stored_rows = remove_seen_documents(next(all_stored_rows), removed_ids)
            parts = [stored_rows, *runs.read_range(range_index, ranges)]
            rows = clamp_document_counts(merge_rows(parts, should_retain if evicts else None))
            if selector:
                selector.add(rows, evicts)
            counts_store.write_rows(range_index, rows)
            row_count += len(rows)
        counts_store.commit_generation(ranges, row_count, evicts)


def required_frequency(min_frequency: int, documents: int) -> int:
    """Return the minimum occurrences of a term: `min_frequency`, but in a large corpus at least log10 of the documents.

    In more text, more words occur together by chance.
    """
    return max(min_frequency, len(str(documents)) - 1)


def key_range_count(rows: int) -> int:
    """Return the number of key ranges for this many rows, a power of two."""
    return 1 << max(0, (rows // ROWS_PER_KEY_RANGE).bit_length())


def _iter_key_ranges(counts_store: CountsStore, ranges: int) -> Iterator[NgramRows]:
    """Yield the stored rows in `ranges` key ranges, at least as many as are stored."""
    stored_ranges = max(1, counts_store.key_range_count)
    for range_index in range(stored_ranges):
        rows = counts_store.read_rows(range_index)
        ends = range_ends(rows.keys, ranges)[ranges // stored_ranges * range_index :][: ranges // stored_ranges]
        yield from (rows.slice_view(start, stop) for start, stop in zip([0, *ends[:-1]], ends, strict=True))


def remove_seen_documents(rows: NgramRows, removed_ids: Int64Array) -> NgramRows:
    """Replace `removed_ids` (ascending) in `first_documents` by NO_DOCUMENT."""
    if not len(removed_ids):
        return rows
    insertion_index = np.minimum(np.searchsorted(removed_ids, rows.first_documents), len(removed_ids) - 1)
    return replace(
        rows,
        first_documents=np.where(
            removed_ids[insertion_index] == rows.first_documents, NO_DOCUMENT, rows.first_documents
        ),
    )


def clamp_document_counts(rows: NgramRows) -> NgramRows:
    """Clamp document counts to between 1 and the frequency.

    A line counts for the first of its documents. Subtracting another line of that document can therefore subtract one
    too many.
    """
    counts, documents = rows.counts.copy(), COLUMN_INDEX["documents"]
    counts[documents] = np.clip(counts[documents], 1, rows.frequency)
    return replace(rows, counts=counts)
