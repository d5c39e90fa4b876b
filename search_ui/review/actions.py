"""What the review pages ask of the lexicon. `pipeline` hands in the implementation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from docstore.model import Lexicon, Term, TermStatus
from docstore.terms.edits import ActKind, TermEdit
from docstore.terms.history import Act
from docstore.terms.queries import TermQuery
from docstore.terms.review_queue import TermFigures
from text.segment import Segmenter

Known = tuple[str, TermStatus]


@dataclass(frozen=True)
class Surroundings:
    """The words that stand near a term: those `nested` in it and those that hold it (`containing`), each with its
    status, and `similar` accepted ones. `translations` are what articles say to be the same in the other language, and
    nobody has said to be a synonym yet.
    """

    nested: tuple[Known, ...] = ()
    containing: tuple[Known, ...] = ()
    similar: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()


@dataclass(frozen=True)
class VersionChange:
    """What one entry of a lexicon version is, and was in another; "" where it is not in that one."""

    text: str
    before: str
    after: str


@dataclass(frozen=True)
class VersionProposal:
    """The version that publishing would make: `lexicon`, cut by `segmenter`, beside the `published` one; `changes` are
    those of words, each with a sentence that shows the word ("" if none is known), `others` those that cut nothing.
    """

    published: Lexicon
    lexicon: Lexicon
    segmenter: Segmenter
    changes: tuple[tuple[VersionChange, str], ...]
    others: tuple[VersionChange, ...]


class ReviewService(Protocol):
    """Terms, acts on them, versions. `by` is an account's name. What cannot be done raises LexiconError."""

    def page(self, wanted: TermQuery) -> tuple[int, list[Term]]:
        """How many terms are as wanted, and a page of them."""

    def named(self, texts: Sequence[str]) -> dict[str, Term]:
        """Those of `texts` that are terms."""

    def surroundings(self, terms: Sequence[Term]) -> list[Surroundings]:
        """What stands near each of `terms`."""

    def narrower(self, text: str) -> list[str]:
        """The terms that have `text` as a broader one."""

    def last_decisions(self) -> tuple[int, int]:
        """Of the last hundred decisions on mined terms: how many were good ones, and how many there were."""

    def pending(self) -> tuple[int, int, int]:
        """How many words the next version would add and take out, and say something else of."""

    def do(self, kind: ActKind, edits: Sequence[TermEdit], by: str) -> Act:
        """Change terms, all or none; `ChangedMeanwhileError` for one that is not what was seen."""

    def decide(self, texts: Sequence[str], status: TermStatus, by: str) -> Act:
        """Say what is thought of terms, whatever was thought of them before; all or none."""

    def propose(self, text: str, by: str) -> Act:
        """Make a candidate of a word that people bring; one that is known stays as it is."""

    def add_synonym(self, text: str, word: str, by: str) -> Act:
        """Name `word` as one more word for the term `text`, beside those it has."""

    def merge(self, text: str, into: str, by: str, seen: int | None) -> Act:
        """Make `text` another word for the term `into`."""

    def rename(self, text: str, new: str, by: str, seen: int | None) -> Act:
        """Accept `new` in the place of `text`."""

    def undo(self, by: str, act_id: int | None) -> Act:
        """Take an act back; None: the last of `by`."""

    def history(self, text: str, by: str, offset: int, limit: int) -> tuple[int, list[Act]]:
        """How many acts there were, and a page of them, the latest first; on one term or by one account if named."""

    def publish(self, by: str) -> Lexicon:
        """Make a new version of all accepted terms."""

    def revert(self, version: int, by: str) -> Lexicon:
        """Publish an older version's words again, as a new version; terms are accepted as they were in it."""

    def versions(self) -> list[tuple[Lexicon, int]]:
        """Every version without its entries, the newest first, with how many words it has."""

    def difference(self, before: int, after: int) -> list[VersionChange]:
        """What version `after` has otherwise than `before`."""

    def bring_in(self, name: str, content: bytes, by: str) -> int:
        """Accept the words of a list, a file of this name; returns how many. DictionaryError, with every bad line
        named, where there is one: then none of them.
        """

    def export(self, form: str) -> str:
        """The newest version as text, in one of `forms`."""

    def proposal(self) -> VersionProposal:
        """What publishing now would make."""

    def figures(self) -> TermFigures:
        """What the report on all terms is made of."""
