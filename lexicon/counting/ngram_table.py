"""N-gram table: one row per distinct span, with columns that add up over texts, runs and machines.

key (hash)   word_ids    counts                          sums             best_log_probability   first_documents
8f3a…        PDC 钻头    frequency 12, documents 7, ...  begins 310, ...  -13                    3, 9, 14

`merge_rows` adds tables that were counted separately. Adding `negate_rows` subtracts counts.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lexicon.arrays import BoolArray, Int32Array, Int64Array, UInt64Array
from lexicon.counting.hash_index import HashIndex
from lexicon.counting.occurrences import (
    MAX_SPAN_WORDS,
    NEIGHBOUR_BUCKETS,
    SCORE_COLUMNS,
    Occurrences,
    to_fixed_probability,
)
from lexicon.counting.tokens import Tokens, Vocabulary

NEIGHBOUR_COLUMNS = tuple(
    f"{side} {kind}" for side in ("left", "right") for kind in (*range(NEIGHBOUR_BUCKETS), "break")
)
COUNT_COLUMNS = ("frequency", "documents", "in English", *NEIGHBOUR_COLUMNS)
SUM_COLUMNS = (*SCORE_COLUMNS, "expected")
COLUMN_INDEX = {name: index for names in (COUNT_COLUMNS, SUM_COLUMNS) for index, name in enumerate(names)}
MAX_SEEN_DOCUMENTS = 3  # ids of first documents stored per row
CAPACITIES = [2**power * 50_000 for power in range(20)]  # rows allocated; moving rows is slow, unused memory is free
MIN_LOG_PROBABILITY = -32768  # below every log-probability, in steps
NO_DOCUMENT = -1  # pads `first_documents`

RetentionTest = Callable[[UInt64Array, Int32Array, Int32Array], BoolArray]
"""(keys, frequency, best log-probability) of rows -> mask."""


@dataclass(frozen=True)
class NgramRows:
    """Rows of spans as columns.

    keys                  (n,) uint64                      hashes of the folded words
    counts                (COUNT_COLUMNS, n) int32
    sums                  (SUM_COLUMNS, n) int64           boundary scores summed over occurrences, in steps
    word_ids              (MAX_SPAN_WORDS, n) int32        ids in a vocabulary, padded with -1
    best_log_probability  (n,) int32                       highest log-probability of an occurrence, in steps
    first_documents       (MAX_SEEN_DOCUMENTS, n) int64    ids of the first documents, padded with NO_DOCUMENT
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
        """Number of occurrences of each span."""
        frequency: Int32Array = self.counts[COLUMN_INDEX["frequency"]]
        return frequency

    @property
    def is_english(self) -> BoolArray:
        """Mask of the spans that occur mostly in English lines."""
        is_mostly_english: BoolArray = self.counts[COLUMN_INDEX["in English"]] * 2 > self.frequency
        return is_mostly_english

    def take(self, indices: Int64Array | BoolArray) -> "NgramRows":
        """Return a copy of the rows at the given indices or mask."""
        if indices.dtype == np.bool_:
            indices = np.flatnonzero(indices)
        return NgramRows(*(np.take(column, indices, axis=-1) for column in vars(self).values()))

    def slice_view(self, start: int, stop: int) -> "NgramRows":
        """Return the rows from `start` to before `stop` as a view."""
        return NgramRows(*(column[..., start:stop] for column in vars(self).values()))


@dataclass(frozen=True)
class CountedCorpus:
    """Word statistics of a counted corpus, at least for the words of some rows.

    Attributes:
        vocabulary: The vocabulary that the word ids of rows refer to.
        word_occurrences: Occurrences of each word of the vocabulary.
        total_words: Word occurrences in the corpus.
        distinct_words: Distinct words in the corpus.
        usual_spellings: Spelling of each word of the vocabulary, see `usual_spellings`.
    """

    vocabulary: Vocabulary
    word_occurrences: Int64Array
    total_words: int
    distinct_words: int
    usual_spellings: Sequence[str]


def usual_spellings(words: Sequence[str], occurrences: Iterable[tuple[str, int]]) -> list[str]:
    """Return the most frequent spelling of each word; on a tie the lower-case spelling.

    Single letters keep their spelling: `C/S`.

    Args:
        words: The words.
        occurrences: (word, occurrences) of all words that may be spellings of those with case.
    """
    spellings: defaultdict[str, tuple[int, str]] = defaultdict(lambda: (0, ""))
    for word, count in occurrences:
        spellings[word.lower()] = max(spellings[word.lower()], (count, word))
    return [word if is_single_letter(word) else spellings[word.lower()][1] or word for word in words]


