"""Boundary scores: log-odds that a term begins, ends or continues at the gap between two words.

    ... 采用 | PDC | 钻头 | 钻进 ...      gap 采用|PDC: a term begins (log-odds +2.1); PDC|钻头: it continues (+3.0)

A linear model over features and tags of the words around the gap, and over pairs of tags. All terms that depend on one
word are computed once per word of the vocabulary, so a gap needs only a few look-ups.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexicon.arrays import BoolArray, Float32Array, Int32Array, Int64Array
from lexicon.counting.tokens import Vocabulary
from lexicon.model.word_features import TAGS_BY_LANGUAGE

WINDOW_WORDS = 4  # words around a gap: two before it, two after it
UNKNOWN_TAG = -1
GAP_EVENTS = ("begins", "ends", "goes on")
ROUNDING_STEPS = 4096  # word contributions are rounded to multiples of 1 / ROUNDING_STEPS
TAG_PAIR_POSITIONS = ((0, 1), (1, 2), (2, 3))  # window positions whose tags form pairs


@dataclass(frozen=True)
class BoundaryModel:
    """Weights for one language: log-odds of the GAP_EVENTS.

    numbers    (WINDOW_WORDS, WORD_FEATURES, 3)                 weights of word features
    tags       (WINDOW_WORDS, tags, 3)                          weights of tags
    words      (WINDOW_WORDS, len(lexical), 3)                  weights of the words in `lexical`
    pairs      (len(TAG_PAIR_POSITIONS), tags * tags, 3)        weights of tag pairs
    intercept  (3,)
    """

    language: str
    lexical: Sequence[str]
    numbers: Float32Array
    tags: Float32Array
    words: Float32Array
    pairs: Float32Array
    intercept: Float32Array

    def word_contributions(self, words: Sequence[str], word_features: Float32Array, tags: Int64Array) -> Float32Array:
        """Return the contribution of each word to the log-odds of a gap, by position.

        Returns:
            (WINDOW_WORDS, words, 3) float32.
        """
        # Double precision and rounding make the value of a word independent of the other words in the call.
        contributions = np.einsum("wn,pnv->pwv", word_features.astype(np.float64), self.numbers.astype(np.float64))
        contributions += self.tags[:, tags]
        index = {word: lexical_index for lexical_index, word in enumerate(self.lexical)}
        lexical_matches = [(row, index[word.lower()]) for row, word in enumerate(words) if word.lower() in index]
        if lexical_matches:
            rows, columns = np.array(lexical_matches).T
            contributions[:, rows] += self.words[:, columns]
        rounded_contributions: Float32Array = (np.rint(contributions * ROUNDING_STEPS) / ROUNDING_STEPS).astype(
            np.float32
        )
        return rounded_contributions


class BoundaryScorer:
    """Applies a BoundaryModel to a growing vocabulary."""

    def __init__(self, model: BoundaryModel) -> None:
        self._model = model
        self._contributions = np.zeros((WINDOW_WORDS, 0, len(GAP_EVENTS)), dtype=np.float32)
        self._tags = np.zeros(0, dtype=np.int32)  # UNKNOWN_TAG for words of another language, which are not scored

    def add_words(self, vocabulary: Vocabulary, ids: Int32Array) -> None:
        """Compute the contributions of the words `ids` that are new."""
        if len(self._tags) < len(vocabulary):
            missing = len(vocabulary) - len(self._tags)
            self._contributions = np.pad(self._contributions, ((0, 0), (0, missing), (0, 0)))
            self._tags = np.pad(self._tags, (0, missing), constant_values=UNKNOWN_TAG)
        is_used = np.zeros(len(vocabulary), dtype=np.bool_)
        is_used[ids] = is_used[0] = True  # word 0 is the break, which surrounds every text
        new_ids = np.flatnonzero(is_used & (self._tags == UNKNOWN_TAG))
        if len(new_ids):
            tags = vocabulary.features.tag_ids(self._model.language, new_ids)
            words = [vocabulary.words[word_id] for word_id in new_ids.tolist()]
            self._contributions[:, new_ids] = self._model.word_contributions(
                words, vocabulary.features.features[new_ids], tags
            )
            self._tags[new_ids] = tags

    @property
    def is_break(self) -> BoolArray:
        """Mask of the words that no term contains."""
        is_break: BoolArray = self._tags == len(TAGS_BY_LANGUAGE[self._model.language]) - 1
        return is_break

    @property
    def is_joiner(self) -> BoolArray:
        """Mask of the words that occur only inside terms, such as hyphens."""
        is_joiner: BoolArray = self._tags == TAGS_BY_LANGUAGE[self._model.language].index("join")
        return is_joiner

    def log_odds(self, ids: Int32Array) -> Float32Array:
        """Return the log-odds of the GAP_EVENTS for the gap before each word and after the last word.

        Returns:
            (3, words + 1) float32.
        """
        padded_ids = np.concatenate([[0, 0], ids, [0, 0]])
        gaps = len(ids) + 1
        total = np.repeat(self._model.intercept[:, None], gaps, axis=1).astype(np.float32)
        tags = self._tags[padded_ids]
        for event in range(len(GAP_EVENTS)):
            for position in range(WINDOW_WORDS):
                total[event] += self._contributions[position, :, event][padded_ids[position : position + gaps]]
            for pair_index, (first, second) in enumerate(TAG_PAIR_POSITIONS):
                pair = (
                    tags[first : first + gaps] * len(TAGS_BY_LANGUAGE[self._model.language])
                    + tags[second : second + gaps]
                )
                total[event] += self._model.pairs[pair_index, :, event][pair]
        return total

    def standalone_scores(self, ids: Int32Array) -> tuple[Float32Array, Float32Array, Float32Array]:
        """Return log-odds that do not depend on the words around a span.

        Returns:
            (words,) float32 each: log-odds of the word as the first and as the last word of a term, and of the gap
                before it inside a term.
        """
        begins, ends = self._contributions[2, :, 0][ids], self._contributions[1, :, 1][ids]
        previous_ids = np.concatenate([[0], ids[:-1]]).astype(np.int32)
        pair = self._tags[previous_ids] * len(TAGS_BY_LANGUAGE[self._model.language]) + self._tags[ids]
        inside = (
            self._contributions[1, :, 2][previous_ids]
            + self._contributions[2, :, 2][ids]
            + self._model.pairs[1, :, 2][pair]
        )
        return begins, ends, inside
