"""How much a word says, by the documents seen so far.

ZK-F2   (f_i / N) * ln(N / N_i): Zhou's weight, words unseen get the mean, some are set by hand
WY-F12  ln((N + 1) / (n_t + 1/2)): Wu's idf, smoothed so that no word of a small collection weighs nothing [D]
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass
class WordStatistics:
    """Counts over documents, which come one by one. `by_hand` are weights that the operator has set (ZK-F2)."""

    by_hand: Mapping[str, float] = field(default_factory=dict)
    documents: int = 0
    occurrences: Counter[str] = field(default_factory=Counter)  # f_i
    holding: Counter[str] = field(default_factory=Counter)  # N_i
    _total: int = 0  # of f_i
    _total_log: float = 0.0  # of f_i * ln N_i

    def add(self, counts: Mapping[str, int]) -> None:
        """Take a document's words."""
        self.documents += 1
        self._total += sum(counts.values())
        self._total_log -= self._logs(counts)
        self.occurrences.update(counts)
        self.holding.update(counts.keys())
        self._total_log += self._logs(counts)

    def weight(self, word: str) -> float:
        """ZK-F2. The mean weight of all words for one that no document holds; 0 for one that every document holds."""
        if word in self.by_hand:
            return self.by_hand[word]
        if word in self.holding:
            return self._own_weight(word)
        return self.mean_weight()

    def mean_weight(self) -> float:
        """The mean ZK-F2 weight of the words seen; 0 before any. Kept up by sums: a page may not cost all words."""
        if not self.holding:
            return 0.0
        total = self._total * math.log(self.documents) - self._total_log
        return total / self.documents / len(self.holding)

    def idf(self, word: str) -> float:
        """WY-F12: ln((N + 1) / (n_t + 1/2)); near 0, and above it, for a word that every document holds."""
        return math.log((self.documents + 1) / (self.holding[word] + 0.5))

    def _own_weight(self, word: str) -> float:
        return self.occurrences[word] / self.documents * math.log(self.documents / self.holding[word])

    def _logs(self, words: Iterable[str]) -> float:
        """The sum of f_i * ln N_i of the words that were seen."""
        return sum(self.occurrences[word] * math.log(self.holding[word]) for word in words if word in self.holding)
