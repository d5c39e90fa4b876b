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

from crawler.focused_policy import LinkWords, PageWords
from text.background_frequencies import page_share

Float64Array = NDArray[np.float64]
Int64Array = NDArray[np.int64]
WordIdArray = NDArray[np.integer[Any]]  # numbers of words: kept as int32, there are many
LogCountArray = NDArray[np.floating[Any]]  # 1 + ln of how often a word stands there: kept as float32

SLUG_PREFIX = "/"  # marks the words of a URL
_SLUG_SEPARATORS = re.compile(r"[-_+%]+")
MAX_VOCABULARY = 400_000  # of the vocabulary: words first met later are not told apart
MAX_CONTEXT_WORDS = 40  # of a link's context
INITIAL_CAPACITY = 1024  # of a column at first
NOT_FETCHED, EVICTED = -1, -2  # where a node has no page


ScalarType = TypeVar("ScalarType", bound=np.generic)


class GrowingArray(Generic[ScalarType]):
    """An array that grows at its end."""

    def __init__(self, dtype: type[ScalarType], row_shape: tuple[int, ...] = ()) -> None:
        self._buffer: NDArray[ScalarType] = np.zeros((INITIAL_CAPACITY, *row_shape), dtype=dtype)
        self._length = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"_buffer": self.values.copy(), "_length": self._length}

    @property
    def values(self) -> NDArray[ScalarType]:
        """What was added, as a view: good until the next addition, and what is written to it stays."""
        return self._buffer[: self._length]

    def extend(self, values: NDArray[Any] | Sequence[int] | Sequence[float]) -> None:
        """Put at the end."""
        end = self._length + len(values)
        if end > len(self._buffer):
            extra_rows = max(end - len(self._buffer), len(self._buffer), INITIAL_CAPACITY)
            self._buffer = np.concatenate(
                (self._buffer, np.zeros((extra_rows, *self._buffer.shape[1:]), self._buffer.dtype))
            )
        self._buffer[self._length : end] = values
        self._length = end

    def retain_rows(self, indices: Int64Array) -> None:
        """Only what is at these places, in their order."""
        retained_rows = self._buffer[: self._length][indices]
        self._buffer, self._length = retained_rows, len(retained_rows)


class LinkWordIds:
    """The distinct words of each link, as numbers.

    _ids   (words of all links,) int32  numbers of words, -1 for none
    _ends  (links + 1,) int64           where each link's words end, after a 0
    """

    def __init__(self) -> None:
        self._word_ids = GrowingArray(np.int32)
        self._ends = GrowingArray(np.int64)
        self._ends.extend([0])

    def add(self, ids: Int64Array, sizes: Sequence[int] | Int64Array) -> None:
        """Those of the next links one after another, and how many each has; -1 is no word."""
        ends = np.cumsum(np.array([self._ends.values[-1], *sizes], dtype=np.int64))[1:]
        self._word_ids.extend(ids)
        self._ends.extend(ends)

    def select_remapped(self, links: Int64Array, new_ids: WordIdArray) -> "LinkWordIds":
        """Those of some links; `new_ids` is each word's number there, -1 for none."""
        starts, sizes = self._ends.values[links], self._ends.values[links + 1] - self._ends.values[links]
        ids = self._word_ids.values[expand_ranges(starts, sizes)]
        rows = LinkWordIds()
        rows.add(np.where(ids >= 0, new_ids[ids], -1), sizes)
        return rows

    def unique_word_ids(self, links: Int64Array) -> Int64Array:
        """The words of some links, each once."""
        starts, sizes = self._ends.values[links], self._ends.values[links + 1] - self._ends.values[links]
        unique_ids = np.unique(self._word_ids.values[expand_ranges(starts, sizes)]).astype(np.int64)
        return unique_ids[unique_ids >= 0]

    def to_csr(self, links: slice, vocabulary_size: int) -> sp.csr_matrix:
        """A 0/1 matrix of these links, links x words; words numbered `vocabulary_size` or higher are left out."""
        ends = self._ends.values[links.start : links.stop + 1]
        ids = self._word_ids.values[ends[0] : ends[-1]]
        in_vocabulary = (ids >= 0) & (ids < vocabulary_size)
        row_offsets = np.concatenate(([0], np.cumsum(in_vocabulary)))[ends - ends[0]]
        return sp.csr_matrix(
            (np.ones(int(row_offsets[-1])), ids[in_vocabulary], row_offsets), shape=(len(ends) - 1, vocabulary_size)
        )


