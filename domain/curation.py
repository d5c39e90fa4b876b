"""Rules by which editors place single articles in the results of a query."""

from dataclasses import dataclass
from enum import StrEnum


class CurationAction(StrEnum):
    """What a rule does with its article."""

    PIN = "pin"  # at the top, whether or not it matches
    RAISE = "raise"
    LOWER = "lower"
    HIDE = "hide"


@dataclass(frozen=True)
class CurationRule:
    """One rule. A query has at most one for each article.

    Attributes:
        rule_id: Its id; 0 for a rule that is not saved.
        query: The query as the editor typed it.
        query_key: `text.folding.query_key` of it.
        with_synonyms: The rule also applies to the synonyms of the query.
        doc_id: Id of the article in the index.
        title: Title of the article when the rule was made.
        action: What it does.
        reason: Why; only editors see it.
        account: The account that saved it last.
        created_at: Epoch seconds.
        expires_at: Epoch seconds from which it does not apply; None: it has no end.
        version: The operation that saved it last.
    """

    rule_id: int
    query: str
    query_key: str
    with_synonyms: bool
    doc_id: str
    title: str
    action: CurationAction
    reason: str
    account: str
    created_at: float
    expires_at: float | None = None
    version: int = 0

    def has_expired(self, now: float) -> bool:
        """Return True if the rule does not apply any more. `now` is epoch seconds."""
        return self.expires_at is not None and self.expires_at <= now
