"""`make bench-structure`: the weight of the code, and what it costs to extract, search, start and serve.

Sets:
- `product`: lines and modules of the product; modules of the data-flow packages that import the store
- `functions`: share of functions whose name is used exactly once (`used_once`)
- `extract`: see `benchmarks/structure_extract.py`
- `search`: see `benchmarks/structure_search.py`
- `serve`, `start`: see `benchmarks/structure_serve.py`
"""

import ast
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from benchmarks import structure_extract, structure_search, structure_serve
from benchmarks.command import benchmark, data_option, names
from benchmarks.results import OURS, Figure, publish
from domain.errors import PlumblineError

ROOT = Path(__file__).resolve().parents[1]
NOT_PRODUCT = ("tests/", "benchmarks/", "deploy/")
STORELESS = ("crawler/", "focused/", "extractor/", "lexicon/", "text/")
STORE = {"docstore", "sqlalchemy"}
Rows = Iterable[tuple[str, str, float]]


def product_modules() -> dict[str, ast.Module]:
    """The syntax trees of all product modules under version control, by path."""
    listing = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [path for path in listing.stdout.splitlines() if not path.startswith(NOT_PRODUCT)]
    return {path: ast.parse((ROOT / path).read_text("utf-8")) for path in paths}


def imported_packages(module: ast.Module) -> set[str]:
    """The top-level packages that a module imports, inside functions too."""
    packages = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            packages.add(node.module.partition(".")[0])
    return packages


def measure_product(_data: Path) -> Rows:
    """Yield lines, modules, and the number of data-flow modules that import the store."""
    modules = product_modules()
    yield "product", "lines", sum(len((ROOT / path).read_text("utf-8").splitlines()) for path in modules)
    yield "product", "modules", len(modules)
    importers = [path for path, module in modules.items() if path.startswith(STORELESS)]
    yield "product", "store_importers", sum(bool(STORE & imported_packages(modules[path])) for path in importers)


def measure_functions(_data: Path) -> Rows:
    """Yield the share of functions and methods whose name product code refers to exactly once.

    A reference is a name or an attribute; equal names of different functions count together.
    """
    nodes = [node for module in product_modules().values() for node in ast.walk(module)]
    functions = [node.name for node in nodes if isinstance(node, ast.FunctionDef) and not node.name.startswith("__")]
    references = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in nodes
        if isinstance(node, ast.Name | ast.Attribute)
    )
    yield "functions", "used_once", sum(references[name] == 1 for name in functions) / len(functions)


def measure_serve(_data: Path) -> Rows:
    """Return the memory of the search site of a new demo, and the start-up time of the commands."""
    return structure_serve.rows()


MEASUREMENTS: dict[str, Callable[[Path], Rows]] = {
    "product": measure_product,
    "functions": measure_functions,
    "extract": structure_extract.rows,
    "search": structure_search.rows,
    "serve": measure_serve,
}


@benchmark("structure", sets="product,functions")
@data_option()
@click.option("--sets", default=",".join(MEASUREMENTS), callback=names, help="Sets, separated by commas.")
def main(data: Path, sets: list[str]) -> None:
    """Measure the structure of the code and its costs."""
    if unknown := set(sets) - MEASUREMENTS.keys():
        raise PlumblineError(f"unknown sets: {', '.join(sorted(unknown))}; known: {', '.join(MEASUREMENTS)}")
    publish(
        "structure",
        [Figure(part, OURS, metric, value) for name in sets for part, metric, value in MEASUREMENTS[name](data)],
    )


if __name__ == "__main__":
    main()
