"""Other words for what a reader typed: the synonyms of one lexicon version, looked up in the words of a query. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from docstore.model import Lexicon
from search_ui.query.query_parser import ParsedQuery, PartKind
from text.folding import word_key
from text.solr_words import WORD_SEPARATOR

MAX_QUERY_SYNONYMS = 8  # synonyms in one query; each costs Solr a phrase
_MAX_TERM_WORDS = 6  # words that make one term together


@dataclass(frozen=True)
class Thesaurus:
    """Groups of words that say the same, by `word_key` of each of them."""

    group_by_key: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def synonyms_of(self, word: str) -> tuple[str, ...]:
        """The other words for `word`, in the lexicon's order; () if there are none."""
        key = word_key(word)
        return tuple(synonym for synonym in self.group_by_key.get(key, ()) if word_key(synonym) != key)


def build_thesaurus(lexicon: Lexicon) -> Thesaurus:
    """The synonyms of a lexicon. A synonym leads back to its term, and to the term's other synonyms."""
    groups: dict[str, tuple[str, ...]] = {}
    for entry in lexicon.entries:
        if not entry.synonyms:
            continue
        group = (entry.text, *entry.synonyms)
        for word in group:
            groups[word_key(word)] = tuple(dict.fromkeys((*groups.get(word_key(word), ()), *group)))
    return Thesaurus(groups)


def find_synonym_groups(query: ParsedQuery, words: Sequence[str], thesaurus: Thesaurus) -> tuple[str, ...]:
    """The terms in a query that have synonyms, each joined with them by `WORD_SEPARATOR`, at most `MAX_QUERY_SYNONYMS` in all.

    `words` is the query's text cut by the lexicon; several of them may make one term (`shale`, `gas`). What is quoted
    is meant to the letter, and what the query says itself is not looked for twice.
    """
    if not thesaurus.group_by_key:
        return ()
    used_keys = {word_key(phrase) for phrase in query.required_texts(PartKind.PHRASE)}
    query_key, groups, remaining = word_key(query.ranking_text), [], MAX_QUERY_SYNONYMS
    for run in _iter_word_runs(words):
        if word_key(run) in used_keys:
            continue
        keys = {synonym: word_key(synonym) for synonym in thesaurus.synonyms_of(run)}
        new_synonyms = [synonym for synonym, key in keys.items() if key not in query_key and key not in used_keys][
            :remaining
        ]
        used_keys |= {word_key(run), *(keys[synonym] for synonym in new_synonyms)}
        remaining -= len(new_synonyms)
        groups += [WORD_SEPARATOR.join((run, *new_synonyms))] if new_synonyms else []
    return tuple(groups)


def list_synonyms(groups: Iterable[str]) -> tuple[str, ...]:
    """The synonyms alone."""
    return tuple(synonym for group in groups for synonym in group.split(WORD_SEPARATOR)[1:])


def synonym_lookup(groups: Iterable[str]) -> Callable[[str], tuple[str, ...]]:
    """A look-up from a word of the query to the synonyms of the term that it is, or is one word of (`shale`)."""
    synonyms_by_key: dict[str, tuple[str, ...]] = {}
    for group in groups:
        term, *synonyms = group.split(WORD_SEPARATOR)
        for word in (*term.split(" "), term):
            synonyms_by_key[word_key(word)] = tuple(synonyms)
    return lambda word: synonyms_by_key.get(word_key(word), ())


def _iter_word_runs(words: Sequence[str]) -> Iterable[str]:
    """Every run of neighbours, as one text; `word_key` takes the blanks beside Chinese characters out."""
    for start, end in combinations(range(len(words) + 1), 2):
        if end - start <= _MAX_TERM_WORDS:
            yield " ".join(words[start:end])
