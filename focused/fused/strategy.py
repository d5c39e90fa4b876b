"""Ours: the promise of a link, learned while crawling, from what the three papers look at (`link_features.FEATURES`).

    page -> crawl graph -> verdict (which pages are of the topic) -> features of the frontier, weighed -> priorities

Every now and then (the more pages, the rarer) all is fitted anew: the space, the verdict, what words promise and
every priority. In between a page changes only the URLs that it links to. No label is seen: `latent_space.py` takes
the examples' word, `page_rank.py` asks who a page keeps with, `link_text.py` learns from how links turned out,
`page_features.py` and the weights take what other topics taught (`pretrained_prior.py`). What is kept of the pages
`keeping.py` decides; a person's answers (`Instructions`) count as labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crawler.guide import Instructions, LinkWords, PageWords, Relevance, TopicWords
from focused.fused.crawl_graph import FORGOTTEN, NOT_FETCHED, Column, CrawlGraph, Floats, Ints
from focused.fused.keeping import (
    Correction,
    Expected,
    correction_of,
    expected_of,
    keeping_rows,
    least_probability,
    level_of,
    probability,
    questions,
)
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
from focused.fused.memory import MOST_PAGES, part_of, remembered
from focused.fused.page_features import PAGE_FEATURES, PageClassifier, Priors, bearings_of, shipped
from focused.fused.promise import first_promise_row, promise_rows

REFIT_EVERY, REFIT_SHARE = 8, 4  # pages between two refits: this many, or this part of all, whichever is more
DOUBT = 0.5  # times the level: a page is held from there on until `verdicts`, so that it need not be fetched again
UNJUDGED = 0.5  # score of a page that comes before the first refit


@dataclass(frozen=True)
class Verdict:
    """What is thought of all pages at a moment, of which there are `pages`.

    level          of all pages' relevance (`keeping.level_of`)
    keeping        (pages, KEEPING) float64  what speaks for keeping each page (`keeping_rows`)
    probabilities  (pages,) float64          of each page to be of the topic, 1 for examples, as a person has answered
    least          the probability from which on pages are kept
    """

    pages: int
    classifier: PageClassifier
    level: float
    keeping: Floats
    correction: Correction
    probabilities: Floats
    least: float


@dataclass
class Refit:
    """What was made of all pages at once: it serves until the next refit.

    words          (words, 8) float64        what each word says of the topic (`word_scores`)
    linking        (pages, PROMISE) float64  what each page's links promise by (`promise_rows`)
    linking_scale  its spread
    """

    verdict: Verdict
    words: Floats
    linking: Floats
    linking_scale: Scale
    scale: Scale | None = None  # none while the frontier is empty


class Fused:
    """The strategy `fused`. Deterministic: the same pages in the same order give the same priorities."""

    def __init__(self, topic: TopicWords, priors: Priors | None = None, most_pages: int = MOST_PAGES) -> None:
        self._topic = topic
        self._most_pages = most_pages
        self._priors = priors or shipped()
        self._examples = frozenset(page.url for page in topic.examples)
        self._graph = CrawlGraph()
        self._texts = LinkTexts()
        self._bag = self._graph.bag(PageWords(""))  # of the page that is being judged
        self._first_relevance = UNJUDGED  # of the page that is being judged
        self._sight: Floats | None = None  # the same, its row of features; none before the first refit
        self._relevance = Column(np.float64)  # of the pages
        self._promise = Column(np.float64)  # of the pages
        self._is_example = Column(np.float64)  # of the pages
        self._changed: dict[str, float] = {}
        self._refit: Refit | None = None
        self._instructions = Instructions()
        self._is_due = False  # a refit, since instructions have changed
        self._last: Verdict | None = None  # on the pages that there are, between refits
        self._forgotten: dict[str, float] = {}  # pages that are not remembered: their last probability
        self._lost: list[str] = []  # URLs not fetched that nothing is remembered of, since they were last asked for

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last": None}

    def instruct(self, instructions: Instructions) -> None:
        """See `crawler.guide.ReviewedStrategy`."""
        if instructions != self._instructions:
            self._instructions, self._last = instructions, None
            self._is_due = self._refit is not None

    def verdicts(self) -> Mapping[str, Relevance]:
        """What is thought of every page by all that is known now. Nothing else changes by it: what is learned is
        learned at refits, so that the same pages in the same order teach the same."""
        verdict = self._verdict_now()
        if verdict is None:
            return {}
        urls = (self._graph.urls[node] for node in self._graph.pages)
        answers = self._instructions.answers
        last = {url: float(answers.get(url, score)) for url, score in self._forgotten.items()}
        found = last | dict(zip(urls, verdict.probabilities.tolist(), strict=True))
        return {url: Relevance(score >= verdict.least, score) for url, score in found.items()}

    def expected(self) -> Expected | None:
        """What is kept, in expectation; examples are not counted. None before there is a page."""
        verdict = self._verdict_now()
        if verdict is None:
            return None
        return expected_of(self._not_examples(verdict.probabilities), verdict.least)

    @property
    def pages_remembered(self) -> int:
        """Of all that were shown, examples included."""
        return len(self._graph.pages)

    def forget(self, scores: Mapping[str, float]) -> None:
        """See `crawler.guide.ReviewedStrategy`."""
        self._forgotten.update(scores)
        self._last = None

    def forgotten(self) -> Sequence[str]:
        """See `crawler.guide.ReviewedStrategy`."""
        lost, self._lost = self._lost, []
        return lost

    def questions(self, count: int) -> list[str]:
        """The URLs of so many pages about which an answer helps most, the best first."""
        verdict = self._verdict_now()
        if verdict is None:
            return []
        answered = np.array([self._graph.urls[node] in self._instructions.answers for node in self._graph.pages])
        candidates = np.flatnonzero((self._is_example.values == 0) & ~answered)
        asked = questions(verdict.probabilities, verdict.classifier.space.pages, candidates, verdict.least, count)
        return [self._graph.urls[self._graph.pages[page]] for page in asked]

    def _verdict_now(self) -> Verdict | None:
        """On all pages; None before there is one."""
        if self._last is None and self._graph.pages:
            refit = None if self._is_due else self._refit
            is_of_all = refit is not None and refit.verdict.pages == len(self._graph.pages)
            self._last = refit.verdict if refit is not None and is_of_all else self._judge_all()
        return self._last

    def keep(self, page: PageWords) -> Relevance:
        """Kept where it is likely enough of the topic."""
        self._bag = self._graph.bag(page)
        self._sight = None if self._refit is None else self._refit.verdict.classifier.sight(page, self._bag)
        label = 1.0 if page.url in self._examples else self._instructions.answers.get(page.url)
        if label is not None:
            self._first_relevance = float(label)
            return Relevance(keep=bool(label), score=float(label))
        if self._refit is None or self._sight is None:
            self._first_relevance = UNJUDGED
            return Relevance(keep=True, score=UNJUDGED)
        rows = self._at_first_sight(self._refit.verdict, self._sight)
        score = float(self._refit.verdict.correction(probability(self._priors.first_keeping, rows))[0])
        return Relevance(keep=score >= DOUBT * self._refit.verdict.least, score=score)

    def _at_first_sight(self, verdict: Verdict, sight: Floats) -> Floats:
        """A row as those of `Verdict.keeping`, of a page of whose links nothing is known yet."""
        relative = verdict.classifier.scale(sight)
        relevance = self._priors.first_sight(sight, relative)
        self._first_relevance = float(relevance[0])
        return keeping_rows(PAGE_FEATURES, relevance, verdict.level, relative, np.zeros(1))

    def link_priorities(
        self, page: PageWords, judgement: Relevance, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Takes the page and its links in; the promise of each link."""
        graph = self._graph
        self._last = None
        number = graph.add_page(page, self._bag)
        found = graph.add_links(number, links, page.counts.total())
        if self._forgotten:
            self._forgotten.pop(page.url, None)
            known = [graph.nodes[link.url] for link in links if link.url in self._forgotten]
            graph.page_of.values[known] = FORGOTTEN
        self._is_example.add([float(page.url in self._examples)])
        self._relevance.add([self._first_relevance])
        self._promise.add([UNJUDGED])
        if self._is_time_to_refit():
            self._refit_all()
        elif self._refit is not None and links:
            words = self._refit.words
            texts = text_scores(texts_of(graph, found, len(words)), words)
            self._texts.set(found, texts)
            row = self._linking_at_first_sight(self._refit, number, texts)
            self._promise.values[number] = self._priors.first_promise(row, self._refit.linking_scale(row))[0]
            targets = dict.fromkeys(graph.target.values[found].tolist())
            self._score(self._refit, [node for node in targets if graph.page_of.values[node] == NOT_FETCHED])
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
        last = self._refit.verdict.pages
        return self._is_due or pages >= last + max(REFIT_EVERY, last // REFIT_SHARE)

    def _refit_all(self) -> None:
        """Look at everything anew, and at no more than is to be remembered."""
        if len(self._graph.pages) > self._most_pages:
            self._forget(self._judge_all())
        graph, verdict = self._graph, self._judge_all()
        space, relevance = verdict.classifier.space, self._relevance.values
        relevance[:] = verdict.classifier.relevance
        every = slice(0, len(graph.source.values))
        texts = texts_of(graph, every, len(graph.words))
        name = self._known_of_topic()[1]
        words = word_scores(space, relevance, name, link_text_model(graph, texts, space, relevance))
        self._texts.set(every, text_scores(texts, words))
        linking = promise_rows(graph, verdict.classifier, self._texts.values[every])
        refit = Refit(verdict, words, linking, scale_of(linking))
        self._promise.values[:] = self._priors.promise(linking, refit.linking_scale(linking))
        frontier = graph.frontier()
        rows = self._features(refit, frontier) if frontier else np.zeros((0, len(FEATURES)))
        if frontier:
            refit.scale = scale_of(rows)
            self._take(frontier, refit.scale(rows))
        self._is_due = False
        self._refitted(refit, frontier, rows)

    def _forget(self, verdict: Verdict) -> None:
        """Remember a part of the pages (`memory.py`), with their links; the others have had their last verdict."""
        before, labelled = self._graph, np.zeros(verdict.pages, dtype=bool)
        labelled[list(self._labels_known())] = True
        left = remembered(labelled, self._most_pages)
        gone = np.setdiff1d(np.arange(verdict.pages), left)
        urls = (before.urls[before.pages[page]] for page in gone.tolist())
        self._forgotten.update(zip(urls, verdict.probabilities[gone].tolist(), strict=True))
        self._graph, self._texts, self._refit, self._last = part_of(before, left), LinkTexts(), None, None
        for column in (self._relevance, self._promise, self._is_example):
            column.keep(left)
        self._lost += [before.urls[node] for node in before.frontier() if before.urls[node] not in self._graph.nodes]

    def _linking_at_first_sight(self, refit: Refit, page: int, texts: Floats) -> Floats:
        """A row as those of `Refit.linking`, of a page that has links of which these are the texts' scores."""
        sight = refit.verdict.classifier.rows[:1] if self._sight is None else self._sight
        return first_promise_row(sight, float(self._graph.anchored.values[page]), texts)

    def _judge_all(self) -> Verdict:
        """What to think of all pages."""
        graph, labels = self._graph, self._labels_known()
        examples, name = self._known_of_topic()
        space = space_of(graph, examples, self._relevance.values)
        bearings = bearings_of(graph, space, rocchio(space, examples, name), examples, name)
        pages = PageClassifier(graph, bearings, self._priors, labels)
        level = level_of(pages.said)
        anchored = graph.anchored.values - np.median(graph.anchored.values)
        rows = keeping_rows(PAGE_FEATURES, pages.said, level, pages.scale(pages.rows), anchored)
        probabilities = probability(self._priors.keeping, rows)
        answered = [page for page in labels if not self._is_example.values[page]]
        correction = correction_of(probabilities[answered], np.array([labels[page] for page in answered]))
        probabilities = correction(probabilities)
        probabilities[list(labels)] = list(labels.values())
        least = least_probability(self._not_examples(probabilities), self._instructions.precision)
        return Verdict(len(graph.pages), pages, level, rows, correction, probabilities, least)

    def _not_examples(self, probabilities: Floats) -> Floats:
        """Those of all pages that are no examples, remembered or not."""
        last = np.fromiter(self._forgotten.values(), np.float64, len(self._forgotten))
        return np.concatenate((probabilities[self._is_example.values == 0], last))

    def _labels_known(self) -> Mapping[int, float]:
        """The pages about which there is no doubt: examples, and what a person has answered."""
        labels = dict.fromkeys(np.flatnonzero(self._is_example.values).tolist(), 1.0)
        graph = self._graph
        for url, is_relevant in self._instructions.answers.items():
            page = int(graph.page_of.values[graph.nodes[url]]) if url in graph.nodes else -1
            if page >= 0:
                labels[page] = float(is_relevant)
        return labels

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
        company = refit.verdict.classifier.company
        known = Known(
            self._graph, self._texts, self._relevance.values, self._promise.values, company, self._is_example.values
        )
        return features(known, nodes)

    def _score(self, refit: Refit, nodes: list[int]) -> None:
        if nodes and refit.scale is not None:
            self._take(nodes, refit.scale(self._features(refit, nodes)))

    def _take(self, nodes: list[int], rows: Floats) -> None:
        """Prioritise these nodes by what speaks for them."""
        scores = (rows @ self._priors.link.relative).tolist()
        self._changed.update(zip((self._graph.urls[node] for node in nodes), scores, strict=True))
