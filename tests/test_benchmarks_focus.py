"""The replay of crawl strategies on a small made web, and what `fused` learns its first weights by."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import check_grad

from benchmarks.focus import measure
from benchmarks.focus_frontiers import Frontiers
from benchmarks.focus_replay import Queue
from benchmarks.focus_training import drawn, logistic
from benchmarks.results import read_floors
from crawler.strategies.fused_links import FEATURES
from crawler.strategies.fused_pages import FIRST_SIGHT, PAGE_FEATURES, shipped
from docstore.errors import PlumblineError

SUBJECTS = {
    "geology": ["basalt", "granite", "mineral", "volcano", "fault", "stratum", "sediment", "magma", "quartz", "gneiss"],
    "music": ["piano", "symphony", "melody", "opera", "harmony", "composer", "violin", "sonata", "chord", "tempo"],
    "sport": ["goal", "team", "match", "league", "player", "stadium", "trophy", "coach", "season", "referee"],
}
FILLER = [
    "people",
    "year",
    "place",
    "found",
    "large",
    "known",
    "part",
    "used",
    "time",
    "many",
    "made",
    "first",
    "world",
    "called",
]
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
    systems = ["breadth_first", "fused", "topic_library", "static_keywords", "semantic_tree", "vsm"]
    figures = measure(written(tmp_path), [], systems, 1, 1, 1)
    values = {(figure.set, figure.system, figure.metric): figure.value for figure in figures}
    for metric, floor in read_floors("focus").items():
        assert values["made", "plumbline", metric] >= floor
    assert values["made", "plumbline", "harvest_r"] > values["made", "breadth_first", "harvest_r"] + 0.2
    assert {metric for name, _, metric in values if name == "all"} >= {
        "topic_library_f1_gain",
        "semantic_tree_precision_gain",
    }


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlumblineError, match="no strategy nobody"):
        measure(tmp_path, [], ["nobody"], 1, 1, 1)
    with pytest.raises(PlumblineError, match="no web graph"):
        measure(tmp_path, [], ["vsm"], 1, 1, 1)


def test_a_queue_goes_by_the_newest_priority() -> None:
    queue = Queue()
    for url, priority in (("a", 0.5), ("b", 0.7), ("c", None), ("d", 0.7)):
        queue.offer(url, priority)
    queue.change({"a": 0.9, "b": 0.1, "unknown": 5.0})
    assert [queue.take() for _ in range(4)] == ["a", "d", "b", None]


def test_loss_of_frontiers_has_its_gradient() -> None:
    draw = np.random.default_rng(1)
    labels = np.array([1, 0, 0, 1, 1, 0, 0], dtype=np.float64)
    frontiers = Frontiers(
        draw.normal(size=(7, 3)), labels, np.array([1, 1, 4, 1, 1, 1, 2.0]), np.array([0, 3]), np.array([0.5, 0.5])
    )
    at = np.array([0.3, -0.2, 0.7])
    assert check_grad(lambda w: frontiers.loss(w)[0], lambda w: frontiers.loss(w)[1], at) < 1e-5
    assert frontiers.loss(np.zeros(3))[0] == pytest.approx(
        # chances 1/6 and 2/5: 0.3 that any is first, 0.7 that all are
        np.mean([np.log(6), 0.3 * np.log(5 / 2) + 0.7 * np.log(5)])
    )


def test_no_likeness_weighs_below_nothing() -> None:
    """A column that speaks against is left out where it is bounded, and counted where it is not."""
    draw = np.random.default_rng(2)
    rows = draw.normal(size=(400, 2))
    labels = (rows[:, 0] - rows[:, 1] > 0).astype(np.float64)
    for bounded, is_zero in ((True, True), (False, False)):
        _, slopes = logistic(rows, labels, np.ones(400), np.array([True, bounded]))
        assert slopes[0] > 0.1
        assert bool(slopes[1] == 0.0) is is_zero


def test_a_sample_of_links_stands_for_all() -> None:
    some, weights = drawn(np.arange(1000.0), np.random.default_rng(0))
    assert some[:3].tolist() == [999, 998, 997]
    assert weights.sum() == pytest.approx(1000)


def test_shipped_weights_fit_the_features() -> None:
    priors = shipped()
    assert (len(priors.page.own), len(priors.first_sight.relative)) == (len(PAGE_FEATURES), len(FIRST_SIGHT))
    assert len(priors.link.relative) == len(FEATURES)
    assert priors.page.own.min() >= 0.0
    counts = [place for place, name in enumerate(PAGE_FEATURES) if name in ("length", "depth", "degree", "targets")]
    assert not priors.page.own[counts].any()
