"""Changes that the index must apply, and their results."""

from dataclasses import dataclass
from enum import StrEnum

from domain.outcome import Outcome


class IndexOperation(StrEnum):
    """Operation that the indexer must perform on a document."""

    UPSERT = "upsert"
    DELETE = "delete"
    RESEGMENT = "resegment"  # the text is unchanged, the lexicon changed


@dataclass(frozen=True)
class IndexChange:
    """One entry of the change log. `seq` increases with every entry; `logged_at` is epoch seconds."""

    seq: int
    url_id: int
    url: str
    operation: IndexOperation
    logged_at: float


@dataclass(frozen=True)
class IndexResult:
    """Result of indexing one document. `digest` is "" and `lexicon_version` 0 after a deletion or rejection."""

    url_id: int
    outcome: Outcome
    digest: str = ""
    lexicon_version: int = 0
