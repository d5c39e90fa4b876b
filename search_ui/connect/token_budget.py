"""Keeps answers within the token budget of a language model, by an estimate that needs no tokenizer."""

import json
import math
from collections.abc import Iterator
from typing import Any

MAX_ANSWER_TOKENS = 2000  # of one answer, including its citations
# Fitted so that answers have at most as many tokens with cl100k_base and o200k_base.
ASCII_TOKENS = 1 / 3  # of an ASCII character
DIGIT_TOKENS = 1.0  # of a digit or percent sign: ids and encoded URLs have few characters in a token
OTHER_TOKENS = 1.3  # of another character
_SENTENCE_ENDS = "。！？；.!?;\n"


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text from its characters."""
    return math.ceil(sum(map(_estimate_char, text)))


def _estimate_char(char: str) -> float:
    if not char.isascii():
        return OTHER_TOKENS
    return DIGIT_TOKENS if char.isdigit() or char == "%" else ASCII_TOKENS


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
    return _estimate_char(char) if char.isalnum() else sum(map(_estimate_char, to_json(char)[1:-1]))
