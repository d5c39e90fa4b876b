"""What `fused` remembers: so many pages at most, whatever the crawl fetches.

Looking at everything anew takes memory by the page and time by its square, so a crawl without end must forget. A page
that is forgotten has its last verdict; what it links to keeps its last priority. Those remembered are a fair sample, so
that what is estimated of them (how frequent the topic is, what words tell) is true of all, drawn anew each time from
those that are left and those that came since: older pages grow rarer by half.
"""

from collections import defaultdict
from itertools import count

import numpy as np
from numpy.typing import NDArray

from focused.fused.crawl_graph import FORGOTTEN, NOT_FETCHED, CrawlGraph, Ints, places_of

MOST_PAGES = 20_000
SHARE_LEFT = 0.5  # of them, after forgetting


def remembered(labelled: NDArray[np.bool_], most: int) -> Ints:
    """The numbers of the pages to remember, in order: all those of which somebody said what they are, and a sample.

    labelled  (pages,) bool  examples, and pages about which a person has answered
    """
    draw = np.random.default_rng(len(labelled))
    others = draw.permutation(np.flatnonzero(~labelled))
    room = max(int(most * SHARE_LEFT) - int(labelled.sum()), 0)
    return np.sort(np.concatenate((np.flatnonzero(labelled), others[:room])))


def part_of(graph: CrawlGraph, pages: Ints) -> CrawlGraph:
    """What is left of a graph where only these pages are remembered: their words and links, and the URLs that those
    lead to. Order stays; words, URLs, pages and links have new numbers."""
    spans = np.array([graph.links_of[page] for page in pages.tolist()], dtype=np.int64).reshape(-1, 2)
    sizes = spans[:, 1] - spans[:, 0]
    links = places_of(spans[:, 0], sizes)
    fetched = np.array(graph.pages, dtype=np.int64)[pages]
    nodes = np.unique(np.concatenate((fetched, graph.target.values[links])))
    new_node = new_numbers(nodes, len(graph.urls))
    left = CrawlGraph()
    take_nodes(left, graph, nodes)
    take_words(left, graph, pages, links)
    left.pages = new_node[fetched].tolist()
    left.page_of.values[left.pages] = np.arange(len(pages))
    ends = np.cumsum(sizes)
    left.links_of = list(zip((ends - sizes).tolist(), ends.tolist(), strict=True))
    left.degree.add(graph.degree.values[pages])
    left.anchored.add(graph.anchored.values[pages])
    left.source.add(np.repeat(np.arange(len(pages)), sizes))
    left.target.add(new_node[graph.target.values[links]])
    for link, node in enumerate(left.target.values.tolist()):
        left.into[node].append(link)
    return left


def take_nodes(left: CrawlGraph, graph: CrawlGraph, nodes: Ints) -> None:
    """Into a graph that is new, these nodes of another, none of which has a page."""
    left.urls = [graph.urls[node] for node in nodes.tolist()]
    left.nodes = {url: number for number, url in enumerate(left.urls)}
    left.slugs = [graph.slugs[node] for node in nodes.tolist()]
    left.into = [[] for _ in left.urls]
    left.depth.add(graph.depth.values[nodes])
    left.page_of.add(np.where(graph.page_of.values[nodes] == NOT_FETCHED, NOT_FETCHED, FORGOTTEN))
    names = list(graph.paths)
    paths = [names[path] for path in graph.path.values[nodes].tolist()]
    left.path.add([left.paths.setdefault(path, len(left.paths)) for path in paths])


def take_words(left: CrawlGraph, graph: CrawlGraph, pages: Ints, links: Ints) -> None:
    """The same of the words of pages and links, and the vocabulary that these have."""
    titles = [graph.titles[page] for page in pages.tolist()]
    bags = [graph.page_words[page] for page in pages.tolist()]
    of_links = graph.anchors.numbers(links), graph.contexts.numbers(links)
    words = np.unique(np.concatenate((*titles, *(ids for ids, _ in bags), *of_links))).astype(np.int64)
    names = list(graph.words)
    numbered = {names[word]: number for number, word in enumerate(words.tolist())}
    left.words = defaultdict(count(len(words)).__next__, numbered)
    new = new_numbers(words, len(names)).astype(np.int32)
    left.titles = [new[ids] for ids in titles]
    left.page_words = [(new[ids], counts) for ids, counts in bags]
    left.anchors, left.contexts = graph.anchors.of(links, new), graph.contexts.of(links, new)


def new_numbers(some: Ints, before: int) -> Ints:
    """The new number of each of so many, where only `some` are left, in order: -1 for the others."""
    found = np.full(before, -1, dtype=np.int64)
    found[some] = np.arange(len(some))
    return found
