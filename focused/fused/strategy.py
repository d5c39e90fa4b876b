"""Ours: the promise of a link, learned while crawling, from what the three papers look at (`fused_links.FEATURES`).

    page -> memory -> verdict (which pages are of the topic) -> features of the frontier, weighed -> priorities

Every now and then (the more pages, the rarer) all is looked at anew: the space, the verdict, what words promise and
every priority. In between a page changes only the URLs that it links to. No label is seen: `latent_space.py` takes
the examples' word, `page_rank.py` asks who a page keeps with, `link_text.py` learns from how links turned out,
`page_features.py` and the weights take what other topics taught (`pretrained_prior.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crawler.guide import LinkWords, PageWords, TopicWords
from crawler.strategy import Relevance
from focused.fused.crawl_graph import Column, CrawlGraph, Floats, Ints
from focused.fused.latent_space import judge, space_of
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
from focused.fused.link_text import taught, texts_of
from focused.fused.page_features import PageClassifier, Priors, bearings_of, shipped

LOOK_EVERY, LOOK_SHARE = 8, 4  # pages between two looks: this many, or this part of all, whichever is more
KEEP = 0.4  # most F on the labels that taught
UNJUDGED = 0.5  # score of a page that comes before the first look


@dataclass
class Look:
    """What was made of all pages at once: it serves until the next look. `pages` says how many they were."""

    pages: int
    judge: PageClassifier
    words: Floats  # `word_scores`
    scale: Scale | None = None  # none while the frontier is empty


class Fused:
    """The strategy `fused`. Deterministic: the same pages in the same order give the same priorities."""

    def __init__(self, topic: TopicWords, priors: Priors | None = None) -> None:
        self._topic = topic
        self._priors = priors or shipped()
        self._examples = frozenset(page.url for page in topic.examples)
        self._memory = CrawlGraph()
        self._texts = LinkTexts()
        self._bag = self._memory.bag(PageWords(""))  # of the page that is being judged
        self._relevance = Column(np.float64)  # of the pages
        self._is_example = Column(np.float64)  # of the pages
        self._changed: dict[str, float] = {}
        self._look: Look | None = None

    def keep(self, page: PageWords) -> Relevance:
        """Kept where it is likely enough of the topic."""
        self._bag = self._memory.bag(page)
        if page.url in self._examples:
            score = 1.0
        elif self._look is None:
            score = UNJUDGED
        else:
            score = self._look.judge.first_sight(page, self._bag)
        return Relevance(keep=score >= KEEP, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Relevance, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Takes the page and its links in; the promise of each link."""
        memory = self._memory
        number = memory.add_page(page, self._bag)
        found = memory.add_links(number, links)
        self._is_example.add([float(page.url in self._examples)])
        self._relevance.add([judgement.score])
        if self._is_time_to_look():
            self._look_again()
        elif self._look is not None and links:
            words = self._look.words
            self._texts.set(found, text_scores(texts_of(memory, found, len(words)), words))
            targets = dict.fromkeys(memory.target.values[found].tolist())
            self._score(self._look, [node for node in targets if memory.page_of.values[node] < 0])
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
        node, look = self._memory.nodes.get(url), self._look
        if node is None or look is None or look.scale is None or not self._memory.into[node]:
            return []
        values = look.scale(self._features(look, [node]))[0].tolist()
        return list(zip(FEATURES, values, self._priors.link.relative.tolist(), strict=True))

    def _is_time_to_look(self) -> bool:
        pages = len(self._memory.pages)
        if self._look is None:
            return pages >= max(len(self._examples), 1)
        return pages >= self._look.pages + max(LOOK_EVERY, self._look.pages // LOOK_SHARE)

    def _look_again(self) -> None:
        """Look at everything anew."""
        memory = self._memory
        examples, name = self._known_of_topic()
        space = space_of(memory, examples, self._relevance.values)
        pages = PageClassifier(
            memory, bearings_of(memory, space, judge(space, examples, name), examples, name), self._priors
        )
        relevance = self._relevance.values
        relevance[:] = pages.relevance
        every = slice(0, len(memory.source.values))
        texts = texts_of(memory, every, len(memory.words))
        words = word_scores(space, relevance, name, taught(memory, texts, space, relevance))
        look = Look(len(memory.pages), pages, words)
        self._texts.set(every, text_scores(texts, words))
        frontier = memory.frontier()
        rows = self._features(look, frontier) if frontier else np.zeros((0, len(FEATURES)))
        if frontier:
            look.scale = scale_of(rows)
            self._take(frontier, look.scale(rows))
        self._looked(look, frontier, rows)

    def _looked(self, look: Look, frontier: list[int], rows: Floats) -> None:
        """A look is done: `rows` are the features of the frontier's nodes."""
        self._look = look

    def _known_of_topic(self) -> tuple[Ints, Floats]:
        """The pages that are examples (the first page where there is none), and what part of the topic's terms each
        word is."""
        examples, words, terms = np.flatnonzero(self._is_example.values), self._memory.words, self._topic.terms
        known = [words[term] for term in terms if term in words]
        name = np.zeros(len(words))
        name[known] = 1 / max(len(known), 1)
        return examples if len(examples) else np.zeros(1, dtype=np.int64), name

    def _features(self, look: Look, nodes: list[int]) -> Floats:
        known = Known(self._memory, self._texts, self._relevance.values, look.judge.company, self._is_example.values)
        return features(known, nodes)

    def _score(self, look: Look, nodes: list[int]) -> None:
        if nodes and look.scale is not None:
            self._take(nodes, look.scale(self._features(look, nodes)))

    def _take(self, nodes: list[int], rows: Floats) -> None:
        """Prioritise these nodes by what speaks for them."""
        scores = (rows @ self._priors.link.relative).tolist()
        self._changed.update(zip((self._memory.urls[node] for node in nodes), scores, strict=True))
