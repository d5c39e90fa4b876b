"""Texts as vectors: passages and quantising, and the contract with the real Chinese model."""

import os
import shutil
import subprocess
import sys
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from domain.errors import EmbeddingError
from maven_jars.jar_cache import JarError
from pipeline.embedding import models
from pipeline.embedding.models import Embedders, configured_models, detect_query_language, fetch_models, load_model
from pipeline.embedding.passages import PASSAGE_TOKENS, Passage, estimate_tokens, iter_passages, truncate_to_tokens
from pipeline.embedding.settings import EmbedSettings
from text.embedding.embedder import cosine_similarities, pack_vectors, quantize, unpack_vectors
from text.embedding.onnx_model import MAX_TOKENS, OnnxEmbedder, iter_batches

FIGHT, LAW, WELLS = "打架斗殴怎么处罚", "聚众斗殴的，对首要分子处三年以下有期徒刑", "页岩气水平井压裂技术"


@pytest.fixture(scope="module")
def chinese() -> OnnxEmbedder:
    """The Chinese default model."""
    fetch_models(EmbedSettings(), print)
    return load_model(configured_models(EmbedSettings(), Path())[0])


@pytest.mark.process
def test_a_loaded_model_reports_nothing(chinese: OnnxEmbedder, tmp_path: Path) -> None:
    """With telemetry, onnxruntime writes the id of the machine below the home folder, unless it runs in a CI."""
    code = (
        "import sys; from pathlib import Path; from pipeline.embedding.models import configured_models, load_model; "
        "from pipeline.embedding.settings import EmbedSettings; "
        "load_model(configured_models(EmbedSettings(jars=sys.argv[1]), Path())[0])"
    )
    settled = {"CI", "GITHUB_ACTIONS", "ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in settled} | {"HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, str(chinese.spec.path.parent)], env=environment, check=True)
    assert list(tmp_path.rglob("*")) == []


def test_what_means_alike_points_alike(chinese: OnnxEmbedder) -> None:
    documents, [query] = chinese.encode_documents([LAW, WELLS]), chinese.encode_queries([FIGHT])
    assert documents.shape == (2, chinese.dimensions) == (2, 512) and documents.dtype == np.float32
    assert np.allclose(np.linalg.norm(documents, axis=1), 1, atol=1e-5)
    law, wells = documents @ query
    assert law > wells + 0.1
    assert np.allclose(
        cosine_similarities(query, unpack_vectors(pack_vectors(documents))), documents @ query, atol=0.005
    )


def test_order_and_company_of_texts_do_not_matter(chinese: OnnxEmbedder) -> None:
    texts = [WELLS * 20, FIGHT, "", LAW * 3]
    together = chinese.encode_documents(texts)
    alone = np.concatenate([chinese.encode_documents([text]) for text in texts])
    assert np.min(np.sum(together * alone, axis=1)) > 0.97  # weights of a byte: numbers are rounded by their company


def test_capital_letters_are_known(chinese: OnnxEmbedder) -> None:
    [upper, lower] = chinese.encode_documents(["PVC管", "pvc管"])
    assert upper @ lower > 0.999


def test_no_text_is_too_long_or_too_strange(chinese: OnnxEmbedder) -> None:
    strange = ["字" * 1_000_000, "a" * 1_000_000, "\ud800\x00", "🙂" * 500]
    assert np.isfinite(chinese.encode_documents(strange)).all()
    assert np.isfinite(chinese.encode_queries(["怎么处罚" * 2_500])).all()
    [cut, whole] = chinese.encode_documents(["字" * MAX_TOKENS, "字" * 10 * MAX_TOKENS])
    assert cut @ whole > 0.999


def test_short_texts_are_computed_together() -> None:
    places = list(iter_batches([300, 2, 700, 3, 300, 2000]))
    assert sorted(place for batch in places for place in batch) == list(range(6))
    assert places == [[1, 3, 0], [4, 2], [5]] or all(len(batch) for batch in places)
    assert [5] in places


def test_each_row_has_a_scale_of_its_own() -> None:
    rows = np.array([[0.1, -0.2, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 1.0]], np.float32)
    assert quantize(rows).tolist() == [[64, -127, 0], [0, 0, 0], [127, 0, 42]]
    assert cosine_similarities(rows[0], quantize(rows))[1] == 0
    assert unpack_vectors([]).shape == (0, 0)


