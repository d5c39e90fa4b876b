"""Rows of the set `auto` of `make bench-glossary`: what automatically accepted terms do for search.

    ndcg_gain       nDCG@10 of the queries of `zh_statute` with a lexicon of the terms that a run would accept without a
                    reviewer, minus nDCG@10 with the base dictionary only
    lexicon_terms   number of these terms

The terms are mined from all documents of the collection with the shipped models. Both lexicons are indexed and searched
in a real Solr, with keywords only.
"""

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from benchmarks.results import OURS, Figure
from benchmarks.search_data import Collection, load_collections, load_scorer, sample
from benchmarks.search_systems import Ours, System
from benchmarks.terms_models import mine_in_memory
from domain.errors import PlumblineError
from domain.term import Lexicon
from indexer.embedded_solr import EmbeddedSolr
from indexer.settings import IndexSettings
from lexicon.automatic_acceptance import select_confident_terms
from lexicon.model.term_model import load_shipped_models
from lexicon.publishing import add_terms
from text.segment import base_segmenter

COLLECTION = "zh_statute"


def search_figures(data: Path, step: int) -> Iterator[Figure]:
    """Yield both rows; only each `step`-th query and each `step`-th other document is used.

    Raises PlumblineError if the collection is missing.
    """
    scorer = load_scorer(data)
    collections = load_collections(data, scorer, [COLLECTION])
    if not collections:
        raise PlumblineError(
            f"no collection {COLLECTION} in {data}: give DATA=DIR, a folder of the form of ../shared/data"
        )
    collection = sample(collections[0], step, step)
    lexicon = build_automatic_lexicon(collection)
    yield Figure("auto", OURS, "lexicon_terms", len(lexicon.entries))
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        EmbeddedSolr(Path(folder), IndexSettings(solr_heap="1g", start_timeout=600)) as solr,
    ):
        base, automatic = (
            measure_ndcg(Ours(solr.url, name, entries), collection, scorer)
            for name, entries in (("base", Lexicon()), ("automatic", lexicon))
        )
    yield Figure("auto", OURS, "ndcg_gain", automatic - base)


def build_automatic_lexicon(collection: Collection) -> Lexicon:
    """Return the lexicon that a run would publish without a reviewer."""
    texts = [f"{document.title}\n{document.text}" for document in collection.documents]
    candidates = mine_in_memory(texts, load_shipped_models())
    return add_terms(Lexicon(), select_confident_terms(candidates, base_segmenter()))


def measure_ndcg(system: System, collection: Collection, scorer: ModuleType) -> float:
    """Return the mean nDCG@10 of a system over all queries of a collection. Its index is deleted."""
    try:
        system.load(collection.documents)
        rankings = {query: list(dict.fromkeys(system.search(text))) for query, text in collection.queries}
    finally:
        system.drop()
    return statistics.fmean(scores[0] for scores in scorer.score(rankings, collection.judgments).values())
