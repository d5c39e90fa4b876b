"""Stored webs, their figures, and that what judges a web was learned on others."""

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import focus_prior
from benchmarks.training import focus as training
from focused.fused.page_features import load_pretrained_models

SUBJECTS = ("basalt granite mineral magma quartz", "piano opera melody violin chord", "goal team league coach trophy")


def write_web(folder: Path, seed: int) -> None:
    """A web of three subjects, the second for teaching."""
    draw = random.Random(seed)
    rows = []
    for subject, words in enumerate(SUBJECTS):
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
