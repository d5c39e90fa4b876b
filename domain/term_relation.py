"""Relations between terms, proposed to reviewers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class RelationKind(StrEnum):
    """What the second term of a relation is to the first."""

    BROADER = "broader"
    EQUIVALENT = "equivalent"  # the same in the other language, or an abbreviation
    FORMER = "former"  # an earlier name, not used any more
    RENAMED = "renamed"  # the name that replaces the first term
    RELATED = "related"  # about the same subject, neither broader nor narrower; symmetric, the terms are sorted


class ProposalState(StrEnum):
    """State of a stored proposal."""

    PROPOSED = "proposed"
    REJECTED = "rejected"
    ACCEPTED = "accepted"  # only of related terms


class RelatedPair(NamedTuple):
    """Two terms, sorted, which an import relates or of which it removes the relation."""

    term: str
    other: str
    is_related: bool


@dataclass(frozen=True)
class TermRelation:
    """A relation between two terms, with a sentence that shows it.

    Attributes:
        term: A known term.
        other: Its broader term, which is a known term too, or its equivalent or other name, which need not be known.
        pattern: Name of the rule that found the relation, a key of `lexicon.relations.SCORE_BY_PATTERN`; "together" for
            terms that articles often use together, "import" for a file of concepts.
        score: Sort key, 0 to 1, highest first: the probability that the relation is right, or for "together" Solr's
            `relatedness`.
        evidence: The sentence; "" if the relation is imported.
    """

    kind: RelationKind
    term: str
    other: str
    pattern: str
    score: float
    evidence: str


@dataclass(frozen=True)
class RelationProposal:
    """A relation with the article of its evidence. The article may be gone.

    Attributes:
        url_id: Id of the article; 0 if the relation is imported.
        url: URL of the article; "" if the relation is imported.
        title: Title of the article.
        found_at: Epoch seconds.
        decided_by: Account that rejected the proposal or accepted a related term; "" if it is open.
    """

    relation: TermRelation
    url_id: int
    url: str
    title: str
    found_at: float
    decided_by: str = ""
