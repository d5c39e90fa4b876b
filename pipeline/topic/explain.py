"""Explain the priority of a URL in a focused crawl: the pages that link to it, and every part of the score.

The strategy replays its decisions as at the start of a crawl, and a recorder observes the links to the URL.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from crawler.crawl_plan import build_crawl_plan
from crawler.focused_policy import FocusedStrategy, LinkWords, PageWords, RelevanceScore
from crawler.settings import FOCUSED_STRATEGIES, resolve_strategy
from focused.fused.strategy import FusedFeatureStrategy
from focused.paper_strategies.semantic import SemanticStrategy
from focused.paper_strategies.semantic_tree import SemanticTreeStrategy
from focused.paper_strategies.topic_library import TopicLibraryStrategy
from focused.topic_policy import TopicPolicy
from pipeline.engine import Engine
from pipeline.topic.policy_factory import focused_crawl_settings, policy_config, restore_policy

MAX_SOURCES = 20  # pages that lead to a URL
MAX_CONTEXT_WORDS = 12  # of the anchor text and of its context
OTHER_PAGE_COUNTS = "on this page; another page gives it a priority"
Row = Mapping[str, Any]


@dataclass
class RecordingStrategy:
    """Wraps a strategy and records every link to `url` with its score and the parts of the score.

    Links of a page in `seed_urls` are followed even if the strategy discards all of them.
    """

    strategy: FocusedStrategy
    url: str
    seed_urls: frozenset[str] = frozenset()
    sources: list[Row] = field(default_factory=list)
    link_scores: list[float | None] = field(default_factory=list)  # parallel to `sources`

    def __getattr__(self, name: str) -> Any:
        """Delegate all other attributes to the strategy."""
        return getattr(self.strategy, name)

    def score_page(self, page: PageWords) -> RelevanceScore:
        return self.strategy.score_page(page)

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Delegate to the strategy and record the score of links to `url`."""
        link_scores = self.strategy.link_priorities(page, relevance, links)
        is_followed = page.url in self.seed_urls and all(value is None for value in link_scores)
        for link, value in zip(links, link_scores, strict=True):
            if link.url == self.url:
                self._record(self._source_row(page, relevance, link, value, is_followed), value)
        return link_scores

    def _record(self, source: Row, value: float | None) -> None:
        """Store a source. Beyond MAX_SOURCES, only a source with the highest score replaces the last one."""
        if len(self.sources) >= MAX_SOURCES:
            if value is None or value <= max((score for score in self.link_scores if score is not None), default=-inf):
                return
            del self.sources[-1], self.link_scores[-1]
        self.sources.append(source)
        self.link_scores.append(value)

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        self.strategy.observe_page(page, relevance)

    def take_changed_priorities(self) -> Mapping[str, float]:
        return self.strategy.take_changed_priorities()

    def _source_row(
        self, page: PageWords, relevance: RelevanceScore, link: LinkWords, value: float | None, is_followed: bool
    ) -> Row:
        discarded_text = "discarded, but followed: link of a seed URL" if is_followed else "discarded"
        return {
            "page": page.url,
            "page_score": f"{relevance.score:.3f} ({'kept' if relevance.is_relevant else 'off topic'})",
            "anchor": " ".join(link.anchor_words[:MAX_CONTEXT_WORDS]),
            "context": " ".join(link.context_words[:MAX_CONTEXT_WORDS]),
            **score_parts(self.strategy, relevance, link, value),
            "promise": discarded_text if value is None else f"{value:.4f}",
        }


def score_parts(strategy: FocusedStrategy, relevance: RelevanceScore, link: LinkWords, value: float | None) -> Row:
    """Return the parts of a link score, by the formula of its strategy."""
    if isinstance(strategy, SemanticStrategy):
        return semantic_score_parts(strategy, relevance, link, value)
    if isinstance(strategy, SemanticTreeStrategy):
        child = strategy.similarity(dict.fromkeys((*link.anchor_words, *link.context_words), 1.0))
        page_score = 2 * value - child if value is not None else 0.0
        return {"Score (ZJ-F10)": f"{page_score:.4f}", "Sim of the child (ZJ-F9)": f"{child:.4f}"}
    if isinstance(strategy, TopicLibraryStrategy) and value is not None:
        anchor, context = strategy.text_similarity(link.anchor_words), strategy.text_similarity(link.context_words)
        return {"sim (WY-F9)": f"{relevance.score:.4f}", "anchor": f"{anchor:.4f}", "context": f"{context:.4f}"}
    return {}


