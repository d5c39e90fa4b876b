"""The benchmarks of Zhou's two similarities, on data made by hand."""

import io
import json
import random
import tarfile
from pathlib import Path

import pytest

from benchmarks import similarity_urls, similarity_words
from benchmarks.similarity_urls import boards_of, pairs_of
from benchmarks.similarity_words import Pair, accuracy, best_of, vectors_of
from domain.paper_settings import DEFAULT_PAPERS, ZhouKunSettings
from focused.paper_strategies.word_vectors import EMPTY_VECTORS


def test_pairs_that_people_are_sure_of(tmp_path: Path) -> None:
    file = tmp_path / "wordsim-1.txt"
    file.write_text("石油\t原油\t9.0\n石油\t石油\t10\n石油\t公司\t5.0\n石油\t猫\t1.0\n\n坏行\n", encoding="utf-8")
    pairs = similarity_words.pairs_of(file, EMPTY_VECTORS, None)
    assert pairs == [Pair(None, None, True), Pair(None, None, False)]
    assert vectors_of(tmp_path) is EMPTY_VECTORS  # no web graph: concepts alone
    assert similarity_words.concepts_in(tmp_path) is None


def test_both_kinds_of_pair_weigh_the_same() -> None:
    pairs = [Pair(0.9, None, True), *[Pair(0.9, None, False)] * 3]
    assert accuracy(pairs, ZhouKunSettings()) == 0.5
    assert accuracy([], ZhouKunSettings()) == 0.0


def test_the_grid_finds_the_threshold_that_parts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity_words, "ALPHAS", (0.9,))
    monkeypatch.setattr(similarity_words, "BETAS", (0.6,))
    pairs = [Pair(0.35, None, True), Pair(0.2, None, False)]
    best = best_of(pairs)
    assert accuracy(pairs, best) == 1.0 > accuracy(pairs, ZhouKunSettings())
    assert 0.18 < best.th1 <= 0.315


def test_boards_are_those_of_the_links_on_saved_pages(tmp_path: Path) -> None:
    links = [f"/{board}/2020/01/{n}.html" for board in ("oil", "gas") for n in range(8)] + [
        "/rare/1.html",
        "/2020/1.html",
    ]
    html = "".join(f'<a href="{link}">x</a>' for link in links).encode()
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "gold.json").write_text(json.dumps({"pages": [{"id": "p", "url": "http://a.test/x"}]}))
    with tarfile.open(folder / "pages.tar.xz", "w:xz") as archive:
        member = tarfile.TarInfo("p.html")
        member.size = len(html)
        archive.addfile(member, io.BytesIO(html))
    boards = boards_of(tmp_path)
    assert {host: {name: len(urls) for name, urls in some.items()} for host, some in boards.items()} == {
        "a.test": {"oil": 8, "gas": 8}
    }
    pairs = list(pairs_of(boards, random.Random(0)))
    assert len(pairs) == similarity_urls.PAIRS and sum(same for *_, same in pairs) == 50
    assert similarity_urls.accuracy(pairs, DEFAULT_PAPERS.zhou_kun, 1.0) == 0.5  # nothing is alike
