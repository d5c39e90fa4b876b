"""Which fetched pages are of the topic: what speaks for each, weighed as other topics taught (`pretrained_prior.py`).

A page is judged by what is its own alone, then by all features: its company has been judged by then. Names and columns
come from two tables, `OWN` and `COMPANY`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from crawler.guide import PageWords
from focused.fused.crawl_graph import Counts, CrawlGraph, Floats, Ints, WordIds, summed
from focused.fused.keeping import KEEPING
from focused.fused.latent_space import LatentSpace, TopicVerdict, folded, scaled, unit_or_zero
from focused.fused.link_features import FEATURES, scale_of
from focused.fused.page_rank import PageRank, of_known, page_rank_of, step_of
from focused.fused.pretrained_prior import Prior, read_prior

NEIGHBOURS = 20
AT_ONCE = 1000  # pages that are compared with all others
SHARPNESS = 2  # power of a neighbour's cosine
SELDOM = 1e-3  # visits that make no difference


@dataclass(frozen=True)
class Bearings:
    """What the words of pages are measured by, as of a refit.

    examples       (examples,) int64  pages that are examples
    name           (words,) float64   what part of the topic's terms each word is
    rarity         (nodes,) float64   weighs a URL by how few pages link to it
    example_links  (nodes,) float64   how much linking to it is like the examples; of length 1
    """

    space: LatentSpace
    verdict: TopicVerdict
    examples: Ints
    name: Floats
    rarity: Floats
    example_links: Floats


def bearings_of(graph: CrawlGraph, space: LatentSpace, verdict: TopicVerdict, examples: Ints, name: Floats) -> Bearings:
    """Bearings of the pages of a refit."""
    count = len(graph.urls)
    source, target = graph.source.values, graph.target.values
    rarity = np.log((len(graph.pages) + 1) / np.maximum(np.bincount(target, minlength=count), 1))
    of_examples = summed(target, np.isin(source, examples).astype(np.float64), count) * rarity
    return Bearings(space, verdict, examples, name, rarity, unit_or_zero(of_examples))


@dataclass(frozen=True)
class Subjects:
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

    latent: Floats
    by_terms: Floats
    words: Sequence[tuple[WordIds, Counts]]
    titles: Sequence[WordIds]
    like: "Like"
    sources: "Gathered"
    targets: "Gathered"
    fetched: Floats
    nodes: Ints
    numbers: Ints
    depths: Floats


def feedback(pages: Subjects, by: Bearings) -> Floats:
    """How far they lie between the middle page and the examples."""
    return scaled(pages.latent @ by.verdict.direction, by.verdict.low, by.verdict.high)


def name_title(pages: Subjects, by: Bearings) -> Floats:
    """The share of the name's words that a title holds."""
    words = joined(pages.titles)
    return words.total(of_known(by.name, words.items, 0.0))


def name_text(pages: Subjects, by: Bearings) -> Floats:
    """How often the name's words stand in the text, 1 + ln of it."""
    words, counts = joined([ids for ids, _ in pages.words]), np.concatenate([counts for _, counts in pages.words])
    return words.total(counts * of_known(by.name, words.items, 0.0))


def example_links(pages: Subjects, by: Bearings) -> Floats:
    """The URLs that they link to: cosine with those of the examples."""
    rarity, like_examples = by.rarity[pages.targets.items], by.example_links[pages.targets.items]
    return pages.targets.total(rarity * like_examples) / (np.sqrt(pages.targets.total(rarity**2)) + 1e-9)


def siblings(pages: Subjects, company: PageRank) -> Floats:
    """How the other links of the pages that link to them turned out."""
    was_there, owner = pages.numbers >= 0, pages.sources.owner
    own = np.where(was_there, company.relevance[pages.numbers], 0.0)
    found = company.hub_without(pages.sources.items, own[owner], was_there[owner].astype(np.float64))
    return (pages.sources.total(found) + company.base) / (pages.sources.sizes + 1)


