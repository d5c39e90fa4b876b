"""Ours: the promise of a link, learned while crawling, from what the three papers look at (`link_features.FEATURES`).

    page -> crawl graph -> verdict (which pages are of the topic) -> features of the frontier, weighed -> priorities

Every now and then (the more pages, the rarer) all is fitted anew: the space, the verdict, what words promise and
every priority. In between a page changes only the URLs that it links to. No label is seen: `latent_space.py` takes
the examples' word, `page_rank.py` asks who a page keeps with, `link_text.py` learns from how links turned out,
`page_features.py` and the weights take what other topics taught (`pretrained_prior.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crawler.guide import LinkWords, PageWords, Relevance, TopicWords
from focused.fused.crawl_graph import Column, CrawlGraph, Floats, Ints
from focused.fused.latent_space import rocchio, space_of
from focused.fused.link_features import (
    FEATURES,
    Known,
    LinkTexts,
    Scale,
    features,
    scale_of,
    text_scores,
    word_scores,
)
from focused.fused.link_text import link_text_model, texts_of
from focused.fused.page_features import PageClassifier, Priors, bearings_of, shipped

REFIT_EVERY, REFIT_SHARE = 8, 4  # pages between two refits: this many, or this part of all, whichever is more
KEEP = 0.4  # most F on the labels that taught
UNJUDGED = 0.5  # score of a page that comes before the first refit


@dataclass
class Refit:
    """What was made of all pages at once: it serves until the next refit. `pages` says how many they were.

    words  (words, 8) float64  what each word says of the topic (`word_scores`)
    """

    pages: int
    classifier: PageClassifier
    words: Floats
    scale: Scale | None = None  # none while the frontier is empty


class Fused:
    """The strategy `fused`. Deterministic: the same pages in the same order give the same priorities."""

    def __init__(self, topic: TopicWords, priors: Priors | None = None) -> None:
        self._topic = topic
        self._priors = priors or shipped()
        self._examples = frozenset(page.url for page in topic.examples)
        self._graph = CrawlGraph()
        self._texts = LinkTexts()
        self._bag = self._graph.bag(PageWords(""))  # of the page that is being judged
        self._relevance = Column(np.float64)  # of the pages
        self._is_example = Column(np.float64)  # of the pages
        self._changed: dict[str, float] = {}
        self._refit: Refit | None = None

    def keep(self, page: PageWords) -> Relevance:
        """Kept where it is likely enough of the topic."""
        self._bag = self._graph.bag(page)
        if page.url in self._examples:
            score = 1.0
        elif self._refit is None:
            score = UNJUDGED
        else:
            score = self._refit.classifier.first_sight(page, self._bag)
        return Relevance(keep=score >= KEEP, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Relevance, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Takes the page and its links in; the promise of each link."""
        graph = self._graph
        number = graph.add_page(page, self._bag)
        found = graph.add_links(number, links)
        self._is_example.add([float(page.url in self._examples)])
        self._relevance.add([judgement.score])
        if self._is_time_to_refit():
            self._refit_all()
        elif self._refit is not None and links:
            words = self._refit.words
            self._texts.set(found, text_scores(texts_of(graph, found, len(words)), words))
            targets = dict.fromkeys(graph.target.values[found].tolist())
            self._score(self._refit, [node for node in targets if graph.page_of.values[node] < 0])
        return [self._changed.get(link.url, 0.0) for link in links]

    def learn(self, page: PageWords, judgement: Relevance) -> None:
        """Nothing beyond `link_priorities`: a page teaches by its words and links together."""

    def rescored(self) -> Mapping[str, float]:
        """The priorities that changed since the last call."""
        changed, self._changed = self._changed, {}
        return changed

    def parts(self, url: str) -> list[tuple[str, float, float]]:
        """What the priority of a URL is the sum of: feature, its value in standard deviations of the frontier, its
        weight. Empty where it has none."""
        node, refit = self._graph.nodes.get(url), self._refit
        if node is None or refit is None or refit.scale is None or not self._graph.into[node]:
            return []
        values = refit.scale(self._features(refit, [node]))[0].tolist()
        return list(zip(FEATURES, values, self._priors.link.relative.tolist(), strict=True))

    def _is_time_to_refit(self) -> bool:
        pages = len(self._graph.pages)
        if self._refit is None:
            return pages >= max(len(self._examples), 1)
        return pages >= self._refit.pages + max(REFIT_EVERY, self._refit.pages // REFIT_SHARE)

    def _refit_all(self) -> None:
        """Look at everything anew."""
        graph = self._graph
        examples, name = self._known_of_topic()
        space = space_of(graph, examples, self._relevance.values)
        pages = PageClassifier(
            graph, bearings_of(graph, space, rocchio(space, examples, name), examples, name), self._priors
        )
        relevance = self._relevance.values
        relevance[:] = pages.relevance
        every = slice(0, len(graph.source.values))
        texts = texts_of(graph, every, len(graph.words))
        words = word_scores(space, relevance, name, link_text_model(graph, texts, space, relevance))
        refit = Refit(len(graph.pages), pages, words)
        self._texts.set(every, text_scores(texts, words))
        frontier = graph.frontier()
        rows = self._features(refit, frontier) if frontier else np.zeros((0, len(FEATURES)))
        if frontier:
            refit.scale = scale_of(rows)
            self._take(frontier, refit.scale(rows))
        self._refitted(refit, frontier, rows)

    def _refitted(self, refit: Refit, frontier: list[int], rows: Floats) -> None:
        """A refit is done: `rows` are the features of the frontier's nodes."""
        self._refit = refit

    def _known_of_topic(self) -> tuple[Ints, Floats]:
        """The pages that are examples (the first page where there is none), and what part of the topic's terms each
        word is."""
        examples, words, terms = np.flatnonzero(self._is_example.values), self._graph.words, self._topic.terms
        known = [words[term] for term in terms if term in words]
        name = np.zeros(len(words))
        name[known] = 1 / max(len(known), 1)
        return examples if len(examples) else np.zeros(1, dtype=np.int64), name

    def _features(self, refit: Refit, nodes: list[int]) -> Floats:
        known = Known(
            self._graph, self._texts, self._relevance.values, refit.classifier.company, self._is_example.values
        )
        return features(known, nodes)

    def _score(self, refit: Refit, nodes: list[int]) -> None:
        if nodes and refit.scale is not None:
            self._take(nodes, refit.scale(self._features(refit, nodes)))

    def _take(self, nodes: list[int], rows: Floats) -> None:
        """Prioritise these nodes by what speaks for them."""
        scores = (rows @ self._priors.link.relative).tolist()
        self._changed.update(zip((self._graph.urls[node] for node in nodes), scores, strict=True))
