"""Crawl graph of `fused` as arrays: words of pages, and every link seen with its anchor and context words.

node   a URL, fetched or not        page   a node that was fetched, numbered in order of fetching
link   page -> node, with the word ids of its anchor and of its context
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
WordIdArray = NDArray[np.integer[Any]]  # word ids, stored as int32 to save memory
LogCountArray = NDArray[np.floating[Any]]  # 1 + ln of a word's count in a page, stored as float32

SLUG_PREFIX = "/"  # marks words that come from a URL
_SLUG_SEPARATORS = re.compile(r"[-_+%]+")
MAX_VOCABULARY = 400_000  # words; later words get no id
MAX_CONTEXT_WORDS = 40  # words of a link's context that are stored
INITIAL_CAPACITY = 1024  # rows allocated for an empty GrowingArray
NOT_FETCHED, EVICTED = -1, -2  # page ids of nodes without a page in the graph


ScalarType = TypeVar("ScalarType", bound=np.generic)


class GrowingArray(Generic[ScalarType]):
    """Array that grows by appending rows."""

    def __init__(self, dtype: type[ScalarType], row_shape: tuple[int, ...] = ()) -> None:
        self._buffer: NDArray[ScalarType] = np.zeros((INITIAL_CAPACITY, *row_shape), dtype=dtype)
        self._length = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"_buffer": self.values.copy(), "_length": self._length}

    @property
    def values(self) -> NDArray[ScalarType]:
        """View of the current rows. It is valid until the next `extend`; writing to it changes the array."""
        return self._buffer[: self._length]

    def extend(self, values: NDArray[Any] | Sequence[int] | Sequence[float]) -> None:
        """Append rows to the array."""
        end = self._length + len(values)
        if end > len(self._buffer):
            extra_rows = max(end - len(self._buffer), len(self._buffer), INITIAL_CAPACITY)
            self._buffer = np.concatenate(
                (self._buffer, np.zeros((extra_rows, *self._buffer.shape[1:]), self._buffer.dtype))
            )
        self._buffer[self._length : end] = values
        self._length = end

    def retain_rows(self, indices: Int64Array) -> None:
        """Reduce the array to the rows at `indices`, in that order."""
        retained_rows = self._buffer[: self._length][indices]
        self._buffer, self._length = retained_rows, len(retained_rows)


class LinkWordIds:
    """The distinct words of each link, as word ids in two flat arrays.

    _word_ids  (words of all links,) int32  word ids, -1 for words without an id
    _ends      (links + 1,) int64           0, then the end of each link's words in `_word_ids`
    """

    def __init__(self) -> None:
        self._word_ids = GrowingArray(np.int32)
        self._ends = GrowingArray(np.int64)
        self._ends.extend([0])

    def add(self, ids: Int64Array, sizes: Sequence[int] | Int64Array) -> None:
        """Append links.

        Args:
            ids: word ids of the links, one link after another; -1 for no word.
            sizes: number of words per link.
        """
        ends = np.cumsum(np.array([self._ends.values[-1], *sizes], dtype=np.int64))[1:]
        self._word_ids.extend(ids)
        self._ends.extend(ends)

    def select_remapped(self, links: Int64Array, new_ids: WordIdArray) -> "LinkWordIds":
        """Return the words of the given links with new ids: `new_ids[old_id]`, or -1 to drop a word."""
        starts, sizes = self._ends.values[links], self._ends.values[links + 1] - self._ends.values[links]
        ids = self._word_ids.values[expand_ranges(starts, sizes)]
        rows = LinkWordIds()
        rows.add(np.where(ids >= 0, new_ids[ids], -1), sizes)
        return rows

    def unique_word_ids(self, links: Int64Array) -> Int64Array:
        """Return the distinct word ids of the given links, ascending."""
        starts, sizes = self._ends.values[links], self._ends.values[links + 1] - self._ends.values[links]
        unique_ids = np.unique(self._word_ids.values[expand_ranges(starts, sizes)]).astype(np.int64)
        return unique_ids[unique_ids >= 0]

    def to_csr(self, links: slice, vocabulary_size: int) -> sp.csr_matrix:
        """Return a 0/1 matrix (links, vocabulary_size) of the given links. Words with higher ids are ignored."""
        ends = self._ends.values[links.start : links.stop + 1]
        ids = self._word_ids.values[ends[0] : ends[-1]]
        in_vocabulary = (ids >= 0) & (ids < vocabulary_size)
        row_offsets = np.concatenate(([0], np.cumsum(in_vocabulary)))[ends - ends[0]]
        return sp.csr_matrix(
            (np.ones(int(row_offsets[-1])), ids[in_vocabulary], row_offsets), shape=(len(ends) - 1, vocabulary_size)
        )


@dataclass
class CrawlGraph:
    """Pages, nodes and links of a crawl. It grows with every page; `graph_pruning.extract_subgraph` reduces it.

    word_ids                 word -> id
    node_ids                 URL -> node
    node_urls                (nodes,)          URL of each node
    node_slug_words          (nodes,)          words of each URL
    path_ids                 host and directory of a URL -> id
    node_path_id             (nodes,) int64    id in `path_ids`
    node_depth               (nodes,) int64    links from a seed
    node_page_id             (nodes,) int64    page, NOT_FETCHED, or EVICTED for a fetched page that was removed
    incoming_links           (nodes,)          links that lead to each node
    page_nodes               (pages,)          node of each page
    title_word_ids           (pages,)          distinct word ids of each title
    page_word_counts         (pages,)          word ids of each page, and 1 + ln of their counts
    page_link_ranges         (pages,)          first link of each page, end of its links
    page_out_degree          (pages,) int64    number of links
    anchor_word_share        (pages,) float64  share of the page's words that are in its anchors, at most 1
    link_source_page         (links,) int64    page that contains the link
    link_target_node         (links,) int64    node that the link leads to
    anchor_word_ids          (links,)          distinct words of the anchor and of the target's URL
    context_word_ids         (links,)          distinct words of the context
    _general_language_share  (words,) float64  share of general-language pages that contain the word
    """

    # A missing word gets the next id.
    word_ids: dict[str, int] = field(default_factory=lambda: defaultdict(count().__next__))
    node_ids: dict[str, int] = field(default_factory=dict)
    node_urls: list[str] = field(default_factory=list)
    node_slug_words: list[Sequence[str]] = field(default_factory=list)
    path_ids: dict[str, int] = field(default_factory=dict)
    node_path_id: GrowingArray[np.int64] = field(default_factory=partial(GrowingArray, np.int64))
    node_depth: GrowingArray[np.int64] = field(default_factory=partial(GrowingArray, np.int64))
    node_page_id: GrowingArray[np.int64] = field(default_factory=partial(GrowingArray, np.int64))
    incoming_links: list[list[int]] = field(default_factory=list)
    page_nodes: list[int] = field(default_factory=list)
    title_word_ids: list[WordIdArray] = field(default_factory=list)
    page_word_counts: list[tuple[WordIdArray, LogCountArray]] = field(default_factory=list)
    page_link_ranges: list[tuple[int, int]] = field(default_factory=list)
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
        """Return the ids of a page's own words, including those of its URL, and 1 + ln of their counts."""
        word_counts = page.own_word_counts
        slug = [word for word in split_path_and_slug(page.url)[1] if word not in word_counts]
        ids = self.get_or_add_word_ids([*word_counts, *slug])
        counts = np.ones(len(ids))
        counts[: len(word_counts)] += np.log(np.fromiter(word_counts.values(), np.float64, len(word_counts)))
        has_id = ids >= 0
        return ids[has_id], counts[has_id]

    def add_page(self, page: PageWords, bag_of_words: tuple[Int64Array, Float64Array]) -> int:
        """Add a fetched page with its words. Returns the page id."""
        [node], page_id = self.get_or_add_nodes([page.url], 0), len(self.page_nodes)
        self.node_page_id.values[node] = page_id
        self.page_nodes.append(node)
        ids, counts = bag_of_words
        self.page_word_counts.append((ids.astype(np.int32), counts.astype(np.float32)))
        self.title_word_ids.append(self.unique_word_ids(page.title).astype(np.int32))
        return page_id

    def add_links(self, page_id: int, links: Sequence[LinkWords], word_count: int = 0) -> slice:
        """Add the links of the page added last, which has `word_count` words. Returns the range of their link ids."""
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
        """Return the nodes of URLs that are `depth` links from a seed; 0 means an unknown depth."""
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
        """Return the ids of words and add new words; -1 for words that exceed MAX_VOCABULARY."""
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
        """Return the ids of the distinct words, without words that have no id."""
        ids = self.get_or_add_word_ids(list(dict.fromkeys(words)))
        return ids[ids >= 0]

    def unfetched_nodes(self) -> list[int]:
        """Return the nodes that were not fetched."""
        node_list: list[int] = np.flatnonzero(self.node_page_id.values == NOT_FETCHED).tolist()
        return node_list

    def general_language_shares(self) -> Float64Array:
        """Return for each word the share of general-language pages that contain it, (words,) float64."""
        new_words = islice(self.word_ids, len(self._general_language_share.values), None)
        self._general_language_share.extend([page_share(word.removeprefix(SLUG_PREFIX)) for word in new_words])
        return self._general_language_share.values

    def page_word_triples(self) -> tuple[Int64Array, Int64Array, Float64Array]:
        """Return page, word id and 1 + ln(count) of every word of every page, as three arrays of equal length."""
        sizes = [len(ids) for ids, _ in self.page_word_counts]
        return (
            np.repeat(np.arange(len(sizes)), sizes),
            np.concatenate([ids for ids, _ in self.page_word_counts]).astype(np.int64),
            np.concatenate([counts for _, counts in self.page_word_counts]).astype(np.float64),
        )


def expand_ranges(starts: Int64Array, sizes: Int64Array) -> Int64Array:
    """Return the concatenated indices of the ranges `start`, ..., `start + size - 1`."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(ends[-1]) if len(ends) else 0)


def sum_by_group(group_ids: Int64Array, values: Float64Array, group_count: int) -> Float64Array:
    """Return the sum of the values of each group, (group_count,) float64. `group_ids` has the group of each value."""
    return np.bincount(group_ids, weights=values, minlength=group_count).astype(np.float64)


def split_path_and_slug(url: str) -> tuple[str, list[str]]:
    """Split a URL into host with directory, and the marked words of its last segment.

    `http://a.test/a/back-up_2.html` -> `a.test/a`, [`/back`, `/up`]
    """
    parts = urlsplit(url)
    last_segment = parts.path.rstrip("/").rpartition("/")[2].partition(".")[0]
    words = [
        f"{SLUG_PREFIX}{word}"
        for word in _SLUG_SEPARATORS.split(last_segment.lower())
        if len(word) > 1 and not word.isdigit()
    ]
    return parts.netloc + parts.path.rpartition("/")[0], words
