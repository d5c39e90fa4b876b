"""Which fetched pages are of the topic, by what `fused` has seen so far: no label, only the topic's definition.

space     pages in a latent space (tf.idf of the pages fetched and of general language, singular value decomposition)
core      the words that the examples have in common
query     the core, drawn toward the words of the topic's name, then toward the pages most like it
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from focused.fused.crawl_graph import CrawlGraph, Floats, Ints, summed

DIMENSIONS = 100
MAX_AT_ONCE = 800  # pages whose singular vectors are all computed
GENERAL = 100  # pages of general language that count among those fetched
CORE = 40  # words that the examples have in common
UNSHARED = 1e-3  # what a word that an example lacks weighs there
NAME_SHARE = 0.5  # of the name's words beside the core
FEEDBACK_ROUNDS = 3


@dataclass(frozen=True)
class LatentSpace:
    """The pages of a moment in a latent space, and the words that span it.

    pages      (pages, dimensions) float64          rows of unit length
    words      (columns, dimensions) float64        vectors of the words that stand in two pages at least
    columns    (columns,) int64                     numbers of those words
    place      (words,) int64                       place of each word among `columns`, -1 for others
    idf        (words,) float64                     of all words
    frequency  (words,) float64                     how many pages hold each
    weights    (pages, columns) float64, sparse     tf.idf, rows of unit length
    examples   (examples, columns) float64, sparse  rows of `weights` of the examples
    core       (columns,) float64                   what these have in common, of length 1
    cosines    (pages, examples + 1) float64        of each page with each example and, last, with the core
    """

    pages: Floats
    words: Floats
    columns: Ints
    place: Ints
    idf: Floats
    frequency: Floats
    weights: sp.csr_matrix
    examples: sp.csr_matrix
    core: Floats
    cosines: Floats


@dataclass(frozen=True)
class TopicVerdict:
    """A direction of the space and the two marks on it between which relevance rises from 0 to 1.

    direction  (dimensions,) float64
    """

    direction: Floats
    low: float
    high: float

    def relevance(self, pages: Floats) -> Floats:
        """0 to 1 for each row."""
        return np.clip(scaled(pages @ self.direction, self.low, self.high), 0.0, 1.0)


def space_of(graph: CrawlGraph, examples: Ints, relevance: Floats) -> LatentSpace:
    """The latent space of the pages fetched so far, `examples` among them. `relevance` is what was thought of each."""
    count = len(graph.pages)
    pages, ids, counts = graph.held()
    off_topic, size = 1 - relevance, len(graph.words)
    frequency = summed(ids, np.ones(len(ids)), size)
    idf = idf_of(summed(ids, off_topic[pages], size), float(off_topic.sum()), graph.general_pages())
    columns = np.flatnonzero(frequency >= 2)
    place = np.full(len(frequency), -1)
    place[columns] = np.arange(len(columns))
    shown = place[ids] >= 0
    values = counts[shown] * idf[ids[shown]]
    weights = unit_rows(sp.csr_matrix((values, (pages[shown], place[ids[shown]])), shape=(count, len(columns))))
    vectors, scale = latent(weights, min(DIMENSIONS, max(count - 1, 1)))
    of_examples = weights[examples]
    core = core_of(of_examples)
    cosines = np.column_stack(((weights @ of_examples.T).toarray(), weights @ core))
    rows, words = unit(vectors * scale), weights.T @ (vectors / scale)
    return LatentSpace(rows, words, columns, place, idf, frequency, weights, of_examples, core, cosines)


def idf_of(frequency: Floats, pages: float, general: Floats) -> Floats:
    """Of words that so many of so many pages off the topic hold, and such a share of the GENERAL pages beside them.
    What is fetched is mostly of the topic: counted alike, its words would say less the more of them are found."""
    idf: Floats = np.log((pages + GENERAL + 1) / (frequency + GENERAL * general + 0.5))
    return idf


def core_of(examples: sp.csr_matrix) -> Floats:
    """The geometric mean of the examples' weights, its CORE heaviest words; of length 1. Each example alone has much
    that is beside the topic."""
    lifted = examples.copy()
    lifted.data = np.log1p(lifted.data / UNSHARED)
    mean = np.expm1(np.asarray(lifted.mean(axis=0)).ravel())
    if len(mean) > CORE:
        mean[np.argpartition(-mean, CORE)[CORE:]] = 0.0
    return unit_or_zero(mean)


def latent(weights: sp.csr_matrix, size: int) -> tuple[Floats, Floats]:
    """Left singular vectors as columns, largest first, and their values. Of many pages only the wanted ones are
    looked for: all of them would take pages^3 steps and pages^2 of memory."""
    if weights.shape[0] > MAX_AT_ONCE and weights.shape[1] <= size:  # of few words there are no more
        vectors, scale, _ = np.linalg.svd(weights.toarray(), full_matrices=False)
        return vectors, np.maximum(scale, 1e-5)
    if weights.shape[0] > MAX_AT_ONCE:
        vectors, scale, _ = svds(weights, k=size, v0=np.ones(min(weights.shape)))
        return vectors[:, ::-1], np.maximum(scale[::-1], 1e-5)
    values, vectors = np.linalg.eigh((weights @ weights.T).toarray())
    return vectors[:, : -1 - size : -1], np.sqrt(np.maximum(values[: -1 - size : -1], 1e-9))


@dataclass(frozen=True)
class Folded:
    """A page that came after the space was made.

    latent   (dimensions,) float64    its place in it, of length 1
    cosines  (examples + 1,) float64  by tf.idf, as `LatentSpace.cosines`
    """

    latent: Floats
    cosines: Floats


def folded(space: LatentSpace, bag: tuple[Ints, Floats]) -> Folded:
    """A later page's words in the space."""
    ids, counts = bag
    known = ids < len(space.place)
    ids, counts = ids[known], counts[known]
    shown = space.place[ids] >= 0
    places, weights = space.place[ids[shown]], counts[shown] * space.idf[ids[shown]]
    row = np.zeros(len(space.columns))
    row[places] = unit_or_zero(weights)
    return Folded(
        unit_or_zero(weights @ space.words.take(places, axis=0)), np.append(space.examples @ row, space.core @ row)
    )


