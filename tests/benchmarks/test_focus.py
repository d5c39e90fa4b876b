"""The replay of crawl strategies on a small made web, and what `fused` learns its first weights by."""

import json
import random
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.optimize import check_grad

from benchmarks.focus import measure
from benchmarks.focus_frontiers import Frontiers
from benchmarks.focus_graph import Graph, Node, cut_latin, load, stored_in
from benchmarks.focus_person import PROPOSED, confirmed, proposed
from benchmarks.focus_replay import Queue
from benchmarks.focus_site import Shape, generated, is_portal
from benchmarks.focus_stated import stated_error_figures
from benchmarks.results import read_floors
from benchmarks.training.focus import COUNTS, logistic
from benchmarks.training.focus_lessons import drawn
from crawler.focused_policy import BLOCK_CONTENT, PageWords, WordBlock, Words
from domain.errors import PlumblineError
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


def test_a_person_confirms_words_that_tell_the_topic() -> None:
    """Of the words of an example, those of general language are shown last; who knows the labels takes what pages of
    the topic hold five times as often as others, and three of them at least."""
    words = ("basalt", "basalt", "gneiss", "lone", "the")
    example = PageWords("http://a.test/0", (), (), (WordBlock(BLOCK_CONTENT, words),))
    assert proposed([example])[0] == "basalt" and proposed([example])[-1] == "the"

    def node(url: str, words: Words, labels: tuple[str, ...]) -> Node:
        return Node(PageWords(url, (), (), (WordBlock(BLOCK_CONTENT, words),)), (), labels)

    stones = [node(f"s{n}", ("basalt", "the"), ("Rocks",)) for n in range(3)]
    others = [node(f"o{n}", ("the", "gneiss"), ()) for n in range(3)]
    graph = Graph("made", {node.page.url: node for node in (*stones, *others)}, {"Rocks": ("Rocks",)}, cut_latin)
    assert confirmed(graph, graph.relevant("Rocks"), proposed([example])) == ("basalt",)


def test_what_a_person_costs_is_counted(tmp_path: Path) -> None:
    """The library goes by the words that were confirmed, its baseline does not; the cost is words looked at."""
    data, systems = written(tmp_path), ["breadth_first", "topic_library", "static_keywords"]
    alone, helped = (measure(data, ["made"], systems, 1, 1, 1, is_confirmed=one) for one in (False, True))
    harvest = [
        {figure.system: figure.value for figure in some if figure.metric == "harvest_r" and figure.set == "made"}
        for some in (alone, helped)
    ]
    assert harvest[1]["topic_library"] != harvest[0]["topic_library"]
    assert harvest[1]["static_keywords"] == harvest[0]["static_keywords"]
    costs = {figure.metric: figure.value for figure in helped if figure.metric.startswith("words_")}
    assert costs["words_asked"] == PROPOSED and 0 < costs["words_confirmed"] < PROPOSED
    assert not [figure for figure in alone if figure.metric.startswith("words_")]


SMALL = Shape(sites=1, portals=2, sections=2, off_sections=2, others=1, articles=6)


def test_a_web_is_made_of_a_stored_one(tmp_path: Path) -> None:
    """The same seed makes the same; its words, titles and anchors are those of the pages, its labels no word of it."""
    source = load(stored_in(written(tmp_path))[0])
    web, again, other = generated(source, shape=SMALL), generated(source, shape=SMALL), generated(source, 1, SMALL)
    assert web.nodes == again.nodes != other.nodes
    known = {word for node in source.nodes.values() for word in node.page.word_counts}
    assert all(node.page.word_counts.keys() <= known for node in web.nodes.values())
    assert all({*link.anchor_words, *link.context_words} <= known for node in web.nodes.values() for link in node.links)
    assert all(link.url in web.nodes and link.url != url for url, node in web.nodes.items() for link in node.links)
    for topic in web.topics:
        relevant = web.relevant(topic)
        assert {is_portal(url) for url in relevant} == {True, False}
        # one domain site of two sections and a section on each of two portals
        assert len(relevant) == 6 * (2 + 2)
    hubs = [url for url in web.nodes if url.endswith("more.html")]
    assert hubs and all(
        not web.nodes[url].labels and all(web.nodes[to.url].labels for to in web.nodes[url].links) for url in hubs
    )


def test_the_generated_web_is_measured(tmp_path: Path) -> None:
    """Its own figures, those of `all`, and plots that are XML."""
    systems = ["breadth_first", "semantic", "topic_library", "static_keywords"]
    figures = measure(written(tmp_path), ["generated"], systems, 1, 1, 1, tmp_path, SMALL)
    values = {(figure.set, figure.system, figure.metric): figure.value for figure in figures}
    assert {"semantic_precision_domain", "semantic_precision_portal", "topic_library_f1_gain"} <= {
        metric for name, _, metric in values if name == "all"
    }
    assert values["generated", "topic_library", "harvest_r"] > values["generated", "breadth_first", "harvest_r"]
    assert values["generated", "topic_library", "recall_at_100%"] == values["generated", "topic_library", "recall"]
    plots = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert plots == ["focus_generated_harvest.svg", "focus_generated_recall.svg", "focus_generated_zk_e3.svg"]
    for name in plots:
        assert ElementTree.parse(tmp_path / name).getroot().tag.endswith("svg")


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
