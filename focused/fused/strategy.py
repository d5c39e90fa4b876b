"""The strategy `fused`: learns link priorities during the crawl from the features of the three papers.

    page -> crawl graph -> relevance of all pages -> features of the frontier, weighted -> priorities

A refit recomputes everything: latent space, relevance, word scores and every priority. Refits become rarer as the
number of pages grows. Between refits a page changes only the priorities of the URLs it links to.

No relevance labels are needed. `latent_space.py` measures similarity to the examples, `neighbour_scores.py` propagates
relevance along links, and `link_text_model.py` learns from followed links. The weights of the features are pretrained
on other topics (`pretrained.py`). `retention.py` decides which pages are retained. Labels of a person
(`ReviewInstructions`) are used if present.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crawler.focused_policy import LinkWords, PageWords, RelevanceScore, ReviewInstructions, TopicWords
from focused.fused.crawl_graph import EVICTED, NOT_FETCHED, CrawlGraph, Float64Array, GrowingArray, Int64Array
from focused.fused.expected_yield import initial_yield_features, yield_features
from focused.fused.graph_pruning import MAX_PAGES, extract_subgraph, sample_pages_to_retain
from focused.fused.latent_space import build_latent_space, rocchio
from focused.fused.link_features import (
    LINK_FEATURES,
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
from focused.fused.refit_result import PageAssessment, RefitResult
from focused.fused.retention import (
    fit_platt_correction,
    mean_logit,
    predict_probability,
    retention_features,
    select_pages_to_label,
    threshold_for_precision,
)

# Pages between two refits: the larger of REFIT_MIN_PAGES and 1 / REFIT_GROWTH_DIVISOR of all pages.
REFIT_MIN_PAGES, REFIT_GROWTH_DIVISOR = 8, 4
# A new page is retained from this factor times the threshold on, until the next full assessment. This avoids
# fetching it again.
PROVISIONAL_THRESHOLD_FACTOR = 0.5
DEFAULT_RELEVANCE = 0.5  # score of a page before the first refit


class FusedFeatureStrategy:
    """The strategy `fused`. Deterministic: equal pages in equal order give equal priorities."""

    def __init__(self, topic: TopicWords, models: PretrainedModels | None = None, max_pages: int = MAX_PAGES) -> None:
        self._topic = topic
        self._max_pages = max_pages
        self._models = models or load_pretrained_models()
        self._example_urls = frozenset(page.url for page in topic.examples)
        self._graph = CrawlGraph()
        self._link_text_scores = LinkTextScores()
        # The page that is being assessed: words, relevance, and features (None before the first refit).
        self._current_bag = self._graph.bag_of_words(PageWords(""))
        self._current_initial_relevance = DEFAULT_RELEVANCE
        self._current_features: Float64Array | None = None
        # Columns of the pages in the graph.
        self._relevance = GrowingArray(np.float64)
        self._expected_yield = GrowingArray(np.float64)
        self._is_example = GrowingArray(np.float64)
        self._changed_priorities: dict[str, float] = {}
        self._last_refit: RefitResult | None = None
        self._instructions = ReviewInstructions()
        self._is_refit_requested = False  # True after the instructions changed
        self._cached_assessment: PageAssessment | None = None  # assessment of the current pages between refits
        self._evicted_scores: dict[str, float] = {}  # last probability of evicted pages by URL
        self._evicted_urls: list[str] = []  # unfetched URLs removed since the last `take_forgotten_urls`

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_cached_assessment": None}

    def apply_instructions(self, instructions: ReviewInstructions) -> None:
        """Set target precision and labels. A change triggers a refit at the next page (`ReviewableStrategy`)."""
        if instructions != self._instructions:
            self._instructions, self._cached_assessment = instructions, None
            self._is_refit_requested = self._last_refit is not None

    def current_scores(self) -> Mapping[str, RelevanceScore]:
        """Reassess every page with the current instructions, and return the scores by URL.

        Read-only: the model changes only at refits, so equal pages in equal order give equal models.
        """
        assessment = self._current_assessment()
        if assessment is None:
            return {}
        urls = (self._graph.node_urls[node] for node in self._graph.page_nodes)
        answers = self._instructions.labels_by_url
        evicted_scores = {url: float(answers.get(url, score)) for url, score in self._evicted_scores.items()}
        scores = evicted_scores | dict(zip(urls, assessment.probabilities.tolist(), strict=True))
        return {url: RelevanceScore(score >= assessment.threshold, score) for url, score in scores.items()}

    def forget_pages(self, scores: Mapping[str, float]) -> None:
        self._evicted_scores.update(scores)
        self._cached_assessment = None

    def take_forgotten_urls(self) -> Sequence[str]:
        evicted_urls, self._evicted_urls = self._evicted_urls, []
        return evicted_urls

    def pages_to_label(self, count: int) -> list[str]:
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
        """Return the assessment of all current pages, or None before the first page."""
        if self._cached_assessment is None and self._graph.page_nodes:
            refit_result = None if self._is_refit_requested else self._last_refit
            is_complete = refit_result is not None and refit_result.assessment.page_count == len(self._graph.page_nodes)
            self._cached_assessment = (
                refit_result.assessment if refit_result and is_complete else self._assess_all_pages()
            )
        return self._cached_assessment

    def score_page(self, page: PageWords) -> RelevanceScore:
        """Return the relevance of a page. It is relevant from PROVISIONAL_THRESHOLD_FACTOR times the threshold on.

        Before the first refit every page without a label is relevant with DEFAULT_RELEVANCE.
        """
        self._current_bag = self._graph.bag_of_words(page)
        self._current_features = None
        if self._last_refit is not None:
            classifier = self._last_refit.assessment.classifier
            self._current_features = classifier.initial_features(page, self._current_bag)
        label = 1.0 if page.url in self._example_urls else self._instructions.labels_by_url.get(page.url)
        if label is not None:
            self._current_initial_relevance = float(label)
            return RelevanceScore(is_relevant=bool(label), score=float(label))
        if self._last_refit is None or self._current_features is None:
            self._current_initial_relevance = DEFAULT_RELEVANCE
            return RelevanceScore(is_relevant=True, score=DEFAULT_RELEVANCE)
        assessment = self._last_refit.assessment
        rows = self._initial_retention_features(assessment, self._current_features)
        score = float(assessment.correction(predict_probability(self._models.initial_retention, rows))[0])
        return RelevanceScore(is_relevant=score >= PROVISIONAL_THRESHOLD_FACTOR * assessment.threshold, score=score)

    def _initial_retention_features(self, assessment: PageAssessment, page_features: Float64Array) -> Float64Array:
        """Return the retention features of a page whose links are unknown, (1, RETENTION_FEATURES) float64."""
        relative = assessment.classifier.scaler(page_features)
        relevance = self._models.initial_page(page_features, relative)
        self._current_initial_relevance = float(relevance[0])
        return retention_features(PAGE_FEATURES, relevance, assessment.mean_logit, relative, np.zeros(1))

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Add the page and its links to the graph, and return the priority of each link."""
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
            expected_yield = self._models.initial_yield(row, self._last_refit.yield_scaler(row))
            self._expected_yield.values[page_id] = expected_yield[0]
            targets = dict.fromkeys(graph.link_target_node.values[link_ids].tolist())
            nodes = [node for node in targets if graph.node_page_id.values[node] == NOT_FETCHED]
            if nodes and (scaler := self._last_refit.frontier_scaler) is not None:
                self._set_priorities(nodes, scaler(self._link_features(self._last_refit, nodes)))
        return [self._changed_priorities.get(link.url, 0.0) for link in links]

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Do nothing: `link_priorities` has added the page already."""

    def take_changed_priorities(self) -> Mapping[str, float]:
        """Return the priorities that changed since the last call."""
        changed, self._changed_priorities = self._changed_priorities, {}
        return changed

    def priority_contributions(self, url: str) -> list[tuple[str, float, float]]:
        """Return the summands of a URL's priority: feature, value in standard deviations of the frontier, weight.

        The list is empty if the URL has no priority.
        """
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
        """Recompute the model from all pages. Prune the graph first if it exceeds the maximum number of pages."""
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
        """Remove a part of the pages with their links from the graph (`graph_pruning.py`).

        The last scores of removed pages are stored.
        """
        old_graph, is_labelled = self._graph, np.zeros(assessment.page_count, dtype=bool)
        is_labelled[list(self._known_labels())] = True
        retained_pages = sample_pages_to_retain(is_labelled, self._max_pages)
        evicted_pages = np.setdiff1d(np.arange(assessment.page_count), retained_pages)
        urls = (old_graph.node_urls[old_graph.page_nodes[page]] for page in evicted_pages.tolist())
        self._evicted_scores.update(zip(urls, assessment.probabilities[evicted_pages].tolist(), strict=True))
        self._graph, self._link_text_scores = extract_subgraph(old_graph, retained_pages), LinkTextScores()
        self._last_refit = self._cached_assessment = None
        for column in (self._relevance, self._expected_yield, self._is_example):
            column.retain_rows(retained_pages)
        self._evicted_urls += [
            old_graph.node_urls[node]
            for node in old_graph.unfetched_nodes()
            if old_graph.node_urls[node] not in self._graph.node_ids
        ]

    def _initial_yield_features(self, refit_result: RefitResult, page: int, texts: Float64Array) -> Float64Array:
        """Return the yield features of a page that was just fetched. `texts` are the text scores of its links."""
        page_features = self._current_features
        if page_features is None:
            page_features = refit_result.assessment.classifier.features[:1]
        return initial_yield_features(page_features, float(self._graph.anchor_word_share.values[page]), texts)

    def _assess_all_pages(self) -> PageAssessment:
        """Assess all pages of the graph with the current instructions."""
        graph, labels = self._graph, self._known_labels()
        examples, name_weights = self._examples_and_name_weights()
        space = build_latent_space(graph, examples, self._relevance.values)
        reference = build_topic_reference(graph, space, rocchio(space, examples, name_weights), examples, name_weights)
        pages = PageClassifier(graph, reference, self._models, labels)
        crawl_mean_logit = mean_logit(pages.predicted_relevance)
        excess_anchor_share = graph.anchor_word_share.values - np.median(graph.anchor_word_share.values)
        standard_scores = pages.scaler(pages.features)
        rows = retention_features(
            PAGE_FEATURES, pages.predicted_relevance, crawl_mean_logit, standard_scores, excess_anchor_share
        )
        probabilities = predict_probability(self._models.retention, rows)
        labelled_pages = [page for page in labels if not self._is_example.values[page]]
        correction = fit_platt_correction(
            probabilities[labelled_pages], np.array([labels[page] for page in labelled_pages])
        )
        probabilities = correction(probabilities)
        probabilities[list(labels)] = list(labels.values())
        evicted_probabilities = np.fromiter(self._evicted_scores.values(), np.float64, len(self._evicted_scores))
        non_examples = np.concatenate((probabilities[self._is_example.values == 0], evicted_probabilities))
        threshold = threshold_for_precision(non_examples, self._instructions.target_precision)
        return PageAssessment(
            len(graph.page_nodes), pages, crawl_mean_logit, rows, correction, probabilities, threshold
        )

    def _known_labels(self) -> Mapping[int, float]:
        """Return the labels by page id: 1 for examples, and the labels of a person."""
        labels = dict.fromkeys(np.flatnonzero(self._is_example.values).tolist(), 1.0)
        graph = self._graph
        for url, is_relevant in self._instructions.labels_by_url.items():
            page = int(graph.node_page_id.values[graph.node_ids[url]]) if url in graph.node_ids else -1
            if page >= 0:
                labels[page] = float(is_relevant)
        return labels

    def _on_refit(self, refit_result: RefitResult, frontier: list[int], rows: Float64Array) -> None:
        """Store the result of a refit. `rows` are the features of the frontier's nodes.

        Training overrides this method.
        """
        self._last_refit = refit_result

    def _examples_and_name_weights(self) -> tuple[Int64Array, Float64Array]:
        """Return the ids of the example pages, and each word's share of the topic's terms.

        Without examples, the first page counts as the example.
        """
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

    def _set_priorities(self, nodes: list[int], rows: Float64Array) -> None:
        """Set the priorities of nodes from their standardized features."""
        scores = (rows @ self._models.link.standardized_weights).tolist()
        self._changed_priorities.update(zip((self._graph.node_urls[node] for node in nodes), scores, strict=True))
