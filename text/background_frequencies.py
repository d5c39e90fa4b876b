"""Word frequencies in general language.

Chinese: the dictionary of jieba. English: the dictionary of pyspellchecker (counted in film subtitles: Lison and
Tiedemann 2016, "OpenSubtitles2016"). Both have the MIT license.

    page_share("的")      0.995
    page_share("岩石")    0.033
"""

import math
import sys
from array import array
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files

from spellchecker import SpellChecker

WORDS_PER_PAGE = 1000  # length of a model page
MIN_WORD_SHARE = 5e-7  # share of all words; a rarer word occurs on one page in two thousand and is omitted


def page_share(word: str) -> float:
    """Return the share of general-language pages that contain a word (lower case), 0 to 1.

    It is 1 - exp(-WORDS_PER_PAGE * the word's share of all words), for independent words. It is 0 for rare or unknown
    words.
    """
    return page_shares().get(word, 0.0)


@lru_cache(1 << 14)  # a look-up takes up to a millisecond
def is_english_word(word: str) -> bool:
    """True if the English dictionary has the word (lower case), however rare."""
    return f"\n{word}\n" in _english_words()


@cache
def _english_words() -> str:
    """Return all English words between line breaks: a set of them would take ten times the memory."""
    return "\n".join(("", *SpellChecker(language="en").word_frequency, ""))


@cache
def page_shares() -> Mapping[str, float]:
    """Return word -> page share (see `page_share`) for all known words."""
    lines, shares = _load_page_shares()
    return dict(zip(lines.split("\n"), shares, strict=True))


def _load_page_shares() -> "tuple[str, array[float]]":
    """Return the words, joined by line breaks, and their page shares.

    500,000 rare words are dropped here. A dictionary built among them would keep three times the memory it needs.
    """
    english = SpellChecker(language="en").word_frequency
    chinese = {word.lower(): frequency for word, frequency, _ in iter_jieba_dictionary()}
    share_by_word = shares_from_counts(chinese, sum(chinese.values()))
    share_by_word |= shares_from_counts(dict(english.items()), english.total_words)
    return "\n".join(share_by_word), array("d", share_by_word.values())


def shares_from_counts(counts: Mapping[str, int], total: int) -> dict[str, float]:
    """Compute the page shares from word counts. Rare words are omitted."""
    return {
        word: 1 - math.exp(-WORDS_PER_PAGE * count / total)
        for word, count in counts.items()
        if count / total >= MIN_WORD_SHARE
    }


def iter_jieba_dictionary() -> Iterator[tuple[str, int, str]]:
    """Iterate over the words, frequencies and tags of jieba's dictionary."""
    with (files("jieba") / "dict.txt").open(encoding="utf-8") as lines:
        for line in lines:
            word, frequency, tag = line.split()
            yield word, int(frequency), sys.intern(tag)