def rocchio(space: LatentSpace, examples: Ints, name: Floats) -> TopicVerdict:
    """Rocchio: the query drawn toward what is most like it, some rounds. `examples` are pages, `name` says of
    each word how much it is one of the name."""
    start = query_of(space, examples, name)
    others = np.setdiff1d(np.arange(len(space.pages)), examples)
    verdict, relevance = verdict_of(space, start, examples)
    for _ in range(FEEDBACK_ROUNDS):
        taken = relevance[others] ** 2
        drawn = start + (taken @ space.pages[others]) / max(float(taken.sum()), 1.0)
        verdict, relevance = verdict_of(space, drawn, examples)
    return verdict


def query_of(space: LatentSpace, examples: Ints, name: Floats) -> Floats:
    """The core, with the words of the name to a half; the examples' mean where they hold no word."""
    core, named = space.core @ space.words, (name * space.idf)[space.columns] @ space.words
    query: Floats = unit_or_zero(core) + NAME_SHARE * unit_or_zero(named)
    return query if query.any() else space.pages[examples].mean(axis=0)


def verdict_of(space: LatentSpace, direction: Floats, examples: Ints) -> tuple[TopicVerdict, Floats]:
    """Relevance rises from the page in the middle (most pages are off topic) to the examples' mean."""
    along = space.pages @ direction
    verdict = TopicVerdict(direction, float(np.median(along)), float(along[examples].mean()))
    relevance = verdict.relevance(space.pages)
    relevance[examples] = 1.0
    return verdict, relevance


def scaled(values: Floats, low: float, high: float) -> Floats:
    """`low` is 0, `high` 1."""
    along: Floats = (values - low) / max(high - low, 1e-6)
    return along


def unit(rows: Floats) -> Floats:
    """Rows of length 1."""
    scaled_rows: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return scaled_rows


def unit_or_zero(vector: Floats) -> Floats:
    """A vector of length 1, or the zero vector."""
    found: Floats = vector / (float(np.linalg.norm(vector)) + 1e-9)
    return found


def unit_rows(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """The same for a sparse matrix."""
    lengths: NDArray[np.float64] = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return (sp.diags(1 / np.maximum(lengths, 1e-9)) @ matrix).tocsr()
