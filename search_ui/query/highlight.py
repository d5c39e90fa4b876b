"""Solr marks pairs of characters; here those become the words that a reader asked for. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from search_ui.query.texts import Segment, Segments, joined
from text.folding import fold_term
from text.scripts import DENSE

_CHARACTER = f"[{DENSE}]"  # of the scripts that write no blanks between words
_ALONE = re.compile(f"(?<!{_CHARACTER}){_CHARACTER}(?!{_CHARACTER})")
BETWEEN_WORDS = re.compile(r"[\W_]+")  # and with it all that edismax takes for syntax
_UNSPACED = re.compile(f"{_CHARACTER}{{2,}}")


def alone(text: str) -> frozenset[str]:
    """The characters without a neighbour to make a pair with, in a script without blanks: of `税 改革` the first."""
    return frozenset(_ALONE.findall(BETWEEN_WORDS.sub(" ", text)))


@dataclass(frozen=True)
class Highlighter:
    """What is marked for one query: its whole `words` rather than parts of them, and the characters `alone` in it."""

    words: tuple[str, ...]
    alone: frozenset[str]

    def on(self, segments: Segments) -> Segments:
        """`segments` of one text as Solr marked them, with the marks that a reader expects.

        Where a whole word stands, marks on parts of words elsewhere in the text say nothing and go.
        """
        if not any(part.marked for part in segments) and not self.alone:
            return segments
        has_whole = any(part.marked and self._has_word(part) for part in segments)
        kept = (Segment(part.text, part.marked and not (has_whole and self._is_part(part))) for part in segments)
        return joined(one for part in kept for one in self._with_alone(part))

    def _has_word(self, part: Segment) -> bool:
        folded = fold_term(part.text)
        return any(word in folded for word in self.words)

    def _is_part(self, part: Segment) -> bool:
        return bool(_UNSPACED.fullmatch(part.text)) and not self._has_word(part)

    def _with_alone(self, part: Segment) -> Iterable[Segment]:
        if part.marked or self.alone.isdisjoint(part.text):
            return (part,)
        return (Segment(char, char in self.alone) for char in part.text)


def marks_of(text: str, words: Iterable[str]) -> Highlighter:
    """The marks for a query's text and the words it was cut into."""
    return Highlighter(tuple(fold_term(word) for word in words if _UNSPACED.fullmatch(word)), alone(text))
