"""Protocols and data types of a focused crawl.

    Page, links -> TokenizedPage (worker threads) -> FocusedPolicy.decide -> FocusedDecision, stored with the visit
    PageWords   title 玄武岩, description, blocks ("title", ...), ("content", ...), ("anchor", ...)
    LinkWords   http://..., anchor 火成岩, context 玄武岩 是 一种 喷出 的 ...
    TopicWords  name 地质, example pages, terms that the administrator confirmed

`FocusedPolicy` scores pages and links. A `FocusedStrategy` receives words only, never bytes, unfetched hosts or labels.
Each page is segmented once. `serialize_page` stores the result, so that another strategy can score it later. A crawl
without a policy is breadth first: it saves every page and prefers links near a seed (Wang Du 2019).
"""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Protocol, runtime_checkable

from domain.errors import StoreError
from domain.focused_decision import FocusedDecision
from domain.page import Link, Page
from domain.paper_settings import WuYuetingSettings

FOCUSED_SEED_PRIORITY = 1e9  # above every priority of a strategy

Words = tuple[str, ...]
WordTokenizer = Callable[[str], Words]
"""Splits text into lower-case words. All strategies compare these words."""

BLOCK_TITLE, BLOCK_CONTENT, BLOCK_ANCHOR, BLOCK_NAVIGATION, BLOCK_OTHER = (
    "title",
    "content",
    "anchor",
    "navigation",
    "other",
)
BLOCK_KINDS = (BLOCK_TITLE, BLOCK_CONTENT, BLOCK_ANCHOR, BLOCK_NAVIGATION, BLOCK_OTHER)


@dataclass(frozen=True)
class WordBlock:
    """The words of one tag block (WY-F2).

    `kind` is in `BLOCK_KINDS`. `weight` is its share of the page's impact (WY-F5).
    """

    kind: str
    words: Words
    weight: float = 0.0


@dataclass(frozen=True)
class PageWords:
    """A fetched page as lower-case words. `description` contains the words of meta description and keywords."""

    url: str
    title: Words = ()
    description: Words = ()
    blocks: tuple[WordBlock, ...] = ()

    @cached_property
    def counts_by_kind(self) -> Mapping[str, Counter[str]]:
        """Word counts of the blocks of each kind.

        All blocks of a kind are one block: f_l is defined by kind, and splitting a text must not raise its counts [D].
        """
        counts_by_kind: dict[str, Counter[str]] = {}
        for block in self.blocks:
            counts_by_kind.setdefault(block.kind, Counter()).update(block.words)
        return counts_by_kind

    @cached_property
    def word_counts(self) -> Counter[str]:
        """Word counts of all blocks of the page."""
        return Counter(chain.from_iterable(block.words for block in self.blocks))

    @cached_property
    def own_word_counts(self) -> Counter[str]:
        """Word counts without navigation.

        Other blocks count only if they contain more words than the content blocks.
        """
        sizes = {kind: counts.total() for kind, counts in self.counts_by_kind.items()}
        excluded_kinds = (
            {BLOCK_NAVIGATION}
            if sizes.get(BLOCK_OTHER, 0) > sizes.get(BLOCK_CONTENT, 0)
            else {BLOCK_NAVIGATION, BLOCK_OTHER}
        )
        if excluded_kinds.isdisjoint(sizes):
            return self.word_counts
        return Counter(chain.from_iterable(block.words for block in self.blocks if block.kind not in excluded_kinds))

    def with_counts_cached(self) -> "PageWords":
        """Compute and cache the word counts.

        Call it in a fetch thread to keep the work off the crawl loop. Returns self.
        """
        self.word_counts, self.counts_by_kind, self.own_word_counts  # noqa: B018  # cached
        return self


@dataclass(frozen=True)
class LinkWords:
    """A link as words of its anchor and of the surrounding text."""

    url: str
    anchor_words: Words = ()
    context_words: Words = ()


@dataclass(frozen=True)
class TopicWords:
    """The description of a topic: words of its name, example pages, and terms of Wu's three classes.

    `stop_words` are never terms. `class_weights` are the weights of the classes (`WuYuetingSettings`).
    """

    name: Words = ()
    examples: tuple[PageWords, ...] = ()
    technical: Words = ()
    subject: Words = ()
    evaluative: Words = ()
    stop_words: frozenset[str] = frozenset()
    class_weights: Mapping[str, float] = field(default_factory=lambda: WuYuetingSettings().class_weights)

    @property
    def term_weights(self) -> Mapping[str, float]:
        """Weights of the confirmed terms by class; a word in several classes has the weight of the most important one.

        A name weighs 1.0.
        """
        classes = self.class_weights
        weights = dict.fromkeys(self.evaluative, classes["judgement"]) | dict.fromkeys(self.subject, classes["subject"])
        return weights | dict.fromkeys(self.technical, classes["professional"]) | dict.fromkeys(self.name, 1.0)


