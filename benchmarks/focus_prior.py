"""The prior that judges a web: learned on other webs only.

benchmarks/training/focus_left_out.json has, for each web that taught the shipped prior, what all the others teach. A
web that is not there taught nothing, and is judged by what is shipped.
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
    """What other webs than this one teach."""
    return priors_of(left_out().get(web))


@cache
def left_out() -> Mapping[str, Weights]:
    """Web -> what the others teach; nothing where nothing was taught yet."""
    read: Mapping[str, Weights] = json.loads(LEFT_OUT.read_text(encoding="utf-8")) if LEFT_OUT.is_file() else {}
    return read


def priors_of(weights: Weights | None) -> PretrainedModels:
    """Weights as the strategy takes them; those that are shipped where there are none."""
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
