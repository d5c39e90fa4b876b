"""What the review pages ask of the lexicon. `pipeline` hands in the implementation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from docstore.model import Lexicon, Term, TermStatus
from docstore.terms.edits import ReviewDecisionKind, TermEdit
from docstore.terms.queries import TermQuery
from docstore.terms.review_history import ReviewDecision
from docstore.terms.review_queue import TermStatistics
from text.segment import Segmenter

TermWithStatus = tuple[str, TermStatus]


@dataclass(frozen=True)
class RelatedTerms:
    """The words that stand near a term.

    Those `nested_terms` in it and those that hold it (`containing_terms`), each with its status, and `similar_terms`
    accepted ones. `translations` are what articles say to be the same in the other language, and nobody has said to be
    a synonym yet.
    """

    nested_terms: tuple[TermWithStatus, ...] = ()
    containing_terms: tuple[TermWithStatus, ...] = ()
    similar_terms: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()


@dataclass(frozen=True)
class VersionChange:
    """What one entry of a lexicon version is, and was in another; "" where it is not in that one."""

    text: str
    before: str
    after: str


@dataclass(frozen=True)
class VersionProposal:
    """The version that publishing would make:

    `lexicon`, cut by `segmenter`, beside the `published_lexicon` one; `word_changes` are those of words, each with a
    sentence that shows the word ("" if none is known), `other_changes` those that cut nothing.
    """

    published_lexicon: Lexicon
    lexicon: Lexicon
    segmenter: Segmenter
    word_changes: tuple[tuple[VersionChange, str], ...]
    other_changes: tuple[VersionChange, ...]


class ReviewService(Protocol):
    """Terms, acts on them, versions. `by` is an account's name. What cannot be done raises LexiconError."""

    def find_page(self, query: TermQuery) -> tuple[int, list[Term]]:
        """How many terms are as wanted, and a page of them."""

    def find_terms(self, texts: Sequence[str]) -> dict[str, Term]:
        """Those of `texts` that are terms."""

    def related_terms(self, terms: Sequence[Term]) -> list[RelatedTerms]:
        """What stands near each of `terms`."""

    def narrower_terms(self, text: str) -> list[str]:
        """The terms that have `text` as a broader one."""

    def recent_acceptance(self) -> tuple[int, int]:
        """Of the last hundred decisions on mined terms: how many were good ones, and how many there were."""

    def pending_counts(self) -> tuple[int, int, int]:
        """How many words the next version would add and take out, and say something else of."""

    def apply(self, kind: ReviewDecisionKind, edits: Sequence[TermEdit], actor: str) -> ReviewDecision:
        """Change terms, all or none; `ConcurrentEditError` for one that is not what was seen."""

    def decide(self, texts: Sequence[str], status: TermStatus, actor: str) -> ReviewDecision:
        """Say what is thought of terms, whatever was thought of them before; all or none."""

    def propose(self, text: str, actor: str) -> ReviewDecision:
        """Make a candidate of a word that people bring; one that is known stays as it is."""

    def add_synonym(self, text: str, word: str, actor: str) -> ReviewDecision:
        """Name `word` as one more word for the term `text`, beside those it has."""

    def merge(self, text: str, into: str, actor: str, expected_version: int | None) -> ReviewDecision:
        """Make `text` another word for the term `into`."""

    def rename(self, text: str, new_text: str, actor: str, expected_version: int | None) -> ReviewDecision:
        """Accept `new_text` in the place of `text`."""

    def undo(self, actor: str, act_id: int | None) -> ReviewDecision:
        """Take an act back; None: the last of `actor`."""

    def history(self, text: str, actor: str, offset: int, limit: int) -> tuple[int, list[ReviewDecision]]:
        """How many acts there were, and a page of them, the latest first; on one term or by one account if named."""

    def publish(self, actor: str) -> Lexicon:
        """Make a new version of all accepted terms."""

    def revert(self, version: int, actor: str) -> Lexicon:
        """Publish an older version's words again, as a new version; terms are accepted as they were in it."""

    def versions(self) -> list[tuple[Lexicon, int]]:
        """Every version without its entries, the newest first, with how many words it has."""

    def difference(self, before: int, after: int) -> list[VersionChange]:
        """What version `after` has otherwise than `before`."""

    def import_list(self, name: str, content: bytes, actor: str) -> int:
        """Accept the words of a list, a file of this name; returns how many.

        DictionaryError, with every bad line named, where there is one: then none of them.
        """

    def export(self, list_format: str) -> str:
        """The newest version as text, in one of `forms`."""

    def proposal(self) -> VersionProposal:
        """What publishing now would make."""

    def statistics(self) -> TermStatistics:
        """What the report on all terms is made of."""