@dataclass(frozen=True)
class TokenizedPage:
    """A fetched page as words. Each linked URL occurs once; links to the page itself are omitted."""

    words: PageWords
    links: tuple[LinkWords, ...] = ()


@dataclass(frozen=True)
class RelevanceScore:
    """Whether a page is relevant, and its relevance score (0 to 1)."""

    is_relevant: bool
    score: float


class FocusedStrategy(Protocol):
    """A strategy for a topic. One thread calls it. Order for each page: score_page, link_priorities, observe_page."""

    def score_page(self, page: PageWords) -> RelevanceScore:
        """Score a fetched page, 0 to 1."""

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """Return the priority of each link (higher is fetched sooner), or None to discard it."""

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Learn from a scored page, saved or not."""

    def take_changed_priorities(self) -> Mapping[str, float]:
        """Return unfetched URLs with a new priority since the last call, as URL -> priority."""


@dataclass(frozen=True)
class ReviewInstructions:
    """Instructions of a reviewer during a crawl.

    Attributes:
        target_precision: share of saved pages that must be on topic, 0 to 1.
        labels_by_url: manual labels. True means on topic.
    """

    target_precision: float = 0.8
    labels_by_url: Mapping[str, bool] = field(default_factory=dict)


@runtime_checkable
class ReviewableStrategy(FocusedStrategy, Protocol):
    """A strategy with probabilities as scores. It rescores earlier pages and accepts manual labels."""

    def apply_instructions(self, instructions: ReviewInstructions) -> None:
        """Apply the instructions. They affect all later calls."""

    def current_scores(self) -> Mapping[str, RelevanceScore]:
        """Return the current score of each page seen so far, by URL. Priorities do not change."""

    def forget_pages(self, scores: Mapping[str, float]) -> None:
        """Drop pages from memory. `scores` maps each URL to its last score."""

    def take_forgotten_urls(self) -> Sequence[str]:
        """Return unfetched URLs that were evicted from memory since the last call. Their priorities do not change."""

    def pages_to_label(self, count: int) -> Sequence[str]:
        """Return at most `count` URLs of seen pages whose manual label helps most, best first."""


class FocusedPolicy(Protocol):
    """Scores pages and links of a focused crawl with a strategy (`focused.topic_policy.TopicPolicy`)."""

    def tokenize_page(self, page: Page, links: Sequence[Link]) -> TokenizedPage:
        """Split a page and its links into words. Safe in any thread."""

    def decide(self, tokenized_page: TokenizedPage, anchors: Mapping[str, str]) -> FocusedDecision:
        """Decide about a fetched page. `anchors` maps linked URLs to their anchor text. Call it in one thread."""

    def link_priority(self, url: str) -> float | None:
        """Return the priority of a URL, or None if it should not be fetched. Call it in the thread of `decide`."""


def tokenize_links(page_url: str, links: Sequence[Link], tokenize: WordTokenizer) -> tuple[LinkWords, ...]:
    """Split the links of a page into words. Links to the page itself are omitted."""
    return tuple(
        LinkWords(link.url, tokenize(link.anchor), tokenize(link.context)) for link in links if link.url != page_url
    )


def serialize_page(tokenized_page: TokenizedPage) -> bytes:
    """Serialize a tokenized page, to about a third of the text's size. `deserialize_page` is the inverse.

    Format: zlib of {"url": ..., "title": [...], "description": [...], "blocks": [["content", 0.4, [...]], ...],
    "links": [[url, [...], [...]], ...]}.
    """
    page = tokenized_page.words
    payload = {
        "url": page.url,
        "title": page.title,
        "description": page.description,
        "blocks": [(block.kind, block.weight, block.words) for block in page.blocks],
        "links": [(link.url, link.anchor_words, link.context_words) for link in tokenized_page.links],
    }
    return zlib.compress(json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass"), 3)


def deserialize_page(data: bytes) -> TokenizedPage:
    """Read the bytes of `serialize_page`. Raises StoreError for other bytes."""
    try:
        payload: dict[str, Any] = json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass"))
        blocks = tuple(WordBlock(kind, tuple(words), weight) for kind, weight, words in payload["blocks"])
        page = PageWords(payload["url"], tuple(payload["title"]), tuple(payload["description"]), blocks)
        links = tuple(LinkWords(url, tuple(anchor), tuple(context)) for url, anchor, context in payload["links"])
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"the stored words of a page are damaged ({error}): run `plumb check`") from error
    return TokenizedPage(page, links)
