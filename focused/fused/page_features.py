"""Relevance of fetched pages: features of each page and a classifier with pretrained weights (`pretrained.py`).

A page is classified by its own features first, then by all features, which use the first relevance of its neighbours.
`OWN_FEATURES` and `NEIGHBOUR_FEATURES` define names and columns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from crawler.focused_policy import PageWords
from focused.fused.crawl_graph import CrawlGraph, Float64Array, Int64Array, LogCountArray, WordIdArray, sum_by_group
from focused.fused.latent_space import LatentSpace, RelevanceAxis, fold_in, normalize_vector
from focused.fused.link_features import LINK_FEATURES, fit_scaler
from focused.fused.neighbour_scores import NeighbourScores, build_walk_matrix, compute_neighbour_scores, take_or_default
from focused.fused.pretrained import PretrainedModel, load_pretrained_model
from focused.fused.retention import RETENTION_FEATURES

NEIGHBOUR_COUNT = 20  # nearest pages per page
SIMILARITY_BLOCK_PAGES = 1000  # pages compared with all others at a time, to bound memory
SIMILARITY_EXPONENT = 2  # the weight of a neighbour is its cosine to this power
WALK_VISITS_FLOOR = 1e-3  # added to walk visits before their logarithm


@dataclass(frozen=True)
class TopicReference:
    """Reference values of a refit that the features of pages compare with.

    example_pages           (examples,) int64  ids of the example pages
    topic_name_weights      (words,) float64   share of each word in the topic's terms
    inverse_link_frequency  (nodes,) float64   weight of a node, higher for fewer incoming links
    example_link_vector     (nodes,) float64   weighted links of the examples, of unit length
    """

    space: LatentSpace
    relevance_axis: RelevanceAxis
    example_pages: Int64Array
    topic_name_weights: Float64Array
    inverse_link_frequency: Float64Array
    example_link_vector: Float64Array


def build_topic_reference(
    graph: CrawlGraph, space: LatentSpace, axis: RelevanceAxis, examples: Int64Array, name_weights: Float64Array
) -> TopicReference:
    """Build the reference values for the pages of a refit."""
    count = len(graph.node_urls)
    source, target = graph.link_source_page.values, graph.link_target_node.values
    rarity = np.log((len(graph.page_nodes) + 1) / np.maximum(np.bincount(target, minlength=count), 1))
    example_link_counts = sum_by_group(target, np.isin(source, examples).astype(np.float64), count) * rarity
    return TopicReference(space, axis, examples, name_weights, rarity, normalize_vector(example_link_counts))


@dataclass(frozen=True)
class PageBatch:
    """Pages to classify, with their nearest pages.

    vectors            (pages, dimensions) float64    rows in latent space
    example_cosines    (pages, examples + 1) float64  tf.idf cosine with each example and, last, with the core
    word_counts        word ids of each page, and 1 + ln of their counts
    title_word_ids     word ids of each title
    nearest            most similar pages of the refit
    source_pages       pages that link to each page
    target_nodes       known nodes that each page links to
    target_is_fetched  (targets,) float64             1 for a fetched target
    node_ids           (pages,) int64                 node of each page; an id past the last node for a new URL
    page_ids           (pages,) int64                 id of the page in the refit, -1 for none
    seed_distances     (pages,) float64               links from a seed
    """

    vectors: Float64Array
    example_cosines: Float64Array
    word_counts: Sequence[tuple[WordIdArray, LogCountArray]]
    title_word_ids: Sequence[WordIdArray]
    nearest: "NearestPages"
    source_pages: "GroupedItems"
    target_nodes: "GroupedItems"
    target_is_fetched: Float64Array
    node_ids: Int64Array
    page_ids: Int64Array
    seed_distances: Float64Array


def title_name_share(pages: PageBatch, reference: TopicReference) -> Float64Array:
    """Return the share of the topic name's words that the title contains."""
    words = group_arrays(pages.title_word_ids)
    return words.sum_by_owner(take_or_default(reference.topic_name_weights, words.items, 0.0))


def text_name_frequency(pages: PageBatch, reference: TopicReference) -> Float64Array:
    """Return the weighted sum of 1 + ln(count) of the topic name's words in the text."""
    words = group_arrays([ids for ids, _ in pages.word_counts])
    counts = np.concatenate([counts for _, counts in pages.word_counts])
    return words.sum_by_owner(counts * take_or_default(reference.topic_name_weights, words.items, 0.0))


