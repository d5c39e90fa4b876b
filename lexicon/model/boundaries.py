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
from lexicon.model.words import NUMBERS, TAGS

Floats = NDArray[np.float32]
Ids = NDArray[np.int32]

WINDOW = 4  # words seen from a gap: two before it, two after it
UNKNOWN = -1
VERDICTS = ("begins", "ends", "goes on")
FINE = 4096  # steps of what a word adds
PAIRS = ((0, 1), (1, 2), (2, 3))  # of the window, whose tags are looked at together


@dataclass(frozen=True)
class BoundaryModel:
    """The weights for one language.

    `numbers` (WINDOW, NUMBERS, 3), `tags` (WINDOW, TAGS, 3), `words` (WINDOW, len(lexical), 3), `pairs` (len(PAIRS),
    TAGS * TAGS, 3) and `intercept` (3): log-odds of the VERDICTS.
    """

    language: str
    lexical: Sequence[str]
    numbers: Floats
    tags: Floats
    words: Floats
    pairs: Floats
    intercept: Floats

    def added(self, words: Sequence[str], numbers: Floats, tags: NDArray[np.int64]) -> Floats:
        """(WINDOW, words, 3): what each of `words` adds to the log-odds of a gap, by its place."""
        # In double precision and rounded: the same for a word whatever other words it is computed with.
        added = np.einsum("wn,pnv->pwv", numbers.astype(np.float64), self.numbers.astype(np.float64))
        added += self.tags[:, tags]
        index = {word: number for number, word in enumerate(self.lexical)}
        known = [(row, index[word.lower()]) for row, word in enumerate(words) if word.lower() in index]
        if known:
            rows, columns = np.array(known).T
            added[:, rows] += self.words[:, columns]
        found: Floats = (np.rint(added * FINE) / FINE).astype(np.float32)
        return found


class Boundaries:
    """A BoundaryModel at work on a vocabulary that grows."""

    def __init__(self, model: BoundaryModel) -> None:
        self._model = model
        self._added = np.zeros((WINDOW, 0, len(VERDICTS)), dtype=np.float32)
        self._tags = np.zeros(0, dtype=np.int32)  # UNKNOWN for a word of another language, which is not looked at

    def learn_words(self, vocabulary: Vocabulary, ids: Ids) -> None:
        """Take in those words of the vocabulary, with the numbers `ids`, that are new."""
        if len(self._tags) < len(vocabulary):
            more = len(vocabulary) - len(self._tags)
            self._added = np.pad(self._added, ((0, 0), (0, more), (0, 0)))
            self._tags = np.pad(self._tags, (0, more), constant_values=UNKNOWN)
        met = np.zeros(len(vocabulary), dtype=np.bool_)
        met[ids] = met[0] = True  # the first word, the break, stands around every text
        new = np.flatnonzero(met & (self._tags == UNKNOWN))
        if len(new):
            tags = vocabulary.about.tags(self._model.language, new)
            words = [vocabulary.words[number] for number in new.tolist()]
            self._added[:, new] = self._model.added(words, vocabulary.about.numbers[new], tags)
            self._tags[new] = tags

    @property
    def is_break(self) -> NDArray[np.bool_]:
        """For each word, whether it ends what it stands beside."""
        found: NDArray[np.bool_] = self._tags == len(TAGS[self._model.language]) - 1
        return found

    @property
    def is_joiner(self) -> NDArray[np.bool_]:
        """For each word, whether it stands only inside terms."""
        found: NDArray[np.bool_] = self._tags == TAGS[self._model.language].index("join")
        return found

    def log_odds(self, ids: Ids) -> Floats:
        """(3, words + 1): for the gap before each word and the one after the last, the log-odds of the VERDICTS."""
        padded = np.concatenate([[0, 0], ids, [0, 0]])
        gaps = len(ids) + 1
        total = np.repeat(self._model.intercept[:, None], gaps, axis=1).astype(np.float32)
        tags = self._tags[padded]
        for verdict in range(len(VERDICTS)):
            for place in range(WINDOW):
                total[verdict] += self._added[place, :, verdict][padded[place : place + gaps]]
            for number, (left, right) in enumerate(PAIRS):
                pair = tags[left : left + gaps] * len(TAGS[self._model.language]) + tags[right : right + gaps]
                total[verdict] += self._model.pairs[number, :, verdict][pair]
        return total

    def alone(self, ids: Ids) -> tuple[Floats, Floats, Floats]:
        """What a span says for itself, whatever stands around it: of each word as the first, as the last of a term,
        and of the gap before each word as one inside.
        """
        begins, ends = self._added[2, :, 0][ids], self._added[1, :, 1][ids]
        left = np.concatenate([[0], ids[:-1]]).astype(np.int32)
        pair = self._tags[left] * len(TAGS[self._model.language]) + self._tags[ids]
        inside = self._added[1, :, 2][left] + self._added[2, :, 2][ids] + self._model.pairs[1, :, 2][pair]
        return begins, ends, inside


def empty_model(language: str) -> BoundaryModel:
    """A model that knows nothing: all weights 0. For training and tests."""
    tags = len(TAGS[language])
    return BoundaryModel(
        language,
        (),
        np.zeros((WINDOW, len(NUMBERS), 3), np.float32),
        np.zeros((WINDOW, tags, 3), np.float32),
        np.zeros((WINDOW, 0, 3), np.float32),
        np.zeros((len(PAIRS), tags * tags, 3), np.float32),
        np.zeros(3, np.float32),
    )
