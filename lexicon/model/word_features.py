"""Features of a word without any text: its tag, and numbers for its use in terms and in general language.

钻头  tag n, common as the last word of terms, rare in general text
进行  tag v, an edge word, common in general text, no part of terms
"""

import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from lexicon.arrays import Float32Array, Int64Array, IntegerArray
from lexicon.c_value.noise_filters import edge_words
from text.background_frequencies import iter_jieba_dictionary
from text.scripts import is_unspaced

JOINER_CHARACTERS = frozenset("-/·.+&'’~_–—")
IDENTIFIER_PLACEHOLDER = "\ue001"  # private-use character that replaces identifiers (lexicon/counting/prose_filter.py)
_UNKNOWN_LATIN_WORD = "Xyzzyq"  # identifiers get the features of this unknown Latin word
UNTAGGED = -1
_DIGIT = re.compile("[0-9]")
_NUMBER = re.compile(r"[\d.,%]+")

_ZH_TAGS = (  # noqa: SIM905 (a list of forty quoted letters is harder to read)
    "n nr ns nt nz ng v vn vd vg a ad an ag b d c p f m q r t s uj ul u uv ud uz ug l i j k h z y g o e"
    " eng num x join break"
).split()
# There is no English dictionary: function words have a class, other words the tag of the first matching suffix.
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
"""Tags of each language. The last is `break`, a token that no term contains."""

WORD_FEATURES = (
    "one character", "two characters", "three characters", "four or more", "general frequency", "not in dictionary",
    "heads terms", "inside terms", "ends terms", "rather first", "rather last", "term against general",
    "last character ends terms", "first character heads terms", "edge word", "after a blank", "has a digit",
    "last character", "is capital", "all capitals",
)  # fmt: skip


@dataclass(frozen=True)
class TermPriors:
    """Counts of words and characters by position in the terms of public keyword lists. Counts below 3 are omitted.

    Attributes:
        word_positions: word -> (first, inside, last).
        character_positions: character -> (first, inside, last).
        pair_counts: two adjacent words -> count.
    """

    word_positions: dict[str, tuple[int, int, int]]
    character_positions: dict[str, tuple[int, int, int]]
    pair_counts: dict[str, int]

    @classmethod
    @cache
    def load_shipped(cls) -> "TermPriors":
        """Load data/term_priors.tsv.gz. data/README.md describes its source."""
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
    """Return frequency and tag of the words of jieba's own dictionary, in lower case."""
    return {word.lower(): (frequency, tag) for word, frequency, tag in iter_jieba_dictionary()}


class WordFeatureTable:
    """Features and tags of a growing list of words, computed on demand."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._features = np.zeros((0, len(WORD_FEATURES)), dtype=np.float32)
        self._tags = {language: np.zeros(0, dtype=np.int8) for language in TAGS_BY_LANGUAGE}

    @property
    def features(self) -> Float32Array:
        """Features of all words, (words, WORD_FEATURES) float32."""
        if new_words := self._words[len(self._features) :]:
            self._features = np.concatenate([self._features, compute_word_features(new_words)])
        return self._features

    def tag_ids(self, language: str, word_ids: IntegerArray | None = None) -> Int64Array:
        """Return the index in TAGS_BY_LANGUAGE[language] of each word's tag, for the words `word_ids` or all words.

        In a vocabulary of both languages, tags are computed only for the requested words.
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
    """Return the English function words."""
    return frozenset(word for words in _EN_FUNCTION_WORDS.values() for word in words.split())


@cache
def english_words() -> dict[str, str]:
    """Return the tag of each function word and of the common words in data/english_words.tsv."""
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
    """Return the tag of a word of Chinese text, by jieba's dictionary."""
    word = _UNKNOWN_LATIN_WORD if word == IDENTIFIER_PLACEHOLDER else word
    if (non_word_tag := _non_word_tag(word)) is not None:
        return non_word_tag
    dictionary_entry = general_dictionary().get(word.lower())
    if dictionary_entry:
        tag = dictionary_entry[1]
        while tag and tag not in _ZH_TAGS:
            tag = tag[:-1]
        return tag or "x"
    return "x" if is_unspaced(word) else "eng"


def english_tag(word: str) -> str:
    """Return the tag of an English word: its class if it is listed, else by its suffix."""
    word = _UNKNOWN_LATIN_WORD if word == IDENTIFIER_PLACEHOLDER else word
    if (non_word_tag := _non_word_tag(word)) is not None:
        return non_word_tag
    if is_unspaced(word) and is_unspaced(word[-1]):
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


def compute_word_features(spellings: Sequence[str]) -> Float32Array:
    """Return the features of words, (words, WORD_FEATURES) float32; zeros for a symbol."""
    spellings = [_UNKNOWN_LATIN_WORD if spelling == IDENTIFIER_PLACEHOLDER else spelling for spelling in spellings]
    surfaces = [spelling.strip(" ") for spelling in spellings]
    words = [surface.lower() for surface in surfaces]
    dictionary, priors = general_dictionary(), TermPriors.load_shipped()
    frequency = np.array([dictionary.get(word, (0, ""))[0] for word in words])
    first, inside, last = np.array([priors.word_positions.get(word, (0, 0, 0)) for word in words]).T
    (head_first, head_inside, head_last), (tail_first, tail_inside, tail_last) = (
        np.array([priors.character_positions.get(word[side : side + 1 or None], (0, 0, 0)) for word in words]).T
        for side in (0, -1)
    )
    size, log_frequency, term_count = np.array([*map(len, surfaces)]), np.log(frequency + 1), first + inside + last
    features = np.array([
        size == 1, size == 2, size == 3, size >= 4,
        log_frequency / 5, frequency == 0,
        np.log1p(first) / 3, np.log1p(inside) / 3, np.log1p(last) / 3,
        np.log((first + 0.3) / (term_count + 1)), np.log((last + 0.3) / (term_count + 1)),
        (np.log(term_count + 1) - 0.7 * log_frequency) / 3,
        np.log((tail_last + 1) / (tail_first + tail_inside + tail_last + 3)),
        np.log((head_first + 1) / (head_first + head_inside + head_last + 3)),
        [word in edge_words() for word in words], [spelling[0] == " " for spelling in spellings],
        [_DIGIT.search(word) is not None for word in words], np.log1p(tail_last) / 3,
        [word[:1].isupper() for word in surfaces], [len(word) > 1 and word.isupper() for word in surfaces],
    ], dtype=np.float32).T  # fmt: skip
    features[[len(word) <= 1 and not word.isalnum() for word in surfaces]] = 0
    return features
