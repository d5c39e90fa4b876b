"""How often words are used whatever a text is about: Chinese ones by the dictionary of jieba, English ones by that of
pyspellchecker (counted in film subtitles: Lison and Tiedemann 2016, "OpenSubtitles2016"). Both are MIT.

    of_pages("的")      0.995
    of_pages("岩石")    0.033
"""

import math
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from spellchecker import SpellChecker

WORDS_PER_PAGE = 1000  # words of a page
MIN_WORD_SHARE = 5e-7  # of all words: what is rarer stands on one page in two thousand, and is not held


def page_share(word: str) -> float:
    """What share of pages of general language hold a word, in lower case: 1 - exp(-PAGE * its share of all words), as
    if words came one by one; 0 for one that is rare or not known."""
    return page_shares().get(word, 0.0)


@cache
def page_shares() -> Mapping[str, float]:
    """The same for all words that are held."""
    english = SpellChecker(language="en").word_frequency
    chinese = {word.lower(): frequency for word, frequency, _ in iter_jieba_dictionary()}
    return {
        **shares_from_counts(chinese, sum(chinese.values())),
        **shares_from_counts(dict(english.items()), english.total_words),
    }


def shares_from_counts(counts: Mapping[str, int], total: int) -> dict[str, float]:
    """The share of pages that hold a word, for words that are not too rare."""
    return {
        word: 1 - math.exp(-WORDS_PER_PAGE * count / total)
        for word, count in counts.items()
        if count / total >= MIN_WORD_SHARE
    }


def iter_jieba_dictionary() -> Iterator[tuple[str, int, str]]:
    """Words, frequencies and tags of jieba's own dictionary, one by one."""
    with (files("jieba") / "dict.txt").open(encoding="utf-8") as lines:
        for line in lines:
            word, frequency, tag = line.split()
            yield word, int(frequency), sys.intern(tag)
