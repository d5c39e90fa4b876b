"""Find terms that a Chinese segmenter splits, in time linear in the text.

jieba splits a text into blocks of Chinese and ASCII word characters before the dictionary lookup. A term with a space,
a slash or a Greek letter spans blocks and is never found. `AI` in the dictionary splits `OpenAI`. Matching is
case-sensitive. Every term that is not purely Chinese is therefore matched here, before jieba: leftmost-longest, with
case and width folded, at word boundaries (`AI` not in `OpenAI`, `2号井` not in `12号井`), with an optional blank
between a Latin and a Chinese letter.

The terms with the same first character become two regular expressions in the form of a trie: of the terms that end
with a letter or digit of a word, and of the others. The work at each position is bounded by the depth of the tries, not
by the number of terms:

    pdc, pdc drill   ->   pdc(?: {1,3}drill|)(?!L)        L a letter or digit
    pdc钻头           ->   pdc {0,3}钻头

The condition stands once in each expression, because Python takes 10 ms to compile it.
"""

import re
from collections.abc import Iterable, Iterator

from text.folding import ALPHABETIC, fold_term, word_key

_ALPHABETIC = re.compile(ALPHABETIC)
_BLANK = " {1,3}"  # bounded, so that a page of blanks costs nothing
_OPTIONAL_BLANK = " {0,3}"


class _Node(dict[str, "_Node"]):
    """A trie node: regex units -> next nodes.

    `is_end` is true if a term ends here.
    """

    is_end = False


class MixedTermMatcher:
    """Finds the spans of given terms in any text. Immutable."""

    def __init__(self, terms: Iterable[str]) -> None:
        roots: dict[tuple[str, bool], _Node] = {}
        for key in sorted({word_key(term) for term in terms} - {""}):
            _insert(roots.setdefault((key[0], bool(_ALPHABETIC.match(key[-1]))), _Node()), key)
        self._patterns_by_first_char: dict[str, list[re.Pattern[str]]] = {}
        for (first, ends_in_word), root in roots.items():
            pattern = f"(?:{_node_pattern(root)})(?!{ALPHABETIC})" if ends_in_word else _node_pattern(root)
            self._patterns_by_first_char.setdefault(first, []).append(re.compile(pattern))
        firsts = self._patterns_by_first_char
        self._first_char_pattern = re.compile(_first_pattern(firsts)) if firsts else None

    def iter_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Iterate over start and end of each term in `text`, ascending, not overlapping, longest match first."""
        return self.iter_spans_of_folded(fold_term(text))

    def iter_spans_of_folded(self, folded_text: str) -> Iterator[tuple[int, int]]:
        """Iterate over the spans in a text that is already folded by `fold_term`."""
        if self._first_char_pattern is None:
            return
        first = self._first_char_pattern.search(folded_text)
        while first:
            start, end = first.start(), -1
            for pattern in self._patterns_by_first_char[first[0]]:
                term = pattern.match(folded_text, start)
                if term and term.end() > end:
                    end = term.end()
            if end > 0:
                yield start, end
            first = self._first_char_pattern.search(folded_text, max(end, start + 1))


def _first_pattern(firsts: Iterable[str]) -> str:
    """Pattern of possible term starts: a first character; a letter or digit only at the start of a word."""
    alphabetic = "".join(re.escape(char) for char in firsts if _ALPHABETIC.match(char))
    other_chars = "".join(re.escape(char) for char in firsts if not _ALPHABETIC.match(char))
    parts = [f"(?<!{ALPHABETIC})[{alphabetic}]"] if alphabetic else []
    return "|".join([*parts, f"[{other_chars}]"] if other_chars else parts)


def _insert(root: _Node, key: str) -> None:
    node = root
    for unit in _iter_regex_units(key):
        node = node.setdefault(unit, _Node())
    node.is_end = True


def _iter_regex_units(key: str) -> Iterator[str]:
    """Yield one regex per character of the term, with an optional blank where scripts meet."""
    for previous, char in zip(" " + key, key, strict=False):
        if char == " ":
            yield _BLANK
        elif _is_script_boundary(previous, char):
            yield _OPTIONAL_BLANK + re.escape(char)
        else:
            yield re.escape(char)


def _is_script_boundary(left: str, right: str) -> bool:
    """True between a Latin and a Chinese letter, where a blank is optional."""
    return left.isalnum() and right.isalnum() and bool(_ALPHABETIC.match(left)) != bool(_ALPHABETIC.match(right))


def _node_pattern(node: _Node) -> str:
    chain = ""
    while len(node) == 1 and not node.is_end:  # a chain needs no group, so nesting is only as deep as the branches
        unit, node = next(iter(node.items()))
        chain += unit
    branches = [unit + _node_pattern(child) for unit, child in sorted(node.items())]
    if node.is_end:
        branches.append("")  # last, so that a longer term is tried first
    return chain + (branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})")
