"""Which fetched pages are of the topic: what speaks for each, weighed as other topics taught (`pretrained.py`).

A page is judged by what is its own alone, then by all features: its company has been judged by then. Names and columns
come from two tables, `OWN_FEATURES` and `NEIGHBOUR_FEATURES`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from crawler.focused_policy import PageWords
from focused.fused.crawl_graph import CrawlGraph, Float64Array, Int64Array, LogCountArray, WordIdArray, sum_by_group
from focused.fused.latent_space import LatentSpace, RelevanceAxis, fold_in, normalize_vector, rescale
from focused.fused.link_features import LINK_FEATURES, fit_scaler
from focused.fused.neighbour_scores import NeighbourScores, build_walk_matrix, compute_neighbour_scores, take_or_default
from focused.fused.pretrained import PretrainedModel, load_pretrained_model
from focused.fused.retention import RETENTION_FEATURES

NEIGHBOUR_COUNT = 20
SIMILARITY_BLOCK_PAGES = 1000  # pages that are compared with all others
SIMILARITY_EXPONENT = 2  # power of a neighbour's cosine
WALK_VISITS_FLOOR = 1e-3  # visits that make no difference


@dataclass(frozen=True)
class TopicReference:
    """What the words of pages are measured by, as of a refit.

    examples       (examples,) int64  pages that are examples
    name           (words,) float64   what part of the topic's terms each word is
    rarity         (nodes,) float64   weighs a URL by how few pages link to it
    example_links  (nodes,) float64   how much linking to it is like the examples; of length 1
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
    """Bearings of the pages of a refit."""
    count = len(graph.node_urls)
    source, target = graph.link_source_page.values, graph.link_target_node.values
    rarity = np.log((len(graph.page_nodes) + 1) / np.maximum(np.bincount(target, minlength=count), 1))
    example_link_counts = sum_by_group(target, np.isin(source, examples).astype(np.float64), count) * rarity
    return TopicReference(space, axis, examples, name_weights, rarity, normalize_vector(example_link_counts))


@dataclass(frozen=True)
class PageBatch:
    """The pages to be judged, with the pages most like each. A page's titles and words are numbers of words.

    latent    (pages, dimensions) float64    rows in latent space
    by_terms  (pages, examples + 1) float64  cosines by tf.idf with each example and, last, with their core
    words     of each page: (words,) numbers, and (words,) 1 + ln of their counts
    titles    of each page: (words,) numbers
    sources   the pages that link to each
    targets   the URLs that each links to, as far as that is known
    fetched   (targets,) float64             1 for a target that was fetched
    nodes     (pages,) int64                 URL of each (past the last: new)
    numbers   (pages,) int64                 which page of the refit it is, -1 for none
    depths    (pages,) float64               steps from a seed
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


def relevance_along_axis(pages: PageBatch, reference: TopicReference) -> Float64Array:
    """How far they lie between the middle page and the examples."""
    return rescale(
        pages.vectors @ reference.relevance_axis.direction,
        reference.relevance_axis.zero_at,
        reference.relevance_axis.one_at,
    )


def title_name_share(pages: PageBatch, reference: TopicReference) -> Float64Array:
    """The share of the name's words that a title holds."""
    words = group_arrays(pages.title_word_ids)
    return words.sum_by_owner(take_or_default(reference.topic_name_weights, words.items, 0.0))


def text_name_frequency(pages: PageBatch, reference: TopicReference) -> Float64Array:
    """How often the name's words stand in the text, 1 + ln of it."""
    words, counts = (
        group_arrays([ids for ids, _ in pages.word_counts]),
        np.concatenate([counts for _, counts in pages.word_counts]),
    )
    return words.sum_by_owner(counts * take_or_default(reference.topic_name_weights, words.items, 0.0))


def example_link_cosine(pages: PageBatch, reference: TopicReference) -> Float64Array:
    """The URLs that they link to: cosine with those of the examples."""
    rarity, like_examples = (
        reference.inverse_link_frequency[pages.target_nodes.items],
        reference.example_link_vector[pages.target_nodes.items],
    )
    return pages.target_nodes.sum_by_owner(rarity * like_examples) / (
        np.sqrt(pages.target_nodes.sum_by_owner(rarity**2)) + 1e-9
    )


