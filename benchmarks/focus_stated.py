"""Stated precision: how far the precision that `fused` states is from the share of saved pages that are on topic.

replay      crawl for topics of webs that did not teach the weights (`focus_prior`); stop after 30, 100 and 500 pages
label       at each stop a simulated person answers the questions of a copy of the crawl, as many as the estimate needs
compare     the stated precision of the saved pages with the true one

    stated_error_N      absolute difference, mean over the topics for which a precision is stated
    stated_max_N        the largest difference
    stated_share_N      topics for which a precision is stated; the others have no saved page
    labels_N            labels that the person gave
    unlabelled_error_N  the difference without labels, for which reason nothing is stated then
"""

import pickle
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.focus_graph import Graph, load, stored_in
from benchmarks.focus_prior import priors_without
from benchmarks.focus_replay import QUESTION_COUNT, Queue, visit
from benchmarks.focus_scores import mean
from benchmarks.results import Figure, sample
from crawler.focused_policy import RelevanceScore, ReviewInstructions, TopicWords
from domain.focused_decision import TopicCoverage
from focused.fused.strategy import FusedFeatureStrategy

SIZES = (30, 100, 500)  # fetched pages
SYSTEM = "fused"


@dataclass(frozen=True)
class Stop:
    """What is stated of the saved pages at one stop of a crawl, with the truth.

    Errors are stated minus true precision; None if no page is saved.
    """

    label_count: int
    error: float | None
    unlabelled_error: float | None


def stated_error_figures(data: Path, topics: int, seed: int) -> list[Figure]:
    """Return the figures of up to `topics` topics of each web in a folder, and `stated_error` of all webs.

    `seed` draws the example pages, which are the seed URLs too.
    """
    figures = [figure for stored in stored_in(data) for figure in web_figures(load(stored), topics, seed)]
    errors = [figure.value for figure in figures if figure.metric.startswith("stated_error_")]
    return [*figures, Figure("all", SYSTEM, "stated_error", mean(errors))] if errors else []


def web_figures(graph: Graph, topics: int, seed: int) -> Iterator[Figure]:
    """Yield the figures of one web. A size that no crawl reaches has none."""
    crawls = [stops_of(graph, topic, seed) for topic in sample(list(graph.topics), topics, str)]
    for size in SIZES:
        stops = [crawl[size] for crawl in crawls if size in crawl]
        errors = [abs(stop.error) for stop in stops if stop.error is not None]
        unlabelled = [abs(stop.unlabelled_error) for stop in stops if stop.unlabelled_error is not None]
        values = {
            "stated_error": mean(errors) if errors else None,
            "stated_max": max(errors, default=None),
            "stated_share": len(errors) / len(stops) if stops else None,
            "labels": mean([stop.label_count for stop in stops]) if stops else None,
            "unlabelled_error": mean(unlabelled) if unlabelled else None,
        }
        for metric, value in values.items():
            if value is not None:
                yield Figure(graph.name, SYSTEM, f"{metric}_{size}", value)


def stops_of(graph: Graph, topic: str, seed: int) -> Mapping[int, Stop]:
    """Crawl for one topic and return what is stated at each size."""
    relevant, seeds = graph.relevant(topic), graph.seeds(topic, seed)
    words = TopicWords(graph.cut(topic), tuple(graph.nodes[url].page for url in seeds))
    focus, queue = FusedFeatureStrategy(words, priors_without(graph.name)), Queue()
    stops: dict[int, Stop] = {}
    for url in seeds:
        queue.offer(url, 0.0)
        queue.take()
    for url in seeds:
        visit(graph, focus, url, queue)
    for count in range(1, max(SIZES) + 1):
        found = queue.take()
        if found is None:
            break
        visit(graph, focus, found, queue)
        if count in SIZES:
            stops[count] = stop_after_labels(pickle.loads(pickle.dumps(focus)), relevant, seeds)
    return stops


def stop_after_labels(focus: FusedFeatureStrategy, relevant: Collection[str], examples: Sequence[str]) -> Stop:
    """Answer questions until a precision is stated, and compare it with the truth."""
    answers: dict[str, bool] = {}
    first_error: float | None = None
    while True:
        scores = {url: score for url, score in focus.current_scores().items() if url not in examples}
        kept = [url for url, score in scores.items() if score.is_relevant]
        truth = mean([float(url in relevant) for url in kept]) if kept else 0.0
        if kept and not answers:
            first_error = mean([scores[url].score for url in kept]) - truth
        coverage = coverage_of(scores, len(answers))
        asked = focus.pages_to_label(min(coverage.missing_label_count, QUESTION_COUNT))
        if not asked:
            error = None if coverage.precision is None else coverage.precision - truth
            return Stop(len(answers), error, first_error)
        answers |= {url: url in relevant for url in asked}
        focus.apply_instructions(ReviewInstructions(labels_by_url=dict(answers)))


def coverage_of(scores: Mapping[str, RelevanceScore], label_count: int) -> TopicCoverage:
    """Return what the store would report of these scores."""
    values = [score.score for score in scores.values()]
    kept = [score.score for score in scores.values() if score.is_relevant]
    uncertain_count = sum(0 < value < 1 for value in values)
    return TopicCoverage(len(values), len(kept), sum(values), sum(kept), label_count, uncertain_count)
