"""Webs made of repositories, and that what judges a web was learned on others: on small repositories written here."""

import json
import random
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import focus_prior
from benchmarks.focus_figures import OURS, ahead_of, compared, kept_of, reliability
from benchmarks.focus_graph import load, stored_in
from benchmarks.focus_scores import Kept, Score, calibration_error
from benchmarks.focus_web_pages import read_page, read_wiki_page, walked
from benchmarks.focus_web_sites import numbered
from benchmarks.focus_web_topics import topics_of
from benchmarks.focus_webs import main
from benchmarks.results import Figure
from benchmarks.training import focus as training
from domain.errors import PlumblineError
from focused.fused.page_features import load_pretrained_models

TEXT = "This is what the page says of it, at some length, so that it is no stub. " * 2
HEXO = """title: 容器入门
date: 2019-05-02 10:00:00
tags:
- Docker
- 容器
categories: 技术
---
先看{% post_link second 第二篇 %}，再看 [外面](http://elsewhere.example/x)。容器是一种隔离的方法，镜像是它的样子。

```sh
docker run secret
```

容器可以很小，也可以很大，取决于里面放了什么，以及怎么放进去的，这里不再多说，后面还会讲到更多的细节和例子。
"""
JEKYLL = """---
title: "Rocks &amp; minerals"
tags: [geology, "basalt"]
---
See [the other](/2020/second.html) and <a href="https://www.friend.example/docs/guide">a friend</a>. {{< ignored >}}
"""
WIKI = """Lines wrap, see VisualLineMode and [[Long Lines|the old way]].

    (setq secret t)

* One more thing, of which there is much to say and which nobody has said before in so many words.

CategoryDisplay CategoryVersionControl
"""
LISTED = """
[[web]]
name = "made"
[[web.site]]
repo = "some/blog"
licence = "CC0-1.0"
host = "blog.test"
kind = "blog"
under = "source/_posts"
[[web.site]]
repo = "some/manual"
licence = "none stated"
host = "manual.test"
kind = "manual"
under = "docs"
domains = ["friend.example"]
[[web.site]]
repo = "some/wiki"
licence = "GFDL-1.3"
host = "wiki.test"
kind = "wiki"
ends = [""]
without = [".el"]
"""


def repository(repos: Path, name: str, files: dict[str, str]) -> None:
    """A snapshot with one commit."""
    folder = repos / name.replace("/", "+")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.test")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "all")):
        subprocess.run((*git, *command), check=True)


def test_a_post_is_read_as_it_was_written() -> None:
    """Fields, labels in their normal form, text without code, links with the place where they stand."""
    page = read_page("source/_posts/2019-05-02-first.md", HEXO)
    assert (page.title, page.month) == ("容器入门", "2019/05")
    assert page.labels == ("docker.", "容器.", "技术.") and page.shown["docker."] == "Docker"
    assert "secret" not in " ".join(page.paras)
    link = page.links[0]
    assert (link.href, link.anchor) == ("/second", "第二篇")
    assert page.paras[link.para][link.at :].startswith(link.anchor)
    page = read_page("a.md", JEKYLL)
    assert (page.title, page.labels) == ("Rocks & minerals", ("geology.", "basalt."))
    assert "ignored" not in page.paras[0]
    assert read_page("a.md", "+++\ntitle = 'T'\ntags = ['x']\n+++\nText").title == "T"
    assert read_page("a.md", "---\ntitle: >-\n  One\n  two\ntags: [x,\n  y]\n---\nText").title == "One two"
    assert read_page("a/index.md", "---\nbroken: [\n---\n# Heading #\n").title == "Heading"


def test_a_wiki_page_is_read_as_it_was_written() -> None:
    page = read_wiki_page("LineWrap", WIKI)
    assert (page.title, page.labels) == ("Line Wrap", ("display.", "version_control."))
    assert [(link.href, link.anchor) for link in page.links] == [
        ("/VisualLineMode", "VisualLineMode"),
        ("/Long_Lines", "the old way"),
    ]
    assert "secret" not in " ".join(page.paras) and "Category" not in " ".join(page.paras)
    assert read_wiki_page("Old", "#REDIRECT [[NewName]]").redirect == "NewName"


