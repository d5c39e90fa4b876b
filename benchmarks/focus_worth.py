"""Value of the pages of a topic for a user, and quality of a search over the pages that were crawled so far.

grade      of a page of the topic: 0 for a copy or almost no text of its own, otherwise 1; plus 1 if it has more citing
           pages than the topic's median page, plus 1 if more than 90% of the pages. Lists and home pages, which have no
           label, do not count as citing
question   the topic's name with a word that several titles of its pages share; those pages are the answers
search     BM25 (k1 1.2, b 0.75) over the crawled pages of the topic (the index of an ideal focused crawl). Title words
           count TITLE times; ln of the number of citing pages is added with weight AUTHORITY
ndcg       nDCG@10 with gains 2^grade - 1 (Järvelin and Kekäläinen 2002); the ideal order covers the complete web
"""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.focus_graph import Graph, Node
from benchmarks.focus_scores import mean
from crawler.focused_policy import BLOCK_TITLE as TITLE_BLOCK
from crawler.focused_policy import Words

QUESTIONS = 20  # of a topic
MIN_ANSWERS = 3  # pages whose titles share a word
DEPTH = 10  # results that are looked at
MIN_OWN = 30  # words of its own that make a page worth reading
OFTEN = 0.9  # of the topic's pages: who is cited more than these is cited often
K1, B, TITLE, AUTHORITY = 1.2, 0.75, 3, 0.3

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A query on a topic: its words, and the grade of every page of the web that answers it."""

    words: Words
    grades: Mapping[str, int]


def grades_of(graph: Graph, relevant: Collection[str]) -> dict[str, int]:
    """Return the grade of each page of a topic."""
    cited = citations(graph)
    counts = sorted(cited[url] for url in relevant)
    middle, high = (counts[min(int(part * len(counts)), len(counts) - 1)] for part in (0.5, OFTEN))
    seen: set[bytes] = set()
    grades: dict[str, int] = {}
    for url in graph.nodes:
        if url in relevant:
            own, text = own_text(graph.nodes[url])
            is_read = own >= MIN_OWN and text not in seen
            seen.add(text)
            grades[url] = is_read * (1 + (cited[url] > middle) + (cited[url] > high))
    return grades


def citations(graph: Graph) -> Counter[str]:
    """Count the labelled pages that link to each URL."""
    return Counter(link.url for node in graph.nodes.values() if node.labels for link in node.links)


def own_text(node: Node) -> tuple[int, bytes]:
    """Return the number of words outside of anchors, and a fingerprint of the text."""
    words = [word for block in node.page.blocks if block.kind != TITLE_BLOCK for word in block.words]
    anchors = sum(len(link.anchor_words) for link in node.links)
    return max(len(words) - anchors, 0), hashlib.blake2b(" ".join(words).encode()).digest()


def questions_of(graph: Graph, topic: str) -> list[Question]:
    """Build queries from words that distinguish the titles of the topic's pages from other titles."""
    relevant, name = graph.relevant(topic), graph.cut(topic)
    everywhere = Counter(word for node in graph.nodes.values() for word in set(node.page.title))
    holding: dict[str, list[str]] = defaultdict(list)
    for url in graph.nodes:
        if url in relevant:
            for word in set(graph.nodes[url].page.title) - set(name):
                holding[word].append(url)
    shared = [word for word, urls in holding.items() if len(urls) >= MIN_ANSWERS]
    best = sorted(shared, key=lambda word: (-(len(holding[word]) ** 2) / everywhere[word], word))[:QUESTIONS]
    grades = grades_of(graph, relevant)
    asked = [Question((*name, word), {url: grades[url] for url in holding[word]}) for word in best]
    return [question for question in asked if any(question.grades.values())]


class WebIndex:
    """An index of all pages of a web; a search covers a subset of them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @cached_property
    def places(self) -> dict[str, int]:
        """URL -> row."""
        return {url: place for place, url in enumerate(self.graph.nodes)}

    @cached_property
    def columns(self) -> dict[str, int]:
        """Word -> column."""
        words = dict.fromkeys(word for node in self.graph.nodes.values() for word in node.page.word_counts)
        return {word: column for column, word in enumerate(words)}

    @cached_property
    def weights(self) -> sp.csc_matrix:
        """BM25's weight of each word in each page, (pages, words) float64."""
        rows, columns, counts = [], [], []
        for place, node in enumerate(self.graph.nodes.values()):
            own = node.page.word_counts + Counter(node.page.title * (TITLE - 1))
            rows += [place] * len(own)
            columns += [self.columns[word] for word in own]
            counts += list(own.values())
        size = len(self.places), len(self.columns)
        matrix = sp.csr_matrix((np.array(counts, dtype=np.float64), (rows, columns)), shape=size)
        lengths = np.asarray(matrix.sum(axis=1)).ravel()
        holding = np.diff(matrix.tocsc().indptr)
        idf = np.log1p((size[0] - holding + 0.5) / (holding + 0.5))
        norm = np.repeat(K1 * (1 - B + B * lengths / lengths.mean()), np.diff(matrix.indptr))
        matrix.data = idf[matrix.indices] * matrix.data * (K1 + 1) / (matrix.data + norm)
        return matrix.tocsc()

    @cached_property
    def citing(self) -> sp.csr_matrix:
        """1 where a page (row) with a label links to another (column)."""
        places = self.places
        ends = [
            (places[url], places[link.url])
            for url, node in self.graph.nodes.items()
            if node.labels
            for link in node.links
        ]
        rows, columns = zip(*ends, strict=True) if ends else ((), ())
        return sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(places), len(places)))

    def found(self, words: Words, seen: NDArray[np.bool_], authority: Floats) -> list[int]:
        """Return the rows of the first DEPTH results among `seen`, (pages,) bool; `authority` is (pages,)."""
        known = [self.columns[word] for word in words if word in self.columns]
        said = np.asarray(self.weights[:, known].sum(axis=1)).ravel() * seen
        score = np.where(said > 0, said + authority, 0.0)
        best = np.argsort(-score, kind="stable")[:DEPTH]
        return [int(row) for row in best if score[row] > 0]

    def ndcg(self, questions: Sequence[Question], crawled: Collection[str]) -> float:
        """Return the mean over the queries of a topic, with the pages `crawled`."""
        seen = np.zeros(len(self.places), dtype=bool)
        seen[[self.places[url] for url in crawled]] = True
        authority = AUTHORITY * np.log1p(seen @ self.citing)
        urls = list(self.places)
        values = [
            gain([question.grades.get(urls[row], 0) for row in self.found(question.words, seen, authority)])
            / gain(sorted(question.grades.values(), reverse=True)[:DEPTH])
            for question in questions
        ]
        return mean(values)


def gain(grades: Sequence[int]) -> float:
    """Return the discounted cumulated gain of results by their grades, in order of rank."""
    return float(sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades)))
