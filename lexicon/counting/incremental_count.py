"""Counting a corpus: of each day only what has changed since the last, in memory that does not grow with the corpus.

    digests, those before -> changes -> old texts taken off, new ones counted: runs, as large as memory allows
    rows before, runs     -> added up, range by range of keys -> remembered again; those that may be terms

One range of keys is in memory at a time, whatever there is in all. A line that stands on many pages word by word is
counted once: its repetition says nothing of the words in it.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from docstore.batches import batched
from docstore.model import text_hash64
from lexicon.c_value.candidates import normalize_text
from lexicon.counting.candidate_selection import CandidateSelector, should_retain
from lexicon.counting.corpus import Corpus
from lexicon.counting.counts_store import CountsStore
from lexicon.counting.distributed_count import (
    CHUNK_CHARACTERS,
    MAX_RUN_ROWS,
    MAX_RUN_WORDS,
    PIECE_CHARACTERS,
    CountedPiece,
    WordIdCache,
    count_piece,
    iter_chunks,
)
from lexicon.counting.ngram_table import (
    COLUMN_INDEX,
    NO_DOCUMENT,
    Int64Array,
    NgramRows,
    NgramTable,
    merge_rows,
    negate_rows,
)
from lexicon.counting.prose_filter import prose_text
from lexicon.counting.sorted_runs import SortedRuns, range_ends
from lexicon.counting.tokens import Vocabulary
from lexicon.model.term_model import CandidateSelection, ModelByLanguage, SpanCounter, counting_digest

ROWS_PER_KEY_RANGE = 200_000  # of all rows, in one range of keys
EXPECTED_ROWS_PER_DOCUMENT = 250  # expected of new documents, to part the keys by
EVICTION_MIN_ROWS = 250_000  # rows of a corpus, from which on those that hardly matter are not remembered
DOCUMENTS_PER_GENERATION = 50_000  # counted from one generation of what is remembered to the next
DOCUMENTS_PER_READ = 200  # at a time

AdvanceProgress = Callable[[int], None]
ProgressTask = Callable[[str, int | None], AbstractContextManager[AdvanceProgress]]
"""Begins a piece of work with a name and a number of steps; gives what tells that so many more are done."""


OrderedMap = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""As `map`: gives work away piece by piece, and has the results in the order of the pieces."""


def no_progress(name: str, steps: int | None = None) -> AbstractContextManager[AdvanceProgress]:
    """Work that nobody watches."""
    return nullcontext(lambda steps: None)


def count_in_memory(texts: Iterable[str], models: ModelByLanguage) -> NgramTable:
    """The spans of all texts, counted in memory."""
    counter = SpanCounter(models)
    for chunk in iter_chunks(enumerate(texts), CHUNK_CHARACTERS):
        counter.add([normalize_text(text) for _, text in chunk])
    return counter.table


def update_and_select(
    corpus: Corpus,
    models: ModelByLanguage,
    counts_store: CountsStore,
    min_frequency: int,
    progress_task: ProgressTask = no_progress,
    spread: OrderedMap | None = None,
) -> CandidateSelection:
    """The rows of a corpus that may be terms. What is remembered is not counted again; afterwards it is up to date.
    `spread` has pieces of it counted elsewhere.

    LexiconError or sqlite3.DatabaseError where the memory is damaged.
    """
    return _IncrementalCount(corpus, models, counts_store, progress_task, spread).run(min_frequency)


@dataclass(frozen=True)
class DocumentChange:
    """A document that is not what is remembered: its `digest` now (None: it is gone), and whether it `existed` there."""

    document_id: int
    digest: str | None
    existed: bool


def diff_digests(
    old_digests: Iterable[tuple[int, str]], new_digests: Iterable[tuple[int, str]]
) -> Iterator[DocumentChange]:
    """What has changed between two lists of numbers and digests, both by rising numbers."""
    old_items, new_items = iter(old_digests), iter(new_digests)
    old_item, new_item = next(old_items, None), next(new_items, None)
    while old_item or new_item:
        if new_item is None or (old_item is not None and old_item[0] < new_item[0]):
            assert old_item is not None
            yield DocumentChange(old_item[0], None, existed=True)
            old_item = next(old_items, None)
        elif old_item is None or new_item[0] < old_item[0]:
            yield DocumentChange(*new_item, existed=False)
            new_item = next(new_items, None)
        else:
            if old_item != new_item:
                yield DocumentChange(*new_item, existed=True)
            old_item, new_item = next(old_items, None), next(new_items, None)


