"""What `fused` remembers of a crawl, as arrays: words of pages, and every link seen with the words in and around it.

node   a URL, fetched or not        page   a node that was fetched, numbered in order of fetching
link   page -> node, with the numbers of its anchor's and its context's words
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice, repeat
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from crawler.guide import LinkWords, PageWords
from text.general_language import of_pages

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WordIds = NDArray[np.integer[Any]]  # numbers of words: kept as int32, there are many
Counts = NDArray[np.floating[Any]]  # 1 + ln of how often a word stands there: kept as float32

SLUG = "/"  # marks the words of a URL
_PARTS = re.compile(r"[-_+%]+")
MAX_WORDS = 400_000  # of the vocabulary: words first met later are not told apart
MAX_LINK_WORDS = 40  # of a link's context
ROOM = 1024  # of a column at first
NOT_FETCHED, FORGOTTEN = -1, -2  # where a node has no page


Number = TypeVar("Number", bound=np.generic)


class Column(Generic[Number]):
    """An array that grows at its end."""

    def __init__(self, kind: type[Number], width: tuple[int, ...] = ()) -> None:
        self._room: NDArray[Number] = np.zeros((ROOM, *width), dtype=kind)
        self._count = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"_room": self.values.copy(), "_count": self._count}

    @property
    def values(self) -> NDArray[Number]:
        """What was added, as a view: good until the next addition, and what is written to it stays."""
        return self._room[: self._count]

    def add(self, values: NDArray[Any] | Sequence[int] | Sequence[float]) -> None:
        """Put at the end."""
        end = self._count + len(values)
        if end > len(self._room):
            more = max(end - len(self._room), len(self._room), ROOM)
            self._room = np.concatenate((self._room, np.zeros((more, *self._room.shape[1:]), self._room.dtype)))
        self._room[self._count : end] = values
        self._count = end

    def keep(self, places: Ints) -> None:
        """Only what is at these places, in their order."""
        some = self._room[: self._count][places]
        self._room, self._count = some, len(some)


class WordRows:
    """The distinct words of each link, as numbers.

    _ids   (words of all links,) int32  numbers of words, -1 for none
    _ends  (links + 1,) int64           where each link's words end, after a 0
    """

    def __init__(self) -> None:
        self._ids = Column(np.int32)
        self._ends = Column(np.int64)
        self._ends.add([0])

    def add(self, ids: Ints, sizes: Sequence[int] | Ints) -> None:
        """Those of the next links one after another, and how many each has; -1 is no word."""
        ends = np.cumsum(np.array([self._ends.values[-1], *sizes], dtype=np.int64))[1:]
        self._ids.add(ids)
        self._ends.add(ends)

    def of(self, links: Ints, new: WordIds) -> "WordRows":
        """Those of some links; `new` is each word's number there, -1 for none."""
        starts, sizes = self._ends.values[links], self._ends.values[links + 1] - self._ends.values[links]
        ids = self._ids.values[places_of(starts, sizes)]
        rows = WordRows()
        rows.add(np.where(ids >= 0, new[ids], -1), sizes)
        return rows

    def numbers(self, links: Ints) -> Ints:
        """The words of some links, each once."""
        starts, sizes = self._ends.values[links], self._ends.values[links + 1] - self._ends.values[links]
        found = np.unique(self._ids.values[places_of(starts, sizes)]).astype(np.int64)
        return found[found >= 0]

    def matrix(self, links: slice, width: int) -> sp.csr_matrix:
        """A 0/1 matrix of these links, links x words; words numbered `width` or higher are left out."""
        ends = self._ends.values[links.start : links.stop + 1]
        ids = self._ids.values[ends[0] : ends[-1]]
        known = (ids >= 0) & (ids < width)
        places = np.concatenate(([0], np.cumsum(known)))[ends - ends[0]]
        return sp.csr_matrix((np.ones(int(places[-1])), ids[known], places), shape=(len(ends) - 1, width))


