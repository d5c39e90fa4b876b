"""What speaks for a fetched page being of the topic: the features of `fused`'s judge, which a prior weighs.

    feedback, regression, cut         how far it lies between the middle page and the examples, by two directions
    example, least_example, terms     cosine with the examples: mean and least in latent space, mean by tf.idf
    name_title, name_text             the words of the topic's name in its title, in its text
    near                              how relevant the fetched pages most like it are
    from_pages, sources               relevance of the pages that link to it, and how many they are
    length, depth                     distinct words, steps from a seed
    to_pages, targets, degree         the same for the fetched pages it links to, and how many links it has
    company, example_company          the addresses it links to: those of relevant pages, those of the examples

The last six need its links: a page is judged without them while it is kept or not, and with them once they are known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from crawler.strategies.focus import PageWords
from crawler.strategies.fused_judge import Space, Verdict, folded, scaled, unit_or_zero
from crawler.strategies.fused_links import FEATURES, Scale, scale_of
from crawler.strategies.fused_memory import Column, Floats, Ints, Memory
from crawler.strategies.fused_prior import Prior, read_prior

FIRST_SIGHT = (
    "feedback",
    "regression",
    "cut",
    "example",
    "least_example",
    "terms",
    "name_title",
    "name_text",
    "near",
    "from_pages",
    "sources",
    "length",
    "depth",
)
WITH_LINKS = ("to_pages", "targets", "degree", "company", "example_company")
PAGE_FEATURES = (*FIRST_SIGHT, *WITH_LINKS)
NEIGHBOURS = 12
AT_ONCE = 1000  # pages that are compared with all others
SHARPNESS = 4  # power of a neighbour's cosine
SMOOTHING = 2.0  # pages of mean relevance that a share is drawn toward


@dataclass(frozen=True)
class Bearings:
    """What pages are measured by, as of a look: `relevance` is the verdict's, of the pages that were there.

    `company` and `example_company` say of each node how much linking to it is like relevant pages, like the examples;
    `rarity` weighs a node by how few pages link to it.
    """

    space: Space
    feedback: Verdict
    verdict: Verdict
    examples: Ints
    name: Ints
    relevance: Floats
    base: float
    rarity: Floats
    company: Floats
    example_company: Floats


def bearings_of(
    memory: Memory, space: Space, verdicts: tuple[Verdict, Verdict], examples: Ints, name: Ints, relevance: Floats
) -> Bearings:
    """Bearings of the pages of a look; `verdicts` by feedback and by regression."""
    count = len(memory.urls)
    source, target = memory.source.values, memory.target.values
    rarity = np.log((len(memory.pages) + 1) / np.maximum(np.bincount(target, minlength=count), 1))
    worth = relevance[source] / np.sqrt(np.maximum(np.bincount(source, minlength=len(relevance))[source], 1))
    linked = summed(target, worth, count) * rarity
    of_examples = summed(target, np.isin(source, examples).astype(np.float64), count) * rarity
    return Bearings(
        space,
        *verdicts,
        examples,
        name,
        relevance,
        float(relevance.mean()),
        rarity,
        unit_or_zero(linked),
        unit_or_zero(of_examples),
    )


@dataclass(frozen=True)
class Subjects:
    """The pages to be judged: their latent rows, cosines by tf.idf with each example, words, and numbers.

    `numbers` is -1 for a page that is not in the memory yet; `into` are the links that lead to each, `depths` their
    steps from a seed.
    """

    latent: Floats
    by_terms: Floats
    words: Sequence[tuple[Ints, Floats]]
    titles: Sequence[Ints]
    numbers: Ints
    into: Sequence[Sequence[int]]
    depths: Floats


def page_rows(memory: Memory, bearings: Bearings, pages: Subjects, relevance: Floats) -> Floats:
    """Pages x FIRST_SIGHT. `relevance` is the verdict's, of all pages fetched."""
    base = bearings.base
    like_examples = pages.latent @ bearings.space.pages[bearings.examples].T
    along = scaled_by(bearings.verdict, pages.latent)
    sources = gathered(pages.into)
    support = sources.total(relevance[memory.source.values[sources.items]])
    columns = (
        scaled_by(bearings.feedback, pages.latent),
        along,
        np.clip(along, 0.0, 1.0),
        like_examples.mean(axis=1),
        like_examples.min(axis=1),
        pages.by_terms.mean(axis=1),
        *named(bearings.name, pages),
        near(bearings, pages),
        (support + SMOOTHING * base) / (sources.sizes + SMOOTHING),
        np.log1p(sources.sizes),
        np.log1p([len(ids) for ids, _ in pages.words]),
        pages.depths,
    )
    return np.stack(columns, 1)


