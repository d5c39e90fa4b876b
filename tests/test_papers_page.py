"""Each row of docs/background/papers.md names a function that exists, and a test or a command that repeats it."""

import importlib
import re
from pathlib import Path

import pytest

from benchmarks.papers import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[1]
BACKGROUND = ROOT / "docs" / "background"
CODE_RE = re.compile("`([^`]+)`")
EXPERIMENTS_RE = re.compile(r"make bench-papers ARGS='--only ([a-z_,]+)'")


def rows(page: str, column_count: int) -> list[list[str]]:
    """The cells of all rows of the tables with `column_count` columns, without headings."""
    text = (BACKGROUND / page).read_text("utf-8").partition("## Settings")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if len(row) == column_count and row[0] not in ("id", "table") and "---" not in row[0]]


def resolve(path: str) -> object:
    """Import what a dotted path names."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise AssertionError(f"no module of {path}")


@pytest.mark.parametrize("row", rows("papers.md", 4), ids=lambda row: f"{row[0]} {row[1][:30]}")
def test_row_names_a_function_and_how_it_is_verified(row: list[str]) -> None:
    functions, checks = CODE_RE.findall(row[2]), CODE_RE.findall(row[3])
    assert functions and checks, "a row without function or test"
    for function in functions:
        if not function.startswith(("plumb ", "crawl.", "extract.", "papers.")):
            resolve(function)
    for check in checks:
        if check.startswith("make bench-"):
            assert (ROOT / "benchmarks" / f"{check.split()[1].removeprefix('bench-')}.py").exists()
        else:
            assert (ROOT / check).exists(), check


@pytest.mark.parametrize("page", ["papers.md", "experiments.md"])
def test_commands_name_experiments(page: str) -> None:
    named = EXPERIMENTS_RE.findall((BACKGROUND / page).read_text("utf-8"))
    assert named and {name for names in named for name in names.split(",")} <= EXPERIMENTS.keys()
