"""Why a focused crawl gives a URL its priority: the pages that lead to it, and every part of the score.

The strategy is shown all that it has seen, as at the start of a crawl, and watched when it comes to the URL.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from crawler.crawl_plan import plan_of
from crawler.guide import FocusedStrategy, LinkWords, PageWords, Relevance
from crawler.settings import FOCUSED, strategy_of
from focused.fused.strategy import Fused
from focused.papers.ahp import weights_of
from focused.papers.semantic import IMPORTANCE, Semantic, SemanticSettings
from focused.papers.semantic_tree import SemanticTree
from focused.papers.topic_library import TopicLibrary
from focused.topic_guide import TopicGuide
from pipeline.engine import Engine
from pipeline.topic.guide import means_of, restored, settings_for

MAX_SOURCES = 20  # pages that lead to a URL
MAX_WORDS = 12
ELSEWHERE = "on this page; another one promises something"
Row = Mapping[str, Any]


@dataclass
class Watched:
    """A strategy, and what it says of one URL: each page that leads there with the link's promise and its parts.

    `first` are the seeds: one that leads nowhere else is followed.
    """

    focus: FocusedStrategy
    url: str
    first: frozenset[str] = frozenset()
    sources: list[Row] = field(default_factory=list)
    promises: list[float | None] = field(default_factory=list)  # of the sources

    def __getattr__(self, name: str) -> Any:
        """What a strategy can beside these, as the strategy has it."""
        return getattr(self.focus, name)

    def keep(self, page: PageWords) -> Relevance:
        """As the strategy has it."""
        return self.focus.keep(page)

    def link_priorities(
        self, page: PageWords, judgement: Relevance, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """As the strategy has it; the URL' is noted."""
        promised = self.focus.link_priorities(page, judgement, links)
        is_followed = page.url in self.first and all(value is None for value in promised)
        for link, value in zip(links, promised, strict=True):
            if link.url == self.url:
                self._note(self._source(page, judgement, link, value, is_followed), value)
        return promised

    def _note(self, source: Row, value: float | None) -> None:
        """Of very many sources the one that promises most is among those kept: its promise counts."""
        if len(self.sources) >= MAX_SOURCES:
            if value is None or value <= max((one for one in self.promises if one is not None), default=-inf):
                return
            del self.sources[-1], self.promises[-1]
        self.sources.append(source)
        self.promises.append(value)

    def learn(self, page: PageWords, judgement: Relevance) -> None:
        """As the strategy has it."""
        self.focus.learn(page, judgement)

    def rescored(self) -> Mapping[str, float]:
        """As the strategy has it."""
        return self.focus.rescored()

    def _source(
        self, page: PageWords, judgement: Relevance, link: LinkWords, value: float | None, is_followed: bool
    ) -> Row:
        discarded = "discarded, but followed: a seed that promises nothing" if is_followed else "discarded"
        return {
            "page": page.url,
            "page_score": f"{judgement.score:.3f} ({'kept' if judgement.keep else 'off topic'})",
            "anchor": " ".join(link.anchor[:MAX_WORDS]),
            "context": " ".join(link.context[:MAX_WORDS]),
            **parts_of(self.focus, judgement, link, value),
            "promise": discarded if value is None else f"{value:.4f}",
        }


def parts_of(focus: FocusedStrategy, judgement: Relevance, link: LinkWords, value: float | None) -> Row:
    """What the promise of a link is made of, by the formula of its strategy."""
    if isinstance(focus, Semantic):
        return semantic_parts(focus, judgement, link, value)
    if isinstance(focus, SemanticTree):
        child = focus.similarity(dict.fromkeys((*link.anchor, *link.context), 1.0))
        own = 2 * value - child if value is not None else 0.0
        return {"Score (ZJ-F10)": f"{own:.4f}", "Sim of the child (ZJ-F9)": f"{child:.4f}"}
    if isinstance(focus, TopicLibrary) and value is not None:
        anchor, context = focus.likeness(link.anchor), focus.likeness(link.context)
        return {"sim (WY-F9)": f"{judgement.score:.4f}", "anchor": f"{anchor:.4f}", "context": f"{context:.4f}"}
    return {}


