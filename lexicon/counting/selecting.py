"""The rows that may be terms, out of rows that come range by range: as many as can matter, whatever the corpus."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.ngrams import AT, Longs, Rows, is_letter, joined, no_rows
from lexicon.counting.occurrences import STEP
from lexicon.counting.remembered import Remembered
from lexicon.counting.tokens import Vocabulary
from lexicon.model.learned import LANGUAGES, SAMPLE, Models, Selection, are_likely
from lexicon.model.words import is_han

MAX_JUDGED = 300_000  # rows, those with the most expected terms among their places; about 250 bytes each
UNLIKELY = -7 * STEP  # a row that was never likelier than this becomes no term
UNLIKELY_ONCE = -4 * STEP  # nor one that was seen once: if it comes again, it is counted from then on
FAIR_BITS = 4  # last bits of a key that are 0: such rows are never forgotten, so that a sample of them is a fair one
FORMS = (str.lower, str.upper, str.title)  # in which a word is also written


@dataclass(frozen=True)
class SelectedWords:
    """The words of some rows (see `ngrams.Counted`)."""

    vocabulary: Vocabulary
    spellings: Longs
    words_read: int
    words_known: int
    usual: Sequence[str]


class Selector:
    """Chooses rows as they come."""

    def __init__(self, models: Models, min_frequency: int) -> None:
        self._models = models
        self._min_frequency = min_frequency
        self.was_asked = False
        self._rows: list[Rows] = []
        self._samples = [_Sample() for _ in LANGUAGES]

    def add(self, rows: Rows, has_forgotten: bool) -> None:
        """Look at some rows, each of which comes once. Where some were forgotten, part of them is a fair sample."""
        self.was_asked = True
        likely = are_likely(rows, self._models)
        self._rows.append(rows.take(likely & (rows.frequency >= self._min_frequency)))
        if sum(map(len, self._rows)) > 3 * MAX_JUDGED // 2:
            self._rows = [best(joined(self._rows))]
        for number, sample in enumerate(self._samples):
            own = likely & (rows.is_english == bool(number))
            sample.add(rows.take(own & are_fair(rows, FAIR_BITS) if has_forgotten else own))

    def selection(self, memory: Remembered) -> Selection:
        """What was chosen, with its words."""
        rows, sample = best(joined(self._rows)), joined([sample.rows for sample in self._samples])
        numbers = np.unique(np.concatenate([rows.words.ravel(), sample.words.ravel()]))
        numbers = numbers[numbers >= 0]
        words = memory.words(numbers.tolist())
        vocabulary = Vocabulary()
        own = np.array([vocabulary.number(word) for _, word, _ in words] + [-1], dtype=np.int32)
        times = np.zeros(len(vocabulary), dtype=np.int64)
        times[own[:-1]] = [count for _, _, count in words]
        counted = SelectedWords(vocabulary, times, *memory.words_read(), usual_of(vocabulary.words, memory))
        return Selection(_renumbered(rows, numbers, own), _renumbered(sample, numbers, own), counted)


class _Sample:
    """About SAMPLE rows of any number of them: those whose keys end in so many zeros."""

    def __init__(self) -> None:
        self.rows = no_rows(0)
        self._bits = 0

    def add(self, rows: Rows) -> None:
        """Have more to choose from."""
        self.rows = joined([self.rows, rows.take(are_fair(rows, self._bits))])
        while len(self.rows) > SAMPLE:
            self._bits += 1
            self.rows = self.rows.take(are_fair(self.rows, self._bits))


def are_fair(rows: Rows, bits: int) -> NDArray[np.bool_]:
    """Which rows have a key that ends in so many zeros."""
    found: NDArray[np.bool_] = rows.keys & np.uint64((1 << bits) - 1) == 0
    return found


def matter(rows: Rows) -> NDArray[np.bool_]:
    """Which rows can become terms yet, or have to stay for the sample."""
    least = np.where(rows.frequency > 1, UNLIKELY, UNLIKELY_ONCE)
    found: NDArray[np.bool_] = (rows.likeliest >= least) | are_fair(rows, FAIR_BITS)
    return found


def best(rows: Rows) -> Rows:
    """The MAX_JUDGED rows of whose places the most are expected to be terms; equal ones by key."""
    if len(rows) <= MAX_JUDGED:
        return rows
    order = np.lexsort((rows.keys, -rows.sums[AT["expected"]]))
    return rows.take(np.sort(order[:MAX_JUDGED]))


def usual_of(words: Sequence[str], memory: Remembered) -> list[str]:
    """Each word as it is written most often: see `Counted`."""
    alike: dict[str, list[tuple[int, str]]] = defaultdict(list)
    forms = {form(word) for word in words if not is_han(word) for form in FORMS}
    for _, word, times in memory.spellings(sorted(forms.union(words))):
        alike[word.lower()].append((times, word))
    return [word if is_letter(word) else max(alike[word.lower()], default=(0, word))[1] for word in words]


def _renumbered(rows: Rows, numbers: Longs, own: NDArray[np.int32]) -> Rows:
    """Rows whose words are named by `numbers`, by the `own` ones in their place."""
    words = own[np.where(rows.words < 0, len(numbers), np.searchsorted(numbers, rows.words))]
    return replace(rows, words=words)
