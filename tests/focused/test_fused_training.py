"""What `fused` is taught by: labels that are no part of what is measured, named as an operator might name them."""

import pytest

from benchmarks.focus_graph import Graph, Node, cut_latin
from benchmarks.training import focus as focus_training
from benchmarks.training.focus import look_weights, mean_weights, name_of, others_of, siblings_of
from crawler.focused_policy import PageWords


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
