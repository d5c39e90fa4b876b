"""The feature library: what is proposed for a topic, from concepts and from searches."""

from collections.abc import Iterable
from math import log
from pathlib import Path

import pytest

from crawler.focused_policy import Words
from domain.errors import SettingsError
from domain.topic import ExamplePage
from focused.concepts.loader import load_concepts
from focused.topic.term_proposals import SearchSource, propose_from_concepts, propose_from_search

CILIN = "Aa01A01= 石油 原油\nAa01A02# 石油 天然气\n"
WORDNET = "# Chinese Open Wordnet\n00001740-n\tcmn:lemma\t石油\n00001740-n\tcmn:lemma\t原+油\n"
SEMEMES = "石油\t材料 燃料\n原油\t材料 燃料\n水\t材料\n"
GLOSSARY = "石油/N/material|材料\n原油/N/material|材料\n"
TREE = "1\tmaterial|材料\t1\n"


def cut(text: str) -> Words:
    return tuple(text.split())


def page(url: str, title: str, body: str) -> ExamplePage:
    return ExamplePage(url, title, "", (("title", 0.5, title), ("content", 0.5, body)))


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [CILIN, WORDNET, SEMEMES], ids=["cilin", "wordnet", "sememes"])
def test_files_of_concepts_are_told_by_their_form(text: str, tmp_path: Path) -> None:
    concepts = load_concepts([file(tmp_path, "c", text)])
    assert concepts is not None
    found = propose_from_concepts(["石油", "unheard"], concepts)
    assert [(term.text, term.origin, term.evidence, term.state) for term in found.terms] == [
        ("原油", "concepts", "≈ 石油", "proposed")
    ]


def test_a_glossary_goes_with_its_tree(tmp_path: Path) -> None:
    glossary, tree = file(tmp_path, "g", GLOSSARY), file(tmp_path, "t", TREE)
    concepts = load_concepts([tree, glossary])
    assert concepts is not None and concepts.similarity("石油", "原油") == pytest.approx(1.0)
    with pytest.raises(SettingsError, match="has an unknown format"):
        load_concepts([glossary])
    with pytest.raises(SettingsError, match="without its HowNet glossary"):
        load_concepts([tree])


def test_a_sememe_may_occur_more_than_once_on_a_path(tmp_path: Path) -> None:
    tree = "1\tentity|实体\t1\n2\tthing|万物\t1\n3\tentity|实体\t2\n4\tfuel|燃料\t3\n5\tfood|食品\t1\n"
    glossary = "".join(
        f"{word}/N/{sememe}\n" for word, sememe in (("油", "fuel|燃料"), ("米", "food|食品"), ("物", "entity|实体"))
    )
    concepts = load_concepts([file(tmp_path, "t", tree), file(tmp_path, "g", glossary)])
    assert concepts is not None
    near, far = concepts.similarity("油", "物"), concepts.similarity("油", "米")
    assert near is not None and far is not None and near > far  # distances 1, to the nearer of two nodes, and 4
    assert concepts.similarity("米", "物") == near


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("1\tmaterial|材料\t1\n2\tfuel|燃料\n", "not a line of a sememe tree"),
        ("1\tmaterial|材料\t9\n", "no parent 9"),
        ("1\tmaterial|材料\t2\n2\tfuel|燃料\t1\n", "its own ancestor"),
    ],
    ids=["columns", "parent", "cycle"],
)
def test_a_malformed_sememe_tree_is_refused(tree: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=message):
        load_concepts([file(tmp_path, "t", tree), file(tmp_path, "g", GLOSSARY)])


def test_a_changed_concept_file_is_read_again(tmp_path: Path) -> None:
    path = file(tmp_path, "c", CILIN)
    before = load_concepts([path])
    assert before is load_concepts([path]) and before is not None
    assert before.similarity("石油", "煤") is None
    changed = load_concepts([file(tmp_path, "c", CILIN + "Aa01A03= 石油 煤\n")])
    assert changed is not None and changed.similarity("石油", "煤") == 1.0


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    assert load_concepts([]) is None
    for path, said in (
        (tmp_path / "none", "cannot read"),
        (file(tmp_path, "empty", "# no\n"), "is empty"),
        (file(tmp_path, "odd", "a b c\n"), "has an unknown format"),
    ):
        with pytest.raises(SettingsError, match=said) as refused:
            load_concepts([path])
        assert str(path) in str(refused.value)


def test_terms_and_seeds_of_a_search_by_hand() -> None:
    """We(e) = f(e) / fmax * idf(e) (WY-F8), f summed over blocks by their weights, the mean of the pages."""
    pages = {
        "油": [page("http://a/1", "油 井", "井 井 的"), page("http://a/2", "油", "管 的")],
        "气": [page("http://a/2", "油", "管 的")],
    }

    def find(term: str, most: int) -> Iterable[ExamplePage]:
        return pages[term][:most]

    found = propose_from_search(["油", "气"], SearchSource("index", find), cut, top=2)
    # a/1: 井 0.5 + 1.0 = 1.5 (fmax), 的 0.5; a/2: 管, 的, 油 0.5 each (fmax 0.5). Pages: 2; 井 in 1, 管 in 1, 的 in 2
    well = 1.5 / 1.5 / 2 * (log(3 / 2) + 1)
    pipe = 0.5 / 0.5 / 2 * (log(3 / 2) + 1)
    of = (0.5 / 1.5 + 1) / 2 * 1
    by_oil = {term.text: term.score for term in found.terms if term.evidence.endswith("油")}
    assert by_oil == pytest.approx({"井": well, "管": pipe})
    assert of < pipe  # the third best, so not among the two proposed
    assert [seed.url for seed in found.seeds] == ["http://a/2", "http://a/1"]
    assert [seed.score for seed in found.seeds] == pytest.approx([(1 / 2 + 1) / 2, 1 / 2])
    assert found.seeds[0].evidence == "油 ← 油, 气"


def test_idf_of_all_that_is_searched_keeps_common_words_out() -> None:
    def find(term: str, most: int) -> Iterable[ExamplePage]:
        return [page("http://a/1", "题", "报道 报道 报道 水泥")]

    everywhere = {"报道": 0.01, "题": 1.0, "水泥": 4.0}
    found = propose_from_search(["油"], SearchSource("index", find, everywhere.__getitem__), cut)
    assert [term.text for term in found.terms] == ["水泥", "题", "报道"]


def test_nothing_found_is_nothing_proposed() -> None:
    found = propose_from_search(["油"], SearchSource("search", lambda term, most: []), cut)
    assert (found.terms, found.seeds) == ((), ())
