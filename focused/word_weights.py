"""Word weights from the documents seen so far.

ZK-F2   (f_i / N) * ln(N / N_i): Zhou's weight; unseen words get the mean; some weights are set manually
WY-F12  ln((N + 1) / (n_t + 1/2)): Wu's idf, smoothed so that no word of a small collection has weight zero [D]
"""

import math
import operator
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat


@dataclass
class WordStatistics:
    """Document frequencies of words, updated document by document."""

    document_count: int = 0
    document_frequency: Counter[str] = field(default_factory=Counter)  # n_t
    _smoothed_logs: list[float] = field(default_factory=lambda: [math.log(0.5)])  # ln(n + 1/2) by number of documents

    def add(self, counts: Mapping[str, int]) -> None:
        """Add the word counts of a document."""
        self.document_count += 1
        self._smoothed_logs.append(math.log(self.document_count + 0.5))
        self.document_frequency.update(counts.keys())

    def idf(self, word: str) -> float:
        """WY-F12: ln((N + 1) / (n_t + 1/2)). Slightly above 0 for a word that every document contains."""
        return self.scale_by_idf({word: 1.0})[word]

    def scale_by_idf(self, values: Mapping[str, float]) -> dict[str, float]:
        """Multiply each word's value by its idf."""
        log_total, logs, document_count_of = (
            math.log(self.document_count + 1),
            self._smoothed_logs,
            self.document_frequency.get,
        )
        return {word: value * (log_total - logs[document_count_of(word, 0)]) for word, value in values.items()}


@dataclass
class WordWeights(WordStatistics):
    """Zhou's weights, which also use term frequencies. The administrator sets `manual_weights` (ZK-F2)."""

    manual_weights: Mapping[str, float] = field(default_factory=dict)
    term_frequency: dict[str, int] = field(default_factory=dict)  # f_i
    _total_frequency: int = 0  # sum of f_i
    _weighted_log_sum: float = 0.0  # sum of f_i * ln N_i
    _logs_by_count: list[float] = field(default_factory=lambda: [0.0])  # ln N_i by number of documents; 0 for none

    def add(self, counts: Mapping[str, int]) -> None:
        """Add the word counts of a document."""
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
        """ZK-F2. The mean weight for a word that no document contains, 0 for a word that every document contains."""
        if word in self.manual_weights:
            return self.manual_weights[word]
        if word in self.document_frequency:
            return (
                self.term_frequency[word]
                / self.document_count
                * math.log(self.document_count / self.document_frequency[word])
            )
        if not self.document_frequency:
            return 0.0
        # The mean weight of the seen words, from running sums: the cost is constant.
        total = self._total_frequency * math.log(self.document_count) - self._weighted_log_sum
        return total / self.document_count / len(self.document_frequency)
