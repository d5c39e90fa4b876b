"""Do two articles tell of the same event? By the words that tell of it: those of title and lead, rare ones most. Pure.

Two articles tell the same if enough of their words are the same, or fewer where a model of meaning says so too.

    one, other = telling_words(title, lead, cut), telling_words(...)
    likeness(one, other)          0 to 1: the weight of the words that both have, by that of all words

News of one kind (a company's profit, a quarter's output) share most words and differ in the numbers: where all numbers
differ, far more words have to be the same. A word weighs by how rare it is in general language
(text/general_language.py), in a title twice as much.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from itertools import islice

from text.folding import fold_width, word_key
from text.general_language import of_pages

LEAD = 300  # characters of a body that are read
MAX_WORDS = 40  # of one article, those that weigh most
MAX_KEYS = 8  # by which articles that may tell the same are found
MIN_WORDS = 5  # fewer tell nothing
TITLE_WEIGHT = 2.0
MIN_LIKENESS = 0.3  # of the words of two articles that tell of the same event
MIN_LIKENESS_BY_MEANING = 0.18  # where their vectors have a cosine of `MIN_COSINE`
MIN_LIKENESS_OF_KIND = 0.65  # where both name numbers and none is the same
MIN_COSINE = 0.8
UNKNOWN = 1e-3  # share of pages that hold a word of which nothing is known
_COMMON = re.compile(r"\d{1,3}|[12]\d{3}|.*[年月日号]|[\W_]+")  # a day, a year, a small number: of any event
# Numbers but for dates and times; in the words they stand behind a `#` and weigh nothing.
_NUMBER = re.compile(r"(?<![\d.])(?!(?:19|20)\d\d(?!\d))\d+(?:\.\d+)?(?![\d年月日号时点分:：/-])")
MAX_NUMBERS = 12

Words = Mapping[str, float]


def telling_words(title: str, body: str, cut: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """The words that tell what an article is about, with their weights; none where there are too few."""
    weights: dict[str, float] = {}
    for text, factor in ((body[:LEAD], 1.0), (title, TITLE_WEIGHT)):
        for word in map(word_key, cut(text)):
            if len(word) > 1 and not _COMMON.fullmatch(word):
                weights[word] = factor * -math.log(of_pages(word) + UNKNOWN)
    best = nlargest(MAX_WORDS, weights.items(), key=lambda one: (one[1], one[0]))
    if len(best) < MIN_WORDS:
        return {}
    numbers = islice(dict.fromkeys(_NUMBER.findall(fold_width(f"{title}\n{body[:LEAD]}"))), MAX_NUMBERS)
    return {f"#{number}": 0.0 for number in numbers} | {word: round(weight, 2) for word, weight in best if weight > 0}


def keys_of(words: Words) -> list[str]:
    """The words by which others with the same event are found: those that weigh most."""
    return nlargest(MAX_KEYS, (word for word in words if words[word]), key=lambda word: (words[word], word))


def likeness(one: Words, other: Words) -> float:
    """The weighted Jaccard index of two articles' words."""
    both = sum(min(one[word], other[word]) for word in one.keys() & other.keys())
    whole = sum(one.values()) + sum(other.values()) - both
    return both / whole if whole else 0.0


def same_event(one: Words, other: Words, cosine: float = 0.0) -> float:
    """How surely two articles tell of the same event, 0 where they do not; `cosine` of their vectors, 0 without."""
    alike = likeness(one, other)
    least = MIN_LIKENESS_BY_MEANING if cosine >= MIN_COSINE else MIN_LIKENESS
    mine, others = ({word for word in words if word.startswith("#")} for words in (one, other))
    if mine and others and not mine & others:
        least = MIN_LIKENESS_OF_KIND
    return alike if alike >= least else 0.0