@dataclass
class CrawlGraph:
    """Grows with every page, whose words it takes without their order. `memory.extract_subgraph` is what is left of some pages.

    path      (nodes,) int64    number in `path_ids`
    depth     (nodes,) int64    steps from a seed
    page_of   (nodes,) int64    page, NOT_FETCHED, or FORGOTTEN for one that was fetched
    degree    (pages,) int64    how many links it has
    anchored  (pages,) float64  what share of its words its links are made of
    source    (links,) int64    page that it is on
    target    (links,) int64    node that it leads to
    _general  (words,) float64  share of pages of general language that hold it
    """

    word_ids: dict[str, int] = field(
        default_factory=lambda: defaultdict(count().__next__)
    )  # a new one: the next number
    node_ids: dict[str, int] = field(default_factory=dict)
    node_urls: list[str] = field(default_factory=list)  # of the nodes
    node_slug_words: list[Sequence[str]] = field(default_factory=list)  # of the nodes: words of the URL
    path_ids: dict[str, int] = field(default_factory=dict)  # host and directory -> number
    node_path_id: GrowingArray[np.int64] = field(default_factory=partial(GrowingArray, np.int64))
    node_depth: GrowingArray[np.int64] = field(default_factory=partial(GrowingArray, np.int64))
    node_page_id: GrowingArray[np.int64] = field(default_factory=partial(GrowingArray, np.int64))
    incoming_links: list[list[int]] = field(default_factory=list)  # of the nodes: links that lead there
    page_nodes: list[int] = field(default_factory=list)  # page -> node
    title_word_ids: list[WordIdArray] = field(default_factory=list)  # of the pages: (words,), distinct
    page_word_counts: list[tuple[WordIdArray, LogCountArray]] = field(
        default_factory=list
    )  # of the pages: (words,) each
    page_link_ranges: list[tuple[int, int]] = field(
        default_factory=list
    )  # of the pages: first link, one after the last
    page_out_degree: GrowingArray[np.int64] = field(default_factory=partial(GrowingArray, np.int64))
    anchor_word_share: GrowingArray[np.float64] = field(default_factory=partial(GrowingArray, np.float64))
    link_source_page: GrowingArray[np.int64] = field(default_factory=partial(GrowingArray, np.int64))
    link_target_node: GrowingArray[np.int64] = field(default_factory=partial(GrowingArray, np.int64))
    anchor_word_ids: LinkWordIds = field(default_factory=LinkWordIds)
    context_word_ids: LinkWordIds = field(default_factory=LinkWordIds)
    _general_language_share: GrowingArray[np.float64] = field(default_factory=partial(GrowingArray, np.float64))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"word_ids": dict(self.word_ids)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.word_ids = defaultdict(count(len(self.word_ids)).__next__, self.word_ids)

    def bag_of_words(self, page: PageWords) -> tuple[Int64Array, Float64Array]:
        """The numbers of a page's own words, its URL' among them, and 1 + ln of their counts."""
        word_counts = page.own_word_counts
        slug = [word for word in split_path_and_slug(page.url)[1] if word not in word_counts]
        ids = self.get_or_add_word_ids([*word_counts, *slug])
        counts = np.ones(len(ids))
        counts[: len(word_counts)] += np.log(np.fromiter(word_counts.values(), np.float64, len(word_counts)))
        has_id = ids >= 0
        return ids[has_id], counts[has_id]

    def add_page(self, page: PageWords, bag_of_words: tuple[Int64Array, Float64Array]) -> int:
        """Take a fetched page with its words; its number."""
        [node], page_id = self.get_or_add_nodes([page.url], 0), len(self.page_nodes)
        self.node_page_id.values[node] = page_id
        self.page_nodes.append(node)
        ids, counts = bag_of_words
        self.page_word_counts.append((ids.astype(np.int32), counts.astype(np.float32)))
        self.title_word_ids.append(self.unique_word_ids(page.title).astype(np.int32))
        return page_id

    def add_links(self, page_id: int, links: Sequence[LinkWords], word_count: int = 0) -> slice:
        """Take the links of a page of so many words, which is the last that was added; their numbers."""
        first, depth = len(self.link_source_page.values), int(self.node_depth.values[self.page_nodes[page_id]]) + 1
        nodes = self.get_or_add_nodes([link.url for link in links], depth)
        for link_id, node in enumerate(nodes, first):
            self.incoming_links[node].append(link_id)
        anchors = [(*link.anchor_words, *self.node_slug_words[node]) for link, node in zip(links, nodes, strict=True)]
        self._append_distinct_words(self.anchor_word_ids, anchors)
        self._append_distinct_words(self.context_word_ids, [link.context_words[:MAX_CONTEXT_WORDS] for link in links])
        self.link_source_page.extend([page_id] * len(links))
        self.link_target_node.extend(nodes)
        self.page_link_ranges.append((first, first + len(links)))
        self.page_out_degree.extend([len(links)])
        self.anchor_word_share.extend([min(sum(len(link.anchor_words) for link in links) / max(word_count, 1), 1.0)])
        return slice(first, first + len(links))

    def _append_distinct_words(self, link_words: LinkWordIds, texts: Sequence[Sequence[str]]) -> None:
        distinct = [dict.fromkeys(text) for text in texts]
        link_words.add(
            self.get_or_add_word_ids([word for words in distinct for word in words]), [len(words) for words in distinct]
        )

    def get_or_add_nodes(self, urls: Sequence[str], depth: int) -> list[int]:
        """The numbers of URLs that were met so many steps from a seed; 0 where that is not known."""
        node_ids = self.node_ids
        new_urls = [url for url in dict.fromkeys(urls) if url not in node_ids]
        node_ids.update(zip(new_urls, range(len(node_ids), len(node_ids) + len(new_urls)), strict=True))
        path_slug_pairs = [split_path_and_slug(url) for url in new_urls]
        self.node_urls += new_urls
        self.node_slug_words += [slug for _, slug in path_slug_pairs]
        self.node_path_id.extend([self.path_ids.setdefault(path, len(self.path_ids)) for path, _ in path_slug_pairs])
        self.incoming_links += [[] for _ in new_urls]
        self.node_depth.extend([depth] * len(new_urls))
        self.node_page_id.extend([NOT_FETCHED] * len(new_urls))
        nodes = [node_ids[url] for url in urls]
        if depth:
            self.node_depth.values[nodes] = np.minimum(self.node_depth.values[nodes], depth)
        return nodes

    def get_or_add_word_ids(self, words: Sequence[str]) -> Int64Array:
        """The numbers of words, new ones taken in; -1 for those that the vocabulary has no room for."""
        word_ids = self.word_ids
        if len(word_ids) + len(words) <= MAX_VOCABULARY:
            return np.fromiter(map(word_ids.__getitem__, words), np.int64, len(words))
        ids = np.fromiter(map(word_ids.get, words, repeat(-1)), np.int64, len(words))
        for position in np.flatnonzero(ids < 0).tolist() if len(word_ids) < MAX_VOCABULARY else ():
            ids[position] = (
                word_ids[words[position]] if len(word_ids) < MAX_VOCABULARY else word_ids.get(words[position], -1)
            )
        return ids

    def unique_word_ids(self, words: Sequence[str]) -> Int64Array:
        """The numbers of the different words among some."""
        ids = self.get_or_add_word_ids(list(dict.fromkeys(words)))
        return ids[ids >= 0]

    def unfetched_nodes(self) -> list[int]:
        """The nodes that were not fetched."""
        node_list: list[int] = np.flatnonzero(self.node_page_id.values == NOT_FETCHED).tolist()
        return node_list

    def general_language_shares(self) -> Float64Array:
        """What share of pages of general language hold each word."""
        new_words = islice(self.word_ids, len(self._general_language_share.values), None)
        self._general_language_share.extend([page_share(word.removeprefix(SLUG_PREFIX)) for word in new_words])
        return self._general_language_share.values

    def page_word_triples(self) -> tuple[Int64Array, Int64Array, Float64Array]:
        """Every word that a page holds, (words of all pages,) each: the page, the word, 1 + ln of its count there."""
        sizes = [len(ids) for ids, _ in self.page_word_counts]
        return (
            np.repeat(np.arange(len(sizes)), sizes),
            np.concatenate([ids for ids, _ in self.page_word_counts]).astype(np.int64),
            np.concatenate([counts for _, counts in self.page_word_counts]).astype(np.float64),
        )


def expand_ranges(starts: Int64Array, sizes: Int64Array) -> Int64Array:
    """Of runs of places, all of them one run after another."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(ends[-1]) if len(ends) else 0)


def sum_by_group(group_ids: Int64Array, values: Float64Array, group_count: int) -> Float64Array:
    """The sum of the values of each of `group_count` owners, (count,) float64; `group_ids` and `values` are of equal length."""
    return np.bincount(group_ids, weights=values, minlength=group_count).astype(np.float64)


def split_path_and_slug(url: str) -> tuple[str, list[str]]:
    """Host and directory of a URL; the words of its last part, marked as such: `/a/back-up_2.html` -> `/back`,
    `/up`."""
    parts = urlsplit(url)
    last_segment = parts.path.rstrip("/").rpartition("/")[2].partition(".")[0]
    words = [
        f"{SLUG_PREFIX}{word}"
        for word in _SLUG_SEPARATORS.split(last_segment.lower())
        if len(word) > 1 and not word.isdigit()
    ]
    return parts.netloc + parts.path.rpartition("/")[0], words
