"""Where terms begin, end and go on, judged at every gap between two words from the two words on either side.

    ... 采用 | PDC | 钻头 | 钻进 ...      gap 采用|PDC: a term may begin (log-odds +2.1); PDC|钻头: one goes on (+3.0)

A linear model over the words' numbers and tags (`words`) and over pairs of tags. All that hangs on one word is
computed once for each word of the vocabulary, so that a gap costs a few look-ups.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexicon.counting.tokens import Vocabulary
from lexicon.model.word_features import TAGS_BY_LANGUAGE, WORD_FEATURES

Float32Array = NDArray[np.float32]
Int32Array = NDArray[np.int32]

WINDOW_WORDS = 4  # words seen from a gap: two before it, two after it
UNKNOWN_TAG = -1
GAP_EVENTS = ("begins", "ends", "goes on")
ROUNDING_STEPS = 4096  # steps of what a word adds
TAG_PAIR_POSITIONS = ((0, 1), (1, 2), (2, 3))  # of the window, whose tags are looked at together


@dataclass(frozen=True)
class BoundaryModel:
    """The weights for one language.

    `numbers` (WINDOW, NUMBERS, 3), `tags` (WINDOW, TAGS, 3), `words` (WINDOW, len(lexical), 3), `pairs` (len(PAIRS),
    TAGS * TAGS, 3) and `intercept` (3): log-odds of the VERDICTS.
    """

    language: str
    lexical: Sequence[str]
    numbers: Float32Array
    tags: Float32Array
    words: Float32Array
    pairs: Float32Array
    intercept: Float32Array

    def added(self, words: Sequence[str], word_features: Float32Array, tags: NDArray[np.int64]) -> Float32Array:
        """(WINDOW, words, 3): what each of `words` adds to the log-odds of a gap, by its place."""
        # In double precision and rounded: the same for a word whatever other words it is computed with.
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
    """A BoundaryModel at work on a vocabulary that grows."""

    def __init__(self, model: BoundaryModel) -> None:
        self._model = model
        self._contributions = np.zeros((WINDOW_WORDS, 0, len(GAP_EVENTS)), dtype=np.float32)
        self._tags = np.zeros(0, dtype=np.int32)  # UNKNOWN for a word of another language, which is not looked at

    def add_words(self, vocabulary: Vocabulary, ids: Int32Array) -> None:
        """Take in those words of the vocabulary, with the numbers `ids`, that are new."""
        if len(self._tags) < len(vocabulary):
            missing = len(vocabulary) - len(self._tags)
            self._contributions = np.pad(self._contributions, ((0, 0), (0, missing), (0, 0)))
            self._tags = np.pad(self._tags, (0, missing), constant_values=UNKNOWN_TAG)
        is_used = np.zeros(len(vocabulary), dtype=np.bool_)
        is_used[ids] = is_used[0] = True  # the first word, the break, stands around every text
        new_ids = np.flatnonzero(is_used & (self._tags == UNKNOWN_TAG))
        if len(new_ids):
            tags = vocabulary.features.tag_ids(self._model.language, new_ids)
            words = [vocabulary.words[word_id] for word_id in new_ids.tolist()]
            self._contributions[:, new_ids] = self._model.added(words, vocabulary.features.features[new_ids], tags)
            self._tags[new_ids] = tags

    @property
    def is_break(self) -> NDArray[np.bool_]:
        """For each word, whether it ends what it stands beside."""
        is_break: NDArray[np.bool_] = self._tags == len(TAGS_BY_LANGUAGE[self._model.language]) - 1
        return is_break

    @property
    def is_joiner(self) -> NDArray[np.bool_]:
        """For each word, whether it stands only inside terms."""
        is_joiner: NDArray[np.bool_] = self._tags == TAGS_BY_LANGUAGE[self._model.language].index("join")
        return is_joiner

    def log_odds(self, ids: Int32Array) -> Float32Array:
        """(3, words + 1): for the gap before each word and the one after the last, the log-odds of the VERDICTS."""
        padded_ids = np.concatenate([[0, 0], ids, [0, 0]])
        gaps = len(ids) + 1
        total = np.repeat(self._model.intercept[:, None], gaps, axis=1).astype(np.float32)
        tags = self._tags[padded_ids]
        for event in range(len(GAP_EVENTS)):
            for position in range(WINDOW_WORDS):
                total[event] += self._contributions[position, :, event][padded_ids[position : position + gaps]]
            for pair_index, (left, right) in enumerate(TAG_PAIR_POSITIONS):
                pair = (
                    tags[left : left + gaps] * len(TAGS_BY_LANGUAGE[self._model.language]) + tags[right : right + gaps]
                )
                total[event] += self._model.pairs[pair_index, :, event][pair]
        return total

    def standalone_scores(self, ids: Int32Array) -> tuple[Float32Array, Float32Array, Float32Array]:
        """What a span says for itself, whatever stands around it: of each word as the first, as the last of a term,
        and of the gap before each word as one inside.
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


def zero_model(language: str) -> BoundaryModel:
    """A model that knows nothing: all weights 0. For training and tests."""
    tags = len(TAGS_BY_LANGUAGE[language])
    return BoundaryModel(
        language,
        (),
        np.zeros((WINDOW_WORDS, len(WORD_FEATURES), 3), np.float32),
        np.zeros((WINDOW_WORDS, tags, 3), np.float32),
        np.zeros((WINDOW_WORDS, 0, 3), np.float32),
        np.zeros((len(TAG_PAIR_POSITIONS), tags * tags, 3), np.float32),
        np.zeros(3, np.float32),
    )
