"""A simulated person, as the papers assume: confirms words of the topic before a crawl (`--confirm oracle`).

Wu's library is extended by confirmed words, Zhang's tree is made by an expert, Zhou's words are weighted by hand. Here
the person sees the PROPOSED words with the highest weight in the examples. The person confirms words that identify the
topic, which is known from the labels: pages of the topic contain them TELLS times as often as other pages. The cost is
the number of proposed words. The baselines get no confirmed words.
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
    """Return the proposed words of the examples, highest weight first.

    The weight combines the frequency in the examples and the rarity in general language; each example is a unit vector.
    """
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
    """Return the words that the person confirms."""
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
