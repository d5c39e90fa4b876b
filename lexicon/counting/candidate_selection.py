"""Selection of candidate rows from rows that arrive by key range, with bounded memory."""

from dataclasses import replace

import numpy as np

from lexicon.arrays import BoolArray, Int32Array, UInt64Array
from lexicon.counting.counts_store import CountsStore
from lexicon.counting.ngram_table import (
    COLUMN_INDEX,
    CountedCorpus,
    NgramRows,
    allocate_rows,
    concatenate_rows,
    usual_spellings,
)
from lexicon.counting.occurrences import STEPS_PER_LOG_ODDS
from lexicon.counting.tokens import Vocabulary
from lexicon.model.term_model import LANGUAGES, MAX_SAMPLE_ROWS, CandidateSelection, ModelByLanguage, is_likely
from text.scripts import is_unspaced

MAX_CANDIDATE_ROWS = 300_000  # rows with the highest expected number of terms; about 250 bytes each
MIN_LOG_PROBABILITY_STEPS = -7 * STEPS_PER_LOG_ODDS  # rows whose best log-probability is lower are evicted
# The same limit for rows seen once. If such a span occurs again, its count restarts.
MIN_SINGLETON_LOG_PROBABILITY_STEPS = -4 * STEPS_PER_LOG_ODDS
SAMPLE_KEY_BITS = 4  # rows whose key ends in this many zero bits are never evicted, which keeps the sample unbiased
CASE_VARIANTS = (str.lower, str.upper, str.title)


class CandidateSelector:
    """Selects candidate rows and a random sample of rows per language."""

    def __init__(self, models: ModelByLanguage, min_frequency: int) -> None:
        self._models = models
        self._min_frequency = min_frequency
        self.has_received_rows = False
        self._rows: list[NgramRows] = []
        self._samples = [_HashSample() for _ in LANGUAGES]

    def add(self, rows: NgramRows, has_evicted_rows: bool) -> None:
        """Add rows. Each row must be added once.

        Args:
            rows: rows of a key range.
            has_evicted_rows: True if unlikely rows were evicted. The sample then uses only rows that are never evicted.
        """
        self.has_received_rows = True
        likely_mask = is_likely(rows, self._models)
        self._rows.append(rows.take(likely_mask & (rows.frequency >= self._min_frequency)))
        if sum(map(len, self._rows)) > 3 * MAX_CANDIDATE_ROWS // 2:
            self._rows = [top_rows(concatenate_rows(self._rows))]
        for language_index, sample in enumerate(self._samples):
            is_own_language = likely_mask & (rows.is_english == bool(language_index))
            if has_evicted_rows:
                is_own_language &= is_in_hash_sample(rows.keys, SAMPLE_KEY_BITS)
            sample.add(rows.take(is_own_language))

    def build_selection(self, counts_store: CountsStore) -> CandidateSelection:
        """Return the selected rows and the sample, with their words."""
        rows = top_rows(concatenate_rows(self._rows))
        sample = concatenate_rows([sample.rows for sample in self._samples])
        stored_ids = np.unique(np.concatenate([rows.word_ids.ravel(), sample.word_ids.ravel()]))
        words = list(counts_store.iter_words("number", stored_ids.tolist()))
        numbers = [number for number, _, _ in words]
        vocabulary = Vocabulary()
        local_ids = np.full(stored_ids.max(initial=0) + 2, -1, dtype=np.int32)  # the last entry maps -1, no word
        local_ids[numbers] = [vocabulary.get_or_add(word) for _, word, _ in words]
        occurrences = np.zeros(len(vocabulary), dtype=np.int64)
        occurrences[local_ids[numbers]] = [count for _, _, count in words]
        cased_words = {word for word in vocabulary.words if word.lower() != word.upper()}
        forms = {form(word) for word in cased_words if not is_unspaced(word) for form in CASE_VARIANTS}
        counted_words = counts_store.iter_words("word", sorted(forms | cased_words))
        spellings = usual_spellings(vocabulary.words, ((word, count) for _, word, count in counted_words))
        corpus = CountedCorpus(vocabulary, occurrences, *counts_store.word_totals(), spellings)
        rows, sample = (replace(part, word_ids=local_ids[part.word_ids]) for part in (rows, sample))
        return CandidateSelection(rows, sample, corpus)


class _HashSample:
    """Sample of at most MAX_SAMPLE_ROWS rows: rows whose keys end in a growing number of zero bits."""

    def __init__(self) -> None:
        self.rows = allocate_rows(0)
        self._zero_bits = 0

    def add(self, rows: NgramRows) -> None:
        """Add rows to sample from."""
        self.rows = concatenate_rows([self.rows, rows.take(is_in_hash_sample(rows.keys, self._zero_bits))])
        while len(self.rows) > MAX_SAMPLE_ROWS:
            self._zero_bits += 1
            self.rows = self.rows.take(is_in_hash_sample(self.rows.keys, self._zero_bits))


def is_in_hash_sample(keys: UInt64Array, bits: int) -> BoolArray:
    """Return a mask of the keys that end in `bits` zero bits."""
    is_sampled: BoolArray = keys & np.uint64((1 << bits) - 1) == 0
    return is_sampled


def should_retain(keys: UInt64Array, frequency: Int32Array, best_log_probability: Int32Array) -> BoolArray:
    """Return a mask of the rows that can still become terms, or belong to the sample."""
    min_steps = np.where(frequency > 1, MIN_LOG_PROBABILITY_STEPS, MIN_SINGLETON_LOG_PROBABILITY_STEPS)
    is_retained: BoolArray = (best_log_probability >= min_steps) | is_in_hash_sample(keys, SAMPLE_KEY_BITS)
    return is_retained


def top_rows(rows: NgramRows) -> NgramRows:
    """Return the MAX_CANDIDATE_ROWS rows with the highest expected number of terms. Ties are ordered by key."""
    if len(rows) <= MAX_CANDIDATE_ROWS:
        return rows
    order = np.lexsort((rows.keys, -rows.sums[COLUMN_INDEX["expected"]]))
    return rows.take(np.sort(order[:MAX_CANDIDATE_ROWS]))
