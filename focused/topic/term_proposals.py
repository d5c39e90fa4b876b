"""Feature library of a topic (Wu Yueting 2015): terms and seeds to propose to the administrator.

    terms of the administrator -> scheme 1: related words from the concept files
                               -> scheme 2: first L result pages of a search, their terms by We (WY-F8), their URLs

The module has no side effects except for the search functions that the caller passes.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from crawler.focused_policy import PageWords, WordTokenizer
from domain.message import Message
from domain.topic import ExamplePage, TopicSeed, TopicTerm
from focused.concepts.source import ConceptSource
from focused.topic.tokenizing import tokenize_example

RESULTS_PER_SEARCH = 10  # L: result pages used per search [D]
PROPOSALS_PER_TERM = 10  # n: terms proposed per term of the administrator [D]
CANDIDATES_PER_TERM = 60  # words of the result pages of a term whose idf is looked up
MAX_RELATED_PER_TERM = 20  # words proposed per term from concepts
CONCEPTS_ORIGIN = "concepts"

SearchFunction = Callable[[str, int], Iterable[ExamplePage]]
"""(term, limit) -> result pages of a search for the term, best first, at most `limit`."""
IdfFunction = Callable[[str], float]


@dataclass(frozen=True)
class SearchSource:
    """Search engine for scheme 2. `idf` refers to its whole collection, None to compute idf from the result pages."""

    origin: str
    search: SearchFunction
    idf: IdfFunction | None = None


@dataclass(frozen=True)
class TopicProposals:
    """Terms and seeds for the administrator to decide on."""

    terms: tuple[TopicTerm, ...] = ()
    seeds: tuple[TopicSeed, ...] = ()

    def __add__(self, other: "TopicProposals") -> "TopicProposals":
        return TopicProposals(self.terms + other.terms, self.seeds + other.seeds)


def propose_from_concepts(terms: Iterable[str], concepts: ConceptSource | None) -> TopicProposals:
    """Scheme 1 (WY-A2, step 1): propose synonyms and directly broader and narrower words, best first.

    Returns no proposals if `concepts` is None.
    """
    if concepts is None:
        return TopicProposals()
    proposals = [
        TopicTerm(word, origin=CONCEPTS_ORIGIN, score=concepts.similarity(term, word) or 0.0, evidence=f"≈ {term}")
        for term in terms
        for word in tuple(concepts.related(term))[:MAX_RELATED_PER_TERM]
    ]
    return TopicProposals(tuple(sorted(proposals, key=lambda term: -term.score)))


def propose_from_search(
    terms: Sequence[str],
    source: SearchSource,
    tokenize: WordTokenizer,
    results: int = RESULTS_PER_SEARCH,
    top: int = PROPOSALS_PER_TERM,
) -> TopicProposals:
    """Scheme 2 (WY-A2, steps 2 to 6): propose words and URLs of the pages that searches return.

    Characteristic words become terms, the pages become seeds.

    Args:
        terms: terms to search for.
        source: search engine and its idf.
        tokenize: tokenizer for the result pages.
        results: result pages per search (L).
        top: proposed terms per search term (n).
    """
    pages_by_term = {term: tuple(source.search(term, results)) for term in terms}
    pages = {page.url: tokenize_example(page, tokenize) for term_pages in pages_by_term.values() for page in term_pages}
    idf, origin = source.idf or smoothed_idf(pages.values()), source.origin
    proposed_terms: list[TopicTerm] = []
    for term, term_pages in pages_by_term.items():
        excluded_words = set(tokenize(term)) | {term}
        scores = mean_relative_frequency([pages[page.url] for page in term_pages])
        candidates = heapq.nlargest(
            CANDIDATES_PER_TERM, (word for word in scores if word not in excluded_words), key=lambda w: (scores[w], w)
        )
        tfidf_by_word = {word: scores[word] * idf(word) for word in candidates}
        ranked_words = sorted(tfidf_by_word.items(), key=lambda item: (-item[1], item[0]))
        evidence = Message("1 page found by {term}", "{n} pages found by {term}", n=len(term_pages), term=term)
        proposed_terms += [
            TopicTerm(word, origin=origin, score=score, evidence=evidence) for word, score in ranked_words[:top]
        ]
    return TopicProposals(
        tuple(sorted(proposed_terms, key=lambda proposal: -proposal.score)),
        tuple(iter_seed_proposals(pages_by_term, origin)),
    )


def iter_seed_proposals(pages_by_term: Mapping[str, Sequence[ExamplePage]], origin: str) -> Iterator[TopicSeed]:
    """Yield SU of WY-A2: each URL once, with the terms that found it, by descending sum of reciprocal ranks."""
    terms_by_url: dict[str, list[str]] = defaultdict(list)
    scores: Counter[str] = Counter()
    titles: dict[str, str] = {}
    for term, pages in pages_by_term.items():
        for rank, page in enumerate(pages):
            terms_by_url[page.url].append(term)
            scores[page.url] += 1 / (rank + 1)  # type: ignore[assignment]
            titles[page.url] = page.title
    for url, score in scores.most_common():
        evidence = f"{titles[url]} ← {', '.join(terms_by_url[url])}".strip()
        yield TopicSeed(url, origin=origin, score=score / max(len(pages_by_term), 1), evidence=evidence[:200])


def smoothed_idf(pages: Iterable[PageWords]) -> IdfFunction:
    """Return the smoothed idf of the pages: ln((N + 1) / (n + 1)) + 1."""
    pages = list(pages)
    document_frequency = Counter(word for page in pages for word in page.word_counts)
    return lambda word: math.log((len(pages) + 1) / (document_frequency[word] + 1)) + 1


def mean_relative_frequency(pages: Sequence[PageWords]) -> dict[str, float]:
    """Return the mean of f(e) / fmax over the pages, by word, for WY-F8: We(e) = f(e) / fmax * idf(e).

    f(e) is the frequency summed over blocks with the block weights.
    """
    total: dict[str, float] = defaultdict(float)
    for page in pages:
        frequency: dict[str, float] = defaultdict(float)
        for block in page.blocks:
            for word, count in Counter(block.words).items():
                frequency[word] += block.weight * count
        max_frequency = max(frequency.values(), default=0.0)
        for word, value in frequency.items():
            total[word] += value / max_frequency / len(pages) if max_frequency else 0.0
    return dict(total)
