"""Weights pretrained on other topics (`benchmarks/training/focus.py`), the prior knowledge of a crawl.

A model uses each feature twice: raw, and standardized over the pages assessed together. No feature is a word or a URL,
so the weights transfer to new topics and webs. `data/README.md` describes the training data.
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
    """Logistic regression on raw and standardized features.

    raw_weights           (features,) float64
    standardized_weights  (features,) float64
    """

    bias: float
    raw_weights: Float64Array
    standardized_weights: Float64Array

    def __call__(self, rows: Float64Array, standardized_rows: Float64Array) -> Float64Array:
        """Return one probability per row."""
        logits = self.bias + rows @ self.raw_weights + standardized_rows @ self.standardized_weights
        probabilities: Float64Array = 1 / (1 + np.exp(-np.clip(logits, -30.0, 30.0)))
        return probabilities


@cache
def load_pretrained_model(model_name: str, features: Sequence[str]) -> PretrainedModel:
    """Load one model of the file with its weights in the order of `features`. Features missing in the file weigh 0."""
    weights_json = json.loads(PRETRAINED_FILE.read_text(encoding="utf-8"))[model_name]
    return model_from_json(weights_json, features)


def model_from_json(weights_json: Mapping[str, Mapping[str, float]], features: Collection[str]) -> PretrainedModel:
    """Return the model of {"own": {feature: weight, "": bias}, "relative": {feature: weight}}."""
    raw_weights, standardized_weights = weights_json["own"], weights_json["relative"]
    return PretrainedModel(
        raw_weights[""],
        np.array([raw_weights.get(name, 0.0) for name in features]),
        np.array([standardized_weights.get(name, 0.0) for name in features]),
    )
