"""The sets `statute`, `zh_docs`, `en_wiki` and `en_deft` of `make bench-glossary`: definitions, in DIR/definitions.

p1        share of the terms with a definition whose best candidate is one
silence   share of the terms without a definition for which there is no candidate
public, public_precision   best candidates that readers would see without a review, and the share of definitions
held_out_p1, ...   the same for terms and documents that played no part in learning the weights
                   (zh_docs and en_wiki; the weights have seen nothing of the other sets)
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.definition_sets import GOOD_LABEL, SET_NAMES, TRAINING_SETS, LabelledTerm, read_terms, unseen_terms
from benchmarks.results import OURS, Figure
from domain.term import MIN_PUBLIC_SCORE
from lexicon.definitions import choose_definition


def definition_figures(data: Path, step: int) -> Iterator[Figure]:
    """Yield the figures of each set; only each `step`-th term is used."""
    for name in SET_NAMES:
        terms = read_terms(data, name)[::step]
        yield from _figures(name, "", terms)
        if name in TRAINING_SETS:
            yield from _figures(name, "held_out_", unseen_terms(terms))


def _figures(name: str, prefix: str, terms: Sequence[LabelledTerm]) -> Iterator[Figure]:
    choices = [(term, choose_definition(term.text, [(text, "") for text in term.sentences])) for term in terms]
    is_right = [choice is not None and term.labels[choice[0]] == GOOD_LABEL for term, choice in choices]
    is_public = [choice is not None and choice[1] >= MIN_PUBLIC_SCORE for _, choice in choices]
    values_by_metric = {
        "p1": [right for (term, _), right in zip(choices, is_right, strict=True) if term.best_label == GOOD_LABEL],
        "silence": [choice is None for term, choice in choices if term.best_label == 0],
        "public_precision": [right for right, public in zip(is_right, is_public, strict=True) if public],
    }
    yield Figure(name, OURS, f"{prefix}public", sum(is_public))
    for metric, values in values_by_metric.items():
        if values:
            yield Figure(name, OURS, f"{prefix}{metric}", float(np.mean(values)))
