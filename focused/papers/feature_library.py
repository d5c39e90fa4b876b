"""The extended topic feature library (Wu Yueting 2015, METHODS 3.4 to 3.8).

ETFL = static library (confirmed terms)  +  dynamic library (terms that kept pages share, WY-F7)
concept of a term: the original term that it expands; a page is compared by concepts (WY-A3)
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from operator import itemgetter

from crawler.guide import Words
from focused.papers.concepts import Concepts
from focused.papers.knowledge import unit_vector
from focused.papers.vectors import WordVectors
from text.word_weights import WordStatistics

EVERY = 50  # K: kept pages between two looks at what they share [D]
MIN_PAGES = 5  # of them that hold a candidate [D]
EXPANSIONS = 5  # of a term by vectors, at most
ALIKE = 0.6  # least similarity of an expansion by vectors
DYNAMIC_WEIGHT = 0.5  # of what the kept pages share, beside 1 for what the examples do [D]
MIN_SHARING = 3  # kept pages
MAX_SHARING = 40  # of the kept pages, those most like the static library: what drifted may not draw further
REMEMBERED = 200  # kept pages, the last ones
MAX_WORDS = 600  # of a kept page, the most frequent
MAX_DYNAMIC = 10  # terms taken at one look: the dynamic library may not outgrow the static one


@dataclass(frozen=True)
class Expansion:
    """A word that stands for a concept, and how alike it is to the concept's own word."""

    word: str
    concept: str
    similarity: float


def expansions(terms: Iterable[str], concepts: Concepts | None, vectors: WordVectors) -> list[Expansion]:
    """Scheme 1: synonyms and words above or below by `concepts`, near words by `vectors`."""
    found: list[Expansion] = []
    for term in terms:
        found += (Expansion(word, term, 1.0) for word in (concepts.related(term) if concepts else ()))
        found += (Expansion(word, term, value) for word, value in vectors.near(term, EXPANSIONS, ALIKE))
    return found


def template_of(terms: Iterable[str], expanded: Iterable[Expansion]) -> dict[str, str]:
    """WY-A3, step 1: word -> concept. A term is its own concept; a word of two goes to the more similar, else the
    first."""
    best: dict[str, Expansion] = {}
    for expansion in expanded:
        if expansion.word not in best or expansion.similarity > best[expansion.word].similarity:
            best[expansion.word] = expansion
    return {word: one.concept for word, one in best.items()} | {term: term for term in terms}


def substituted(counts: Mapping[str, int], template: Mapping[str, str]) -> dict[str, int]:
    """WY-A3, step 3: every word of the template counts as its concept."""
    found = dict(counts)
    for word, concept in template.items():
        if word in counts and concept != word:
            found[concept] = found.get(concept, 0) + found.pop(word)
    return found


class SharedTerms:
    """DTFL in automatic mode: words that the kept pages most like the static library share, by weight."""

    def __init__(self) -> None:
        self._pages: deque[dict[str, int]] = deque(maxlen=REMEMBERED)

    def add(self, counts: Mapping[str, int]) -> None:
        """Take a kept page's words."""
        self._pages.append(dict(sorted(counts.items(), key=itemgetter(1), reverse=True)[:MAX_WORDS]))

    def weights(self, static: Mapping[str, float], statistics: WordStatistics) -> dict[str, float]:
        """DYNAMIC_WEIGHT times the mean of the pages as unit vectors; {} for too few of them."""
        if len(self._pages) < MIN_SHARING:
            return {}
        pages = [unit_vector(counts, statistics) for counts in self._pages]
        best = nlargest(
            MAX_SHARING,
            pages,
            key=lambda page: sum(page[w] * static.get(w, 0.0) for w in page),
        )
        found: Counter[str] = Counter()
        for page in best:
            for word, value in page.items():
                found[word] += DYNAMIC_WEIGHT * value / len(best)  # type: ignore[assignment]
        return dict(found)


@dataclass
class DynamicLibrary:
    """DTFL: what the kept pages share. In automatic mode terms count at once, else they wait in `pending`."""

    automatic: bool = True
    confirmed: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    _kept: int = 0
    _holding: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        terms: Iterable[str],
        known: Mapping[str, str],
        is_common: Iterable[str] = (),
    ) -> bool:
        """Take a kept page's terms (WY-A1); True if the library has grown. `known` is the template."""
        self._kept += 1
        self._holding.update(set(terms))
        if self._kept % EVERY:
            return False
        out = {*known, *is_common, *self.confirmed, *self.pending}
        shared = [word for word, pages in self._holding.most_common() if pages >= MIN_PAGES and word not in out]
        self._holding.clear()
        (self.confirmed if self.automatic else self.pending).extend(shared[:MAX_DYNAMIC])
        return self.automatic and bool(shared)

    def confirm(self, words: Words) -> None:
        """The operator took these pending terms; the others are dropped."""
        self.confirmed += [word for word in self.pending if word in words]
        self.pending.clear()
