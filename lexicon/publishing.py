"""Building the next lexicon version from accepted terms, and comparing versions. The store saves the results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from domain.errors import LexiconError
from domain.message import Message
from domain.term import Lexicon, LexiconEntry, Term, TermStatus, VersionCheck
from lexicon.jieba_dictionary import default_tag, find_term_error
from text.folding import word_key

MAX_NAMED_TERMS = 10  # in a message


class NothingToPublishError(LexiconError):
    """The accepted terms equal the terms of the last version."""


def ensure_acceptable(texts: Iterable[str]) -> None:
    """Raise LexiconError, naming each, if some of `texts` cannot be a dictionary line."""
    errors = [describe_term_error(text, error) for text in texts if (error := find_term_error(text))]
    if errors:
        raise LexiconError("Not accepted. {reasons}.", reasons=tuple(errors))


def build_next_version(accepted: Iterable[Term], previous: Lexicon) -> Lexicon:
    """Return the lexicon of exactly these terms, with the next version number and entries in the order of their words.

    A word of `previous` keeps its frequency and tag unless an imported dictionary line changed them. All other fields
    come from the term. Returns `previous` itself if nothing changes. Timestamps are not set.

    Raises:
        LexiconError: a term is not accepted or not a valid dictionary word; the message names all of them.
    """
    terms = list(accepted)
    previous_by_key = {word_key(entry.text): entry for entry in previous.entries}
    errors = []
    for term in terms:
        if term.status is not TermStatus.ACCEPTED:
            error: str | None = Message("the term is not accepted")
        else:  # words of the last version stay, although rules may have become stricter since
            error = None if word_key(term.text) in previous_by_key else find_term_error(term.text)
        if error:
            errors.append(describe_term_error(term.text, error))
    _refuse_version(errors)
    by_key: dict[str, LexiconEntry] = {}
    for term in terms:
        key = word_key(term.text)
        if key in by_key:
            continue
        entry = previous_by_key.get(key) or LexiconEntry(term.text, 0, default_tag(term.text))
        by_key[key] = replace(
            entry,
            frequency=term.dictionary_weight or entry.frequency,
            pos_tag=term.dictionary_tag or entry.pos_tag,
            synonyms=term.synonyms,
            category=term.category,
            broader_terms=term.broader_terms,
        )
    if by_key == previous_by_key:
        return previous
    entries = tuple(sorted(by_key.values(), key=lambda entry: entry.text))
    return Lexicon(version=previous.version + 1, entries=entries)


def ensure_harmless(check: VersionCheck) -> None:
    """Raise LexiconError if a term makes the segmentation worse; the message names the first ten such terms."""
    errors = [describe_term_error(term, error) for term, error in sorted(check.error_by_term.items())]
    _refuse_version(errors[:MAX_NAMED_TERMS])


def _refuse_version(errors: Sequence[str]) -> None:
    if errors:
        raise LexiconError("Not published. {reasons}.", reasons=tuple(errors))


def add_terms(previous: Lexicon, terms: Iterable[Term]) -> Lexicon:
    """Return the lexicon with the entries of `previous` and the terms that it lacks, with the next version number.

    Returns `previous` itself if it has all terms. Timestamps are not set. The terms must be valid dictionary words.
    """
    known_keys = {word_key(entry.text) for entry in previous.entries}
    added_by_key = {word_key(term.text): term for term in terms if word_key(term.text) not in known_keys}
    if not added_by_key:
        return previous
    added_entries = [
        LexiconEntry(term.text, term.dictionary_weight, term.dictionary_tag or default_tag(term.text), term.synonyms)
        for term in added_by_key.values()
    ]
    entries = sorted((*previous.entries, *added_entries), key=lambda entry: entry.text)
    return Lexicon(version=previous.version + 1, entries=tuple(entries))


def describe_term_error(text: str, error: str) -> Message:
    """Return the message that a term cannot be used, with the reason."""
    return Message("“{term}”: {reason}", term=text[:40], reason=error)


@dataclass(frozen=True)
class LexiconDiff:
    """Difference between two versions: `added` and `removed` entries, and `changed` entries (before, after)."""

    added: tuple[LexiconEntry, ...]
    removed: tuple[LexiconEntry, ...]
    changed: tuple[tuple[LexiconEntry, LexiconEntry], ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def diff_lexicons(before: Lexicon, after: Lexicon) -> LexiconDiff:
    """Return the changes from `before` to `after`, in the order of the words."""
    entries_before, entries_after = ({entry.text: entry for entry in lexicon.entries} for lexicon in (before, after))
    return LexiconDiff(
        tuple(entries_after[text] for text in sorted(entries_after.keys() - entries_before.keys())),
        tuple(entries_before[text] for text in sorted(entries_before.keys() - entries_after.keys())),
        tuple(
            (entries_before[text], entries_after[text])
            for text in sorted(entries_before.keys() & entries_after.keys())
            if entries_before[text] != entries_after[text]
        ),
    )
