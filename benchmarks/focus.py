"""Benchmark of the crawl strategies on stored webs: `make bench-focus [DATA=DIR] [ARGS='--sets NAME ...']`.

load        load the graphs of DIR (default: ../shared/data/webgraph; `python -m benchmarks.focus_webs` makes more),
            each a set; the set `generated` is made of the words of one graph
prior       `fused` uses weights learned from other webs if benchmarks/training/focus_left_out.json has them for the web
            (written by `python -m benchmarks.training.focus`), otherwise the shipped weights
replay      run every strategy from the same seeds with the same budget; three draws of three seeds per topic
score       score by label; a strategy sees only fetched pages, the example pages and the topic's name
zhou        pages that `semantic` collects on domain sites and portals of `generated`, by threshold (ZK-E3, ZK-E4)
tables      compare with the baselines and the claims of the papers; figures go to benchmarks/out/focus.jsonl
"""

import itertools
import math
import multiprocessing
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import click
from threadpoolctl import threadpool_limits

from benchmarks.command import benchmark, data_option, names
from benchmarks.focus_baselines import BestFirst, BreadthFirst, Oracle, Shark, distances, frequencies
from benchmarks.focus_figures import (
    FUSED,
    JUDGED,
    OURS,
    SHARE,
    ahead_of,
    compared,
    figures_of,
    gains,
    kept_of,
)
from benchmarks.focus_graph import Graph, load, stored_in
from benchmarks.focus_prior import priors_without
from benchmarks.focus_replay import Person, replay
from benchmarks.focus_scores import BUDGET, Score, mean, score
from benchmarks.focus_site import NAME as GENERATED
from benchmarks.focus_site import TOPICS, Shape, generated
from benchmarks.focus_worth import WebIndex, questions_of
from benchmarks.focus_zhou import Collected, MakeFocus, Sweep, curve_of, informed, run, sweeps_of
from benchmarks.results import SHARED, Figure, check_systems, publish
from crawler.focused_policy import FocusedStrategy, TopicWords
from domain.errors import PlumblineError
from domain.paper_settings import ZhouKunSettings
from focused.fused.strategy import FusedFeatureStrategy
from focused.paper_strategies.semantic import SemanticStrategy
from focused.strategy_registry import STRATEGIES

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


REACHES = "fused"
ASKED_AT = (0.25, 0.75)  # shares of the budget after which `fused_judged` asks for labels, each time the same number
_graph: Graph  # per process: workers inherit it, because a graph is too large to send
_index: WebIndex  # the same, of its pages
_informed: MakeFocus  # the same, of its words' vectors


SMOKE = {"set_names": "wikispeedia", "nodes": 1500}


@benchmark("focus", topics=1000, draws=1, reach=False, **SMOKE)
@data_option(SHARED / "webgraph", "A folder of the form of ../shared/data/webgraph.")
@click.option("--sets", "set_names", default="", callback=names, help="Only these graphs, comma-separated.")
@click.option("--systems", default="", callback=names, help="Only these strategies, comma-separated.")
@click.option("--topics", default=1, type=click.IntRange(1), help="Use only every n-th topic.")
@click.option("--draws", default=DRAWS, type=click.IntRange(1), help="Draws of seeds per topic.")
@click.option("--reach/--no-reach", default=True, help="Also fetch until 90% of the pages are found.")
@click.option("--processes", default=2, type=click.IntRange(1))
@click.option("--nodes", default=0, type=click.IntRange(0), help="Number of pages to read from a graph; 0: all.")
def main(
    data: Path,
    set_names: list[str],
    systems: list[str],
    topics: int,
    draws: int,
    reach: bool,
    processes: int,
    nodes: int,
) -> None:
    """Replay the strategies and print their harvest."""
    figures = measure(
        *(data, set_names, systems, topics, draws, processes),
        reach=reach,
        nodes=nodes,
    )
    for system, claim in CLAIMS:
        click.echo(f"{system} claims {claim}")
    publish("focus", figures)
    check_systems(figures, [OURS if name == FUSED else name for name in systems or SYSTEMS], ("harvest",))