# Name -> column, (pages,) float64: what a page says itself.
OWN: Mapping[str, Callable[[Subjects, Bearings], Floats]] = {
    "feedback": feedback,
    # cosine with the examples: the least in latent space, the mean by tf.idf; with the words they have in common
    "least_example": lambda pages, by: (pages.latent @ by.space.pages[by.examples].T).min(axis=1),
    "terms": lambda pages, by: pages.by_terms[:, :-1].mean(axis=1),
    "core": lambda pages, by: pages.by_terms[:, -1],
    "name_title": name_title,
    "name_text": name_text,
    # distinct words, pages that link to it, steps from a seed
    "length": lambda pages, by: np.log1p([len(ids) for ids, _ in pages.words]),
    "sources": lambda pages, by: np.log1p(pages.sources.sizes),
    "depth": lambda pages, by: pages.depths,
    # links that it has, to pages that were fetched, to what the examples link to
    "degree": lambda pages, by: np.log1p(pages.targets.sizes),
    "targets": lambda pages, by: np.log1p(pages.targets.total(pages.fetched)),
    "example_links": example_links,
}
# The same: what its company says.
COMPANY: Mapping[str, Callable[[Subjects, PageRank], Floats]] = {
    # how relevant the fetched pages most like it are, and the other links of the pages that link to it
    "near": lambda pages, company: pages.like.mean(company.relevance),
    "siblings": siblings,
    # how often walks from relevant pages come past it, and what share of all walks that is (`page_rank.py`)
    "walk": lambda pages, company: np.log(company.visits_of(pages.nodes) + SELDOM),
    "walk_share": lambda pages, company: company.share_of(pages.nodes),
}
PAGE_FEATURES = (*OWN, *COMPANY)
OF_LINKS = ("degree", "targets", "example_links")
FIRST_SIGHT = tuple(name for name in PAGE_FEATURES if name not in OF_LINKS)
# What a page's links promise goes by all of that, how those of them that were fetched turned out, what share of its
# words they are made of, and what their anchors say (`promise.py`).
PROMISE = (*PAGE_FEATURES, "hub", "anchored", "anchors", "taught")
FIRST_PROMISE = tuple(name for name in PROMISE if name not in (*OF_LINKS, "hub"))  # of a page that has just come


def own_rows(pages: Subjects, bearings: Bearings) -> Floats:
    """(pages, OWN) float64."""
    return np.stack([column(pages, bearings) for column in OWN.values()], 1)


def company_rows(pages: Subjects, company: PageRank) -> Floats:
    """(pages, COMPANY) float64."""
    return np.stack([column(pages, company) for column in COMPANY.values()], 1)


@dataclass(frozen=True)
class Like:
    """The pages of a refit that are most like each of some.

    pages    (some, neighbours) int64    numbers of pages
    weights  (some, neighbours) float64  how alike they are
    """

    pages: Ints
    weights: Floats

    def mean(self, values: Floats) -> Floats:
        """The mean of their values, weighted by how alike they are."""
        found: Floats = (self.weights * values[self.pages]).sum(axis=1) / (self.weights.sum(axis=1) + 1e-6)
        return found


def like(latent: Floats, pages: Floats, numbers: Ints) -> Like:
    """The pages most like each row, a page itself left out: `numbers` says which it is, -1 for none of them. Not all
    pairs are held at a time."""
    parts = [slice(start, start + AT_ONCE) for start in range(0, len(latent), AT_ONCE)]
    found = [like_some(latent[part], pages, numbers[part]) for part in parts]
    return Like(np.vstack([pages for pages, _ in found]), np.vstack([weights for _, weights in found]))


def like_some(latent: Floats, pages: Floats, numbers: Ints) -> tuple[Ints, Floats]:
    """The same for some rows: pages, weights."""
    alike = np.maximum(latent @ pages.T, 0.0) ** SHARPNESS
    own = np.flatnonzero(numbers >= 0)
    alike[own, numbers[own]] = 0.0
    count = min(NEIGHBOURS, alike.shape[1])
    best = np.argpartition(-alike, count - 1, axis=1)[:, :count]
    return best, np.take_along_axis(alike, best, 1)


@dataclass(frozen=True)
class Gathered:
    """Items of several owners in one array.

    items  (items,) int64     numbers of whatever they are
    owner  (items,) int64     to whom each belongs
    sizes  (owners,) float64  how many each has
    """

    items: Ints
    owner: Ints
    sizes: Floats

    def at(self, values: Ints) -> "Gathered":
        """The same with the values that the items are the places of."""
        return replace(self, items=values[self.items])

    def total(self, values: Floats) -> Floats:
        """The sum of the values of each owner's items."""
        return summed(self.owner, values, len(self.sizes))


