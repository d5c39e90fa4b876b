"""Looks up the synonyms of a lexicon version for the words of a query."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from domain.term import Lexicon
from search_ui.query.query_parser import ParsedQuery, PartKind
from text.folding import word_key
from text.solr_words import WORD_SEPARATOR

MAX_QUERY_SYNONYMS = 8  # synonyms in one query; each costs Solr a phrase
_MAX_TERM_WORDS = 6  # words of one term


@dataclass(frozen=True)
class Thesaurus:
    """Groups of synonyms, by the `word_key` of each member."""

    group_by_key: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def find_synonyms(self, word: str) -> tuple[str, ...]:
        """Return the synonyms of `word`, in the order of the lexicon; () if there are none."""
        key = word_key(word)
        return tuple(synonym for synonym in self.group_by_key.get(key, ()) if word_key(synonym) != key)


def build_thesaurus(lexicon: Lexicon) -> Thesaurus:
    """Build the thesaurus of a lexicon. A synonym leads to its term and to the other synonyms of the term."""
    groups: dict[str, tuple[str, ...]] = {}
    for entry in lexicon.entries:
        if not entry.synonyms:
            continue
        group = (entry.text, *entry.synonyms)
        for word in group:
            groups[word_key(word)] = tuple(dict.fromkeys((*groups.get(word_key(word), ()), *group)))
    return Thesaurus(groups)


def find_synonym_groups(query: ParsedQuery, words: Sequence[str], thesaurus: Thesaurus) -> tuple[str, ...]:
    """Return the terms of a query that have synonyms, each joined with them by `WORD_SEPARATOR`.

    There are at most `MAX_QUERY_SYNONYMS` synonyms in all. Quoted phrases get no synonyms, and words that occur in the
    query are not added again.

    Args:
        query: The parsed query.
        words: Its text, cut by the lexicon. Several words can form one term (`shale`, `gas`).
        thesaurus: The synonyms of the lexicon.
    """
    if not thesaurus.group_by_key:
        return ()
    used_keys = {word_key(phrase) for phrase in query.required_texts(PartKind.PHRASE)}
    query_key, groups, remaining = word_key(query.ranking_text), [], MAX_QUERY_SYNONYMS
    for run in _iter_word_runs(words):
        if word_key(run) in used_keys:
            continue
        keys = {synonym: word_key(synonym) for synonym in thesaurus.find_synonyms(run)}
        new_synonyms = [synonym for synonym, key in keys.items() if key not in query_key and key not in used_keys][
            :remaining
        ]
        used_keys |= {word_key(run), *(keys[synonym] for synonym in new_synonyms)}
        remaining -= len(new_synonyms)
        groups += [WORD_SEPARATOR.join((run, *new_synonyms))] if new_synonyms else []
    return tuple(groups)


def list_synonyms(groups: Iterable[str]) -> tuple[str, ...]:
    """Return the synonyms of the groups, without the terms."""
    return tuple(synonym for group in groups for synonym in group.split(WORD_SEPARATOR)[1:])


def synonym_lookup(groups: Iterable[str]) -> Callable[[str], tuple[str, ...]]:
    """Build a lookup from a query word to the synonyms of the term that it is or is part of (`shale`)."""
    synonyms_by_key: dict[str, tuple[str, ...]] = {}
    for group in groups:
        term, *synonyms = group.split(WORD_SEPARATOR)
        for word in (*term.split(" "), term):
            synonyms_by_key[word_key(word)] = tuple(synonyms)
    return lambda word: synonyms_by_key.get(word_key(word), ())


def _iter_word_runs(words: Sequence[str]) -> Iterable[str]:
    """Yield every run of adjacent words as one text. `word_key` removes spaces beside Chinese characters."""
    for start, end in combinations(range(len(words) + 1), 2):
        if end - start <= _MAX_TERM_WORDS:
            yield " ".join(words[start:end])
