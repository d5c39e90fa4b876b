"""Do two articles tell of the same event? By the words that tell of it: those of title and lead, rare ones most. Pure.

Two articles tell the same if enough of their words are the same, or fewer where a model of meaning says so too.

    one, other = telling_words(title, lead, cut), telling_words(...)
    likeness(one, other)          0 to 1: the weight of the words that both have, by that of all words

News of one kind (a company's profit, a quarter's output) share most words and differ in the numbers: where all numbers
differ, far more words have to be the same. A word weighs by how rare it is in general language
(text/background_frequencies.py), in a title twice as much.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from itertools import islice

from text.background_frequencies import page_share
from text.folding import fold_width, word_key

LEAD_CHARS = 300  # characters of a body that are read
MAX_WORDS = 40  # of one article, those that weigh most
MAX_LOOKUP_WORDS = 8  # by which articles that may tell the same are found
MIN_WORDS = 5  # fewer tell nothing
TITLE_WEIGHT = 2.0
MIN_SIMILARITY = 0.3  # of the words of two articles that tell of the same event
MIN_SIMILARITY_WITH_COSINE = 0.18  # where their vectors have a cosine of `MIN_COSINE`
MIN_SIMILARITY_IF_NUMBERS_DIFFER = 0.65  # where both name numbers and none is the same
MIN_COSINE = 0.8
UNKNOWN_WORD_SHARE = 1e-3  # share of pages that hold a word of which nothing is known
_UNINFORMATIVE = re.compile(r"\d{1,3}|[12]\d{3}|.*[年月日号]|[\W_]+")  # a day, a year, a small number: of any event
# Numbers but for dates and times; in the words they stand behind a `#` and weigh nothing.
_NUMBER = re.compile(r"(?<![\d.])(?!(?:19|20)\d\d(?!\d))\d+(?:\.\d+)?(?![\d年月日号时点分:：/-])")
MAX_NUMBERS = 12

WordWeightMap = Mapping[str, float]


def event_keywords(title: str, body: str, cut: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """The words that tell what an article is about, with their weights; none where there are too few."""
    weights: dict[str, float] = {}
    for text, factor in ((body[:LEAD_CHARS], 1.0), (title, TITLE_WEIGHT)):
        for word in map(word_key, cut(text)):
            if len(word) > 1 and not _UNINFORMATIVE.fullmatch(word):
                weights[word] = factor * -math.log(page_share(word) + UNKNOWN_WORD_SHARE)
    best = nlargest(MAX_WORDS, weights.items(), key=lambda word_and_weight: (word_and_weight[1], word_and_weight[0]))
    if len(best) < MIN_WORDS:
        return {}
    numbers = islice(dict.fromkeys(_NUMBER.findall(fold_width(f"{title}\n{body[:LEAD_CHARS]}"))), MAX_NUMBERS)
    return {f"#{number}": 0.0 for number in numbers} | {word: round(weight, 2) for word, weight in best if weight > 0}


def lookup_words(words: WordWeightMap) -> list[str]:
    """The words by which others with the same event are found: those that weigh most."""
    return nlargest(MAX_LOOKUP_WORDS, (word for word in words if words[word]), key=lambda word: (words[word], word))


def weighted_jaccard(left: WordWeightMap, right: WordWeightMap) -> float:
    """The weighted Jaccard index of two articles' words."""
    shared_weight = sum(min(left[word], right[word]) for word in left.keys() & right.keys())
    total_weight = sum(left.values()) + sum(right.values()) - shared_weight
    return shared_weight / total_weight if total_weight else 0.0


def same_event_score(left: WordWeightMap, right: WordWeightMap, cosine: float = 0.0) -> float:
    """How surely two articles tell of the same event, 0 where they do not; `cosine` of their vectors, 0 without."""
    similarity = weighted_jaccard(left, right)
    threshold = MIN_SIMILARITY_WITH_COSINE if cosine >= MIN_COSINE else MIN_SIMILARITY
    left_numbers, right_numbers = ({word for word in words if word.startswith("#")} for words in (left, right))
    if left_numbers and right_numbers and not left_numbers & right_numbers:
        threshold = MIN_SIMILARITY_IF_NUMBERS_DIFFER
    return similarity if similarity >= threshold else 0.0
