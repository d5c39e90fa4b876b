"""The topic of a focused crawl, with suggestions that wait for the administrator's decision.

Topic        name, words, example pages, terms, seeds     data folder -> crawler, review page
TopicTerm    a term of one of Wu's three classes          proposed -> confirmed or refused
TopicSeed    a URL at which the crawl starts              proposed -> confirmed or refused
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class TopicTermClass(StrEnum):
    """Classes of topic terms.

    PROFESSIONAL terms define the field, SUBJECT terms name the parties concerned, JUDGEMENT terms make a page worth
    storing.
    """

    PROFESSIONAL = "professional"
    SUBJECT = "subject"
    JUDGEMENT = "judgement"


class TopicState(StrEnum):
    """Decision of the administrator on a topic term or seed. Only confirmed items take effect."""

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    REFUSED = "refused"


@dataclass(frozen=True)
class TopicTerm:
    """A topic term.

    Attributes:
        origin: Source of the term: `operator`, `concepts`, `index`, `search` or `crawl`.
        score: Strength of the evidence, 0 to 1; comparable only within an origin.
        evidence: Reason for the suggestion.
    """

    text: str
    term_class: TopicTermClass = TopicTermClass.PROFESSIONAL
    state: TopicState = TopicState.PROPOSED
    origin: str = "operator"
    score: float = 0.0
    evidence: str = ""


@dataclass(frozen=True)
class TopicSeed:
    """A seed URL. The other fields are those of `TopicTerm`."""

    url: str
    state: TopicState = TopicState.PROPOSED
    origin: str = "operator"
    score: float = 0.0
    evidence: str = ""


@dataclass(frozen=True)
class ExamplePage:
    """An example page that is certainly on topic. `blocks` are (kind, weight, text), see crawler/focused_policy.py."""

    url: str
    title: str = ""
    description: str = ""
    blocks: tuple[tuple[str, float, str], ...] = ()


@dataclass(frozen=True)
class Topic:
    """A topic.

    Attributes:
        words: Words of the name and description.
        term_tree: Term tree of the administrator, as indented lines (focused/paper_strategies/topic_tree.py).
        counts_unconfirmed_terms: If True, terms discovered during the crawl take effect without confirmation.
    """

    name: str
    words: tuple[str, ...] = ()
    terms: tuple[TopicTerm, ...] = ()
    seeds: tuple[TopicSeed, ...] = ()
    examples: tuple[ExamplePage, ...] = ()
    term_tree: tuple[str, ...] = ()
    counts_unconfirmed_terms: bool = False

    def confirmed_terms(self, term_class: TopicTermClass) -> tuple[str, ...]:
        """Return the confirmed terms of a class."""
        return tuple(
            term.text for term in self.terms if term.state is TopicState.CONFIRMED and term.term_class is term_class
        )

    def pending_count(self) -> int:
        """Return the number of terms and seeds without a decision."""
        states = [term.state for term in self.terms] + [seed.state for seed in self.seeds]
        return states.count(TopicState.PROPOSED)

    def with_terms(self, new_terms: Iterable[TopicTerm]) -> "Topic":
        """Return a copy with more terms. Existing terms and decisions on them do not change."""
        known_texts = {term.text for term in self.terms}
        added_terms = {term.text: term for term in new_terms if term.text not in known_texts}
        return replace(self, terms=(*self.terms, *added_terms.values()))

    def with_seeds(self, new_seeds: Iterable[TopicSeed]) -> "Topic":
        """Return a copy with more seeds. Existing seeds and decisions on them do not change."""
        known_urls = {seed.url for seed in self.seeds}
        added_seeds = {seed.url: seed for seed in new_seeds if seed.url not in known_urls}
        return replace(self, seeds=(*self.seeds, *added_seeds.values()))

    def with_decision(
        self, texts: Iterable[str], state: TopicState, term_class: TopicTermClass | None = None
    ) -> "Topic":
        """Return a copy with a decision on terms (by text) and seeds (by URL).

        If `term_class` is set, the terms also move to that class.
        """
        targets = set(texts)
        terms = (
            replace(term, state=state, term_class=term_class or term.term_class) if term.text in targets else term
            for term in self.terms
        )
        seeds = (replace(seed, state=state) if seed.url in targets else seed for seed in self.seeds)
        return replace(self, terms=tuple(terms), seeds=tuple(seeds))

    def unknown_items(self, texts: Iterable[str]) -> list[str]:
        """Return the elements of `texts` that are neither a term nor a seed of the topic."""
        known_texts = {term.text for term in self.terms} | {seed.url for seed in self.seeds}
        return [text for text in texts if text not in known_texts]
