"""Words by where they stand on a page: Zhang's weighted frequency and Wu's position values."""

from collections import Counter
from collections.abc import Mapping, Sequence

from crawler.guide import (
    ANCHOR,
    CONTENT,
    NAVIGATION,
    OTHER,
    TITLE,
    PageWords,
    WordBlock,
)
from text.sparse import unit
from text.word_weights import WordStatistics

# ZJ-F3 [D]: title 3, anchor 1.5, text 1, meta words 0.5 (they can be faked)
ZHANG = {TITLE: 3.0, ANCHOR: 1.5, CONTENT: 1.0, NAVIGATION: 1.0, OTHER: 1.0}
META = 0.5
# WY-F14 [D]
WU = {TITLE: 1.0, CONTENT: 0.6, ANCHOR: 0.5, OTHER: 0.3, NAVIGATION: 0.1}


def weighted_frequency(page: PageWords) -> dict[str, float]:
    """ZJ-F3: wtf = sum of position weight * count, as a share of the page's total."""
    found: dict[str, float] = {}
    for kind, counts in sorted(page.by_kind.items(), key=lambda pair: -len(pair[1])):  # few words are added up
        weight, before = ZHANG[kind], found.get
        found |= {word: before(word, 0.0) + weight * count for word, count in counts.items()}
    for word in page.description:
        found[word] = found.get(word, 0.0) + META
    total = sum(found.values())
    return {word: value / total for word, value in found.items()}


def term_weights(blocks: Sequence[WordBlock], most: int) -> dict[str, float]:
    """WY-F6 and WY-A1: the `most` terms of a page that weigh most, their weights a share of all."""
    found: Counter[str] = Counter()
    for block in blocks:
        for word, count in Counter(block.words).items():
            found[word] += block.weight * count  # type: ignore[assignment]
    total = sum(found.values())
    return {word: value / total for word, value in found.most_common(most)} if total else {}


def position_weights(by_kind: Mapping[str, Mapping[str, int]], statistics: WordStatistics) -> dict[str, float]:
    """WY-F13: tf * idf * sum of the position values of the blocks that hold the term, made a unit vector."""
    counts, values = Counter[str](), dict[str, float]()
    for kind, words in by_kind.items():
        counts.update(words)
        values |= {word: values.get(word, 0.0) + WU[kind] for word in words}
    return unit(statistics.by_idf({word: count * values[word] for word, count in counts.items()}))
