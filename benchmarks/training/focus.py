"""Train the prior of `fused` on topics with labelled pages: `python -m benchmarks.training.focus [DATA]`.

replay      crawl for every training label with the current weights; record the features at every refit
fit         pages: logistic regression on the label. Similarity features never count against a page, and counts
            (length, links) are used only relative to the other pages
            links: a softmax over each frontier ranks relevant URLs first, weighted by their value
            expected yield of links: from the outcome of a page's links (`focused.fused.expected_yield`)
mean        each round uses weights learned from the other webs so far; the shipped weights are the mean of the fits of
            all rounds on all webs, except the first round, which started without weights
leave out   for each web, the same mean without its lessons: benchmarks/training/focus_left_out.json
check       evaluate each web's topics and training labels with the weights that leave this web out

DATA is a folder of webs (`benchmarks.focus_graph.stored_in`). The training labels of a web are in its teaching.json. If
that file does not exist, OTHERS labels are chosen, and half as many groups of two or three labels. No training label is
part of a topic of the graph's file, above or below it, so `make bench-focus` does not measure training data. The
features contain no word and no URL (`focused.fused.page_features.PAGE_FEATURES`).
"""

import json
import multiprocessing
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import click
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from benchmarks.focus_frontiers import Frontiers
from benchmarks.focus_graph import TEACHING, Graph, StoredGraph, load, stored_in
from benchmarks.focus_prior import LEFT_OUT, priors_of
from benchmarks.focus_replay import replay
from benchmarks.focus_scores import BUDGET, Score, mean, score
from benchmarks.focus_worth import grades_of
from benchmarks.results import SHARED
from benchmarks.training.focus_lessons import Lesson, Recorder, Taught
from crawler.focused_policy import TopicWords, Words
from focused.fused.crawl_graph import Float64Array
from focused.fused.link_features import LINK_FEATURES
from focused.fused.page_features import OWN_FEATURES, PAGE_FEATURES, YIELD_FEATURES
from focused.fused.pretrained import PRETRAINED_FILE
from focused.fused.retention import RETENTION_FEATURES

# For a page that was just fetched, whose links are not known yet.
OUTLINK_FEATURES = ("degree", "targets", "example_links")
INITIAL_PAGE_FEATURES = tuple(name for name in PAGE_FEATURES if name not in OUTLINK_FEATURES)
INITIAL_YIELD_FEATURES = tuple(name for name in YIELD_FEATURES if name not in (*OUTLINK_FEATURES, "hub"))
INITIAL_RETENTION_FEATURES = tuple(name for name in RETENTION_FEATURES if name not in ("anchored", "degree"))
# Features whose weight training constrains to be at least 0.
NON_NEGATIVE_FEATURES = frozenset(RETENTION_FEATURES) - {"anchored", "level", "length", "degree"}
OTHERS = 60
OTHER_PAGES = (40, 300)  # of labels that are taken as a topic
MIN_OF_SIBLING = 15  # pages of a label that is taken with others
NAME_WORDS = 2  # of a label whose own words stand in no title
OF_TOPIC = 2.5  # of the pages of a topic beside the others: topics are wider than labels
PENALTY = 50.0  # of the squares of the weights, beside the sum of the rows' losses
START_WITH = ("share", "support", "terms", "latent", "words", "near_latent", "hub", "path")
START, NEARNESS = 0.3, 0.01  # the weight of those before anything is learned; penalty on leaving them
WORTH = (0.0, 1 / 7, 3 / 7, 1.0)  # of a page of the topic in order, by its grade (`benchmarks.focus_worth`)
COUNTS = ("length", "sources", "depth", "degree", "targets", "anchored")  # features that are not similarities

ALL = ""  # webs: none is left out

Labels = tuple[str, ...]
Weights = dict[str, dict[str, dict[str, float]]]
T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """One replay: graph, topic, draw of seeds, weights."""

    graph: str
    topic: str
    draw: int
    weights: Weights | None