def sibling_relevance(pages: PageBatch, neighbours: NeighbourScores) -> Float64Array:
    """How the other links of the pages that link to them turned out."""
    is_known, owner = pages.page_ids >= 0, pages.source_pages.owner
    own_relevance = np.where(is_known, neighbours.relevance[pages.page_ids], 0.0)
    sibling_scores = neighbours.hub_scores_excluding(
        pages.source_pages.items, own_relevance[owner], is_known[owner].astype(np.float64)
    )
    return (pages.source_pages.sum_by_owner(sibling_scores) + neighbours.mean_relevance) / (
        pages.source_pages.group_sizes + 1
    )


# Name -> column, (pages,) float64: what a page says itself.
OWN_FEATURES: Mapping[str, Callable[[PageBatch, TopicReference], Float64Array]] = {
    "feedback": relevance_along_axis,
    # cosine with the examples: the least in latent space, the mean by tf.idf; with the words they have in common
    "least_example": lambda pages, by: (pages.vectors @ by.space.page_vectors[by.example_pages].T).min(axis=1),
    "terms": lambda pages, by: pages.example_cosines[:, :-1].mean(axis=1),
    "core": lambda pages, by: pages.example_cosines[:, -1],
    "name_title": title_name_share,
    "name_text": text_name_frequency,
    # distinct words, pages that link to it, steps from a seed
    "length": lambda pages, by: np.log1p([len(ids) for ids, _ in pages.word_counts]),
    "sources": lambda pages, by: np.log1p(pages.source_pages.group_sizes),
    "depth": lambda pages, by: pages.seed_distances,
    # links that it has, to pages that were fetched, to what the examples link to
    "degree": lambda pages, by: np.log1p(pages.target_nodes.group_sizes),
    "targets": lambda pages, by: np.log1p(pages.target_nodes.sum_by_owner(pages.target_is_fetched)),
    "example_links": example_link_cosine,
}
# The same: what its company says.
NEIGHBOUR_FEATURES: Mapping[str, Callable[[PageBatch, NeighbourScores], Float64Array]] = {
    # how relevant the fetched pages most like it are, and the other links of the pages that link to it
    "near": lambda pages, company: pages.nearest.weighted_mean(company.relevance),
    "siblings": sibling_relevance,
    # how often walks from relevant pages come past it, and what share of all walks that is (`neighbour_scores.py`)
    "walk": lambda pages, company: np.log(company.walk_visits_for(pages.node_ids) + WALK_VISITS_FLOOR),
    "walk_share": lambda pages, company: company.relevant_walk_share_for(pages.node_ids),
}
PAGE_FEATURES = (*OWN_FEATURES, *NEIGHBOUR_FEATURES)
OUTLINK_FEATURES = ("degree", "targets", "example_links")
INITIAL_PAGE_FEATURES = tuple(name for name in PAGE_FEATURES if name not in OUTLINK_FEATURES)
# What a page's links promise goes by all of that, how those of them that were fetched turned out, what share of its
# words they are made of, and what their anchors say (`promise.py`).
YIELD_FEATURES = (*PAGE_FEATURES, "hub", "anchored", "anchors", "taught")
INITIAL_YIELD_FEATURES = tuple(
    name for name in YIELD_FEATURES if name not in (*OUTLINK_FEATURES, "hub")
)  # of a page that has just come


def compute_own_features(pages: PageBatch, reference: TopicReference) -> Float64Array:
    """(pages, OWN) float64."""
    return np.stack([column(pages, reference) for column in OWN_FEATURES.values()], 1)


def compute_neighbour_features(pages: PageBatch, neighbours: NeighbourScores) -> Float64Array:
    """(pages, COMPANY) float64."""
    return np.stack([column(pages, neighbours) for column in NEIGHBOUR_FEATURES.values()], 1)


@dataclass(frozen=True)
class NearestPages:
    """The pages of a refit that are most like each of some.

    pages    (some, neighbours) int64    numbers of pages
    weights  (some, neighbours) float64  how alike they are
    """

    page_ids: Int64Array
    weights: Float64Array

    def weighted_mean(self, values: Float64Array) -> Float64Array:
        """The mean of their values, weighted by how alike they are."""
        weighted_means: Float64Array = (self.weights * values[self.page_ids]).sum(axis=1) / (
            self.weights.sum(axis=1) + 1e-6
        )
        return weighted_means


