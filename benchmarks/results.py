"""What a benchmark leaves: a table for a person, and `benchmarks/out/NAME.jsonl` for a program, one figure a row."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

OUT = Path(__file__).parent / "out"
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def read_floors(part: str) -> dict[str, float]:
    """The quality figures of `part` that CI holds: name -> least value."""
    floors: dict[str, dict[str, float]] = json.loads((Path(__file__).parent / "floors.json").read_text())
    return floors[part]


@dataclass(frozen=True)
class Figure:
    """One measured value: on which `set`, of which `system` (ours is `plumbline`), which `metric`."""

    set: str
    system: str
    metric: str
    value: float


def publish(name: str, figures: Sequence[Figure]) -> Path:
    """Write the rows and print the table; returns the file."""
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{name}.jsonl"
    path.write_text("".join(json.dumps(asdict(figure), ensure_ascii=False) + "\n" for figure in figures))
    table = Table("set", "system", "metric", title=name, title_justify="left")
    table.add_column("value", justify="right")
    for figure in figures:
        table.add_row(figure.set, figure.system, figure.metric, f"{figure.value:,.3f}".rstrip("0").rstrip("."))
    Console().print(table)
    return path
