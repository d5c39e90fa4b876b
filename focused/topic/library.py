"""The feature library of a topic (Wu Yueting 2015, METHODS 3.6): terms and seeds to propose to the operator.

    terms of the operator -> scheme 1: words that mean alike, by the operator's files of concepts
                          -> scheme 2: the first L pages that a search finds, their terms by We (WY-F8), their URLs

Pure but for the searches that are handed in.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from crawler.guide import Cut, PageWords
from docstore.topics import ExamplePage, TopicSeed, TopicTerm
from focused.papers.concepts import Concepts
from focused.topic.words import words_of

RESULTS = 10  # L: pages of a search that are looked at [D]
TOP = 10  # n: terms proposed for each term of the operator [D]
CANDIDATES = 60  # words of the pages found for one term whose idf is asked for
MAX_RELATED = 20  # words that one term may bring by concepts
CONCEPTS = "concepts"

Find = Callable[[str, int], Iterable[ExamplePage]]
"""The pages that a search finds for a term, best first, so many at most."""
Idf = Callable[[str], float]


@dataclass(frozen=True)
class SearchPlace:
    """Where scheme 2 looks. `idf` is that of all it searches in; None where that is not known: of the pages found."""

    origin: str
    find: Find
    idf: Idf | None = None


@dataclass(frozen=True)
class TopicProposals:
    """What the operator is to judge."""

    terms: tuple[TopicTerm, ...] = ()
    seeds: tuple[TopicSeed, ...] = ()

    def __add__(self, other: "TopicProposals") -> "TopicProposals":
        return TopicProposals(self.terms + other.terms, self.seeds + other.seeds)


def by_concepts(terms: Iterable[str], concepts: Concepts | None) -> TopicProposals:
    """Scheme 1 (WY-A2, step 1): synonyms and words directly above and below. None where no files are given."""
    if concepts is None:
        return TopicProposals()
    found = [
        TopicTerm(word, origin=CONCEPTS, score=concepts.similarity(term, word) or 0.0, evidence=f"≈ {term}")
        for term in terms
        for word in tuple(concepts.related(term))[:MAX_RELATED]
    ]
    return TopicProposals(tuple(sorted(found, key=lambda term: -term.score)))


def by_search(
    terms: Sequence[str], place: SearchPlace, cut: Cut, results: int = RESULTS, top: int = TOP
) -> TopicProposals:
    """Scheme 2 (WY-A2, steps 2 to 6): what the found pages are about, and where they are."""
    found = {term: tuple(place.find(term, results)) for term in terms}
    pages = {page.url: words_of(page, cut) for some in found.values() for page in some}
    idf, origin = place.idf or idf_over(pages.values()), place.origin
    proposed: list[TopicTerm] = []
    for term, some in found.items():
        own = set(cut(term)) | {term}
        scores = mean_scores([pages[page.url] for page in some])
        likely = heapq.nlargest(CANDIDATES, (word for word in scores if word not in own), key=lambda w: (scores[w], w))
        weighed = {word: scores[word] * idf(word) for word in likely}
        best = sorted(weighed.items(), key=lambda item: (-item[1], item[0]))
        evidence = f"{len(some)} pages found by {term}"
        proposed += [TopicTerm(word, origin=origin, score=score, evidence=evidence) for word, score in best[:top]]
    return TopicProposals(tuple(sorted(proposed, key=lambda one: -one.score)), tuple(seeds_of(found, origin)))


def seeds_of(found: Mapping[str, Sequence[ExamplePage]], origin: str) -> Iterator[TopicSeed]:
    """SU of WY-A2: each URL once, with the terms that found it, the most often and best found first."""
    by: dict[str, list[str]] = defaultdict(list)
    scores: Counter[str] = Counter()
    titles: dict[str, str] = {}
    for term, pages in found.items():
        for place, page in enumerate(pages):
            by[page.url].append(term)
            scores[page.url] += 1 / (place + 1)  # type: ignore[assignment]
            titles[page.url] = page.title
    for url, score in scores.most_common():
        evidence = f"{titles[url]} ← {', '.join(by[url])}".strip()
        yield TopicSeed(url, origin=origin, score=score / max(len(found), 1), evidence=evidence[:200])


def idf_over(pages: Iterable[PageWords]) -> Idf:
    """Smoothed: ln((N + 1) / (n + 1)) + 1."""
    pages = list(pages)
    holding = Counter(word for page in pages for word in page.counts)
    return lambda word: math.log((len(pages) + 1) / (holding[word] + 1)) + 1


def mean_scores(pages: Sequence[PageWords]) -> dict[str, float]:
    """f(e) / fmax of WY-F8, We(e) = f(e) / fmax * idf(e), the mean of several pages; f(e) is summed over blocks by
    their weights."""
    total: dict[str, float] = defaultdict(float)
    for page in pages:
        frequency: dict[str, float] = defaultdict(float)
        for block in page.blocks:
            for word, count in Counter(block.words).items():
                frequency[word] += block.weight * count
        most = max(frequency.values(), default=0.0)
        for word, value in frequency.items():
            total[word] += value / most / len(pages) if most else 0.0
    return dict(total)
