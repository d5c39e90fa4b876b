"""Noise filters: spans with the right tags that are no terms (单字动词、特殊符号等, Wang Du 2019, WD-A5).

Step 5 also removes words of general language (通用词库): the words of jieba's own dictionary.
"""

import re
from collections.abc import Callable, Collection
from functools import cache
from importlib.resources import files

from lexicon.c_value.candidates import WordSpan
from lexicon.jieba_dictionary import has_candidate_shape
from text.background_frequencies import iter_jieba_dictionary
from text.segment import base_segmenter

_VERSION_SUFFIX = re.compile(r"(?:^|\s)v?\d+(?:\.\d+)+$", re.IGNORECASE)


def has_single_character_verb(span: WordSpan) -> bool:
    """Return True if the span contains a verb of one character: `含 油`, `打 井`."""
    return any(tag.startswith("v") and len(word) == 1 for word, tag in zip(span.words, span.tags, strict=True))


def has_edge_word(span: WordSpan) -> bool:
    """Return True if the span begins or ends with a word that only links terms to a sentence.

    Examples: `进行 勘探`, `储层 方面`.
    """
    return span.words[0].lower() in edge_words() or span.words[-1].lower() in edge_words()


def has_english_stop_word(span: WordSpan) -> bool:
    """Return True for an English stop word, or for a single letter in an English span. `X 射线` is allowed."""
    latin = [word for word, tag in zip(span.words, span.tags, strict=True) if tag == "eng"]
    has_lone_letter = len(latin) == len(span.words) and any(len(word) == 1 for word in latin)
    return has_lone_letter or any(word.lower() in english_stop_words() for word in latin)


def has_repeated_word(span: WordSpan) -> bool:
    """Return True if a word follows itself: `分析 分析`."""
    return any(word == next_word for word, next_word in zip(span.words, span.words[1:], strict=False))


def is_unfit_text(text: str) -> bool:
    """Return True for a text that is not a valid dictionary word: special symbols, only digits, too long.

    Texts that end with a version (`Python 3.11`) or contain an onomatopoeia (`哈哈哈`) are unfit too. Reviewers can
    still add them.
    """
    if _VERSION_SUFFIX.search(text) or not has_candidate_shape(text):
        return True
    return any(tag == "o" for _, tag in base_segmenter().tag(text))


NOISE_FILTERS: tuple[Callable[[WordSpan], bool], ...] = (
    has_single_character_verb,
    has_edge_word,
    has_english_stop_word,
    has_repeated_word,
    lambda span: is_unfit_text(span.text),
)


def is_noise(span: WordSpan) -> bool:
    """Return True if any filter of `NOISE_FILTERS` rejects the span."""
    return any(is_rejected(span) for is_rejected in NOISE_FILTERS)


@cache
def english_stop_words() -> frozenset[str]:
    """Return scikit-learn's stop words. The import is local because it takes longer than most commands."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


@cache
def edge_words() -> frozenset[str]:
    """Return the reviewed list in data/edge_words.txt."""
    text = (files("lexicon") / "data" / "edge_words.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def filter_general_words(keys: Collection[str]) -> set[str]:
    """Return the word keys that jieba's dictionary contains. The dictionary is streamed to save memory."""
    return {key for word, _, _ in iter_jieba_dictionary() if (key := word.lower()) in keys}
