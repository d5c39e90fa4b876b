"""Extended topic feature library (Wu Yueting 2015), and the static keywords it is measured against.

keep       the page as tag blocks, words replaced by concepts, F13 vector against the topic's (WY-A3, WY-F15);
           or the sum over block classes (WY-F9, mode `block_sum`)
priority   the page's similarity, ties by the anchor
learn      terms that the kept pages share enter the dynamic library
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crawler.strategies.contract import Judgement
from crawler.strategies.feature_library import (
    DYNAMIC_WEIGHT,
    DynamicLibrary,
    expansions,
    substituted,
    template_of,
)
from crawler.strategies.focus import ANCHOR, CONTENT, KINDS, NAVIGATION, OTHER, TITLE, LinkWords, PageWords, Topic
from crawler.strategies.knowledge import NOTHING, Given, Knowledge, is_common
from crawler.strategies.positions import position_weights, term_weights
from semantics.sparse import cosine

IMPORTANT = 60  # terms of a page that are compared (WY-A1)
OF_KIND = {TITLE: 0.3, CONTENT: 0.4, NAVIGATION: 0.05, ANCHOR: 0.2, OTHER: 0.05}  # c of WY-F9 [D]
ALIKE_POSITIONS = dict.fromkeys(KINDS, 1.0)
TIE = 1e-3  # what an anchor that matches is worth: it decides between links of equal pages, no more


@dataclass(frozen=True)
class LibrarySettings:
    """`theta` the threshold of the filter, `block_sum` the mode of WY-F9, `automatic` dynamic terms unconfirmed."""

    theta: float = 0.2
    block_sum: bool = False
    automatic: bool = True


class TopicLibrary:
    """The strategy `topic_library`."""

    def __init__(self, topic: Topic, given: Given = NOTHING, settings: LibrarySettings | None = None) -> None:
        self._settings = settings or LibrarySettings()
        self._knowledge = Knowledge(topic, given)
        self._examples = {page.url for page in topic.examples}
        self.library = DynamicLibrary(self._settings.automatic)
        self._version = -1
        self._topic: dict[str, float] = {}
        self._template: dict[str, str] = {}

    def keep(self, page: PageWords) -> Judgement:
        """WY-A3: similarity by concepts against theta."""
        self._knowledge.add(page)
        self._refresh()
        score = self.block_sum(page) if self._settings.block_sum else self.similarity(page)
        return Judgement(keep=score >= self._settings.theta or page.url in self._examples, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Judgement, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """The page's own score; between links of equal pages the anchor decides."""
        return [judgement.score + TIE * self._matches(link) for link in links]

    def learn(self, page: PageWords, judgement: Judgement) -> None:
        """Take a kept page's terms."""
        self._knowledge.judged(page, judgement.keep)
        if judgement.keep:
            terms = term_weights(page.blocks, IMPORTANT)
            common = [word for word in terms if is_common(word, self._knowledge.others)]
            if self.library.add(terms, self._template, common):
                self._version = -1

    def rescored(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}

    def similarity(self, page: PageWords) -> float:
        """WY-F15 over WY-F13 of the page's important terms, as concepts."""
        blocks = substituted(page.blocks, self._template)
        important = term_weights(blocks, IMPORTANT)
        weights = position_weights(blocks, self._knowledge.statistics)
        return cosine(self._topic, {word: weights[word] for word in important})

    def block_sum(self, page: PageWords) -> float:
        """WY-F9: the same for the blocks of each kind alone, all positions alike, weighted by kind."""
        blocks = substituted(page.blocks, self._template)
        total = 0.0
        for kind, weight in OF_KIND.items():
            some = [block for block in blocks if block.kind == kind]
            total += weight * cosine(self._topic, position_weights(some, self._knowledge.statistics, ALIKE_POSITIONS))
        return total

    def _refresh(self) -> None:
        """Topic vector and template anew where terms, vectors or the dynamic library have changed."""
        knowledge = self._knowledge
        if self._version == knowledge.version:
            return
        self._version = knowledge.version
        terms = dict(knowledge.terms) | {
            word: DYNAMIC_WEIGHT for word in self.library.confirmed if word not in knowledge.terms
        }
        self._template = template_of(terms, expansions(knowledge.terms, knowledge.given.concepts, knowledge.vectors))
        self._topic = {self._template[term]: weight for term, weight in terms.items()}

    def _matches(self, link: LinkWords) -> float:
        """The share of the anchor's words that stand for a concept of the topic."""
        return sum(word in self._template for word in link.anchor) / max(len(link.anchor), 1)


class StaticKeywords:
    """The baseline `static_keywords`: the same terms, compared literally, wherever on the page they stand."""

    def __init__(self, topic: Topic, given: Given = NOTHING, theta: float = 0.2) -> None:
        self._knowledge = Knowledge(topic, given)
        self._theta = theta
        self._examples = {page.url for page in topic.examples}

    def keep(self, page: PageWords) -> Judgement:
        """Cosine of the keywords' weights and the counts of the page's words."""
        self._knowledge.add(page)
        score = cosine(self._knowledge.terms, page.counts)
        return Judgement(keep=score >= self._theta or page.url in self._examples, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Judgement, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """The page's own score."""
        return [judgement.score] * len(links)

    def learn(self, page: PageWords, judgement: Judgement) -> None:
        """As `TopicLibrary` has them, the original terms; nothing is added to them."""
        self._knowledge.judged(page, judgement.keep)

    def rescored(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}
