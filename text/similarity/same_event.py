"""Decide whether two articles report the same event, by the words of title and lead. Pure.

    left, right = event_keywords(title, lead, cut), event_keywords(...)
    same_event_score(left, right)          0 to 1: weight of shared words by all words, 0 below the threshold

Rare words weigh most (text/background_frequencies.py), words of the title twice. The threshold is lower if an embedding
model also finds the articles similar. News of one kind (a company's profit, a quarter's output) share most words and
differ in numbers. If all numbers differ, the threshold is much higher.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from itertools import islice

from text.background_frequencies import page_share
from text.folding import fold_width, word_key

LEAD_CHARS = 300  # characters of the body that are used
MAX_WORDS = 40  # per article, the heaviest ones
MAX_LOOKUP_WORDS = 8  # used to find candidate articles
MIN_WORDS = 5  # articles with fewer words are not compared
TITLE_WEIGHT = 2.0
MIN_SIMILARITY = 0.3  # weighted Jaccard index
MIN_SIMILARITY_WITH_COSINE = 0.18  # if the vectors have a cosine of at least `MIN_COSINE`
MIN_SIMILARITY_IF_NUMBERS_DIFFER = 0.65  # if both contain numbers and share none
MIN_COSINE = 0.8
UNKNOWN_WORD_SHARE = 1e-3  # page share of an unknown word
_UNINFORMATIVE = re.compile(
    r"\d{1,3}|[12]\d{3}|.*[年月日号]|[\W_]+"
)  # days, years and small numbers occur in any event
# Numbers except dates and times. They are stored after a `#` and have no weight.
_NUMBER = re.compile(r"(?<![\d.])(?!(?:19|20)\d\d(?!\d))\d+(?:\.\d+)?(?![\d年月日号时点分:：/-])")
MAX_NUMBERS = 12

WordWeightMap = Mapping[str, float]


def event_keywords(title: str, body: str, cut: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """Return the words that identify the event of an article, with weights. Returns {} for too few words."""
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
    """Return the heaviest words, which find candidate articles of the same event."""
    return nlargest(MAX_LOOKUP_WORDS, (word for word in words if words[word]), key=lambda word: (words[word], word))


def weighted_jaccard(left: WordWeightMap, right: WordWeightMap) -> float:
    """Weighted Jaccard index of two articles' words, 0 to 1."""
    shared_weight = sum(min(left[word], right[word]) for word in left.keys() & right.keys())
    total_weight = sum(left.values()) + sum(right.values()) - shared_weight
    return shared_weight / total_weight if total_weight else 0.0


def same_event_score(left: WordWeightMap, right: WordWeightMap, cosine: float = 0.0) -> float:
    """Return how similar two reports of one event are, or 0 if they report different events.

    `cosine` is the cosine of their vectors, 0 if unknown.
    """
    similarity = weighted_jaccard(left, right)
    threshold = MIN_SIMILARITY_WITH_COSINE if cosine >= MIN_COSINE else MIN_SIMILARITY
    left_numbers, right_numbers = ({word for word in words if word.startswith("#")} for words in (left, right))
    if left_numbers and right_numbers and not left_numbers & right_numbers:
        threshold = MIN_SIMILARITY_IF_NUMBERS_DIFFER
    return similarity if similarity >= threshold else 0.0