def test_html_is_walked_however_deep() -> None:
    paras, links = walked("<p>one</p>" + "<div>" * 200 + 'in <a href="/x">  the\n depth </a>' + "</div>" * 200)
    assert paras == ("one", "in the depth")
    assert [(link.para, link.at, link.anchor) for link in links] == [(1, 3, "the depth")]


def test_a_web_is_made_of_repositories(tmp_path: Path) -> None:
    """Lists lead on and have no label, links between sites hold, and the bench reads what was written."""
    repos, listed = tmp_path / "repos", tmp_path / "webs.toml"
    posts = {f"source/_posts/post{number}.md": HEXO.replace("容器入门", f"容器 {number}") for number in range(12)}
    friendly = "---\ntags: [容器]\n---\n[guide](https://www.friend.example/docs/guide) [own](/post3.html) " + TEXT
    repository(repos, "some/blog", {**posts, "source/_posts/second.md": friendly, "README.md": TEXT})
    manual = {
        f"docs/rocks/page{number}.md": f"# Page {number}\n[next](page{number + 1}.md) {TEXT}" for number in range(4)
    }
    repository(repos, "some/manual", {**manual, "docs/guide.md": f"[up](./rocks/page0.md) {TEXT}", "docs/stub.md": "x"})
    others = {"code.el": TEXT, "Picture": "#FILE image/png\n" + "abcd" * 99}
    repository(
        repos, "some/wiki", {"LineWrap": WIKI, "VisualLineMode": WIKI, "Old": "#REDIRECT [[LineWrap]]", **others}
    )
    listed.write_text(LISTED)
    done = CliRunner().invoke(main, [str(tmp_path / "out"), "--repos", str(repos), "--file", str(listed)])
    assert done.exit_code == 0, done.output
    (stored,) = stored_in(tmp_path / "out")
    graph = load(stored)
    assert stored.name == "made"
    links = {url: {link.url for link in node.links} for url, node in graph.nodes.items()}
    second = "http://blog.test/second"
    assert {"http://manual.test/guide", "http://blog.test/post3"} <= links[second]
    assert second in links["http://blog.test/post5"]
    assert links["http://manual.test/page0"] >= {"http://manual.test/page1", "http://manual.test/sections/rocks/"}
    assert "http://wiki.test/visuallinemode" in links["http://wiki.test/linewrap"]
    tag, next_page = "http://blog.test/tags/Docker/", "http://blog.test/tags/Docker/page/2/"
    assert len([url for url in links[tag] if url.startswith("http://blog.test/post")]) == 10 and next_page in links[tag]
    assert "http://wiki.test/" in links["http://blog.test/"]
    assert all(not graph.nodes[url].labels for url in (tag, next_page, "http://blog.test/"))
    assert graph.nodes["http://manual.test/page2"].labels == ("rocks.page2.",)
    assert not any(name in url for name in ("stub", "readme", "code", "picture") for url in links)
    about = (tmp_path / "out" / "made" / "SOURCES.md").read_text()
    assert "some/blog" in about and "GFDL-1.3" in about
    missing = CliRunner().invoke(main, [str(tmp_path / "out"), "--repos", str(tmp_path), "--file", str(listed)])
    assert missing.exit_code == 1 and "no snapshot of some/blog" in missing.output


def test_no_two_pages_have_one_url() -> None:
    found = list(numbered(["A b", "a-b", "a-b-2", "a-b", "c"]))
    assert found[0] == "a-b" and found[-1] == "c" and len(set(found)) == 5


def test_topics_are_labels_that_their_pages_say() -> None:
    """A label that stands in no text of its own pages is none; one label is no part of a longer one."""
    rows = [
        {"title": f"{label} {number}", "paras": [f"of {label}"], "topics": [f"{label}.", "general."]}
        for label in ("java", "javascript", "rust")
        for number in range(16)
    ] + [{"title": "other", "paras": ["nothing"], "topics": []}] * 600
    topics, teaching = topics_of(rows)
    assert {*topics, *teaching} == {"javascript", "rust", "java"} and not topics.keys() & teaching.keys()
    assert all(labels == [f"{name}."] for name, labels in (topics | teaching).items())


