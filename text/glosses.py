"""What a text says itself to be the same in another language: `页岩气 (shale gas)`, `shale gas（页岩气）`. Pure.

Inside the brackets stands a whole term; where the one before them begins, a text does not say: that side is a run of
at most `MAX_HAN` characters, or `MAX_LATIN` words, of which the end is the term.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from text.folding import word_key

MAX_HAN = 12
MAX_LATIN = 6
MAX_GLOSSES = 100  # of one text
MAX_READ = 500_000  # characters of one text
MIN_ROWS = 2  # runs that differ before the same end, where no known term tells where it begins

_HAN = "\u3400-\u9fff"
_LATIN_TERM = r"[A-Za-z][A-Za-z0-9'’&./+-]*(?: [A-Za-z0-9'’&./+-]+){0,7}"
_LATIN_INSIDE = re.compile(rf"([{_HAN}]{{2,40}})\s?[(（]\s?(?:英文|英语|又称|简称)?[:： ]?([^()（）\n]{{2,80}})[)）]")
_LATIN_RUN = r"(?<![\w/:.@-])((?:[A-Za-z][\w'’&./+-]{0,30} ){0,5}[A-Za-z][\w'’&./+-]{0,30})"
_HAN_INSIDE = re.compile(rf"{_LATIN_RUN}\s?[(（]([{_HAN}]{{2,20}})[)）]")
_BETWEEN = re.compile(r"\s*[,，;；、]\s*(?:简称|缩写为?|或|aka )?\s*")


@dataclass(frozen=True)
class Gloss:
    """One place where a text says the same twice. `is_han_whole`: the Chinese side stood in brackets, and is a whole
    term; else the Latin side is, and the Chinese one a run that ends with the term."""

    han: str
    latin: str
    is_han_whole: bool


def glosses(text: str) -> Iterator[Gloss]:
    """The glosses of a text, each once, at most `MAX_GLOSSES`."""
    return islice(dict.fromkeys(_found(text[:MAX_READ])), MAX_GLOSSES)


def _found(text: str) -> Iterator[Gloss]:
    for match in _LATIN_INSIDE.finditer(text):
        for piece in _BETWEEN.split(match[2].strip()):
            if re.fullmatch(_LATIN_TERM, piece) and sum(map(str.isalpha, piece)) > 1:
                yield Gloss(match[1][-MAX_HAN:], piece, is_han_whole=False)
    for match in _HAN_INSIDE.finditer(text):
        yield Gloss(match[2], match[1], is_han_whole=True)


def ends_of(gloss: Gloss) -> list[str]:
    """What the side that is a run may mean, longest first: its ends of two characters or of one word on."""
    if gloss.is_han_whole:
        words = gloss.latin.split(" ")
        return [" ".join(words[start:]) for start in range(len(words))]
    return [gloss.han[start:] for start in range(len(gloss.han) - 1)]


def translation(term: str, found: Sequence[Gloss], known: frozenset[str]) -> list[str]:
    """What `found`, the glosses with one side that is or ends with `term`, say to be the same, the most frequent first.

    `known` are the `word_key`s of terms: where a run ends with a longer known term, it is not this one that is meant.
    """
    counts: dict[str, tuple[int, str]] = {}
    for gloss in found:
        whole, other = (gloss.han, gloss.latin) if gloss.is_han_whole else (gloss.latin, gloss.han)
        if word_key(whole) == word_key(term):
            said = _end_meant(gloss, found, known)
        else:
            said = whole if _longest_known(gloss, known | {word_key(term)}) == word_key(term) else ""
        if said and word_key(other):
            counts[word_key(said)] = (counts.get(word_key(said), (0, ""))[0] + 1, said)
    return [said for _, said in sorted(counts.values(), key=lambda one: (-one[0], one[1]))]


def _longest_known(gloss: Gloss, known: frozenset[str]) -> str:
    return next((key for end in ends_of(gloss) if (key := word_key(end)) in known), "")


def _end_meant(gloss: Gloss, found: Sequence[Gloss], known: frozenset[str]) -> str:
    """The end of a gloss's run that is the term: a known one, or the longest that stands behind different words."""
    ends = ends_of(gloss)
    if told := next((end for end in ends if word_key(end) in known), ""):
        return told
    same = [other for other in found if other.is_han_whole == gloss.is_han_whole]
    runs = {ends_of(other)[0] for other in same}
    if len(runs) < MIN_ROWS:
        return ""
    return next((end for end in ends[1:] if all(end in ends_of(other) for other in same)), "")
