"""How much a word says, by the documents seen so far.

ZK-F2   (f_i / N) * ln(N / N_i): Zhou's weight, words unseen get the mean, some are set by hand
WY-F12  ln((N + 1) / (n_t + 1/2)): Wu's idf, smoothed so that no word of a small collection weighs nothing [D]
"""

import math
import operator
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat


@dataclass
class WordStatistics:
    """How many documents hold a word. They come one by one."""

    documents: int = 0
    holding: Counter[str] = field(default_factory=Counter)  # n_t
    _logs: list[float] = field(default_factory=lambda: [math.log(0.5)])  # ln(n + 1/2) of as many documents

    def add(self, counts: Mapping[str, int]) -> None:
        """Take a document's words."""
        self.documents += 1
        self._logs.append(math.log(self.documents + 0.5))
        self.holding.update(counts.keys())

    def idf(self, word: str) -> float:
        """WY-F12: ln((N + 1) / (n_t + 1/2)); near 0, and above it, for a word that every document holds."""
        return self.by_idf({word: 1.0})[word]

    def by_idf(self, values: Mapping[str, float]) -> dict[str, float]:
        """Each word's value times its idf."""
        first, logs, holding = math.log(self.documents + 1), self._logs, self.holding.get
        return {word: value * (first - logs[holding(word, 0)]) for word, value in values.items()}


@dataclass
class WordWeights(WordStatistics):
    """Zhou's weights, for which occurrences count too. `by_hand` are weights that the operator has set (ZK-F2)."""

    by_hand: Mapping[str, float] = field(default_factory=dict)
    occurrences: dict[str, int] = field(default_factory=dict)  # f_i
    _total: int = 0  # of f_i
    _total_log: float = 0.0  # of f_i * ln N_i
    _whole_logs: list[float] = field(default_factory=lambda: [0.0])  # ln N_i of as many documents; 0 for none

    def add(self, counts: Mapping[str, int]) -> None:
        """Take a document's words."""
        super().add(counts)
        self._whole_logs.append(math.log(self.documents))
        self._total += sum(counts.values())
        before = list(map(self.occurrences.get, counts, repeat(0)))
        after = list(map(operator.add, before, counts.values()))
        held = list(map(self.holding.__getitem__, counts))
        logs = self._whole_logs
        self.occurrences.update(zip(counts, after, strict=True))
        self._total_log += sum(map(operator.mul, after, [logs[n] for n in held]))
        self._total_log -= sum(map(operator.mul, before, [logs[n - 1] for n in held]))

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

    def _own_weight(self, word: str) -> float:
        return self.occurrences[word] / self.documents * math.log(self.documents / self.holding[word])
