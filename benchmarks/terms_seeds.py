"""Effect of accepted terms: half of the gold is given as accepted terms, the other half is scored.

The model has not seen the set. For comparison, the same model without the given half is scored on the same terms.
"""

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path
from types import ModuleType

from benchmarks.results import Figure
from benchmarks.terms_models import count_in_memory, counted_corpus, select_from_table
from benchmarks.terms_sets import METRICS, TermSet, gold_of, known_of, score
from lexicon.model.term_model import iter_spellings, load_model, load_shipped_models, rank_rows
from text.folding import word_key

GUIDED = "plumbline-guided"


def seeded(one: TermSet, model: Path, plain: str, scorer: ModuleType) -> Iterator[Figure]:
    """Yield the figures of set `seeded-NAME`; if the set has a seed dictionary, of the set itself."""
    trained = load_model(model)
    models = {**load_shipped_models(), trained.boundary_model.language: trained}
    table = count_in_memory(one.texts, models)
    chosen = select_from_table(table, models)

    def figures(name: str, system: str, seeds: Collection[str], given: Collection[str]) -> Iterator[Figure]:
        rows, _ = rank_rows(models, chosen, frozenset(map(word_key, seeds)))
        scored = score(one, list(iter_spellings(counted_corpus(table), rows)), scorer, given)
        yield from (Figure(name, system, metric, scored[key]) for key, metric in METRICS.items())

    half = {term for term in gold_of(one, scorer) if hashlib.md5(term.encode()).digest()[0] % 2}
    yield from figures(f"seeded-{one.name}", plain, (), half)
    yield from figures(f"seeded-{one.name}", GUIDED, half, half)
    if known := known_of(one, scorer):
        yield from figures(one.name, GUIDED, known, ())
