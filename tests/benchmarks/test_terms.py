"""The quality of the miner that `benchmarks/floors.json` holds, on documents it has learnt from and on its recipe."""

from pathlib import Path

import pytest

from benchmarks.results import SHARED, read_floors
from benchmarks.terms_corpus import write_corpus
from benchmarks.terms_models import count_in_memory, save_model, select_from_table
from benchmarks.terms_sets import known_of, load_scorer, read_sets, score
from benchmarks.terms_texts import TextFile, read_texts, write_texts
from lexicon.model.term_model import (
    iter_spellings,
    load_model,
    load_shipped_models,
    rank_rows,
)
from text.folding import word_key

FLOORS = read_floors("terms")


@pytest.mark.shared
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["scicn", "cmeee", "petro", "acl_rdtec2"])
def test_shipped_models_hold_their_floors(name: str) -> None:
    one = next(one for one in read_sets(SHARED) if one.name == name)
    table = count_in_memory(one.texts, load_shipped_models())
    rows, scores = rank_rows(load_shipped_models(), select_from_table(table, load_shipped_models()))
    assert (scores[:-1] >= scores[1:]).all()
    found = score(one, list(iter_spellings(table, rows)), load_scorer(SHARED))
    assert found["AvP"] >= FLOORS[f"{name} avp"]
    assert found["P@100"] >= FLOORS[f"{name} p100"]


@pytest.mark.shared
def test_known_terms_lift_the_others() -> None:
    one = next(one for one in read_sets(SHARED) if one.name == "petro")
    scorer = load_scorer(SHARED)
    table, known = count_in_memory(one.texts, load_shipped_models()), frozenset(map(word_key, known_of(one, scorer)))
    rows, _ = rank_rows(load_shipped_models(), select_from_table(table, load_shipped_models()), known)
    assert score(one, list(iter_spellings(table, rows)), scorer)["AvP"] >= FLOORS["petro guided avp"]


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    for language, model in load_shipped_models().items():
        save_model(model, tmp_path / "model.npz")
        again = load_model(tmp_path / "model.npz")
        assert again.boundary_model.language == language
        assert again.min_span_log_odds == model.min_span_log_odds
        assert (again.candidate_model.weights == model.candidate_model.weights).all()
        assert (again.boundary_model.pairs == model.boundary_model.pairs).all()


def test_texts_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.terms_texts.READ", 3)
    write_texts(["", "页岩气\r\n储层", "a\0b"], tmp_path / "texts")
    texts = ["", "页岩气\r\n储层", "a b"]
    assert list(read_texts(tmp_path / "texts")) == texts
    corpus = TextFile(tmp_path / "texts")
    assert [number for number, _ in corpus.iter_digests()] == [0, 1, 2]
    assert [document.body for document in corpus.iter_documents([0, 1, 2])] == texts
    assert [document.body for document in corpus.iter_documents([1])] == texts[1:2]


def test_a_generated_corpus_has_its_size_and_new_words(tmp_path: Path) -> None:
    texts = ["页岩气储层的特征研究，采用钻头钻进。", "碳酸盐油藏的开发方案。"]
    characters = write_corpus(texts, 0.01, tmp_path / "texts")
    lines = list(read_texts(tmp_path / "texts"))
    assert lines[:2] == texts
    assert len(set(lines)) > 10
    assert sum(map(len, lines)) == characters
    assert 10_000 <= sum(len(line.encode()) for line in lines) < 11_000