def example_link_cosine(pages: PageBatch, reference: TopicReference) -> Float64Array:
    """Return the cosine between the page's links and the examples' links."""
    targets = pages.target_nodes
    rarity, like_examples = (
        reference.inverse_link_frequency[targets.items],
        reference.example_link_vector[targets.items],
    )
    return targets.sum_by_owner(rarity * like_examples) / (np.sqrt(targets.sum_by_owner(rarity**2)) + 1e-9)


def sibling_relevance(pages: PageBatch, neighbours: NeighbourScores) -> Float64Array:
    """Return the mean hub score of the pages that link to each page, without the page's own contribution."""
    is_known, owner = pages.page_ids >= 0, pages.source_pages.owner
    own_relevance = np.where(is_known, neighbours.relevance[pages.page_ids], 0.0)
    sibling_scores = neighbours.hub_scores_excluding(
        pages.source_pages.items, own_relevance[owner], is_known[owner].astype(np.float64)
    )
    return (pages.source_pages.sum_by_owner(sibling_scores) + neighbours.mean_relevance) / (
        pages.source_pages.group_sizes + 1
    )


# Feature name -> function that returns its column, (pages,) float64: features of the page itself.
OWN_FEATURES: Mapping[str, Callable[[PageBatch, TopicReference], Float64Array]] = {
    # projection on the relevance axis: 0 for the median page, 1 for the mean of the examples
    "feedback": lambda pages, by: by.relevance_axis.project(pages.vectors),
    # cosine with the examples: minimum in latent space, mean by tf.idf; cosine with the core
    "least_example": lambda pages, by: (pages.vectors @ by.space.page_vectors[by.example_pages].T).min(axis=1),
    "terms": lambda pages, by: pages.example_cosines[:, :-1].mean(axis=1),
    "core": lambda pages, by: pages.example_cosines[:, -1],
    "name_title": title_name_share,
    "name_text": text_name_frequency,
    # distinct words, pages that link to it, links from a seed
    "length": lambda pages, by: np.log1p([len(ids) for ids, _ in pages.word_counts]),
    "sources": lambda pages, by: np.log1p(pages.source_pages.group_sizes),
    "depth": lambda pages, by: pages.seed_distances,
    # its links: number, to fetched pages, similarity to the examples' links
    "degree": lambda pages, by: np.log1p(pages.target_nodes.group_sizes),
    "targets": lambda pages, by: np.log1p(pages.target_nodes.sum_by_owner(pages.target_is_fetched)),
    "example_links": example_link_cosine,
}
# Feature name -> function that returns its column, (pages,) float64: features of the page's neighbours.
NEIGHBOUR_FEATURES: Mapping[str, Callable[[PageBatch, NeighbourScores], Float64Array]] = {
    # relevance of the most similar fetched pages, and of the other link targets of the pages that link to it
    "near": lambda pages, company: pages.nearest.weighted_mean(company.relevance),
    "siblings": sibling_relevance,
    # visits of walks from relevant pages, and their share of all walks (`neighbour_scores.py`)
    "walk": lambda pages, company: np.log(company.walk_visits_for(pages.node_ids) + WALK_VISITS_FLOOR),
    "walk_share": lambda pages, company: company.relevant_walk_share_for(pages.node_ids),
}
PAGE_FEATURES = (*OWN_FEATURES, *NEIGHBOUR_FEATURES)
# Features of a page's expected yield (`expected_yield.py`): all page features, its hub score, its anchor-word share
# and the mean scores of its anchors.
YIELD_FEATURES = (*PAGE_FEATURES, "hub", "anchored", "anchors", "taught")


def compute_own_features(pages: PageBatch, reference: TopicReference) -> Float64Array:
    """Return the features of the pages themselves, (pages, OWN_FEATURES) float64."""
    return np.stack([column(pages, reference) for column in OWN_FEATURES.values()], 1)


def compute_neighbour_features(pages: PageBatch, neighbours: NeighbourScores) -> Float64Array:
    """Return the features of the pages' neighbours, (pages, NEIGHBOUR_FEATURES) float64."""
    return np.stack([column(pages, neighbours) for column in NEIGHBOUR_FEATURES.values()], 1)


