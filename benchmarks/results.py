"""Output of a benchmark: a table for reading, and `benchmarks/out/NAME.jsonl` with one figure per row."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar
from zlib import crc32

from rich.console import Console
from rich.table import Table

from domain.errors import PlumblineError

OUT = Path(__file__).parent / "out"
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
FLOORS = Path(__file__).parent / "floors.json"
OURS = "plumbline"
WIDE = 150  # columns of the table without a terminal
T = TypeVar("T")


class FloorError(PlumblineError):
    """A measured quality is below its floor."""


class FailedSystemError(PlumblineError):
    """A compared system gave no figures, or only zeros."""


def read_floors(part: str) -> dict[str, float]:
    """Return the quality floors of `part` that CI checks: name -> minimum."""
    floors: dict[str, dict[str, float]] = json.loads(FLOORS.read_text())
    return floors[part]


@dataclass(frozen=True)
class Figure:
    """A measured value: its `set`, its `system` (ours is `plumbline`), its `metric`."""

    set: str
    system: str
    metric: str
    value: float


def values_by_name(figures: Sequence[Figure]) -> dict[str, float]:
    """Return our figures by floor name: `set metric` -> value."""
    return {f"{figure.set} {figure.metric}": figure.value for figure in figures if figure.system == OURS}


def check_floors(part: str, values: Mapping[str, float]) -> None:
    """Raise FloorError if a value is below its floor in `part` of floors.json. A value without a floor passes."""
    floors = read_floors(part)
    low = [
        f"{name} {value:.3f} < {floors[name]:g}" for name, value in values.items() if value < floors.get(name, value)
    ]
    if low:
        raise FloorError(f"below the floors of {part}: {', '.join(low)}")


def check_systems(figures: Sequence[Figure], systems: Collection[str], metrics: Collection[str]) -> None:
    """Raise FailedSystemError for each system that has no figure of `metrics`, or one of them 0 in every set."""
    best: dict[tuple[str, str], float] = {}
    for figure in figures:
        if figure.metric in metrics:
            key = figure.system, figure.metric
            best[key] = max(best.get(key, 0.0), figure.value)
    failures = [f"{name} gave no figures" for name in systems if not any(system == name for system, _ in best)]
    failures += [
        f"{system} has {metric} 0" for (system, metric), value in best.items() if system in systems and not value
    ]
    if failures:
        raise FailedSystemError(", ".join(failures))


def sample(items: Sequence[T], count: int, name: Callable[[T], str]) -> list[T]:
    """Return at most `count` items in their order: those whose names have the smallest checksums."""
    chosen = sorted(range(len(items)), key=lambda index: (crc32(name(items[index]).encode()), index))[:count]
    return [items[index] for index in sorted(chosen)]


@contextmanager
def output_to(folder: Path) -> Iterator[None]:
    """Write results below another folder during the `with` block."""
    global OUT
    before, OUT = OUT, folder
    try:
        yield
    finally:
        OUT = before


def out_folder() -> Path:
    """Return the folder of the results; creates it."""
    OUT.mkdir(parents=True, exist_ok=True)
    return OUT


def write(name: str, figures: Sequence[Figure]) -> Path:
    """Write NAME.jsonl, one figure per row. Returns the file."""
    path = out_folder() / f"{name}.jsonl"
    path.write_text("".join(json.dumps(asdict(figure), ensure_ascii=False) + "\n" for figure in figures))
    return path


def publish(name: str, figures: Sequence[Figure]) -> Path:
    """Write the rows and print a table with a column for each system. Returns the file."""
    path = write(name, figures)
    values = {(figure.set, figure.metric, figure.system): figure.value for figure in figures}
    table = Table("set", "metric", title=name, title_justify="left")
    systems = list(dict.fromkeys(figure.system for figure in figures))
    for system in systems:
        table.add_column(system, justify="right")
    for row in dict.fromkeys((figure.set, figure.metric) for figure in figures):
        table.add_row(*row, *(shown(values.get((*row, system))) for system in systems))
    if systems:
        Console(width=None if Console().is_terminal else WIDE).print(table)
    return path


def shown(value: float | None) -> str:
    """Return a value with three decimals at most; "" for None."""
    return "" if value is None else f"{value:,.3f}".rstrip("0").rstrip(".")
