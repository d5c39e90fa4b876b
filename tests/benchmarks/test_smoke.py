"""The smoke form of each benchmark runs, and a benchmark that fails ends with status 1 and one line."""

import importlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner, Result

from benchmarks import results
from benchmarks.command import BenchmarkCommand, benchmark, data_option
from benchmarks.document_systems import READERS
from benchmarks.extract_systems import SYSTEMS as EXTRACTORS
from benchmarks.results import FailedSystemError, Figure, check_systems, output_to, publish
from benchmarks.terms_systems import SYSTEMS as MINERS
from domain.errors import PlumblineError

FOLDER = Path(results.__file__).parent
BENCHMARKS = (
    *("conformance", "crawl", "documents", "doors", "extract", "findable"),
    *("focus", "glossary", "papers", "readers", "search", "speed", "terms"),
)


def commands() -> dict[str, BenchmarkCommand]:
    """Every benchmark with a command line, by name."""
    modules = {path.stem for path in FOLDER.glob("*.py") if "@benchmark(" in path.read_text("utf-8")}
    loaded: dict[str, ModuleType] = {name: importlib.import_module(f"benchmarks.{name}") for name in sorted(modules)}
    return {name: module.main for name, module in loaded.items()}


def run_smoke(name: str, folder: Path) -> Result:
    """Run the smoke form with results below the folder."""
    with output_to(folder):
        return CliRunner().invoke(importlib.import_module(f"benchmarks.{name}").main, ["--smoke"])


@pytest.mark.shared
@pytest.mark.process
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name != "speed"])  # the release check runs it
def test_smoke_form_runs(name: str, tmp_path: Path) -> None:
    result = run_smoke(name, tmp_path)
    assert result.exit_code == 0, result.output
    assert [path.name for path in tmp_path.iterdir()] == ["smoke"], "the measured figures are not touched"
    written = tmp_path / "smoke" / f"{name}.jsonl"
    rows = [json.loads(line) for line in written.read_text("utf-8").splitlines()]
    assert rows and all(row.keys() == {"set", "system", "metric", "value"} for row in rows)


@pytest.mark.shared
@pytest.mark.process
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "systems", "size"),
    [("extract", EXTRACTORS, ("--pages", "30")), ("documents", READERS, ("--files", "12")), ("terms", MINERS, ())],
)
def test_every_peer_gives_figures(name: str, systems: Iterable[str], size: Sequence[str], tmp_path: Path) -> None:
    """Weak peers find nothing in the few pages of the smoke form."""
    with output_to(tmp_path):
        command = importlib.import_module(f"benchmarks.{name}").main
        result = CliRunner().invoke(command, ["--smoke", *size, "--systems", ",".join(systems)])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        pytest.param([Figure("a", "ours", "f1", 0.9)], "peer gave no figures", id="missing"),
        pytest.param([Figure("a", "ours", "f1", 0.9), Figure("a", "peer", "mb", 9)], "peer gave no", id="only cost"),
        pytest.param(
            [Figure("a", "ours", "f1", 0.9), Figure("a", "peer", "f1", 0.0), Figure("b", "peer", "f1", 0.0)],
            "peer has f1 0",
            id="zeros",
        ),
    ],
)
def test_failed_system_is_an_error(figures: list[Figure], message: str) -> None:
    with pytest.raises(FailedSystemError, match=message):
        check_systems(figures, ["ours", "peer"], ["f1"])


def test_systems_with_figures_pass() -> None:
    check_systems([Figure("a", "peer", "f1", 0.0), Figure("b", "peer", "f1", 0.2)], ["peer"], ["f1"])


def test_every_benchmark_has_a_smoke_form() -> None:
    tools = {"sample_floors"}  # it writes floors.json
    assert commands().keys() - tools == {*BENCHMARKS}
    for name, command in commands().items():
        assert command.name == name and any(option.name == "smoke" for option in command.params)


@pytest.mark.parametrize("name", ["conformance", "documents", "extract", "focus", "search", "speed", "terms"])
def test_benchmark_without_data_ends_with_one_line(name: str, tmp_path: Path) -> None:
    with output_to(tmp_path / "out"):
        result = CliRunner().invoke(commands()[name], ["--data", str(tmp_path)])
    assert result.exit_code == 1
    [line] = result.output.splitlines()
    assert line.startswith(f"Error: {name}: no ") and str(tmp_path) in line


@benchmark("example", count=2)
@data_option()
@click.option("--count", default=100)
def example(data: Path, count: int) -> None:
    """Publish the count, or fail."""
    if count < 0:
        raise PlumblineError("a system crashed:\nTraceback ...\nValueError: no pages")
    publish("example", [Figure("set", "plumbline", "count", count)])


@pytest.mark.parametrize(
    ("arguments", "file", "count"),
    [
        pytest.param([], "example.jsonl", 100, id="measured"),
        pytest.param(["--smoke"], "smoke/example.jsonl", 2, id="smoke"),
        pytest.param(["--count", "5", "--smoke"], "smoke/example.jsonl", 5, id="smoke with another size"),
    ],
)
def test_smoke_has_small_sizes_and_a_folder_of_its_own(
    arguments: list[str], file: str, count: int, tmp_path: Path
) -> None:
    with output_to(tmp_path):
        assert CliRunner().invoke(example, arguments).exit_code == 0
        assert tmp_path == results.OUT
    [written] = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written == tmp_path / file and json.loads(written.read_text())["value"] == count


def test_failure_is_one_line_after_the_details() -> None:
    result = CliRunner().invoke(example, ["--count", "-1"])
    assert result.exit_code == 1
    assert result.output.splitlines()[-1] == "Error: example: a system crashed: ValueError: no pages"


def test_unknown_parameter_of_a_smoke_form_is_refused() -> None:
    with pytest.raises(TypeError, match="no parameters pages"):
        benchmark("example", pages=1)(lambda: None)