@dataclass(frozen=True)
class NearestPages:
    """The most similar pages of the refit for each row.

    page_ids  (rows, neighbours) int64
    weights   (rows, neighbours) float64  cosine to the power SIMILARITY_EXPONENT
    """

    page_ids: Int64Array
    weights: Float64Array

    def weighted_mean(self, values: Float64Array) -> Float64Array:
        """Return the similarity-weighted mean of the neighbours' values per row."""
        weighted_means: Float64Array = (self.weights * values[self.page_ids]).sum(axis=1) / (
            self.weights.sum(axis=1) + 1e-6
        )
        return weighted_means


def find_nearest_pages(latent: Float64Array, pages: Float64Array, page_ids: Int64Array) -> NearestPages:
    """Return the most similar pages for each row. Works in blocks, so that not all similarities are in memory.

    Args:
        latent: (rows, dimensions) float64, vectors to compare.
        pages: (pages, dimensions) float64, vectors of the pages of the refit.
        page_ids: (rows,) int64, the row's own page, which is excluded; -1 for none.
    """
    count = min(NEIGHBOUR_COUNT, len(pages))
    nearest_blocks, weight_blocks = [], []
    for start in range(0, len(latent), SIMILARITY_BLOCK_PAGES):
        block = slice(start, start + SIMILARITY_BLOCK_PAGES)
        similarity = np.maximum(latent[block] @ pages.T, 0.0) ** SIMILARITY_EXPONENT
        known_rows = np.flatnonzero(page_ids[block] >= 0)
        similarity[known_rows, page_ids[block][known_rows]] = 0.0
        nearest_blocks.append(np.argpartition(-similarity, count - 1, axis=1)[:, :count])
        weight_blocks.append(np.take_along_axis(similarity, nearest_blocks[-1], 1))
    return NearestPages(np.vstack(nearest_blocks), np.vstack(weight_blocks))


@dataclass(frozen=True)
class GroupedItems:
    """Items of several owners in one array.

    items        (items,) int64      ids of the items
    owner        (items,) int64      owner of each item
    group_sizes  (owners,) float64   number of items of each owner
    """

    items: Int64Array
    owner: Int64Array
    group_sizes: Float64Array

    def map_items(self, values: Int64Array) -> "GroupedItems":
        """Replace each item by `values[item]`."""
        return replace(self, items=values[self.items])

    def sum_by_owner(self, values: Float64Array) -> Float64Array:
        """Return the sum of item values per owner."""
        return sum_by_group(self.owner, values, len(self.group_sizes))


def group_items(groups: Sequence[Sequence[int]]) -> GroupedItems:
    """Group lists of items; a list may be empty."""
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    items = np.fromiter(chain.from_iterable(groups), np.int64, int(sizes.sum()))
    return GroupedItems(items, np.repeat(np.arange(len(groups)), sizes), sizes.astype(np.float64))


def group_arrays(groups: Sequence[WordIdArray]) -> GroupedItems:
    """Group arrays of items. At least one array is required."""
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    items = np.concatenate(groups).astype(np.int64)
    return GroupedItems(items, np.repeat(np.arange(len(groups)), sizes), sizes.astype(np.float64))


@dataclass(frozen=True)
class PretrainedModels:
    """The pretrained models of `fused`.

    `page_own` and `page` classify pages by their own and by all features, `link` scores unfetched nodes (standardized
    features only), `retention` predicts the retention probability and `expected_yield` the on-topic share of a page's
    links. The `initial_` models apply to pages that were just fetched.
    """

    page_own: PretrainedModel
    page: PretrainedModel
    initial_page: PretrainedModel
    link: PretrainedModel
    retention: PretrainedModel
    initial_retention: PretrainedModel
    expected_yield: PretrainedModel
    initial_yield: PretrainedModel


