"""Zhou's experiments on the generated web: precision on domain sites and portals (ZK-E4), by threshold (ZK-E3).

Each crawl covers one site for one topic, as in the paper. It starts from three on-topic pages of the site, which are
also the topic's examples, follows links within the site, and has a fixed number of fetches. Only texts are collected,
not link lists. The vectors are trained beforehand on the words of the complete web.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.focus_graph import SEEDS, Graph
from benchmarks.focus_replay import replay
from benchmarks.focus_scores import mean
from benchmarks.focus_site import host_of, is_portal
from benchmarks.results import Figure
from crawler.focused_policy import BLOCK_CONTENT, FocusedStrategy, TopicWords
from domain.paper_settings import ZhouKunSettings
from focused.paper_strategies.semantic import SemanticStrategy
from focused.paper_strategies.topic_knowledge import OperatorResources
from focused.paper_strategies.word_vectors import train_word_vectors

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6)
PAPERS = 0.2  # the threshold from which precision is stable
FETCHES = 100  # of a site: as many pages as a domain site has; the paper bounds time
MIN_SHARE = 0.5  # of a domain site's pages are of its topic
DIMENSIONS = 50

MakeFocus = Callable[[TopicWords, ZhouKunSettings], FocusedStrategy]


@dataclass(frozen=True)
class Sweep:
    """One crawl of a site by `semantic` with a threshold."""

    topic: str
    host: str
    draw: int
    threshold: float


@dataclass(frozen=True)
class Collected:
    """Texts that a crawl kept, and how many of them are relevant."""

    texts: int
    relevant: int


def sweeps_of(graph: Graph, topics: Sequence[str], draws: int) -> list[Sweep]:
    """Yield every threshold on every portal, and on the domain sites of each topic."""
    found: list[Sweep] = []
    for topic in topics:
        relevant = graph.relevant(topic)
        for host in dict.fromkeys(map(host_of, graph.nodes)):
            own = [url for url in graph.nodes if host_of(url) == host]
            on_topic = sum(url in relevant for url in own)
            if on_topic >= SEEDS and (is_portal(own[0]) or on_topic >= MIN_SHARE * len(own)):
                found += [Sweep(topic, host, draw, at) for draw in range(draws) for at in THRESHOLDS]
    return found


def informed(graph: Graph) -> MakeFocus:
    """`semantic` with vectors of the graph's words."""
    words = [tuple(word for block in node.page.blocks for word in block.words) for node in graph.nodes.values()]
    given = OperatorResources(vectors=train_word_vectors(words, DIMENSIONS))
    return lambda topic, settings: SemanticStrategy(topic, given, settings)


def run(graph: Graph, make: MakeFocus, sweep: Sweep) -> Collected:
    """Crawl the site and count the collected texts."""
    site, relevant = site_of(graph, sweep.host), graph.relevant(sweep.topic)
    of_topic = sorted(url for url in site.nodes if url in relevant)
    seeds = random.Random(f"{sweep.host} {sweep.draw}").sample(of_topic, SEEDS)
    topic = TopicWords(graph.cut(sweep.topic), tuple(site.nodes[url].page for url in seeds))
    kept = replay(site, make(topic, ZhouKunSettings(link_threshold=sweep.threshold)), seeds, FETCHES).kept
    texts = {url for url in kept if any(block.kind == BLOCK_CONTENT for block in site.nodes[url].page.blocks)}
    return Collected(len(texts), len(texts & relevant))


def site_of(graph: Graph, host: str) -> Graph:
    """The pages of a host, with the links between them."""
    nodes = {url: node for url, node in graph.nodes.items() if host_of(url) == host}
    inside = {
        url: replace(node, links=tuple(link for link in node.links if link.url in nodes)) for url, node in nodes.items()
    }
    return replace(graph, name=host, nodes=inside)


def curve_of(name: str, sweeps: Sequence[Sweep], collected: Sequence[Collected]) -> Iterator[Figure]:
    """Return mean precision and amount at each threshold; crawls without collected texts have no precision."""
    for threshold in THRESHOLDS:
        for hosts in ("domain", "portal"):
            own = [
                one
                for sweep, one in zip(sweeps, collected, strict=True)
                if sweep.threshold == threshold and is_portal(f"http://{sweep.host}/") == (hosts == "portal")
            ]
            precision = mean([one.relevant / one.texts for one in own if one.texts])
            yield Figure(name, "semantic", f"precision_{hosts}_above_{threshold:.2f}", precision)
            yield Figure(
                name, "semantic", f"texts_{hosts}_above_{threshold:.2f}", mean([float(one.texts) for one in own])
            )
            if threshold == PAPERS:
                yield Figure(name, "semantic", f"semantic_precision_{hosts}", precision)
