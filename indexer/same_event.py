"""Decide whether two articles report the same event, by the words of title and lead. Pure.

    left, right = event_keywords(title, lead, cut), event_keywords(...)
    same_event_score(left, right)          0 to 1: weight of shared words by all words, 0 below the threshold

Rare words weigh most (text/background_frequencies.py), words of the title twice. The threshold is lower if an embedding
model also finds the articles similar.

News of one kind (a company's profit, a quarter's output) share most words and differ in names and numbers. Articles
report different events if their titles name different companies, places or fields, or state different figures. If all
other numbers differ, the threshold is much higher.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from heapq import nlargest
from itertools import islice

from text.background_frequencies import iter_jieba_dictionary, page_share
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
# Marks of entries without weight.
NUMBER_MARK, TITLE_NUMBER_MARK = "#", "="
NAME_MARK, TITLE_NAME_MARK = "@", "!"  # before `kind:name`
LATIN_KIND, REGION_KIND = "latin", "region"  # only compared if both titles have such names
MAX_NAMES = 20
_INDUSTRY = (
    "石油|油气|能源|天然气|燃气|石化|炼化|海洋|海上|深海|工程|物探|钻探|测井|管道|储运|井下|作业|油田|服务|科技|电力"
    "|股份|有限|控股|建设|矿业|化工|汽车|航空"
)
_PAIR = "[\u4e00-\u9fff]{2}"  # the last characters of a name, before the word for its kind
_NAME = re.compile(
    rf"(?P<company>{_PAIR})(?:(?:{_INDUSTRY}){{0,9}}(?:公司|集团)|石化|炼化|银行|证券|保险)"
    rf"|(?P<field>{_PAIR})(?<!石)(?:(?:油气|页岩气|致密)?(?:油田|气田)|区块|盆地|[洼凹]陷|斜坡带|构造带|断裂带|向斜|[煤铁金]矿)"
    r"|(?P<unit>(?:[\u4e00-\u9fff]|(?<!\d))\d++)(?=平台|井(?![次口])|钻井队)"
    r"|第(?P<plant>[一二三四五六七八九十\d]+)(?=[\u4e00-\u9fff]{1,3}厂)"
    rf"|(?P<place>{_PAIR})(?=新区|省(?![份级])|市(?![场民值政区级价况面委长])|县(?![级域])|镇(?![级长])|港(?![口元股])"
    "|海关|电站|电厂|炼厂|水库|机场|大桥|大学|学院|研究院|研究所|医院)"
)
_NO_NAME = frozenset(
    re.findall(
        _PAIR,
        "中国国家国际我国全国国有国内城市上市超市都市夜市乡镇城镇集团公司全市全省全县该市本市一家两家多家各大大型民营海外",
    )
)
_LATIN_NAME = re.compile(r"(?<![\w.])[A-Z][\w'’-]{2,}")
TITLE_CASE_SHARE = 0.6  # of the longer words of a title: then its capitals say nothing

WordWeightMap = Mapping[str, float]


def event_keywords(title: str, body: str, cut: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """Return the words that identify the event of an article, with weights. Returns {} for too few words."""
    title, lead = fold_width(title), fold_width(body[:LEAD_CHARS])
    title_words, lead_words = cut(title), cut(lead)
    weights: dict[str, float] = {}
    for words, factor in ((lead_words, 1.0), (title_words, TITLE_WEIGHT)):
        for word, weight in map(_weigh_word, (word for word in words if len(word) > 1)):
            if weight:
                weights[word] = factor * weight
    best = nlargest(MAX_WORDS, weights.items(), key=lambda word_and_weight: (word_and_weight[1], word_and_weight[0]))
    if len(best) < MIN_WORDS:
        return {}
    text = f"{title}\n{lead}"
    marks = [
        *(f"{NUMBER_MARK}{number}" for number in _first(_NUMBER.findall(text), MAX_NUMBERS)),
        *(f"{TITLE_NUMBER_MARK}{number}" for number in _first(_NUMBER.findall(title), MAX_NUMBERS)),
        *(f"{NAME_MARK}{name}" for name in _first(_find_names(text, [*title_words, *lead_words]), MAX_NAMES)),
        *(f"{TITLE_NAME_MARK}{name}" for name in _first(_find_names(title, title_words), MAX_NAMES)),
    ]
    return dict.fromkeys(marks, 0.0) | {word: round(weight, 2) for word, weight in best if weight > 0}


@lru_cache(1 << 14)
def _weigh_word(word: str) -> tuple[str, float]:
    """Return the key of a word and its weight in the body, 0 if it identifies no event."""
    key = word_key(word)
    is_informative = len(key) > 1 and not _UNINFORMATIVE.fullmatch(key)
    return key, -math.log(page_share(key) + UNKNOWN_WORD_SHARE) if is_informative else 0.0


@cache
def _region_names() -> frozenset[str]:
    """Return the place names of the base dictionary."""
    return frozenset(word for word, _, tag in iter_jieba_dictionary() if tag == "ns" and len(word) > 1)


def _first(values: Iterable[str], count: int) -> list[str]:
    return list(islice(dict.fromkeys(values), count))


def _find_names(text: str, words: Iterable[str]) -> Iterator[str]:
    """Yield the names of companies, places, fields and plants as `kind:name`, of a folded text and its words."""
    regions = _region_names()
    for word in words:
        if word in regions and word not in _NO_NAME:
            yield f"{REGION_KIND}:{word}"
    for match in _NAME.finditer(text):
        name = match[match.lastgroup or 0]
        if name not in _NO_NAME:
            yield f"{match.lastgroup}:{name}"
    for line in text.split("\n"):
        longer_words = re.findall(r"[A-Za-z][\w'’-]{3,}", line)
        is_title_case = sum(word[0].isupper() for word in longer_words) > TITLE_CASE_SHARE * len(longer_words)
        last_end = 0
        for match in _LATIN_NAME.finditer(line):
            text_before = line[last_end : match.start()].rstrip() or line[last_end - 1 : last_end]
            begins_sentence, last_end = not text_before or text_before[-1] in ".!?:", match.end()
            is_known = page_share(match[0].lower()) > 0
            if not (is_known and (is_title_case or begins_sentence)):
                yield f"{LATIN_KIND}:{match[0].lower()}"


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
    if _titles_differ(left, right):
        return 0.0
    similarity = weighted_jaccard(left, right)
    threshold = MIN_SIMILARITY_WITH_COSINE if cosine >= MIN_COSINE else MIN_SIMILARITY
    left_numbers, right_numbers = (_words_with_mark(words, NUMBER_MARK) for words in (left, right))
    if left_numbers and right_numbers and not left_numbers & right_numbers:
        threshold = MIN_SIMILARITY_IF_NUMBERS_DIFFER
    return similarity if similarity >= threshold else 0.0


def _words_with_mark(words: WordWeightMap, mark: str) -> set[str]:
    """Return the entries with this mark, without it."""
    return {word[1:] for word in words if word.startswith(mark)}


def _titles_differ(first: WordWeightMap, second: WordWeightMap) -> bool:
    """Return True if the titles state different figures or name different companies, places or fields.

    A figure or name of one title is no difference if title or lead of the other article contain it.
    """
    return (
        _all_missing(_words_with_mark(first, TITLE_NUMBER_MARK), _words_with_mark(second, NUMBER_MARK))
        and _all_missing(_words_with_mark(second, TITLE_NUMBER_MARK), _words_with_mark(first, NUMBER_MARK))
    ) or _names_differ(first, second)


def _names_differ(first: WordWeightMap, second: WordWeightMap) -> bool:
    first_names, second_names = _words_with_mark(first, NAME_MARK), _words_with_mark(second, NAME_MARK)
    first_title, second_title = _words_with_mark(first, TITLE_NAME_MARK), _words_with_mark(second, TITLE_NAME_MARK)
    if _all_missing(first_title, second_names) and _all_missing(second_title, first_names):
        return True
    return _kind_differs(first_title, first_names, second_names) or _kind_differs(
        second_title, second_names, first_names
    )


def _kind_differs(title: set[str], names: set[str], other_names: set[str]) -> bool:
    """Return True if both articles have names of a kind that the title names, and share none of them."""
    kinds = {name.partition(":")[0] for name in title} - {LATIN_KIND, REGION_KIND}
    shared_kinds = {name.partition(":")[0] for name in names & other_names}
    other_kinds = {name.partition(":")[0] for name in other_names}
    return bool((kinds & other_kinds) - shared_kinds)


def _all_missing(values: set[str], other_values: set[str]) -> bool:
    return bool(values) and not values & other_values
