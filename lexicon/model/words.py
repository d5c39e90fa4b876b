"""What is known of a word before any text is read: its tag, and numbers that speak for or against it in a term.

钻头  tag n, common as the last word of terms, rare in general text
进行  tag v, an edge word, common in general text, no part of terms
"""

import gzip
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from lexicon.c_value.filters import edge_words
from text.general_language import jieba_dictionary
from text.scripts import DENSE

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Ids = NDArray[np.integer]

JOINERS = frozenset("-/·.+&'’~_–—")
NAME = "\ue001"  # stands for a name that only programs write (lexicon/counting/prose.py); a private character
_LIKE_A_NAME = "Xyzzyq"  # a word of Latin letters that nobody knows: so much is known of a name beforehand
UNTAGGED = -1
_HAN = re.compile(f"[{DENSE}]")
_DIGIT = re.compile("[0-9]")
_NUMBER = re.compile(r"[\d.,%]+")

_ZH_TAGS = (  # noqa: SIM905 (a list of forty quoted letters is harder to read)
    "n nr ns nt nz ng v vn vd vg a ad an ag b d c p f m q r t s uj ul u uv ud uz ug l i j k h z y g o e"
    " eng num x join break"
).split()
# English has no dictionary here: function words by class, all others by their ending (the first that fits).
_EN_FUNCTION = {
    "det": "the a an this that these those each every some any no all both such its their his her our your my another",
    "of": "of",
    "prep": "in on at for with by from to into over under between among through during via as per than within without"
    " against across about after before upon towards onto toward",
    "conj": "and or but nor yet so",
    "pron": "it they we he she you i which who what whom them us itself themselves one ones how why whose",
    "aux": "is are was were be been being has have had do does did can could may might will would shall should must"
    " cannot",
    "adv": "not also very more most however thus then there here when where while if because although only well often"
    " first second moreover therefore furthermore even still less least many much several other same own too both",
}
_EN_ENDINGS = (
    ("ly", ("ly",)),
    ("ing", ("ing",)),
    ("ed", ("ed",)),
    ("tion", ("tion", "tions", "sion", "sions", "ment", "ments", "ness", "ity", "ities", "ance", "ence", "ism", "sis")),
    ("adj", ("al", "ic", "ive", "ous", "able", "ible", "ary", "ful", "less", "ent", "ant", "ical", "based")),
    ("izes", ("ize", "izes", "ise", "ify", "ifies", "ates")),
    ("er", ("er", "ers", "or", "ors", "ist", "ists")),
    ("plural", ("s",)),
)
_EN_COMMON = ("verb", "general", "noun", "adverb")  # the tags of data/english_words.tsv
_EN_TAGS = [*_EN_FUNCTION, *_EN_COMMON, *(name for name, _ in _EN_ENDINGS), "other", "num", "join", "break"]

TAGS = {"zh": tuple(_ZH_TAGS), "en": tuple(_EN_TAGS)}
"""The tags of each language; the last is `break`: a token that no term contains."""

NUMBERS = (
    "one character", "two characters", "three characters", "four or more", "general frequency", "not in dictionary",
    "heads terms", "inside terms", "ends terms", "rather first", "rather last", "term against general",
    "last character ends terms", "first character heads terms", "edge word", "after a blank", "has a digit",
    "last character", "is capital", "all capitals",
)  # fmt: skip


@dataclass(frozen=True)
class TermPriors:
    """How often words and characters stood first, inside and last in the terms of public keyword lists.

    `words` and `chars`: word -> (first, inside, last); `pairs`: two neighbours -> times. Counts under 3 are left out.
    """

    words: dict[str, tuple[int, int, int]]
    chars: dict[str, tuple[int, int, int]]
    pairs: dict[str, int]

    @classmethod
    @cache
    def shipped(cls) -> "TermPriors":
        """Those of data/term_priors.tsv.gz; where they come from is in data/README.md."""
        words: dict[str, tuple[int, int, int]] = {}
        chars: dict[str, tuple[int, int, int]] = {}
        pairs: dict[str, int] = {}
        with (files("lexicon") / "data" / "term_priors.tsv.gz").open("rb") as packed:
            for line in gzip.decompress(packed.read()).decode().splitlines():
                kind, text, *counts = line.split("\t")
                if kind == "pair":
                    pairs[text] = int(counts[0])
                else:
                    first, inside, last = map(int, counts)
                    (words if kind == "word" else chars)[text] = (first, inside, last)
        return cls(words, chars, pairs)


@cache
def general_dictionary() -> dict[str, tuple[int, str]]:
    """Frequency and tag of the words of jieba's own dictionary, in lower case."""
    return {word.lower(): (frequency, tag) for word, frequency, tag in jieba_dictionary()}


def is_han(text: str) -> bool:
    """Whether `text` begins with a Chinese character."""
    return _HAN.match(text) is not None