def measure(
    data: Path,
    set_names: Sequence[str],
    systems: Sequence[str],
    every: int,
    draws: int,
    processes: int,
    shape: Shape | None = None,
    reach: bool = True,
    nodes: int = 0,
) -> list[Figure]:
    """Return all figures. Raises PlumblineError for an unknown strategy or set.

    Args:
        shape: size of the generated web
        reach: continue `fused` until 90% of the pages are found
        nodes: pages to read from each graph; 0: all
    """
    unknown = [name for name in systems if name not in SYSTEMS]
    if unknown:
        raise PlumblineError(f"no strategy {', '.join(unknown)}; there are {', '.join(SYSTEMS)}")
    figures: list[Figure] = []
    for graph in graphs_of(data, set_names, shape, nodes):
        figures += measure_set(graph, systems or list(SYSTEMS), every, draws, processes, reach)
    if not figures:
        raise PlumblineError(f"no web graph in {data}: give DATA=DIR, a folder like ../shared/data/webgraph")
    return [*figures, *gains(figures), *compared(figures)]


def graphs_of(data: Path, set_names: Sequence[str], shape: Shape | None, nodes: int = 0) -> Iterator[Graph]:
    """Yield the requested graphs of a folder, then the graph generated from the first one with enough topics."""
    wanted, source = not set_names or GENERATED in set_names, None
    for stored in stored_in(data):
        if not set_names or stored.name in set_names or (wanted and source is None):
            graph = load(stored, nodes)
            if wanted and source is None and len(graph.topics) >= min(TOPICS, 2):
                source = generated(graph, shape=shape)
            if not set_names or stored.name in set_names:
                yield graph
    if source is not None:
        yield source


def measure_set(
    graph: Graph,
    systems: Sequence[str],
    every: int,
    draws: int,
    processes: int,
    reach: bool,
) -> list[Figure]:
    """Yield the figures of one graph: means over topics of means over draws."""
    global _graph, _index, _informed
    _graph, _index = graph, WebIndex(graph)
    relevant_of.cache_clear()
    search_of.cache_clear()
    topics = list(graph.topics)[::every]
    tasks = [Task(system, topic, draw) for topic in topics for draw in range(draws) for system in systems]
    scores: dict[str, list[Score]] = {system: [] for system in systems}
    sweeps: list[Sweep] = []
    if "semantic" in systems and graph.name == GENERATED:
        sweeps, _informed = sweeps_of(graph, topics, draws), informed(graph)
    with multiprocessing.get_context("fork").Pool(processes, threadpool_limits, (1,)) as pool:
        for count, (task, result) in enumerate(pool.imap(run_task, tasks), 1):
            scores[task.system].append(result)
            print(f"\r{graph.name}: {count} of {len(tasks)} replays", end="", file=sys.stderr)
        far = topics if reach and REACHES in systems else []
        shares = pool.map(share_at_90, [Task(REACHES, topic, 0) for topic in far])
        collected = pool.map(run_sweep, sweeps)
    print(file=sys.stderr)
    figures = [figure for system in systems for figure in figures_of(graph.name, system, scores)]
    figures += [*ahead_of(graph.name, scores, draws), *kept_of(graph.name, scores)]
    figures += [Figure(graph.name, OURS, SHARE, mean(shares))] if shares else []
    return [*figures, *(curve_of(graph.name, sweeps, collected) if sweeps else [])]


def run_sweep(sweep: Sweep) -> Collected:
    """Run one of Zhou's crawls in a worker."""
    return run(_graph, _informed, sweep)


