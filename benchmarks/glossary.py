"""Benchmark of the glossary: `make bench-glossary [DATA=DIR] [ARGS='--sets scicn,cmeee']`.

auto   Terms that a run would accept without a reviewer (lexicon/automatic_acceptance.py). Judged by eye: metrics in
       benchmarks/glossary_precision.py. Searched with: metrics in benchmarks/glossary_search.py. In DIR/terms, compared
       with the annotated terms, which are incomplete:
       annotated_zh, annotated_en         share of the accepted terms that are annotated, over all corpora of a language
       best_annotated_zh, ..._en          the same for as many candidates with the best scores, without the other rules
       accepted_zh, accepted_en           accepted terms
       recall_zh, recall_en               share of the annotated terms that are accepted

bursts Terms whose share of the news rises suddenly; metrics in benchmarks/glossary_bursts.py.

statute, zh_docs, en_wiki, en_deft   The sentence that defines a term; metrics in benchmarks/glossary_definitions.py.

tbx, skos   Concepts that are exported and imported; metric in benchmarks/glossary_concepts.py.

relations   Broader terms that are proposed for review; metrics in benchmarks/glossary_relations.py.

Each corpus is mined with models trained without it, as in `make bench-terms`; training takes minutes. `--shipped` uses
the shipped models, which have seen the corpora of ../shared/data.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click
import numpy as np

from benchmarks.command import benchmark, data_option, names
from benchmarks.glossary_bursts import burst_figures
from benchmarks.glossary_concepts import concept_figures
from benchmarks.glossary_definitions import definition_figures
from benchmarks.glossary_precision import precision_figures
from benchmarks.glossary_relations import relation_figures
from benchmarks.glossary_search import search_figures
from benchmarks.results import SHARED, Figure, check_floors, publish, values_by_name
from benchmarks.terms import first_texts, unseen_model
from benchmarks.terms_models import mine_in_memory
from benchmarks.terms_sets import TermSet, gold_of, load_scorer, read_sets
from benchmarks.terms_systems import OURS
from lexicon.automatic_acceptance import select_confident_terms
from lexicon.model.term_model import load_model, load_shipped_models
from text.scripts import language_of_term
from text.segment import base_segmenter

PARTS = ("auto", "judged", "search", "bursts", "definitions", "relations", "concepts")


@benchmark(
    "glossary",
    set_names="petro,acl_rdtec2",
    texts=40,
    burst_step=20,
    definition_step=20,
    relation_step=20,
    judged_step=40,
    search_step=0,
    concepts=60,
    shipped=True,
)
@data_option()
@click.option("--sets", "set_names", default="scicn,acl_rdtec2", callback=names, help="Corpora, comma-separated.")
@click.option("--texts", default=0, type=click.IntRange(0), help="Maximum number of texts per corpus; 0: all.")
@click.option("--burst-step", default=1, type=click.IntRange(1), help="Read each so-many-th article of the bursts.")
@click.option(
    "--definition-step", default=1, type=click.IntRange(1), help="Use each so-many-th term of the definitions."
)
@click.option("--relation-step", default=1, type=click.IntRange(1), help="Search each so-many-th text for relations.")
@click.option("--judged-step", default=1, type=click.IntRange(1), help="Mine each so-many-th text for judged terms.")
@click.option(
    "--search-step",
    default=1,
    type=click.IntRange(0),
    help="Search with each so-many-th query of `search`, which needs Solr; 0: not at all.",
)
@click.option("--concepts", default=1000, type=click.IntRange(1), help="Number of concepts to export and import.")
@click.option("--parts", default=",".join(PARTS), callback=names, help="Parts to measure, comma-separated.")
@click.option("--shipped", is_flag=True, help="Use the shipped models.")
def main(
    data: Path,
    set_names: Sequence[str],
    texts: int,
    burst_step: int,
    definition_step: int,
    relation_step: int,
    judged_step: int,
    search_step: int,
    concepts: int,
    parts: Sequence[str],
    shipped: bool,
) -> None:
    """Measure the glossary."""
    figures_by_part: Mapping[str, Callable[[], Iterable[Figure]]] = {
        "auto": lambda: auto_figures(
            [first_texts(one, texts) for one in read_sets(data) if one.name in set_names], data, shipped
        ),
        "judged": lambda: precision_figures(data, judged_step),
        "search": lambda: search_figures(data, search_step) if search_step else (),
        "bursts": lambda: burst_figures(data, burst_step),
        "definitions": lambda: definition_figures(data, definition_step),
        "relations": lambda: relation_figures(data, relation_step),
        "concepts": lambda: concept_figures(concepts),
    }
    figures = [figure for part in parts for figure in figures_by_part[part]()]
    publish("glossary", figures)
    if data == SHARED and {burst_step, definition_step, relation_step, judged_step, search_step} == {1}:
        check_floors("glossary", values_by_name(figures))


def auto_figures(sets: Sequence[TermSet], data: Path, shipped: bool) -> Iterator[Figure]:
    """Yield the rows of the set `auto`."""
    scorer = load_scorer(data)
    hits: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    gold_counts: Counter[str] = Counter()
    for one in sets:
        models = load_shipped_models()
        if not shipped:
            models = {**models, one.language: load_model(unseen_model(one, SHARED))}
        gold = gold_of(one, scorer)
        gold_counts[one.language] += len(gold)
        candidates = [term for term in mine_in_memory(one.texts, models) if language_of_term(term.text) == one.language]
        accepted = select_confident_terms(candidates, base_segmenter())
        hits[one.language] += [
            (scorer.norm(term.text) in gold, scorer.norm(best.text) in gold)
            for term, best in zip(accepted, candidates, strict=False)
        ]
    for language, rows in hits.items():
        for metric, values in zip(("annotated", "best_annotated"), zip(*rows, strict=True), strict=False):
            yield Figure("auto", OURS, f"{metric}_{language}", float(np.mean(values)))
        yield Figure("auto", OURS, f"accepted_{language}", len(rows))
        yield Figure("auto", OURS, f"recall_{language}", sum(right for right, _ in rows) / gold_counts[language])


if __name__ == "__main__":
    main()