def semantic_parts(focus: Semantic, judgement: Relevance, link: LinkWords, value: float | None) -> Row:
    """ZK-F5: p = alpha * Rel(description) + beta * Rel(anchor) + lambda * struct."""
    alpha, beta, of_structure = weights_of(IMPORTANCE).values
    description, anchor = judgement.score / (1 - judgement.score), focus.relevance(link.anchor)
    rows = {
        "Rel(description)": f"{description:.4f}, times {alpha:.3f}",
        "Rel(anchor)": f"{anchor:.4f}, times {beta:.3f}",
        "threshold": f"{SemanticSettings().threshold:g}",
    }
    if value is None:
        return rows
    struct = (value - alpha * description - beta * anchor) / of_structure
    return rows | {"struct": f"{struct:.2f}, times {of_structure:.3f}"}


def explain_topic(engine: Engine, url: str) -> dict[str, list[Row]]:
    """What the focused crawl thinks of a URL: its judgement if it was fetched, else its priority and the parts of
    that. Empty where the crawl looks for nothing, and for a URL that it has not met.
    """
    judged, left_out = engine.store.judgements.find(url), engine.store.judgements.left_out(url)
    answer: dict[str, list[Row]] = {}
    if judged is not None:
        kept = "kept" if judged.kept else "not kept"
        answer["judgement"] = [{"strategy": judged.strategy, "topic": judged.topic, "score": judged.score, "was": kept}]
    if left_out is not None and judged is None:
        answer["left_out"] = [{"why": left_out[0].reason, "anchor": left_out[0].anchor, "on": left_out[1]}]
    if strategy_of(engine.settings.crawl) not in FOCUSED:
        return answer
    return answer | watched(engine, url)


def watched(engine: Engine, url: str) -> dict[str, list[Row]]:
    """The pages that lead to a URL, and what speaks for it now."""
    settings = settings_for(engine)
    means = means_of(engine, settings.topic, plan_of(settings))
    watch = Watched(means.focus, url, means.first)
    guide = TopicGuide(replace(means, focus=watch))
    restored(engine, guide)
    answer: dict[str, list[Row]] = {}
    priority = guide.priority(url)
    if watch.sources:
        answer["led_to_by"] = with_what_counts(watch, priority)
    if priority is not None:
        answer["priority"] = [{"strategy": means.strategy, "now": f"{priority:.4f}"}]
    if isinstance(means.focus, Fused) and priority is not None:
        answer["priority_parts"] = fused_parts(means.focus, url)
    return answer


def with_what_counts(watch: Watched, priority: float | None) -> list[Row]:
    """The sources, with what becomes of their promises: a page that discards a link takes nothing from what another one
    has promised for it."""
    promised = [one for one in watch.promises if one is not None]
    if priority is None or not promised:
        return watch.sources
    best = watch.promises.index(max(promised))
    rows: list[Row] = []
    for place, (row, value) in enumerate(zip(watch.sources, watch.promises, strict=True)):
        said = "counts: the best one" if place == best else "less than the best one" if value is not None else ELSEWHERE
        rows.append({**row, "promise": f"{row['promise']} ({said})"})
    return rows


def fused_parts(focus: Fused, url: str) -> list[Row]:
    """Each feature in standard deviations of the frontier, its weight, and their product; the largest first."""
    parts = sorted(focus.parts(url), key=lambda part: -abs(part[1] * part[2]))
    return [
        {"part": name, "value": f"{value:.3f}", "weight": f"{weight:.3f}", "product": f"{value * weight:.3f}"}
        for name, value, weight in parts
    ]