def load_pretrained_models() -> PretrainedModels:
    """Load all models from data/fused_prior.json."""
    return PretrainedModels(
        load_pretrained_model("own", tuple(OWN_FEATURES)),
        load_pretrained_model("page", PAGE_FEATURES),
        load_pretrained_model("first_sight", PAGE_FEATURES),
        load_pretrained_model("link", tuple(LINK_FEATURES)),
        load_pretrained_model("keeping", RETENTION_FEATURES),
        load_pretrained_model("first_keeping", RETENTION_FEATURES),
        load_pretrained_model("promise", YIELD_FEATURES),
        load_pretrained_model("first_promise", YIELD_FEATURES),
    )


class PageClassifier:
    """Classifier of pages, fitted to the pages of a refit.

    features             (pages, PAGE_FEATURES) float64  features of the pages of the refit
    scaler               scaler of `features`
    predicted_relevance  (pages,) float64                relevance by features
    relevance            (pages,) float64                `predicted_relevance`, replaced by labels where they exist
    neighbours           neighbour scores computed from `relevance`
    """

    def __init__(
        self, graph: CrawlGraph, reference: TopicReference, models: PretrainedModels, labels: Mapping[int, float]
    ) -> None:
        self._graph = graph
        self._reference = reference
        self._models = models
        self._labels = labels
        pages, walk_matrix = self._training_batch(), build_walk_matrix(graph)
        own_features = compute_own_features(pages, reference)
        first_pass_neighbours = compute_neighbour_scores(
            graph,
            walk_matrix,
            self._apply_labels(models.page_own(own_features, fit_scaler(own_features)(own_features))),
        )
        self.features = np.hstack((own_features, compute_neighbour_features(pages, first_pass_neighbours)))
        self.scaler = fit_scaler(self.features)
        self.predicted_relevance = models.page(self.features, self.scaler(self.features))
        self.relevance = self._apply_labels(self.predicted_relevance)
        self.neighbours = compute_neighbour_scores(graph, walk_matrix, self.relevance)

    @property
    def space(self) -> LatentSpace:
        """Latent space of the pages of the refit."""
        return self._reference.space

    def initial_features(self, page: PageWords, bag_of_words: tuple[Int64Array, Float64Array]) -> Float64Array:
        """Return the features of a page that was just fetched, (1, PAGE_FEATURES) float64. Link targets are unknown."""
        graph, space = self._graph, self._reference.space
        node = graph.node_ids.get(page.url, len(graph.node_urls))
        is_known = node < len(graph.node_urls)
        page_id = int(graph.node_page_id.values[node]) if is_known else -1  # a page that is read again has an id
        page_ids = np.array([page_id if page_id < len(self.relevance) else -1])
        folded_page = fold_in(space, bag_of_words)
        batch = PageBatch(
            folded_page.vector[None],
            folded_page.example_cosines[None],
            [bag_of_words],
            [graph.unique_word_ids(page.title)],
            find_nearest_pages(folded_page.vector[None], space.page_vectors, page_ids),
            group_items([graph.incoming_links[node] if is_known else []]).map_items(graph.link_source_page.values),
            group_items([[]]),
            np.zeros(0),
            np.array([node]),
            page_ids,
            np.array([float(graph.node_depth.values[node]) if is_known else 0.0]),
        )
        return np.hstack(
            (compute_own_features(batch, self._reference), compute_neighbour_features(batch, self.neighbours))
        )

    def _apply_labels(self, predicted_relevance: Float64Array) -> Float64Array:
        relevance = predicted_relevance.copy()
        relevance[list(self._labels)] = list(self._labels.values())
        return relevance

    def _training_batch(self) -> PageBatch:
        """Return the pages of the refit as a batch."""
        graph, space = self._graph, self._reference.space
        nodes, page_ids = np.array(graph.page_nodes, dtype=np.int64), np.arange(len(graph.page_nodes))
        link_ranges = group_items([range(*links) for links in graph.page_link_ranges])
        targets = link_ranges.map_items(graph.link_target_node.values)
        return PageBatch(
            space.page_vectors,
            space.example_cosines,
            graph.page_word_counts,
            graph.title_word_ids,
            find_nearest_pages(space.page_vectors, space.page_vectors, page_ids),
            group_items([graph.incoming_links[node] for node in graph.page_nodes]).map_items(
                graph.link_source_page.values
            ),
            targets,
            (graph.node_page_id.values[targets.items] >= 0).astype(np.float64),
            nodes,
            page_ids,
            graph.node_depth.values[nodes].astype(np.float64),
        )
