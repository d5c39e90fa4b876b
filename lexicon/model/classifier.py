"""The judgement of candidates: a logistic regression over the features of a row, made quick for many rows.

Most columns of `features` say something of one word alone: the first, the last, each of a row. Those are judged once a
word of the vocabulary, and a row looks up what its words are worth.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.ngram_table import NgramRows
from lexicon.counting.occurrences import MAX_SPAN_WORDS
from lexicon.model.row_features import (
    WordFeatureArrays,
    feature_names,
    last_word_ids,
    mean_word_features,
    row_features,
    row_word_counts,
)
from lexicon.model.word_features import TAGS_BY_LANGUAGE, WORD_FEATURES

Float32Array = NDArray[np.float32]

MAX_STANDARD_SCORE = 4.0  # standard deviations beyond which a feature says no more
SHRINKAGE_ROWS = 500  # as many rows of its own outweigh what was usual in training
WORDS_PER_BLOCK = 8192  # words judged at a time
INTERACTION_FEATURES = (
    "log frequency", "log documents", "likeliest", "mean begins", "mean ends", "mean weakest", "mean left",
    "mean right", "characters", "words", "log expected", "last: rather last", "last: last character ends terms",
    "mean general", "general", "specific", "mean: term against general", "last: term against general",
)  # fmt: skip
"""The features whose products count too."""


@dataclass(frozen=True)
class Standardizer:
    """What is usual for each feature in one corpus: its mean and its standard deviation."""

    mean: Float32Array
    scale: Float32Array

    @classmethod
    def from_rows(cls, columns: Float32Array) -> "Standardizer":
        """Those of some rows of `features`."""
        return cls(columns.mean(axis=0), columns.std(axis=0) + np.float32(1e-3))

    def shrink_towards(self, prior_scaler: "Standardizer", rows: int) -> "Standardizer":
        """These, from so many rows, drawn to the `prior_scaler` ones: a few rows say little about a corpus."""
        trust = np.float32(rows / (rows + SHRINKAGE_ROWS))
        mean, scale = (
            trust * own_values + (1 - trust) * prior_values
            for own_values, prior_values in zip(vars(self).values(), vars(prior_scaler).values(), strict=True)
        )
        return Standardizer(mean, scale)


@dataclass(frozen=True)
class CandidateModel:
    """A logistic regression over features in the units of their own corpus, and the products of those in CROSSED.

    That they are in units of the corpus is what carries the judgement over from one domain to another: gaps are judged
    more or less boldly there, words are more or less rare. `training_scaler` are the units of the sets it was trained on.
    """

    language: str
    training_scaler: Standardizer
    expanded_scaler: Standardizer
    weights: Float32Array
    intercept: float


def expand_features(columns: Float32Array, language: str, scaler: Standardizer) -> Float32Array:
    """`columns` in `scaler`, and beside them the products of each two of CROSSED (squares too)."""
    names = feature_names(language)
    standardized_columns = np.clip((columns - scaler.mean) / scaler.scale, -MAX_STANDARD_SCORE, MAX_STANDARD_SCORE)
    interacting = standardized_columns[:, [names.index(name) for name in INTERACTION_FEATURES]]
    left, right = np.triu_indices(len(INTERACTION_FEATURES))
    return np.hstack([standardized_columns, interacting[:, left] * interacting[:, right]])


class CandidateClassifier:
    """A CandidateModel at work on the rows of one corpus: `units` are this corpus' own."""

    def __init__(
        self, model: CandidateModel, corpus_scaler: Standardizer, word_features: WordFeatureArrays, words_read: int
    ) -> None:
        self._model, self._corpus_scaler, self._word_features, self._total_words = (
            model,
            corpus_scaler,
            word_features,
            words_read,
        )
        names = feature_names(model.language)
        numbers, tags = len(WORD_FEATURES), len(TAGS_BY_LANGUAGE[model.language])
        sizes = (len(names) - 3 * (numbers + tags), numbers, numbers, numbers, tags, tags, tags)
        ends = np.cumsum(sizes)
        row, first, last, self._mean_columns, first_tag, last_tag, self._tag_count_columns = map(
            slice, ends - sizes, ends
        )
        self._row_columns = row
        self._first_word_contributions = self._word_contributions(first, first_tag)
        self._last_word_contributions = self._word_contributions(last, last_tag)
        self._tag_contributions = self._tag_count_contributions()
        # Of the columns whose products count, those of the last word come out of a table too.
        self._interaction_columns = [names.index(name) for name in INTERACTION_FEATURES]
        last_word_columns = [column for column in self._interaction_columns if last.start <= column < last.stop]
        self._last_word_interactions = [INTERACTION_FEATURES.index(names[column]) for column in last_word_columns]
        self._last_word_standardized = self._standardize(
            word_features.features.T[[column - last.start for column in last_word_columns]], last_word_columns
        )

    def log_odds(self, rows: NgramRows) -> Float32Array:
        """One value a row."""
        word_features, size = self._word_features, row_word_counts(rows)
        row = self._standardize(row_features(rows, word_features, self._total_words, size), self._row_columns)
        mean = self._standardize(mean_word_features(rows, word_features, size), self._mean_columns)
        last = last_word_ids(rows, size)
        interacting = np.empty((len(INTERACTION_FEATURES), len(rows)), np.float32)
        for index, column in enumerate(self._interaction_columns):
            if column < len(row):
                interacting[index] = row[column]
            elif self._mean_columns.start <= column < self._mean_columns.stop:
                interacting[index] = mean[column - self._mean_columns.start]
        interacting[self._last_word_interactions] = self._last_word_standardized[:, last]
        left, right = np.triu_indices(len(INTERACTION_FEATURES))
        log_odds: Float32Array = (
            self._contribution(row, self._row_columns)
            + self._contribution(mean, self._mean_columns)
            + self._first_word_contributions[rows.word_ids[0]]
            + self._last_word_contributions[last]
            + self._sum_tag_contributions(rows)
            + self._contribution(
                interacting[left] * interacting[right], slice(len(feature_names(self._model.language)), None)
            )
            + np.float32(self._model.intercept)
        )
        return log_odds

    def _standardize(self, values: Float32Array, columns: slice | list[int]) -> Float32Array:
        """(columns, rows): the columns `columns` in the units of the corpus."""
        standardized_values: Float32Array = (
            values - self._corpus_scaler.mean[columns, None]
        ) / self._corpus_scaler.scale[columns, None]
        return np.clip(standardized_values, -MAX_STANDARD_SCORE, MAX_STANDARD_SCORE, out=standardized_values)

    def _standardize_expanded(self, standardized_values: Float32Array, columns: slice) -> Float32Array:
        scaler = self._model.expanded_scaler
        expanded_values = standardized_values - scaler.mean[columns, None]
        expanded_values /= scaler.scale[columns, None]
        return np.clip(expanded_values, -MAX_STANDARD_SCORE, MAX_STANDARD_SCORE, out=expanded_values)

    def _contribution(self, standardized_values: Float32Array, columns: slice) -> Float32Array:
        """What the columns `columns`, in units, add to the log-odds of each row."""
        contribution: Float32Array = self._model.weights[columns] @ self._standardize_expanded(
            standardized_values, columns
        )
        return contribution

    def _word_contributions(self, document_ids: slice, tag: slice) -> Float32Array:
        """What each word of the vocabulary adds in one place: by its numbers and by its tag."""
        word_features, contributions = self._word_features, np.empty(len(self._word_features.tag_ids), np.float32)
        one_hot = np.eye(len(TAGS_BY_LANGUAGE[word_features.language]), dtype=np.float32)
        tag_contributions = self._contribution(self._standardize(one_hot, tag), tag)
        for start in range(0, len(contributions), WORDS_PER_BLOCK):
            part = slice(start, start + WORDS_PER_BLOCK)
            contributions[part] = (
                self._contribution(self._standardize(word_features.features[part].T, document_ids), document_ids)
                + tag_contributions[word_features.tag_ids[part]]
            )
        return contributions

    def _tag_count_contributions(self) -> tuple[Float32Array, np.float32]:
        """(TAGS + 1, MAX_WORDS + 1): what each of so many words with one tag adds to the log-odds, zeros for no word;
        and what is added when no word had any tag.
        """
        columns, tags = self._tag_count_columns, len(TAGS_BY_LANGUAGE[self._word_features.language])
        counts = np.tile(np.arange(MAX_SPAN_WORDS + 1, dtype=np.float32), (tags, 1))
        contributions = self._model.weights[columns, None] * self._standardize_expanded(
            self._standardize(counts, columns), columns
        )
        per_word = (contributions[:, 1:] - contributions[:, :1]) / counts[:, 1:]
        return np.pad(per_word, ((0, 1), (1, 0))).astype(np.float32), contributions[:, 0].sum(dtype=np.float32)

    def _sum_tag_contributions(self, rows: NgramRows) -> Float32Array:
        per_word, none = self._tag_contributions
        tags = np.where(rows.word_ids < 0, len(per_word) - 1, self._word_features.tag_ids[rows.word_ids]).astype(
            np.int8
        )
        totals = np.full(len(rows), none)
        for word_tags in tags:
            totals += per_word[word_tags, (tags == word_tags).sum(axis=0, dtype=np.int8)]
        return totals
