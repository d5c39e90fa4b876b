"""The table of the spans counted so far: one row a distinct span, columns that add up over texts, days and machines.

key (hash)   words (numbers)    COUNTS                          SUMS             likeliest   seen_in
8f3a…        PDC 钻头           frequency 12, documents 7, ...  begins 310, ...  -13         3, 9, 14

What was counted apart is added by `merge_rows`; what is counted no more is taken off by adding `negate_rows` rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.hash_index import HashIndex, UInt64Array
from lexicon.counting.hash_index import Int32Array as Numbers
from lexicon.counting.hash_index import Int64Array as Places
from lexicon.counting.occurrences import (
    MAX_SPAN_WORDS,
    NEIGHBOUR_BUCKETS,
    SCORE_COLUMNS,
    Occurrences,
    to_fixed_probability,
)
from lexicon.counting.tokens import Tokens, Vocabulary

Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]

NEIGHBOUR_COLUMNS = tuple(
    f"{side} {kind}" for side in ("left", "right") for kind in (*range(NEIGHBOUR_BUCKETS), "break")
)
COUNT_COLUMNS = ("frequency", "documents", "in English", *NEIGHBOUR_COLUMNS)
SUM_COLUMNS = (*SCORE_COLUMNS, "expected")
COLUMN_INDEX = {name: index for names in (COUNT_COLUMNS, SUM_COLUMNS) for index, name in enumerate(names)}
MAX_SEEN_DOCUMENTS = 3  # documents remembered for each row
CAPACITIES = [
    2**power * 50_000 for power in range(20)
]  # rows that there is room for: to move them is dear, room is not
MIN_LOG_PROBABILITY = -32768  # less likely than anything
NO_DOCUMENT = -1  # pads `seen_in`


@dataclass(frozen=True)
class NgramRows:
    """Some rows.

    `keys` (n) uint64: hashes of the folded words. `counts` (COUNTS, n) int32. `sums` (SUMS, n) int64: what was judged
    of the occurrences, in steps. `word_ids` (MAX_WORDS, n) int32: numbers in a vocabulary, padded with -1. `best_log_probability`
    (n) int32: the best log-probability seen, in steps. `first_documents` (SEEN, n) int64: the first documents, padded with
    NOWHERE.
    """

    keys: UInt64Array
    counts: Int32Array
    sums: Int64Array
    word_ids: Int32Array
    best_log_probability: Int32Array
    first_documents: Int64Array

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def frequency(self) -> Int32Array:
        """How often each span was seen."""
        frequency: Int32Array = self.counts[COLUMN_INDEX["frequency"]]
        return frequency

    @property
    def is_english(self) -> NDArray[np.bool_]:
        """Which spans stand in English lines for the most part."""
        is_mostly_english: NDArray[np.bool_] = self.counts[COLUMN_INDEX["in English"]] * 2 > self.frequency
        return is_mostly_english

    def take(self, indices: Places | NDArray[np.bool_]) -> "NgramRows":
        """Some of the rows."""
        if indices.dtype == np.bool_:
            indices = np.flatnonzero(indices)
        return NgramRows(*(np.take(column, indices, axis=-1) for column in vars(self).values()))

    def slice_view(self, start: int, stop: int) -> "NgramRows":
        """The rows from `start` to before `stop`, as a view."""
        return NgramRows(*(column[..., start:stop] for column in vars(self).values()))


class CountedCorpus(Protocol):
    """A corpus that was counted, as far as the words of some of its rows go."""

    @property
    def vocabulary(self) -> Vocabulary:
        """Words, by whose numbers rows name them."""

    @property
    def word_occurrences(self) -> Int64Array:
        """How often each of them was written."""

    @property
    def total_words(self) -> int:
        """How many words the corpus has."""

    @property
    def distinct_words(self) -> int:
        """How many different ones."""

    @property
    def usual_spellings(self) -> Sequence[str]:
        """Each word of the vocabulary in the spelling most often seen; of two as frequent, that in small letters. A
        letter is as it is: `C/S`."""


class NgramTable:
    """Counts spans chunk by chunk. The order in which documents are counted does not matter, only their numbers.

    `document_count` is the number of documents counted, `word_occurrences` how often each word of the vocabulary was written.
    """

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._vocabulary = vocabulary or Vocabulary()
        self.document_count = 0
        self._word_occurrences = np.zeros(0, dtype=np.int64)
        self._key_index = HashIndex()
        self._columns = allocate_rows(0)  # with room for more; `keys` is not used, KeyNumbers has them

    def __len__(self) -> int:
        return len(self._key_index)

    @property
    def vocabulary(self) -> Vocabulary:
        """All words, numbered as they came."""
        return self._vocabulary

    def reset_counts(self) -> None:
        """Count from nothing again; the words and the memory stay."""
        self.document_count = 0
        self._word_occurrences = np.zeros(0, dtype=np.int64)
        self._key_index = HashIndex()

    def add(self, parts: Sequence[tuple[Tokens, Occurrences]]) -> None:
        """Count spans in tokens, which are numbered by this table's vocabulary; all parts of a document at once."""
        spans = []
        token_offset = 0
        for tokens, occurrences in parts:
            self._add_word_occurrences(np.bincount(tokens.word_ids))
            row_ids, new_positions = self._key_index.get_or_add(occurrences.keys)
            self._append_rows(
                span_word_ids(tokens.word_ids, occurrences.starts[new_positions], occurrences.sizes[new_positions])
            )
            self._add_occurrences(row_ids, occurrences, tokens.language)
            spans.append(
                (row_ids, tokens.document_ids[occurrences.starts], occurrences.starts + token_offset, occurrences.sizes)
            )
            token_offset += len(tokens.word_ids)
        if spans:
            ids = np.concatenate([tokens.word_ids for tokens, _ in parts])
            self._add_documents(ids, *map(np.concatenate, zip(*spans, strict=True)))

    def rows(self, row_ids: Places | None = None) -> NgramRows:
        """All rows, or those with the numbers `row_ids`, in the order of their keys."""
        keys = self._key_index.keys if row_ids is None else self._key_index.keys[row_ids]
        order = np.argsort(keys)
        sorted_row_ids = order if row_ids is None else row_ids[order]
        return replace(self._columns.take(sorted_row_ids), keys=keys[order])

    @property
    def word_occurrences(self) -> Int64Array:
        """How often each word of the vocabulary was written."""
        missing = len(self.vocabulary) - len(self._word_occurrences)
        return np.pad(self._word_occurrences, (0, max(0, missing)))

    @property
    def total_words(self) -> int:
        """How many words were read in all."""
        return int(self._word_occurrences.sum())

    @property
    def distinct_words(self) -> int:
        """How many different ones."""
        return len(self.vocabulary)

    @property
    def usual_spellings(self) -> list[str]:
        """See `CountedCorpus`."""
        hashes, words = self.vocabulary.hashes[:, 1], self.vocabulary.words
        alphabetical_rank = np.empty(len(words), dtype=np.int64)
        alphabetical_rank[sorted(range(len(words)), key=words.__getitem__, reverse=True)] = np.arange(len(words))
        order = np.lexsort((alphabetical_rank, -self.word_occurrences, hashes))
        group_starts = np.flatnonzero(is_group_start(hashes[order]))
        best = np.empty(len(hashes), dtype=np.int64)
        best[order] = order[np.repeat(group_starts, np.diff(np.append(group_starts, len(order))))]
        spelling = [words[index] for index in best.tolist()]
        return [
            original if is_single_letter(original) else word for original, word in zip(words, spelling, strict=True)
        ]

    def _append_rows(self, words: Int32Array) -> None:
        """Make rows for the newest keys, whose words these are."""
        if len(self) > len(self._columns):
            self._columns = grow_rows(self._columns, next(room for room in CAPACITIES if room >= len(self)))
        new_rows = slice(len(self) - words.shape[1], len(self))
        self._columns.counts[:, new_rows] = self._columns.sums[:, new_rows] = 0
        self._columns.word_ids[:, new_rows] = words
        self._columns.best_log_probability[new_rows] = MIN_LOG_PROBABILITY
        self._columns.first_documents[:, new_rows] = NO_DOCUMENT

    def _add_occurrences(self, row_ids: Numbers, occurrences: Occurrences, language: str) -> None:
        counts, capacity = self._columns.counts, len(self._columns)
        ones = np.ones(len(row_ids), dtype=np.int32)  # an array: with a number `add.at` is twenty times as slow
        np.add.at(counts[COLUMN_INDEX["frequency"]], row_ids, ones)
        if language == "en":
            np.add.at(counts[COLUMN_INDEX["in English"]], row_ids, ones)
        for name, kinds in zip(("left 0", "right 0"), occurrences.neighbour_buckets, strict=True):
            np.add.at(counts.reshape(-1), (kinds + COLUMN_INDEX[name]) * capacity + row_ids, ones)
        for name, values in zip(SCORE_COLUMNS, occurrences.scores, strict=True):
            np.add.at(self._columns.sums[COLUMN_INDEX[name]], row_ids, values.astype(np.int64))
        log_probability = occurrences.scores[SCORE_COLUMNS.index("likely")]
        np.add.at(self._columns.sums[COLUMN_INDEX["expected"]], row_ids, to_fixed_probability(log_probability))
        np.maximum.at(self._columns.best_log_probability, row_ids, log_probability)

    def _add_documents(
        self, ids: Int32Array, row_ids: Numbers, documents: Int64Array, starts: Int32Array, sizes: Int32Array
    ) -> None:
        """Count the documents of each row, and remember the first ones; a row has the words of the very first."""
        order = np.argsort(documents, kind="stable")
        order = order[stable_order(row_ids[order])]
        rows, documents = row_ids[order], documents[order]
        unique_pairs = np.flatnonzero(is_group_start(rows) | is_group_start(documents))
        rows, documents = rows[unique_pairs], documents[unique_pairs]
        np.add.at(self._columns.counts[COLUMN_INDEX["documents"]], rows, np.ones(len(rows), dtype=np.int32))
        first = np.flatnonzero(is_group_start(rows))
        seen_in = first_documents_by_group(documents, first)
        stored_documents = np.take(self._columns.first_documents, rows[first], axis=1)
        self._columns.first_documents[:, rows[first]] = merge_earliest(stored_documents, seen_in)
        is_earlier = np.flatnonzero(stored_documents[0].view(np.uint64) > seen_in[0].view(np.uint64))
        span_indices = order[unique_pairs[first[is_earlier]]]
        self._columns.word_ids[:, rows[first[is_earlier]]] = span_word_ids(
            ids, starts[span_indices], sizes[span_indices]
        )

    def _add_word_occurrences(self, added_counts: Int64Array) -> None:
        size = max(len(added_counts), len(self._word_occurrences))
        self._word_occurrences = np.pad(self._word_occurrences, (0, size - len(self._word_occurrences))) + np.pad(
            added_counts, (0, size - len(added_counts))
        )


