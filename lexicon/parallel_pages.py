"""Equivalents in the other language from parallel pages: the same article in Chinese and in English. Pure.

Two pages are parallel if their URLs differ only in the mark of the language: /en/news/1.html and /news/1.html,
en.example.org and www.example.org, ?lang=en and ?lang=zh. Two terms are equivalent if they occur in the same pairs.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

MIN_PAIRS = 3  # of pages, that contain both terms
MIN_DICE = 0.75
MAX_TERMS_PER_PAGE = 40  # the rarest ones
_LANGUAGE = r"(?:zh|cn|en|chn?|eng|chinese|english|zh[-_](?:cn|hans|hant|tw|hk|sg)|en[-_](?:us|gb|uk|au|ca|in))"
_LANGUAGE_SEGMENT = re.compile(_LANGUAGE, re.IGNORECASE)
_LANGUAGE_SUFFIX = re.compile(rf"[-_.]{_LANGUAGE}(?=$|\.[a-z]{{3,5}}$)", re.IGNORECASE)
_LANGUAGE_PARAMETERS = frozenset({"lang", "language", "locale", "hl"})


class Equivalent(NamedTuple):
    """A Chinese and an English term that occur in the same pairs of pages, with their Dice coefficient."""

    chinese: str
    english: str
    dice: float


def language_free_url(url: str) -> str:
    """Return a URL without scheme, `www.` and marks of a language: parallel pages have the same one."""
    parts = urlsplit(url)
    labels = (parts.hostname or "").split(".")
    if len(labels) > 2 and (labels[0] == "www" or _LANGUAGE_SEGMENT.fullmatch(labels[0])):
        labels = labels[1:]
    segments = [segment for segment in parts.path.split("/") if not _LANGUAGE_SEGMENT.fullmatch(segment)]
    segments[-1:] = [_LANGUAGE_SUFFIX.sub("", segment) for segment in segments[-1:]]
    parameters = [pair for pair in parse_qsl(parts.query) if pair[0].lower() not in _LANGUAGE_PARAMETERS]
    return f"{'.'.join(labels)}{'/'.join(segments)}?{urlencode(parameters)}"


def find_equivalents(term_pairs: Sequence[tuple[frozenset[str], frozenset[str]]]) -> list[Equivalent]:
    """Return the equivalent terms of pairs of pages. Each term is the only best match of the other.

    Args:
        term_pairs: For each pair, the terms of the Chinese page, and those of the English one.
    """
    counts = tuple(Counter(term for pair in term_pairs for term in pair[side]) for side in (0, 1))
    shared_counts = Counter[tuple[str, str]]()
    for pair in term_pairs:
        chinese_terms, english_terms = (_rarest(pair[side], counts[side]) for side in (0, 1))
        shared_counts.update((chinese, english) for chinese in chinese_terms for english in english_terms)
    candidates = [
        Equivalent(chinese, english, 2 * count / (counts[0][chinese] + counts[1][english]))
        for (chinese, english), count in shared_counts.items()
        if count >= MIN_PAIRS
    ]
    best_dices: dict[str, list[float]] = {}
    for candidate in candidates:
        for term in (candidate.chinese, candidate.english):
            best_dices[term] = sorted([*best_dices.get(term, ()), candidate.dice], reverse=True)[:2]
    return [
        candidate
        for candidate in candidates
        if candidate.dice >= MIN_DICE
        and all(
            best_dices[term][0] == candidate.dice and candidate.dice not in best_dices[term][1:]
            for term in (candidate.chinese, candidate.english)
        )
    ]


def _rarest(terms: frozenset[str], counts: Counter[str]) -> list[str]:
    """Return the rarest terms of a page that enough pages contain."""
    frequent_terms = (term for term in terms if counts[term] >= MIN_PAIRS)
    return sorted(frequent_terms, key=lambda term: (counts[term], term))[:MAX_TERMS_PER_PAGE]
