"""Benchmark on real sites: `make bench-real [DATA=DIR] [ARGS='--sets sites,lists --keep DIR']`.

Serves the sites of the recipe (or of DIR/real) from loopback under their own names, crawls them once with the default
settings except for delays and time limits, and extracts them. Each set measures this vertical. Figures:
docs/background/benchmarks.md.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import click
from rich.console import Console

from benchmarks.command import benchmark, data_option, names
from benchmarks.real_copies import copy_figures
from benchmarks.real_embed import embed_figures
from benchmarks.real_lists import list_figures
from benchmarks.real_nights import night_figures
from benchmarks.real_publish import publish_figures
from benchmarks.real_recipe import RECIPE, Site, bring_all, cache_folder, load_sites
from benchmarks.real_restore import restore_figures
from benchmarks.real_search import search_figures
from benchmarks.real_sites import site_figures
from benchmarks.real_terms import term_figures
from benchmarks.real_texts import author_figures, gutter_figures
from benchmarks.real_vertical import Vertical, open_vertical
from benchmarks.results import Figure, publish
from domain.errors import PlumblineError
from pipeline.demo.site import write_sites
from pipeline.progress import Progress, TerminalProgress

SETS: Mapping[str, Callable[[Vertical], Iterator[Figure]]] = {
    "sites": site_figures,
    "lists": list_figures,
    "authors": author_figures,
    "gutters": gutter_figures,
    "copies": copy_figures,
    "terms": term_figures,
    "embed": embed_figures,
    "search": search_figures,
    "restore": restore_figures,
    "publish": publish_figures,
    "nights": night_figures,  # last: it crawls again
}


@benchmark("real", made=True, set_names="sites,lists,copies")
@data_option(None, "A folder with real/sites.toml and real/HOST/.")
@click.option("--sets", "set_names", default="", callback=names, help="Only these sets, comma-separated.")
@click.option("--part", default="dev", type=click.Choice(["dev", "held"]), help="Part of the recipe.")
@click.option("--hosts", default="", callback=names, help="Only these sites, comma-separated.")
@click.option(
    "--keep", type=click.Path(path_type=Path), help="Folder of the vertical; an existing vertical is measured again."
)
@click.option("--made", is_flag=True, help="Measure the demo sites; nothing is fetched.")
def main(data: Path | None, set_names: list[str], part: str, hosts: list[str], keep: Path | None, made: bool) -> None:
    """Measure on real sites."""
    console = Console(stderr=True)
    chosen = chosen_sets(set_names)
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        trees = demo_trees(folder / "sites") if made else dict(trees_of(data, part, hosts, console))
        publish("real", measure(trees, folder, chosen, TerminalProgress(console)))


def demo_trees(folder: Path) -> dict[Site, Path]:
    """Return the demo sites as sites of a recipe, with their files."""
    write_sites(folder)
    return {
        Site(f"{tree.name}.test", "dev", "zh", "own", "news", scheme="http"): tree
        for tree in sorted(folder.iterdir())
        if tree.is_dir()
    }


def chosen_sets(wanted: Sequence[str]) -> list[str]:
    """Return the names of the chosen sets, in order. Raises PlumblineError for an unknown name."""
    unknown = [name for name in wanted if name not in SETS]
    if unknown:
        raise PlumblineError(f"no set {', '.join(unknown)}; there are {', '.join(SETS)}")
    return [name for name in SETS if not wanted or name in wanted]


def measure(trees: Mapping[Site, Path], folder: Path, sets: Sequence[str], progress: Progress) -> list[Figure]:
    """Return the figures of the sets for the vertical in `folder`."""
    by_host = {site.host: tree for site, tree in trees.items()}
    with open_vertical(list(trees), by_host, folder, progress) as vertical:
        return [figure for name in sets for figure in SETS[name](vertical)]


def trees_of(data: Path | None, part: str, hosts: Sequence[str], console: Console) -> Iterator[tuple[Site, Path]]:
    """Return the sites to measure, with their trees: own sites below `data`, otherwise those of the recipe.

    Missing trees of the recipe are fetched. A site without a tree is reported and skipped. Raises PlumblineError if no
    site is left.
    """
    own = data / "real" if data and (data / "real" / "sites.toml").is_file() else None
    wanted = [
        site
        for site in load_sites(own / "sites.toml" if own else RECIPE)
        if site.part == part and (not hosts or site.host in hosts)
    ]
    found = list(own_trees(own, wanted, console) if own else bring_all(wanted, cache_folder(), console))
    if not found:
        raise PlumblineError(f"not one of the {len(wanted)} sites is there: nothing can be measured")
    yield from found


def own_trees(folder: Path, sites: Sequence[Site], console: Console) -> Iterator[tuple[Site, Path]]:
    """Return the trees HOST or PART/HOST of a folder."""
    for site in sites:
        tree = next((tree for tree in (folder / site.host, folder / site.part / site.host) if tree.is_dir()), None)
        if tree:
            yield site, tree
        else:
            console.print(f"left out: {site.host}: there is no {folder / site.host}", markup=False, highlight=False)


if __name__ == "__main__":
    main()
