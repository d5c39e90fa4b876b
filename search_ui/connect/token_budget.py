"""Keeps answers within the token budget of a language model, by an estimate that needs no tokenizer."""

import json
import math
from collections.abc import Iterator
from typing import Any

MAX_ANSWER_TOKENS = 2000  # of one answer, including its citations
ASCII_CHARS_PER_TOKEN = 3
TOKENS_PER_OTHER_CHAR = 1.3  # of Chinese with cl100k_base, which has more tokens than newer tokenizers
_SENTENCE_ENDS = "。！？；.!?;\n"


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text from the number of its ASCII characters and of its other characters."""
    ascii_count = sum(map(str.isascii, text))
    return math.ceil((len(text) - ascii_count) * TOKENS_PER_OTHER_CHAR + ascii_count / ASCII_CHARS_PER_TOKEN)


def estimate_json_tokens(value: Any) -> int:
    """Estimate the tokens of a value in the JSON format of the answers."""
    return estimate_tokens(to_json(value))


def to_json(value: Any) -> str:
    """Return a value as compact JSON with readable Chinese characters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shorten(text: str, max_tokens: int) -> str:
    """Return a text of at most `max_tokens`, with an ellipsis if it was cut."""
    head = next(iter_parts(text, max(1, max_tokens - 1)), "")
    return text if len(head) == len(text) else f"{head.rstrip()}…"


def iter_parts(text: str, max_tokens: int) -> Iterator[str]:
    """Yield the text in parts of at most `max_tokens` in JSON, cut after sentences where possible."""
    start, tokens, sentence_end = 0, 0.0, 0
    for index, char in enumerate(text):
        tokens_of_char = _json_tokens_of_char(char)
        if tokens + tokens_of_char > max_tokens and index > start:
            end = sentence_end if sentence_end > start + (index - start) // 2 else index
            yield text[start:end]
            tokens = sum(map(_json_tokens_of_char, text[end:index]))
            start = end
        tokens += tokens_of_char
        if char in _SENTENCE_ENDS:
            sentence_end = index + 1
    if start < len(text):
        yield text[start:]


def _json_tokens_of_char(char: str) -> float:
    if not char.isascii():
        return TOKENS_PER_OTHER_CHAR
    return (len(json.dumps(char)) - 2) / ASCII_CHARS_PER_TOKEN
