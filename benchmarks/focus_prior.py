"""Prior weights for a web, learned only on other webs.

benchmarks/training/focus_left_out.json has, for each web that trained the shipped prior, weights learned from all other
webs. A web that is not in the file was not used for training, so it uses the shipped weights.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from focused.fused.link_features import LINK_FEATURES
from focused.fused.page_features import (
    OWN_FEATURES,
    PAGE_FEATURES,
    YIELD_FEATURES,
    PretrainedModels,
    load_pretrained_models,
)
from focused.fused.pretrained import model_from_json
from focused.fused.retention import RETENTION_FEATURES

LEFT_OUT = Path(__file__).parent / "training" / "focus_left_out.json"

Weights = Mapping[str, Mapping[str, Mapping[str, float]]]


def priors_without(web: str) -> PretrainedModels:
    """Return the weights learned without this web."""
    return priors_of(left_out().get(web))


@cache
def left_out() -> Mapping[str, Weights]:
    """Return the left-out weights by web; empty if the file does not exist."""
    read: Mapping[str, Weights] = json.loads(LEFT_OUT.read_text(encoding="utf-8")) if LEFT_OUT.is_file() else {}
    return read


def priors_of(weights: Weights | None) -> PretrainedModels:
    """Convert weights to the form of the strategy; None gives the shipped weights."""
    if weights is None:
        return load_pretrained_models()
    return PretrainedModels(
        model_from_json(weights["own"], OWN_FEATURES),
        model_from_json(weights["page"], PAGE_FEATURES),
        model_from_json(weights["first_sight"], PAGE_FEATURES),
        model_from_json(weights["link"], LINK_FEATURES),
        model_from_json(weights["keeping"], RETENTION_FEATURES),
        model_from_json(weights["first_keeping"], RETENTION_FEATURES),
        model_from_json(weights["promise"], YIELD_FEATURES),
        model_from_json(weights["first_promise"], YIELD_FEATURES),
    )
