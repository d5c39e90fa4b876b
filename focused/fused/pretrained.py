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

from focused.fused.crawl_graph import Float64Array

PRETRAINED_FILE = Path(__file__).parent / "data" / "fused_prior.json"


@dataclass(frozen=True)
class PretrainedModel:
    """A logistic regression.

    own       (features,) float64  weights of the features as they are
    relative  (features,) float64  weights of the features in standard deviations
    """

    bias: float
    raw_weights: Float64Array
    standardized_weights: Float64Array

    def __call__(self, rows: Float64Array, standardized_rows: Float64Array) -> Float64Array:
        """Probabilities, one a row."""
        logits = self.bias + rows @ self.raw_weights + standardized_rows @ self.standardized_weights
        probabilities: Float64Array = 1 / (1 + np.exp(-np.clip(logits, -30.0, 30.0)))
        return probabilities


@cache
def load_pretrained_model(model_name: str, features: Sequence[str]) -> PretrainedModel:
    """The weights of one part of the file, in the order of `features`; a feature that it does not name weighs 0."""
    weights_json = json.loads(PRETRAINED_FILE.read_text(encoding="utf-8"))[model_name]
    return model_from_json(weights_json, features)


def model_from_json(weights_json: Mapping[str, Mapping[str, float]], features: Collection[str]) -> PretrainedModel:
    """From {"own": {feature: weight, "": bias}, "relative": {feature: weight}}."""
    raw_weights, standardized_weights = weights_json["own"], weights_json["relative"]
    return PretrainedModel(
        raw_weights[""],
        np.array([raw_weights.get(name, 0.0) for name in features]),
        np.array([standardized_weights.get(name, 0.0) for name in features]),
    )
