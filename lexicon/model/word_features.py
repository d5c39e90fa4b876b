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

from lexicon.c_value.noise_filters import edge_words
from text.background_frequencies import iter_jieba_dictionary
from text.scripts import UNSPACED_SCRIPTS

Float32Array = NDArray[np.float32]
Int64Array = NDArray[np.int64]
IndexArray = NDArray[np.integer]

JOINER_CHARACTERS = frozenset("-/·.+&'’~_–—")
IDENTIFIER_PLACEHOLDER = (
    "\ue001"  # stands for a name that only programs write (lexicon/counting/prose_filter.py); a private character
)
_UNKNOWN_LATIN_WORD = "Xyzzyq"  # a word of Latin letters that nobody knows: so much is known of a name beforehand
UNTAGGED = -1
_HAN = re.compile(f"[{UNSPACED_SCRIPTS}]")
_DIGIT = re.compile("[0-9]")
_NUMBER = re.compile(r"[\d.,%]+")

_ZH_TAGS = (  # noqa: SIM905 (a list of forty quoted letters is harder to read)
    "n nr ns nt nz ng v vn vd vg a ad an ag b d c p f m q r t s uj ul u uv ud uz ug l i j k h z y g o e"
    " eng num x join break"
).split()
# English has no dictionary here: function words by class, all others by their ending (the first that fits).
_EN_FUNCTION_WORDS = {
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
_EN_TAG_SUFFIXES = (
    ("ly", ("ly",)),
    ("ing", ("ing",)),
    ("ed", ("ed",)),
    ("tion", ("tion", "tions", "sion", "sions", "ment", "ments", "ness", "ity", "ities", "ance", "ence", "ism", "sis")),
    ("adj", ("al", "ic", "ive", "ous", "able", "ible", "ary", "ful", "less", "ent", "ant", "ical", "based")),
    ("izes", ("ize", "izes", "ise", "ify", "ifies", "ates")),
    ("er", ("er", "ers", "or", "ors", "ist", "ists")),
    ("plural", ("s",)),
)
_EN_COMMON_TAGS = ("verb", "general", "noun", "adverb")  # the tags of data/english_words.tsv
_EN_TAGS = [
    *_EN_FUNCTION_WORDS,
    *_EN_COMMON_TAGS,
    *(name for name, _ in _EN_TAG_SUFFIXES),
    "other",
    "num",
    "join",
    "break",
]

TAGS_BY_LANGUAGE = {"zh": tuple(_ZH_TAGS), "en": tuple(_EN_TAGS)}
"""The tags of each language; the last is `break`: a token that no term contains."""

WORD_FEATURES = (
    "one character", "two characters", "three characters", "four or more", "general frequency", "not in dictionary",
    "heads terms", "inside terms", "ends terms", "rather first", "rather last", "term against general",
    "last character ends terms", "first character heads terms", "edge word", "after a blank", "has a digit",
    "last character", "is capital", "all capitals",
)  # fmt: skip


@dataclass(frozen=True)
class TermPriors:
    """How often words and characters stood first, inside and last in the terms of public keyword lists.

    `word_positions` and `character_positions`: word -> (first, inside, last); `pair_counts`: two neighbours -> times. Counts under 3 are left out.
    """

    word_positions: dict[str, tuple[int, int, int]]
    character_positions: dict[str, tuple[int, int, int]]
    pair_counts: dict[str, int]

    @classmethod
    @cache
    def load_shipped(cls) -> "TermPriors":
        """Those of data/term_priors.tsv.gz; where they come from is in data/README.md."""
        words: dict[str, tuple[int, int, int]] = {}
        chars: dict[str, tuple[int, int, int]] = {}
        pairs: dict[str, int] = {}
        with (files("lexicon") / "data" / "term_priors.tsv.gz").open("rb") as compressed_file:
            for line in gzip.decompress(compressed_file.read()).decode().splitlines():
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
    return {word.lower(): (frequency, tag) for word, frequency, tag in iter_jieba_dictionary()}


def is_han(text: str) -> bool:
    """Whether `text` begins with a Chinese character."""
    return _HAN.match(text) is not None


class WordFeatureTable:
    """What is known of each word of a list that only grows: `tag_ids` (indices of TAGS), `features` (a row each)."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._features = np.zeros((0, len(WORD_FEATURES)), dtype=np.float32)
        self._tags = {language: np.zeros(0, dtype=np.int8) for language in TAGS_BY_LANGUAGE}

    @property
    def features(self) -> Float32Array:
        """One row of NUMBERS a word."""
        new_features = [compute_word_features(word) for word in self._words[len(self._features) :]]
        if new_features:
            self._features = np.concatenate([self._features, np.array(new_features, dtype=np.float32)])
        return self._features

    def tag_ids(self, language: str, word_ids: IndexArray | None = None) -> Int64Array:
        """The index in TAGS[language] of each word's tag: of those with the numbers `word_ids`, or of all.

        Of a vocabulary of both languages each word is looked at in that which it was met in.
        """
        tag_ids = self._tags[language]
        if len(tag_ids) < len(self._words):
            missing = np.full(len(self._words) - len(tag_ids), UNTAGGED, dtype=np.int8)
            tag_ids = self._tags[language] = np.concatenate([tag_ids, missing])
        requested_ids = np.arange(len(tag_ids)) if word_ids is None else word_ids
        untagged_ids = requested_ids[tag_ids[requested_ids] == UNTAGGED]
        if len(untagged_ids):
            index = {tag: word_id for word_id, tag in enumerate(TAGS_BY_LANGUAGE[language])}
            tag_function = chinese_tag if language == "zh" else english_tag
            tag_ids[untagged_ids] = [
                index[tag_function(self._words[word_id].strip(" "))] for word_id in untagged_ids.tolist()
            ]
        return tag_ids[requested_ids].astype(np.int64)


@cache
def function_words() -> frozenset[str]:
    """The small words of English that hold its sentences together."""
    return frozenset(word for words in _EN_FUNCTION_WORDS.values() for word in words.split())


@cache
def english_words() -> dict[str, str]:
    """The tag of each function word and of the common words in data/english_words.tsv."""
    tags: dict[str, str] = {}
    for line in (files("lexicon") / "data" / "english_words.tsv").read_text(encoding="utf-8").splitlines():
        tag, _, words = line.partition("\t")
        for word in words.split():
            tags.setdefault(word, tag)
            if tag in ("verb", "noun"):
                tags.setdefault(_add_s(word), tag)
    return tags | {word: tag for tag, words in _EN_FUNCTION_WORDS.items() for word in words.split()}


def _add_s(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh", "z", "o")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeou" else f"{word}s"


def chinese_tag(word: str) -> str:
    """The tag of a word of Chinese text, by the dictionary of jieba."""
    word = _UNKNOWN_LATIN_WORD if word == IDENTIFIER_PLACEHOLDER else word
    if (non_word_tag := _non_word_tag(word)) is not None:
        return non_word_tag
    dictionary_entry = general_dictionary().get(word.lower())
    if dictionary_entry:
        tag = dictionary_entry[1]
        while tag and tag not in _ZH_TAGS:
            tag = tag[:-1]
        return tag or "x"
    return "x" if is_han(word) else "eng"


def english_tag(word: str) -> str:
    """The class of an English word: by the word if it is a function word, else by its ending."""
    word = _UNKNOWN_LATIN_WORD if word == IDENTIFIER_PLACEHOLDER else word
    if (non_word_tag := _non_word_tag(word)) is not None:
        return non_word_tag
    if is_han(word) and is_han(word[-1]):
        return "other"
    lowercase_word = word.lower()
    if lowercase_word in english_words():
        return english_words()[lowercase_word]
    return next(
        (tag for tag, endings in _EN_TAG_SUFFIXES if len(lowercase_word) > 4 and lowercase_word.endswith(endings)),
        "other",
    )


def _non_word_tag(word: str) -> str | None:
    if word.isalpha():
        return None
    if word in JOINER_CHARACTERS:
        return "join"
    if not any(char.isalnum() for char in word):
        return "break"
    return "num" if _NUMBER.fullmatch(word) else None


def compute_word_features(spelling: str) -> tuple[float, ...]:
    """The numbers of one word, in the order of NUMBERS; zeros for a sign."""
    spelling = _UNKNOWN_LATIN_WORD if spelling == IDENTIFIER_PLACEHOLDER else spelling
    surface = spelling.strip(" ")
    if len(surface) <= 1 and not surface.isalnum():
        return (0.0,) * len(WORD_FEATURES)
    word, character_count, priors = surface.lower(), len(surface), TermPriors.load_shipped()
    frequency = general_dictionary().get(word, (0, ""))[0]
    first, inside, last = priors.word_positions.get(word, (0, 0, 0))
    head_first, head_inside, head_last = priors.character_positions.get(word[0], (0, 0, 0))
    tail_first, tail_inside, tail_last = priors.character_positions.get(word[-1], (0, 0, 0))
    log_frequency, term_count = log(frequency + 1), first + inside + last
    return (
        character_count == 1, character_count == 2, character_count == 3, character_count >= 4, log_frequency / 5, frequency == 0,
        log1p(first) / 3, log1p(inside) / 3, log1p(last) / 3,
        log((first + 0.3) / (term_count + 1)), log((last + 0.3) / (term_count + 1)),
        (log(term_count + 1) - 0.7 * log_frequency) / 3,
        log((tail_last + 1) / (tail_first + tail_inside + tail_last + 3)),
        log((head_first + 1) / (head_first + head_inside + head_last + 3)),
        word in edge_words(), spelling[0] == " ", _DIGIT.search(word) is not None, log1p(tail_last) / 3,
        surface[0].isupper(), character_count > 1 and surface.isupper(),
    )  # fmt: skip