class StoredWordIds:
    """The words of a vocabulary that grows, as the memory numbers them, and how often they were written."""

    def __init__(self, vocabulary: Vocabulary, counts_store: CountsStore) -> None:
        self._vocabulary, self._counts_store = vocabulary, counts_store
        self._stored_ids = np.zeros(0, dtype=np.int32)
        self._occurrences = np.zeros(0, dtype=np.int64)

    def remap_rows(self, table: NgramTable, sign: int) -> NgramRows:
        """The rows of a table, or what takes them off; its words have their numbers in the memory."""
        new_words = self._vocabulary.words[len(self._stored_ids) :]
        self._stored_ids = np.append(self._stored_ids, self._counts_store.get_or_add_word_ids(new_words))
        self._occurrences = np.pad(self._occurrences, (0, len(new_words))) + table.word_occurrences
        rows = table.rows()
        rows = replace(rows, word_ids=np.append(self._stored_ids, np.int32(-1))[rows.word_ids])
        return rows if sign > 0 else negate_rows(rows)

    def flush_occurrences(self, sign: int) -> None:
        """Let the memory know how often the words were written, or no more were."""
        nonzero = np.flatnonzero(self._occurrences)
        self._counts_store.add_occurrences(self._stored_ids[nonzero], sign * self._occurrences[nonzero])


