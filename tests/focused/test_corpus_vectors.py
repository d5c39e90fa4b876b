"""Vectors of the vertical's own articles: kept, trained again when there is half as much more, or they are damaged."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from focused.paper_strategies.word_vectors import train_word_vectors
from pipeline.engine import Engine
from pipeline.topic import corpus_vectors as topic_vectors
from pipeline.topic.corpus_vectors import TrainedVectors, corpus_vectors, load_vectors, save_vectors

TEXTS = ["油 井 钻 台", "油 管 钻 台", "井 管 水 泥"] * 4


@dataclass
class FakeArticles:
    texts: list[str]
    read: int = 0

    def count(self) -> int:
        return len(self.texts)

    def iter_all(self) -> Any:
        self.read += 1
        return (SimpleNamespace(article=SimpleNamespace(title="", body=text)) for text in self.texts)


@dataclass
class FakeEngine:
    folder: Path
    articles: FakeArticles
    notes: list[str] = field(default_factory=list)

    @property
    def parts(self) -> Engine:
        return cast(
            Engine,
            SimpleNamespace(
                settings=SimpleNamespace(data_dir=self.folder),
                store=SimpleNamespace(articles=self.articles),
                progress=SimpleNamespace(note=self.notes.append),
            ),
        )


def cut(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def test_they_are_trained_again_when_the_corpus_has_grown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_vectors, "MIN_ARTICLES", 10)
    held = FakeEngine(tmp_path, FakeArticles(TEXTS[:9]))
    assert corpus_vectors(held.parts, cut) is None
    held.articles.texts = TEXTS
    first = corpus_vectors(held.parts, cut)
    assert first is not None and "钻" in first.row_by_word and held.articles.read == 1
    held.articles.texts = TEXTS + TEXTS[:5]  # 17 of 12: not half as much more
    again = corpus_vectors(held.parts, cut)
    assert again is not None and held.articles.read == 1
    assert again.similarity("油", "管") == pytest.approx(first.similarity("油", "管"), abs=1e-6)
    held.articles.texts = TEXTS + TEXTS[:6]
    assert corpus_vectors(held.parts, cut) is not None and held.articles.read == 2
    (tmp_path / "topics" / "vectors.npz").write_bytes(b"PK\x03\x04 damaged")
    assert corpus_vectors(held.parts, cut) is not None and held.articles.read == 3


@pytest.mark.parametrize("content", [None, b"", b"PK", b"\x93NUMPY"], ids=["none", "empty", "torn", "other"])
def test_what_is_not_there_or_damaged_is_none(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    if content is not None:
        path.write_bytes(content)
    assert load_vectors(path) is None


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    made = TrainedVectors(train_word_vectors([text.split() for text in TEXTS]), 12)
    save_vectors(tmp_path / "topics" / "vectors.npz", made)
    found = load_vectors(tmp_path / "topics" / "vectors.npz")
    assert found is not None
    assert (found.article_count, dict(found.vectors.row_by_word)) == (12, dict(made.vectors.row_by_word))
    assert (found.vectors.matrix == made.vectors.matrix).all()
    whole = (tmp_path / "topics" / "vectors.npz").read_bytes()
    for position in range(0, len(whole), 7):
        flipped = whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :]
        (tmp_path / "topics" / "vectors.npz").write_bytes(flipped)
        load_vectors(tmp_path / "topics" / "vectors.npz")  # raises nothing
