"""What a replayed crawl teaches: the features of its pages and of its frontier at every refit, and what is true."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crawler.guide import PageWords, Relevance, TopicWords
from focused.fused.crawl_graph import Floats, Ints
from focused.fused.keeping import KEEPING
from focused.fused.link_features import Scale
from focused.fused.page_features import PAGE_FEATURES, PROMISE, Priors
from focused.fused.strategy import Fused, Refit

MAX_A_LOOK = 60  # pages written down
BEST_LINKS, OTHER_LINKS = 60, 150  # of a frontier that are written down


class Taught(NamedTuple):
    """What is to be learned of some pages.

    rows      (pages, features) float64  features as they are
    relative  (pages, features) float64  the same in standard deviations
    truth     (pages,) float64           0 to 1
    """

    rows: Floats
    relative: Floats
    truth: Floats


@dataclass(frozen=True)
class Lesson:
    """What a refit taught.

    pages          the fetched pages, and which are of the topic
    keeping        (pages, KEEPING) float64  what speaks for keeping each of them
    linking        those that link to what was not fetched, and what share of that is of the topic
    sights, first_keeping, first_linking     the same of those that came since the refit before, as they were first seen
    links          (links, FEATURES) float64  of the frontier, in standard deviations: the best, a sample of the others
    link_labels    (links,) float64           what those of the topic are worth, 0 for others
    link_weights   (links,) float64           how many each stands for
    """

    topic: tuple[str, str]
    pages: Taught
    keeping: Floats
    linking: Taught
    sights: Taught
    first_keeping: Floats
    first_linking: Taught
    links: Floats
    link_labels: Floats
    link_weights: Floats


class Sight(NamedTuple):
    """A page as it was first seen: its URL, rows of features as they are and in standard deviations, and of keeping."""

    url: str
    row: Floats
    relative: Floats
    keeping: Floats


class Recorder(Fused):
    """`fused`, which writes down what it knew of its pages and of the frontier at every refit."""

    def __init__(self, topic: TopicWords, name: tuple[str, str], worth: Mapping[str, float], priors: Priors) -> None:
        """`worth` has the pages of the topic, and what each is worth in order, 0 to 1."""
        super().__init__(topic, priors)
        self._name = name
        self._worth = worth
        self.lessons: list[Lesson] = []
        self._sights: list[Sight] = []
        self._first_linking: dict[int, tuple[Floats, Floats]] = {}  # by page

    def keep(self, page: PageWords) -> Relevance:
        judgement = super().keep(page)
        if self._refit is not None and self._sight is not None and page.url not in self._examples:
            verdict = self._refit.verdict
            keeping = self._at_first_sight(verdict, self._sight)
            self._sights.append(Sight(page.url, self._sight, verdict.classifier.scale(self._sight), keeping))
        return judgement

    def _linking_at_first_sight(self, refit: Refit, page: int, texts: Floats) -> Floats:
        row = super()._linking_at_first_sight(refit, page, texts)
        self._first_linking[page] = row, refit.linking_scale(row)
        return row

    def _refitted(self, refit: Refit, frontier: list[int], rows: Floats) -> None:
        super()._refitted(refit, frontier, rows)
        draw = np.random.default_rng(refit.verdict.pages)
        pages = draw.permutation(np.flatnonzero(self._is_example.values == 0))[:MAX_A_LOOK]
        if refit.scale is None or not len(pages):
            return
        relative = refit.scale(rows)
        some, weights = drawn(relative @ self._priors.link.relative, draw)
        nodes = [self._graph.pages[page] for page in pages]
        classifier, shares = refit.verdict.classifier, self._shares(pages.tolist())
        linking = pages[[page in shares for page in pages.tolist()]]
        self.lessons.append(
            Lesson(
                self._name,
                Taught(*as_they_are_and_relative(classifier.rows, classifier.scale, pages), self._labels(nodes)),
                refit.verdict.keeping[pages],
                Taught(
                    *as_they_are_and_relative(refit.linking, refit.linking_scale, linking),
                    np.array([shares[page] for page in linking.tolist()]),
                ),
                *self._seen(),
                relative[some],
                np.array([self._worth.get(self._graph.urls[frontier[place]], 0.0) for place in some]),
                weights,
            )
        )

    def _seen(self) -> tuple[Taught, Floats, Taught]:
        """The pages that came since the last refit, as they were first seen."""
        seen, self._sights = self._sights, []
        linking, self._first_linking = self._first_linking, {}
        nodes = [self._graph.nodes[one.url] for one in seen]
        shares = self._shares([int(self._graph.page_of.values[node]) for node in nodes])
        some = {page: share for page, share in shares.items() if page in linking}
        return (
            Taught(
                stacked([one.row for one in seen], len(PAGE_FEATURES)),
                stacked([one.relative for one in seen], len(PAGE_FEATURES)),
                self._labels(nodes),
            ),
            stacked([one.keeping for one in seen], len(KEEPING)),
            Taught(
                stacked([linking[page][0] for page in some], len(PROMISE)),
                stacked([linking[page][1] for page in some], len(PROMISE)),
                np.array(list(some.values())),
            ),
        )

    def _shares(self, pages: Sequence[int]) -> Mapping[int, float]:
        """Of those of some pages that link to what was not fetched: what share of that is of the topic."""
        graph, found = self._graph, {}
        for page in pages:
            targets = graph.target.values[slice(*graph.links_of[page])]
            waiting = targets[graph.page_of.values[targets] < 0].tolist()
            if waiting:
                found[page] = float(self._labels(waiting).mean())
        return found

    def _labels(self, nodes: Sequence[int]) -> Floats:
        return np.array([float(self._graph.urls[node] in self._worth) for node in nodes])


def as_they_are_and_relative(rows: Floats, scale: Scale, pages: Ints) -> tuple[Floats, Floats]:
    """The rows of some pages twice."""
    return rows[pages], scale(rows[pages])


def stacked(rows: Sequence[Floats], width: int) -> Floats:
    """Rows below each other, (rows, width), of which there may be none."""
    return np.vstack(rows) if rows else np.zeros((0, width))


def drawn(scores: Floats, draw: np.random.Generator) -> tuple[Ints, Floats]:
    """Places of the best scores and of a sample of the others, and how many each stands for."""
    order = np.argsort(-scores, kind="stable")
    best, others = order[:BEST_LINKS], order[BEST_LINKS:]
    some = draw.permutation(others)[:OTHER_LINKS]
    share = len(others) / max(len(some), 1)
    return np.concatenate((best, some)), np.concatenate((np.ones(len(best)), np.full(len(some), share)))
