"""A corpus of any size with a growing vocabulary: real documents, repeated with some words replaced."""

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.terms_texts import write_texts
from text.segment import cut_by_dictionary

SUBSTITUTED = 0.1  # of the distinct words, each time the documents are gone through


def write_corpus(texts: Sequence[str], megabytes: float, path: Path) -> int:
    """Write documents with about the given number of MB (UTF-8). Returns the number of characters."""
    sizes: list[int] = []
    write_texts(_counted(_up_to(multiplied(texts, random.Random(7)), megabytes * 1e6), sizes), path)
    return sum(sizes)


def _up_to(texts: Iterable[str], size: float) -> Iterator[str]:
    for text in texts:
        yield text
        size -= len(text.encode())
        if size <= 0:
            return


def _counted(texts: Iterable[str], sizes: list[int]) -> Iterator[str]:
    for text in texts:
        sizes.append(len(text))
        yield text


def multiplied(texts: Sequence[str], chance: random.Random) -> Iterator[str]:
    """Yield texts without end, first unchanged."""
    cut = [cut_by_dictionary(text) for text in texts]
    distinct = sorted({word for words in cut for word in words if len(word) > 1 and word.isalpha()})
    letters = sorted({letter for word in distinct for letter in word if letter > "\u2e80"})
    others: dict[str, str] = {}
    while True:
        for words in cut:
            yield "".join(others.get(word, word) for word in words)
        chosen = chance.sample(distinct, int(len(distinct) * SUBSTITUTED))
        others = {word: "".join(chance.choices(letters, k=2)) for word in chosen}