def is_single_letter(word: str) -> bool:
    """Whether a word is one letter, with or without a blank before it."""
    return len(word.lstrip(" ")) == 1


def negate_rows(rows: NgramRows) -> NgramRows:
    """What takes these rows off again when it is added: nothing of it is likely, and it was seen nowhere."""
    likeliest, seen_in = (
        np.full_like(rows.best_log_probability, MIN_LOG_PROBABILITY),
        np.full_like(rows.first_documents, NO_DOCUMENT),
    )
    return replace(rows, counts=-rows.counts, sums=-rows.sums, best_log_probability=likeliest, first_documents=seen_in)


def merge_rows(parts: Sequence[NgramRows]) -> NgramRows:
    """The sum of some rows, in the order of their keys. A row has the words of the first part that has it; what was
    counted no more often than it was taken off is gone."""
    rows = concatenate_rows(parts)
    order = np.argsort(rows.keys, kind="stable")
    first = np.flatnonzero(is_group_start(rows.keys[order]))
    total = rows.take(order[first])
    size = np.diff(np.append(first, len(order)))
    shared_rows = np.flatnonzero(size > 1)
    if len(shared_rows):
        duplicate_rows = rows.take(order[np.repeat(size > 1, size)])
        group_starts = np.concatenate([[0], np.cumsum(size[shared_rows])[:-1]])
        total.counts[:, shared_rows] = np.add.reduceat(duplicate_rows.counts, group_starts, axis=1)
        total.sums[:, shared_rows] = np.add.reduceat(duplicate_rows.sums, group_starts, axis=1)
        total.best_log_probability[shared_rows] = np.maximum.reduceat(duplicate_rows.best_log_probability, group_starts)
        total.first_documents[:, shared_rows] = _earliest_of_groups(duplicate_rows.first_documents, group_starts)
    is_empty = total.frequency <= 0
    return total.take(~is_empty) if is_empty.any() else total


