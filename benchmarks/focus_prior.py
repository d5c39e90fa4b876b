"""The prior that judges a web: learned on other webs only.

benchmarks/training/focus_left_out.json has, for each web that taught the shipped prior, what all the others teach. A
web that is not there taught nothing, and is judged by what is shipped.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from focused.fused.keeping import KEEPING
from focused.fused.link_features import FEATURES
from focused.fused.page_features import OWN, PAGE_FEATURES, PROMISE, Priors, shipped
from focused.fused.pretrained_prior import prior_of

LEFT_OUT = Path(__file__).parent / "training" / "focus_left_out.json"

Weights = Mapping[str, Mapping[str, Mapping[str, float]]]


def priors_without(web: str) -> Priors:
    """What other webs than this one teach."""
    return priors_of(left_out().get(web))


@cache
def left_out() -> Mapping[str, Weights]:
    """Web -> what the others teach; nothing where nothing was taught yet."""
    read: Mapping[str, Weights] = json.loads(LEFT_OUT.read_text(encoding="utf-8")) if LEFT_OUT.is_file() else {}
    return read


def priors_of(weights: Weights | None) -> Priors:
    """Weights as the strategy takes them; those that are shipped where there are none."""
    if weights is None:
        return shipped()
    return Priors(
        prior_of(weights["own"], OWN),
        prior_of(weights["page"], PAGE_FEATURES),
        prior_of(weights["first_sight"], PAGE_FEATURES),
        prior_of(weights["link"], FEATURES),
        prior_of(weights["keeping"], KEEPING),
        prior_of(weights["first_keeping"], KEEPING),
        prior_of(weights["promise"], PROMISE),
        prior_of(weights["first_promise"], PROMISE),
    )
