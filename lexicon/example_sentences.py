"""Example sentences that show terms in use."""

import re
from collections.abc import Callable, Collection, Iterator

from text.folding import INSIDE_WORD_RE, fold_term
from text.mixed_terms import MixedTermMatcher

_CLOSING_PUNCTUATION = "”’」』）)】》〉］]"
# A quotation or a bracket that closes after the end still belongs to the sentence.
_SENTENCE_END = re.compile(
    rf"\n|(?:[。！？!?；;]|\.(?=[\s{re.escape(_CLOSING_PUNCTUATION)}]))[{re.escape(_CLOSING_PUNCTUATION)}]*"
)


def find_example_sentences(
    text: str, keys: Collection[str], max_chars: int, is_eligible_line: Callable[[str], bool] = lambda line: True
) -> dict[str, str]:
    """Return for each term the first sentence of `text` that contains it. Terms without a match are missing.

    Args:
        text: text to search. It is folded once for all terms.
        keys: `word_key`s of the terms.
        max_chars: longer sentences are cut around the term to this length, in characters.
        is_eligible_line: returns False for lines whose sentences are not used. A term found only inside a word ignores
            it.
    """
    eligible_by_line_start: dict[int, bool] = {}

    def is_eligible(position: int) -> bool:
        start, end = text.rfind("\n", 0, position) + 1, text.find("\n", position)
        if start not in eligible_by_line_start:
            eligible_by_line_start[start] = is_eligible_line(text[start : end if end >= 0 else None])
        return eligible_by_line_start[start]

    positions = _find_first_positions(fold_term(text), keys, is_eligible)
    return {key: _cut_sentence(text, start, end, max_chars) for key, start, end in positions}


def _find_first_positions(
    folded_text: str, keys: Collection[str], is_eligible: Callable[[int], bool]
) -> Iterator[tuple[str, int, int]]:
    """Yield the first eligible position of each term in a folded text, as key, start and end."""
    missing = set()
    for key in keys:
        if (start := _find_at_word_boundary(folded_text, key, is_eligible)) >= 0:
            yield key, start, start + len(key)
        else:
            missing.add(key)
    # Terms written with other spaces than their key: `PDC 钻头`.
    for start, end, key in MixedTermMatcher(missing).iter_matches(folded_text, overlapping=True):
        if key in missing and is_eligible(start):
            missing.remove(key)
            yield key, start, end
    yield from (
        (key, start, start + len(key)) for key in missing if (start := folded_text.find(key)) >= 0
    )  # inside a word


def _find_at_word_boundary(folded_text: str, key: str, is_eligible: Callable[[int], bool]) -> int:
    """Return the first eligible position of `key` at word boundaries, -1 for none."""
    start = folded_text.find(key)
    while start >= 0:
        if not (
            _is_inside_latin_word(folded_text, start) or _is_inside_latin_word(folded_text, start + len(key))
        ) and is_eligible(start):
            return start
        start = folded_text.find(key, start + 1)
    return -1


def _is_inside_latin_word(text: str, position: int) -> bool:
    return INSIDE_WORD_RE.match(text, position) is not None


def _cut_sentence(text: str, start: int, end: int, max_chars: int) -> str:
    sentence_starts = [match.end() for match in _SENTENCE_END.finditer(text, max(0, start - max_chars), start)]
    sentence_end = _SENTENCE_END.search(text, end)
    cut_start = sentence_starts[-1] if sentence_starts else max(0, start - max_chars)
    cut_end = sentence_end.end() if sentence_end else len(text)
    if cut_end - cut_start > max_chars:
        cut_start = max(cut_start, start - max(0, max_chars - (end - start)) // 2)
        cut_end = min(cut_end, cut_start + max_chars)
        # Move both ends inwards, at most to the term, so that no Latin word is cut.
        while cut_start < start and _is_inside_latin_word(text, cut_start):
            cut_start += 1
        while cut_end > end and _is_inside_latin_word(text, cut_end):
            cut_end -= 1
    text_before_term = text[cut_start:start].lstrip(_CLOSING_PUNCTUATION + ",，、。.;； \t\u3000")
    return (text_before_term + text[start:cut_end]).strip()
