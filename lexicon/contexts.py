"""The sentences that show terms in use."""

import re
from collections.abc import Callable, Collection, Iterator

from text.folding import ALPHABETIC, fold_term, word_key
from text.mixed_terms import MixedTerms

_CLOSING = "”’」』）)】》〉］]"
# A quotation or a bracket that closes after the end still belongs to the sentence.
_SENTENCE_END = re.compile(rf"\n|(?:[。！？!?；;]|\.(?=[\s{re.escape(_CLOSING)}]))[{re.escape(_CLOSING)}]*")

_INSIDE_WORD = re.compile(f"(?<={ALPHABETIC})(?={ALPHABETIC})")


def find_contexts(
    text: str, keys: Collection[str], longest: int, shows: Callable[[str], bool] = lambda line: True
) -> dict[str, str]:
    """For each term of these `word_key`s the first sentence of `text` that holds it, in a line that `shows` terms. The
    text is folded once.

    A sentence of more than `longest` characters is cut to that many around the term.
    """
    fit: dict[int, bool] = {}

    def is_fit(place: int) -> bool:
        start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
        if start not in fit:
            fit[start] = shows(text[start : end if end >= 0 else None])
        return fit[start]

    places = _places(fold_term(text), keys, is_fit)
    return {key: _sentence(text, start, end, longest) for key, start, end in places}


def _places(folded: str, keys: Collection[str], is_fit: Callable[[int], bool]) -> Iterator[tuple[str, int, int]]:
    """The first fit place of each term in a folded text."""
    missing = set()
    for key in keys:
        if (start := _find(folded, key, is_fit)) >= 0:
            yield key, start, start + len(key)
        else:
            missing.add(key)
    # Written with other blanks than its key has: `PDC 钻头`; of those that overlap one at a time.
    while missing:
        found: set[str] = set()
        for start, end in MixedTerms(missing).spans_of_folded(folded):
            key = word_key(folded[start:end])
            if key in missing and key not in found and is_fit(start):
                found.add(key)
                yield key, start, end
        missing -= found
        if not found:
            break
    yield from ((key, start, start + len(key)) for key in missing if (start := folded.find(key)) >= 0)  # in a word


def _find(folded: str, key: str, is_fit: Callable[[int], bool]) -> int:
    """The first fit place of `key`, at the limits of words; -1 for none."""
    start = folded.find(key)
    while start >= 0:
        if not (_is_inside(folded, start) or _is_inside(folded, start + len(key))) and is_fit(start):
            return start
        start = folded.find(key, start + 1)
    return -1


def _is_inside(text: str, place: int) -> bool:
    return _INSIDE_WORD.match(text, place) is not None


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
