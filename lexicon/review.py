"""Decisions on terms, and from the accepted ones the next lexicon version. Pure: the store keeps what comes out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from docstore.errors import LexiconError
from docstore.model import Lexicon, LexiconEntry, Term, TermStatus
from lexicon.dictionary import check_term
from text.folding import word_key


class NothingToPublishError(LexiconError):
    """The accepted terms are those of the last version."""


def check_acceptable(texts: Iterable[str]) -> None:
    """Raise LexiconError, naming each, if some of `texts` cannot be a dictionary line."""
    faults = [f"{text[:40]!r}: {fault}" for text in texts if (fault := check_term(text))]
    if faults:
        raise LexiconError("cannot be accepted: " + "; ".join(faults))


def next_version(accepted: Iterable[Term], previous: Lexicon) -> Lexicon:
    """The lexicon of just these terms, one version on, entries in the order of their words; it bears no times yet.

    A word of `previous` keeps its frequency and tag unless a dictionary line brought others; all else is the term's.
    `previous` itself comes back when nothing is different.
    Raises LexiconError that names every term that is not accepted or not fit to be a dictionary line.
    """
    terms = list(accepted)
    kept = {word_key(entry.text): entry for entry in previous.entries}
    faults = [f"{term.text[:40]!r}: {fault}" for term in terms if (fault := _fault(term, kept))]
    if faults:
        raise LexiconError("no new lexicon version: " + "; ".join(faults))
    by_key: dict[str, LexiconEntry] = {}
    for term in terms:
        key = word_key(term.text)
        by_key.setdefault(key, _entry(term, kept.get(key)))
    if by_key == kept:
        return previous
    entries = tuple(sorted(by_key.values(), key=lambda entry: entry.text))
    return Lexicon(version=previous.version + 1, entries=entries)


def _fault(term: Term, kept: Mapping[str, LexiconEntry]) -> str | None:
    if term.status is not TermStatus.ACCEPTED:
        return f"it is {term.status}, not accepted"
    return None if word_key(term.text) in kept else check_term(term.text)  # rules may have become stricter since


def _entry(term: Term, before: LexiconEntry | None) -> LexiconEntry:
    before = before or LexiconEntry(term.text, 0, "eng" if term.text.isascii() else "n")
    return replace(
        before,
        frequency=term.weight or before.frequency,
        tag=term.tag or before.tag,
        synonyms=term.synonyms,
        category=term.category,
        broader=term.broader,
    )


@dataclass(frozen=True)
class Difference:
    """What one version has that another has not: `added` and `removed` entries, and `changed` ones (before, after)."""

    added: tuple[LexiconEntry, ...]
    removed: tuple[LexiconEntry, ...]
    changed: tuple[tuple[LexiconEntry, LexiconEntry], ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def difference(before: Lexicon, after: Lexicon) -> Difference:
    """What `after` changes, in the order of the words."""
    old, new = ({entry.text: entry for entry in lexicon.entries} for lexicon in (before, after))
    return Difference(
        tuple(new[text] for text in sorted(new.keys() - old.keys())),
        tuple(old[text] for text in sorted(old.keys() - new.keys())),
        tuple((old[text], new[text]) for text in sorted(old.keys() & new.keys()) if old[text] != new[text]),
    )
