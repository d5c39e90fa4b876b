"""The benchmark of documents: the floors that ours must hold on the development files, and the benchmark itself."""

import json
from pathlib import Path

import pytest

from benchmarks import documents as bench
from benchmarks.document_systems import OURS
from benchmarks.document_worker import in_child
from benchmarks.results import check_floors, read_floors
from tests.conftest import SHARED
from tests.extractor import document_files as files

FLOORS = read_floors("documents")
CEILINGS = {"all title_wrong": 0.16, "all crashes": 0.0, "garbled false_alarms": 0.0}
WORDS = "The harbour was opened again on Monday after three weeks of storms on the northern coast."


@pytest.fixture(scope="module")
def measured() -> dict[str, float]:
    """Our figures on the development files: `set metric` -> value."""
    figures, _ = bench.measure(SHARED / "data", [OURS])
    return {f"{figure.set} {figure.metric}": figure.value for figure in figures}


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FLOORS)
def test_ours_holds_its_floor(name: str, measured: dict[str, float]) -> None:
    assert measured[name] >= FLOORS[name]


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CEILINGS)
def test_ours_keeps_below_its_ceiling(name: str, measured: dict[str, float]) -> None:
    assert measured[name] <= CEILINGS[name]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.exhaustive
def test_ocr_holds_its_floors() -> None:
    pytest.importorskip("rapidocr")
    from benchmarks.document_ocr import ocr_figures

    values = {f"{figure.set} {figure.metric}": figure.value for figure in ocr_figures()}
    assert "ocr accuracy_en" in values
    check_floors("documents ocr", values)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder of three files: one read, one locked, one without gold for its title."""
    folder = tmp_path / "data" / "documents"
    (folder / "files").mkdir(parents=True)
    (folder / "peers").mkdir()
    page = [(72.0, 760.0, 20.0, "Storms on the coast"), (72.0, 700.0, 11.0, WORDS), (72.0, 680.0, 11.0, "2019-05-06")]
    made = {
        "one.pdf": files.pdf([page]),
        "two.pdf": files.pdf([page], password="secret"),
        "three.docx": files.docx(files.paragraph(WORDS)),
    }
    rows = []
    for name, content in made.items():
        (folder / "files" / name).write_bytes(content)
        rows.append({"id": name, "file": f"files/{name}", "format": name[-4:].strip("."), "language": "en"})
        rows[-1] |= {"outcome": "text", "title": None, "date": None, "text": WORDS}
    rows[0] |= {"title": "Storms on the Coast", "date": "2019-05-06", "text": f"Storms on the coast {WORDS} 2019-05-06"}
    rows[1] |= {"outcome": "encrypted", "text": None}
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = {"id": "one.pdf", "text": WORDS, "title": "Microsoft Word - one", "cpu": 0.5, "error": None}
    (folder / "peers" / "tika.jsonl").write_text(json.dumps(said) + "\n")
    return tmp_path / "data"


@pytest.mark.shared
def test_figures_by_format_and_of_recorded_answers(data: Path) -> None:
    figures, missing = bench.measure(data, [OURS, "tika"])
    assert missing == []
    found = {(figure.system, figure.set, figure.metric): figure.value for figure in figures}
    assert found["plumbline", "all", "f1"] == 1.0
    assert found["plumbline", "pdf", "title"] == 1.0
    assert found["plumbline", "pdf", "date"] == 1.0
    assert found["plumbline", "all", "outcome"] == 1.0
    assert found["plumbline", "all", "crashes"] == 0
    assert found["tika", "pdf", "title"] == 0.0
    assert found["tika", "pdf", "title_wrong"] == 1.0
    assert ("plumbline", "docx", "title") not in found, "no gold, no figure"
    assert ("tika", "all", "peak_mb") not in found


def test_a_reader_that_dies_or_takes_all_memory_costs_one_file(tmp_path: Path) -> None:
    (tmp_path / "x.pdf").write_bytes(b"x")

    def greedy(data: bytes, name: str) -> dict[str, str]:
        return {"text": "x" * (4 << 30)}

    def raising(data: bytes, name: str) -> dict[str, str]:
        raise ValueError("password needed")

    assert in_child(greedy, tmp_path / "x.pdf")["died"]
    said = in_child(raising, tmp_path / "x.pdf")
    assert "password" in said["error"]
    assert "died" not in said
