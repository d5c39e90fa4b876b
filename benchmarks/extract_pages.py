"""The gold sets, as read by the scorer and prepared for the workers; runs one system over all of them."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.extract_systems import System
from benchmarks.results import SHARED
from domain.errors import PlumblineError
from text.decoding.decode import decode_page

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / ".venv-peers" / "bin" / "python"
XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
SCORER = Path("tools") / "score_extraction.py"


@dataclass(frozen=True)
class GoldSet:
    """The pages of one set as in gold.json (`id`, `url`, `lang`, `body`, `title`, `date`), and their bytes."""

    name: str
    pages: Sequence[dict[str, Any]]
    read: Callable[[dict[str, Any]], bytes]


@dataclass(frozen=True)
class Run:
    """Result of one system: its answer for each page, and for each set the CPU seconds and the peak memory in MB."""

    system: System
    pages: list[dict[str, Any]]
    seconds: dict[str, float]
    peak_mb: dict[str, float]
    start_mb: float

    @property
    def errors(self) -> list[str]:
        """Errors that the system raised, by page."""
        return [page["error"] for page in self.pages if page["error"]]


def load_scorer(data: Path) -> ModuleType:
    """Load the scorer next to `data`, or the one of ../shared. Raises PlumblineError if there is none."""
    for folder in (data.parent, data.parent.parent, SHARED.parent):
        if (folder / SCORER).is_file():
            spec = importlib.util.spec_from_file_location("score_extraction", folder / SCORER)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise PlumblineError(f"no {SCORER} beside {data}, and none in {SHARED.parent}: the figures need it")


def load_sets(data: Path, scorer: ModuleType, names: Sequence[str] = ()) -> list[GoldSet]:
    """Load the sets below `data`/extraction and `data`/page_types, or below `data` itself; only `names`, if given."""
    folders = [data / name for name in ("extraction", "page_types") if (data / name).is_dir()] or [data]
    found = []
    for gold in sorted(path for folder in folders for path in folder.glob("*/gold.json")):
        if names and gold.parent.name not in names:
            continue
        dataset = scorer.Dataset(gold.parent)
        found.append(GoldSet(dataset.name, dataset.pages, dataset.raw))
    return found


def write_jobs(sets: Sequence[GoldSet], folder: Path) -> Path:
    """Write every page as bytes and as text to separate files, and a list of them for the workers."""
    jobs: list[dict[str, str]] = []
    for gold in sets:
        for page in gold.pages:
            raw, stem = gold.read(page), folder / f"{len(jobs):05d}"
            stem.with_suffix(".raw").write_bytes(raw)
            stem.with_suffix(".txt").write_bytes(text_of(raw).encode("utf-8", "surrogatepass"))
            files = {"bytes": str(stem.with_suffix(".raw")), "text": str(stem.with_suffix(".txt"))}
            jobs.append(
                {"set": gold.name, "id": page["id"], "url": page.get("url") or "", "lang": page.get("lang") or "und"}
                | files
            )
    path = folder / "jobs.json"
    path.write_text(json.dumps(jobs), encoding="utf-8")
    return path


def text_of(raw: bytes) -> str:
    """Decode a page with our charset detection, without an XML declaration, which lxml rejects in text."""
    decoded = decode_page(raw)
    return XML_DECLARATION.sub("", decoded.text if decoded else raw.decode("utf-8", "replace"))


def run_system(system: System, jobs: Path, step: Callable[[], object]) -> Run:
    """Run one system over all pages in a new interpreter. Calls `step` after each page.

    Raises PlumblineError if the interpreter is missing or ends early.
    """
    python = Path(sys.executable) if system.is_ours else PEERS
    if not python.exists():
        raise PlumblineError(f"{system.name} is not installed: `make bench-extract` makes {PEERS.parents[1].name}")
    answers, complaints = jobs.with_name("answers.json"), jobs.with_name("complaints.txt")
    command = [str(python), "-P", "-m", "benchmarks.extract_worker", system.name, str(jobs), str(answers)]
    with complaints.open("w") as said:
        worker = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=said, env=environment())
        assert worker.stdout is not None
        for _ in worker.stdout:
            step()
    if worker.wait() != 0:
        raise PlumblineError(f"{system.name} failed:\n{complaints.read_text()[-2000:]}")
    return read_run(system, json.loads(answers.read_text(encoding="utf-8")))


def environment() -> dict[str, str]:
    """Return the environment of a worker: fixed hash seed, no warnings, the modules of this checkout."""
    return quiet() | {"PYTHONPATH": str(ROOT)}


def quiet() -> dict[str, str]:
    """Return the environment of a process with a fixed hash seed and without warnings."""
    return {**os.environ, "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}


def read_run(system: System, said: dict[str, Any]) -> Run:
    """Read the answers of a worker."""
    return Run(
        system,
        said["pages"],
        {name: part["seconds"] for name, part in said["sets"].items()},
        {name: part["peak_mb"] for name, part in said["sets"].items()},
        said["start_mb"],
    )
