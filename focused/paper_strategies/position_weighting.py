"""Word weights by position on the page: Zhang's weighted frequency and Wu's position values."""

from collections import Counter
from collections.abc import Mapping, Sequence

from crawler.focused_policy import PageWords, WordBlock
from focused.sparse_vectors import normalize
from focused.word_weights import WordStatistics


def position_weighted_frequency(page: PageWords, position_weights: Mapping[str, float]) -> dict[str, float]:
    """Return ZJ-F3: wtf = sum of position weight * count, as a share of the page's total."""
    weights: dict[str, float] = {}
    for kind, counts in sorted(
        page.counts_by_kind.items(), key=lambda pair: -len(pair[1])
    ):  # largest kind first, for speed
        weight, previous_weight = position_weights[kind], weights.get
        weights |= {word: previous_weight(word, 0.0) + weight * count for word, count in counts.items()}
    for word in page.description:
        weights[word] = weights.get(word, 0.0) + position_weights["description"]
    total = sum(weights.values())
    return {word: value / total for word, value in weights.items()} if total else {}


def top_block_weighted_terms(blocks: Sequence[WordBlock], limit: int) -> dict[str, float]:
    """Return the `limit` heaviest terms of a page with their share of the total weight (WY-F6 and WY-A1)."""
    weights: Counter[str] = Counter()
    for block in blocks:
        for word, count in Counter(block.words).items():
            weights[word] += block.weight * count  # type: ignore[assignment]
    total = sum(weights.values())
    return {word: value / total for word, value in weights.most_common(limit)} if total else {}


def position_weighted_tfidf(
    by_kind: Mapping[str, Mapping[str, int]], statistics: WordStatistics, position_values: Mapping[str, float]
) -> dict[str, float]:
    """Return WY-F13 as a unit vector: tf * idf * sum of the position values of the block kinds."""
    counts, position_sums = Counter[str](), dict[str, float]()
    for kind, words in by_kind.items():
        counts.update(words)
        position_sums |= {word: position_sums.get(word, 0.0) + position_values[kind] for word in words}
    return normalize(statistics.scale_by_idf({word: count * position_sums[word] for word, count in counts.items()}))
