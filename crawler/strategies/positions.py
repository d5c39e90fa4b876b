"""Words by where they stand on a page: Zhang's weighted frequency and Wu's position values."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from crawler.strategies.focus import (
    ANCHOR,
    CONTENT,
    NAVIGATION,
    OTHER,
    TITLE,
    PageWords,
    WordBlock,
)
from semantics.sparse import unit
from semantics.word_weights import WordStatistics

# ZJ-F3 [D]: title 3, anchor 1.5, text 1, meta words 0.5 (they can be faked)
ZHANG = {TITLE: 3.0, ANCHOR: 1.5, CONTENT: 1.0, NAVIGATION: 1.0, OTHER: 1.0}
META = 0.5
# WY-F14 [D]
WU = {TITLE: 1.0, CONTENT: 0.6, ANCHOR: 0.5, OTHER: 0.3, NAVIGATION: 0.1}


def weighted_frequency(page: PageWords) -> dict[str, float]:
    """ZJ-F3: wtf = sum of position weight * count, as a share of the page's total."""
    found: dict[str, float] = {}
    for block in merged(page.blocks):
        weight = ZHANG[block.kind]
        for word, count in Counter(block.words).items():
            found[word] = found.get(word, 0.0) + weight * count
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


def merged(blocks: Sequence[WordBlock]) -> tuple[WordBlock, ...]:
    """One block a kind: f_l is by kind, and a word does not count more for a text that is cut into more blocks [D]."""
    kinds = dict.fromkeys(block.kind for block in blocks)
    return tuple(merged_kind([block for block in blocks if block.kind == kind]) for kind in kinds)


def merged_kind(blocks: Sequence[WordBlock]) -> WordBlock:
    """Blocks of one kind as one."""
    words = tuple(chain.from_iterable(block.words for block in blocks))
    return WordBlock(blocks[0].kind, words, sum(block.weight for block in blocks))


def position_weights(
    blocks: Sequence[WordBlock],
    statistics: WordStatistics,
    positions: Mapping[str, float] = WU,
) -> dict[str, float]:
    """WY-F13: tf * idf * sum of the position values of the blocks that hold the term, made a unit vector."""
    counts = Counter(chain.from_iterable(block.words for block in blocks))
    weighted: Mapping[str, float] = counts  # of a single block: its position's value is a factor of all
    if len(blocks) > 1:
        values: Counter[str] = Counter()
        for block in blocks:
            for word in set(block.words):
                values[word] += positions[block.kind]  # type: ignore[assignment]
        weighted = {word: count * values[word] for word, count in counts.items()}
    return unit(statistics.by_idf(weighted))
