"""Find terms in any text, also those that a Chinese segmenter splits, in time linear in the text.

jieba splits a text into blocks of Chinese and ASCII word characters before the dictionary lookup. A term with a space,
a slash or a Greek letter spans blocks and is never found. `AI` in the dictionary splits `OpenAI`. Matching is
case-sensitive. Every term that is not purely Chinese is therefore matched here, before jieba: leftmost-longest, with
case and width folded, at word boundaries (`AI` not in `OpenAI`, `2号井` not in `12号井`), with an optional blank
beside Chinese characters and others of scripts without blanks.

Terms and texts are read in units: a run of letters and digits, or any other character, with the blank before it. The
matcher looks up the beginnings of terms by unit. The work at each position is bounded by the units of the longest
term, not by the number of terms:

    pdc, pdc钻头, pdc drill   ->   pdc (a term), pdc钻, pdc钻头 (a term), pdc drill (a term)
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from text.folding import fold_term, normalize_text, word_key
from text.scripts import ALPHABETIC, HAN, is_unspaced

_HAN_TERM = re.compile("[\u4e00-\u9fd5]{2,}")  # one word of jieba
_BREAK_IN_HAN = re.compile(f"(?<=[{HAN}])[ \r\n]{{1,3}}(?=[{HAN}])")  # as in solr_conf/schema.xml
_ALPHABETIC = re.compile(ALPHABETIC)
_UNIT = re.compile(f"( {{0,3}})({ALPHABETIC}+|[^ ])")  # bounded, so that a page of blanks costs nothing


class TermMatch(NamedTuple):
    """A term in a text: its span, and its `word_key`."""

    start: int
    end: int
    key: str


def term_keys(term: str) -> set[str]:
    """Return the `word_key`s of a term as it is written, and as the index has it (`text.folding.normalize_text`)."""
    return {word_key(term), word_key(normalize_text(term))} - {""}


class MixedTermMatcher:
    """Finds the spans of given terms in any text. Immutable."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._is_term_by_prefix: dict[str, bool] = {}
        for key in {word_key(term) for term in terms} - {""}:
            for unit in _UNIT.finditer(key):
                self._is_term_by_prefix.setdefault(key[: unit.end()], False)
            self._is_term_by_prefix[key] = True
        first_chars = {prefix[0] for prefix in self._is_term_by_prefix}
        self._first_unit_pattern = re.compile(_first_pattern(first_chars)) if first_chars else None

    def iter_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Iterate over start and end of each term in `text`, ascending, not overlapping, longest match first."""
        return ((match.start, match.end) for match in self.iter_matches(fold_term(text)))

    def iter_matches(self, folded_text: str, overlapping: bool = False) -> Iterator[TermMatch]:
        """Iterate over the terms in a text that is already folded by `fold_term`.

        Args:
            folded_text: The text.
            overlapping: Yield all terms, also those that overlap others or are parts of others.
        """
        start = 0
        for first in self._first_unit_pattern.finditer(folded_text) if self._first_unit_pattern else ():
            if first.start() >= start and first[0] in self._is_term_by_prefix:
                matches = self._matches_at(folded_text, first)
                yield from matches if overlapping else matches[-1:]
                start = matches[-1].end if matches and not overlapping else start

    def _matches_at(self, text: str, first: re.Match[str]) -> list[TermMatch]:
        """Return the terms that start at the unit `first`, the shortest first."""
        prefix, position = first[0], first.end()
        matches = [TermMatch(first.start(), position, prefix)] if self._is_term_by_prefix[prefix] else []
        while unit := _UNIT.match(text, position):
            blank, chars = unit.groups()
            prefix += " " + chars if blank and not (is_unspaced(prefix[-1]) or is_unspaced(chars)) else chars
            if (is_term := self._is_term_by_prefix.get(prefix)) is None:
                break
            position = unit.end()
            if is_term:
                matches.append(TermMatch(first.start(), position, prefix))
        return matches


class TermFinder:
    """Finds which of given terms a text contains, also inside, around and across other words. Immutable."""

    def __init__(self, terms: Iterable[str]) -> None:
        import rjieba  # import on demand: it takes 0.2 s

        self._term_by_key = {key: term for term in terms for key in term_keys(term)}
        self._han_keys = frozenset(filter(_HAN_TERM.fullmatch, self._term_by_key))
        # With no dictionary but the terms, jieba's list of all possible words is twenty times as fast as the matcher.
        self._han_words: rjieba.Jieba = rjieba.Jieba.empty()  # type: ignore[no-untyped-call]
        for key in self._han_keys:
            self._han_words.add_word(key, 1, "n")
        self._mixed_matcher = MixedTermMatcher(self._term_by_key.keys() - self._han_keys)

    def find_terms(self, text: str) -> list[str]:
        """Return the distinct terms in a normalized text (`text.folding`), those of Chinese characters alone first."""
        folded_text = _BREAK_IN_HAN.sub("", fold_term(text))
        keys = [key for key in self._han_words.cut_all(folded_text) if key in self._han_keys]
        keys += (match.key for match in self._mixed_matcher.iter_matches(folded_text, overlapping=True))
        return [self._term_by_key[key] for key in dict.fromkeys(keys)]


def _first_pattern(firsts: Iterable[str]) -> str:
    """Pattern of the first unit of a term: a word with one of the given first characters, or another of them."""
    alphabetic = "".join(re.escape(char) for char in firsts if _ALPHABETIC.match(char))
    other_chars = "".join(re.escape(char) for char in firsts if not _ALPHABETIC.match(char))
    parts = [f"(?<!{ALPHABETIC})[{alphabetic}]{ALPHABETIC}*"] if alphabetic else []
    return "|".join([*parts, f"[{other_chars}]"] if other_chars else parts)