class NgramTable:
    """Counts spans chunk by chunk. Results depend on the ids of documents, but not on the order of counting.

    `word_occurrences` are the occurrences of each word of the vocabulary.
    """

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._vocabulary = vocabulary or Vocabulary()
        self._word_occurrences = np.zeros(0, dtype=np.int64)
        self._key_index = HashIndex()
        self._columns = allocate_rows(0)  # grows in CAPACITIES steps; `keys` is unused, they are in `_key_index`

    def __len__(self) -> int:
        return len(self._key_index)

    @property
    def vocabulary(self) -> Vocabulary:
        """Vocabulary that the word ids of the rows refer to."""
        return self._vocabulary

    def add(self, parts: Sequence[tuple[Tokens, Occurrences]]) -> None:
        """Count the spans of tokens, which use this table's vocabulary. All parts of a document must be in one call."""
        spans = []
        token_offset = 0
        for tokens, occurrences in parts:
            occurrences_by_word = np.bincount(tokens.word_ids, minlength=len(self._word_occurrences))
            occurrences_by_word[: len(self._word_occurrences)] += self._word_occurrences
            self._word_occurrences = occurrences_by_word
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

    def rows(self) -> NgramRows:
        """Return all rows, ordered by key."""
        order = np.argsort(self._key_index.keys)
        return replace(self._columns.take(order), keys=self._key_index.keys[order])

    @property
    def word_occurrences(self) -> Int64Array:
        """Occurrences of each word of the vocabulary."""
        missing = len(self.vocabulary) - len(self._word_occurrences)
        return np.pad(self._word_occurrences, (0, max(0, missing)))

    def _append_rows(self, words: Int32Array) -> None:
        """Append rows for the newest keys. `words` are their word ids."""
        if len(self) > len(self._columns):
            old_columns, self._columns = self._columns, allocate_rows(next(n for n in CAPACITIES if n >= len(self)))
            for old, new in zip(vars(old_columns).values(), vars(self._columns).values(), strict=True):
                new[..., : len(old_columns)] = old
        new_rows = slice(len(self) - words.shape[1], len(self))
        self._columns.counts[:, new_rows] = self._columns.sums[:, new_rows] = 0
        self._columns.word_ids[:, new_rows] = words
        self._columns.best_log_probability[new_rows] = MIN_LOG_PROBABILITY
        self._columns.first_documents[:, new_rows] = NO_DOCUMENT

    def _add_occurrences(self, row_ids: Int32Array, occurrences: Occurrences, language: str) -> None:
        counts, capacity = self._columns.counts, len(self._columns)
        increments = np.ones(len(row_ids), dtype=np.int32)  # `add.at` with a scalar is 20 times slower
        np.add.at(counts[COLUMN_INDEX["frequency"]], row_ids, increments)
        if language == "en":
            np.add.at(counts[COLUMN_INDEX["in English"]], row_ids, increments)
        for name, kinds in zip(("left 0", "right 0"), occurrences.neighbour_buckets, strict=True):
            np.add.at(counts.reshape(-1), (kinds + COLUMN_INDEX[name]) * capacity + row_ids, increments)
        for name, values in zip(SCORE_COLUMNS, occurrences.scores, strict=True):
            np.add.at(self._columns.sums[COLUMN_INDEX[name]], row_ids, values.astype(np.int64))
        log_probability = occurrences.scores[SCORE_COLUMNS.index("likely")]
        np.add.at(self._columns.sums[COLUMN_INDEX["expected"]], row_ids, to_fixed_probability(log_probability))
        np.maximum.at(self._columns.best_log_probability, row_ids, log_probability)

    def _add_documents(
        self, ids: Int32Array, row_ids: Int32Array, documents: Int64Array, starts: Int32Array, sizes: Int32Array
    ) -> None:
        """Count the documents of each row and store the first ids. A row has the word ids of its first document."""
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


def is_single_letter(word: str) -> bool:
    """Return True if a word is one letter, with or without a leading space."""
    return len(word.lstrip(" ")) == 1


def negate_rows(rows: NgramRows) -> NgramRows:
    """Return rows that subtract the given rows when merged. They have no likelihood and no documents."""
    likeliest = np.full_like(rows.best_log_probability, MIN_LOG_PROBABILITY)
    seen_in = np.full_like(rows.first_documents, NO_DOCUMENT)
    return replace(rows, counts=-rows.counts, sums=-rows.sums, best_log_probability=likeliest, first_documents=seen_in)