def link_columns(memory: Memory, bearings: Bearings, numbers: Sequence[int], relevance: Floats) -> Floats:
    """Pages x WITH_LINKS, for pages whose links are in the memory."""
    links = gathered([range(*memory.links_of[number]) for number in numbers])
    target = memory.target.values[links.items]
    page = memory.page_of.values[target]
    fetched = page >= 0
    found = links.total(fetched.astype(float))
    support = links.total(np.where(fetched, relevance[page], 0.0))
    known = np.minimum(target, len(bearings.rarity) - 1)
    rarity = np.where(target < len(bearings.rarity), bearings.rarity[known], 0.0)
    length = np.sqrt(links.total(rarity**2)) + 1e-9
    columns = (
        (support + SMOOTHING * bearings.base) / (found + SMOOTHING),
        np.log1p(found),
        np.log1p(links.sizes),
        links.total(rarity * bearings.company[known]) / length,
        links.total(rarity * bearings.example_company[known]) / length,
    )
    return np.stack(columns, 1)


def scaled_by(verdict: Verdict, latent: Floats) -> Floats:
    """Where the rows lie between the verdict's marks, not cut off."""
    return scaled(latent @ verdict.direction, verdict.low, verdict.high)


def named(name: Ints, pages: Subjects) -> tuple[Floats, Floats]:
    """The share of the name's words that a title holds; how often they stand in the text, 1 + ln of it."""
    titles, words = joined(pages.titles), joined([ids for ids, _ in pages.words])
    counts = np.concatenate([counts for _, counts in pages.words])
    held = titles.total(np.isin(titles.items, name).astype(float))
    said = words.total(np.where(np.isin(words.items, name), counts, 0.0))
    return held / max(len(name), 1), said / max(len(name), 1)


def near(bearings: Bearings, pages: Subjects) -> Floats:
    """The mean relevance of the pages most like each, itself left out, weighted by how alike they are."""
    parts = range(0, len(pages.latent), AT_ONCE)
    return np.concatenate([near_some(bearings, pages, slice(start, start + AT_ONCE)) for start in parts])


def near_some(bearings: Bearings, pages: Subjects, some: slice) -> Floats:
    """The same for some of the pages: not all pairs are held at a time."""
    alike = np.maximum(pages.latent[some] @ bearings.space.pages.T, 0.0) ** SHARPNESS
    numbers = pages.numbers[some]
    own = np.flatnonzero((numbers >= 0) & (numbers < alike.shape[1]))
    alike[own, numbers[own]] = 0.0
    count = min(NEIGHBOURS, alike.shape[1])
    best = np.argpartition(-alike, count - 1, axis=1)[:, :count]
    weight = np.take_along_axis(alike, best, 1)
    mean: Floats = (weight * bearings.relevance[best]).sum(axis=1) / (weight.sum(axis=1) + 1e-6)
    return mean


def summed(owner: Ints, values: Floats, count: int) -> Floats:
    """The sum of the values of each of `count` owners."""
    return np.bincount(owner, weights=values, minlength=count).astype(np.float64)


@dataclass(frozen=True)
class Gathered:
    """Items of several owners in one array: `owner` of each, and how many each has."""

    items: Ints
    owner: Ints
    sizes: Floats

    def total(self, values: Floats) -> Floats:
        """The sum of the values of each owner's items."""
        return summed(self.owner, values, len(self.sizes))


def gathered(groups: Sequence[Sequence[int]]) -> Gathered:
    """Put together; a group may be empty."""
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    items = np.fromiter(chain.from_iterable(groups), np.int64, int(sizes.sum()))
    return Gathered(items, np.repeat(np.arange(len(groups)), sizes), sizes.astype(np.float64))


