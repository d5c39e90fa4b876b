"""The review of the lexicon on the store, for the pages and the terminal: `search_ui.review.actions.ReviewService`."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from docstore.errors import LexiconError
from docstore.model import Lexicon, LexiconEntry, Term, TermStatus
from docstore.store import Store
from docstore.terms.edits import ActKind, TermEdit
from docstore.terms.history import Act
from docstore.terms.queries import TermQuery
from docstore.terms.review_queue import TermFigures
from lexicon.dictionary import decode_dictionary
from lexicon.interchange import WRITERS, form_of, parse_list
from lexicon.review import NothingToPublishError, check_acceptable, difference, next_version
from lexicon.similar import SimilarTerms
from search_ui.review.actions import Known, Surroundings, VersionChange, VersionProposal
from text.folding import word_key
from text.glosses import Gloss, ends_of, translation
from text.segment import RjiebaSegmenter, Segmenter

NEAR = 6  # words of each kind beside a term
SHORTEST = 2  # characters of a word inside another
ORDERED_AFTER = 10  # acts, after which the order of review is learned anew


class StoreReview:
    """Reviewing, on one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._guard = threading.Lock()
        self._proposed: tuple[tuple[int, int], VersionProposal] | None = None

    def page(self, wanted: TermQuery) -> tuple[int, list[Term]]:
        """See `ReviewService`, here and below."""
        return self._store.queue.page(wanted)

    def named(self, texts: Sequence[str]) -> dict[str, Term]:
        return self._store.queue.named(texts)

    def surroundings(self, terms: Sequence[Term]) -> list[Surroundings]:
        inside = {term.text: inner_words(term.text) for term in terms}
        known = self._store.queue.named(sorted({word for words in inside.values() for word in words}))
        containing = self._store.queue.containing([term.text for term in terms], NEAR)
        similar = SimilarTerms(self._store.queue.texts(TermStatus.ACCEPTED))
        translations = self._translations([term.text for term in terms])
        return [
            Surroundings(
                nested_in(inside[term.text], known),
                tuple(containing[term.text]),
                tuple(similar.to(term.text, NEAR)),
                tuple(word for word in translations.get(term.text, ()) if word not in term.synonyms),
            )
            for term in terms
        ]

    def _translations(self, texts: Sequence[str]) -> dict[str, list[str]]:
        """What articles say to be the same as each of these terms in the other language."""
        kept = self._store.glosses.ending_with(texts)
        found = {text: [Gloss(one.han, one.latin, one.is_han_whole) for one in kept[text]] for text in kept}
        ends = {end for several in found.values() for gloss in several for end in ends_of(gloss)}
        known = frozenset(map(word_key, self._store.queue.named(sorted(ends))))
        return {text: translation(text, several, known)[:NEAR] for text, several in found.items()}

    def narrower(self, text: str) -> list[str]:
        return self._store.queue.broader_than(text)

    def last_decisions(self) -> tuple[int, int]:
        return self._store.queue.last_decisions()

    def pending(self) -> tuple[int, int, int]:
        return self._store.queue.pending()

    def do(self, kind: ActKind, edits: Sequence[TermEdit], by: str) -> Act:
        check_acceptable(edit.text for edit in edits if edit.status is TermStatus.ACCEPTED or edit.adds)
        check_acceptable(word for edit in edits for word in (*(edit.synonyms or ()), *(edit.broader or ())) if word)
        return self._store.acts.do(kind, edits, by)

    def decide(self, texts: Sequence[str], status: TermStatus, by: str) -> Act:
        return self.do(ActKind.DECIDE, [TermEdit(text, status) for text in dict.fromkeys(texts)], by)

    def propose(self, text: str, by: str) -> Act:
        return self.do(ActKind.PROPOSE, [TermEdit(text, adds=True, keeps=True)], by)

    def add_synonym(self, text: str, word: str, by: str) -> Act:
        term = self.named([text]).get(text)
        synonyms, version = (term.synonyms, term.version) if term else ((), None)
        return self.do(ActKind.SYNONYMS, [TermEdit(text, synonyms=(*synonyms, word.strip()), seen=version)], by)

    def merge(self, text: str, into: str, by: str, seen: int | None) -> Act:
        check_acceptable([text])
        return self._store.acts.merge(text, into, by, seen)

    def rename(self, text: str, new: str, by: str, seen: int | None) -> Act:
        check_acceptable([new])
        return self._store.acts.rename(text, new, by, seen)

    def undo(self, by: str, act_id: int | None) -> Act:
        return self._store.acts.undo(by, act_id)

    def history(self, text: str, by: str, offset: int, limit: int) -> tuple[int, list[Act]]:
        return self._store.acts.history(text, by, offset, limit)

    def publish(self, by: str) -> Lexicon:
        latest = self._store.lexicon.latest()
        new = next_version(self._store.lexicon.accepted(), latest)
        if new.version == latest.version:
            raise NothingToPublishError("nothing to publish: no decision since the last version changes it")
        return self._store.lexicon.publish(replace(new, by=by))

    def revert(self, version: int, by: str) -> Lexicon:
        table = self._store.lexicon
        if not 0 <= version <= table.latest_version():
            raise LexiconError(f"there is no version {version}")
        wanted, latest = table.version(version), table.latest()
        if wanted.entries == latest.entries:
            raise NothingToPublishError(f"nothing to publish: version {latest.version} has the words of {version}")
        self._store.acts.do(ActKind.REVERT, edits_to(wanted.entries, table.accepted()), by)
        note = f"as version {version}"
        return table.publish(Lexicon(latest.version + 1, wanted.entries, note=note, by=by))

    def versions(self) -> list[tuple[Lexicon, int]]:
        return self._store.lexicon.versions()

    def difference(self, before: int, after: int) -> list[VersionChange]:
        table = self._store.lexicon
        for number in (before, after):
            if not 0 <= number <= table.latest_version():
                raise LexiconError(f"there is no version {number}")
        return changes_between(table.version(before), table.version(after))

    def bring_in(self, name: str, content: bytes, by: str) -> int:
        text = decode_dictionary(content)
        entries = parse_list(text, form_of(name, text))
        if entries:
            self.do(ActKind.ADD, [edit_of(entry) for entry in entries], by)
        return len(entries)

    def export(self, form: str) -> str:
        return WRITERS[form](self._store.lexicon.latest().entries)

    def proposal(self) -> VersionProposal:
        with self._guard:
            now = (self._store.acts.last(), self._store.lexicon.latest_version())
            if self._proposed is None or self._proposed[0] != now:
                self._proposed = (now, self._propose())
            return self._proposed[1]

    def _propose(self) -> VersionProposal:
        latest = self._store.lexicon.latest()
        new = next_version(self._store.lexicon.accepted(), latest)
        cut_otherwise = set(new.changed_since(latest))
        changes = changes_between(latest, new)
        terms = self._store.queue.named(sorted(cut_otherwise))
        sentences = {text: term.contexts[0] for text, term in terms.items() if term.contexts}
        return VersionProposal(
            latest,
            new,
            segmenter_of(new),
            tuple((change, sentences.get(change.text, "")) for change in changes if change.text in cut_otherwise),
            tuple(change for change in changes if change.text not in cut_otherwise),
        )

    def figures(self) -> TermFigures:
        return self._store.queue.figures()


