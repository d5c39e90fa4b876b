"""Split a text into passages of whole sentences, each short enough for a model. Pure.

    iter_passages("...")              Passage(0, 240), Passage(240, 471), ...: consecutive runs of characters
    truncate_to_tokens("...", 256)    the first characters, about 256 tokens

A token is a Chinese character or about four letters of a Latin word. This estimate needs no model.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from text.scripts import UNSPACED_SCRIPTS

PASSAGE_TOKENS = 160.0
TOKENS_PER_LATIN_CHAR = 0.25  # per character, blanks and signs included
MAX_TEXT_CHARS = 500_000  # per text; the index stores no more

_DENSE = re.compile(f"[{UNSPACED_SCRIPTS}]")
_SENTENCE = re.compile(r".*?(?:\n+|[。！？；…]+[”’」』）)]*|(?<![.!?;])[.!?;]++[\"')\]]*+(?=\s)|\Z)", re.S)


@dataclass(frozen=True)
class Passage:
    """The characters of a text from `start` to before `end`."""

    start: int
    end: int


def estimate_tokens(text: str) -> float:
    """Estimate the number of tokens of a text."""
    dense = len(_DENSE.findall(text))
    return dense + TOKENS_PER_LATIN_CHAR * (len(text) - dense)


def truncate_to_tokens(text: str, max_tokens: float) -> str:
    """Return the first characters of a text, about `max_tokens` tokens."""
    token_count = 0.0
    for index, character in enumerate(text):
        token_count += 1.0 if character >= "\u2e80" else TOKENS_PER_LATIN_CHAR
        if token_count > max_tokens:
            return text[:index]
    return text


def iter_passages(text: str, max_tokens: float = PASSAGE_TOKENS) -> Iterator[Passage]:
    """Iterate over passages of about `max_tokens` tokens. A longer sentence is split; blank passages are omitted.

    A passage begins where the previous one ended.
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
    """Yield start and end of each sentence, or of its pieces if it is too long."""
    max_chars = int(max_tokens / TOKENS_PER_LATIN_CHAR) + 1  # upper bound of the characters of a piece
    for match in _SENTENCE.finditer(text):
        first, last = match.span()
        while (cut := first + len(truncate_to_tokens(text[first : min(last, first + max_chars)], max_tokens))) < last:
            yield first, cut
            first = cut
        if first < last:
            yield first, last
