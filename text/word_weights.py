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

    document_count: int = 0
    document_frequency: Counter[str] = field(default_factory=Counter)  # n_t
    _smoothed_logs: list[float] = field(default_factory=lambda: [math.log(0.5)])  # ln(n + 1/2) of as many documents

    def add(self, counts: Mapping[str, int]) -> None:
        """Take a document's words."""
        self.document_count += 1
        self._smoothed_logs.append(math.log(self.document_count + 0.5))
        self.document_frequency.update(counts.keys())

    def idf(self, word: str) -> float:
        """WY-F12: ln((N + 1) / (n_t + 1/2)); near 0, and above it, for a word that every document holds."""
        return self.scale_by_idf({word: 1.0})[word]

    def scale_by_idf(self, values: Mapping[str, float]) -> dict[str, float]:
        """Each word's value times its idf."""
        log_total, logs, holding = math.log(self.document_count + 1), self._smoothed_logs, self.document_frequency.get
        return {word: value * (log_total - logs[holding(word, 0)]) for word, value in values.items()}


@dataclass
class WordWeights(WordStatistics):
    """Zhou's weights, for which occurrences count too. `manual_weights` are weights that the operator has set (ZK-F2)."""

    manual_weights: Mapping[str, float] = field(default_factory=dict)
    term_frequency: dict[str, int] = field(default_factory=dict)  # f_i
    _total_frequency: int = 0  # of f_i
    _weighted_log_sum: float = 0.0  # of f_i * ln N_i
    _logs_by_count: list[float] = field(default_factory=lambda: [0.0])  # ln N_i of as many documents; 0 for none

    def add(self, counts: Mapping[str, int]) -> None:
        """Take a document's words."""
        super().add(counts)
        self._logs_by_count.append(math.log(self.document_count))
        self._total_frequency += sum(counts.values())
        frequencies_before = list(map(self.term_frequency.get, counts, repeat(0)))
        frequencies_after = list(map(operator.add, frequencies_before, counts.values()))
        document_frequencies = list(map(self.document_frequency.__getitem__, counts))
        logs = self._logs_by_count
        self.term_frequency.update(zip(counts, frequencies_after, strict=True))
        self._weighted_log_sum += sum(map(operator.mul, frequencies_after, [logs[n] for n in document_frequencies]))
        self._weighted_log_sum -= sum(
            map(operator.mul, frequencies_before, [logs[n - 1] for n in document_frequencies])
        )

    def weight(self, word: str) -> float:
        """ZK-F2. The mean weight of all words for one that no document holds; 0 for one that every document holds."""
        if word in self.manual_weights:
            return self.manual_weights[word]
        if word in self.document_frequency:
            return self._seen_weight(word)
        return self.mean_weight()

    def mean_weight(self) -> float:
        """The mean ZK-F2 weight of the words seen; 0 before any. Kept up by sums: a page may not cost all words."""
        if not self.document_frequency:
            return 0.0
        total = self._total_frequency * math.log(self.document_count) - self._weighted_log_sum
        return total / self.document_count / len(self.document_frequency)

    def _seen_weight(self, word: str) -> float:
        return (
            self.term_frequency[word]
            / self.document_count
            * math.log(self.document_count / self.document_frequency[word])
        )
