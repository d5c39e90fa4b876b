"""Classifier of candidate rows: a logistic regression over row features, optimised for many rows.

Features that depend on a single word are scored once per vocabulary word. A row adds the cached contributions of its
first, last and inner words.
"""

from dataclasses import dataclass

import numpy as np

from lexicon.arrays import Float32Array
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

MAX_STANDARD_SCORE = 4.0  # standardized features are clipped to this range
SHRINKAGE_ROWS = 500  # with this many rows, corpus and training statistics weigh equally
WORDS_PER_BLOCK = 8192  # words scored at a time
INTERACTION_FEATURES = (
    "log frequency", "log documents", "likeliest", "mean begins", "mean ends", "mean weakest", "mean left",
    "mean right", "characters", "words", "log expected", "last: rather last", "last: last character ends terms",
    "mean general", "general", "specific", "mean: term against general", "last: term against general",
)  # fmt: skip
"""Features whose pairwise products are features, too."""


@dataclass(frozen=True)
class Standardizer:
    """Mean and standard deviation of each feature in a corpus."""

    mean: Float32Array
    scale: Float32Array

    @classmethod
    def from_rows(cls, columns: Float32Array) -> "Standardizer":
        """Return the statistics of feature rows, (rows, features)."""
        return cls(columns.mean(axis=0), columns.std(axis=0) + np.float32(1e-3))

    def shrink_towards(self, prior_scaler: "Standardizer", rows: int) -> "Standardizer":
        """Return the statistics shrunk towards `prior_scaler`, because few rows give unreliable statistics.

        Args:
            prior_scaler: statistics of the training corpora.
            rows: number of rows that these statistics are computed from.
        """
        trust = np.float32(rows / (rows + SHRINKAGE_ROWS))
        mean, scale = (
            trust * own_values + (1 - trust) * prior_values
            for own_values, prior_values in zip(vars(self).values(), vars(prior_scaler).values(), strict=True)
        )
        return Standardizer(mean, scale)


@dataclass(frozen=True)
class CandidateModel:
    """Logistic regression over features standardized by their own corpus, and products of INTERACTION_FEATURES.

    Standardizing by corpus transfers the model between domains, whose boundary scores and word frequencies differ in
    scale. `training_scaler` has the statistics of the training corpora.
    """

    language: str
    training_scaler: Standardizer
    expanded_scaler: Standardizer
    weights: Float32Array
    intercept: float


class CandidateClassifier:
    """Applies a CandidateModel to rows of one corpus. `corpus_scaler` has the statistics of this corpus."""

    def __init__(
        self, model: CandidateModel, corpus_scaler: Standardizer, word_features: WordFeatureArrays, words_read: int
    ) -> None:
        self._model = model
        self._corpus_scaler = corpus_scaler
        self._word_features = word_features
        self._total_words = words_read
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
        # Interaction columns of the last word are computed once per word as well.
        self._interaction_columns = [names.index(name) for name in INTERACTION_FEATURES]
        last_word_columns = [column for column in self._interaction_columns if last.start <= column < last.stop]
        self._last_word_interactions = [INTERACTION_FEATURES.index(names[column]) for column in last_word_columns]
        self._last_word_standardized = self._standardize(
            word_features.features.T[[column - last.start for column in last_word_columns]], last_word_columns
        )

    def log_odds(self, rows: NgramRows) -> Float32Array:
        """Return the log-odds of being a term, (rows,) float32."""
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
        first_factors, second_factors = np.triu_indices(len(INTERACTION_FEATURES))
        log_odds: Float32Array = (
            self._contribution(row, self._row_columns)
            + self._contribution(mean, self._mean_columns)
            + self._first_word_contributions[rows.word_ids[0]]
            + self._last_word_contributions[last]
            + self._sum_tag_contributions(rows)
            + self._contribution(
                interacting[first_factors] * interacting[second_factors],
                slice(len(feature_names(self._model.language)), None),
            )
            + np.float32(self._model.intercept)
        )
        return log_odds

    def _standardize(self, values: Float32Array, columns: slice | list[int]) -> Float32Array:
        """Standardize the values of the columns `columns` by corpus, (columns, rows)."""
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
        """Return the contribution of standardized columns to the log-odds of each row."""
        contribution: Float32Array = self._model.weights[columns] @ self._standardize_expanded(
            standardized_values, columns
        )
        return contribution

    def _word_contributions(self, document_ids: slice, tag: slice) -> Float32Array:
        """Return the contribution of each vocabulary word at one position, by its features and its tag."""
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
        """Return the contributions of tag counts to the log-odds.

        Returns:
            (tags + 1, MAX_SPAN_WORDS + 1) contribution per word by tag and number of words with it, zeros for no word;
                and the contribution if no word had any tag.
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
