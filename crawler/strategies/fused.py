"""Ours: the promise of a link, learned while crawling, from what the three papers look at (`fused_links.FEATURES`).

    page -> memory -> verdict (which pages are of the topic) -> features of the frontier -> weights -> priorities

Every now and then (the more pages, the rarer) all is looked at anew: the space, the verdict, the weights and every
priority. In between a page changes only the addresses that it links to. No label is seen: `fused_judge.py` takes the
examples' word, `fused_pages.py` and the first weights what other topics taught (`fused_prior.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import Ridge

from crawler.strategies.contract import Judgement
from crawler.strategies.focus import LinkWords, PageWords, Topic
from crawler.strategies.fused_judge import judge, space_of
from crawler.strategies.fused_links import (
    FEATURES,
    Known,
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
from crawler.strategies.fused_memory import Column, Floats, Ints, Memory
from crawler.strategies.fused_pages import PageJudge, Priors, bearings_of, shipped

LEAST_TO_LEARN = 20  # fetched links before the weights are learned
CAUTION = 60.0  # ridge penalty on leaving the first weights
LOOK_EVERY, LOOK_SHARE = 8, 8  # pages between two looks: this many, or this part of all, whichever is more
KEEP = 0.5
UNJUDGED = 0.5  # score of a page that comes before the first look


@dataclass
class Look:
    """What was made of all pages at once: it serves until the next look. `pages` says how many they were."""

    pages: int
    judge: PageJudge
    words: WordScores
    outcomes: Outcomes
    weights: Floats  # of the features of links
    scale: Scale | None = None  # none while the frontier is empty


class Fused:
    """The strategy `fused`. Deterministic: the same pages in the same order give the same priorities."""

    def __init__(self, topic: Topic, priors: Priors | None = None) -> None:
        self._topic = topic
        self._priors = priors or shipped()
        self._examples = frozenset(page.url for page in topic.examples)
        self._memory = Memory()
        self._texts = LinkTexts()
        self._bag = self._memory.bag(PageWords(""))  # of the page that is being judged
        self._relevance = Column(np.float64)  # of the pages
        self._is_example = Column(np.float64)  # of the pages
        self._changed: dict[str, float] = {}
        self._met: dict[int, Floats] = {}  # fetched node -> what spoke for it when it was chosen
        self._look: Look | None = None

    def keep(self, page: PageWords) -> Judgement:
        """Kept where it is more likely of the topic than not."""
        self._bag = self._memory.bag(page)
        if page.url in self._examples:
            score = 1.0
        elif self._look is None:
            score = UNJUDGED
        else:
            score = self._look.judge.first_sight(page, self._bag)
        return Judgement(keep=score >= KEEP, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Judgement, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Takes the page and its links in; the promise of each link."""
        memory = self._memory
        self._meet(page.url)
        number = memory.add_page(page, self._bag)
        found = memory.add_links(number, links)
        self._is_example.add([float(page.url in self._examples)])
        self._relevance.add([self._judged(number, judgement.score)])
        if self._is_time_to_look():
            self._look_again()
        elif self._look is not None and links:
            self._texts.set(found, text_scores(memory, found, self._look.words))
            targets = dict.fromkeys(memory.target.values[found].tolist())
            self._score(self._look, [node for node in targets if memory.page_of.values[node] < 0])
        return [self._changed.get(link.url, 0.0) for link in links]

    def learn(self, page: PageWords, judgement: Judgement) -> None:
        """Nothing beyond `link_priorities`: a page teaches by its words and links together."""

    def rescored(self) -> Mapping[str, float]:
        """The priorities that changed since the last call."""
        changed, self._changed = self._changed, {}
        return changed

    def _is_time_to_look(self) -> bool:
        pages = len(self._memory.pages)
        if self._look is None:
            return pages >= max(len(self._examples), 1)
        return pages >= self._look.pages + max(LOOK_EVERY, self._look.pages // LOOK_SHARE)

    def _judged(self, number: int, at_first_sight: float) -> float:
        """How relevant a page is, now that its links are known too."""
        if self._look is None:
            return at_first_sight
        found = self._look.judge.later(number)
        return 1.0 if self._is_example.values[number] else found

    def _meet(self, url: str) -> None:
        """Remember what spoke for a page that is now fetched: the weights are learned from that."""
        node, look = self._memory.nodes.get(url), self._look
        if node is not None and self._memory.into[node] and look is not None and look.scale is not None:
            self._met[node] = look.scale(self._features(look, [node]))[0]

    def _look_again(self) -> None:
        """Look at everything anew."""
        memory = self._memory
        examples, name = self._known_of_topic()
        space = space_of(memory, examples)
        verdicts, by_verdict = judge(space, examples, name)
        pages = PageJudge(memory, bearings_of(memory, space, verdicts, examples, name, by_verdict), self._priors)
        relevance = self._relevance.values
        relevance[:] = pages.all()
        words = word_scores(space, relevance)
        look = Look(len(memory.pages), pages, words, outcomes(memory, relevance), self._learned())
        every = slice(0, len(memory.source.values))
        self._texts.set(every, text_scores(memory, every, look.words))
        frontier = memory.frontier()
        rows = self._features(look, frontier) if frontier else np.zeros((0, len(FEATURES)))
        if frontier:
            look.scale = scale_of(rows)
            self._take(frontier, look.scale(rows) @ look.weights)
        self._looked(look, frontier, rows)

    def _looked(self, look: Look, frontier: list[int], rows: Floats) -> None:
        """A look is done: `rows` are the features of the frontier's nodes."""
        self._look = look

    def _known_of_topic(self) -> tuple[Ints, Ints]:
        """The pages that are examples (the first page where there is none), and the words of the topic's terms."""
        examples = np.flatnonzero(self._is_example.values)
        name = self._memory.numbers([word for word in self._topic.terms if word in self._memory.words])
        return examples if len(examples) else np.zeros(1, dtype=np.int64), name

    def _features(self, look: Look, nodes: list[int]) -> Floats:
        known = Known(self._memory, self._texts, self._relevance.values, look.outcomes, self._is_example.values)
        return features(known, nodes)

    def _learned(self) -> Floats:
        """The first weights, corrected by what the fetched links turned out to be."""
        first = self._priors.link.relative
        if len(self._met) < LEAST_TO_LEARN:
            return first
        rows = np.array(list(self._met.values()))
        relevance = self._relevance.values[self._memory.page_of.values[list(self._met)]]
        return corrected(first, rows - rows.mean(axis=0), relevance - relevance.mean())

    def _score(self, look: Look, nodes: list[int]) -> None:
        if nodes and look.scale is not None:
            self._take(nodes, look.scale(self._features(look, nodes)) @ look.weights)

    def _take(self, nodes: list[int], scores: Floats) -> None:
        self._changed.update(zip((self._memory.urls[node] for node in nodes), scores.tolist(), strict=True))


def corrected(first: Floats, rows: Floats, relevance: Floats) -> Floats:
    """Weights that explain `relevance`, no farther from a multiple of `first` than the rows ask. All are centred.

    They are in the size of `first`, whatever the size of `relevance`.
    """
    guess = rows @ first
    size = max(float(guess @ relevance) / (float(guess @ guess) + 10.0), 0.02)
    rest = Ridge(alpha=CAUTION, fit_intercept=False).fit(rows, relevance - size * guess)
    weights: Floats = first + rest.coef_ / size
    return weights
