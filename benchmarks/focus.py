"""The crawl strategies over stored webs: `make bench-focus [DATA=DIR] [ARGS='--sets wikispeedia --systems fused']`.

load        pages and topics of DIR (default: ../shared/data/webgraph)
replay      every strategy from the same seeds with the same budget; three draws of three seeds a topic
score       by label; a strategy sees the pages it has fetched, the example pages and the topic's name
tables      ours beside the baselines and what the papers claim; figures go to benchmarks/out/focus.jsonl
"""

import itertools
import math
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from benchmarks.focus_baselines import BestFirst, BreadthFirst, Oracle, Shark, distances, frequencies
from benchmarks.focus_graph import Graph, load
from benchmarks.focus_replay import replay
from benchmarks.focus_scores import BUDGET, PARTS, Score, mean, score
from benchmarks.results import SHARED, Figure, publish
from crawler.strategies.focus import Focus, Topic
from crawler.strategies.focuses import FOCUSES
from crawler.strategies.semantic import Semantic, SemanticSettings
from docstore.errors import PlumblineError

FILES = {"wikispeedia": "topics.json", "zh_docs": "zh_topics.json"}
DRAWS = 3
CLAIMS = (
    ("semantic (Zhou)", "precision of what is kept: 94.87 % on domain sites, 64.20 % on portals"),
    ("topic_library (Wu)", "over static keywords: precision +23.74, recall +24.28, F +24.43 points"),
    ("semantic_tree (Zhang)", "mean precision 46.37 % with the vector model, 55.55 % with the tree"),
)


@dataclass(frozen=True)
class Task:
    """One replay: strategy, topic, draw of seeds."""

    system: str
    topic: str
    draw: int


OURS = "plumbline"  # the name of `fused` among the figures
GAINS = (
    ("topic_library_precision_gain", "topic_library", "static_keywords", "precision"),
    ("topic_library_recall_gain", "topic_library", "static_keywords", "recall"),
    ("topic_library_f1_gain", "topic_library", "static_keywords", "f1"),
    ("semantic_tree_precision_gain", "semantic_tree", "vsm", "precision"),
)
REACHES, REACHED, SHARE = "fused", "wikispeedia", "fused_fetch_share_at_90"
_graph: Graph  # of the process: workers inherit it, a graph is too large to be sent


@click.command()
@click.option("--data", default=SHARED / "webgraph", type=click.Path(path_type=Path), help="A folder of its form.")
@click.option("--sets", "set_names", default="", help="Only these graphs, comma-separated.")
@click.option("--systems", default="", help="Only these strategies, comma-separated.")
@click.option("--topics", default=1, type=click.IntRange(1), help="Every n-th topic only.")
@click.option("--draws", default=DRAWS, type=click.IntRange(1), help="Draws of seeds a topic.")
@click.option("--processes", default=2, type=click.IntRange(1))
def main(data: Path, set_names: str, systems: str, topics: int, draws: int, processes: int) -> None:
    """Replay the strategies and print what they harvest."""
    try:
        figures = measure(data, names(set_names), names(systems), topics, draws, processes)
    except PlumblineError as error:
        raise SystemExit(str(error)) from error
    console = Console(width=None if Console().is_terminal else 150)
    for table in tables(figures):
        console.print(table)
    for system, claim in CLAIMS:
        console.print(f"{system} claims {claim}")
    publish("focus", figures)


def names(text: str) -> list[str]:
    """The parts of a comma-separated option."""
    return [part.strip() for part in text.split(",") if part.strip()]


def measure(
    data: Path, set_names: Sequence[str], systems: Sequence[str], every: int, draws: int, processes: int
) -> list[Figure]:
    """All figures. Raises PlumblineError for a strategy or a set that is not there."""
    unknown = [name for name in systems if name not in SYSTEMS]
    if unknown:
        raise PlumblineError(f"no strategy {', '.join(unknown)}; there are {', '.join(SYSTEMS)}")
    folder = data / "webgraph" if (data / "webgraph").is_dir() else data
    figures: list[Figure] = []
    for path in sorted(folder.glob("*.jsonl*")):
        name = path.name.partition(".")[0]
        if not set_names or name in set_names:
            topics = folder / FILES.get(name, f"{name}_topics.json")
            figures += measure_set(load(path, topics), systems or list(SYSTEMS), every, draws, processes)
    if not figures:
        raise PlumblineError(f"no web graph in {folder}: give DATA=DIR, a folder like ../shared/data/webgraph")
    return [*figures, *gains(figures)]


def measure_set(graph: Graph, systems: Sequence[str], every: int, draws: int, processes: int) -> list[Figure]:
    """The figures of one graph: means over topics of means over draws."""
    global _graph
    _graph = graph
    topics = list(graph.topics)[::every]
    tasks = [Task(system, topic, draw) for topic in topics for draw in range(draws) for system in systems]
    scores: dict[str, list[Score]] = {system: [] for system in systems}
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for count, (task, result) in enumerate(pool.imap(run_task, tasks), 1):
            scores[task.system].append(result)
            print(f"\r{graph.name}: {count} of {len(tasks)} replays", end="", file=sys.stderr)
        shares = pool.map(share_at_90, [Task(REACHES, topic, 0) for topic in topics]) if REACHES in systems else []
    print(file=sys.stderr)
    figures = [figure for system in systems for figure in figures_of(graph.name, system, scores)]
    return [*figures, Figure(graph.name, OURS, SHARE, mean(shares))] if shares else figures


