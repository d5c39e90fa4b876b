"""Which known terms are written much like a word: variants, parts and wholes that a reviewer wants to see beside it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from text.folding import word_key
from text.scripts import DENSE

LEAST = 0.5  # Dice's coefficient of the pieces of two words
_PIECES = re.compile(rf"[{DENSE}]|[^\W{DENSE}]+")


class SimilarTerms:
    """Known terms by their pieces: Chinese characters, and words of other scripts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)
        self._sizes: list[int] = []
        self._holding: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self._texts):
            pieces = pieces_of(text)
            self._sizes.append(len(pieces))
            for piece in pieces:
                self._holding[piece].append(number)

    def to(self, text: str, limit: int) -> list[str]:
        """The terms most like `text`, itself left out: by Dice's coefficient, then the shorter ones first."""
        pieces = pieces_of(text)
        shared = Counter(number for piece in pieces for number in self._holding.get(piece, ()))
        scored = [
            (-2 * count / (len(pieces) + self._sizes[number]), len(self._texts[number]), self._texts[number])
            for number, count in shared.items()
        ]
        return [other for score, _, other in sorted(scored) if -score >= LEAST and other != text][:limit]


def pieces_of(text: str) -> frozenset[str]:
    """The pieces of a word, however it is spelt."""
    return frozenset(_PIECES.findall(word_key(text)))
