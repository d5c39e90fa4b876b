"""The set `wd_automatic`: the comparison search of the demo after one run without a person (Wang Du 2019, WD-S3).

`plumbline` searches with the lexicon that the run published, `base` with the base dictionary. The queries are all terms
of that lexicon that the base dictionary splits. One of them is the paper's own query, which the demo shows.

    mrr, p10             mean over the queries: reciprocal rank of the first document that contains the complete term,
                         and share of such documents in the first ten
    first_rank           mean rank of the first such document; COMPARED_RESULTS + 1 if there is none
    example_first_rank   the same for the demo's query alone
"""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.demo_search_site import open_demo_site
from benchmarks.results import OURS, Figure
from domain.errors import PlumblineError
from domain.term import AUTOMATIC_ACTOR
from pipeline.demo.articles import COMPARISON_TERM
from pipeline.engine import Engine
from pipeline.search_site.search_app import compare_term
from search_ui.services.compare import COMPARED_RESULTS, LexiconResult

SET = "wd_automatic"
MIN_QUERIES = 11


def automatic_figures() -> list[Figure]:
    """Run the demo in a temporary folder and compare both lexicons.

    Raises:
        PlumblineError: The lexicon is not automatic, lacks the demo's query, or has fewer than MIN_QUERIES queries.
    """
    with open_demo_site(without_embedding=True) as (engine, _):
        results_by_query = compare_automatic_terms(engine)
    if COMPARISON_TERM not in results_by_query or len(results_by_query) < MIN_QUERIES:
        raise PlumblineError(
            f"the automatic lexicon has {len(results_by_query)} queries: {', '.join(results_by_query)}"
        )
    return [
        figure
        for index, system in enumerate(("base", OURS))
        for figure in iter_figures({query: results[index] for query, results in results_by_query.items()}, system)
    ]


def compare_automatic_terms(engine: Engine) -> dict[str, Sequence[LexiconResult]]:
    """Return the results with the base dictionary and with the lexicon, by term that the base dictionary splits."""
    lexicon = engine.store.lexicons.load_latest()
    if lexicon.published_by != AUTOMATIC_ACTOR:
        raise PlumblineError(f"version {lexicon.version} of the lexicon was published by {lexicon.published_by!r}")
    results_by_term = {entry.text: compare_term(engine, entry.text) for entry in lexicon.entries}
    return {term: results for term, results in results_by_term.items() if len(results[0].words) > 1}


def iter_figures(result_by_query: dict[str, LexiconResult], system: str) -> Iterator[Figure]:
    """Yield the figures of one system."""
    rank_by_query = {
        query: result.measures.first_rank or COMPARED_RESULTS + 1 for query, result in result_by_query.items()
    }
    measures = [result.measures for result in result_by_query.values()]
    values = {
        "mrr": float(np.mean([measure.reciprocal_rank for measure in measures])),
        "p10": float(np.mean([measure.precision_at_10 for measure in measures])),
        "first_rank": float(np.mean(list(rank_by_query.values()))),
        "example_first_rank": rank_by_query[COMPARISON_TERM],
        "queries": len(measures),
    }
    yield from (Figure(SET, system, metric, value) for metric, value in values.items())