_graphs: dict[str, Graph] = {}  # of the process: workers inherit them
_others: dict[str, Mapping[str, Words]] = {}  # the labels of each graph that teach, with words for a name
_lessons: list[Lesson] = []  # of the round that is being fitted


@click.command()
@click.argument("data", default=SHARED / "webgraph", type=click.Path(path_type=Path, exists=True))
@click.option("--rounds", default=5, type=click.IntRange(1), help="Times to replay and fit.")
@click.option("--labels", "most", default=OTHERS, type=click.IntRange(1), help="Labels of each web that teach.")
@click.option("--max-pages", default=OTHER_PAGES[1], type=click.IntRange(1), help="Pages of a label that teaches.")
@click.option("--check", default=1, type=click.IntRange(0), help="Draws of seeds to replay each topic from, checking.")
@click.option("--processes", default=2, type=click.IntRange(1))
def main(data: Path, rounds: int, most: int, max_pages: int, check: int, processes: int) -> None:
    """Train the prior on the webs of DATA and write it to the package, with the priors that leave one web out."""
    for stored in stored_in(data):
        remember(stored, most, max_pages)
    fits: dict[str, list[Weights]] = {web: [] for web in (ALL, *(_graphs if len(_graphs) > 1 else ()))}
    left_out: dict[str, Weights] = {}
    for number in range(rounds):
        lessons = lessons_of(left_out, number, processes)
        for web, fit in fits_without(list(fits), lessons, processes).items():
            fits[web] = [*(fits[web] if number > 1 else []), fit]
        left_out = {web: mean_weights(some) for web, some in fits.items() if web != ALL}
        print(f"round {number + 1}: {len(lessons)} lessons", flush=True)
    PRETRAINED_FILE.write_text(json.dumps(mean_weights(fits[ALL]), indent=1) + "\n", encoding="utf-8")
    LEFT_OUT.write_text(json.dumps(left_out, indent=1) + "\n", encoding="utf-8")
    if check:
        for line in checked(left_out, check, processes):
            print(line)


def remember(stored: StoredGraph, most: int, max_pages: int) -> None:
    """Load a web and choose its training labels."""
    graph, beside = load(stored), stored.pages.with_name(TEACHING)
    if beside.is_file():
        given = {name: tuple(labels) for name, labels in json.loads(beside.read_text(encoding="utf-8")).items()}
        few = {name: labels for name, labels in given.items() if pages_of(graph, labels) <= max_pages}
        others: Mapping[str, Labels] = {name: few[name] for name in evenly(list(few), most)}
        names = {name: graph.cut(name) or name_of(graph, labels) for name, labels in others.items()}
    else:
        others = others_of(graph, most, max_pages)
        names = {name: name_of(graph, labels) for name, labels in others.items()}
    _others[stored.name] = names
    _graphs[stored.name] = replace(graph, topics={**graph.topics, **others})


def pages_of(graph: Graph, labels: Labels) -> int:
    """Count the pages with one of the labels."""
    return sum(any(one.startswith(labels) for one in node.labels) for node in graph.nodes.values())


