"""The extended topic feature library (Wu Yueting 2015, METHODS 3.4 to 3.8).

ETFL = static library (confirmed terms)  +  dynamic library (terms that kept pages share, WY-F7)
concept of a term: the original term that it expands; a page is compared by concepts (WY-A3)
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from operator import itemgetter

from crawler.focused_policy import Words
from focused.paper_strategies.concept_source import ConceptSource
from focused.paper_strategies.topic_knowledge import unit_tfidf_vector
from focused.paper_strategies.word_vectors import WordVectors
from text.word_weights import WordStatistics

UPDATE_INTERVAL_PAGES = 50  # K: kept pages between two looks at what they share [D]
MIN_PAGES_WITH_TERM = 5  # of them that hold a candidate [D]
MAX_VECTOR_EXPANSIONS = 5  # of a term by vectors, at most
MIN_EXPANSION_SIMILARITY = 0.6  # least similarity of an expansion by vectors
DYNAMIC_WEIGHT = 0.5  # of what the kept pages share, beside 1 for what the examples do [D]
MIN_RELEVANT_PAGES = 3  # kept pages
MAX_RELEVANT_PAGES = 40  # of the kept pages, those most like the static library: what drifted may not draw further
MAX_REMEMBERED_PAGES = 200  # kept pages, the last ones
MAX_WORDS_PER_PAGE = 600  # of a kept page, the most frequent
MAX_NEW_TERMS = 10  # terms taken at one look: the dynamic library may not outgrow the static one


@dataclass(frozen=True)
class Expansion:
    """A word that stands for a concept, and how alike it is to the concept's own word."""

    word: str
    concept: str
    similarity: float


def expand_terms(terms: Iterable[str], concepts: ConceptSource | None, vectors: WordVectors) -> list[Expansion]:
    """Scheme 1: synonyms and words above or below by `concepts`, near words by `vectors`."""
    expansions: list[Expansion] = []
    for term in terms:
        expansions += (Expansion(word, term, 1.0) for word in (concepts.related(term) if concepts else ()))
        expansions += (
            Expansion(word, term, value)
            for word, value in vectors.nearest(term, MAX_VECTOR_EXPANSIONS, MIN_EXPANSION_SIMILARITY)
        )
    return expansions


def build_concept_map(terms: Iterable[str], expansions: Iterable[Expansion]) -> dict[str, str]:
    """WY-A3, step 1: word -> concept. A term is its own concept; a word of two goes to the more similar, else the
    first."""
    best: dict[str, Expansion] = {}
    for expansion in expansions:
        if expansion.word not in best or expansion.similarity > best[expansion.word].similarity:
            best[expansion.word] = expansion
    return {word: best_expansion.concept for word, best_expansion in best.items()} | {term: term for term in terms}


def map_words_to_concepts(counts: Mapping[str, int], concept_by_word: Mapping[str, str]) -> dict[str, int]:
    """WY-A3, step 3: every word of the template counts as its concept."""
    concept_counts = dict(counts)
    for word, concept in concept_by_word.items():
        if word in counts and concept != word:
            concept_counts[concept] = concept_counts.get(concept, 0) + concept_counts.pop(word)
    return concept_counts


class SharedTerms:
    """DTFL in automatic mode: words that the kept pages most like the static library share, by weight."""

    def __init__(self) -> None:
        self._pages: deque[dict[str, int]] = deque(maxlen=MAX_REMEMBERED_PAGES)

    def add_page(self, counts: Mapping[str, int]) -> None:
        """Take a kept page's words."""
        self._pages.append(dict(sorted(counts.items(), key=itemgetter(1), reverse=True)[:MAX_WORDS_PER_PAGE]))

    def term_weights(self, static: Mapping[str, float], statistics: WordStatistics) -> dict[str, float]:
        """DYNAMIC_WEIGHT times the mean of the pages as unit vectors; {} for too few of them."""
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
    """DTFL: what the kept pages share. In automatic mode terms count at once, else they wait in `pending_terms`."""

    automatic: bool = True
    confirmed_terms: list[str] = field(default_factory=list)
    pending_terms: list[str] = field(default_factory=list)
    _relevant_page_count: int = 0
    _pages_with_term: Counter[str] = field(default_factory=Counter)

    def add_page_terms(
        self,
        terms: Iterable[str],
        known_terms: Mapping[str, str],
        common_words: Iterable[str] = (),
    ) -> bool:
        """Take a kept page's terms (WY-A1); True if the library has grown. `known_terms` is the template."""
        self._relevant_page_count += 1
        self._pages_with_term.update(set(terms))
        if self._relevant_page_count % UPDATE_INTERVAL_PAGES:
            return False
        excluded_words = {*known_terms, *common_words, *self.confirmed_terms, *self.pending_terms}
        new_terms = [
            word
            for word, page_count in self._pages_with_term.most_common()
            if page_count >= MIN_PAGES_WITH_TERM and word not in excluded_words
        ]
        self._pages_with_term.clear()
        (self.confirmed_terms if self.automatic else self.pending_terms).extend(new_terms[:MAX_NEW_TERMS])
        return self.automatic and bool(new_terms)

    def confirm_pending(self, words: Words) -> None:
        """The operator took these pending terms; the others are dropped."""
        self.confirmed_terms += [word for word in self.pending_terms if word in words]
        self.pending_terms.clear()
