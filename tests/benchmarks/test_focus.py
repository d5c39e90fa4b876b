"""The replay of crawl strategies on a small made web, and what `fused` learns its first weights by."""

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import focus_prior
from benchmarks.focus import measure
from benchmarks.focus_graph import Graph, Node, cut_latin
from benchmarks.focus_stated import stated_error_figures
from benchmarks.results import read_floors
from benchmarks.training import focus as focus_training
from benchmarks.training import focus as training
from benchmarks.training.focus import (
    COUNTS,
    INITIAL_PAGE_FEATURES,
    INITIAL_YIELD_FEATURES,
    look_weights,
    mean_weights,
    name_of,
    others_of,
    siblings_of,
)
from crawler.focused_policy import PageWords
from focused.fused.link_features import LINK_FEATURES
from focused.fused.page_features import OWN_FEATURES, PAGE_FEATURES, YIELD_FEATURES, load_pretrained_models

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


# -- What `fused` is taught by: labels that are no part of what is measured, named as an operator might name them.


def graph_of(*pages: tuple[str, str]) -> Graph:
    """Pages by title and label, one topic."""
    nodes = {str(n): Node(PageWords(str(n), cut_latin(title)), (), (label,)) for n, (title, label) in enumerate(pages)}
    return Graph("made", nodes, {"Geology": ("Earth.Rocks",)}, cut_latin)


def test_labels_that_teach_have_no_part_in_a_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(focus_training, "OTHER_PAGES", (2, 4))
    monkeypatch.setattr(focus_training, "MIN_OF_SIBLING", 2)
    labels = ["Earth.Rocks.Hard"] * 2 + ["Earth.Water"] * 3 + ["Music"] * 2 + ["Sport"] * 5 + ["Lone"]
    graph = graph_of(*((f"page {label}", label) for label in labels))
    assert list(others_of(graph, 400, 4).values()) == [("Earth.Water",), ("Music",)]
    assert list(others_of(graph, 1, 4).values()) == [("Earth.Water",)]


def test_labels_below_the_same_one_teach_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of them, or all three; what is no topic's size together is left out."""
    monkeypatch.setattr(focus_training, "OTHER_PAGES", (4, 8))
    counts = {"Life.Birds": 3, "Life.Fish": 3, "Life.Ants": 2, "Arts.Music": 1, "Arts.Dance": 1, "Lone": 4}
    found = siblings_of(counts, 8)
    assert {frozenset(some) for some in found} >= {frozenset({"Life.Birds", "Life.Fish", "Life.Ants"})}
    assert all(len(some) > 1 and all(label.startswith("Life.") for label in some) for some in found)
    assert found == siblings_of(counts, 8)


def test_a_mean_of_weights_is_by_name() -> None:
    first = {"page": {"own": {"": 1.0, "near": 2.0}}}
    assert mean_weights([first, {"page": {"own": {"near": 4.0, "": 0.0}}}]) == {"page": {"own": {"": 0.5, "near": 3.0}}}


@pytest.mark.parametrize(
    ("label", "name"),
    [
        pytest.param("Life.Sea_birds", ("birds",), id="its own words that titles contain"),
        pytest.param("Life.Dinosaurs", ("king", "rex"), id="the most frequent words of its titles"),
    ],
)
def test_a_label_is_named_as_an_operator_might(label: str, name: tuple[str, ...]) -> None:
    pages = [("Sea birds", "Life.Sea_birds"), ("Water birds", "Life.Sea_birds"), ("Rex king", "Life.Dinosaurs")]
    graph = graph_of(*pages, ("Rex egg", "Life.Dinosaurs"), ("King list", "Life.Dinosaurs"), ("List", "Other"))
    assert name_of(graph, (label,)) == name


def test_a_look_counts_half_as_much_as_the_next_one() -> None:
    """By topic, whatever other topics' looks stand between; those of a topic are 1 together."""
    one, other = ("web", "one"), ("web", "other")
    assert look_weights([one, other, one, one]) == pytest.approx([1 / 7, 1, 2 / 7, 4 / 7])


# -- Stored webs, their figures, and that what judges a web was learned on others.


TEXTS = ("basalt granite mineral magma quartz", "piano opera melody violin chord", "goal team league coach trophy")


def write_web(folder: Path, seed: int) -> None:
    """A web of three subjects, the second for teaching."""
    draw = random.Random(seed)
    rows = []
    for subject, words in enumerate(TEXTS):
        for number in range(40):
            to = [f"{draw.choice([subject, draw.randrange(3)])}-{draw.randrange(40)}" for _ in range(5)]
            text = " ".join(draw.choices(words.split(" "), k=8) + draw.choices(("year", "place", "time"), k=30))
            rows.append(
                {
                    "url": f"http://a.test/{subject}-{number}",
                    "title": text[:12],
                    "topics": [f"s{subject}."],
                    "paras": [text],
                    "links": [{"to": f"http://a.test/{one}", "anchor": "more", "para": -1, "at": -1} for one in to],
                }
            )
    folder.mkdir(parents=True)
    (folder / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "topics.json").write_text(json.dumps({"basalt": ["s0."]}))
    (folder / "teaching.json").write_text(json.dumps({"opera": ["s1."]}))


def test_what_judges_a_web_was_learned_on_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prior that leaves a web out is the one that is learned where there is no such web."""
    for place in ("both/a", "both/b", "alone/b"):
        write_web(tmp_path / place, ord(place[-1]))
    learned = {}
    for data in ("both", "alone"):
        monkeypatch.setattr(training, "PRETRAINED_FILE", tmp_path / f"{data}.json")
        monkeypatch.setattr(training, "LEFT_OUT", tmp_path / f"{data}_left_out.json")
        monkeypatch.setattr(training, "_graphs", {})
        monkeypatch.setattr(training, "_others", {})
        options = ["--rounds", "1", "--check", "0", "--processes", "1"]
        done = CliRunner().invoke(training.main, [str(tmp_path / data), *options])
        assert done.exit_code == 0, done.output
        learned[data] = json.loads(training.PRETRAINED_FILE.read_text())
    left_out = json.loads((tmp_path / "both_left_out.json").read_text())
    assert left_out.keys() == {"a", "b"}
    assert left_out["a"] == learned["alone"] != learned["both"]
    assert left_out["b"] != left_out["a"]


def test_a_prior_leaves_out_the_web_that_it_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each web is judged by what the lessons of the others fit, and a web that taught nothing by what is shipped."""
    weights = json.loads(training.PRETRAINED_FILE.read_text())
    weights["own"]["own"][""] = 7.0
    path = tmp_path / "left_out.json"
    path.write_text(json.dumps({"a": weights}))
    monkeypatch.setattr(focus_prior, "LEFT_OUT", path)
    focus_prior.left_out.cache_clear()
    try:
        assert focus_prior.priors_without("a").page_own.bias == 7.0
        assert focus_prior.priors_without("new").page_own.bias == load_pretrained_models().page_own.bias != 7.0
    finally:
        focus_prior.left_out.cache_clear()
