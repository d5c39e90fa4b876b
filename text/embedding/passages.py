"""A text cut into passages of whole sentences, each short enough for a model to read. Pure.

    passages_of("...")      [Passage(0, 240), Passage(240, 471), ...]: runs of characters that follow each other
    beginning("...", 256)   as many characters as hold about 256 tokens

A token is a Chinese character, or about four letters of a Latin word: near enough for a length, and no model is needed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from text.scripts import DENSE

PASSAGE_TOKENS = 160.0
LATIN_TOKEN = 0.25  # of a letter, blanks and signs among them
LONGEST_READ = 500_000  # characters of a text; what the index holds of it is no longer

_DENSE = re.compile(f"[{DENSE}]")
_SENTENCE = re.compile(r".*?(?:\n+|[。！？；…]+[”’」』）)]*|[.!?;]+[\"')\]]*(?=\s)|\Z)", re.S)


@dataclass(frozen=True)
class Passage:
    """The characters of a text from `start` to before `end`."""

    start: int
    end: int


def tokens_in(text: str) -> float:
    """About how many tokens a model makes of a text."""
    dense = len(_DENSE.findall(text))
    return dense + LATIN_TOKEN * (len(text) - dense)


def beginning(text: str, tokens: float) -> str:
    """The first characters of a text that are about so many tokens."""
    taken = 0.0
    for place, character in enumerate(text):
        taken += 1.0 if character >= "\u2e80" else LATIN_TOKEN
        if taken > tokens:
            return text[:place]
    return text


def passages_of(text: str, tokens: float = PASSAGE_TOKENS) -> Iterator[Passage]:
    """Passages of about so many tokens, none of blanks alone; a longer sentence is cut where it has to be.

    A passage begins where the one before it ended.
    """
    text = text[:LONGEST_READ]
    start, end, held = 0, 0, 0.0
    for first, last in _sentences(text, tokens):
        size = tokens_in(text[first:last])
        if held and held + size > tokens:
            yield Passage(start, end)
            start, held = first, 0.0
        end, held = last, held + size
    if text[start:end].strip():
        yield Passage(start, end)


def _sentences(text: str, tokens: float) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end, with the pieces of those that are too long."""
    most = int(tokens / LATIN_TOKEN) + 1  # characters that so many tokens can be at most
    for match in _SENTENCE.finditer(text):
        first, last = match.span()
        while (cut := first + len(beginning(text[first : min(last, first + most)], tokens))) < last:
            yield first, cut
            first = cut
        if first < last:
            yield first, last
