"""Feature matrix of table rows, the input of the classifier. `feature_names` defines the order of columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lexicon.arrays import Float32Array, Int32Array, Int64Array, UInt64Array
from lexicon.counting.ngram_table import COLUMN_INDEX, CountedCorpus, NgramRows
from lexicon.counting.occurrences import MAX_SPAN_WORDS, PROBABILITY_STEPS, SCORE_COLUMNS, STEPS_PER_LOG_ODDS
from lexicon.counting.tokens import hash_word
from lexicon.model.word_features import TAGS_BY_LANGUAGE, WORD_FEATURES, TermPriors

FeatureColumn = NDArray[np.floating]
GENERAL_FREQUENCY_COLUMN = WORD_FEATURES.index("general frequency")


@dataclass(frozen=True)
class WordFeatureArrays:
    """Features of each vocabulary word as arrays. The last row is all zeros and stands for no word."""

    language: str
    features: Float32Array
    tag_ids: Int64Array
    general_log_frequency: Float32Array
    character_counts: Float32Array
    log_probability: Float32Array
    smoothed_counts: Float32Array
    hashes: UInt64Array

    @classmethod
    def from_corpus(cls, corpus: CountedCorpus, language: str, *tables: Int32Array) -> "WordFeatureArrays":
        """Build the arrays from a corpus. Tags are computed only for words in `tables` (as `NgramRows.word_ids`)."""
        words = corpus.vocabulary.words
        used_word_ids = np.unique(np.concatenate([np.unique(table) for table in tables]))
        used_word_ids = used_word_ids[used_word_ids >= 0]
        tags = np.zeros(len(words) + 1, dtype=np.int64)
        tags[used_word_ids] = corpus.vocabulary.features.tag_ids(language, used_word_ids)
        numbers = corpus.vocabulary.features.features
        counts = corpus.word_occurrences + 1.0
        rarity = np.log(counts / (corpus.total_words + corpus.distinct_words))
        return cls(
            language,
            np.vstack([numbers, np.zeros((1, len(WORD_FEATURES)), np.float32)]),
            tags,
            np.append(numbers[:, GENERAL_FREQUENCY_COLUMN] * 5, 0).astype(np.float32),
            np.array([*(len(word.strip(" ")) for word in words), 0], dtype=np.float32),
            np.append(rarity, 0).astype(np.float32),
            np.append(counts, np.inf).astype(np.float32),
            np.vstack([corpus.vocabulary.hashes, np.zeros((1, 2), np.uint64)]),
        )


def compute_features(rows: NgramRows, word_features: WordFeatureArrays, total_words: int) -> Float32Array:
    """Return the features of rows, (rows, features) float32; see `feature_names`.

    `total_words` is the number of word occurrences in the corpus.
    """
    size = row_word_counts(rows)
    first, last = rows.word_ids[0], last_word_ids(rows, size)
    tags = np.eye(len(TAGS_BY_LANGUAGE[word_features.language]), dtype=np.float32)
    tags_by_word = np.vstack([tags[word_features.tag_ids[:-1]], np.zeros((1, len(tags)), np.float32)])
    parts = [
        row_features(rows, word_features, total_words, size),
        word_features.features[first].T,
        word_features.features[last].T,
        mean_word_features(rows, word_features, size),
        tags[word_features.tag_ids[first]].T,
        tags[word_features.tag_ids[last]].T,
        sum_over_words(tags_by_word, rows).T,
    ]
    return np.concatenate(parts, dtype=np.float32).T


@cache
def feature_names(language: str) -> tuple[str, ...]:
    """Return the names of the feature columns."""
    tags = TAGS_BY_LANGUAGE[language]
    return (
        "log frequency", "log documents", "burst", "independent",
        "entropy left", "entropy right", "most left", "most right", "break left", "break right",
        "characters", "words", "characters a word", "association", "share of rarest word",
        "general", "is general", "mean general", "most general", "least general", "specific",
        *(f"mean {name}" for name in SCORE_COLUMNS), "likeliest", "log expected", "log expected + 1",
        "pairs of terms", "weakest pair",  # up to here: `row_features`
        *(f"first: {name}" for name in WORD_FEATURES), *(f"last: {name}" for name in WORD_FEATURES),
        *(f"mean: {name}" for name in WORD_FEATURES),
        *(f"first tag {tag}" for tag in tags), *(f"last tag {tag}" for tag in tags),
        *(f"number of {tag}" for tag in tags),
    )  # fmt: skip


def row_word_counts(rows: NgramRows) -> Int64Array:
    """Return the number of words of each row."""
    sizes: Int64Array = np.count_nonzero(rows.word_ids >= 0, axis=0)
    return sizes


def last_word_ids(rows: NgramRows, size: Int64Array) -> Int32Array:
    """Return the id of the last word of each row."""
    last: Int32Array = rows.word_ids[size - 1, np.arange(len(rows))]
    return last


def row_features(rows: NgramRows, word_features: WordFeatureArrays, total_words: int, size: Int64Array) -> Float32Array:
    """Return the features that depend on the whole row, (columns, rows) float32."""
    frequency = rows.counts[COLUMN_INDEX["frequency"]].astype(np.float32)
    columns = [
        *_iter_count_columns(rows, frequency),
        *_iter_shape_columns(rows, word_features, frequency, size, total_words),
        *_iter_boundary_columns(rows, frequency),
        *_iter_pair_columns(rows, word_features, size),
    ]
    stacked_columns: Float32Array = np.stack(columns, dtype=np.float32)
    return stacked_columns


def mean_word_features(rows: NgramRows, word_features: WordFeatureArrays, size: Int64Array) -> Float32Array:
    """Return the mean of the word features over the words of each row, (WORD_FEATURES, rows) float32."""
    means: Float32Array = np.divide(sum_over_words(word_features.features, rows).T, size, dtype=np.float32)
    return means


def _iter_count_columns(rows: NgramRows, frequency: Float32Array) -> Iterator[FeatureColumn]:
    documents = rows.counts[COLUMN_INDEX["documents"]].astype(np.float32)
    yield np.log(frequency)
    yield np.log(documents)
    yield np.log(frequency / documents)
    sides = [
        rows.counts[COLUMN_INDEX[f"{side} 0"] : COLUMN_INDEX[f"{side} break"]].astype(np.float32)
        for side in ("left", "right")
    ]
    break_counts = [rows.counts[COLUMN_INDEX[f"{side} break"]].astype(np.float32) for side in ("left", "right")]
    max_neighbour_counts = [side.max(axis=0) for side in sides]
    yield np.log(frequency + 0.5 - np.maximum(*max_neighbour_counts))
    for side, end in zip(sides, break_counts, strict=True):
        share = side / frequency
        yield -(share * np.log(share + 1e-9)).sum(axis=0) + end / frequency * np.log(frequency)
    yield from (count / frequency for count in (*max_neighbour_counts, *break_counts))


def _iter_shape_columns(
    rows: NgramRows, word_features: WordFeatureArrays, frequency: Float32Array, size: Int64Array, total_words: int
) -> Iterator[FeatureColumn]:
    characters = sum_over_words(word_features.character_counts, rows)
    yield characters
    yield size.astype(np.float32)
    yield characters / size
    yield (np.log(frequency / total_words) - sum_over_words(word_features.log_probability, rows)) / size
    yield np.log(frequency / word_features.smoothed_counts[rows.word_ids].min(axis=0))
    general_frequency = np.where(size == 1, word_features.general_log_frequency[rows.word_ids[0]], 0)
    yield general_frequency
    yield (general_frequency > 0).astype(np.float32)
    yield sum_over_words(word_features.general_log_frequency, rows) / size
    word_frequencies = word_features.general_log_frequency[rows.word_ids]
    yield word_frequencies.max(axis=0)
    yield np.where(rows.word_ids < 0, np.inf, word_frequencies).min(axis=0)
    yield np.log(frequency / total_words * 1e6) - general_frequency


def _iter_boundary_columns(rows: NgramRows, frequency: Float32Array) -> Iterator[FeatureColumn]:
    for name in SCORE_COLUMNS:
        yield rows.sums[COLUMN_INDEX[name]] / (frequency * STEPS_PER_LOG_ODDS)
    yield rows.best_log_probability / np.float32(STEPS_PER_LOG_ODDS)
    expected = rows.sums[COLUMN_INDEX["expected"]] / PROBABILITY_STEPS
    yield np.log(expected + 1e-6)
    yield np.log1p(expected)


def _iter_pair_columns(rows: NgramRows, word_features: WordFeatureArrays, size: Int64Array) -> Iterator[FeatureColumn]:
    """Yield how common a row's adjacent words are inside public terms: mean and minimum over its pairs."""
    total, min_weight = np.zeros(len(rows), np.float32), np.full(len(rows), 9.0, np.float32)
    keys, weights = shipped_pair_weights()
    for word_index in range(1, MAX_SPAN_WORDS):
        longer_rows = np.flatnonzero(size > word_index)
        first, second = (
            word_features.hashes[rows.word_ids[side_index, longer_rows], 0]
            for side_index in (word_index - 1, word_index)
        )
        pair_keys = hash_pair(first, second)
        insertion_index = np.minimum(np.searchsorted(keys, pair_keys), len(keys) - 1)
        weight = np.where(keys[insertion_index] == pair_keys, weights[insertion_index], np.float32(0))
        total[longer_rows] += weight
        min_weight[longer_rows] = np.minimum(min_weight[longer_rows], weight)
    yield total / np.maximum(size - 1, 1)
    yield min_weight


