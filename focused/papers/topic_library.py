"""Extended topic feature library (Wu Yueting 2015), and the static keywords it is measured against.

keep       the page as tag blocks, noise left out, words replaced by concepts (WY-A3), compared with the topic's: by
           kind of block and summed (WY-F9), or all at once, weighted by position (WY-F13, WY-F15)
priority   the page's similarity and that of anchor and context
learn      words that the kept pages share enter the dynamic library
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crawler.guide import ANCHOR, CONTENT, NAVIGATION, OTHER, TITLE, LinkWords, PageWords, Relevance, TopicWords, Words
from focused.papers.feature_library import (
    SharedTerms,
    expansions,
    substituted,
    template_of,
)
from focused.papers.knowledge import NOTHING, Given, Knowledge, first_terms
from focused.papers.positions import position_weights
from focused.papers.threshold import Threshold
from text.sparse import cosine, cosine_to, unit

OF_KIND = {
    TITLE: 0.3,
    CONTENT: 0.6,
    ANCHOR: 0.05,
    OTHER: 0.05,
    NAVIGATION: 0.0,
}  # c of WY-F9 [D]
EXPANDED = 40  # terms, the heaviest, that expansions are looked for
NOISE = 0.2  # a word that a larger share of the pages holds is noise, unless it is the topic's (WY-A1, step 3)
ENOUGH = 8  # pages, to tell
OF_LINK = 0.2  # of the likeness of anchor and context, beside the page's own [D]
OF_KEYWORDS = 0.03  # threshold of the static keywords


@dataclass(frozen=True)
class LibrarySettings:
    """`theta` is the threshold where there are no examples to tell it; `block_sum` the mode of WY-F9; `automatic`: the
    dynamic library grows unasked."""

    theta: float = 0.2
    block_sum: bool = True
    automatic: bool = True


class TopicLibrary:
    """The strategy `topic_library`."""

    def __init__(
        self,
        topic: TopicWords,
        given: Given = NOTHING,
        settings: LibrarySettings | None = None,
    ) -> None:
        self._settings = settings or LibrarySettings()
        self._knowledge = Knowledge(topic, given)
        self._examples = {page.url for page in topic.examples}
        self._shared = SharedTerms()
        self._theta = Threshold(self._settings.theta)
        self._version = -1
        self._topic: Mapping[str, float] = {}
        self._template: Mapping[str, str] = {}

    def keep(self, page: PageWords) -> Relevance:
        """WY-A3: similarity by concepts against theta."""
        self._knowledge.add(page)
        self._refresh()
        score = self.similarity(page, self._topic)
        self._theta.add(score)
        return Relevance(keep=score >= self._theta.value or page.url in self._examples, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Relevance, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """The page's own score (METHODS 5), and among the links of pages alike, how like the topic anchor and context
        are."""
        own = judgement.score
        return [own + OF_LINK * (self.likeness(link.anchor) + self.likeness(link.context)) for link in links]

    def learn(self, page: PageWords, judgement: Relevance) -> None:
        """Take a kept page's words; they count from the next time that the terms are looked at."""
        if self._settings.automatic and judgement.keep and page.url not in self._examples:
            self._shared.add(page.counts)

    def rescored(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}

    def similarity(self, page: PageWords, topic: Mapping[str, float]) -> float:
        """WY-F9 or WY-F15 of a page with a topic of concepts, of length 1; 0 to 1."""
        by_kind = {
            kind: substituted(self._reduced(counts, topic), self._template)
            for kind, counts in page.by_kind.items()
            if OF_KIND[kind] or not self._settings.block_sum
        }
        statistics = self._knowledge.statistics
        if not self._settings.block_sum:
            return cosine_to(topic, position_weights(by_kind, statistics))
        return sum(OF_KIND[kind] * cosine_to(topic, statistics.by_idf(counts)) for kind, counts in by_kind.items())

    def likeness(self, words: Words) -> float:
        """WY-F15 of some words, 0 to 1."""
        concepts = dict.fromkeys((self._template.get(word, word) for word in words), 1.0)
        return cosine_to(self._topic, self._knowledge.statistics.by_idf(concepts))

    def _reduced(self, counts: Mapping[str, int], topic: Mapping[str, float]) -> Mapping[str, int]:
        """The words without noise."""
        statistics, template = self._knowledge.statistics, self._template
        if statistics.documents < ENOUGH:
            return counts
        most, holding = NOISE * statistics.documents, statistics.holding.get
        return {w: count for w, count in counts.items() if holding(w, 0) <= most or w in topic or w in template}

    def _refresh(self) -> None:
        """Topic, template and threshold anew where the terms have changed."""
        knowledge = self._knowledge
        if self._version == knowledge.version:
            return
        self._version = knowledge.version
        first = first_terms(knowledge.terms, EXPANDED)
        self._template = template_of(
            knowledge.terms,
            expansions(first, knowledge.given.concepts, knowledge.vectors),
        )
        shared = self._shared.weights(knowledge.terms, knowledge.statistics)
        self._topic = self._by_concept(knowledge.terms_by(knowledge.topic.examples, shared))
        held_out = knowledge.held_out(shared)
        self._theta.take_level([self.similarity(page, self._by_concept(terms)) for page, terms in held_out])

    def _by_concept(self, terms: Mapping[str, float]) -> dict[str, float]:
        """ETFL as a vector of concepts (WY-F10), of length 1: a concept weighs what its heaviest term does."""
        found: dict[str, float] = {}
        for term, weight in terms.items():
            concept = self._template.get(term, term)
            found[concept] = max(found.get(concept, 0.0), weight)
        return unit(found)


class StaticKeywords:
    """The baseline `static_keywords`: the same first terms, compared literally, wherever on the page they stand.

    Its threshold is the one that was best for it on wikispeedia and zh_docs (docs/background/focused-crawling.md).
    """

    def __init__(self, topic: TopicWords, given: Given = NOTHING, theta: float = OF_KEYWORDS) -> None:
        self._knowledge = Knowledge(topic, given)
        self._theta = theta
        self._examples = {page.url for page in topic.examples}

    def keep(self, page: PageWords) -> Relevance:
        """Cosine of the keywords' weights and the counts of the page's words."""
        self._knowledge.add(page)
        score = cosine(self._knowledge.terms, page.counts)
        return Relevance(keep=score >= self._theta or page.url in self._examples, score=score)

    def link_priorities(
        self, page: PageWords, judgement: Relevance, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        """The page's own score."""
        return [judgement.score] * len(links)

    def learn(self, page: PageWords, judgement: Relevance) -> None:
        """Nothing: a static library stays as it is."""

    def rescored(self) -> Mapping[str, float]:
        """None: a priority stands."""
        return {}
