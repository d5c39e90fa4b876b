"""Ours: the promise of a link, learned while crawling, from what the three papers look at (`link_features.FEATURES`).

    page -> crawl graph -> verdict (which pages are of the topic) -> features of the frontier, weighed -> priorities

Every now and then (the more pages, the rarer) all is fitted anew: the space, the verdict, what words promise and
every priority. In between a page changes only the URLs that it links to. No label is seen: `latent_space.py` takes
the examples' word, `neighbour_scores.py` asks who a page keeps with, `link_text_model.py` learns from how links turned out,
`page_features.py` and the weights take what other topics taught (`pretrained.py`). What is kept of the pages
`keeping.py` decides; a person's answers (`ReviewInstructions`) count as labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crawler.focused_policy import LinkWords, PageWords, RelevanceScore, ReviewInstructions, TopicWords
from focused.fused.crawl_graph import EVICTED, NOT_FETCHED, CrawlGraph, Float64Array, GrowingArray, Int64Array
from focused.fused.expected_yield import initial_yield_features, yield_features
from focused.fused.graph_pruning import MAX_PAGES, extract_subgraph, sample_pages_to_retain
from focused.fused.latent_space import build_latent_space, rocchio
from focused.fused.link_features import (
    LINK_FEATURES,
    FeatureScaler,
    LinkFeatureInputs,
    LinkTextScores,
    compute_link_features,
    fit_scaler,
    score_link_texts,
    score_words,
)
from focused.fused.link_text_model import fit_link_text_model, link_text_matrices
from focused.fused.page_features import (
    PAGE_FEATURES,
    PageClassifier,
    PretrainedModels,
    build_topic_reference,
    load_pretrained_models,
)
from focused.fused.retention import (
    PlattCorrection,
    QualityEstimate,
    estimate_quality,
    fit_platt_correction,
    mean_logit,
    predict_probability,
    retention_features,
    select_pages_to_label,
    threshold_for_precision,
)

REFIT_MIN_PAGES, REFIT_GROWTH_DIVISOR = (
    8,
    4,
)  # pages between two refits: this many, or this part of all, whichever is more
PROVISIONAL_THRESHOLD_FACTOR = (
    0.5  # times the level: a page is held from there on until `verdicts`, so that it need not be fetched again
)
DEFAULT_RELEVANCE = 0.5  # score of a page that comes before the first refit


@dataclass(frozen=True)
class PageAssessment:
    """What is thought of all pages at a moment, of which there are `page_count`.

    level          of all pages' relevance (`keeping.level_of`)
    keeping        (pages, KEEPING) float64  what speaks for keeping each page (`retention_features`)
    probabilities  (pages,) float64          of each page to be of the topic, 1 for examples, as a person has answered
    least          the probability from which on pages are kept
    """

    page_count: int
    classifier: PageClassifier
    mean_logit: float
    retention_features: Float64Array
    correction: PlattCorrection
    probabilities: Float64Array
    threshold: float


@dataclass
class RefitResult:
    """What was made of all pages at once: it serves until the next refit.

    words          (words, 8) float64        what each word says of the topic (`score_words`)
    linking        (pages, PROMISE) float64  what each page's links promise by (`yield_features`)
    linking_scale  its spread
    """

    assessment: PageAssessment
    word_scores: Float64Array
    yield_features: Float64Array
    yield_scaler: FeatureScaler
    frontier_scaler: FeatureScaler | None = None  # none while the frontier is empty


class FusedFeatureStrategy:
    """The strategy `fused`. Deterministic: the same pages in the same order give the same priorities."""

    def __init__(self, topic: TopicWords, models: PretrainedModels | None = None, max_pages: int = MAX_PAGES) -> None:
        self._topic = topic
        self._max_pages = max_pages
        self._models = models or load_pretrained_models()
        self._example_urls = frozenset(page.url for page in topic.examples)
        self._graph = CrawlGraph()
        self._link_text_scores = LinkTextScores()
        self._current_bag = self._graph.bag_of_words(PageWords(""))  # of the page that is being judged
        self._current_initial_relevance = DEFAULT_RELEVANCE  # of the page that is being judged
        self._current_features: Float64Array | None = None  # the same, its row of features; none before the first refit
        self._relevance = GrowingArray(np.float64)  # of the pages
        self._expected_yield = GrowingArray(np.float64)  # of the pages
        self._is_example = GrowingArray(np.float64)  # of the pages
        self._changed_priorities: dict[str, float] = {}
        self._last_refit: RefitResult | None = None
        self._instructions = ReviewInstructions()
        self._is_refit_requested = False  # a refit, since instructions have changed
        self._cached_assessment: PageAssessment | None = None  # on the pages that there are, between refits
        self._evicted_scores: dict[str, float] = {}  # pages that are not remembered: their last probability
        self._evicted_urls: list[
            str
        ] = []  # URLs not fetched that nothing is remembered of, since they were last asked for

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_cached_assessment": None}

    def apply_instructions(self, instructions: ReviewInstructions) -> None:
        """See `crawler.focused_policy.ReviewableStrategy`."""
        if instructions != self._instructions:
            self._instructions, self._cached_assessment = instructions, None
            self._is_refit_requested = self._last_refit is not None

    def current_scores(self) -> Mapping[str, RelevanceScore]:
        """What is thought of every page by all that is known now. Nothing else changes by it: what is learned is
        learned at refits, so that the same pages in the same order teach the same."""
        assessment = self._current_assessment()
        if assessment is None:
            return {}
        urls = (self._graph.node_urls[node] for node in self._graph.page_nodes)
        answers = self._instructions.labels_by_url
        evicted_scores = {url: float(answers.get(url, score)) for url, score in self._evicted_scores.items()}
        scores = evicted_scores | dict(zip(urls, assessment.probabilities.tolist(), strict=True))
        return {url: RelevanceScore(score >= assessment.threshold, score) for url, score in scores.items()}

    def expected_quality(self) -> QualityEstimate | None:
        """What is kept, in expectation; examples are not counted. None before there is a page."""
        assessment = self._current_assessment()
        if assessment is None:
            return None
        return estimate_quality(self._non_example_probabilities(assessment.probabilities), assessment.threshold)

    @property
    def remembered_page_count(self) -> int:
        """Of all that were shown, examples included."""
        return len(self._graph.page_nodes)

    def forget_pages(self, scores: Mapping[str, float]) -> None:
        """See `crawler.focused_policy.ReviewableStrategy`."""
        self._evicted_scores.update(scores)
        self._cached_assessment = None

    def take_forgotten_urls(self) -> Sequence[str]:
        """See `crawler.focused_policy.ReviewableStrategy`."""
        evicted_urls, self._evicted_urls = self._evicted_urls, []
        return evicted_urls

    def pages_to_label(self, count: int) -> list[str]:
        """The URLs of so many pages about which an answer helps most, the best first."""
        assessment = self._current_assessment()
        if assessment is None:
            return []
        is_labelled = np.array(
            [self._graph.node_urls[node] in self._instructions.labels_by_url for node in self._graph.page_nodes]
        )
        candidates = np.flatnonzero((self._is_example.values == 0) & ~is_labelled)
        chosen_pages = select_pages_to_label(
            assessment.probabilities, assessment.classifier.space.page_vectors, candidates, assessment.threshold, count
        )
        return [self._graph.node_urls[self._graph.page_nodes[page]] for page in chosen_pages]

    def _current_assessment(self) -> PageAssessment | None:
        """On all pages; None before there is one."""
        if self._cached_assessment is None and self._graph.page_nodes:
            refit_result = None if self._is_refit_requested else self._last_refit
            is_complete = refit_result is not None and refit_result.assessment.page_count == len(self._graph.page_nodes)
            self._cached_assessment = (
                refit_result.assessment if refit_result is not None and is_complete else self._assess_all_pages()
            )
        return self._cached_assessment

    def score_page(self, page: PageWords) -> RelevanceScore:
        """Kept where it is likely enough of the topic."""
        self._current_bag = self._graph.bag_of_words(page)
        self._current_features = (
            None
            if self._last_refit is None
            else self._last_refit.assessment.classifier.initial_features(page, self._current_bag)
        )
        label = 1.0 if page.url in self._example_urls else self._instructions.labels_by_url.get(page.url)
        if label is not None:
            self._current_initial_relevance = float(label)
            return RelevanceScore(is_relevant=bool(label), score=float(label))
        if self._last_refit is None or self._current_features is None:
            self._current_initial_relevance = DEFAULT_RELEVANCE
            return RelevanceScore(is_relevant=True, score=DEFAULT_RELEVANCE)
        rows = self._initial_retention_features(self._last_refit.assessment, self._current_features)
        score = float(
            self._last_refit.assessment.correction(predict_probability(self._models.initial_retention, rows))[0]
        )
        return RelevanceScore(
            is_relevant=score >= PROVISIONAL_THRESHOLD_FACTOR * self._last_refit.assessment.threshold, score=score
        )

    def _initial_retention_features(self, assessment: PageAssessment, page_features: Float64Array) -> Float64Array:
        """A row as those of `PageAssessment.retention_features`, of a page of whose links nothing is known yet."""
        relative = assessment.classifier.scaler(page_features)
        relevance = self._models.initial_page(page_features, relative)
        self._current_initial_relevance = float(relevance[0])
        return retention_features(PAGE_FEATURES, relevance, assessment.mean_logit, relative, np.zeros(1))

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Takes the page and its links in; the promise of each link."""
        graph = self._graph
        self._cached_assessment = None
        page_id = graph.add_page(page, self._current_bag)
        link_ids = graph.add_links(page_id, links, page.word_counts.total())
        if self._evicted_scores:
            self._evicted_scores.pop(page.url, None)
            evicted_nodes = [graph.node_ids[link.url] for link in links if link.url in self._evicted_scores]
            graph.node_page_id.values[evicted_nodes] = EVICTED
        self._is_example.extend([float(page.url in self._example_urls)])
        self._relevance.extend([self._current_initial_relevance])
        self._expected_yield.extend([DEFAULT_RELEVANCE])
        if self._should_refit():
            self._refit_model()
        elif self._last_refit is not None and links:
            words = self._last_refit.word_scores
            texts = score_link_texts(link_text_matrices(graph, link_ids, len(words)), words)
            self._link_text_scores.set_rows(link_ids, texts)
            row = self._initial_yield_features(self._last_refit, page_id, texts)
            self._expected_yield.values[page_id] = self._models.initial_yield(row, self._last_refit.yield_scaler(row))[
                0
            ]
            targets = dict.fromkeys(graph.link_target_node.values[link_ids].tolist())
            self._score_nodes(
                self._last_refit, [node for node in targets if graph.node_page_id.values[node] == NOT_FETCHED]
            )
        return [self._changed_priorities.get(link.url, 0.0) for link in links]

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Nothing beyond `link_priorities`: a page teaches by its words and links together."""

    def take_changed_priorities(self) -> Mapping[str, float]:
        """The priorities that changed since the last call."""
        changed, self._changed_priorities = self._changed_priorities, {}
        return changed

    def priority_contributions(self, url: str) -> list[tuple[str, float, float]]:
        """What the priority of a URL is the sum of: feature, its value in standard deviations of the frontier, its
        weight. Empty where it has none."""
        node, refit_result = self._graph.node_ids.get(url), self._last_refit
        if (
            node is None
            or refit_result is None
            or refit_result.frontier_scaler is None
            or not self._graph.incoming_links[node]
        ):
            return []
        values = refit_result.frontier_scaler(self._link_features(refit_result, [node]))[0].tolist()
        return list(zip(LINK_FEATURES, values, self._models.link.standardized_weights.tolist(), strict=True))

    def _should_refit(self) -> bool:
        pages = len(self._graph.page_nodes)
        if self._last_refit is None:
            return pages >= max(len(self._example_urls), 1)
        last_page_count = self._last_refit.assessment.page_count
        return self._is_refit_requested or pages >= last_page_count + max(
            REFIT_MIN_PAGES, last_page_count // REFIT_GROWTH_DIVISOR
        )

    def _refit_model(self) -> None:
        """Look at everything anew, and at no more than is to be remembered."""
        if len(self._graph.page_nodes) > self._max_pages:
            self._evict_pages(self._assess_all_pages())
        graph, assessment = self._graph, self._assess_all_pages()
        space, relevance = assessment.classifier.space, self._relevance.values
        relevance[:] = assessment.classifier.relevance
        all_links = slice(0, len(graph.link_source_page.values))
        texts = link_text_matrices(graph, all_links, len(graph.word_ids))
        name_weights = self._examples_and_name_weights()[1]
        words = score_words(space, relevance, name_weights, fit_link_text_model(graph, texts, space, relevance))
        self._link_text_scores.set_rows(all_links, score_link_texts(texts, words))
        page_yield_features = yield_features(graph, assessment.classifier, self._link_text_scores.values[all_links])
        refit_result = RefitResult(assessment, words, page_yield_features, fit_scaler(page_yield_features))
        self._expected_yield.values[:] = self._models.expected_yield(
            page_yield_features, refit_result.yield_scaler(page_yield_features)
        )
        frontier = graph.unfetched_nodes()
        rows = self._link_features(refit_result, frontier) if frontier else np.zeros((0, len(LINK_FEATURES)))
        if frontier:
            refit_result.frontier_scaler = fit_scaler(rows)
            self._set_priorities(frontier, refit_result.frontier_scaler(rows))
        self._is_refit_requested = False
        self._on_refit(refit_result, frontier, rows)

    def _evict_pages(self, assessment: PageAssessment) -> None:
        """Remember a part of the pages (`memory.py`), with their links; the others have had their last verdict."""
        old_graph, is_labelled = self._graph, np.zeros(assessment.page_count, dtype=bool)
        is_labelled[list(self._known_labels())] = True
        retained_pages = sample_pages_to_retain(is_labelled, self._max_pages)
        evicted_pages = np.setdiff1d(np.arange(assessment.page_count), retained_pages)
        urls = (old_graph.node_urls[old_graph.page_nodes[page]] for page in evicted_pages.tolist())
        self._evicted_scores.update(zip(urls, assessment.probabilities[evicted_pages].tolist(), strict=True))
        self._graph, self._link_text_scores, self._last_refit, self._cached_assessment = (
            extract_subgraph(old_graph, retained_pages),
            LinkTextScores(),
            None,
            None,
        )
        for column in (self._relevance, self._expected_yield, self._is_example):
            column.retain_rows(retained_pages)
        self._evicted_urls += [
            old_graph.node_urls[node]
            for node in old_graph.unfetched_nodes()
            if old_graph.node_urls[node] not in self._graph.node_ids
        ]

    def _initial_yield_features(self, refit_result: RefitResult, page: int, texts: Float64Array) -> Float64Array:
        """A row as those of `RefitResult.yield_features`, of a page that has links of which these are the texts' scores."""
        page_features = (
            refit_result.assessment.classifier.features[:1]
            if self._current_features is None
            else self._current_features
        )
        return initial_yield_features(page_features, float(self._graph.anchor_word_share.values[page]), texts)

    def _assess_all_pages(self) -> PageAssessment:
        """What to think of all pages."""
        graph, labels = self._graph, self._known_labels()
        examples, name_weights = self._examples_and_name_weights()
        space = build_latent_space(graph, examples, self._relevance.values)
        reference = build_topic_reference(graph, space, rocchio(space, examples, name_weights), examples, name_weights)
        pages = PageClassifier(graph, reference, self._models, labels)
        crawl_mean_logit = mean_logit(pages.predicted_relevance)
        excess_anchor_share = graph.anchor_word_share.values - np.median(graph.anchor_word_share.values)
        rows = retention_features(
            PAGE_FEATURES,
            pages.predicted_relevance,
            crawl_mean_logit,
            pages.scaler(pages.features),
            excess_anchor_share,
        )
        probabilities = predict_probability(self._models.retention, rows)
        labelled_pages = [page for page in labels if not self._is_example.values[page]]
        correction = fit_platt_correction(
            probabilities[labelled_pages], np.array([labels[page] for page in labelled_pages])
        )
        probabilities = correction(probabilities)
        probabilities[list(labels)] = list(labels.values())
        threshold = threshold_for_precision(
            self._non_example_probabilities(probabilities), self._instructions.target_precision
        )
        return PageAssessment(
            len(graph.page_nodes), pages, crawl_mean_logit, rows, correction, probabilities, threshold
        )

    def _non_example_probabilities(self, probabilities: Float64Array) -> Float64Array:
        """Those of all pages that are no examples, remembered or not."""
        evicted_probabilities = np.fromiter(self._evicted_scores.values(), np.float64, len(self._evicted_scores))
        return np.concatenate((probabilities[self._is_example.values == 0], evicted_probabilities))

    def _known_labels(self) -> Mapping[int, float]:
        """The pages about which there is no doubt: examples, and what a person has answered."""
        labels = dict.fromkeys(np.flatnonzero(self._is_example.values).tolist(), 1.0)
        graph = self._graph
        for url, is_relevant in self._instructions.labels_by_url.items():
            page = int(graph.node_page_id.values[graph.node_ids[url]]) if url in graph.node_ids else -1
            if page >= 0:
                labels[page] = float(is_relevant)
        return labels

    def _on_refit(self, refit_result: RefitResult, frontier: list[int], rows: Float64Array) -> None:
        """A refit is done: `rows` are the features of the frontier's nodes."""
        self._last_refit = refit_result

    def _examples_and_name_weights(self) -> tuple[Int64Array, Float64Array]:
        """The pages that are examples (the first page where there is none), and what part of the topic's terms each
        word is."""
        examples, words, terms = np.flatnonzero(self._is_example.values), self._graph.word_ids, self._topic.term_weights
        term_ids = [words[term] for term in terms if term in words]
        name_weights = np.zeros(len(words))
        name_weights[term_ids] = 1 / max(len(term_ids), 1)
        return examples if len(examples) else np.zeros(1, dtype=np.int64), name_weights

    def _link_features(self, refit_result: RefitResult, nodes: list[int]) -> Float64Array:
        neighbours = refit_result.assessment.classifier.neighbours
        inputs = LinkFeatureInputs(
            self._graph,
            self._link_text_scores,
            self._relevance.values,
            self._expected_yield.values,
            neighbours,
            self._is_example.values,
        )
        return compute_link_features(inputs, nodes)

    def _score_nodes(self, refit_result: RefitResult, nodes: list[int]) -> None:
        if nodes and refit_result.frontier_scaler is not None:
            self._set_priorities(nodes, refit_result.frontier_scaler(self._link_features(refit_result, nodes)))

    def _set_priorities(self, nodes: list[int], rows: Float64Array) -> None:
        """Prioritise these nodes by what speaks for them."""
        scores = (rows @ self._models.link.standardized_weights).tolist()
        self._changed_priorities.update(zip((self._graph.node_urls[node] for node in nodes), scores, strict=True))