def learn_order(store: Store, acts: int = ORDERED_AFTER) -> bool:
    """Put the candidates in the order that the decisions so far suggest, if there were `acts` new ones; did it?"""
    if not store.queue.wants_order(acts):
        return False
    # Imported where it is used: scikit-learn takes longer to load than most commands take to run.
    from lexicon.review_order import MAX_DECISIONS, review_order

    decided = store.queue.decided(MAX_DECISIONS)
    state, candidates = store.queue.undecided()
    store.queue.set_order(review_order(decided, candidates), state)
    return True


def inner_words(text: str) -> list[str]:
    """All that a word holds as a run of characters, the longest first; for long words the shorter runs alone."""
    longest = min(len(text) - 1, 12)
    return [
        text[start : start + size] for size in range(longest, SHORTEST - 1, -1) for start in range(len(text) - size + 1)
    ]


def nested_in(words: Sequence[str], known: dict[str, Term]) -> tuple[Known, ...]:
    """Those of `words` that are terms, each once, with their status."""
    found = dict.fromkeys(word for word in words if word in known)
    return tuple((word, known[word].status) for word in found)[:NEAR]


def segmenter_of(lexicon: Lexicon) -> Segmenter:
    """What cuts by a version."""
    return RjiebaSegmenter((entry.text, entry.frequency, entry.tag) for entry in lexicon.entries)


def changes_between(before: Lexicon, after: Lexicon) -> list[VersionChange]:
    """What `after` has otherwise, in the order of the words."""
    found = difference(before, after)
    changes = [
        *(VersionChange(entry.text, "", described(entry)) for entry in found.added),
        *(VersionChange(entry.text, described(entry), "") for entry in found.removed),
        *(VersionChange(old.text, described(old), described(new)) for old, new in found.changed),
    ]
    return sorted(changes, key=lambda change: change.text)


def described(entry: LexiconEntry) -> str:
    """An entry in one line: `页岩气 77 n = shale gas < 天然气 (subject)`."""
    parts = [entry.text, *([str(entry.frequency)] if entry.frequency else []), entry.tag]
    parts += ["=", " | ".join(entry.synonyms)] if entry.synonyms else []
    parts += ["<", " | ".join(entry.broader)] if entry.broader else []
    return " ".join([*parts, *([f"({entry.category})"] if entry.category else [])])


def edits_to(entries: Sequence[LexiconEntry], accepted: Sequence[Term]) -> list[TermEdit]:
    """What makes `entries` the accepted terms: others go back among the candidates."""
    wanted = {entry.text for entry in entries}
    dropped = [TermEdit(term.text, TermStatus.CANDIDATE) for term in accepted if term.text not in wanted]
    return dropped + [edit_of(entry) for entry in entries]


def edit_of(entry: LexiconEntry) -> TermEdit:
    """What makes a term of a dictionary line and accepts it."""
    return TermEdit(
        entry.text,
        TermStatus.ACCEPTED,
        entry.category,
        entry.synonyms,
        entry.broader,
        entry.frequency,
        entry.tag,
        adds=True,
    )