def run_task(task: Task) -> tuple[Task, Score]:
    """One replay, in a worker."""
    focus, seeds, reachable = start_of(task)
    return task, score(replay(_graph, focus, seeds, BUDGET * reachable), relevant_of(task.topic), reachable)


def start_of(task: Task) -> tuple[Focus, Sequence[str], int]:
    """The strategy with its topic, the seeds, and how many relevant pages they lead to, themselves not counted."""
    relevant = relevant_of(task.topic)
    seeds = _graph.seeds(task.topic, task.draw)
    reachable = sum(url in relevant for url in _graph.reachable(seeds)) - len(seeds)
    topic = Topic(_graph.cut(task.topic), tuple(_graph.nodes[url].page for url in seeds))
    return SYSTEMS[task.system](topic, task.topic), seeds, reachable


def share_at_90(task: Task) -> float:
    """Fetches until nine in ten of the pages that the seeds can reach are there, as a share of breadth first's.

    1.0 where the strategy needs as many or does not get there.
    """
    broad = fetches_until_90(Task("breadth_first", task.topic, task.draw), len(_graph.nodes))
    return fetches_until_90(task, broad) / broad


def fetches_until_90(task: Task, most: int) -> int:
    """Fetches until nine in ten are there, `most` where it takes more."""
    relevant = relevant_of(task.topic)
    focus, seeds, reachable = start_of(task)
    count, wanted = itertools.count(1), math.ceil(0.9 * reachable)

    def is_enough(url: str) -> bool:
        return url in relevant and next(count) >= wanted

    return len(replay(_graph, focus, seeds, most, is_enough).fetched)


@cache
def relevant_of(topic: str) -> frozenset[str]:
    """`Graph.relevant` of the process' graph."""
    return _graph.relevant(topic)


@cache
def idf_of(graph: str) -> Callable[[str], float]:
    """`frequencies` of the process' graph."""
    return frequencies(_graph)


def baseline(page: float, anchor: float, context: float) -> Callable[[Topic, str], Focus]:
    """Best first with these weights."""
    return lambda topic, name: BestFirst(topic, idf_of(_graph.name), page, anchor, context)


def focused(make: Callable[[Topic], Focus]) -> Callable[[Topic, str], Focus]:
    """A strategy that is told its topic and nothing else."""
    return lambda topic, name: make(topic)


SYSTEMS: Mapping[str, Callable[[Topic, str], Focus]] = {
    "breadth_first": lambda topic, name: BreadthFirst(),
    "anchor": baseline(0.0, 1.0, 0.0),
    "parent": baseline(1.0, 0.0, 0.0),
    "parent_anchor_context": baseline(1.0, 1.0, 1.0),
    "shark": lambda topic, name: Shark(topic, idf_of(_graph.name)),
    "oracle": lambda topic, name: Oracle(distances(_graph, relevant_of(name))),
    **{name: focused(make) for name, make in FOCUSES.items()},
    # A replay asks for an order of all pages: nothing is left out for good.
    "semantic": focused(lambda topic: Semantic(topic, settings=SemanticSettings(discard=False))),
}


def gains(figures: Sequence[Figure]) -> Iterator[Figure]:
    """The papers' claims, in points, as means over the sets: each strategy over its own baseline."""
    values = {(figure.set, figure.system, figure.metric): figure.value for figure in figures}
    for metric, ours, baseline, of in GAINS:
        found = [
            100 * (values[name, ours, of] - values[name, baseline, of])
            for name in dict.fromkeys(figure.set for figure in figures)
            if (name, ours, of) in values and (name, baseline, of) in values
        ]
        if found:
            yield Figure("all", OURS, metric, mean(found))
    shares = {name: value for (name, _, metric), value in values.items() if metric == SHARE}
    if shares:  # asked of wikispeedia, where nearly all can be reached from anywhere
        yield Figure("all", OURS, SHARE, shares.get(REACHED, mean(list(shares.values()))))


def figures_of(name: str, system: str, scores: Mapping[str, Sequence[Score]]) -> Iterator[Figure]:
    """The means of one strategy on one graph, and its fetches beside breadth first's."""
    own = scores[system]
    system = OURS if system == "fused" else system
    for metric in ("harvest_r", "recall_5r", "precision", "recall", "f1", "page_ms", "link_ms"):
        yield Figure(name, system, metric, mean([getattr(one, metric) for one in own]))
    yield Figure(name, system, "harvest", mean([one.harvest[-1] for one in own]))
    for place, part in enumerate(PARTS):
        yield Figure(name, system, f"harvest_at_{part:.0%}", mean([one.harvest[place] for one in own]))
    reached = [one.fetches_at_90 < float("inf") for one in own]
    yield Figure(name, system, "reached_90", mean([float(value) for value in reached]))


def tables(figures: Sequence[Figure]) -> Iterator[Table]:
    """A table a graph: a row for each strategy, a column for each metric."""
    for name in dict.fromkeys(figure.set for figure in figures):
        own = [figure for figure in figures if figure.set == name]
        metrics = list(dict.fromkeys(figure.metric for figure in own))
        values = {(figure.system, figure.metric): figure.value for figure in own}
        table = Table("strategy", *metrics, title=name, title_justify="left")
        for system in dict.fromkeys(figure.system for figure in own):
            shown = (values.get((system, metric)) for metric in metrics)
            table.add_row(system, *("" if value is None else f"{value:.3f}" for value in shown))
        yield table


if __name__ == "__main__":
    main()