def test_passages_are_whole_sentences() -> None:
    text = "第一句话在这里。第二句话！\n\n" + "很长的一句" * 100 + "。\nThe end of it. Really."
    found = list(iter_passages(text))
    assert found[0].start == 0 and found[-1].end == len(text)
    assert all(one.end == two.start for one, two in pairwise(found))
    assert all(estimate_tokens(text[one.start : one.end]) <= PASSAGE_TOKENS for one in found)
    assert text[found[0].end - 1] in "。！\n"
    assert list(iter_passages(" \n ")) == [] and list(iter_passages("一句")) == [Passage(0, 2)]


def test_a_million_characters_are_cut_once() -> None:
    for text in ("字" * 1_000_000, "a" * 1_000_000, "。" * 1_000_000):
        assert sum(one.end - one.start for one in iter_passages(text)) == 500_000
    assert truncate_to_tokens("字ab" * 100, 3) == "字ab字ab"


def test_a_model_reads_its_language() -> None:
    assert [detect_query_language(text) for text in ("页岩气 shale", "shale gas", "123", "")] == [
        "zh",
        "en",
        "en",
        "en",
    ]
    known = Embedders(configured_models(EmbedSettings(), Path()))
    found = {code: known.spec_for(code) for code in ("zh", "zh-TW", "en", "de", "")}
    assert {code: spec and spec.languages for code, spec in found.items()} == {
        "zh": ("zh",), "zh-TW": ("zh",), "en": ("en",), "de": None, "": None,
    }  # fmt: skip
    assert Embedders(configured_models(EmbedSettings(model="off"), Path())).for_language("zh") is None


def own_model(chinese: OnnxEmbedder, folder: Path) -> Path:
    """A folder with the Chinese model as an operator's own."""
    with zipfile.ZipFile(chinese.spec.path) as jar:
        for inside, name in ((chinese.spec.weights, "model.onnx"), (chinese.spec.tokenizer, "tokenizer.json")):
            with jar.open(inside) as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)
    return folder


def test_a_folder_is_a_model_of_its_own(chinese: OnnxEmbedder, tmp_path: Path) -> None:
    folder = own_model(chinese, tmp_path)
    [spec] = configured_models(EmbedSettings(model=str(folder)), Path())
    [mean] = configured_models(EmbedSettings(model=str(folder), pooling="mean"), Path())
    assert spec.supports_language("de") and spec.model_id != mean.model_id
    assert np.allclose(load_model(spec).encode_queries([FIGHT]), chinese.encode_queries([FIGHT]), atol=1e-5)
    assert not np.allclose(load_model(mean).encode_queries([FIGHT]), chinese.encode_queries([FIGHT]), atol=1e-2)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_one_clear_line(chinese: OnnxEmbedder, tmp_path: Path, name: str) -> None:
    folder = own_model(chinese, tmp_path)
    (folder / name).write_bytes((folder / name).read_bytes()[:1000])
    said: list[str] = []
    damaged = Embedders(configured_models(EmbedSettings(model=str(folder)), Path()), said.append)
    assert [damaged.for_language("zh") for _ in range(2)] == [None, None]
    [line] = said
    assert name in line and "keywords only" in line and "embed.model" in line and "\n" not in line
    (folder / name).unlink()
    with pytest.raises(EmbeddingError, match=rf"{name}.*choose a folder"):
        configured_models(EmbedSettings(model=str(folder)), Path())


def test_a_model_of_another_size_is_refused(chinese: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "VECTOR_DIMENSIONS", (384, 768))
    with pytest.raises(EmbeddingError, match=r"512 dimensions.*384, 768.*embed.model"):
        load_model(chinese.spec)


def test_a_damaged_jar_is_not_used(chinese: OnnxEmbedder, tmp_path: Path) -> None:
    wanted = EmbedSettings(jars=str(tmp_path / "jars"))
    shutil.copytree(chinese.spec.path.parent, tmp_path / "jars")
    jar = configured_models(wanted, Path())[0].path
    jar.write_bytes(jar.read_bytes()[:-1])
    with pytest.raises(EmbeddingError, match="does not match the lock file: delete"):
        load_model(configured_models(wanted, Path())[0])
    with pytest.raises(JarError, match="does not match the lock file: delete"):
        fetch_models(wanted, print)


def test_absent_packages_are_said_once(chinese: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    said: list[str] = []
    absent = Embedders([chinese.spec], said.append)
    assert [absent.for_language("zh") for _ in range(3)] == [None] * 3
    [line] = said
    assert "tokenizers" in line and "plumbline-search[meaning]" in line
