"""All that a crawl knows of topics: who judges its pages and links (`FocusedPolicy`), and pages and links as words.

    Page, links -> PageReading (worker threads) -> Guide.judge -> PageDecision, kept with the visit
    PageWords   title 玄武岩, description, blocks ("title", ...), ("content", ...), ("anchor", ...)
    LinkWords   http://..., anchor 火成岩, context 玄武岩 是 一种 喷出 的 ...
    TopicWords  name 地质, example pages, terms that the operator confirmed

A strategy (`FocusedStrategy`) never sees bytes, hosts it has not fetched, nor labels. Segmentation is done at the edge,
once; what was read is kept as bytes (`serialize_page`), so that another strategy can be shown it later. A crawl without a guide
is breadth first: it keeps everything, and links nearer to a seed come first (Wang Du 2019).
"""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Protocol, runtime_checkable

from docstore.errors import StoreError
from docstore.frontier.focused_decisions import FocusedDecision
from docstore.model import Link, Page

FOCUSED_SEED_PRIORITY = 1e9  # seeds come before whatever a strategy promises

Words = tuple[str, ...]
WordTokenizer = Callable[[str], Words]
"""Text to words, lower case: what the strategies compare."""

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
    """The words of one tag block (WY-F2). `kind` is one of KINDS, `weight` its share of the page's impact (WY-F5)."""

    kind: str
    words: Words
    weight: float = 0.0


@dataclass(frozen=True)
class PageWords:
    """A fetched page as words, lower case. `description` is meta description and keywords, () where it has none."""

    url: str
    title: Words = ()
    description: Words = ()
    blocks: tuple[WordBlock, ...] = ()

    @cached_property
    def counts_by_kind(self) -> Mapping[str, Counter[str]]:
        """How often each word stands in the blocks of each kind. One block a kind: f_l is by kind, and a word does not
        count more for a text that is cut into more blocks [D]."""
        counts_by_kind: dict[str, Counter[str]] = {}
        for block in self.blocks:
            counts_by_kind.setdefault(block.kind, Counter()).update(block.words)
        return counts_by_kind

    @cached_property
    def word_counts(self) -> Counter[str]:
        """How often each word stands in the page's blocks."""
        return Counter(chain.from_iterable(block.words for block in self.blocks))

    @cached_property
    def own_word_counts(self) -> Counter[str]:
        """The same for what the page says itself: navigation left out, and other blocks where its content says more."""
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
        """The page, its words counted: for a thread that reads pages, so that the one that decides need not."""
        self.word_counts, self.counts_by_kind, self.own_word_counts  # noqa: B018  # are kept
        return self


@dataclass(frozen=True)
class LinkWords:
    """A link as words: of its anchor, and of the text around it."""

    url: str
    anchor_words: Words = ()
    context_words: Words = ()


@dataclass(frozen=True)
class TopicWords:
    """What the operator says of the topic: words of its name, example pages, terms of Wu's three classes (METHODS 3.4).

    Nothing else is known of it. `stop_words` never are terms.
    """

    name: Words = ()
    examples: tuple[PageWords, ...] = ()
    technical: Words = ()
    subject: Words = ()
    evaluative: Words = ()
    stop_words: frozenset[str] = frozenset()

    @property
    def term_weights(self) -> Mapping[str, float]:
        """The confirmed terms with the weights of their classes: Fs 1.0, Fb 0.8, Fv 0.6 [D]; a name counts as Fs."""
        weights = dict.fromkeys(self.evaluative, 0.6) | dict.fromkeys(self.subject, 0.8)
        return weights | dict.fromkeys((*self.technical, *self.name), 1.0)


@dataclass(frozen=True)
class TokenizedPage:
    """A fetched page as words, with its links (each URL once, none to the page itself)."""

    words: PageWords
    links: tuple[LinkWords, ...] = ()


@dataclass(frozen=True)
class RelevanceScore:
    """Is the page worth keeping, and how relevant is it (0 hopeless, 1 certain)?"""

    is_relevant: bool
    score: float


