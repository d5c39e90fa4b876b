"""The sets `statute`, `zh_docs`, `en_wiki` and `en_deft` of `make bench-glossary`: definitions, in DIR/definitions.

    p1        share of the terms with a definition whose first shown sentence is one
    silence   share of the terms without a definition for which no sentence is shown
    held_out_p1, held_out_silence   the same for the half of the terms that played no part in learning the weights
                                    (zh_docs and en_wiki; the weights have seen nothing of the other sets)

`cue` shows the first sentence that fits a simple cue pattern.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.definition_sets import GOOD_LABEL, SET_NAMES, TRAINING_SETS, LabelledTerm, read_labelled_terms
from benchmarks.results import OURS, Figure
from lexicon.definitions import choose_definition

CUES = (
    r"{term}[”\"」]?(?:[（(][^）)]*[）)])?\s*[，,：:]?\s*(?:是指|指的是|系指|是一|指)",
    r"\b{term}s?\b[^.,]{{0,40}}\s(?:is|are|was|were) (?:an?|the)\b|\b{term}s?\b (?:refers to|means|is defined as)",
)
Chooser = Callable[[LabelledTerm], int | None]


def definition_figures(data: Path, step: int) -> Iterator[Figure]:
    """Yield p1 and silence of each set and system; only each `step`-th term is used."""
    for name in SET_NAMES:
        terms = read_labelled_terms(data, name)[::step]
        for system, choose in ((OURS, first_definition), ("cue", first_cue)):
            yield from _figures(name, system, "", terms, choose)
            if name in TRAINING_SETS:
                held_out = [term for term in terms if not term.is_training_half]
                yield from _figures(name, system, "held_out_", held_out, choose)


def _figures(name: str, system: str, prefix: str, terms: Sequence[LabelledTerm], choose: Chooser) -> Iterator[Figure]:
    defined = [_is_definition(term, choose(term)) for term in terms if term.best_label == GOOD_LABEL]
    silent = [choose(term) is None for term in terms if term.best_label == 0]
    for metric, values in (("p1", defined), ("silence", silent)):
        if values:
            yield Figure(name, system, f"{prefix}{metric}", float(np.mean(values)))


def _is_definition(term: LabelledTerm, index: int | None) -> bool:
    return index is not None and term.labels[index] == GOOD_LABEL


def first_definition(term: LabelledTerm) -> int | None:
    """Return the index of the sentence that lexicon/definitions.py chooses, or None."""
    choice = choose_definition(term.text, [(sentence, "") for sentence in term.sentences])
    return choice[0] if choice else None


def first_cue(term: LabelledTerm) -> int | None:
    """Return the index of the first sentence that fits a cue pattern, or None."""
    pattern = "|".join(cue.format(term=re.escape(term.text)) for cue in CUES)
    matches = (n for n, sentence in enumerate(term.sentences) if re.search(pattern, sentence, re.IGNORECASE))
    return next(matches, None)