def others_of(graph: Graph, most: int, max_pages: int) -> Mapping[str, Labels]:
    """Choose training labels that are not part of a topic, and half as many groups of sibling labels, evenly spaced."""
    counts = Counter(label for node in graph.nodes.values() for label in prefixes(node.labels))
    own = [prefix for some in graph.topics.values() for prefix in some]
    free = {
        label: count
        for label, count in sorted(counts.items())
        if not any(label.startswith(one) or one.startswith(label) for one in own)
    }
    singles = [label for label, count in free.items() if OTHER_PAGES[0] <= count <= max_pages]
    together = siblings_of({label: count for label, count in free.items() if count >= MIN_OF_SIBLING}, max_pages)
    return {" ".join(some): some for some in [*evenly([(one,) for one in singles], most), *evenly(together, most // 2)]}


def siblings_of(counts: Mapping[str, int], most: int) -> list[Labels]:
    """Choose two or three sibling labels that together are as large as a topic; two draws for each."""
    below: dict[str, list[str]] = defaultdict(list)
    for label in counts:
        below[label.rpartition(".")[0]].append(label)
    drawn = [
        tuple(random.Random(f"{above} {draw}").sample(some, min(len(some), 2 + draw)))
        for above, some in below.items()
        if above and len(some) > 1
        for draw in (0, 1)
    ]
    return [some for some in dict.fromkeys(drawn) if OTHER_PAGES[0] <= sum(counts[label] for label in some) <= most]


def evenly(some: Sequence[T], count: int) -> Sequence[T]:
    """Return `count` items at even distances, or all."""
    return [some[place * len(some) // count] for place in range(count)] if len(some) > count else some


def name_of(graph: Graph, labels: Labels) -> Words:
    """Return words that an administrator might use to name the labels.

    These are the words of the labels that occur in titles; otherwise words that are typical of the titles.
    """
    pages = [(node.page.title, any(one.startswith(labels) for one in node.labels)) for node in graph.nodes.values()]
    everywhere = Counter(word for title, _ in pages for word in set(title))
    held = Counter(word for title, is_own in pages if is_own for word in set(title))
    last = " ".join(label.rpartition(".")[2] for label in labels).replace("_", " ")
    own = [word for word in graph.cut(last) if held[word] > 1]
    telling = sorted(held, key=lambda word: (-(held[word] ** 2) / everywhere[word], word))
    return tuple(dict.fromkeys(own or telling[:NAME_WORDS]))


def prefixes(labels: Sequence[str]) -> set[str]:
    """Return the labels and all labels above them."""
    parts = [label.split(".") for label in labels]
    return {".".join(some[: count + 1]) for some in parts for count in range(len(some))}


def lessons_of(left_out: Mapping[str, Weights], draw: int, processes: int) -> list[Lesson]:
    """Replay every training label with the weights of the other webs, and record the lessons."""
    tasks = [Task(graph, label, draw, left_out.get(graph)) for graph in _graphs for label in _others[graph]]
    with multiprocessing.get_context("fork").Pool(processes, threadpool_limits, (1,)) as pool:
        return [lesson for _, _, lessons in pool.imap(run, tasks) for lesson in lessons]


def run(task: Task) -> tuple[Task, Score, list[Lesson]]:
    """Run one replay in a worker."""
    graph = _graphs[task.graph]
    relevant, seeds = graph.relevant(task.topic), graph.seeds(task.topic, task.draw)
    reachable = sum(url in relevant for url in graph.reachable(seeds)) - len(seeds)
    name = _others[task.graph].get(task.topic) or graph.cut(task.topic)
    topic = TopicWords(name, tuple(graph.nodes[url].page for url in seeds))
    worth = {url: WORTH[grade] for url, grade in grades_of(graph, relevant).items()}
    focus = Recorder(topic, (task.graph, task.topic), worth, priors_of(task.weights))
    found = score(replay(graph, focus, seeds, BUDGET * reachable), relevant, reachable)
    return task, found, focus.lessons


def fits_without(webs: Sequence[str], lessons: Sequence[Lesson], processes: int) -> dict[str, Weights]:
    """Return the fits of the lessons without those of each of these webs."""
    _lessons[:] = lessons
    with multiprocessing.get_context("fork").Pool(processes, threadpool_limits, (1,)) as pool:
        return dict(zip(webs, pool.map(fitted_without, webs, chunksize=1), strict=True))


def fitted_without(web: str) -> Weights:
    """Fit without one web, in a worker."""
    return fitted([one for one in _lessons if one.topic[0] != web])


def fitted(lessons: Sequence[Lesson]) -> Weights:
    """Fit the weights of all parts; the features of a page at first sight are a part of their own."""
    sights = [one for one in lessons if len(one.sights.truth)]
    return {
        "own": regression([one.pages for one in lessons], OWN_FEATURES),
        "page": regression([one.pages for one in lessons], PAGE_FEATURES),
        "first_sight": regression([one.sights for one in sights], INITIAL_PAGE_FEATURES),
        "link": {"own": {"": 0.0}, "relative": ranking(lessons)},
        "keeping": keeping([(one.topic, one.keeping, one.pages.truth) for one in lessons], RETENTION_FEATURES),
        "first_keeping": keeping(
            [(one.topic, one.first_keeping, one.sights.truth) for one in sights], INITIAL_RETENTION_FEATURES
        ),
        "promise": regression([one.linking for one in lessons], YIELD_FEATURES, YIELD_FEATURES, 1.0),
        "first_promise": regression(
            [one.first_linking for one in lessons], INITIAL_YIELD_FEATURES, YIELD_FEATURES, 1.0
        ),
    }


def keeping(
    refits: Sequence[tuple[tuple[str, str], Float64Array, Float64Array]], names: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Fit the retention weights. Every topic has equal weight, pages have their natural frequency, to give
    probabilities.
    """
    places = [RETENTION_FEATURES.index(name) for name in names]
    rows = np.vstack([rows[:, places] for _, rows, _ in refits])
    labels = np.concatenate([labels for _, _, labels in refits])
    weights = look_weights([topic for topic, _, _ in refits])
    counts = np.concatenate(
        [np.full(len(labels), weight / len(labels)) for weight, (_, _, labels) in zip(weights, refits, strict=True)]
    )
    bounded = np.array([name in NON_NEGATIVE_FEATURES for name in names])
    bias, slopes = logistic(rows, labels, counts / counts.mean(), bounded)
    return {"own": {"": round(bias, 5), **dict(zip(names, slopes.round(5).tolist(), strict=True))}, "relative": {}}


def look_weights(topics: Sequence[tuple[str, str]]) -> list[float]:
    """Return the weight of each refit: half of the weight of the next one, with a sum of 1 for each topic.

    Refits are in the order of their crawl. The last refit decides retention; at the first refits most pages are on
    topic.
    """
    looks, seen = Counter(topics), Counter[tuple[str, str]]()
    weights: list[float] = []
    for topic in topics:
        seen[topic] += 1
        weights.append(2.0 ** (seen[topic] - looks[topic]) / (2 - 2.0 ** (1 - looks[topic])))
    return weights


def mean_weights(fits: Sequence[Weights]) -> Weights:
    """Return the mean of weights. Each round draws other seeds, so a single round is partly random."""
    return {
        part: {
            kind: {name: round(mean([fit[part][kind][name] for fit in fits]), 5) for name in fits[0][part][kind]}
            for kind in fits[0][part]
        }
        for part in fits[0]
    }


def regression(
    refits: Sequence[Taught],
    names: Collection[str],
    columns: Sequence[str] = PAGE_FEATURES,
    of_topic: float = OF_TOPIC,
) -> dict[str, dict[str, float]]:
    """Fit the weights of a part. A page of the topic has weight `of_topic`.

    No weight of a similarity feature is below 0: on a web unlike these it could invert the ranking.
    """
    refits = [one for one in refits if len(one.truth)]
    places = [columns.index(name) for name in names]
    alike = np.array([name not in COUNTS for name in names])
    rows = np.vstack([np.hstack((own[:, places][:, alike], relative[:, places])) for own, relative, _ in refits])
    labels = np.concatenate([one.truth for one in refits])
    counts = np.concatenate([np.full(len(one.truth), 1 / len(one.truth)) for one in refits])  # a refit counts as one
    counts *= np.where(labels > 0, of_topic, 1.0)
    bounded = np.concatenate((np.ones(int(alike.sum()), dtype=bool), alike))
    bias, slopes = logistic(rows, labels, counts / counts.mean(), bounded)
    own, relative = slopes[: int(alike.sum())].round(5).tolist(), slopes[int(alike.sum()) :].round(5).tolist()
    likenesses = [name for name in names if name not in COUNTS]
    return {
        "own": {"": round(bias, 5), **dict(zip(likenesses, own, strict=True))},
        "relative": dict(zip(names, relative, strict=True)),
    }


def logistic(
    rows: Float64Array, labels: Float64Array, counts: Float64Array, bounded: NDArray[np.bool_]
) -> tuple[float, Float64Array]:
    """Fit a penalised logistic regression on standardised columns. Returns bias and weights for the original columns.

    `bounded` lists the columns whose weights must not be negative.
    """
    centre, width = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    standard = np.column_stack(((rows - centre) / width, np.ones(len(rows))))

    def loss(weights: Float64Array) -> tuple[float, Float64Array]:
        along = standard @ weights
        penalised = np.append(weights[:-1], 0.0)
        total = counts @ (np.logaddexp(0.0, along) - labels * along) + PENALTY / 2 * penalised @ penalised
        slope = standard.T @ (counts * (1 / (1 + np.exp(-along)) - labels)) + PENALTY * penalised
        return float(total), slope

    bounds = [(0.0, None) if one else (None, None) for one in bounded] + [(None, None)]
    found = minimize(loss, np.zeros(standard.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B").x
    slopes = found[:-1] / width
    return float(found[-1] - slopes @ centre), slopes


def ranking(lessons: Sequence[Lesson]) -> dict[str, float]:
    """Fit the link weights that rank relevant URLs before the others of the same frontier."""
    refits = [one for one in lessons if one.link_labels.any()]
    of_topic = Counter(one.topic for one in refits)
    counts = np.array([1 / of_topic[one.topic] for one in refits])
    starts = np.cumsum([0, *(len(one.link_labels) for one in refits)])
    frontiers = Frontiers(
        np.vstack([one.links for one in refits]),
        np.concatenate([one.link_labels for one in refits]),
        np.concatenate([one.link_weights for one in refits]),
        starts[:-1],
        counts / counts.sum(),
    )
    first = np.array([START if name in START_WITH else 0.0 for name in LINK_FEATURES])

    def loss(weights: Float64Array) -> tuple[float, Float64Array]:
        value, slope = frontiers.loss(weights)
        away = weights - first
        return value + NEARNESS * float(away @ away), slope + 2 * NEARNESS * away

    found = minimize(loss, first, jac=True, method="L-BFGS-B").x / START
    return dict(zip(LINK_FEATURES, found.round(4).tolist(), strict=True))


def checked(left_out: Mapping[str, Weights], draws: int, processes: int) -> list[str]:
    """Return harvest and recall by web, for its own topics and for the training labels, with left-out weights."""
    tasks = [
        Task(graph, topic, draw, left_out.get(graph))
        for graph in _graphs
        for topic in _graphs[graph].topics
        for draw in range(draws)
    ]
    with multiprocessing.get_context("fork").Pool(processes, threadpool_limits, (1,)) as pool:
        scores = [(task, found) for task, found, _ in pool.imap(run, tasks)]
    return [line for graph in _graphs for line in lines_of(graph, scores)]


def lines_of(graph: str, scores: Sequence[tuple[Task, Score]]) -> list[str]:
    """Format the figures of one graph, for its own topics and the others."""
    kinds: Mapping[str, list[Score]] = {"its topics": [], "other labels": []}
    for task, found in scores:
        if task.graph == graph:
            kinds["other labels" if task.topic in _others[graph] else "its topics"].append(found)
    return [
        f"{graph}, {kind}: harvest_r {mean([one.harvest_r for one in some]):.3f},"
        f" recall_5r {mean([one.recall_5r for one in some]):.3f}"
        for kind, some in kinds.items()
        if some
    ]


if __name__ == "__main__":
    main()
