"""Queries for terms in lists and on review pages."""

from dataclasses import dataclass
from enum import StrEnum

from docstore.model import TermClass, TermStatus


class Order(StrEnum):
    """Order of a term list; always descending."""

    REVIEW = "review"
    SCORE = "score"
    FREQUENCY = "frequency"
    NEWEST = "newest"


@dataclass(frozen=True)
class TermQuery:
    """Filter, order and page of a list of terms.

    Attributes:
        status: Only terms with this status; None for any.
        text: Only terms that contain this text, in the term or a synonym.
        category: Only terms of this class; None for any.
        min_documents: Minimum number of documents that contain the term.
        pattern: Only terms that match this regular expression.
    """

    status: TermStatus | None = TermStatus.CANDIDATE
    text: str = ""
    category: TermClass | None = None
    min_documents: int = 0
    pattern: str = ""
    order: Order = Order.REVIEW
    offset: int = 0
    limit: int = 20
