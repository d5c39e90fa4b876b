"""Other words for what a reader typed: the synonyms of one lexicon version, looked up in the words of a query. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from docstore.model import Lexicon
from search_ui.query.parse import PartKind, Query
from text.folding import word_key
from text.joined import WORD_JOINT

MAX_ADDED = 8  # synonyms in one query; each costs Solr a phrase
_LONGEST_RUN = 6  # words that make one term together


@dataclass(frozen=True)
class Thesaurus:
    """Groups of words that say the same, by `word_key` of each of them."""

    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, word: str) -> tuple[str, ...]:
        """The other words for `word`, in the lexicon's order; () if there are none."""
        key = word_key(word)
        return tuple(other for other in self.groups.get(key, ()) if word_key(other) != key)


def thesaurus_of(lexicon: Lexicon) -> Thesaurus:
    """The synonyms of a lexicon. A synonym leads back to its term, and to the term's other synonyms."""
    groups: dict[str, tuple[str, ...]] = {}
    for entry in lexicon.entries:
        if not entry.synonyms:
            continue
        named = (entry.text, *entry.synonyms)
        for word in named:
            groups[word_key(word)] = tuple(dict.fromkeys((*groups.get(word_key(word), ()), *named)))
    return Thesaurus(groups)


def synonym_groups(query: Query, words: Sequence[str], thesaurus: Thesaurus) -> tuple[str, ...]:
    """The terms in a query that have synonyms, each joined with them by `WORD_JOINT`, at most `MAX_ADDED` in all.

    `words` is the query's text cut by the lexicon; several of them may make one term (`shale`, `gas`). What is quoted
    is meant to the letter, and what the query says itself is not looked for twice.
    """
    if not thesaurus.groups:
        return ()
    taken = {word_key(phrase) for phrase in query.wanted(PartKind.PHRASE)}
    typed, groups, room = word_key(query.text), [], MAX_ADDED
    for run in _runs(words):
        if word_key(run) in taken:
            continue
        keys = {other: word_key(other) for other in thesaurus.of(run)}
        others = [other for other, key in keys.items() if key not in typed and key not in taken][:room]
        taken |= {word_key(run), *(keys[other] for other in others)}
        room -= len(others)
        groups += [WORD_JOINT.join((run, *others))] if others else []
    return tuple(groups)


def synonyms_in(groups: Iterable[str]) -> tuple[str, ...]:
    """The synonyms alone."""
    return tuple(other for group in groups for other in group.split(WORD_JOINT)[1:])


def spellings_in(groups: Iterable[str]) -> Callable[[str], tuple[str, ...]]:
    """A look-up from a word of the query to the synonyms of the term that it is, or is one word of (`shale`)."""
    known: dict[str, tuple[str, ...]] = {}
    for group in groups:
        term, *others = group.split(WORD_JOINT)
        for word in (*term.split(" "), term):
            known[word_key(word)] = tuple(others)
    return lambda word: known.get(word_key(word), ())


def _runs(words: Sequence[str]) -> Iterable[str]:
    """Every run of neighbours, as one text; `word_key` takes the blanks beside Chinese characters out."""
    for start, end in combinations(range(len(words) + 1), 2):
        if end - start <= _LONGEST_RUN:
            yield " ".join(words[start:end])
