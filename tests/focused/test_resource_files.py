"""Word vectors and word weights of the administrator: what is read, what is refused, and what a crawl uses."""

from pathlib import Path

import numpy as np
import pytest

from domain.errors import SettingsError
from domain.topic import Topic
from focused.paper_strategies import resource_files
from focused.paper_strategies.resource_files import read_word_vectors, read_word_weights
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings
from pipeline.topic.policy_factory import load_resources


def file(folder: Path, content: str | bytes) -> Path:
    path = folder / "file.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("header", ["", "3 2\n", "\ufeff3 2\n"], ids=["none", "header", "byte order mark"])
def test_vectors_are_read_with_and_without_a_header(header: str, tmp_path: Path) -> None:
    vectors = read_word_vectors(file(tmp_path, f"{header}石油 3 4 \nOil 0.6 0.8\r\n雨 -4 3e0\n"))
    assert list(vectors.row_by_word) == ["石油", "oil", "雨"]
    assert vectors.matrix.dtype == np.float32
    assert vectors.similarity("石油", "oil") == pytest.approx(1)
    assert vectors.similarity("石油", "雨") == pytest.approx(0)


def test_a_repeated_word_has_its_first_vector_and_a_zero_vector_is_like_none(tmp_path: Path) -> None:
    vectors = read_word_vectors(file(tmp_path, "Oil 1 0\noil 0 1\n雨 0 0\n雪 0 5\n"))
    assert vectors.matrix.tolist() == [[1, 0], [0, 0], [0, 1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a 1 2\nb 1\n", "line 2: expected a word and 2 numbers"),
        ("2 3\na 1 2\n", "line 2: expected a word and 3 numbers"),
        ("a 1 2\n\nb 1 x\n", "line 3: expected a word and 2 numbers"),
        ("a 1 nan\n", "line 1: expected a word and 2 numbers"),
        ("a 1 1e39\n", "line 1: expected a word and 2 numbers"),
        ("a\n", "line 1: expected a word and its numbers"),
        ("3 2\na 1 2\nb 3 4\n", "ends after 2 of 3 words: copy the file again"),
        ("", "ends after 0 of 1 words"),
        ("2 0\n", "ends after 0 of 2 words"),
        ("a" * 300_000, "line 1 is too long: expected one word per line"),
    ],
    ids=range(10),
)
def test_an_invalid_vector_file_is_refused_with_its_line(content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        read_word_vectors(file(tmp_path, content))
    assert str(refused.value).startswith("papers.vectors: ") and message in str(refused.value)


def test_words_that_no_text_contains_do_not_spoil_a_vector_file(tmp_path: Path) -> None:
    vectors = read_word_vectors(file(tmp_path, b"4 2\n\xff\xfe 1 2\n. . . 1 2\na 3 4\nb 1 0\n"))
    assert vectors.row_by_word.keys() >= {"a", "b"} and len(vectors.matrix) == 3
    assert list(read_word_vectors(file(tmp_path, "1" * 5_000 + " 3\n")).row_by_word) == ["1" * 5_000]


def test_vectors_beyond_the_limit_are_left_out_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource_files, "MAX_VECTOR_VALUES", 5)
    notes: list[str] = []
    vectors = read_word_vectors(file(tmp_path, "9 2\na 1 2\nb 1 2\nc 1 2\n"), notes.append)
    assert list(vectors.row_by_word) == ["a", "b"]
    assert len(notes) == 1 and "only the first 2 words" in notes[0]


def test_weights_are_read(tmp_path: Path) -> None:
    assert read_word_weights(file(tmp_path, "中国 0.1\n\nOil\t2\n")) == {"中国": 0.1, "oil": 2.0}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("中国\n", "line 1: no weight of 0 or more"),
        ("中国 0.1\n\n石油 x\n", "line 3: no weight of 0 or more"),
        ("中国 -1\n", "line 1: no weight of 0 or more"),
        ("中国 nan\n", "line 1: no weight of 0 or more"),
        ("中国 inf\n", "line 1: no weight of 0 or more"),
        ("中国 1 2\n", "line 1: no weight of 0 or more"),
        ("Oil 1\noil 2\n", "line 2: a second weight of this word"),
    ],
)
def test_an_invalid_weight_is_refused_with_its_line(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        read_word_weights(file(tmp_path, content))
    assert str(refused.value).startswith("papers.zhou_kun.word_weights: ") and message in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    for read in (read_word_vectors, read_word_weights):
        with pytest.raises(SettingsError, match="cannot read"):
            read(tmp_path / "absent.txt")


def test_the_files_of_the_settings_are_used_before_vectors_of_the_articles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.topic.policy_factory.corpus_vectors", lambda engine, tokenize: "of the articles")
    (tmp_path / "v.txt").write_text("石油 3 4\n")
    (tmp_path / "w.txt").write_text("中国 0.1\n")
    papers = {"vectors": "v.txt", "zhou_kun": {"word_weights": "w.txt"}}
    for given in ({}, papers):
        with Engine(build_settings({"papers": given}, tmp_path), NullProgress()) as engine:
            resources = load_resources(engine, Topic("石油"), lambda text: tuple(text.split()))
        if given:
            assert resources.vectors is not None and dict(resources.vectors.row_by_word) == {"石油": 0}
            assert resources.word_weights == {"中国": 0.1}
        else:
            assert resources.vectors == "of the articles" and resources.word_weights == {}
