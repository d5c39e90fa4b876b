"""Sentences of a text with the known terms in them. A text is cut and matched once for all finders."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from text.folding import fold_term
from text.mixed_terms import MixedTermMatcher, TermMatch

_SENTENCE_END = re.compile(
    r"\n|(?<=[。！？!?])(?![”’」』）)])|(?<=[。！？!?][”’」』）)])|(?<=[a-z0-9)\]][.])\s+(?=[A-Z\"“])"
)


class Sentence(NamedTuple):
    """A sentence and all known terms in it, also those inside and across others, by start and end.

    `previous_text` is the sentence or heading before it: of the first one, the title of the text.
    """

    text: str
    matches: Sequence[TermMatch]
    previous_text: str = ""

    def find_terms(self, keys: Collection[str]) -> list[TermMatch]:
        """Return the terms with these keys that do not overlap: the leftmost, and of these the longest."""
        matches: list[TermMatch] = []
        for match in self.matches:
            if match.key in keys:
                if matches and match.start == matches[-1].start:
                    matches[-1] = match
                elif not matches or match.start >= matches[-1].end:
                    matches.append(match)
        return matches


def iter_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, stripped. A line break ends a sentence."""
    return (sentence for part in _SENTENCE_END.split(text) if (sentence := part.strip()))


def match_sentences(text: str, matcher: MixedTermMatcher, title: str = "") -> list[Sentence]:
    """Return the sentences of a text with the terms of the matcher."""
    return [
        Sentence(sentence, list(matcher.iter_matches(fold_term(sentence), overlapping=True)), previous_text)
        for previous_text, sentence in pairwise(chain([title], iter_sentences(text)))
    ]
