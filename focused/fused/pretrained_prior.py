"""What is known of topics before a crawl begins: weights that other topics taught (`benchmarks/training/focus.py`).

A prior looks at each feature twice: as it is, and in standard deviations among the pages judged together. It names no
word and no URL, so that it can be carried to a topic and a web that it has never seen; `data/README.md` says what
it was learned from.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from focused.fused.crawl_graph import Floats

FILE = Path(__file__).parent / "data" / "fused_prior.json"


@dataclass(frozen=True)
class Prior:
    """A logistic regression.

    own       (features,) float64  weights of the features as they are
    relative  (features,) float64  weights of the features in standard deviations
    """

    bias: float
    own: Floats
    relative: Floats

    def __call__(self, rows: Floats, relative_rows: Floats) -> Floats:
        """Probabilities, one a row."""
        logits = self.bias + rows @ self.own + relative_rows @ self.relative
        probabilities: Floats = 1 / (1 + np.exp(-np.clip(logits, -30.0, 30.0)))
        return probabilities


@cache
def read_prior(part: str, features: Sequence[str]) -> Prior:
    """The weights of one part of the file, in the order of `features`; a feature that it does not name weighs 0."""
    read = json.loads(FILE.read_text(encoding="utf-8"))[part]
    return prior_of(read, features)


def prior_of(read: Mapping[str, Mapping[str, float]], features: Collection[str]) -> Prior:
    """From {"own": {feature: weight, "": bias}, "relative": {feature: weight}}."""
    own, relative = read["own"], read["relative"]
    return Prior(
        own[""],
        np.array([own.get(name, 0.0) for name in features]),
        np.array([relative.get(name, 0.0) for name in features]),
    )
