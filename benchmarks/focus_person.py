"""The person whom the papers count on, simulated: words of the topic are confirmed before a crawl (`--confirm oracle`).

Wu's library is extended by words that somebody has confirmed, Zhang's tree is an expert's, Zhou's words are weighed by
hand. Here somebody is shown the PROPOSED words that weigh most in the examples and confirms those that tell the topic,
which is known from the labels: pages of it hold them TELLS times as often as the others do. The cost is the words that
are looked at. The baselines know what they knew.
"""

import math
from collections import Counter
from collections.abc import Sequence

from benchmarks.focus_graph import Graph
from crawler.focused_policy import PageWords
from text.background_frequencies import page_share

PROPOSED = 40
RARE = 0.0005  # of pages of general language: what is rarer is not known
TELLS = 5.0  # times as often
HOLDING = 3  # pages of the topic, at least: what stands on an example alone tells nothing of the others
ASSISTED = frozenset({"semantic", "topic_library", "semantic_tree"})


def proposed(examples: Sequence[PageWords]) -> list[str]:
    """The words of the examples that are shown, the heaviest first: by how often they stand there and how rarely in
    pages of general language, each example as a unit vector."""
    scores: Counter[str] = Counter()
    for page in examples:
        weights = {
            word: (1 + math.log(count)) * -math.log(max(page_share(word), RARE))
            for word, count in page.word_counts.items()
        }
        length = math.sqrt(sum(weight**2 for weight in weights.values()))
        for word, weight in weights.items():
            scores[word] += weight / max(length, 1e-9)  # type: ignore[assignment]
    return [word for word, _ in scores.most_common(PROPOSED)]


def confirmed(graph: Graph, relevant: frozenset[str], words: Sequence[str]) -> tuple[str, ...]:
    """Those of the words that the person takes."""
    within, outside = Counter[str](), Counter[str]()
    wanted = set(words)
    for url, node in graph.nodes.items():
        (within if url in relevant else outside).update(wanted & node.page.word_counts.keys())
    rest = max(len(graph.nodes) - len(relevant), 1)
    return tuple(
        word
        for word in words
        if within[word] >= HOLDING and within[word] / len(relevant) >= TELLS * outside[word] / rest
    )
