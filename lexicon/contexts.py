"""The sentences that show a term in use."""

import re

from semantics.folding import ALPHABETIC, fold_term
from semantics.mixed_terms import MixedTerms

_CLOSING = "”’」』）)】》〉］]"
# A quotation or a bracket that closes after the end still belongs to the sentence.
_SENTENCE_END = re.compile(rf"(?:[。！？!?；;\n]|\.(?=[\s{re.escape(_CLOSING)}]))[{re.escape(_CLOSING)}]*")

_INSIDE_WORD = re.compile(f"(?<={ALPHABETIC})(?={ALPHABETIC})")


def find_context(text: str, key: str, longest: int) -> str | None:
    """The first sentence of `text` that holds the term with this `word_key`; None if there is none.

    A sentence of more than `longest` characters is cut to that many around the term.
    """
    span = _find(text, key)
    return _sentence(text, *span, longest) if span else None


def _find(text: str, key: str) -> tuple[int, int] | None:
    start = fold_term(text).find(key)
    if start >= 0:
        return start, start + len(key)
    # Written with other blanks than its key has: `PDC 钻头`.
    return next(MixedTerms([key]).spans(text), None)


def _sentence(text: str, start: int, end: int, longest: int) -> str:
    before = [match.end() for match in _SENTENCE_END.finditer(text, max(0, start - longest), start)]
    after = _SENTENCE_END.search(text, end)
    left = before[-1] if before else max(0, start - longest)
    right = after.end() if after else len(text)
    if right - left > longest:
        left = max(left, start - max(0, longest - (end - start)) // 2)
        right = min(right, left + longest)
        left, right = _whole_words(text, left, start, end, right)
    opening = text[left:start].lstrip(_CLOSING + ",，、。.;； \t\u3000")
    return (opening + text[start:right]).strip()


def _whole_words(text: str, left: int, start: int, end: int, right: int) -> tuple[int, int]:
    """`left` and `right` moved inwards, up to the term, to where no Latin word is cut."""
    while left < start and _INSIDE_WORD.match(text, left):
        left += 1
    while right > end and _INSIDE_WORD.match(text, right):
        right -= 1
    return left, right
