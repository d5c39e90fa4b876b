"""What `fused` remembers of a crawl, as arrays: words of pages, and every link seen with the words in and around it.

node   an address, fetched or not        page   a node that was fetched, numbered in order of fetching
link   page -> node, with the numbers of its anchor's and its context's words
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from crawler.strategies.focus import LinkWords, PageWords

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PARTS = re.compile(r"[-_+%]+")
MOST_WORDS = 400_000  # of the vocabulary: words first met later are not told apart
MOST_LINK_WORDS = 40  # of a link's context


@dataclass
class Memory:
    """Grows with every page; nothing is forgotten but the order of a page's words."""

    words: dict[str, int] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    urls: list[str] = field(default_factory=list)  # of the nodes
    paths: list[str] = field(default_factory=list)  # of the nodes: host and directory
    page_of: dict[int, int] = field(default_factory=dict)  # node -> page
    pages: list[int] = field(default_factory=list)  # page -> node
    page_words: list[tuple[Ints, Floats]] = field(default_factory=list)  # word numbers, 1 + ln of their counts
    out_degree: list[int] = field(default_factory=list)  # of the pages
    source: list[int] = field(default_factory=list)  # of the links: page
    target: list[int] = field(default_factory=list)  # of the links: node
    anchors: list[Ints] = field(default_factory=list)
    contexts: list[Ints] = field(default_factory=list)
    into: list[list[int]] = field(default_factory=list)  # node -> links that lead to it

    def bag(self, page: PageWords) -> tuple[Ints, Floats]:
        """The numbers of a page's words, its address' among them, and 1 + ln of their counts."""
        slug = [word for word in slug_words(page.url) if word not in page.counts]
        ids = self.numbers([*page.counts, *slug])
        counts = np.ones(len(ids))
        counts[: len(page.counts)] += np.log(np.fromiter(page.counts.values(), np.float64, len(page.counts)))
        known = ids >= 0
        return ids[known], counts[known]

    def add_page(self, url: str, bag: tuple[Ints, Floats]) -> int:
        """Take a fetched page with its words; its number."""
        node, number = self.node(url), len(self.pages)
        self.page_of[node] = number
        self.pages.append(node)
        self.page_words.append(bag)
        self.out_degree.append(0)
        return number

    def add_links(self, page: int, links: Sequence[LinkWords]) -> range:
        """Take the links of a page; their numbers."""
        first = len(self.source)
        for link in links:
            node = self.node(link.url)
            self.into[node].append(len(self.source))
            self.source.append(page)
            self.target.append(node)
            self.anchors.append(self._distinct((*link.anchor, *slug_words(link.url))))
            self.contexts.append(self._distinct(link.context[:MOST_LINK_WORDS]))
        self.out_degree[page] += len(links)
        return range(first, len(self.source))

    def node(self, url: str) -> int:
        """The number of an address."""
        number = self.nodes.setdefault(url, len(self.urls))
        if number == len(self.urls):
            self.urls.append(url)
            self.paths.append(path_of(url))
            self.into.append([])
        return number

    def numbers(self, words: Sequence[str]) -> Ints:
        """The numbers of words, new ones taken in; -1 for those that the vocabulary has no room for."""
        known, room = self.words, len(self.words) < MOST_WORDS
        found = [known.setdefault(word, len(known)) if room else known.get(word, -1) for word in words]
        return np.array(found, dtype=np.int64)

    def frontier(self) -> list[int]:
        """The nodes that were not fetched."""
        return [node for node in range(len(self.urls)) if node not in self.page_of]

    def document_frequency(self) -> Floats:
        """In how many pages each word stands."""
        ids = np.concatenate([ids for ids, _ in self.page_words])
        return np.bincount(ids, minlength=len(self.words)).astype(np.float64)

    def link_rows(self, parts: Sequence[Ints]) -> sp.csr_matrix:
        """Word lists of links (`anchors` or `contexts`) as a 0/1 matrix, links x words."""
        starts = np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int64)
        ids = np.concatenate([*parts, np.empty(0, dtype=np.int64)])
        return sp.csr_matrix((np.ones(len(ids)), ids, starts), shape=(len(parts), len(self.words)))

    def _distinct(self, words: Sequence[str]) -> Ints:
        ids = self.numbers(list(dict.fromkeys(words)))
        return ids[ids >= 0]


def path_of(url: str) -> str:
    """Host and directory of an address."""
    parts = urlsplit(url)
    return parts.netloc + parts.path.rpartition("/")[0]


def slug_words(url: str) -> list[str]:
    """The words of an address' last part, marked as such: `/a/back-up_2.html` -> `/back`, `/up`."""
    name = urlsplit(url).path.rstrip("/").rpartition("/")[2].partition(".")[0]
    return [f"/{word}" for word in _PARTS.split(name.lower()) if len(word) > 1 and not word.isdigit()]
