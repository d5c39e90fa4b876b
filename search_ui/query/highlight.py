"""Refines Solr's highlighting: joins marked character pairs to whole words of the query."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from search_ui.query.display_text import Segment, Segments, merge_segments
from text.folding import fold_term
from text.scripts import UNSPACED_SCRIPTS

_DENSE_CHAR = f"[{UNSPACED_SCRIPTS}]"  # scripts without spaces between words
_ISOLATED_CHAR_RE = re.compile(f"(?<!{_DENSE_CHAR}){_DENSE_CHAR}(?!{_DENSE_CHAR})")
NON_WORD_RE = re.compile(r"[\W_]+")  # separators between words
_DENSE_RUN_RE = re.compile(f"{_DENSE_CHAR}{{2,}}")


def isolated_chars(text: str) -> frozenset[str]:
    """Return the characters without a neighbour to form a pair, in scripts without spaces: of `税 改革` the first."""
    return frozenset(_ISOLATED_CHAR_RE.findall(NON_WORD_RE.sub(" ", text)))


@dataclass(frozen=True)
class MarkRefiner:
    """Refines the marks of one query: `words` are marked as a whole, `isolated_chars` on their own."""

    words: tuple[str, ...]
    isolated_chars: frozenset[str]

    def refine(self, segments: Segments) -> Segments:
        """Return the segments of one text with refined marks.

        If a whole word of the query occurs in the text, marks on parts of words elsewhere are removed.
        """
        if not any(segment.marked for segment in segments) and not self.isolated_chars:
            return segments
        has_whole = any(segment.marked and self._contains_word(segment) for segment in segments)
        refined_segments = (
            Segment(segment.text, segment.marked and not (has_whole and self._is_partial_word(segment)))
            for segment in segments
        )
        return merge_segments(
            text_segment for segment in refined_segments for text_segment in self._mark_isolated_chars(segment)
        )

    def _contains_word(self, part: Segment) -> bool:
        folded_text = fold_term(part.text)
        return any(word in folded_text for word in self.words)

    def _is_partial_word(self, part: Segment) -> bool:
        return bool(_DENSE_RUN_RE.fullmatch(part.text)) and not self._contains_word(part)

    def _mark_isolated_chars(self, part: Segment) -> Iterable[Segment]:
        if part.marked or self.isolated_chars.isdisjoint(part.text):
            return (part,)
        return (Segment(char, char in self.isolated_chars) for char in part.text)


def build_mark_refiner(text: str, words: Iterable[str]) -> MarkRefiner:
    """Build the refiner for a query's text and its words."""
    return MarkRefiner(tuple(fold_term(word) for word in words if _DENSE_RUN_RE.fullmatch(word)), isolated_chars(text))
