"""The replay of crawl strategies on a small made web, and what `fused` learns its first weights by."""

import json
import random
from pathlib import Path

import pytest

from benchmarks.focus import measure
from benchmarks.focus_stated import stated_error_figures
from benchmarks.results import read_floors
from benchmarks.training.focus import COUNTS
from focused.fused.link_features import LINK_FEATURES
from focused.fused.page_features import (
    INITIAL_PAGE_FEATURES,
    INITIAL_YIELD_FEATURES,
    OWN_FEATURES,
    PAGE_FEATURES,
    YIELD_FEATURES,
    load_pretrained_models,
)

SUBJECTS = {
    "geology": ["basalt", "granite", "mineral", "volcano", "fault", "stratum", "sediment", "magma", "quartz", "gneiss"],
    "music": ["piano", "symphony", "melody", "opera", "harmony", "composer", "violin", "sonata", "chord", "tempo"],
    "sport": ["goal", "team", "match", "league", "player", "stadium", "trophy", "coach", "season", "referee"],
}
FILLER = [
    "people", "year", "place", "found", "large", "known", "part", "used", "time", "many", "made", "first", "world",
    "called",
]  # fmt: skip
PAGES = 80  # a subject


def written(folder: Path) -> Path:
    """A web of three subjects: two links in five stay in their own, as its words do in the text."""
    draw = random.Random(5)
    subjects = list(SUBJECTS)
    names = [(subject, number) for subject in subjects for number in range(PAGES)]
    rows = []
    for subject, number in names:
        links, text = [], " ".join(draw.choices(SUBJECTS[subject], k=12) + draw.choices(FILLER, k=40))
        for _ in range(6):
            to = subject if draw.random() < 0.4 else draw.choice(subjects)
            anchor = draw.choice(SUBJECTS[to] + FILLER)
            links.append({"to": f"http://a.test/{to}{draw.randrange(PAGES)}", "anchor": anchor, "para": 0, "at": 0})
        url = f"http://a.test/{subject}{number}"
        rows.append(
            {"url": url, "title": f"{subject[:3]} {number}", "topics": [subject], "paras": [text], "links": links}
        )
    (folder / "made.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "made_topics.json").write_text(json.dumps({"Rocks": ["geology"], "Tones": ["music"]}))
    return folder


def test_fused_is_ahead_on_a_made_web(tmp_path: Path) -> None:
    """Floors on the share of relevant pages, and ahead of breadth first; the papers' gains are figures of `all`."""
    systems = ["breadth_first", "fused", "fused_judged", "topic_library", "static_keywords", "semantic_tree", "vsm"]
    figures = measure(written(tmp_path), ["made"], systems, 1, 1, 1)
    values = {(figure.set, figure.system, figure.metric): figure.value for figure in figures}
    for metric, floor in read_floors("focus").items():
        assert values["made", "plumbline", metric] >= floor
    assert values["made", "plumbline", "harvest_r"] > values["made", "breadth_first", "harvest_r"] + 0.2
    assert {metric for name, _, metric in values if name == "all"} >= {
        "topic_library_f1_gain",
        "semantic_tree_precision_gain",
    }


def test_papers_strategies_are_ahead_on_a_made_web(tmp_path: Path) -> None:
    """Floors on what they keep and how soon, and ahead of breadth first and of their baselines."""
    systems = ["breadth_first", "topic_library", "static_keywords", "semantic_tree", "vsm"]
    figures = measure(written(tmp_path), ["made"], systems, 1, 2, 1)
    values = {(figure.system, figure.metric): figure.value for figure in figures}
    for name, floor in read_floors("focus papers").items():
        system, metric = name.split()
        assert values[system, metric] >= floor, name
    for ours, baseline in (("topic_library", "static_keywords"), ("semantic_tree", "vsm")):
        assert values[ours, "harvest_r"] > values[baseline, "harvest_r"] > values["breadth_first", "harvest_r"]


def test_stated_precision_is_measured_against_the_labels(tmp_path: Path) -> None:
    figures = stated_error_figures(written(tmp_path), 2, 0)
    found = {(figure.set, figure.metric): figure.value for figure in figures if figure.system == "fused"}
    assert len(found) == len(figures)
    assert found["made", "labels_30"] == 15 and found["made", "labels_100"] == 20
    assert ("made", "stated_error_500") not in found  # the web has fewer pages
    errors = [found["made", f"stated_error_{size}"] for size in (30, 100)]
    assert found["all", "stated_error"] == pytest.approx(sum(errors) / 2) and found["all", "stated_error"] < 0.1


def test_shipped_weights_fit_the_features() -> None:
    priors = load_pretrained_models()
    assert (len(priors.page_own.raw_weights), len(priors.page.raw_weights)) == (len(OWN_FEATURES), len(PAGE_FEATURES))
    of_links = [place for place, name in enumerate(PAGE_FEATURES) if name not in INITIAL_PAGE_FEATURES]
    assert (
        len(of_links) and not priors.initial_page.standardized_weights[of_links].any()
    )  # a page's links are not known at first
    not_yet = [place for place, name in enumerate(YIELD_FEATURES) if name not in INITIAL_YIELD_FEATURES]
    assert (
        not priors.initial_yield.standardized_weights[not_yet].any()
        and not priors.initial_yield.raw_weights[not_yet].any()
    )
    assert priors.expected_yield.raw_weights.max() > 0.0  # that of a file which does not name the part would be nothing
    assert len(priors.link.standardized_weights) == len(LINK_FEATURES)
    assert priors.page.raw_weights.min() >= 0.0
    counts = [place for place, name in enumerate(PAGE_FEATURES) if name in COUNTS]
    assert not priors.page.raw_weights[counts].any()
