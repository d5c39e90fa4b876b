"""What an operator says a crawl shall look for, and what waits for the operator's word (METHODS 3.4 and 3.6).

Topic        name, words, example pages, terms, seeds        data folder -> crawler, review page
TopicTerm    a term of one of Wu's three classes             proposed -> confirmed or refused
TopicSeed    a URL to begin at                          the same
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class TopicTermClass(StrEnum):
    """The three classes of a topic's terms (METHODS 3.4): what fixes the field, whom it concerns, what makes a page
    worth keeping."""

    PROFESSIONAL = "professional"
    SUBJECT = "subject"
    JUDGEMENT = "judgement"


class TopicState(StrEnum):
    """What the operator thinks of a term or seed. Only what is confirmed counts."""

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    REFUSED = "refused"


@dataclass(frozen=True)
class TopicTerm:
    """A term. `origin` says where it comes from (`operator`, `concepts`, `index`, `search`, `crawl`), `evidence` for
    what reason, `score` how much speaks for it (0 to 1 within an origin)."""

    text: str
    term_class: TopicTermClass = TopicTermClass.PROFESSIONAL
    state: TopicState = TopicState.PROPOSED
    origin: str = "operator"
    score: float = 0.0
    evidence: str = ""


@dataclass(frozen=True)
class TopicSeed:
    """A URL where the crawl may begin; the other fields as those of `TopicTerm`."""

    url: str
    state: TopicState = TopicState.PROPOSED
    origin: str = "operator"
    score: float = 0.0
    evidence: str = ""


@dataclass(frozen=True)
class ExamplePage:
    """A page that is of the topic for certain. `blocks` are (kind, weight, text), see crawler/focused_policy.py."""

    url: str
    title: str = ""
    description: str = ""
    blocks: tuple[tuple[str, float, str], ...] = ()


@dataclass(frozen=True)
class Topic:
    """A topic. `words` are those of its name and description; `term_tree` the operator's own tree of terms, as indented
    lines (focused/paper_strategies/topic_tree.py); `counts_unconfirmed_terms`: terms that come up during the crawl count unconfirmed."""

    name: str
    words: tuple[str, ...] = ()
    terms: tuple[TopicTerm, ...] = ()
    seeds: tuple[TopicSeed, ...] = ()
    examples: tuple[ExamplePage, ...] = ()
    term_tree: tuple[str, ...] = ()
    counts_unconfirmed_terms: bool = False

    def confirmed_terms(self, term_class: TopicTermClass) -> tuple[str, ...]:
        """The confirmed terms of a class."""
        return tuple(
            term.text for term in self.terms if term.state is TopicState.CONFIRMED and term.term_class is term_class
        )

    def pending_count(self) -> int:
        """How many terms and seeds wait for a decision."""
        states = [term.state for term in self.terms] + [seed.state for seed in self.seeds]
        return states.count(TopicState.PROPOSED)

    def with_terms(self, new_terms: Iterable[TopicTerm]) -> "Topic":
        """The topic with more terms; one that is there already stays as it is, whatever was decided on it."""
        known_texts = {term.text for term in self.terms}
        added = {term.text: term for term in new_terms if term.text not in known_texts}
        return replace(self, terms=(*self.terms, *added.values()))

    def with_seeds(self, new_seeds: Iterable[TopicSeed]) -> "Topic":
        """The same for seeds."""
        known_urls = {seed.url for seed in self.seeds}
        added = {seed.url: seed for seed in new_seeds if seed.url not in known_urls}
        return replace(self, seeds=(*self.seeds, *added.values()))

    def with_decision(
        self, texts: Iterable[str], state: TopicState, term_class: TopicTermClass | None = None
    ) -> "Topic":
        """The topic with a decision on terms (by text) and seeds (by URL); `term_class` moves terms to another class."""
        targets = set(texts)
        terms = (
            replace(term, state=state, term_class=term_class or term.term_class) if term.text in targets else term
            for term in self.terms
        )
        seeds = (replace(seed, state=state) if seed.url in targets else seed for seed in self.seeds)
        return replace(self, terms=tuple(terms), seeds=tuple(seeds))

    def unknown_items(self, texts: Iterable[str]) -> list[str]:
        """Those that are neither a term nor a seed of it."""
        known_texts = {term.text for term in self.terms} | {seed.url for seed in self.seeds}
        return [text for text in texts if text not in known_texts]
