"""Known terms with a spelling similar to a word: variants, parts and longer terms that help a reviewer decide."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from text.folding import word_key
from text.scripts import UNSPACED_SCRIPTS

MIN_DICE = 0.5  # minimum Dice coefficient of the pieces of two words
_PIECE_PATTERN = re.compile(rf"[{UNSPACED_SCRIPTS}]|[^\W{UNSPACED_SCRIPTS}]+")


class SimilarTermIndex:
    """Index of known terms by their pieces: Chinese characters, and words of other scripts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)
        self._piece_counts: list[int] = []
        self._terms_by_piece: dict[str, list[int]] = defaultdict(list)
        for term_index, text in enumerate(self._texts):
            pieces = split_pieces(text)
            self._piece_counts.append(len(pieces))
            for piece in pieces:
                self._terms_by_piece[piece].append(term_index)

    def find_similar(self, text: str, limit: int) -> list[str]:
        """Return up to `limit` terms most similar to `text`, by Dice coefficient, then shorter terms first.

        `text` itself is not returned.
        """
        pieces = split_pieces(text)
        shared_counts = Counter(term_index for piece in pieces for term_index in self._terms_by_piece.get(piece, ()))
        scored_terms = [
            (
                -2 * count / (len(pieces) + self._piece_counts[term_index]),
                len(self._texts[term_index]),
                self._texts[term_index],
            )
            for term_index, count in shared_counts.items()
        ]
        return [other for score, _, other in sorted(scored_terms) if -score >= MIN_DICE and other != text][:limit]


def split_pieces(text: str) -> frozenset[str]:
    """Return the distinct pieces of a word, independent of spelling variants."""
    return frozenset(_PIECE_PATTERN.findall(word_key(text)))
