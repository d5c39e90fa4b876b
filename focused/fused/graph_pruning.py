"""Pruning of the crawl graph, so that `fused` stores at most MAX_PAGES pages.

A refit takes memory linear and time quadratic in the number of pages. When the limit is reached, all labelled pages and
a random sample of the others are retained. Evicted pages keep their last score, and their links keep their last
priority. The sample is random so that estimates (topic frequency, word weights) remain valid for the whole crawl. Each
pruning draws from the retained and the new pages, so the share of older pages halves each time.
"""

from collections import defaultdict
from itertools import count

import numpy as np
from numpy.typing import NDArray

from focused.fused.crawl_graph import EVICTED, NOT_FETCHED, CrawlGraph, Int64Array, expand_ranges

MAX_PAGES = 20_000
RETAINED_SHARE = 0.5  # share of MAX_PAGES that remains after pruning


def sample_pages_to_retain(is_labelled: NDArray[np.bool_], max_pages: int) -> Int64Array:
    """Return the ids of the pages to retain, ascending: all labelled pages and a random sample of the others.

    Args:
        is_labelled: (pages,) bool, True for examples and for pages labelled by a person.
        max_pages: limit of the graph; about RETAINED_SHARE of it is retained.
    """
    random = np.random.default_rng(len(is_labelled))
    unlabelled_pages = random.permutation(np.flatnonzero(~is_labelled))
    remaining = max(int(max_pages * RETAINED_SHARE) - int(is_labelled.sum()), 0)
    return np.sort(np.concatenate((np.flatnonzero(is_labelled), unlabelled_pages[:remaining])))


def extract_subgraph(graph: CrawlGraph, pages: Int64Array) -> CrawlGraph:
    """Return the graph of the given pages: their words, their links and the target nodes of these links.

    The order stays; words, nodes, pages and links get new ids.
    """
    spans = np.array([graph.page_link_ranges[page] for page in pages.tolist()], dtype=np.int64).reshape(-1, 2)
    sizes = spans[:, 1] - spans[:, 0]
    links = expand_ranges(spans[:, 0], sizes)
    page_nodes = np.array(graph.page_nodes, dtype=np.int64)[pages]
    nodes = np.unique(np.concatenate((page_nodes, graph.link_target_node.values[links])))
    new_node = renumber_ids(nodes, len(graph.node_urls))
    subgraph = CrawlGraph()
    copy_nodes(subgraph, graph, nodes)
    copy_words(subgraph, graph, pages, links)
    subgraph.page_nodes = new_node[page_nodes].tolist()
    subgraph.node_page_id.values[subgraph.page_nodes] = np.arange(len(pages))
    ends = np.cumsum(sizes)
    subgraph.page_link_ranges = list(zip((ends - sizes).tolist(), ends.tolist(), strict=True))
    subgraph.page_out_degree.extend(graph.page_out_degree.values[pages])
    subgraph.anchor_word_share.extend(graph.anchor_word_share.values[pages])
    subgraph.link_source_page.extend(np.repeat(np.arange(len(pages)), sizes))
    subgraph.link_target_node.extend(new_node[graph.link_target_node.values[links]])
    for link, node in enumerate(subgraph.link_target_node.values.tolist()):
        subgraph.incoming_links[node].append(link)
    return subgraph


def copy_nodes(subgraph: CrawlGraph, graph: CrawlGraph, nodes: Int64Array) -> None:
    """Copy nodes into an empty subgraph. Fetched nodes are marked EVICTED."""
    subgraph.node_urls = [graph.node_urls[node] for node in nodes.tolist()]
    subgraph.node_ids = {url: number for number, url in enumerate(subgraph.node_urls)}
    subgraph.node_slug_words = [graph.node_slug_words[node] for node in nodes.tolist()]
    subgraph.incoming_links = [[] for _ in subgraph.node_urls]
    subgraph.node_depth.extend(graph.node_depth.values[nodes])
    subgraph.node_page_id.extend(np.where(graph.node_page_id.values[nodes] == NOT_FETCHED, NOT_FETCHED, EVICTED))
    names = list(graph.path_ids)
    paths = [names[path] for path in graph.node_path_id.values[nodes].tolist()]
    subgraph.node_path_id.extend([subgraph.path_ids.setdefault(path, len(subgraph.path_ids)) for path in paths])


def copy_words(subgraph: CrawlGraph, graph: CrawlGraph, pages: Int64Array, links: Int64Array) -> None:
    """Copy the words of pages and links into the subgraph, with a vocabulary of only these words."""
    titles = [graph.title_word_ids[page] for page in pages.tolist()]
    bags = [graph.page_word_counts[page] for page in pages.tolist()]
    link_word_ids = graph.anchor_word_ids.unique_word_ids(links), graph.context_word_ids.unique_word_ids(links)
    words = np.unique(np.concatenate((*titles, *(ids for ids, _ in bags), *link_word_ids))).astype(np.int64)
    names = list(graph.word_ids)
    word_ids = {names[word]: number for number, word in enumerate(words.tolist())}
    subgraph.word_ids = defaultdict(count(len(words)).__next__, word_ids)
    new_word_ids = renumber_ids(words, len(names)).astype(np.int32)
    subgraph.title_word_ids = [new_word_ids[ids] for ids in titles]
    subgraph.page_word_counts = [(new_word_ids[ids], counts) for ids, counts in bags]
    subgraph.anchor_word_ids = graph.anchor_word_ids.select_remapped(links, new_word_ids)
    subgraph.context_word_ids = graph.context_word_ids.select_remapped(links, new_word_ids)


def renumber_ids(retained_ids: Int64Array, old_count: int) -> Int64Array:
    """Return the new id of each of `old_count` old ids: the index in `retained_ids`, or -1."""
    new_ids = np.full(old_count, -1, dtype=np.int64)
    new_ids[retained_ids] = np.arange(len(retained_ids))
    return new_ids
