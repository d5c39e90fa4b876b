"""The terms that readers see: those of the indexed lexicon version that a person accepted or that are nearly certain.

The other entries of the version are words. They improve segmentation and search, but no page, feed, API or suggestion
names them as terms. Everything that shows terms asks the glossary.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from string import ascii_uppercase
from typing import NamedTuple

from domain.term import Lexicon, TermClass
from search_ui.interfaces import SiteBackend
from search_ui.vocabulary_cache import start_daemon_thread
from text.folding import fold_to_key, word_key
from text.pinyin import has_han, to_pinyin
from text.segment import Segmenter

MAX_NAME_CHARS = 200  # as the store; longer names are no terms
OTHER_INITIAL = "#"  # of terms that begin with no Latin letter and no Chinese character
INITIALS = (OTHER_INITIAL, *ascii_uppercase)
_POSITION_BY_INITIAL = {initial: position for position, initial in enumerate(INITIALS)}
MAX_ABBREVIATION_CHARS = 10
MAX_CACHED_KEYS = 1 << 18  # review decisions change the glossary, but hardly any term


@dataclass(frozen=True)
class GlossaryTerm:
    """A term of the published lexicon, with its public names."""

    text: str
    synonyms: tuple[str, ...] = ()
    broader_terms: tuple[str, ...] = ()
    category: TermClass = TermClass.NONE
    is_new: bool = False

    @property
    def sort_key(self) -> str:
        """Pinyin of a Chinese term, lower-case letters of another one."""
        return _cached_sort_key(self.text)

    @property
    def word_keys(self) -> tuple[str, ...]:
        """The term and its synonyms in the form in which spellings are equal."""
        return tuple(_cached_word_key(word) for word in (self.text, *self.synonyms))

    @property
    def initial(self) -> str:
        """The letter under which the term is listed, one of `INITIALS`."""
        return _initial(self.sort_key)

    @property
    def abbreviations(self) -> tuple[str, ...]:
        """The synonyms in capitals, such as LNG."""
        return tuple(word for word in self.synonyms if _is_abbreviation(word))

    @property
    def equivalents(self) -> tuple[str, ...]:
        """The synonyms in the other language: Latin words of a Chinese term, Chinese words of a Latin one."""
        is_han = has_han(self.text)
        return tuple(word for word in self.synonyms if has_han(word) != is_han and not _is_abbreviation(word))

    @property
    def variants(self) -> tuple[str, ...]:
        """The synonyms that are neither abbreviations nor in the other language."""
        other_groups = {*self.abbreviations, *self.equivalents}
        return tuple(word for word in self.synonyms if word not in other_groups)


def _initial(sort_key: str) -> str:
    first = sort_key[:1].upper()
    return first if first and first in ascii_uppercase else OTHER_INITIAL


def _list_position(term: GlossaryTerm) -> tuple[int, str, str]:
    sort_key = term.sort_key
    return _POSITION_BY_INITIAL[_initial(sort_key)], sort_key, term.text


@lru_cache(MAX_CACHED_KEYS)
def _cached_sort_key(text: str) -> str:
    return to_pinyin(text) if has_han(text) else word_key(text)


_cached_word_key = lru_cache(MAX_CACHED_KEYS)(word_key)


def _is_other_word(word: str, term: GlossaryTerm) -> bool:
    """True if a word is the term or an abbreviation of it only without its capitals, as `It` is of IT."""
    return word.isascii() and not _is_abbreviation(word) and word.upper() in (term.text, *term.abbreviations)


def _is_abbreviation(word: str) -> bool:
    return len(word) <= MAX_ABBREVIATION_CHARS and " " not in word and sum(map(str.isupper, word)) > len(word) / 2


class TermOccurrence(NamedTuple):
    """A name of a term in a text, with its offsets."""

    start: int
    end: int
    term: GlossaryTerm


@dataclass(frozen=True)
class Glossary:
    """The published terms of one lexicon version, with the number and the time (epoch seconds) of the version."""

    terms: tuple[GlossaryTerm, ...] = ()
    version: int = 0
    published_at: float = 0.0

    @cached_property
    def _term_by_key(self) -> Mapping[str, GlossaryTerm]:
        """Terms by the keys of their names and synonyms. A name has precedence over the synonyms of other terms."""
        synonyms = {key: term for term in reversed(self.terms) for key in term.word_keys[1:]}
        return synonyms | {term.word_keys[0]: term for term in self.terms}

    @cached_property
    def _key_lengths_by_prefix(self) -> Mapping[str, Sequence[int]]:
        """The lengths of the names that begin with these two characters, the longest first."""
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for key in self._term_by_key:
            lengths[key[:2]].add(len(key))
        return {prefix: sorted(values, reverse=True) for prefix, values in lengths.items() if len(prefix) > 1}

    @cached_property
    def sorted_terms(self) -> tuple[GlossaryTerm, ...]:
        """The terms by initial and pinyin."""
        return tuple(sorted(self.terms, key=_list_position))

    @cached_property
    def used_initials(self) -> tuple[str, ...]:
        """The initials that have terms, in their order."""
        used = {term.initial for term in self.terms}
        return tuple(initial for initial in INITIALS if initial in used)

    @cached_property
    def used_classes(self) -> tuple[TermClass, ...]:
        """The classes that have terms, in their order."""
        used = {term.category for term in self.terms}
        return tuple(category for category in TermClass if category and category in used)

    @cached_property
    def _narrower_by_key(self) -> Mapping[str, Sequence[GlossaryTerm]]:
        """The terms below each broader term, in their order."""
        narrower_by_key: defaultdict[str, list[GlossaryTerm]] = defaultdict(list)
        for term in self.sorted_terms:
            for broader in term.broader_terms:
                narrower_by_key[self._key_of_term(broader)].append(term)
        return narrower_by_key

    def narrower_terms(self, term: GlossaryTerm) -> Sequence[GlossaryTerm]:
        """Return the terms with this broader term, in any spelling of it."""
        return self._narrower_by_key.get(term.word_keys[0], ())

    def _key_of_term(self, name: str) -> str:
        term = self.find(name)
        return term.word_keys[0] if term else word_key(name)

    @cached_property
    def has_new_terms(self) -> bool:
        """True if any term is new."""
        return any(term.is_new for term in self.terms)

    def find(self, name: str) -> GlossaryTerm | None:
        """Return the term with this name or synonym, in any spelling; None if it is not published."""
        return self._term_by_key.get(word_key(name)) if name and len(name) <= MAX_NAME_CHARS else None

    def find_exact(self, text: str) -> GlossaryTerm | None:
        """Return the term with exactly this text; None if it is not published."""
        term = self.find(text)
        return term if term is not None and term.text == text else None

    def has_term(self, text: str) -> bool:
        """True if a published term has exactly this text."""
        return self.find_exact(text) is not None

    def iter_occurrences(self, text: str, segmenter: Segmenter) -> Iterator[TermOccurrence]:
        """Iterate over the names of terms in a text, the longest at each place, without overlaps.

        A name begins and ends at word boundaries of `segmenter`. Names of one character do not count.
        """
        key_text, left_out = fold_to_key(text)
        ends = list(accumulate(map(len, segmenter.cut(text))))
        key_ends = [end - bisect_left(left_out, end) for end in ends] if left_out else ends
        end_by_key_end = dict(zip(reversed(key_ends), reversed(ends), strict=True))
        next_start = 0
        for start, key_start in zip([0, *ends[:-1]], [0, *key_ends[:-1]], strict=True):
            if start < next_start or text[start : start + 1].isspace():
                continue
            for length in self._key_lengths_by_prefix.get(key_text[key_start : key_start + 2], ()):
                end = end_by_key_end.get(key_start + length)
                term = self._term_by_key.get(key_text[key_start : key_start + length]) if end is not None else None
                if end is not None and term is not None and not _is_other_word(text[start:end], term):
                    yield TermOccurrence(start, end, term)
                    next_start = end
                    break

    def select_terms(
        self,
        text: str = "",
        initial: str = "",
        only_new: bool = False,
        is_prefix: bool = False,
        category: TermClass | None = None,
    ) -> Sequence[GlossaryTerm]:
        """Return the terms that match all criteria, in their order.

        Args:
            text: Part of the name or of a synonym, or the beginning of the pinyin; "" for all terms.
            initial: One of `INITIALS`; "" for all.
            only_new: Only terms that are new in the last versions.
            is_prefix: `text` has to be the beginning of the name or of a synonym.
            category: Only terms of this class; None for all.
        """
        key = word_key(text[:MAX_NAME_CHARS])
        pinyin = key.replace(" ", "")
        return [
            term
            for term in self.sorted_terms
            if (not initial or term.initial == initial)
            and (term.is_new or not only_new)
            and (category is None or term.category == category)
            and (
                not key
                or any(name.startswith(key) if is_prefix else key in name for name in term.word_keys)
                or (pinyin and term.sort_key.startswith(pinyin))
            )
        ]


class GlossaryCache:
    """Holds the glossary of the current lexicon version and state of its terms. Thread-safe: a race builds it twice."""

    def __init__(self) -> None:
        self._cached: tuple[Lexicon, object, Glossary] | None = None

    def get_glossary(self, lexicon: Lexicon, lexicon_backend: SiteBackend) -> Glossary:
        """Return the glossary of a version. It is built again after another version, a review decision and a run."""
        revision = lexicon_backend.last_decision_id(), lexicon_backend.definitions_revision()
        cached = self._cached
        if cached is None or cached[0] is not lexicon or cached[1] != revision:
            glossary = build_glossary(lexicon, lexicon_backend)
            cached = (lexicon, revision, glossary)
            self._cached = cached
            start_daemon_thread(lambda: glossary.sorted_terms)  # of 100,000 terms in seconds, the first time
        return cached[2]


def build_glossary(lexicon: Lexicon, lexicon_backend: SiteBackend) -> Glossary:
    """Build the glossary of a version."""
    states = lexicon_backend.published_term_states(lexicon.version)
    return Glossary(
        tuple(
            GlossaryTerm(entry.text, entry.synonyms, entry.broader_terms, entry.category, entry.text in states.new)
            for entry in lexicon.entries
            if entry.text not in states.hidden_texts
        ),
        lexicon.version,
        lexicon.published_at,
    )


class DefinedTermsCache:
    """Holds the terms that have a definition, with the number of articles that use each. Thread-safe."""

    def __init__(self) -> None:
        self._cached: tuple[object, Mapping[str, int]] = (None, {})

    def get_document_counts(self, lexicon_backend: SiteBackend) -> Mapping[str, int]:
        """Return the number of articles by term. It is loaded again after a run and after a review decision."""
        revision = (lexicon_backend.definitions_revision(), lexicon_backend.last_decision_id())
        if self._cached[0] != revision:
            self._cached = (revision, lexicon_backend.defined_terms())
        return self._cached[1]
