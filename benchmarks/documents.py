"""Benchmark of document readers: `make bench-documents [DATA=DIR]`. Figures: `docs/background/benchmarks.md`.

load_gold    load the files and their gold from DIR/documents (or DIR itself) run_reader   run each reader over its
files in separate processes; Tika's answers are recorded with the gold figures_of   score text, title, date and outcome
with ../shared/tools; also crashes, speed, memory
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.command import benchmark, data_option, names
from benchmarks.document_systems import OURS, READERS, TIKA, Reader
from benchmarks.extract_pages import PEERS, ROOT, quiet
from benchmarks.results import SHARED, Figure, check_floors, check_systems, sample, values_by_name, write
from domain.errors import PlumblineError
from pipeline.ocr.stage import is_ocr_installed

NAME = "documents"
ALL = "all"
SCORER = "score_documents.py"
ENCIPHERED = "enciphered"  # in the note of a file whose fonts do not state their characters
# metric -> the scorer's column
QUALITY = {
    "f1": "F1", "bag_f1": "bagF1", "title": "title~", "title_wrong": "wrongt", "date": "date", "date_wrong": "wrongd",
    "outcome": "outcome", "crashes": "bad", "files_per_cpu_s": "files/s", "peak_mb": "MB",
}  # fmt: skip
Rows = Sequence[dict[str, Any]]


class MissingPeerError(PlumblineError):
    """A peer is not installed."""


@benchmark("documents", systems=OURS, files=4)
@data_option()
@click.option("--systems", default="", callback=names, help="Only these systems, comma-separated.")
@click.option("--files", default=0, type=click.IntRange(0), help="Maximum number of files of each format; 0: all.")
def main(data: Path, systems: list[str], files: int) -> None:
    """Measure the document reader and its peers."""
    figures, missing = measure(data, systems, files)
    if data == SHARED and not files and OURS in (systems or READERS):
        figures += measure_ocr(missing)
    write(NAME, figures)
    console = Console(width=None if Console().is_terminal else 150)
    for name in dict.fromkeys(figure.system for figure in figures):
        console.print(table_of(name, figures))
    for figure in figures:
        if figure.metric not in QUALITY:
            click.echo(f"{figure.set} {figure.metric}: {figure.value:g}")
    for line in missing:
        click.echo(line)
    check_systems(figures, systems or (*READERS, TIKA), ("f1", "outcome"))
    if data == SHARED and not files:
        check_floors(NAME, values_by_name(figures))
        check_floors(f"{NAME} ocr", values_by_name(figures))


def measure(data: Path, systems: Sequence[str] = (), files: int = 0) -> tuple[list[Figure], list[str]]:
    """Return all figures, and a line for each missing peer. Raises PlumblineError for an unknown name."""
    unknown = [name for name in systems if name not in (*READERS, TIKA)]
    if unknown:
        raise PlumblineError(f"no system {', '.join(unknown)}; there are {', '.join((*READERS, TIKA))}")
    scorer, gold = load_scorer(data), load_gold(data)
    if files:
        formats = sorted({page["format"] for page in gold})
        pages_by_format = ([page for page in gold if page["format"] == name] for name in formats)
        gold = [page for pages in pages_by_format for page in sample(pages, files, lambda page: str(page["id"]))]
    figures: list[Figure] = []
    missing: list[str] = []
    for name, reader in READERS.items():
        if systems and name not in systems:
            continue
        pages = [page for page in gold if not reader.formats or page["format"] in reader.formats]
        try:
            answers = run_reader(reader, pages)
        except MissingPeerError as error:
            missing.append(str(error))
            continue
        figures += figures_of(name, judged(scorer, pages, answers), scorer)
        if reader.is_ours:
            figures += garbled_figures(pages, answers)
    if not systems or TIKA in systems:
        figures += figures_of(TIKA, judged(scorer, gold, recorded(gold, TIKA)), scorer)
    return figures, missing


def measure_ocr(missing: list[str]) -> list[Figure]:
    """Return the figures of OCR; none, and a line in `missing`, if the extra is not installed."""
    if not is_ocr_installed():
        missing.append("the extra ocr is not installed: its rows are missing")
        return []
    from benchmarks.document_ocr import ocr_figures

    return list(ocr_figures())


def load_scorer(data: Path) -> ModuleType:
    """Load the scorer next to `data`, or the one of ../shared. Raises PlumblineError if there is none."""
    for folder in (data.parent, data.parent.parent, SHARED.parent):
        path = folder / "tools" / SCORER
        if path.is_file():
            spec = importlib.util.spec_from_file_location("score_documents", path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise PlumblineError(f"no tools/{SCORER} beside {data}, and none in {SHARED.parent}: the figures need it")


def load_gold(data: Path) -> list[dict[str, Any]]:
    """Load the rows of gold.jsonl, with `path`. Raises PlumblineError if there are none."""
    folder = data / NAME if (data / NAME).is_dir() else data
    gold = folder / "gold.jsonl"
    if not gold.is_file():
        raise PlumblineError(f"no documents in {data}: give DATA=DIR, a folder of the form of ../shared/data")
    pages = [json.loads(line) for line in gold.read_text(encoding="utf-8").splitlines()]
    return [{**page, "path": folder / page["file"]} for page in pages]


def run_reader(reader: Reader, pages: Rows) -> dict[str, dict[str, Any]]:
    """Run a reader and return its answers by file id.

    Raises PlumblineError if the reader is not installed or ends early.
    """
    python = Path(sys.executable) if reader.is_ours else PEERS
    if not python.exists():
        raise MissingPeerError(f"{reader.name} is not installed: `make bench-documents` makes {PEERS.parents[1].name}")
    with tempfile.TemporaryDirectory() as folder:
        jobs, answers = Path(folder) / "jobs.json", Path(folder) / "answers.json"
        jobs.write_text(json.dumps([{"id": page["id"], "file": str(page["path"].resolve())} for page in pages]))
        command = [str(python), "-m", "benchmarks.document_worker", reader.name, str(jobs), str(answers)]
        done = subprocess.run(command, cwd=ROOT, env=quiet(), capture_output=True, text=True, check=False)
        if done.returncode:
            raise PlumblineError(f"{reader.name} failed: {done.stderr[-500:]}")
        return {said["id"]: said for said in json.loads(answers.read_text(encoding="utf-8"))}


def recorded(pages: Rows, system: str) -> dict[str, dict[str, Any]]:
    """Return the recorded answers of a system by id; empty if there are none."""
    if not pages:
        return {}
    path = pages[0]["path"].parents[1] / "peers" / f"{system}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {said["id"]: said for said in map(json.loads, lines)}


def judged(scorer: ModuleType, pages: Rows, answers: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the scorer's row for each answered file."""
    return [scorer.judge(page, answers[page["id"]]) for page in pages if page["id"] in answers]


