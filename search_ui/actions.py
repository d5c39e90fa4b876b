"""What the review pages may do to the lexicon. `pipeline` hands in the implementation."""

from typing import Protocol

from docstore.model import Lexicon, Term, TermStatus
from semantics.segment import Segmenter


class ReviewActions(Protocol):
    """The lexicon as the search site sees it: read for searching, changed only by the administrator."""

    def lexicon(self) -> Lexicon:
        """The version that the documents in the index were built with; queries are cut with the same."""

    def segmenter(self) -> Segmenter:
        """Cuts by `lexicon()`."""

    def base_segmenter(self) -> Segmenter:
        """Cuts by the base dictionary alone: the other side of the comparison search."""

    def terms(self, status: TermStatus | None, text: str, offset: int, limit: int) -> tuple[int, list[Term]]:
        """How many terms have this status (None: any) and hold `text`, and `limit` of them, best score first."""

    def term_counts(self) -> dict[TermStatus, int]:
        """Terms by status."""

    def decide(self, text: str, status: TermStatus) -> None:
        """Say what is thought of a term. Raise `LexiconError` for a term that does not exist or cannot be used."""

    def publish(self) -> Lexicon:
        """Make a new version of all accepted terms. Raise `LexiconError` where there is nothing to change."""

    def pending_publication(self) -> tuple[int, int]:
        """How many terms the next version would add and take out."""

    def index_lag(self) -> int:
        """Documents that are still to be indexed, or indexed again with a newer lexicon."""