class FocusedStrategy(Protocol):
    """A strategy for a topic. One thread calls, for one page at a time: keep, link_priorities, learn, rescored."""

    def score_page(self, page: PageWords) -> RelevanceScore:
        """Judge a fetched page. The score is in 0 to 1."""

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """How soon to fetch what each link leads to, higher is sooner; None to discard it."""

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        """Take note of a page that was judged, kept or not."""

    def take_changed_priorities(self) -> Mapping[str, float]:
        """URLs not fetched yet whose priority has changed since the last call, with the new one."""


@dataclass(frozen=True)
class ReviewInstructions:
    """What the operator wants of a crawl while it goes on: the share of what is kept that shall be of the topic, and
    what a person has said of pages: URL -> is it of the topic?"""

    target_precision: float = 0.8
    labels_by_url: Mapping[str, bool] = field(default_factory=dict)


class ExpectedQuality(Protocol):
    """What is kept, in expectation: the share of it that is of the topic, and of what is there the share kept."""

    @property
    def precision(self) -> float:
        """0 to 1; 1 where nothing is kept."""

    @property
    def recall(self) -> float:
        """0 to 1."""


@runtime_checkable
class ReviewableStrategy(FocusedStrategy, Protocol):
    """A strategy whose scores are probabilities, that thinks again about what it has judged, and that a person can
    correct."""

    def apply_instructions(self, instructions: ReviewInstructions) -> None:
        """Take what the operator wants and has said by now; it counts from the next call on."""

    def current_scores(self) -> Mapping[str, RelevanceScore]:
        """What is thought now of every page shown so far, by URL; no priority changes by it."""

    def expected_quality(self) -> ExpectedQuality | None:
        """How much of what is kept is of the topic; None where too little is known."""

    def forget_pages(self, scores: Mapping[str, float]) -> None:
        """Pages that it is not shown: they were fetched, and this was thought of them, by URL."""

    def take_forgotten_urls(self) -> Sequence[str]:
        """URLs not fetched yet that it remembers nothing of, since the last call: their priorities stay as they are."""

    def pages_to_label(self, count: int) -> Sequence[str]:
        """The URLs of so many pages shown so far about which a person's answer helps most, the best first."""


class FocusedPolicy(Protocol):
    """Who judges the pages and links of a crawl for a topic, by a strategy (`focused.topic_policy.TopicPolicy`)."""

    def tokenize_page(self, page: Page, links: Sequence[Link]) -> TokenizedPage:
        """A page and its links as words; in any thread."""

    def decide(self, tokenized_page: TokenizedPage, anchors: Mapping[str, str]) -> FocusedDecision:
        """What to make of a fetched page. `anchors` has the text of each of its links. In one thread."""

    def link_priority(self, url: str) -> float | None:
        """How soon to fetch a URL; None: not at all, as far as is known. In the thread that judges."""


def tokenize_links(page_url: str, links: Sequence[Link], tokenize: WordTokenizer) -> tuple[LinkWords, ...]:
    """The links of a page as words; those to itself tell nothing."""
    return tuple(
        LinkWords(link.url, tokenize(link.anchor), tokenize(link.context)) for link in links if link.url != page_url
    )


def serialize_page(tokenized_page: TokenizedPage) -> bytes:
    """The reading as bytes, about a third of the page's text; `deserialize_page` gives it back.

    zlib of {"url": ..., "title": [...], "description": [...], "blocks": [["content", 0.4, [...]], ...], "links": [[url,
    [...], [...]], ...]}
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
    """The reading that was packed. StoreError for other bytes."""
    try:
        payload: dict[str, Any] = json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass"))
        blocks = tuple(WordBlock(kind, tuple(words), weight) for kind, weight, words in payload["blocks"])
        page = PageWords(payload["url"], tuple(payload["title"]), tuple(payload["description"]), blocks)
        links = tuple(LinkWords(url, tuple(anchor), tuple(context)) for url, anchor, context in payload["links"])
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"what a focused crawl remembers of a page is damaged: {error}") from error
    return TokenizedPage(page, links)
