"""The set `copies` of the benchmark on real sites: judged pairs, made texts, and figures whose answers are known."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import real, real_copies
from benchmarks.real_copies import Counts, half_of, load_pairs, of_made, of_pairs
from benchmarks.real_copies_made import COPIES, FRAMES, VERSIONS, all_made, language_of
from benchmarks.real_copies_store import Told
from benchmarks.real_recipe import RECIPE, load_sites
from benchmarks.results import output_to
from pipeline.demo.articles import generate_articles
from pipeline.progress import NullProgress
from tests.benchmarks.test_real import BLOG, MANUAL, article, values, write
from text.similarity.shingles import tokenize_folded

CHINESE = [
    Told(f"zh{n}", f"zh{n}", made.title, made.text)
    for n, made in enumerate(generate_articles())
    if len(made.text) > 300
]
ENGLISH = [
    Told(f"en{n}", f"en{n}", title, "\n".join(f"{line} {title} {n} {k}." for k, line in enumerate(lines)), "2019-03-05")
    for n, (title, lines) in enumerate(
        (
            ("Drilling deep wells", ["The wells of the field were drilled by two rigs in the winter of the year"] * 9),
            ("Laying long pipes", ["Pipes were laid along the river in spring by crews from three companies"] * 9),
        )
    )
]


def test_judged_pairs_are_of_sites_of_the_recipe_of_both_halves() -> None:
    judged = load_pairs()
    hosts = {site.host for site in load_sites(RECIPE) if site.part == "dev"}
    assert {url.split("/")[2] for pair in judged for url in pair} <= hosts
    for half in ("dev", "held"):
        assert {is_copy for (one, _), is_copy in judged.items() if half_of(one) == half} == {True, False}
    assert len(judged) > 250


def test_a_verdict_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("# judged\nsame\thttp://a.test/1\thttp://a.test/2\n")
    with pytest.raises(AssertionError, match="same"):
        load_pairs(path)


def test_pairs_are_counted_that_are_both_there() -> None:
    judged = {("a", "b"): True, ("a", "c"): False, ("b", "c"): False, ("a", "d"): True, ("a", "gone"): True}
    counts, lines = of_pairs({"a": "1", "b": "1", "c": "1", "d": "2"}, judged)
    assert counts == Counts(hidden=3, right=1, copies=2)
    assert lines == ["wrong\ta\tc", "wrong\tb\tc", "missed\ta\td"]
    assert [(one.metric, one.value) for one in counts.figures("x")] == [
        ("precision", pytest.approx(1 / 3)),
        ("recall", 0.5),
        ("hidden", 3),
    ]
    assert [one.metric for one in Counts(0, 0, 0).figures("x")] == ["hidden"]


@pytest.mark.parametrize("half", ["dev", "held"])
def test_copies_and_versions_are_made_and_told_apart(half: str) -> None:
    made = all_made([*CHINESE[:4], *ENGLISH], half)
    assert {text.rule for text in made} >= {*COPIES} and {text.rule for text in made} & {*VERSIONS}
    events = {text.name: text.event for text in made}
    assert len(events) == len(made), "each has a name of its own"
    for text in made:
        assert (text.rule in VERSIONS) == (text.event == text.name and text.rule != "")
    counts, lines = of_made(made)
    assert counts.right == counts.hidden, lines
    assert counts.right / counts.copies > 0.7


def test_what_is_hidden_wrongly_is_told() -> None:
    """Two events of which nothing tells that they are two."""
    one = replace(CHINESE[0], name="one", event="1")
    counts, lines = of_made([one, replace(one, name="two", event="2", body=f"{one.body}\n（责任编辑：王小明）")])
    assert (counts.hidden, counts.right, counts.copies) == (1, 0, 0)
    assert len(lines) == 2 and lines[1] == "wrong rules\tas it was behind as it was\t1"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_frames_of_the_halves_have_nothing_in_common(language: str) -> None:
    dev, held = FRAMES["dev", language], FRAMES["held", language]
    for name in ("heads", "tails", "titles", "datelines"):
        assert not {*getattr(dev, name)} & {*getattr(held, name)}
    assert all(language_of(line) == language for line in held.tails)
    assert tokenize_folded("".join(dev.tails)) != tokenize_folded("".join(held.tails))


def test_the_set_is_measured_on_a_vertical(tmp_path: Path) -> None:
    posts = [f"2024/post-{number}/" for number in range(3)]
    blog = {f"{path}index.html": article(number) for number, path in enumerate(posts)}
    blog["2024/again/index.html"] = article(0).replace(
        "</article>", "<p>This was first published elsewhere.</p></article>"
    )
    blog["index.html"] = article(3, [f"/{path}" for path in (*posts, "2024/again/")])
    trees = {BLOG: write(tmp_path / "blog", blog), MANUAL: write(tmp_path / "manual", {"index.html": article(4)})}
    with output_to(tmp_path / "out"):
        found = values(real.measure(trees, tmp_path / "kept", ["copies"], NullProgress()))
    name = real_copies.SETS[half_of("https://blog.test/")]
    assert found[name, "precision"] == found[f"{name} made", "precision"] == 1.0
    assert found[name, "recall"] > 0.5  # short texts, of which a copy under another title is not told
    assert found[f"{name} real", "hidden"] == 0
    assert found["copies", "unjudged"] == 1, "the post that is there twice"
    assert "unjudged\thttps://blog.test/2024/" in (tmp_path / "out" / "real-copies.tsv").read_text()
