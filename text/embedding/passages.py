"""A text cut into passages of whole sentences, each short enough for a model to read. Pure.

    passages_of("...")      [Passage(0, 240), Passage(240, 471), ...]: runs of characters that follow each other
    beginning("...", 256)   as many characters as hold about 256 tokens

A token is a Chinese character, or about four letters of a Latin word: near enough for a length, and no model is needed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from text.scripts import UNSPACED_SCRIPTS

PASSAGE_TOKENS = 160.0
TOKENS_PER_LATIN_CHAR = 0.25  # of a letter, blanks and signs among them
MAX_TEXT_CHARS = 500_000  # characters of a text; what the index holds of it is no longer

_DENSE = re.compile(f"[{UNSPACED_SCRIPTS}]")
_SENTENCE = re.compile(r".*?(?:\n+|[。！？；…]+[”’」』）)]*|[.!?;]+[\"')\]]*(?=\s)|\Z)", re.S)


@dataclass(frozen=True)
class Passage:
    """The characters of a text from `start` to before `end`."""

    start: int
    end: int


def estimate_tokens(text: str) -> float:
    """About how many tokens a model makes of a text."""
    dense = len(_DENSE.findall(text))
    return dense + TOKENS_PER_LATIN_CHAR * (len(text) - dense)


def truncate_to_tokens(text: str, max_tokens: float) -> str:
    """The first characters of a text that are about so many tokens."""
    token_count = 0.0
    for index, character in enumerate(text):
        token_count += 1.0 if character >= "\u2e80" else TOKENS_PER_LATIN_CHAR
        if token_count > max_tokens:
            return text[:index]
    return text


def iter_passages(text: str, max_tokens: float = PASSAGE_TOKENS) -> Iterator[Passage]:
    """Passages of about so many tokens, none of blanks alone; a longer sentence is cut where it has to be.

    A passage begins where the one before it ended.
    """
    text = text[:MAX_TEXT_CHARS]
    start, end, passage_tokens = 0, 0, 0.0
    for first, last in _iter_sentence_spans(text, max_tokens):
        size = estimate_tokens(text[first:last])
        if passage_tokens and passage_tokens + size > max_tokens:
            yield Passage(start, end)
            start, passage_tokens = first, 0.0
        end, passage_tokens = last, passage_tokens + size
    if text[start:end].strip():
        yield Passage(start, end)


def _iter_sentence_spans(text: str, max_tokens: float) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end, with the pieces of those that are too long."""
    max_chars = int(max_tokens / TOKENS_PER_LATIN_CHAR) + 1  # characters that so many tokens can be at most
    for match in _SENTENCE.finditer(text):
        first, last = match.span()
        while (cut := first + len(truncate_to_tokens(text[first : min(last, first + max_chars)], max_tokens))) < last:
            yield first, cut
            first = cut
        if first < last:
            yield first, last