def _earliest_of_groups(seen_in: Int64Array, group_starts: Places) -> Int64Array:
    """(SEEN, groups): the lowest SEEN numbers of each group of columns; `group_starts` are the columns that begin one."""
    group = np.repeat(np.arange(len(group_starts)), np.diff(np.append(group_starts, seen_in.shape[1])))
    group, document_ids = np.tile(group, MAX_SEEN_DOCUMENTS), seen_in.ravel()
    has_document = document_ids != NO_DOCUMENT
    group, document_ids = group[has_document], document_ids[has_document]
    order = np.lexsort((document_ids, group))
    group, document_ids = group[order], document_ids[order]
    is_new = is_group_start(group) | is_group_start(document_ids)
    group, document_ids = group[is_new], document_ids[is_new]
    group_begins = np.flatnonzero(is_group_start(group))
    earliest = np.full((MAX_SEEN_DOCUMENTS, len(group_starts)), NO_DOCUMENT, dtype=np.int64)
    earliest[:, group[group_begins]] = first_documents_by_group(document_ids, group_begins)
    return earliest


def allocate_rows(capacity: int) -> NgramRows:
    """Memory for so many rows. Nothing is written to it, so it costs nothing until it is used."""
    return NgramRows(
        np.empty(capacity, np.uint64),
        np.empty((len(COUNT_COLUMNS), capacity), np.int32),
        np.empty((len(SUM_COLUMNS), capacity), np.int64),
        np.empty((MAX_SPAN_WORDS, capacity), np.int32),
        np.empty(capacity, np.int32),
        np.empty((MAX_SEEN_DOCUMENTS, capacity), np.int64),
    )