def hash_pair(first: UInt64Array, second: UInt64Array) -> UInt64Array:
    """Return one hash for each pair of words."""
    return first * np.uint64(0x9E3779B97F4A7C15) + second


@cache
def shipped_pair_weights() -> tuple[UInt64Array, Float32Array]:
    """Return sorted keys of the word pairs in the shipped priors, and their weights."""
    priors = TermPriors.load_shipped().pair_counts
    pairs_with_counts = [(pair.split(" "), count) for pair, count in priors.items()]
    keys = hash_pair(
        *(np.array([hash_word(pair[side]) for pair, _ in pairs_with_counts], dtype=np.uint64) for side in (0, 1))
    )
    order = np.argsort(keys)
    return keys[order], np.log1p(np.array([count - 2 for _, count in pairs_with_counts], dtype=np.float32))[order]


def sum_over_words(values: Float32Array, rows: NgramRows) -> Float32Array:
    """Return the sum of `values` over the words of each row, (rows, ...).

    The last value stands for no word and must be 0.
    """
    result: Float32Array = values[rows.word_ids[0]].copy()
    for word_index in range(1, MAX_SPAN_WORDS):
        rows_with_word = np.flatnonzero(rows.word_ids[word_index] >= 0)
        result[rows_with_word] += values[rows.word_ids[word_index, rows_with_word]]
    return result