def merge_rows(parts: Sequence[NgramRows], should_retain: RetentionTest | None = None) -> NgramRows:
    """Return the sum of the rows, ordered by key. Rows with a frequency of 0 or less are dropped.

    A row has the word ids of the first part that contains it.

    Args:
        parts: the rows.
        should_retain: returns a mask of the sums to keep. The others are never computed, which saves most of the time.
    """
    rows = concatenate_rows(parts)
    order = np.argsort(rows.keys, kind="stable")
    first = np.flatnonzero(is_group_start(rows.keys[order]))
    size = np.diff(np.append(first, len(order)))
    frequency = np.add.reduceat(rows.frequency[order], first)
    is_retained = frequency > 0
    if should_retain:
        best_log_probability = np.maximum.reduceat(rows.best_log_probability[order], first)
        is_retained &= should_retain(rows.keys[order[first]], frequency, best_log_probability)
    order, size = order[np.repeat(is_retained, size)], size[is_retained]
    total = rows.take(order[np.cumsum(size) - size])
    shared_rows = np.flatnonzero(size > 1)
    if len(shared_rows):
        duplicate_rows = rows.take(order[np.repeat(size > 1, size)])
        group_starts = np.concatenate([[0], np.cumsum(size[shared_rows])[:-1]])
        total.counts[:, shared_rows] = np.add.reduceat(duplicate_rows.counts, group_starts, axis=1)
        total.sums[:, shared_rows] = np.add.reduceat(duplicate_rows.sums, group_starts, axis=1)
        total.best_log_probability[shared_rows] = np.maximum.reduceat(duplicate_rows.best_log_probability, group_starts)
        total.first_documents[:, shared_rows] = _earliest_of_groups(duplicate_rows.first_documents, group_starts)
    return total


def _earliest_of_groups(seen_in: Int64Array, group_starts: Int64Array) -> Int64Array:
    """Return the lowest distinct document ids of each group of columns, (MAX_SEEN_DOCUMENTS, groups) int64.

    `group_starts` are the first columns of the groups.
    """
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
    """Allocate memory for rows. It is not initialized, so it costs nothing until it is used."""
    return NgramRows(
        np.empty(capacity, np.uint64),
        np.empty((len(COUNT_COLUMNS), capacity), np.int32),
        np.empty((len(SUM_COLUMNS), capacity), np.int64),
        np.empty((MAX_SPAN_WORDS, capacity), np.int32),
        np.empty(capacity, np.int32),
        np.empty((MAX_SEEN_DOCUMENTS, capacity), np.int64),
    )


def concatenate_rows(parts: Sequence[NgramRows]) -> NgramRows:
    """Return the rows of several tables, one after another."""
    columns = zip(*(vars(part).values() for part in (allocate_rows(0), *parts)), strict=True)
    return NgramRows(*(np.concatenate(column, axis=-1) for column in columns))


def span_word_ids(ids: Int32Array, starts: Int32Array, sizes: Int32Array) -> Int32Array:
    """Return the word ids of spans of `ids`, (MAX_SPAN_WORDS, spans) int32, padded with -1."""
    words = np.full((MAX_SPAN_WORDS, len(starts)), -1, dtype=np.int32)
    for word_index in range(MAX_SPAN_WORDS):
        longer_spans = np.flatnonzero(sizes > word_index)
        words[word_index, longer_spans] = ids[starts[longer_spans] + word_index]
    return words


def first_documents_by_group(documents: Int64Array, group_starts: Int64Array) -> Int64Array:
    """Return the first document ids of each group, (MAX_SEEN_DOCUMENTS, groups) int64, padded with NO_DOCUMENT.

    `group_starts` are the indices where the groups begin.
    """
    sizes = np.diff(np.append(group_starts, len(documents)))
    documents_by_group = np.full((MAX_SEEN_DOCUMENTS, len(group_starts)), NO_DOCUMENT, dtype=np.int64)
    for rank in range(MAX_SEEN_DOCUMENTS):
        longer_groups = np.flatnonzero(sizes > rank)
        documents_by_group[rank, longer_groups] = documents[group_starts[longer_groups] + rank]
    return documents_by_group


def stable_order(document_ids: Int32Array) -> Int64Array:
    """Return the order that sorts `document_ids` stably.

    Sorting by the lower, then the upper 16 bits uses numpy's fast radix sort.
    """
    order = np.argsort(document_ids.astype(np.uint16), kind="stable")
    return order[np.argsort((document_ids >> 16).astype(np.uint16)[order], kind="stable")]


def is_group_start(values: NDArray[np.integer] | UInt64Array) -> BoolArray:
    """Return a mask that is True where a value differs from the previous value, and for the first value."""
    return np.concatenate([np.ones(min(1, len(values)), np.bool_), values[1:] != values[:-1]])


def merge_earliest(first: Int64Array, second: Int64Array) -> Int64Array:
    """Return the lowest ids of both arrays, (MAX_SEEN_DOCUMENTS, n) int64, padded with NO_DOCUMENT.

    The two arrays must have no id in common.
    """
    combined_ids = np.concatenate([first, second]).T.view(np.uint64)  # -1 becomes the largest number
    earliest_ids: Int64Array = np.ascontiguousarray(np.sort(combined_ids, axis=1)[:, :MAX_SEEN_DOCUMENTS].T).view(
        np.int64
    )
    return earliest_ids