def grow_rows(rows: NgramRows, capacity: int) -> NgramRows:
    """`rows`, and room for more after them."""
    grown_rows = allocate_rows(capacity)
    for old, new in zip(vars(rows).values(), vars(grown_rows).values(), strict=True):
        new[..., : len(rows)] = old
    return grown_rows


def concatenate_rows(parts: Sequence[NgramRows]) -> NgramRows:
    """All rows of some tables, one after another."""
    columns = zip(*(vars(part).values() for part in (allocate_rows(0), *parts)), strict=True)
    return NgramRows(*(np.concatenate(column, axis=-1) for column in columns))


def span_word_ids(ids: Int32Array, starts: Int32Array, sizes: Int32Array) -> Int32Array:
    """(MAX_WORDS, spans): the words of some spans of `ids`, padded with -1."""
    words = np.full((MAX_SPAN_WORDS, len(starts)), -1, dtype=np.int32)
    for word_index in range(MAX_SPAN_WORDS):
        longer_spans = np.flatnonzero(sizes > word_index)
        words[word_index, longer_spans] = ids[starts[longer_spans] + word_index]
    return words


def first_documents_by_group(documents: Int64Array, group_starts: Places) -> Int64Array:
    """(SEEN, groups): the first few `documents` of each group, where `group_starts` is the place at which it begins."""
    sizes = np.diff(np.append(group_starts, len(documents)))
    documents_by_group = np.full((MAX_SEEN_DOCUMENTS, len(group_starts)), NO_DOCUMENT, dtype=np.int64)
    for rank in range(MAX_SEEN_DOCUMENTS):
        longer_groups = np.flatnonzero(sizes > rank)
        documents_by_group[rank, longer_groups] = documents[group_starts[longer_groups] + rank]
    return documents_by_group


def stable_order(document_ids: Numbers) -> Places:
    """What sorts `document_ids`, equal ones in their order: by their lower and then their upper 16 bits, which is quick."""
    order = np.argsort(document_ids.astype(np.uint16), kind="stable")
    return order[np.argsort((document_ids >> 16).astype(np.uint16)[order], kind="stable")]


def is_group_start(values: NDArray[np.integer] | UInt64Array) -> NDArray[np.bool_]:
    """Where a value is not that before it; the first is not."""
    return np.concatenate([np.ones(min(1, len(values)), np.bool_), values[1:] != values[:-1]])


def merge_earliest(first: Int64Array, second: Int64Array) -> Int64Array:
    """(SEEN, n): the lowest SEEN numbers of both, which have none in common; NOWHERE for none."""
    combined_ids = np.concatenate([first, second]).T.view(np.uint64)  # in which -1 is the greatest number
    earliest_ids: Int64Array = np.ascontiguousarray(np.sort(combined_ids, axis=1)[:, :MAX_SEEN_DOCUMENTS].T).view(
        np.int64
    )
    return earliest_ids