def joined(groups: Sequence[Ints]) -> Gathered:
    """The same for arrays, of which there is one at least."""
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    return Gathered(np.concatenate(groups), np.repeat(np.arange(len(groups)), sizes), sizes.astype(np.float64))


@dataclass(frozen=True)
class Priors:
    """The weights of pages with and without what their links say, and of links (their features are relative only)."""

    page: Prior
    first_sight: Prior
    link: Prior


def shipped() -> Priors:
    """Those of data/fused_prior.json."""
    return Priors(
        read_prior("page", PAGE_FEATURES), read_prior("first_sight", FIRST_SIGHT), read_prior("link", FEATURES)
    )


@dataclass(frozen=True)
class Sight:
    """A page as first seen: its words, its features without its links, the verdict's relevance."""

    bag: tuple[Ints, Floats]
    row: Floats
    relevance: float


class PageJudge:
    """Judges pages as of a look. `rows` has the features of the pages it was made from, `scale` their spread."""

    def __init__(self, memory: Memory, bearings: Bearings, priors: Priors) -> None:
        self._memory = memory
        self._bearings = bearings
        self._priors = priors
        self._last: Sight | None = None  # of the page that was looked at last
        self._relevance = Column(np.float64)  # the verdict's, of the look's pages and those since
        self._relevance.add(bearings.relevance)
        count = len(memory.pages)
        self.rows = np.hstack((self._features(self._those(range(count))), self._links(range(count))))
        self.scale = scale_of(self.rows)

    def all(self) -> Floats:
        """The probability of each page of the look to be of the topic; 1 for the examples."""
        found = self._priors.page(self.rows, self.scale(self.rows))
        found[self._bearings.examples] = 1.0
        return found

    def first_sight(self, page: PageWords, bag: tuple[Ints, Floats]) -> float:
        """The probability of a page that is not in the memory yet."""
        memory = self._memory
        node = memory.nodes.get(page.url)
        into = [] if node is None else memory.into[node]
        depth = 0 if node is None else int(memory.depth.values[node])
        sight = self._last = self._seen(bag, memory.distinct(page.title), into, depth)
        scale = Scale(self.scale.centre[: len(FIRST_SIGHT)], self.scale.width[: len(FIRST_SIGHT)])
        return float(self._priors.first_sight(sight.row, scale(sight.row))[0])

    def later(self, number: int) -> float:
        """The probability of a page that came since the look, with its links."""
        memory = self._memory
        node, bag, sight = memory.pages[number], memory.page_words[number], self._last
        if sight is None or sight.bag is not bag:
            sight = self._seen(bag, memory.titles[number], memory.into[node], int(memory.depth.values[node]))
        self._relevance.add([sight.relevance])
        rows = np.hstack((sight.row, self._links([number])))
        return float(self._priors.page(rows, self.scale(rows))[0])

    def _features(self, pages: Subjects) -> Floats:
        return page_rows(self._memory, self._bearings, pages, self._relevance.values)

    def _links(self, numbers: Sequence[int]) -> Floats:
        return link_columns(self._memory, self._bearings, numbers, self._relevance.values)

    def _those(self, numbers: Sequence[int]) -> Subjects:
        """The pages of the look."""
        memory, space = self._memory, self._bearings.space
        nodes = memory.pages
        by_terms = space.cosines
        into, depths = [memory.into[node] for node in nodes], memory.depth.values[nodes].astype(np.float64)
        return Subjects(space.pages, by_terms, memory.page_words, memory.titles, np.array(numbers), into, depths)

    def _seen(self, bag: tuple[Ints, Floats], title: Ints, into: Sequence[int], depth: int) -> Sight:
        """A page that is not of the look."""
        place = folded(self._bearings.space, bag)
        latent, by_terms = place.latent[None], place.cosines[None]
        one = Subjects(latent, by_terms, [bag], [title], np.array([-1]), [into], np.array([float(depth)]))
        return Sight(bag, self._features(one), float(self._bearings.verdict.relevance(latent)[0]))