def figures_of(name: str, rows: Rows, scorer: ModuleType) -> Iterator[Figure]:
    """Yield the figures of a system, by format and overall."""
    formats = sorted({row["format"] for row in rows})
    reads_all = name not in READERS or not READERS[name].formats
    for group in (*formats, ALL) if reads_all else formats:
        members = [row for row in rows if group in (ALL, row["format"])]
        found = scorer.summary(members) if members else {}
        for metric, column in QUALITY.items():
            unknown = name == TIKA and column == "MB"  # its peak was not recorded
            if found.get(column) is not None and not unknown and not (column == "F1" and found["bagF1"] is None):
                yield Figure(group, name, metric, float(found[column]))


def garbled_figures(pages: Rows, answers: dict[str, dict[str, Any]]) -> Iterator[Figure]:
    """Yield the share of the files with enciphered text that we notice, and our false alarms on files with text."""
    noticed = {page["id"] for page in pages if answers[page["id"]].get("warning") == "garbled_text"}
    garbled = [page["id"] for page in pages if ENCIPHERED in (page.get("note") or "")]
    if garbled:
        yield Figure("garbled", OURS, "noticed", sum(name in noticed for name in garbled) / len(garbled))
    good = [page["id"] for page in pages if page["outcome"] == "text"]
    yield Figure("garbled", OURS, "false_alarms", float(sum(name in noticed for name in good)))


def table_of(system: str, figures: Sequence[Figure]) -> Table:
    """Build a table with a row per format and a column per metric."""
    ours = [figure for figure in figures if figure.system == system and figure.metric in QUALITY]
    mine = {(figure.set, figure.metric): figure.value for figure in ours}
    table = Table("format", *QUALITY, title=system, title_justify="left")
    for group in dict.fromkeys(name for name, _ in mine):
        table.add_row(group, *(show(mine.get((group, metric))) for metric in QUALITY))
    return table


def show(value: float | None) -> str:
    """Format shares with three decimals, large numbers with one; "" for None."""
    return "" if value is None else f"{value:.3f}" if value <= 1 else f"{value:,.1f}"


if __name__ == "__main__":
    main()