def run_task(task: Task) -> tuple[Task, Score]:
    """Run one replay in a worker."""
    focus, seeds, reachable = start_of(task)
    relevant, budget = relevant_of(task.topic), BUDGET * reachable
    asked = tuple(round(part * budget) for part in ASKED_AT)
    person = Person(relevant.__contains__, asked) if task.system == JUDGED else None
    found = replay(_graph, focus, seeds, budget, person=person)
    return task, score(found, relevant, reachable, len(_graph.nodes), search_of(task.topic))


def start_of(task: Task) -> tuple[FocusedStrategy, Sequence[str], int]:
    """Return the strategy with its topic, the seeds, and the number of reachable relevant pages without the seeds."""
    relevant = relevant_of(task.topic)
    seeds = _graph.seeds(task.topic, task.draw)
    reachable = sum(url in relevant for url in _graph.reachable(seeds)) - len(seeds)
    examples = tuple(_graph.nodes[url].page for url in seeds)
    topic = TopicWords(_graph.cut(task.topic), examples)
    return SYSTEMS[task.system](topic, task.topic), seeds, reachable


@cache
def search_of(topic: str) -> Callable[[Collection[str]], float] | None:
    """Return a function that scores a search over some pages of a topic; None for a topic without queries."""
    questions = questions_of(_graph, topic)
    return partial(_index.ndcg, questions) if questions else None


def share_at_90(task: Task) -> float:
    """Return the fetches until 90% of the reachable pages are found, as a share of those of breadth first.

    The value is 1.0 if the strategy needs as many fetches or does not reach 90%.
    """
    broad = fetches_until_90(Task("breadth_first", task.topic, task.draw), len(_graph.nodes))
    return fetches_until_90(task, broad) / broad


def fetches_until_90(task: Task, most: int) -> int:
    """Return the number of fetches until 90% are found; `most` if it needs more."""
    relevant = relevant_of(task.topic)
    focus, seeds, reachable = start_of(task)
    count, wanted = itertools.count(1), math.ceil(0.9 * reachable)

    def is_enough(url: str) -> bool:
        return url in relevant and next(count) >= wanted

    return len(replay(_graph, focus, seeds, most, is_enough).fetched)


@cache
def relevant_of(topic: str) -> frozenset[str]:
    """Return `Graph.relevant` of the graph of this process."""
    return _graph.relevant(topic)


@cache
def idf_of(graph: str) -> Callable[[str], float]:
    """Return `frequencies` of the graph of this process."""
    return frequencies(_graph)


def baseline(page: float, anchor: float, context: float) -> Callable[[TopicWords, str], FocusedStrategy]:
    """Create a best-first strategy with these weights."""
    return lambda topic, name: BestFirst(topic, idf_of(_graph.name), page, anchor, context)


def focused(make: Callable[[TopicWords], FocusedStrategy]) -> Callable[[TopicWords, str], FocusedStrategy]:
    """Create a strategy that gets only its topic."""
    return lambda topic, name: make(topic)


SYSTEMS: Mapping[str, Callable[[TopicWords, str], FocusedStrategy]] = {
    "breadth_first": lambda topic, name: BreadthFirst(),
    "anchor": baseline(0.0, 1.0, 0.0),
    "parent": baseline(1.0, 0.0, 0.0),
    "parent_anchor_context": baseline(1.0, 1.0, 1.0),
    "shark": lambda topic, name: Shark(topic, idf_of(_graph.name)),
    "oracle": lambda topic, name: Oracle(distances(_graph, relevant_of(name))),
    **{name: focused(make) for name, make in STRATEGIES.items()},
    FUSED: lambda topic, name: FusedFeatureStrategy(topic, priors_without(_graph.name)),
    JUDGED: lambda topic, name: FusedFeatureStrategy(topic, priors_without(_graph.name)),
    # A replay asks for an order of all pages: nothing is left out for good.
    "semantic": focused(lambda topic: SemanticStrategy(topic, settings=ZhouKunSettings(discard_below_threshold=False))),
}


if __name__ == "__main__":
    main()
