"""The extended topic feature library (Wu Yueting 2015).

ETFL = static library (confirmed terms)  +  dynamic library (terms that retained pages share, WY-F7)
concept of a term: the original term that it expands; pages are compared by concepts (WY-A3)
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from operator import itemgetter

from crawler.focused_policy import Words
from domain.paper_settings import WuYuetingSettings
from focused.concepts.source import ConceptSource
from focused.paper_strategies.topic_knowledge import unit_tfidf_vector
from focused.paper_strategies.word_vectors import WordVectors
from focused.word_weights import WordStatistics

MAX_VECTOR_EXPANSIONS = 5  # expansions per term by vectors
MIN_EXPANSION_SIMILARITY = 0.6  # minimum similarity of an expansion by vectors
DYNAMIC_WEIGHT = 0.5  # weight of the words that retained pages share; words of the examples weigh 1 [D]
MIN_RELEVANT_PAGES = 3  # retained pages needed for shared terms
MAX_RELEVANT_PAGES = 40  # retained pages used, the most similar to the static library, to limit topic drift
MAX_REMEMBERED_PAGES = 200  # most recent retained pages that are stored
MAX_WORDS_PER_PAGE = 600  # most frequent words stored per retained page
MAX_NEW_TERMS = 10  # new terms per evaluation, so that the dynamic library does not outgrow the static one


@dataclass(frozen=True)
class Expansion:
    """A word that maps to a concept, and its similarity to the concept's own word."""

    word: str
    concept: str
    similarity: float


def expand_terms(terms: Iterable[str], concepts: ConceptSource | None, vectors: WordVectors) -> list[Expansion]:
    """Scheme 1: return synonyms, broader and narrower words from `concepts`, and nearest words from `vectors`."""
    expansions: list[Expansion] = []
    for term in terms:
        expansions += (Expansion(word, term, 1.0) for word in (concepts.related(term) if concepts else ()))
        expansions += (
            Expansion(word, term, value)
            for word, value in vectors.nearest(term, MAX_VECTOR_EXPANSIONS, MIN_EXPANSION_SIMILARITY)
        )
    return expansions


def build_concept_map(terms: Iterable[str], expansions: Iterable[Expansion]) -> dict[str, str]:
    """WY-A3, step 1: map each word to its concept.

    A term is its own concept. A word that expands two terms maps to the more similar term, on a tie to the first.
    """
    best: dict[str, Expansion] = {}
    for expansion in expansions:
        if expansion.word not in best or expansion.similarity > best[expansion.word].similarity:
            best[expansion.word] = expansion
    return {word: best_expansion.concept for word, best_expansion in best.items()} | {term: term for term in terms}


def map_words_to_concepts(counts: Mapping[str, int], concept_by_word: Mapping[str, str]) -> dict[str, int]:
    """WY-A3, step 3: add the count of each mapped word to its concept."""
    concept_counts = dict(counts)
    for word, concept in concept_by_word.items():
        if word in counts and concept != word:
            concept_counts[concept] = concept_counts.get(concept, 0) + concept_counts.pop(word)
    return concept_counts


class SharedTerms:
    """DTFL in automatic mode: weights of the words shared by the retained pages most similar to the static library."""

    def __init__(self) -> None:
        self._pages: deque[dict[str, int]] = deque(maxlen=MAX_REMEMBERED_PAGES)

    def add_page(self, counts: Mapping[str, int]) -> None:
        """Add the word counts of a retained page."""
        self._pages.append(dict(sorted(counts.items(), key=itemgetter(1), reverse=True)[:MAX_WORDS_PER_PAGE]))

    def term_weights(self, static: Mapping[str, float], statistics: WordStatistics) -> dict[str, float]:
        """Return DYNAMIC_WEIGHT times the mean of the pages as unit vectors.

        The mapping is empty for fewer than MIN_RELEVANT_PAGES pages.
        """
        if len(self._pages) < MIN_RELEVANT_PAGES:
            return {}
        pages = [unit_tfidf_vector(counts, statistics) for counts in self._pages]
        most_relevant = nlargest(
            MAX_RELEVANT_PAGES,
            pages,
            key=lambda page: sum(page[w] * static.get(w, 0.0) for w in page),
        )
        weights: Counter[str] = Counter()
        for page in most_relevant:
            for word, value in page.items():
                weights[word] += DYNAMIC_WEIGHT * value / len(most_relevant)  # type: ignore[assignment]
        return dict(weights)


@dataclass
class DynamicTermLibrary:
    """DTFL: terms that retained pages share. They take effect after confirmation."""

    settings: WuYuetingSettings = field(default_factory=WuYuetingSettings)
    confirmed_terms: list[str] = field(default_factory=list)
    pending_terms: list[str] = field(default_factory=list)
    _relevant_page_count: int = 0
    _pages_with_term: Counter[str] = field(default_factory=Counter)

    def add_page_terms(
        self, terms: Iterable[str], known_terms: Iterable[str], common_words: Iterable[str] = ()
    ) -> None:
        """Add the terms of a retained page (WY-A1). Every `update_pages` pages new terms become pending.

        Args:
            terms: terms of the page.
            known_terms: words that are never new terms.
            common_words: words too common for a term.
        """
        self._relevant_page_count += 1
        self._pages_with_term.update(set(terms))
        if self._relevant_page_count % self.settings.update_pages:
            return
        excluded_words = {*known_terms, *common_words, *self.confirmed_terms, *self.pending_terms}
        new_terms = [
            word
            for word, page_count in self._pages_with_term.most_common()
            if page_count >= self.settings.min_pages and word not in excluded_words
        ]
        self._pages_with_term.clear()
        self.pending_terms += new_terms[:MAX_NEW_TERMS]

    def confirm_pending(self) -> Words:
        """Confirm the pending terms and return them."""
        terms = tuple(self.pending_terms)
        self.confirmed_terms += terms
        self.pending_terms.clear()
        return terms
