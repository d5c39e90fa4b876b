"""Noise, as a step list: spans with the right tags that are no terms (单字动词、特殊符号等, Wang Du 2019, WD-A5).

Also the words of the general language (通用词库, step 5): those of jieba's own dictionary.
"""

import re
from collections.abc import Callable, Collection
from functools import cache
from importlib.resources import files

from lexicon.c_value.candidates import WordSpan
from lexicon.jieba_dictionary import find_term_error
from text.background_frequencies import iter_jieba_dictionary
from text.segment import base_segmenter

_VERSION_SUFFIX = re.compile(r"(?:^|\s)v?\d+(?:\.\d+)+$", re.IGNORECASE)


def has_single_character_verb(span: WordSpan) -> bool:
    """A verb of one character: `含 油`, `打 井`."""
    return any(tag.startswith("v") and len(word) == 1 for word, tag in zip(span.words, span.tags, strict=True))


def has_edge_word(span: WordSpan) -> bool:
    """It begins or ends with a word that only joins terms to the rest of the sentence: `进行 勘探`, `储层 方面`."""
    return span.words[0].lower() in edge_words() or span.words[-1].lower() in edge_words()


def has_english_stop_word(span: WordSpan) -> bool:
    """An English stop word or a lone letter among English words; `X 射线` may keep its letter."""
    latin = [word for word, tag in zip(span.words, span.tags, strict=True) if tag == "eng"]
    has_lone_letter = len(latin) == len(span.words) and any(len(word) == 1 for word in latin)
    return has_lone_letter or any(word.lower() in english_stop_words() for word in latin)


def has_repeated_word(span: WordSpan) -> bool:
    """The same word twice running: `分析 分析`."""
    return any(left == right for left, right in zip(span.words, span.words[1:], strict=False))


def is_unfit_span(span: WordSpan) -> bool:
    """See `is_unfit_text`."""
    return is_unfit_text(span.text)


def is_unfit_text(text: str) -> bool:
    """What could never be accepted as a dictionary line: special symbols, digits only, over-long ... Nor is a term what
    ends with a version (`Python 3.11`) or has a word that is a sound (`哈哈哈`), though people may bring it.
    """
    if _VERSION_SUFFIX.search(text) or find_term_error(text) is not None:
        return True
    return any(tag == "o" for _, tag in base_segmenter().tag(text))


NOISE_FILTERS: tuple[Callable[[WordSpan], bool], ...] = (
    has_single_character_verb,
    has_edge_word,
    has_english_stop_word,
    has_repeated_word,
    is_unfit_span,
)


def is_noise(span: WordSpan) -> bool:
    """Whether any step of `NOISE_FILTERS` refuses the span."""
    return any(is_rejected(span) for is_rejected in NOISE_FILTERS)


@cache
def english_stop_words() -> frozenset[str]:
    """scikit-learn's list. Imported where it is used: it takes longer to load than most commands take to run."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


@cache
def edge_words() -> frozenset[str]:
    """The reviewed list in data/edge_words.txt."""
    text = (files("lexicon") / "data" / "edge_words.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def filter_general_words(keys: Collection[str]) -> set[str]:
    """Those of `keys` (word keys) that jieba's dictionary has; it is streamed, never held."""
    return {key for word, _, _ in iter_jieba_dictionary() if (key := word.lower()) in keys}