def find_nearest_pages(latent: Float64Array, pages: Float64Array, page_ids: Int64Array) -> NearestPages:
    """The pages most like each row, a page itself left out: `page_ids` says which it is, -1 for none of them. Not all
    pairs are held at a time."""
    parts = [slice(start, start + SIMILARITY_BLOCK_PAGES) for start in range(0, len(latent), SIMILARITY_BLOCK_PAGES)]
    blocks = [_nearest_in_block(latent[part], pages, page_ids[part]) for part in parts]
    return NearestPages(np.vstack([pages for pages, _ in blocks]), np.vstack([weights for _, weights in blocks]))


def _nearest_in_block(
    latent: Float64Array, pages: Float64Array, page_ids: Int64Array
) -> tuple[Int64Array, Float64Array]:
    """The same for some rows: pages, weights."""
    similarity = np.maximum(latent @ pages.T, 0.0) ** SIMILARITY_EXPONENT
    known_rows = np.flatnonzero(page_ids >= 0)
    similarity[known_rows, page_ids[known_rows]] = 0.0
    count = min(NEIGHBOUR_COUNT, similarity.shape[1])
    nearest = np.argpartition(-similarity, count - 1, axis=1)[:, :count]
    return nearest, np.take_along_axis(similarity, nearest, 1)


@dataclass(frozen=True)
class GroupedItems:
    """Items of several owners in one array.

    items  (items,) int64     numbers of whatever they are
    owner  (items,) int64     to whom each belongs
    sizes  (owners,) float64  how many each has
    """

    items: Int64Array
    owner: Int64Array
    group_sizes: Float64Array

    def map_items(self, values: Int64Array) -> "GroupedItems":
        """The same with the values that the items are the places of."""
        return replace(self, items=values[self.items])

    def sum_by_owner(self, values: Float64Array) -> Float64Array:
        """The sum of the values of each owner's items."""
        return sum_by_group(self.owner, values, len(self.group_sizes))


def group_items(groups: Sequence[Sequence[int]]) -> GroupedItems:
    """Put together; a group may be empty."""
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    items = np.fromiter(chain.from_iterable(groups), np.int64, int(sizes.sum()))
    return GroupedItems(items, np.repeat(np.arange(len(groups)), sizes), sizes.astype(np.float64))


def group_arrays(groups: Sequence[WordIdArray]) -> GroupedItems:
    """The same for arrays, of which there is one at least."""
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    items = np.concatenate(groups).astype(np.int64)
    return GroupedItems(items, np.repeat(np.arange(len(groups)), sizes), sizes.astype(np.float64))


@dataclass(frozen=True)
class PretrainedModels:
    """The weights of pages by themselves, of pages with their company, of pages that were just fetched, of links (their
    features are relative only), of what is kept, at last and at first sight (`keeping.py`), and of what a page's links
    promise, the same (`promise.py`)."""

    page_own: PretrainedModel
    page: PretrainedModel
    initial_page: PretrainedModel
    link: PretrainedModel
    retention: PretrainedModel
    initial_retention: PretrainedModel
    expected_yield: PretrainedModel
    initial_yield: PretrainedModel


def load_pretrained_models() -> PretrainedModels:
    """Those of data/fused_prior.json."""
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
    """Judges pages as of a refit.

    rows       (pages, PAGE_FEATURES) float64  the features of the pages of the refit; `scaler` is their spread
    said       (pages,) float64                how relevant each is by its features
    relevance  (pages,) float64                the same, and what is known of pages of which there is a label; `neighbours`
                                               is what it says of others
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
        """That of the pages of the refit."""
        return self._reference.space

    def initial_features(self, page: PageWords, bag_of_words: tuple[Int64Array, Float64Array]) -> Float64Array:
        """The features of a page that was just fetched, as one row: of its links it is not known where they lead."""
        graph, space = self._graph, self._reference.space
        node = graph.node_ids.get(page.url, len(graph.node_urls))
        is_known = node < len(graph.node_urls)
        page_id = int(graph.node_page_id.values[node]) if is_known else -1  # of a page that is read again
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
        """The pages of the refit."""
        graph, space = self._graph, self._reference.space
        nodes, page_ids = np.array(graph.page_nodes, dtype=np.int64), np.arange(len(graph.page_nodes))
        targets = group_items([range(*links) for links in graph.page_link_ranges]).map_items(
            graph.link_target_node.values
        )
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
