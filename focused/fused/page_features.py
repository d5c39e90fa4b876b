"""Which fetched pages are of the topic: what speaks for each, weighed as other topics have taught (`py`).

    feedback                          how far it lies between the middle page and the examples (`latent_space.py`)
    least_example, terms              cosine with the examples: the least in latent space, the mean by tf.idf
    core                              cosine with the words that the examples have in common
    name_title, name_text             the words of the topic's name in its title, in its text
    length, sources, depth            distinct words, pages that link to it, steps from a seed
    degree, targets                   links that it has, to pages that were fetched
    example_links                     the URLs it links to: cosine with those of the examples

    near                              how relevant the fetched pages most like it are
    siblings                          how the other links of the pages that link to it turned out
    walk, walk_share                  how often walks from relevant pages come past it (`page_rank.py`)

A page is judged by the first ones alone, then by all of them: its company has been judged by then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from crawler.guide import PageWords
from focused.fused.crawl_graph import CrawlGraph, Floats, Ints, summed
from focused.fused.latent_space import LatentSpace, TopicVerdict, folded, scaled, unit_or_zero
from focused.fused.link_features import FEATURES, Scale, scale_of
from focused.fused.page_rank import PageRank, of_known, page_rank_of, step_of
from focused.fused.pretrained_prior import Prior, read_prior

OF_LINKS = ("degree", "targets", "example_links")
OWN = (
    "feedback",
    "least_example",
    "terms",
    "core",
    "name_title",
    "name_text",
    "length",
    "sources",
    "depth",
    *OF_LINKS,
)
PAGE_FEATURES = (*OWN, "near", "siblings", "walk", "walk_share")
FIRST_SIGHT = tuple(name for name in PAGE_FEATURES if name not in OF_LINKS)
NEIGHBOURS = 20
AT_ONCE = 1000  # pages that are compared with all others
SHARPNESS = 2  # power of a neighbour's cosine
SELDOM = 1e-3  # visits that make no difference


@dataclass(frozen=True)
class Bearings:
    """What the words of pages are measured by, as of a look: `examples` are pages, `name` says what part of the topic's
    terms each word is."""

    space: LatentSpace
    verdict: TopicVerdict
    examples: Ints
    name: Floats
    rarity: Floats
    example_links: Floats


def bearings_of(
    memory: CrawlGraph, space: LatentSpace, verdict: TopicVerdict, examples: Ints, name: Floats
) -> Bearings:
    """Bearings of the pages of a look. `rarity` weighs a URL by how few pages link to it, `example_links` says how
    much linking to it is like the examples."""
    count = len(memory.urls)
    source, target = memory.source.values, memory.target.values
    rarity = np.log((len(memory.pages) + 1) / np.maximum(np.bincount(target, minlength=count), 1))
    of_examples = summed(target, np.isin(source, examples).astype(np.float64), count) * rarity
    return Bearings(space, verdict, examples, name, rarity, unit_or_zero(of_examples))


@dataclass(frozen=True)
class Subjects:
    """The pages to be judged: their latent rows, cosines by tf.idf with each example and with their core, words,
    titles, and the pages most like each; `into` are the links that lead to each, `out` those that it has as far as that
    is known, `nodes` their URLs (past the last: new), `numbers` which pages of the look they are (-1: none)."""

    latent: Floats
    by_terms: Floats
    words: Sequence[tuple[Ints, Floats]]
    titles: Sequence[Ints]
    like: "Like"
    into: "Gathered"
    out: "Gathered"
    nodes: Ints
    numbers: Ints
    depths: Floats


def own_rows(memory: CrawlGraph, bearings: Bearings, pages: Subjects) -> Floats:
    """Pages x OWN."""
    target = memory.target.values[pages.out.items]
    rarity = bearings.rarity[target]
    like_examples = pages.latent @ bearings.space.pages[bearings.examples].T
    columns = (
        scaled(pages.latent @ bearings.verdict.direction, bearings.verdict.low, bearings.verdict.high),
        like_examples.min(axis=1),
        pages.by_terms[:, :-1].mean(axis=1),
        pages.by_terms[:, -1],
        *named(bearings.name, pages),
        np.log1p([len(ids) for ids, _ in pages.words]),
        np.log1p(pages.into.sizes),
        pages.depths,
        np.log1p(pages.out.sizes),
        np.log1p(pages.out.total((memory.page_of.values[target] >= 0).astype(np.float64))),
        pages.out.total(rarity * bearings.example_links[target]) / (np.sqrt(pages.out.total(rarity**2)) + 1e-9),
    )
    return np.stack(columns, 1)


def company_rows(memory: CrawlGraph, company: PageRank, pages: Subjects) -> Floats:
    """Pages x what company says."""
    sources, owner = memory.source.values[pages.into.items], pages.into.owner
    was_there = pages.numbers >= 0
    own = np.where(was_there, company.relevance[pages.numbers], 0.0)
    siblings = company.hub_without(sources, own[owner], was_there[owner].astype(np.float64))
    columns = (
        pages.like.mean(company.relevance),
        (pages.into.total(siblings) + company.base) / (pages.into.sizes + 1),
        np.log(company.visits_of(pages.nodes) + SELDOM),
        company.share_of(pages.nodes),
    )
    return np.stack(columns, 1)


def named(name: Floats, pages: Subjects) -> tuple[Floats, Floats]:
    """The share of the name's words that a title holds; how often they stand in the text, 1 + ln of it. `name` says of
    each word how much it is like one of them."""
    titles, words = joined(pages.titles), joined([ids for ids, _ in pages.words])
    counts = np.concatenate([counts for _, counts in pages.words])
    return titles.total(of_known(name, titles.items, 0.0)), words.total(counts * of_known(name, words.items, 0.0))


@dataclass(frozen=True)
class Like:
    """The pages of a look that are most like each of some, and how much."""

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
    """The weights of pages by themselves, of pages with their company, of pages that were just fetched, and of links
    (their features are relative only)."""

    own: Prior
    page: Prior
    first_sight: Prior
    link: Prior


def shipped() -> Priors:
    """Those of data/fused_prior.json."""
    return Priors(
        read_prior("own", OWN),
        read_prior("page", PAGE_FEATURES),
        read_prior("first_sight", PAGE_FEATURES),
        read_prior("link", FEATURES),
    )


class PageClassifier:
    """Judges pages as of a look.

    `relevance` is the probability of each of its pages to be of the topic, 1 for the examples, `company` what it says
    of others; `rows` are the features it was judged by, `scale` their spread.
    """

    def __init__(self, memory: CrawlGraph, bearings: Bearings, priors: Priors) -> None:
        self._memory = memory
        self._bearings = bearings
        self._priors = priors
        pages, step = self._those(), step_of(memory)
        own = own_rows(memory, bearings, pages)
        by_itself = page_rank_of(memory, step, self._found(priors.own, own, scale_of(own)))
        self.rows = np.hstack((own, company_rows(memory, by_itself, pages)))
        self.scale = scale_of(self.rows)
        self.relevance = self._found(priors.page, self.rows, self.scale)
        self.company = page_rank_of(memory, step, self.relevance)

    def first_sight(self, page: PageWords, bag: tuple[Ints, Floats]) -> float:
        """The probability of a page that was just fetched."""
        row = self.sight(page, bag)
        return float(self._priors.first_sight(row, self.scale(row))[0])

    def sight(self, page: PageWords, bag: tuple[Ints, Floats]) -> Floats:
        """The features of such a page, as one row: of its links it is not known where they lead."""
        memory, space = self._memory, self._bearings.space
        node = memory.nodes.get(page.url, len(memory.urls))
        known = node < len(memory.urls)
        number = int(memory.page_of.values[node]) if known else -1  # of a page that is read again
        numbers = np.array([number if number < len(self.relevance) else -1])
        place = folded(space, bag)
        one = Subjects(
            place.latent[None],
            place.cosines[None],
            [bag],
            [memory.distinct(page.title)],
            like(place.latent[None], space.pages, numbers),
            gathered([memory.into[node] if known else []]),
            gathered([[]]),
            np.array([node]),
            numbers,
            np.array([float(memory.depth.values[node]) if known else 0.0]),
        )
        return np.hstack((own_rows(memory, self._bearings, one), company_rows(memory, self.company, one)))

    def _found(self, prior: Prior, rows: Floats, scale: Scale) -> Floats:
        found = prior(rows, scale(rows))
        found[self._bearings.examples] = 1.0
        return found

    def _those(self) -> Subjects:
        """The pages of the look."""
        memory, space = self._memory, self._bearings.space
        nodes, numbers = np.array(memory.pages, dtype=np.int64), np.arange(len(memory.pages))
        return Subjects(
            space.pages,
            space.cosines,
            memory.page_words,
            memory.titles,
            like(space.pages, space.pages, numbers),
            gathered([memory.into[node] for node in memory.pages]),
            gathered([range(*links) for links in memory.links_of]),
            nodes,
            numbers,
            memory.depth.values[nodes].astype(np.float64),
        )