class _IncrementalCount:
    """Brings what is remembered up to date, and chooses from it."""

    def __init__(
        self,
        corpus: Corpus,
        models: ModelByLanguage,
        counts_store: CountsStore,
        progress_task: ProgressTask,
        spread: OrderedMap | None = None,
    ) -> None:
        self._corpus, self._models, self._counts_store, self._progress_task = (
            corpus,
            models,
            counts_store,
            progress_task,
        )
        self._map_ordered = spread

    def run(self, min_frequency: int) -> CandidateSelection:
        """All of the day."""
        remaining_changes, document_count = 0, self._counts_store.document_count()
        for change in self._iter_changes():
            remaining_changes += 1
            document_count += (change.digest is not None) - change.existed
        selector = CandidateSelector(self._models, required_frequency(min_frequency, document_count))
        with self._progress_task("lexicon: count", remaining_changes) as advance:
            for batch in batched(self._iter_changes(), DOCUMENTS_PER_GENERATION):
                remaining_changes -= len(batch)
                self._count_generation(batch, advance, None if remaining_changes else selector)
        if not selector.has_received_rows:
            for range_index in range(self._counts_store.key_range_count):
                selector.add(self._counts_store.read_rows(range_index), self._counts_store.has_evicted_rows)
        return selector.build_selection(self._counts_store)

    def _iter_changes(self) -> Iterator[DocumentChange]:
        return diff_digests(self._counts_store.iter_document_digests(), self._corpus.iter_digests())

    def _count_generation(
        self, batch: Sequence[DocumentChange], advance: AdvanceProgress, selector: CandidateSelector | None
    ) -> None:
        """Take off what was counted of old texts, add what there is in new ones."""
        counts_store = self._counts_store
        removed_ids = [change.document_id for change in batch if change.existed]
        digest_by_added_id = {change.document_id: change.digest for change in batch if change.digest is not None}
        with tempfile.TemporaryFile(dir=counts_store.folder) as file:
            runs = SortedRuns(
                file, max(counts_store.key_range_count, key_range_count(EXPECTED_ROWS_PER_DOCUMENT * len(batch)))
            )
            self._count_into_runs(self._iter_removed_texts(removed_ids), runs, -1)
            counts_store.delete_documents(removed_ids)
            self._count_into_runs(self._iter_added_texts(digest_by_added_id, advance), runs, 1)
            self._merge_runs(runs, np.array(removed_ids, dtype=np.int64), selector)
        advance(len(batch) - len(digest_by_added_id))

    def _iter_removed_texts(self, removed_ids: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Number and text of what is gone, but for lines that other documents have as well."""
        for batch in batched(removed_ids, DOCUMENTS_PER_READ):
            yield from self._iter_changed_lines(list(self._counts_store.iter_texts(batch)), -1)

    def _iter_added_texts(self, digests: Mapping[int, str], advance: AdvanceProgress) -> Iterator[tuple[int, str]]:
        """Number and text of what is new, which is remembered on the way, but for lines that are known already."""
        for document_ids in batched(sorted(digests), DOCUMENTS_PER_READ):
            texts = [
                (document.document_id, normalize_for_storage(prose_text(document)))
                for document in self._corpus.iter_documents(document_ids)
            ]
            self._counts_store.save_documents((document_id, digests[document_id], text) for document_id, text in texts)
            yield from self._iter_changed_lines(texts, 1)
            advance(len(document_ids))

    def _iter_changed_lines(self, texts: Sequence[tuple[int, str]], delta: int) -> Iterator[tuple[int, str]]:
        """Texts, of which so many more (or less) documents have the lines, with those alone that come or go by that."""
        lines = [(document_id, dict.fromkeys(text.split("\n"))) for document_id, text in texts]
        hashes = {line: text_hash64(line) for _, document_lines in lines for line in document_lines}
        documents_by_line = dict.fromkeys(hashes.values(), 0) | self._counts_store.documents_by_line(hashes.values())
        for document_id, document_lines in lines:
            changed = []
            for line in document_lines:
                previous_count = documents_by_line[hashes[line]]
                documents_by_line[hashes[line]] = max(0, previous_count + delta)
                if not previous_count or not documents_by_line[hashes[line]]:
                    changed.append(line)
            yield document_id, "\n".join(changed)
        self._counts_store.save_line_counts(documents_by_line)

    def _count_into_runs(self, texts: Iterable[tuple[int, str]], runs: SortedRuns, sign: int) -> None:
        """Count texts into as many tables as memory asks for; `sign` is -1 to take them off."""
        if self._map_ordered:
            count, word_id_cache = (
                partial(count_piece, expected_digest=counting_digest(self._models)),
                WordIdCache(self._counts_store),
            )
            for counted_pieces in self._map_ordered(count, iter_chunks(texts, PIECE_CHARACTERS)):
                self._add_counted_pieces(counted_pieces, runs, sign, word_id_cache)
            return
        counter = SpanCounter(self._models)
        words = StoredWordIds(counter.table.vocabulary, self._counts_store)
        for chunk in iter_chunks(texts, CHUNK_CHARACTERS):
            counter.add(
                [text for _, text in chunk], np.array([document_id for document_id, _ in chunk], dtype=np.int64)
            )
            if len(counter.table) > MAX_RUN_ROWS:
                runs.add_run(words.remap_rows(counter.table, sign))
                counter.table.reset_counts()
            if counter.table.distinct_words > MAX_RUN_WORDS:
                runs.add_run(words.remap_rows(counter.table, sign))
                words.flush_occurrences(sign)
                counter = SpanCounter(self._models)
                words = StoredWordIds(counter.table.vocabulary, self._counts_store)
        runs.add_run(words.remap_rows(counter.table, sign))
        words.flush_occurrences(sign)

    def _add_counted_pieces(
        self, counted_pieces: Sequence[CountedPiece], runs: SortedRuns, sign: int, word_id_cache: WordIdCache
    ) -> None:
        """Take in tables that were counted elsewhere: each with words of its own."""
        for piece in counted_pieces:
            word_ids = np.append(word_id_cache.ids_for(piece.words), np.int32(-1))
            self._counts_store.add_occurrences(
                word_ids[:-1][piece.occurrences > 0], sign * piece.occurrences[piece.occurrences > 0]
            )
            rows = replace(piece.rows, word_ids=word_ids[piece.rows.word_ids])
            runs.add_run(rows if sign > 0 else negate_rows(rows))

    def _merge_runs(self, runs: SortedRuns, removed_ids: Int64Array, selector: CandidateSelector | None) -> None:
        """Write the next generation of rows."""
        counts_store, row_count, row_estimate = self._counts_store, 0, self._counts_store.row_count + runs.rows_added
        evicts = counts_store.has_evicted_rows or row_estimate > EVICTION_MIN_ROWS
        ranges = max(1, counts_store.key_range_count, min(runs.range_count, key_range_count(row_estimate)))
        with self._progress_task("lexicon: add up", ranges) as advance:
            for range_index, stored_rows in enumerate(_iter_key_ranges(counts_store, ranges)):
                rows = clamp_document_counts(
                    merge_rows([remove_seen_documents(stored_rows, removed_ids), *runs.read_range(range_index, ranges)])
                )
                rows = rows.take(should_retain(rows)) if evicts else rows
                if selector:
                    selector.add(rows, evicts)
                counts_store.write_rows(range_index, rows)
                row_count += len(rows)
                advance(1)
        counts_store.commit_generation(ranges, row_count, evicts)


def normalize_for_storage(text: str) -> str:
    """`normalize_text` text that every file can hold."""
    return normalize_text(text).encode("utf-8", "replace").decode()


def required_frequency(min_frequency: int, documents: int) -> int:
    """How often a term must occur at least: as often as is `min_frequency`, and in a large corpus once for each power of ten
    that it has, for the more text there is, the more words come together by chance.
    """
    return max(min_frequency, len(str(documents)) - 1)


def key_range_count(rows: int) -> int:
    """Into how many ranges so many rows are parted: a power of two."""
    return 1 << max(0, (rows // ROWS_PER_KEY_RANGE).bit_length())


def _iter_key_ranges(counts_store: CountsStore, ranges: int) -> Iterator[NgramRows]:
    """The remembered rows in so many ranges, as many as they are kept in or more."""
    stored_ranges = max(1, counts_store.key_range_count)
    for range_index in range(stored_ranges):
        rows = counts_store.read_rows(range_index)
        ends = range_ends(rows.keys, ranges)[ranges // stored_ranges * range_index :][: ranges // stored_ranges]
        yield from (rows.slice_view(start, stop) for start, stop in zip([0, *ends[:-1]], ends, strict=True))


def remove_seen_documents(rows: NgramRows, removed_ids: Int64Array) -> NgramRows:
    """Rows that were not seen in the documents `removed_ids` (numbers that rise)."""
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
    """Rows of which each was seen in one document at least, and in no more than it was seen times: a line counts for
    the first of the documents that have it, so that taking off another line of that one may take off one too many.
    """
    counts, documents = rows.counts.copy(), COLUMN_INDEX["documents"]
    counts[documents] = np.clip(counts[documents], 1, rows.frequency)
    return replace(rows, counts=counts)
