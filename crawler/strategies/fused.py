"""Ours: the promise of a link, learned while crawling, from what the three papers look at (`fused_links.FEATURES`).

    page -> memory -> verdict (which pages are of the topic) -> features of the frontier -> weights -> priorities

Every now and then (the more pages, the rarer) all is looked at anew: the space, the verdict, the weights and every
priority. In between a page changes only the addresses that it links to. The verdict uses no label: `fused_judge.py`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.linear_model import Ridge

from crawler.strategies.contract import Judgement
from crawler.strategies.focus import LinkWords, PageWords, Topic
from crawler.strategies.fused_judge import Space, Verdict, folded, judge, space_of
from crawler.strategies.fused_links import (
    LinkTexts,
    Outcomes,
    Scale,
    WordScores,
    features,
    outcomes,
    scale_of,
    text_scores,
    word_scores,
)
from crawler.strategies.fused_memory import Floats, Memory

FIRST_WEIGHTS = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 1.0])  # in the order of FEATURES
LEAST_TO_LEARN = 20  # fetched links before the weights are learned
CAUTION = 60.0  # ridge penalty on leaving the first weights
LOOK_EVERY, LOOK_SHARE = 8, 8  # pages between two looks: this many, or this part of all, whichever is more
KEEP = 0.5


class Fused:
    """The strategy `fused`. Deterministic: the same pages in the same order give the same priorities."""

    def __init__(self, topic: Topic) -> None:
        self._topic = topic
        self._examples = frozenset(page.url for page in topic.examples)
        self._memory = Memory()
        self._texts = LinkTexts()
        self._bag = self._memory.bag(PageWords(""))  # of the page that is being judged
        self._relevance: list[float] = []
        self._changed: dict[str, float] = {}
        self._met: dict[int, Floats] = {}  # fetched node -> its features when it was chosen
        self._looked_at = 0
        self._space: Space | None = None
        self._verdict: Verdict | None = None
        self._words: WordScores | None = None
        self._outcomes: Outcomes | None = None
        self._scale: Scale | None = None
        self._weights = FIRST_WEIGHTS

    def keep(self, page: PageWords) -> Judgement:
        """Kept where more than KEEP of the way from the middle page to the examples."""
        self._bag = ids, counts = self._memory.bag(page)
        if page.url in self._examples:
            score = 1.0
        elif self._space is None or self._verdict is None:
            score = 0.5
        else:
            score = float(self._verdict.relevance(folded(self._space, ids, counts)[None])[0])
        return Judgement(keep=score >= KEEP, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Judgement, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Takes the page and its links in, and the promise of each link."""
        memory = self._memory
        self._meet(page.url)
        number = memory.add_page(page.url, self._bag)
        self._relevance.append(judgement.score)
        found = memory.add_links(number, links)
        if number + 1 >= self._looked_at + max(LOOK_EVERY, self._looked_at // LOOK_SHARE) or self._is_start(number):
            self._look()
        elif self._words is not None and len(found):
            self._texts.set(
                slice(found.start, found.stop), text_scores(memory, slice(found.start, found.stop), self._words)
            )
            self._score(
                [node for node in dict.fromkeys(memory.target[link] for link in found) if node not in memory.page_of]
            )
        return [self._changed.get(link.url, 0.0) for link in links]

    def learn(self, page: PageWords, judgement: Judgement) -> None:
        """Nothing beyond `link_priorities`: a page teaches by its words and links together."""

    def rescored(self) -> Mapping[str, float]:
        """The priorities that changed since the last call."""
        changed, self._changed = self._changed, {}
        return changed

    def _is_start(self, number: int) -> bool:
        """Has the last example just come?"""
        return self._space is None and number + 1 >= max(len(self._examples), 1)

    def _meet(self, url: str) -> None:
        """Remember what spoke for a page when it was fetched: the weights are learned from that."""
        node = self._memory.nodes.get(url)
        if node is not None and self._outcomes is not None and self._memory.into[node]:
            self._met[node] = self._features([node])[0]

    def _look(self) -> None:
        """Look at everything anew."""
        memory = self._memory
        self._looked_at = len(memory.pages)
        self._space = space = space_of(memory)
        examples = [page for page, node in enumerate(memory.pages) if memory.urls[node] in self._examples]
        name = memory.numbers([word for word in self._topic.terms if word in memory.words])
        self._verdict, relevance = judge(space, np.array(examples or [0], dtype=np.int64), name)
        self._relevance = relevance.tolist()
        self._words = word_scores(space, relevance)
        every = slice(0, len(memory.source))
        self._texts.set(every, text_scores(memory, every, self._words))
        self._outcomes = outcomes(memory, relevance)
        frontier = memory.frontier()
        if frontier:
            self._scale = scale_of(self._features(frontier))
            self._weights = self._learned()
            self._score(frontier)

    def _features(self, nodes: list[int]) -> Floats:
        assert self._outcomes is not None
        return features(self._memory, nodes, np.array(self._relevance), self._texts, self._outcomes)

    def _learned(self) -> Floats:
        """The first weights, corrected by what the fetched links turned out to be."""
        if len(self._met) < LEAST_TO_LEARN or self._scale is None:
            return FIRST_WEIGHTS
        rows = self._scale(np.array(list(self._met.values())))
        relevance = np.array([self._relevance[self._memory.page_of[node]] for node in self._met])
        return corrected(FIRST_WEIGHTS, rows - rows.mean(axis=0), relevance - relevance.mean())

    def _score(self, nodes: list[int]) -> None:
        if nodes and self._scale is not None:
            scores = self._scale(self._features(nodes)) @ self._weights
            self._changed.update(
                (self._memory.urls[node], float(score)) for node, score in zip(nodes, scores, strict=True)
            )


def corrected(first: Floats, rows: Floats, relevance: Floats) -> Floats:
    """Weights that explain `relevance`, no farther from a multiple of `first` than the rows ask. All are centred."""
    guess = rows @ first
    size = max(float(guess @ relevance) / (float(guess @ guess) + 10.0), 0.02)
    rest = Ridge(alpha=CAUTION, fit_intercept=False).fit(rows, relevance - size * guess)
    weights: Floats = (size * first + rest.coef_) / size
    return weights