class WordTable:
    """What is known of each word of a list that only grows: `tags` (indices of TAGS), `numbers` (a row each)."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._numbers = np.zeros((0, len(NUMBERS)), dtype=np.float32)
        self._tags = {language: np.zeros(0, dtype=np.int8) for language in TAGS}

    @property
    def numbers(self) -> Floats:
        """One row of NUMBERS a word."""
        new = [word_numbers(word) for word in self._words[len(self._numbers) :]]
        if new:
            self._numbers = np.concatenate([self._numbers, np.array(new, dtype=np.float32)])
        return self._numbers

    def tags(self, language: str, which: Ids | None = None) -> Ints:
        """The index in TAGS[language] of each word's tag: of those with the numbers `which`, or of all.

        Of a vocabulary of both languages each word is looked at in that which it was met in.
        """
        known = self._tags[language]
        if len(known) < len(self._words):
            more = np.full(len(self._words) - len(known), UNTAGGED, dtype=np.int8)
            known = self._tags[language] = np.concatenate([known, more])
        wanted = np.arange(len(known)) if which is None else which
        new = wanted[known[wanted] == UNTAGGED]
        if len(new):
            index = {tag: number for number, tag in enumerate(TAGS[language])}
            name = chinese_tag if language == "zh" else english_tag
            known[new] = [index[name(self._words[number].strip(" "))] for number in new.tolist()]
        return known[wanted].astype(np.int64)


@cache
def function_words() -> frozenset[str]:
    """The small words of English that hold its sentences together."""
    return frozenset(word for words in _EN_FUNCTION.values() for word in words.split())


@cache
def english_words() -> dict[str, str]:
    """The tag of each function word and of the common words in data/english_words.tsv."""
    tags: dict[str, str] = {}
    for line in (files("lexicon") / "data" / "english_words.tsv").read_text(encoding="utf-8").splitlines():
        tag, _, words = line.partition("\t")
        for word in words.split():
            tags.setdefault(word, tag)
            if tag in ("verb", "noun"):
                tags.setdefault(_with_s(word), tag)
    return tags | {word: tag for tag, words in _EN_FUNCTION.items() for word in words.split()}


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh", "z", "o")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeou" else f"{word}s"


def chinese_tag(word: str) -> str:
    """The tag of a word of Chinese text, by the dictionary of jieba."""
    word = _LIKE_A_NAME if word == NAME else word
    if (outside := _outside_words(word)) is not None:
        return outside
    known = general_dictionary().get(word.lower())
    if known:
        tag = known[1]
        while tag and tag not in _ZH_TAGS:
            tag = tag[:-1]
        return tag or "x"
    return "x" if is_han(word) else "eng"


def english_tag(word: str) -> str:
    """The class of an English word: by the word if it is a function word, else by its ending."""
    word = _LIKE_A_NAME if word == NAME else word
    if (outside := _outside_words(word)) is not None:
        return outside
    if is_han(word) and is_han(word[-1]):
        return "other"
    low = word.lower()
    if low in english_words():
        return english_words()[low]
    return next((tag for tag, endings in _EN_ENDINGS if len(low) > 4 and low.endswith(endings)), "other")


def _outside_words(word: str) -> str | None:
    if word.isalpha():
        return None
    if word in JOINERS:
        return "join"
    if not any(char.isalnum() for char in word):
        return "break"
    return "num" if _NUMBER.fullmatch(word) else None


def word_numbers(spelt: str) -> tuple[float, ...]:
    """The numbers of one word, in the order of NUMBERS; zeros for a sign."""
    spelt = _LIKE_A_NAME if spelt == NAME else spelt
    surface = spelt.strip(" ")
    if len(surface) <= 1 and not surface.isalnum():
        return (0.0,) * len(NUMBERS)
    word, size, priors = surface.lower(), len(surface), TermPriors.shipped()
    frequency = general_dictionary().get(word, (0, ""))[0]
    first, inside, last = priors.words.get(word, (0, 0, 0))
    head_first, head_inside, head_last = priors.chars.get(word[0], (0, 0, 0))
    tail_first, tail_inside, tail_last = priors.chars.get(word[-1], (0, 0, 0))
    log_frequency, terms = log(frequency + 1), first + inside + last
    return (
        size == 1, size == 2, size == 3, size >= 4, log_frequency / 5, frequency == 0,
        log1p(first) / 3, log1p(inside) / 3, log1p(last) / 3,
        log((first + 0.3) / (terms + 1)), log((last + 0.3) / (terms + 1)),
        (log(terms + 1) - 0.7 * log_frequency) / 3,
        log((tail_last + 1) / (tail_first + tail_inside + tail_last + 3)),
        log((head_first + 1) / (head_first + head_inside + head_last + 3)),
        word in edge_words(), spelt[0] == " ", _DIGIT.search(word) is not None, log1p(tail_last) / 3,
        surface[0].isupper(), size > 1 and surface.isupper(),
    )  # fmt: skip
