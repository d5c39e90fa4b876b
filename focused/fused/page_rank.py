"""The company that pages keep: what the relevance of the pages fetched says of those that they are linked with.

    hub        how the links of a page turned out
    path       how the pages of a host and directory turned out
    visits     how often a walk from relevant pages comes past a URL, along links taken either way
    share      of all long walks that come past a URL, how many began at a relevant page

Pages are judged by their own words first, then with their company, whose relevance is known by then (iterative
classification: Neville and Jensen 2000, "Iterative classification in relational data").
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from focused.fused.crawl_graph import CrawlGraph, Floats, Ints, summed

DRAWN = 3  # pages of mean relevance that a mean is drawn toward
STEPS, ONWARD = 4, 0.6  # of a walk: how many, and the share that goes on instead of back to where it began
LONG_STEPS, LONG_ONWARD = 8, 0.85  # the same of a long one
SHARE_DRAWN = 0.05  # walks of mean relevance that a share is drawn toward


@dataclass(frozen=True)
class PageRank:
    """What is known at a refit. What came after it has `base`, the mean relevance, or no visits.

    relevance  (pages,) float64  what was thought of each page
    hub_sum    (pages,) float64  sum of the relevance of the fetched pages that it links to
    hub_count  (pages,) float64  how many those are
    path       (paths,) float64  relevance of the pages of a host and directory, drawn toward the mean
    visits     (nodes,) float64  how often a walk from relevant pages comes past a URL, 1 for one like any page
    share      (nodes,) float64  how many of the long walks that come past it began at a relevant page, 0 to 1
    """

    relevance: Floats
    base: float
    hub_sum: Floats
    hub_count: Floats
    path: Floats
    visits: Floats
    share: Floats

    def hub(self, pages: Ints) -> Floats:
        """How the links of these pages turned out, drawn toward the mean."""
        return self.hub_without(pages, np.zeros(len(pages)), np.zeros(len(pages)))

    def hub_without(self, pages: Ints, relevance: Floats, count: Floats) -> Floats:
        """The same without so many pages (0 or 1), which turned out so relevant: what they say is not of themselves."""
        total = of_known(self.hub_sum, pages, 0.0) - relevance
        found: Floats = (total + DRAWN * self.base) / (of_known(self.hub_count, pages, 0.0) - count + DRAWN)
        return found

    def path_of(self, paths: Ints) -> Floats:
        """How the pages of these paths turned out."""
        return of_known(self.path, paths, self.base)

    def visits_of(self, nodes: Ints) -> Floats:
        """How often a walk comes past these URLs, 1 for one like any page."""
        return of_known(self.visits, nodes, 0.0)

    def share_of(self, nodes: Ints) -> Floats:
        """How many of the walks that come past began at a relevant page."""
        return of_known(self.share, nodes, self.base)


def of_known(values: Floats, places: Ints, other: float) -> Floats:
    """The values at these places, `other` past the end."""
    last = len(values) - 1
    return np.where(places <= last, values[np.minimum(places, last)], other)


def page_rank_of(graph: CrawlGraph, step: sp.csr_matrix, relevance: Floats) -> PageRank:
    """What the relevance of all pages fetched says of their company. `step` is `step_of` the same pages."""
    base, pages = float(relevance.mean()), len(relevance)
    target = graph.page_of.values[graph.target.values]
    fetched = target >= 0
    source, found = graph.source.values[fetched], relevance[target[fetched]]
    path, paths = graph.path.values[graph.pages], len(graph.paths)
    of_path = summed(path, relevance, paths) + DRAWN * base
    return PageRank(
        relevance,
        base,
        summed(source, found, pages),
        summed(source, np.ones(len(source)), pages),
        of_path / (summed(path, np.ones(pages), paths) + DRAWN),
        *walked(graph, step, relevance),
    )


def step_of(graph: CrawlGraph) -> sp.csr_matrix:
    """One step of a walk over all URLs known, along links taken either way, however many a URL has."""
    nodes, size = np.array(graph.pages), len(graph.urls)
    ends = (nodes[graph.source.values], graph.target.values)
    links = sp.csr_matrix((np.ones(len(ends[0])), ends), shape=(size, size))
    links = links + links.T
    shrink = sp.diags(np.maximum(np.asarray(links.sum(axis=1)).ravel(), 1.0) ** -0.5)
    return (shrink @ links @ shrink).tocsr()


def walked(graph: CrawlGraph, step: sp.csr_matrix, relevance: Floats) -> tuple[Floats, Floats]:
    """`visits` and `share` of all URLs (personalised PageRank from the relevant pages; on long walks, beside that
    from all pages)."""
    relevant, every = np.zeros(len(graph.urls)), np.zeros(len(graph.urls))
    relevant[graph.pages], every[graph.pages] = relevance, 1.0
    visits = walk(step, relevant, STEPS, ONWARD) * (len(relevance) / max(float(relevance.sum()), 1e-9))
    both = walk(step, np.stack((relevant, every), 1), LONG_STEPS, LONG_ONWARD)
    share = (both[:, 0] + SHARE_DRAWN * float(relevance.mean())) / (both[:, 1] + SHARE_DRAWN)
    return visits, share


def walk(step: sp.csr_matrix, start: Floats, steps: int, onward: float) -> Floats:
    """Where walks are that begin like `start` and go on, so many steps, or begin anew."""
    reached = start
    for _ in range(steps):
        reached = onward * (step @ reached) + (1 - onward) * start
    return reached
