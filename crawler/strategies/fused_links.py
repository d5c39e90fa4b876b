"""What speaks for an address that was not fetched: the features of `fused`, by node, from the links that lead to it.

    share       of relevance in the pages that link to it           (co-citation; Zhou's description, Wu's parent)
    support     how much relevance links to it, as ln(1 + sum)
    terms       its best anchor along the topic's terms             (Zhou's anchor, Zhang's child vector)
    latent      its best anchor along the verdict, in latent space
    context     the text around its links in latent space, on average
    words       how relevant the pages are that hold its anchors' words
    hub         how its sources' other links turned out
    path        how relevant the pages fetched from the same host and path are

Each is centred and scaled over the frontier of the last look, so that their sum is a fair first guess.
"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from crawler.strategies.fused_judge import Space
from crawler.strategies.fused_memory import Floats, Ints, Memory

FEATURES = ("share", "support", "terms", "latent", "context", "words", "hub", "path")
CONTRAST = 0.5  # of the other pages' terms, subtracted from the topic's
LEAST, MOST = -4.0, 6.0  # standard deviations that a feature can say


@dataclass
class WordScores:
    """What each word says of the topic, as of the last look; idf of all words."""

    idf: Floats
    terms: Floats
    latent: Floats
    relevance: Floats
    base: float  # mean relevance of the fetched pages


@dataclass
class LinkTexts:
    """Four numbers a link: anchor by terms, anchor and context in latent space, anchor's words by relevance."""

    values: Floats = field(default_factory=lambda: np.zeros((1024, 4)))

    def set(self, links: slice, rows: Floats) -> None:
        """Keep the numbers of these links."""
        while links.stop > len(self.values):
            self.values = np.vstack((self.values, np.zeros_like(self.values)))
        self.values[links] = rows


def word_scores(space: Space, relevance: Floats) -> WordScores:
    """What the judged pages teach about words. `relevance` is of the space's pages."""
    base = float(relevance.mean())
    count = len(space.idf)
    for_topic = space.weights.T @ (relevance / max(float(relevance.sum()), 1.0))
    against = space.weights.T @ ((1 - relevance) / max(float((1 - relevance).sum()), 1.0))
    terms = np.maximum(for_topic - CONTRAST * against, 0.0)
    mean = relevance @ space.pages
    latent = space.words @ (mean / max(float(np.linalg.norm(mean)), 1e-9))
    holds = space.weights.copy()
    holds.data[:] = 1.0
    shown = (holds.T @ relevance + 2 * base) / (space.frequency[space.columns] + 2)
    return WordScores(
        space.idf,
        spread(terms / max(float(np.linalg.norm(terms)), 1e-9), space.columns, count, 0.0),
        spread(latent, space.columns, count, 0.0),
        spread(shown, space.columns, count, base),
        base,
    )


def spread(values: Floats, columns: Ints, count: int, other: float) -> Floats:
    """Values of the columns at their places among all words."""
    full = np.full(count, other)
    full[columns] = values
    return full


def text_scores(memory: Memory, links: slice, words: WordScores) -> Floats:
    """The four numbers of LinkTexts for some links."""
    anchors, contexts = cut(memory, memory.anchors[links], words), cut(memory, memory.contexts[links], words)
    squares = words.idf**2
    by_anchor = anchors @ np.stack((words.terms * words.idf, words.latent * words.idf, words.relevance * words.idf), 1)
    length = np.sqrt(anchors @ squares) + 1e-9
    around = (contexts @ (words.latent * words.idf)) / (np.sqrt(contexts @ squares) + 1e-9)
    shown = by_anchor[:, 2] / (anchors @ words.idf + 1e-9)
    return np.stack((by_anchor[:, 0] / length, by_anchor[:, 1] / length, around, shown), 1)


def cut(memory: Memory, parts: list[Ints], words: WordScores) -> sp.csr_matrix:
    """Links x words, without the words that came after the last look."""
    return memory.link_rows(parts)[:, : len(words.idf)]


@dataclass
class Outcomes:
    """How pages turned out, by source page and by path: relevance so far, smoothed by the mean of all."""

    hub: Floats
    by_path: dict[str, tuple[float, int]]
    base: float

    def path(self, path: str) -> float:
        """Mean relevance of the pages fetched from a host and path, drawn toward the mean of all."""
        total, count = self.by_path.get(path, (0.0, 0))
        return (total + 3 * self.base) / (count + 3)


def outcomes(memory: Memory, relevance: Floats) -> Outcomes:
    """What is known of sources and paths. `relevance` is of all pages fetched."""
    base = float(relevance.mean())
    pages = len(relevance)
    target = np.array([memory.page_of.get(node, -1) for node in memory.target], dtype=np.int64)
    source = np.array(memory.source, dtype=np.int64)
    fetched = target >= 0
    total = np.bincount(source[fetched], weights=relevance[target[fetched]], minlength=pages)
    count = np.bincount(source[fetched], minlength=pages)
    paths: dict[str, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for page, node in enumerate(memory.pages):
        path = memory.paths[node]
        paths[path] = (paths[path][0] + float(relevance[page]), paths[path][1] + 1)
    return Outcomes((total + 3 * base) / (count + 3), dict(paths), base)


def features(memory: Memory, nodes: list[int], relevance: Floats, texts: LinkTexts, known: Outcomes) -> Floats:
    """One row for each node, one column for each of FEATURES. Every node has a link that leads to it."""
    links = np.array([link for node in nodes for link in memory.into[node]], dtype=np.int64)
    sizes = np.array([len(memory.into[node]) for node in nodes])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    source = np.array([memory.source[link] for link in links], dtype=np.int64)
    of_source, text = relevance[source], texts.values[links]
    support = np.add.reduceat(of_source, starts)
    hub = np.append(known.hub, np.full(len(relevance) - len(known.hub), known.base))
    return np.stack(
        (
            (support + 2 * known.base) / (sizes + 2),
            np.log1p(support),
            np.maximum.reduceat(text[:, 0], starts),
            np.maximum.reduceat(text[:, 1], starts),
            np.add.reduceat(text[:, 2], starts) / sizes,
            np.maximum.reduceat(text[:, 3], starts),
            np.add.reduceat(hub[source], starts) / sizes,
            np.array([known.path(memory.paths[node]) for node in nodes]),
        ),
        1,
    )


@dataclass(frozen=True)
class Scale:
    """Centre and width of the features over a frontier."""

    centre: Floats
    width: Floats

    def __call__(self, rows: Floats) -> Floats:
        """The same rows in standard deviations, cut off at LEAST and MOST."""
        cut_off: Floats = np.clip((rows - self.centre) / self.width, LEAST, MOST)
        return cut_off


def scale_of(rows: Floats) -> Scale:
    """The scale of a frontier's features."""
    return Scale(rows.mean(axis=0), rows.std(axis=0) + 1e-9)
