"""A corpus of any size whose vocabulary grows: real documents over and over, each time with other words in places."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from semantics.segment import cut_finely

SUBSTITUTED = 0.1  # of the distinct words, each time the documents are gone through


def write_corpus(texts: Sequence[str], megabytes: float, path: Path) -> int:
    """Write documents of about so many MB (UTF-8) in all, a JSON string a line; returns the number of characters."""
    size, characters = 0, 0
    with path.open("w", encoding="utf-8") as file:
        for text in multiplied(texts, random.Random(7)):
            file.write(json.dumps(text, ensure_ascii=False) + "\n")
            size, characters = size + len(text.encode()), characters + len(text)
            if size >= megabytes * 1e6:
                return characters
    return characters


def multiplied(texts: Sequence[str], chance: random.Random) -> Iterator[str]:
    """The texts without end, first as they are."""
    cut = [cut_finely(text) for text in texts]
    distinct = sorted({word for words in cut for word in words if len(word) > 1 and word.isalpha()})
    letters = sorted({letter for word in distinct for letter in word if letter > "\u2e80"})
    others: dict[str, str] = {}
    while True:
        for words in cut:
            yield "".join(others.get(word, word) for word in words)
        chosen = chance.sample(distinct, int(len(distinct) * SUBSTITUTED))
        others = {word: "".join(chance.choices(letters, k=2)) for word in chosen}
