"""Search while documents wait for their vectors: the set `partial` of `make bench-search`.

`overlap_N`: N percent of the documents have a vector. The value is the share of the first ten results that this search
has in common with keyword search, or with search by all vectors, whichever share is larger; mean over the queries.
`COVERAGE_EXPONENT` was chosen on one half of the queries (`is_chosen_half`); the other half is reported.
"""

import hashlib
import statistics
from collections.abc import Iterator, Sequence

from benchmarks.results import OURS, Figure
from benchmarks.search_data import Collection, sample
from benchmarks.search_meaning import WithMeaning
from domain.term import Lexicon

PARTIAL = "partial"
PERCENTAGES = (5, 25, 50)
DEPTH = 10
MAX_DOCUMENTS = 1_500  # of a collection, so that a run takes minutes
MAX_QUERIES = 120


def partial_figures(url: str, collections: Sequence[Collection], is_chosen_half: bool = False) -> Iterator[Figure]:
    """Yield the mean overlap of all collections for each percentage of embedded documents."""
    overlaps: dict[int, list[float]] = {percent: [] for percent in PERCENTAGES}
    for collection in collections:
        part = small_sample(collection)
        queries = [text for name, text in part.queries if _is_in_chosen_half(name) is is_chosen_half]
        lexical, complete = _rankings(url, part, queries)
        for percent in PERCENTAGES:
            partial = _hybrid_rankings(url, part, queries, percent)
            overlaps[percent] += [
                max(_overlap(ranking, lexical[n]), _overlap(ranking, complete[n])) for n, ranking in enumerate(partial)
            ]
    for percent, values in overlaps.items():
        yield Figure(PARTIAL, OURS, f"overlap_{percent}", statistics.fmean(values))


def small_sample(collection: Collection) -> Collection:
    """Return at most about `MAX_QUERIES` queries and `MAX_DOCUMENTS` documents of a collection."""
    queries = -(-len(collection.queries) // MAX_QUERIES)
    return sample(collection, queries, -(-len(collection.documents) // MAX_DOCUMENTS))


def _is_in_chosen_half(query_id: str) -> bool:
    return hashlib.sha256(query_id.encode()).digest()[0] % 2 == 0  # independent of the checksums of `sample`


def _rankings(
    url: str, collection: Collection, queries: Sequence[str]
) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """Return the first results by keywords, and by keywords and all vectors."""
    system = WithMeaning(url, f"{collection.name}_complete", Lexicon())
    try:
        system.load(collection.documents)
        return [system.search_lexically(text)[:DEPTH] for text in queries], [
            system.search(text)[:DEPTH] for text in queries
        ]
    finally:
        system.drop()


def _hybrid_rankings(url: str, collection: Collection, queries: Sequence[str], percent: int) -> list[Sequence[str]]:
    system = WithMeaning(url, f"{collection.name}_partial", Lexicon(), embedded_percent=percent)
    try:
        system.load(collection.documents)
        return [system.search(text)[:DEPTH] for text in queries]
    finally:
        system.drop()


def _overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the share of the results of the longer list that both lists contain."""
    longest = max(len(first), len(second))
    return len(set(first) & set(second)) / longest if longest else 1.0
