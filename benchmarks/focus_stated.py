"""Stated precision: how far the precision that `fused` states is from the share of saved pages that are on topic.

replay      crawl for topics of webs that did not teach the weights (`focus_prior`), and stop after 30, 100 and 500 pages
label       at each stop a simulated person answers the questions of a copy of the crawl, as many as the estimate needs
compare     the stated precision of the saved pages with the true one

    stated_error_N      absolute difference, mean over the topics for which a precision is stated
    stated_max_N        the largest difference
    stated_N, true_N    the two precisions, means
    labels_N            labels that the person gave
    stated_share_N      topics for which a precision is stated; the others have no saved page
    unlabelled_error_N  the difference without labels, for which reason nothing is stated then
"""

import pickle
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.focus_graph import Graph, load, stored_in
from benchmarks.focus_prior import priors_without
from benchmarks.focus_replay import Queue, visit
from benchmarks.focus_scores import mean
from benchmarks.results import Figure, sample
from crawler.focused_policy import RelevanceScore, ReviewInstructions, TopicWords
from domain.focused_decision import TopicCoverage
from focused.fused.strategy import FusedFeatureStrategy

SIZES = (30, 100, 500)  # fetched pages
QUESTION_COUNT = 10  # pages that a person is asked about at a time, as by default
SYSTEM = "fused"


def stated_error_figures(data: Path, topics: int, seed: int) -> list[Figure]:
    """Return the figures of up to `topics` topics of each web in a folder, and `stated_error` of all webs.

    `seed` draws the example pages, which are the seed URLs too.
    """
    figures = [figure for stored in stored_in(data) for figure in web_figures(load(stored), topics, seed)]
    errors = [figure.value for figure in figures if figure.metric in {f"stated_error_{size}" for size in SIZES}]
    return [*figures, Figure("all", SYSTEM, "stated_error", mean(errors))] if errors else []


def web_figures(graph: Graph, topics: int, seed: int) -> Iterator[Figure]:
    """Yield the figures of one web."""
    chosen = sample(list(graph.topics), topics, str)
    stops = [stop for topic in chosen for stop in stops_of(graph, topic, seed)]
    for size in SIZES:
        own = [stop for stop in stops if stop["size"] == size]
        stated = [stop for stop in own if "stated" in stop]
        unlabelled = [abs(stop["unlabelled_error"]) for stop in own if "unlabelled_error" in stop]
        if stated:
            errors = [abs(stop["stated"] - stop["true"]) for stop in stated]
            yield Figure(graph.name, SYSTEM, f"stated_error_{size}", mean(errors))
            yield Figure(graph.name, SYSTEM, f"stated_max_{size}", max(errors))
            for name in ("stated", "true"):
                yield Figure(graph.name, SYSTEM, f"{name}_{size}", mean([stop[name] for stop in stated]))
        if own:
            yield Figure(graph.name, SYSTEM, f"labels_{size}", mean([stop["labels"] for stop in own]))
            yield Figure(graph.name, SYSTEM, f"stated_share_{size}", len(stated) / len(own))
        if unlabelled:
            yield Figure(graph.name, SYSTEM, f"unlabelled_error_{size}", mean(unlabelled))


def stops_of(graph: Graph, topic: str, seed: int) -> Iterator[Mapping[str, float]]:
    """Crawl for one topic and yield the measured values at each size."""
    relevant, seeds = graph.relevant(topic), graph.seeds(topic, seed)
    words = TopicWords(graph.cut(topic), tuple(graph.nodes[url].page for url in seeds))
    focus, queue, count = FusedFeatureStrategy(words, priors_without(graph.name)), Queue(), 0
    for url in seeds:
        queue.offer(url, 0.0)
        queue.take()
    for url in seeds:
        visit(graph, focus, url, queue)
    while count < max(SIZES) and (found := queue.take()) is not None:
        visit(graph, focus, found, queue)
        count += 1
        if count in SIZES:
            yield {"size": count, **stated_after_labels(pickle.loads(pickle.dumps(focus)), relevant, seeds)}


def stated_after_labels(
    focus: FusedFeatureStrategy, relevant: Collection[str], examples: Sequence[str]
) -> Mapping[str, float]:
    """Answer questions until a precision is stated, and return what it is, with the truth.

    Before the first answer the coverage states nothing, so that error is computed from the scores.
    """
    answers: dict[str, bool] = {}
    values: dict[str, float] = {}
    while True:
        scores = {url: score for url, score in focus.current_scores().items() if url not in examples}
        kept = [url for url, score in scores.items() if score.is_relevant]
        truth = mean([float(url in relevant) for url in kept]) if kept else 0.0
        if kept and not answers:
            values["unlabelled_error"] = mean([scores[url].score for url in kept]) - truth
        coverage = coverage_of(scores, len(answers))
        asked = focus.pages_to_label(min(coverage.missing_label_count, QUESTION_COUNT))
        if not asked:
            break
        answers |= {url: url in relevant for url in asked}
        focus.apply_instructions(ReviewInstructions(labels_by_url=dict(answers)))
    values["labels"] = len(answers)
    return values | ({"stated": coverage.precision, "true": truth} if coverage.precision is not None else {})


def coverage_of(scores: Mapping[str, RelevanceScore], label_count: int) -> TopicCoverage:
    """Return what the store would report of these scores."""
    kept = [one.score for one in scores.values() if one.is_relevant]
    everything = [one.score for one in scores.values()]
    uncertain_count = sum(0 < score < 1 for score in everything)
    return TopicCoverage(len(scores), len(kept), sum(everything), sum(kept), label_count, uncertain_count)