@dataclass
class CrawlGraph:
    """Grows with every page, whose words it takes without their order. `memory.part_of` is what is left of some pages.

    path      (nodes,) int64    number in `paths`
    depth     (nodes,) int64    steps from a seed
    page_of   (nodes,) int64    page, NOT_FETCHED, or FORGOTTEN for one that was fetched
    degree    (pages,) int64    how many links it has
    anchored  (pages,) float64  what share of its words its links are made of
    source    (links,) int64    page that it is on
    target    (links,) int64    node that it leads to
    _general  (words,) float64  share of pages of general language that hold it
    """

    words: dict[str, int] = field(default_factory=lambda: defaultdict(count().__next__))  # a new one: the next number
    nodes: dict[str, int] = field(default_factory=dict)
    urls: list[str] = field(default_factory=list)  # of the nodes
    slugs: list[Sequence[str]] = field(default_factory=list)  # of the nodes: words of the URL
    paths: dict[str, int] = field(default_factory=dict)  # host and directory -> number
    path: Column[np.int64] = field(default_factory=partial(Column, np.int64))
    depth: Column[np.int64] = field(default_factory=partial(Column, np.int64))
    page_of: Column[np.int64] = field(default_factory=partial(Column, np.int64))
    into: list[list[int]] = field(default_factory=list)  # of the nodes: links that lead there
    pages: list[int] = field(default_factory=list)  # page -> node
    titles: list[WordIds] = field(default_factory=list)  # of the pages: (words,), distinct
    page_words: list[tuple[WordIds, Counts]] = field(default_factory=list)  # of the pages: (words,) each
    links_of: list[tuple[int, int]] = field(default_factory=list)  # of the pages: first link, one after the last
    degree: Column[np.int64] = field(default_factory=partial(Column, np.int64))
    anchored: Column[np.float64] = field(default_factory=partial(Column, np.float64))
    source: Column[np.int64] = field(default_factory=partial(Column, np.int64))
    target: Column[np.int64] = field(default_factory=partial(Column, np.int64))
    anchors: WordRows = field(default_factory=WordRows)
    contexts: WordRows = field(default_factory=WordRows)
    _general: Column[np.float64] = field(default_factory=partial(Column, np.float64))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"words": dict(self.words)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.words = defaultdict(count(len(self.words)).__next__, self.words)

    def bag(self, page: PageWords) -> tuple[Ints, Floats]:
        """The numbers of a page's own words, its URL' among them, and 1 + ln of their counts."""
        own = page.own_counts
        slug = [word for word in path_and_slug(page.url)[1] if word not in own]
        ids = self.numbers([*own, *slug])
        counts = np.ones(len(ids))
        counts[: len(own)] += np.log(np.fromiter(own.values(), np.float64, len(own)))
        known = ids >= 0
        return ids[known], counts[known]

    def add_page(self, page: PageWords, bag: tuple[Ints, Floats]) -> int:
        """Take a fetched page with its words; its number."""
        [node], number = self.nodes_of([page.url], 0), len(self.pages)
        self.page_of.values[node] = number
        self.pages.append(node)
        ids, counts = bag
        self.page_words.append((ids.astype(np.int32), counts.astype(np.float32)))
        self.titles.append(self.distinct(page.title).astype(np.int32))
        return number

    def add_links(self, page: int, links: Sequence[LinkWords], words: int = 0) -> slice:
        """Take the links of a page of so many words, which is the last that was added; their numbers."""
        first, depth = len(self.source.values), int(self.depth.values[self.pages[page]]) + 1
        nodes = self.nodes_of([link.url for link in links], depth)
        for number, node in enumerate(nodes, first):
            self.into[node].append(number)
        anchors = [(*link.anchor, *self.slugs[node]) for link, node in zip(links, nodes, strict=True)]
        self._add_words(self.anchors, anchors)
        self._add_words(self.contexts, [link.context[:MAX_LINK_WORDS] for link in links])
        self.source.add([page] * len(links))
        self.target.add(nodes)
        self.links_of.append((first, first + len(links)))
        self.degree.add([len(links)])
        self.anchored.add([min(sum(len(link.anchor) for link in links) / max(words, 1), 1.0)])
        return slice(first, first + len(links))

    def _add_words(self, rows: WordRows, texts: Sequence[Sequence[str]]) -> None:
        distinct = [dict.fromkeys(text) for text in texts]
        rows.add(self.numbers([word for words in distinct for word in words]), [len(words) for words in distinct])

    def nodes_of(self, urls: Sequence[str], depth: int) -> list[int]:
        """The numbers of URLs that were met so many steps from a seed; 0 where that is not known."""
        known = self.nodes
        new = [url for url in dict.fromkeys(urls) if url not in known]
        known.update(zip(new, range(len(known), len(known) + len(new)), strict=True))
        parts = [path_and_slug(url) for url in new]
        self.urls += new
        self.slugs += [slug for _, slug in parts]
        self.path.add([self.paths.setdefault(path, len(self.paths)) for path, _ in parts])
        self.into += [[] for _ in new]
        self.depth.add([depth] * len(new))
        self.page_of.add([NOT_FETCHED] * len(new))
        nodes = [known[url] for url in urls]
        if depth:
            self.depth.values[nodes] = np.minimum(self.depth.values[nodes], depth)
        return nodes

    def numbers(self, words: Sequence[str]) -> Ints:
        """The numbers of words, new ones taken in; -1 for those that the vocabulary has no room for."""
        known = self.words
        if len(known) + len(words) <= MAX_WORDS:
            return np.fromiter(map(known.__getitem__, words), np.int64, len(words))
        found = np.fromiter(map(known.get, words, repeat(-1)), np.int64, len(words))
        for place in np.flatnonzero(found < 0).tolist() if len(known) < MAX_WORDS else ():
            found[place] = known[words[place]] if len(known) < MAX_WORDS else known.get(words[place], -1)
        return found

    def distinct(self, words: Sequence[str]) -> Ints:
        """The numbers of the different words among some."""
        ids = self.numbers(list(dict.fromkeys(words)))
        return ids[ids >= 0]

    def frontier(self) -> list[int]:
        """The nodes that were not fetched."""
        found: list[int] = np.flatnonzero(self.page_of.values == NOT_FETCHED).tolist()
        return found

    def general_pages(self) -> Floats:
        """What share of pages of general language hold each word."""
        new = islice(self.words, len(self._general.values), None)
        self._general.add([of_pages(word.removeprefix(SLUG)) for word in new])
        return self._general.values

    def held(self) -> tuple[Ints, Ints, Floats]:
        """Every word that a page holds, (words of all pages,) each: the page, the word, 1 + ln of its count there."""
        sizes = [len(ids) for ids, _ in self.page_words]
        return (
            np.repeat(np.arange(len(sizes)), sizes),
            np.concatenate([ids for ids, _ in self.page_words]).astype(np.int64),
            np.concatenate([counts for _, counts in self.page_words]).astype(np.float64),
        )


def places_of(starts: Ints, sizes: Ints) -> Ints:
    """Of runs of places, all of them one run after another."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(ends[-1]) if len(ends) else 0)


def summed(owner: Ints, values: Floats, count: int) -> Floats:
    """The sum of the values of each of `count` owners, (count,) float64; `owner` and `values` are of equal length."""
    return np.bincount(owner, weights=values, minlength=count).astype(np.float64)


def path_and_slug(url: str) -> tuple[str, list[str]]:
    """Host and directory of a URL; the words of its last part, marked as such: `/a/back-up_2.html` -> `/back`,
    `/up`."""
    parts = urlsplit(url)
    name = parts.path.rstrip("/").rpartition("/")[2].partition(".")[0]
    words = [f"{SLUG}{word}" for word in _PARTS.split(name.lower()) if len(word) > 1 and not word.isdigit()]
    return parts.netloc + parts.path.rpartition("/")[0], words
