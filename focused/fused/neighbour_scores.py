"""Link-neighbourhood scores: relevance propagated from fetched pages to nodes they link to or share a path with.

    hub score             mean relevance of the fetched pages that a page links to
    path relevance        mean relevance of the pages of a host and directory
    walk visits           how often random walks from relevant pages visit a node, links followed in both directions
    relevant walk share   share of the long walks through a node that started at a relevant page

Pages are classified by their own features first, then also by the scores of their neighbours (iterative classification:
Neville and Jensen 2000, "Iterative classification in relational data").
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from focused.fused.crawl_graph import CrawlGraph, Float64Array, Int64Array, sum_by_group

SHRINKAGE_PAGES = 3  # pseudo-pages of mean relevance added to every mean
WALK_STEPS, WALK_CONTINUE_PROBABILITY = 4, 0.6  # otherwise the walk restarts
LONG_WALK_STEPS, LONG_WALK_CONTINUE_PROBABILITY = 8, 0.85
SHARE_SHRINKAGE = 0.05  # pseudo-walks of mean relevance added to every walk share


@dataclass(frozen=True)
class NeighbourScores:
    """Scores computed at a refit. Later pages and nodes get `mean_relevance` or no visits.

    relevance            (pages,) float64  relevance of each page
    mean_relevance       mean of `relevance`
    hub_sum              (pages,) float64  summed relevance of the fetched pages that the page links to
    hub_count            (pages,) float64  number of these pages
    path_relevance       (paths,) float64  mean relevance of the pages of a host and directory, shrunk to the mean
    walk_visits          (nodes,) float64  visits of random walks from relevant pages, 1 for the average page
    relevant_walk_share  (nodes,) float64  share of the long walks through a node that started at a relevant page
    """

    relevance: Float64Array
    mean_relevance: float
    hub_sum: Float64Array
    hub_count: Float64Array
    path_relevance: Float64Array
    walk_visits: Float64Array
    relevant_walk_share: Float64Array

    def hub_scores(self, pages: Int64Array) -> Float64Array:
        """Return the mean relevance of the pages' fetched link targets, shrunk to the overall mean."""
        return self.hub_scores_excluding(pages, np.zeros(len(pages)), np.zeros(len(pages)))

    def hub_scores_excluding(self, pages: Int64Array, relevance: Float64Array, count: Float64Array) -> Float64Array:
        """Return hub scores without one target per page, so that a page does not contribute to its own feature.

        Args:
            pages: page ids.
            relevance: relevance of the excluded target, 0 for none.
            count: number of excluded targets, 0 or 1.
        """
        total = take_or_default(self.hub_sum, pages, 0.0) - relevance
        hub_scores: Float64Array = (total + SHRINKAGE_PAGES * self.mean_relevance) / (
            take_or_default(self.hub_count, pages, 0.0) - count + SHRINKAGE_PAGES
        )
        return hub_scores

    def path_relevance_for(self, paths: Int64Array) -> Float64Array:
        """Return the relevance of the given paths, `mean_relevance` for new paths."""
        return take_or_default(self.path_relevance, paths, self.mean_relevance)

    def walk_visits_for(self, nodes: Int64Array) -> Float64Array:
        """Return the walk visits of the given nodes, 0 for new nodes."""
        return take_or_default(self.walk_visits, nodes, 0.0)

    def relevant_walk_share_for(self, nodes: Int64Array) -> Float64Array:
        """Return the relevant walk share of the given nodes, `mean_relevance` for new nodes."""
        return take_or_default(self.relevant_walk_share, nodes, self.mean_relevance)


def take_or_default(values: Float64Array, indices: Int64Array, default: float) -> Float64Array:
    """Return the values at `indices`, and `default` for indices past the end."""
    last_index = len(values) - 1
    return np.where(indices <= last_index, values[np.minimum(indices, last_index)], default)


def compute_neighbour_scores(graph: CrawlGraph, walk_matrix: sp.csr_matrix, relevance: Float64Array) -> NeighbourScores:
    """Compute the scores of all pages and nodes.

    Args:
        graph: crawl graph.
        walk_matrix: result of `build_walk_matrix(graph)`.
        relevance: (pages,) float64.
    """
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
    """Return the matrix of one random-walk step over all nodes, (nodes, nodes), symmetric and normalized by degree."""
    nodes, size = np.array(graph.page_nodes), len(graph.node_urls)
    ends = (nodes[graph.link_source_page.values], graph.link_target_node.values)
    links = sp.csr_matrix((np.ones(len(ends[0])), ends), shape=(size, size))
    links = links + links.T
    degree_normalizer = sp.diags(np.maximum(np.asarray(links.sum(axis=1)).ravel(), 1.0) ** -0.5)
    return (degree_normalizer @ links @ degree_normalizer).tocsr()


def compute_walk_scores(
    graph: CrawlGraph, walk_matrix: sp.csr_matrix, relevance: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return `walk_visits` and `relevant_walk_share` of all nodes.

    Visits are a personalised PageRank from the relevant pages; the share compares long walks from relevant pages and
    from all pages.
    """
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
    """Return the distribution of random walks after `steps` steps.

    Each step follows a link with `continue_probability`, otherwise the walk restarts at `start`.
    """
    distribution = start
    for _ in range(steps):
        distribution = continue_probability * (walk_matrix @ distribution) + (1 - continue_probability) * start
    return distribution
