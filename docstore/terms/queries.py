"""Selections of terms for lists and review pages."""

from dataclasses import dataclass
from enum import StrEnum

from docstore.model import TermClass, TermStatus


class Order(StrEnum):
    """In which order terms are listed, the first value first."""

    REVIEW = "review"
    SCORE = "score"
    FREQUENCY = "frequency"
    NEWEST = "newest"


@dataclass(frozen=True)
class TermQuery:
    """Which terms are wanted: of this `status` and `category` (None: any), that hold `text`, in so many documents, and
    are themselves as the regular expression `pattern` says.
    """

    status: TermStatus | None = TermStatus.CANDIDATE
    text: str = ""
    category: TermClass | None = None
    least_documents: int = 0
    pattern: str = ""
    order: Order = Order.REVIEW
    offset: int = 0
    limit: int = 20
