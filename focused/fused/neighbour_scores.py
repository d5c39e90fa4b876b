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

from focused.fused.crawl_graph import CrawlGraph, Float64Array, Int64Array, sum_by_group

SHRINKAGE_PAGES = 3  # pages of mean relevance that a mean is drawn toward
WALK_STEPS, WALK_CONTINUE_PROBABILITY = (
    4,
    0.6,
)  # of a walk: how many, and the share that goes on instead of back to where it began
LONG_WALK_STEPS, LONG_WALK_CONTINUE_PROBABILITY = 8, 0.85  # the same of a long one
SHARE_SHRINKAGE = 0.05  # walks of mean relevance that a share is drawn toward


@dataclass(frozen=True)
class NeighbourScores:
    """What is known at a refit. What came after it has `mean_relevance`, the mean relevance, or no visits.

    relevance  (pages,) float64  what was thought of each page
    hub_sum    (pages,) float64  sum of the relevance of the fetched pages that it links to
    hub_count  (pages,) float64  how many those are
    path       (paths,) float64  relevance of the pages of a host and directory, drawn toward the mean
    visits     (nodes,) float64  how often a walk from relevant pages comes past a URL, 1 for one like any page
    share      (nodes,) float64  how many of the long walks that come past it began at a relevant page, 0 to 1
    """

    relevance: Float64Array
    mean_relevance: float
    hub_sum: Float64Array
    hub_count: Float64Array
    path_relevance: Float64Array
    walk_visits: Float64Array
    relevant_walk_share: Float64Array

    def hub_scores(self, pages: Int64Array) -> Float64Array:
        """How the links of these pages turned out, drawn toward the mean."""
        return self.hub_scores_excluding(pages, np.zeros(len(pages)), np.zeros(len(pages)))

    def hub_scores_excluding(self, pages: Int64Array, relevance: Float64Array, count: Float64Array) -> Float64Array:
        """The same without so many pages (0 or 1), which turned out so relevant: what they say is not of themselves."""
        total = take_or_default(self.hub_sum, pages, 0.0) - relevance
        hub_scores: Float64Array = (total + SHRINKAGE_PAGES * self.mean_relevance) / (
            take_or_default(self.hub_count, pages, 0.0) - count + SHRINKAGE_PAGES
        )
        return hub_scores

    def path_relevance_for(self, paths: Int64Array) -> Float64Array:
        """How the pages of these paths turned out."""
        return take_or_default(self.path_relevance, paths, self.mean_relevance)

    def walk_visits_for(self, nodes: Int64Array) -> Float64Array:
        """How often a walk comes past these URLs, 1 for one like any page."""
        return take_or_default(self.walk_visits, nodes, 0.0)

    def relevant_walk_share_for(self, nodes: Int64Array) -> Float64Array:
        """How many of the walks that come past began at a relevant page."""
        return take_or_default(self.relevant_walk_share, nodes, self.mean_relevance)


def take_or_default(values: Float64Array, indices: Int64Array, default: float) -> Float64Array:
    """The values at these places, `default` past the end."""
    last_index = len(values) - 1
    return np.where(indices <= last_index, values[np.minimum(indices, last_index)], default)


def compute_neighbour_scores(graph: CrawlGraph, walk_matrix: sp.csr_matrix, relevance: Float64Array) -> NeighbourScores:
    """What the relevance of all pages fetched says of their company. `walk_matrix` is `build_walk_matrix` the same pages."""
    mean_relevance, pages = float(relevance.mean()), len(relevance)
    target = graph.node_page_id.values[graph.link_target_node.values]
    is_fetched = target >= 0
    source, target_relevance = graph.link_source_page.values[is_fetched], relevance[target[is_fetched]]
    path, paths = graph.node_path_id.values[graph.page_nodes], len(graph.path_ids)
    path_relevance_sum = sum_by_group(path, relevance, paths) + SHRINKAGE_PAGES * mean_relevance
    return NeighbourScores(
        relevance,
        mean_relevance,
        sum_by_group(source, target_relevance, pages),
        sum_by_group(source, np.ones(len(source)), pages),
        path_relevance_sum / (sum_by_group(path, np.ones(pages), paths) + SHRINKAGE_PAGES),
        *compute_walk_scores(graph, walk_matrix, relevance),
    )


def build_walk_matrix(graph: CrawlGraph) -> sp.csr_matrix:
    """One step of a walk over all URLs known, along links taken either way, however many a URL has."""
    nodes, size = np.array(graph.page_nodes), len(graph.node_urls)
    ends = (nodes[graph.link_source_page.values], graph.link_target_node.values)
    links = sp.csr_matrix((np.ones(len(ends[0])), ends), shape=(size, size))
    links = links + links.T
    degree_normalizer = sp.diags(np.maximum(np.asarray(links.sum(axis=1)).ravel(), 1.0) ** -0.5)
    return (degree_normalizer @ links @ degree_normalizer).tocsr()


def compute_walk_scores(
    graph: CrawlGraph, walk_matrix: sp.csr_matrix, relevance: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """`visits` and `share` of all URLs (personalised PageRank from the relevant pages; on long walks, beside that
    from all pages)."""
    relevant, all_pages = np.zeros(len(graph.node_urls)), np.zeros(len(graph.node_urls))
    relevant[graph.page_nodes], all_pages[graph.page_nodes] = relevance, 1.0
    visits = walk_with_restart(walk_matrix, relevant, WALK_STEPS, WALK_CONTINUE_PROBABILITY) * (
        len(relevance) / max(float(relevance.sum()), 1e-9)
    )
    long_walk_visits = walk_with_restart(
        walk_matrix, np.stack((relevant, all_pages), 1), LONG_WALK_STEPS, LONG_WALK_CONTINUE_PROBABILITY
    )
    share = (long_walk_visits[:, 0] + SHARE_SHRINKAGE * float(relevance.mean())) / (
        long_walk_visits[:, 1] + SHARE_SHRINKAGE
    )
    return visits, share


def walk_with_restart(
    walk_matrix: sp.csr_matrix, start: Float64Array, steps: int, continue_probability: float
) -> Float64Array:
    """Where walks are that begin like `start` and go on, so many steps, or begin anew."""
    distribution = start
    for _ in range(steps):
        distribution = continue_probability * (walk_matrix @ distribution) + (1 - continue_probability) * start
    return distribution