def semantic_score_parts(
    strategy: SemanticStrategy, relevance: RelevanceScore, link: LinkWords, value: float | None
) -> Row:
    """ZK-F5: p = alpha * Rel(description) + beta * Rel(anchor) + lambda * struct."""
    settings = strategy.settings
    alpha, beta, structure_weight = settings.description_weight, settings.anchor_weight, settings.structure_weight
    description, anchor = relevance.score / (1 - relevance.score), strategy.scaled_relevance(link.anchor_words)
    rows = {
        "Rel(description)": f"{description:.4f}, times {alpha:.3f}",
        "Rel(anchor)": f"{anchor:.4f}, times {beta:.3f}",
        "threshold": f"{settings.link_threshold:g}",
    }
    if value is None:
        return rows
    struct = (value - alpha * description - beta * anchor) / structure_weight
    return rows | {"struct": f"{struct:.2f}, times {structure_weight:.3f}"}


def explain_topic(engine: Engine, url: str) -> dict[str, list[Row]]:
    """Return what the focused crawl knows about a URL, as rows by part.

    For a fetched URL this is its focused decision; otherwise its priority and the parts of the priority. Empty if no
    focused crawl is configured or has met the URL.
    """
    decision, left_out = (
        engine.store.focused_decisions.find(url),
        engine.store.focused_decisions.find_rejected_link(url),
    )
    rows_by_part: dict[str, list[Row]] = {}
    if decision is not None:
        retained_text = "kept" if decision.is_retained else "not kept"
        rows_by_part["judgement"] = [
            {"strategy": decision.strategy, "topic": decision.topic, "score": decision.score, "was": retained_text}
        ]
    if left_out is not None and decision is None:
        rows_by_part["left_out"] = [{"why": left_out[0].reason, "anchor": left_out[0].anchor, "on": left_out[1]}]
    if resolve_strategy(engine.settings.crawl) not in FOCUSED_STRATEGIES:
        return rows_by_part
    return rows_by_part | explain_priority(engine, url)


def explain_priority(engine: Engine, url: str) -> dict[str, list[Row]]:
    """Return the pages that link to a URL and its current priority."""
    settings = focused_crawl_settings(engine)
    config = policy_config(engine, settings.topic, build_crawl_plan(settings))
    recording = RecordingStrategy(config.strategy, url, config.seed_urls)
    policy = TopicPolicy(replace(config, strategy=recording))
    restore_policy(engine, policy)
    rows_by_part: dict[str, list[Row]] = {}
    priority = policy.link_priority(url)
    if recording.sources:
        rows_by_part["led_to_by"] = annotate_sources(recording, priority)
    if priority is not None:
        rows_by_part["priority"] = [{"strategy": config.strategy_name, "now": f"{priority:.4f}"}]
    if isinstance(config.strategy, FusedFeatureStrategy) and priority is not None:
        parts = sorted(config.strategy.priority_contributions(url), key=lambda part: -abs(part[1] * part[2]))
        rows_by_part["priority_parts"] = [
            {"part": name, "value": f"{value:.3f}", "weight": f"{weight:.3f}", "product": f"{value * weight:.3f}"}
            for name, value, weight in parts
        ]
    return rows_by_part


def annotate_sources(recording: RecordingStrategy, priority: float | None) -> list[Row]:
    """Add a remark to the score of each source.

    Discarding a link on one page does not lower its score from another page.
    """
    link_scores = [score for score in recording.link_scores if score is not None]
    if priority is None or not link_scores:
        return recording.sources
    best = recording.link_scores.index(max(link_scores))
    rows: list[Row] = []
    for index, (row, value) in enumerate(zip(recording.sources, recording.link_scores, strict=True)):
        remark = (
            "used: the best" if index == best else "lower than the best" if value is not None else OTHER_PAGE_COUNTS
        )
        rows.append({**row, "promise": f"{row['promise']} ({remark})"})
    return rows
