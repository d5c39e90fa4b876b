"""Records the lessons of a replayed crawl: features of pages and frontier at every refit, and the true labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crawler.focused_policy import PageWords, RelevanceScore, TopicWords
from focused.fused.crawl_graph import Float64Array, Int64Array
from focused.fused.link_features import FeatureScaler
from focused.fused.page_features import PAGE_FEATURES, YIELD_FEATURES, PretrainedModels
from focused.fused.refit_result import RefitResult
from focused.fused.retention import RETENTION_FEATURES
from focused.fused.strategy import FusedFeatureStrategy

MAX_A_LOOK = 60  # pages written down
BEST_LINKS, OTHER_LINKS = 60, 150  # of a frontier that are written down


class Taught(NamedTuple):
    """Training rows of some pages.

    rows      (pages, features) float64  original features relative  (pages, features) float64  the same in standard
    deviations truth     (pages,) float64           0 to 1
    """

    rows: Float64Array
    relative: Float64Array
    truth: Float64Array


@dataclass(frozen=True)
class Lesson:
    """Lesson of one refit.

    pages          the fetched pages, and their labels keeping        (pages, KEEPING) float64  features for the
    retention of each page linking        pages that link to unfetched pages, and the on-topic share of those pages
    sights, first_keeping, first_linking     the same for the pages since the previous refit, at first sight links
    (links, FEATURES) float64  of the frontier, in standard deviations: the best, and a sample of the others link_labels
    (links,) float64           value of the links on topic, 0 for others link_weights   (links,) float64
    number of links that each row represents
    """

    topic: tuple[str, str]
    pages: Taught
    keeping: Float64Array
    linking: Taught
    sights: Taught
    first_keeping: Float64Array
    first_linking: Taught
    links: Float64Array
    link_labels: Float64Array
    link_weights: Float64Array


class Sight(NamedTuple):
    """A page at first sight: its URL, features (original and in standard deviations), and retention features."""

    url: str
    row: Float64Array
    relative: Float64Array
    keeping: Float64Array


class Recorder(FusedFeatureStrategy):
    """A `fused` strategy that records its features of pages and frontier at every refit."""

    def __init__(
        self, topic: TopicWords, name: tuple[str, str], worth: Mapping[str, float], priors: PretrainedModels
    ) -> None:
        """`worth` has the pages of the topic with their ranking value, 0 to 1."""
        super().__init__(topic, priors)
        self._name = name
        self._worth = worth
        self.lessons: list[Lesson] = []
        self._sights: list[Sight] = []
        self._first_linking: dict[int, tuple[Float64Array, Float64Array]] = {}  # by page

    def score_page(self, page: PageWords) -> RelevanceScore:
        judgement = super().score_page(page)
        if self._last_refit is not None and self._current_features is not None and page.url not in self._example_urls:
            verdict = self._last_refit.assessment
            keeping = self._initial_retention_features(verdict, self._current_features)
            self._sights.append(
                Sight(page.url, self._current_features, verdict.classifier.scaler(self._current_features), keeping)
            )
        return judgement

    def _initial_yield_features(self, refit_result: RefitResult, page: int, texts: Float64Array) -> Float64Array:
        row = super()._initial_yield_features(refit_result, page, texts)
        self._first_linking[page] = row, refit_result.yield_scaler(row)
        return row

    def _on_refit(self, refit_result: RefitResult, frontier: list[int], rows: Float64Array) -> None:
        super()._on_refit(refit_result, frontier, rows)
        draw = np.random.default_rng(refit_result.assessment.page_count)
        pages = draw.permutation(np.flatnonzero(self._is_example.values == 0))[:MAX_A_LOOK]
        if refit_result.frontier_scaler is None or not len(pages):
            return
        relative = refit_result.frontier_scaler(rows)
        some, weights = drawn(relative @ self._models.link.standardized_weights, draw)
        nodes = [self._graph.page_nodes[page] for page in pages]
        classifier, shares = refit_result.assessment.classifier, self._shares(pages.tolist())
        linking = pages[[page in shares for page in pages.tolist()]]
        self.lessons.append(
            Lesson(
                self._name,
                Taught(*as_they_are_and_relative(classifier.features, classifier.scaler, pages), self._labels(nodes)),
                refit_result.assessment.retention_features[pages],
                Taught(
                    *as_they_are_and_relative(refit_result.yield_features, refit_result.yield_scaler, linking),
                    np.array([shares[page] for page in linking.tolist()]),
                ),
                *self._seen(),
                relative[some],
                np.array([self._worth.get(self._graph.node_urls[frontier[place]], 0.0) for place in some]),
                weights,
            )
        )

    def _seen(self) -> tuple[Taught, Float64Array, Taught]:
        """Return the pages since the last refit, at first sight."""
        seen, self._sights = self._sights, []
        linking, self._first_linking = self._first_linking, {}
        nodes = [self._graph.node_ids[one.url] for one in seen]
        shares = self._shares([int(self._graph.node_page_id.values[node]) for node in nodes])
        some = {page: share for page, share in shares.items() if page in linking}
        return (
            Taught(
                stacked([one.row for one in seen], len(PAGE_FEATURES)),
                stacked([one.relative for one in seen], len(PAGE_FEATURES)),
                self._labels(nodes),
            ),
            stacked([one.keeping for one in seen], len(RETENTION_FEATURES)),
            Taught(
                stacked([linking[page][0] for page in some], len(YIELD_FEATURES)),
                stacked([linking[page][1] for page in some], len(YIELD_FEATURES)),
                np.array(list(some.values())),
            ),
        )

    def _shares(self, pages: Sequence[int]) -> Mapping[int, float]:
        """Return the on-topic share of unfetched linked pages, for each page that has such links."""
        graph, found = self._graph, {}
        for page in pages:
            targets = graph.link_target_node.values[slice(*graph.page_link_ranges[page])]
            waiting = targets[graph.node_page_id.values[targets] < 0].tolist()
            if waiting:
                found[page] = float(self._labels(waiting).mean())
        return found

    def _labels(self, nodes: Sequence[int]) -> Float64Array:
        return np.array([float(self._graph.node_urls[node] in self._worth) for node in nodes])


def as_they_are_and_relative(
    rows: Float64Array, scale: FeatureScaler, pages: Int64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the rows of some pages in original and relative form."""
    return rows[pages], scale(rows[pages])


def stacked(rows: Sequence[Float64Array], width: int) -> Float64Array:
    """Stack rows, (rows, width); also works without rows."""
    return np.vstack(rows) if rows else np.zeros((0, width))


def drawn(scores: Float64Array, draw: np.random.Generator) -> tuple[Int64Array, Float64Array]:
    """Return the indices of the best scores and a sample of the others, and the number of rows that each represents."""
    order = np.argsort(-scores, kind="stable")
    best, others = order[:BEST_LINKS], order[BEST_LINKS:]
    some = draw.permutation(others)[:OTHER_LINKS]
    share = len(others) / max(len(some), 1)
    return np.concatenate((best, some)), np.concatenate((np.ones(len(best)), np.full(len(some), share)))