def gathered(groups: Sequence[Sequence[int]]) -> Gathered:
    """Put together; a group may be empty."""
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    items = np.fromiter(chain.from_iterable(groups), np.int64, int(sizes.sum()))
    return Gathered(items, np.repeat(np.arange(len(groups)), sizes), sizes.astype(np.float64))


def joined(groups: Sequence[WordIds]) -> Gathered:
    """The same for arrays, of which there is one at least."""
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    items = np.concatenate(groups).astype(np.int64)
    return Gathered(items, np.repeat(np.arange(len(groups)), sizes), sizes.astype(np.float64))


@dataclass(frozen=True)
class Priors:
    """The weights of pages by themselves, of pages with their company, of pages that were just fetched, of links (their
    features are relative only), of what is kept, at last and at first sight (`keeping.py`), and of what a page's links
    promise, the same (`promise.py`)."""

    own: Prior
    page: Prior
    first_sight: Prior
    link: Prior
    keeping: Prior
    first_keeping: Prior
    promise: Prior
    first_promise: Prior


def shipped() -> Priors:
    """Those of data/fused_prior.json."""
    return Priors(
        read_prior("own", tuple(OWN)),
        read_prior("page", PAGE_FEATURES),
        read_prior("first_sight", PAGE_FEATURES),
        read_prior("link", tuple(FEATURES)),
        read_prior("keeping", KEEPING),
        read_prior("first_keeping", KEEPING),
        read_prior("promise", PROMISE),
        read_prior("first_promise", PROMISE),
    )


class PageClassifier:
    """Judges pages as of a refit.

    rows       (pages, PAGE_FEATURES) float64  the features of the pages of the refit; `scale` is their spread
    said       (pages,) float64                how relevant each is by its features
    relevance  (pages,) float64                the same, and what is known of pages of which there is a label; `company`
                                               is what it says of others
    """

    def __init__(self, graph: CrawlGraph, bearings: Bearings, priors: Priors, labels: Mapping[int, float]) -> None:
        self._graph = graph
        self._bearings = bearings
        self._priors = priors
        self._labels = labels
        pages, step = self._those(), step_of(graph)
        own = own_rows(pages, bearings)
        by_itself = page_rank_of(graph, step, self._with_labels(priors.own(own, scale_of(own)(own))))
        self.rows = np.hstack((own, company_rows(pages, by_itself)))
        self.scale = scale_of(self.rows)
        self.said = priors.page(self.rows, self.scale(self.rows))
        self.relevance = self._with_labels(self.said)
        self.company = page_rank_of(graph, step, self.relevance)

    @property
    def space(self) -> LatentSpace:
        """That of the pages of the refit."""
        return self._bearings.space

    def sight(self, page: PageWords, bag: tuple[Ints, Floats]) -> Floats:
        """The features of a page that was just fetched, as one row: of its links it is not known where they lead."""
        graph, space = self._graph, self._bearings.space
        node = graph.nodes.get(page.url, len(graph.urls))
        known = node < len(graph.urls)
        number = int(graph.page_of.values[node]) if known else -1  # of a page that is read again
        numbers = np.array([number if number < len(self.relevance) else -1])
        place = folded(space, bag)
        one = Subjects(
            place.latent[None],
            place.cosines[None],
            [bag],
            [graph.distinct(page.title)],
            like(place.latent[None], space.pages, numbers),
            gathered([graph.into[node] if known else []]).at(graph.source.values),
            gathered([[]]),
            np.zeros(0),
            np.array([node]),
            numbers,
            np.array([float(graph.depth.values[node]) if known else 0.0]),
        )
        return np.hstack((own_rows(one, self._bearings), company_rows(one, self.company)))

    def _with_labels(self, said: Floats) -> Floats:
        found = said.copy()
        found[list(self._labels)] = list(self._labels.values())
        return found

    def _those(self) -> Subjects:
        """The pages of the refit."""
        graph, space = self._graph, self._bearings.space
        nodes, numbers = np.array(graph.pages, dtype=np.int64), np.arange(len(graph.pages))
        targets = gathered([range(*links) for links in graph.links_of]).at(graph.target.values)
        return Subjects(
            space.pages,
            space.cosines,
            graph.page_words,
            graph.titles,
            like(space.pages, space.pages, numbers),
            gathered([graph.into[node] for node in graph.pages]).at(graph.source.values),
            targets,
            (graph.page_of.values[targets.items] >= 0).astype(np.float64),
            nodes,
            numbers,
            graph.depth.values[nodes].astype(np.float64),
        )
