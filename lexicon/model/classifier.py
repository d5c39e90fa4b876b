"""The judgement of candidates: a logistic regression over the features of a row, made quick for many rows.

Most columns of `features` say something of one word alone: the first, the last, each of a row. Those are judged once a
word of the vocabulary, and a row looks up what its words are worth.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.ngrams import Rows
from lexicon.counting.occurrences import MAX_WORDS
from lexicon.model.features import WordFacts, feature_names, last_words, mean_numbers, row_features, sizes_of
from lexicon.model.words import NUMBERS, TAGS

Floats = NDArray[np.float32]

CLIP = 4.0  # standard deviations beyond which a feature says no more
USUAL_ROWS = 500  # as many rows of its own outweigh what was usual in training
BLOCK = 8192  # words judged at a time
CROSSED = (
    "log frequency", "log documents", "likeliest", "mean begins", "mean ends", "mean weakest", "mean left",
    "mean right", "characters", "words", "log expected", "last: rather last", "last: last character ends terms",
    "mean general", "general", "specific", "mean: term against general", "last: term against general",
)  # fmt: skip
"""The features whose products count too."""


@dataclass(frozen=True)
class Standardizer:
    """What is usual for each feature in one corpus: its mean and its standard deviation."""

    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, columns: Floats) -> "Standardizer":
        """Those of some rows of `features`."""
        return cls(columns.mean(axis=0), columns.std(axis=0) + np.float32(1e-3))

    def shrunk(self, usual: "Standardizer", rows: int) -> "Standardizer":
        """These, from so many rows, drawn to the `usual` ones: a few rows say little about a corpus."""
        trust = np.float32(rows / (rows + USUAL_ROWS))
        mean, scale = (
            trust * own + (1 - trust) * other
            for own, other in zip(vars(self).values(), vars(usual).values(), strict=True)
        )
        return Standardizer(mean, scale)


@dataclass(frozen=True)
class CandidateModel:
    """A logistic regression over features in the units of their own corpus, and the products of those in CROSSED.

    That they are in units of the corpus is what carries the judgement over from one domain to another: gaps are judged
    more or less boldly there, words are more or less rare. `usual` are the units of the sets it was trained on.
    """

    language: str
    usual: Standardizer
    wide: Standardizer
    weights: Floats
    intercept: float


def crossed(columns: Floats, language: str, units: Standardizer) -> Floats:
    """`columns` in `units`, and beside them the products of each two of CROSSED (squares too)."""
    names = feature_names(language)
    own = np.clip((columns - units.mean) / units.scale, -CLIP, CLIP)
    chosen = own[:, [names.index(name) for name in CROSSED]]
    left, right = np.triu_indices(len(CROSSED))
    return np.hstack([own, chosen[:, left] * chosen[:, right]])


class CandidateClassifier:
    """A CandidateModel at work on the rows of one corpus: `units` are this corpus' own."""

    def __init__(self, model: CandidateModel, units: Standardizer, facts: WordFacts, words_read: int) -> None:
        self._model, self._units, self._facts, self._words_read = model, units, facts, words_read
        names = feature_names(model.language)
        numbers, tags = len(NUMBERS), len(TAGS[model.language])
        sizes = (len(names) - 3 * (numbers + tags), numbers, numbers, numbers, tags, tags, tags)
        ends = np.cumsum(sizes)
        row, first, last, self._mean, first_tag, last_tag, self._number_of = map(slice, ends - sizes, ends)
        self._row = row
        self._first = self._worth_of_words(first, first_tag)
        self._last = self._worth_of_words(last, last_tag)
        self._tags = self._worth_of_tags()
        # Of the columns whose products count, those of the last word come out of a table too.
        self._chosen = [names.index(name) for name in CROSSED]
        crossed = [place for place in self._chosen if last.start <= place < last.stop]
        self._last_chosen = [CROSSED.index(names[place]) for place in crossed]
        self._last_own = self._own(facts.numbers.T[[place - last.start for place in crossed]], crossed)

    def log_odds(self, rows: Rows) -> Floats:
        """One value a row."""
        facts, size = self._facts, sizes_of(rows)
        row = self._own(row_features(rows, facts, self._words_read, size), self._row)
        mean = self._own(mean_numbers(rows, facts, size), self._mean)
        last = last_words(rows, size)
        chosen = np.empty((len(CROSSED), len(rows)), np.float32)
        for number, place in enumerate(self._chosen):
            if place < len(row):
                chosen[number] = row[place]
            elif self._mean.start <= place < self._mean.stop:
                chosen[number] = mean[place - self._mean.start]
        chosen[self._last_chosen] = self._last_own[:, last]
        left, right = np.triu_indices(len(CROSSED))
        found: Floats = (
            self._worth(row, self._row)
            + self._worth(mean, self._mean)
            + self._first[rows.words[0]]
            + self._last[last]
            + self._worth_of_tags_in(rows)
            + self._worth(chosen[left] * chosen[right], slice(len(feature_names(self._model.language)), None))
            + np.float32(self._model.intercept)
        )
        return found

    def _own(self, columns: Floats, at: slice | list[int]) -> Floats:
        """(columns, rows): the columns `at` in the units of the corpus."""
        own: Floats = (columns - self._units.mean[at, None]) / self._units.scale[at, None]
        return np.clip(own, -CLIP, CLIP, out=own)

    def _wide(self, own: Floats, at: slice) -> Floats:
        wide = self._model.wide
        found = own - wide.mean[at, None]
        found /= wide.scale[at, None]
        return np.clip(found, -CLIP, CLIP, out=found)

    def _worth(self, own: Floats, at: slice) -> Floats:
        """What the columns `at`, in units, add to the log-odds of each row."""
        found: Floats = self._model.weights[at] @ self._wide(own, at)
        return found

    def _worth_of_words(self, numbers: slice, tag: slice) -> Floats:
        """What each word of the vocabulary adds in one place: by its numbers and by its tag."""
        facts, found = self._facts, np.empty(len(self._facts.tags), np.float32)
        one_hot = np.eye(len(TAGS[facts.language]), dtype=np.float32)
        of_tag = self._worth(self._own(one_hot, tag), tag)
        for start in range(0, len(found), BLOCK):
            part = slice(start, start + BLOCK)
            found[part] = self._worth(self._own(facts.numbers[part].T, numbers), numbers) + of_tag[facts.tags[part]]
        return found

    def _worth_of_tags(self) -> tuple[Floats, np.float32]:
        """(TAGS + 1, MAX_WORDS + 1): what each of so many words with one tag adds to the log-odds, zeros for no word;
        and what is added when no word had any tag.
        """
        at, tags = self._number_of, len(TAGS[self._facts.language])
        times = np.tile(np.arange(MAX_WORDS + 1, dtype=np.float32), (tags, 1))
        worth = self._model.weights[at, None] * self._wide(self._own(times, at), at)
        each = (worth[:, 1:] - worth[:, :1]) / times[:, 1:]
        return np.pad(each, ((0, 1), (1, 0))).astype(np.float32), worth[:, 0].sum(dtype=np.float32)

    def _worth_of_tags_in(self, rows: Rows) -> Floats:
        each, none = self._tags
        tags = np.where(rows.words < 0, len(each) - 1, self._facts.tags[rows.words]).astype(np.int8)
        found = np.full(len(rows), none)
        for own in tags:
            found += each[own, (tags == own).sum(axis=0, dtype=np.int8)]
        return found
