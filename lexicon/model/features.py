"""The numbers by which a row of the table is judged a term: one column each, in the order of `feature_names`."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.hashing import Hashes, Places
from lexicon.counting.ngrams import AT, Counted, Ints, Rows
from lexicon.counting.occurrences import JUDGED, MAX_WORDS, PROBABILITY_STEP, STEP
from lexicon.counting.tokens import word_hash
from lexicon.model.words import NUMBERS, TAGS, TermPriors

Floats = NDArray[np.float32]
Column = NDArray[np.floating]
GENERAL = NUMBERS.index("general frequency")


@dataclass(frozen=True)
class WordFacts:
    """What the features need to know of each word of the vocabulary; one more row at the end, of zeros, for no word."""

    language: str
    numbers: Floats
    tags: NDArray[np.int64]
    general: Floats
    lengths: Floats
    rarity: Floats
    counts: Floats
    hashes: Hashes

    @classmethod
    def of(cls, counted: Counted, language: str, *tables: Ints) -> "WordFacts":
        """Those of the words of a corpus, as words of `language` as far as some tables (`Rows.words`) have them."""
        words = counted.vocabulary.words
        used = np.unique(np.concatenate([np.unique(table) for table in tables]))
        used = used[used >= 0]
        tags = np.zeros(len(words) + 1, dtype=np.int64)
        tags[used] = counted.vocabulary.about.tags(language, used)
        numbers = counted.vocabulary.about.numbers
        counts = counted.spellings + 1.0
        rarity = np.log(counts / (counted.words_read + counted.words_known))
        return cls(
            language,
            np.vstack([numbers, np.zeros((1, len(NUMBERS)), np.float32)]),
            tags,
            np.append(numbers[:, GENERAL] * 5, 0).astype(np.float32),
            np.array([*(len(word.strip(" ")) for word in words), 0], dtype=np.float32),
            np.append(rarity, 0).astype(np.float32),
            np.append(counts, np.inf).astype(np.float32),
            np.vstack([counted.vocabulary.hashes, np.zeros((1, 2), np.uint64)]),
        )


def features(rows: Rows, facts: WordFacts, words_read: int) -> Floats:
    """(rows, features): see `feature_names`. `words_read` is the size of the corpus."""
    size = sizes_of(rows)
    first, last = rows.words[0], last_words(rows, size)
    tags = np.eye(len(TAGS[facts.language]), dtype=np.float32)
    of_words = np.vstack([tags[facts.tags[:-1]], np.zeros((1, len(tags)), np.float32)])
    parts = [
        row_features(rows, facts, words_read, size),
        facts.numbers[first].T,
        facts.numbers[last].T,
        mean_numbers(rows, facts, size),
        tags[facts.tags[first]].T,
        tags[facts.tags[last]].T,
        over_words(of_words, rows).T,
    ]
    return np.concatenate(parts, dtype=np.float32).T


@cache
def feature_names(language: str) -> tuple[str, ...]:
    """The names of the columns."""
    tags = TAGS[language]
    return (
        "log frequency", "log documents", "burst", "independent",
        "entropy left", "entropy right", "most left", "most right", "break left", "break right",
        "characters", "words", "characters a word", "association", "share of rarest word",
        "general", "is general", "mean general", "most general", "least general", "specific",
        *(f"mean {name}" for name in JUDGED), "likeliest", "log expected", "log expected + 1",
        "pairs of terms", "weakest pair",  # up to here: `row_features`
        *(f"first: {name}" for name in NUMBERS), *(f"last: {name}" for name in NUMBERS),
        *(f"mean: {name}" for name in NUMBERS),
        *(f"first tag {tag}" for tag in tags), *(f"last tag {tag}" for tag in tags),
        *(f"number of {tag}" for tag in tags),
    )  # fmt: skip


def sizes_of(rows: Rows) -> Places:
    """The number of words of each row."""
    sizes: Places = np.count_nonzero(rows.words >= 0, axis=0)
    return sizes


def last_words(rows: Rows, size: Places) -> NDArray[np.int32]:
    """The number of the last word of each row."""
    last: NDArray[np.int32] = rows.words[size - 1, np.arange(len(rows))]
    return last


def row_features(rows: Rows, facts: WordFacts, words_read: int, size: Places) -> Floats:
    """The columns before those of words and tags, as (columns, rows)."""
    frequency = rows.counts[AT["frequency"]].astype(np.float32)
    columns = [
        *_counts(rows, frequency),
        *_shape(rows, facts, frequency, size, words_read),
        *_judgements(rows, frequency),
        *_pairs(rows, facts, size),
    ]
    stacked: Floats = np.stack(columns, dtype=np.float32)
    return stacked


def mean_numbers(rows: Rows, facts: WordFacts, size: Places) -> Floats:
    """(NUMBERS, rows): the mean of each number over the words of a row."""
    means: Floats = np.divide(over_words(facts.numbers, rows).T, size, dtype=np.float32)
    return means


def _counts(rows: Rows, frequency: Floats) -> Iterator[Column]:
    documents = rows.counts[AT["documents"]].astype(np.float32)
    yield np.log(frequency)
    yield np.log(documents)
    yield np.log(frequency / documents)
    sides = [rows.counts[AT[f"{side} 0"] : AT[f"{side} break"]].astype(np.float32) for side in ("left", "right")]
    ends = [rows.counts[AT[f"{side} break"]].astype(np.float32) for side in ("left", "right")]
    most = [side.max(axis=0) for side in sides]
    yield np.log(frequency + 0.5 - np.maximum(*most))
    for side, end in zip(sides, ends, strict=True):
        share = side / frequency
        yield -(share * np.log(share + 1e-9)).sum(axis=0) + end / frequency * np.log(frequency)
    yield from (one / frequency for one in (*most, *ends))


def _shape(rows: Rows, facts: WordFacts, frequency: Floats, size: Places, words_read: int) -> Iterator[Column]:
    characters = over_words(facts.lengths, rows)
    yield characters
    yield size.astype(np.float32)
    yield characters / size
    yield (np.log(frequency / words_read) - over_words(facts.rarity, rows)) / size
    yield np.log(frequency / facts.counts[rows.words].min(axis=0))
    whole = np.where(size == 1, facts.general[rows.words[0]], 0)
    yield whole
    yield (whole > 0).astype(np.float32)
    yield over_words(facts.general, rows) / size
    each = facts.general[rows.words]
    yield each.max(axis=0)
    yield np.where(rows.words < 0, np.inf, each).min(axis=0)
    yield np.log(frequency / words_read * 1e6) - whole


def _judgements(rows: Rows, frequency: Floats) -> Iterator[Column]:
    for name in JUDGED:
        yield rows.sums[AT[name]] / (frequency * STEP)
    yield rows.likeliest / np.float32(STEP)
    expected = rows.sums[AT["expected"]] / PROBABILITY_STEP
    yield np.log(expected + 1e-6)
    yield np.log1p(expected)


def _pairs(rows: Rows, facts: WordFacts, size: Places) -> Iterator[Column]:
    """How common the neighbours inside are as neighbours inside public terms: on average, and the least common ones."""
    total, least = np.zeros(len(rows), np.float32), np.full(len(rows), 9.0, np.float32)
    keys, weights = pair_weights()
    for place in range(1, MAX_WORDS):
        here = np.flatnonzero(size > place)
        left, right = (facts.hashes[rows.words[at, here], 0] for at in (place - 1, place))
        wanted = pair_key(left, right)
        spot = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        weight = np.where(keys[spot] == wanted, weights[spot], np.float32(0))
        total[here] += weight
        least[here] = np.minimum(least[here], weight)
    yield total / np.maximum(size - 1, 1)
    yield least


def pair_key(left: Hashes, right: Hashes) -> Hashes:
    """One hash for two words."""
    return left * np.uint64(0x9E3779B97F4A7C15) + right


@cache
def pair_weights() -> tuple[Hashes, Floats]:
    """Keys of the pairs of the shipped priors, sorted, and their weights."""
    priors = TermPriors.shipped().pairs
    both = [(pair.split(" "), times) for pair, times in priors.items()]
    keys = pair_key(*(np.array([word_hash(pair[side]) for pair, _ in both], dtype=np.uint64) for side in (0, 1)))
    order = np.argsort(keys)
    return keys[order], np.log1p(np.array([times - 2 for _, times in both], dtype=np.float32))[order]


def over_words(values: Floats, rows: Rows) -> Floats:
    """(rows, ...): the sum of `values` over the words of each row; the last value is for no word and must be 0."""
    result: Floats = values[rows.words[0]].copy()
    for place in range(1, MAX_WORDS):
        here = np.flatnonzero(rows.words[place] >= 0)
        result[here] += values[rows.words[place, here]]
    return result