def test_webs_of_a_folder_are_found_by_name(tmp_path: Path) -> None:
    for name in (
        "zh_docs.jsonl",
        "zh_topics.json",
        "own/pages.jsonl.xz",
        "own/topics.json",
        "b.jsonl",
        "b_topics.json",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = {one.name: one.topics.relative_to(tmp_path).as_posix() for one in stored_in(tmp_path)}
    assert found == {"zh_docs": "zh_topics.json", "own": "own/topics.json", "b": "b_topics.json"}
    (tmp_path / "c.jsonl").touch()
    with pytest.raises(PlumblineError, match=r"c\.jsonl has no topics"):
        stored_in(tmp_path)


def score(harvest: float) -> Score:
    return Score(harvest, 0.0, (), (Kept(0, 0),), 0, 0, 0, (), 0, 0, 0, 0)


def test_figures_of_webs_left_out() -> None:
    """As shares of the oracle's, by web and as the mean over webs; ahead means ahead of all."""
    figures = []
    for web, ours, paper in (("a", 0.3, 0.2), ("b", 0.4, 0.4), ("generated", 0.9, 0.9)):
        names = ("semantic", "topic_library", "semantic_tree")
        values = {"plumbline": ours, "oracle": 0.5, **dict.fromkeys(names, paper)}
        values |= dict.fromkeys(("breadth_first", "static_keywords", "vsm"), 0.25)
        for system, value in values.items():
            figures += [Figure(web, system, metric, value) for metric in ("harvest_r", "recall_5r", "f1")]
    found = {(one.set, one.system, one.metric): one.value for one in compared(figures)}
    assert found["a", "plumbline", "harvest_of_oracle"] == pytest.approx(0.6)
    assert found["all", "plumbline", "harvest_of_oracle"] == pytest.approx(0.7)
    assert found["b", "plumbline", "papers_ahead"] == pytest.approx(1.6)
    assert found["all", "plumbline", "papers_ahead"] == pytest.approx(1.2)
    scores = {"fused": [score(0.5), score(0.3)], "vsm": [score(0.2), score(0.4)], "oracle": [score(1), score(1)]}
    ahead = {one.metric: one.value for one in ahead_of("a", scores, draws=1)}
    assert ahead == {"ahead_webs": 1.0, "ahead_topics": 0.5}
    # .8 said of 10 of which 7 are, .25 of 10 of which none is
    judged = [(0.8, number < 7) for number in range(10)] + [(0.25, False)] * 10
    assert calibration_error(judged) == pytest.approx((1 + 2.5) / 20)


def test_figures_of_what_is_kept(tmp_path: Path) -> None:
    """Precision is that of all topics' pages together, recall the mean over topics; a rare topic counts twice."""
    judged = ((0.8, True), (0.8, False), (0.2, False))
    rare = replace(score(0.5), recall=0.5, kept_pages=2, kept_right=1, share=0.005, judged=judged, again=0.25)
    common = replace(score(0.5), recall=0.9, kept_pages=6, kept_right=6, share=0.05, judged=((1.0, True),) * 3)
    scores = {"fused": [rare, common], "fused_judged": [common, common]}
    found = {one.metric: one.value for one in kept_of("a", scores)}
    assert found["kept_precision"] == 7 / 8 and found["kept_recall"] == pytest.approx(0.7)
    assert found["kept_precision_rare"] == 0.5 and found["kept_recall_rare"] == 0.5
    assert found["ece"] == pytest.approx((0.6 + 0.2) / 6) and found["ece_rare"] == pytest.approx(0.8 / 3)
    assert found["kept_recall_judged"] == 0.9 and "kept_recall_rare_judged" not in found
    assert found["kept_again"] == 0.125
    means = compared([Figure("a", OURS, metric, 1.0) for metric in found])
    assert {one.metric for one in means if one.set == "all"} == found.keys()
    reliability(tmp_path, "a", scores)
    assert "fused_judged" in (tmp_path / "focus_a_reliability.svg").read_text()


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
