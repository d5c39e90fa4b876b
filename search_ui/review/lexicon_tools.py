"""What the lexicon stage does for the review pages. Stages never import each other, so `pipeline` hands it over."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from docstore.terms.review import RelatedTerms
from domain.concept import Concept, ConceptFormat
from domain.message import Message
from domain.review import CandidateKind, ReviewDecision
from domain.term import ConceptTerm, Lexicon, Term, VersionCheck
from text.segment import Segmenter


@dataclass(frozen=True)
class VersionChange:
    """An entry before and after a change of version; "" if it does not exist."""

    text: str
    before: str
    after: str


@dataclass(frozen=True)
class VersionProposal:
    """The version that would be published.

    Attributes:
        published_lexicon: The current version.
        lexicon: The proposed version.
        segmenter: Segmenter with the proposed version.
        word_changes: Changes that affect segmentation.
        other_changes: Changes that do not affect segmentation.
        check: What the changes do to known sentences, and which terms must not be published.
    """

    published_lexicon: Lexicon
    lexicon: Lexicon
    segmenter: Segmenter
    word_changes: tuple[VersionChange, ...]
    other_changes: tuple[VersionChange, ...]
    check: VersionCheck


@dataclass(frozen=True)
class ConceptPreview:
    """What an import would do to a concept: the lines of text that describe it lose some and gain others."""

    label: str
    is_new: bool
    removed_lines: Sequence[str]
    added_lines: Sequence[str]


@dataclass(frozen=True)
class ImportPreview:
    """The concepts that an import would add or change, and the number of the other concepts of the file."""

    changes: Sequence[ConceptPreview]
    unchanged_count: int


@dataclass(frozen=True)
class LexiconTools:
    """Functions of `pipeline.lexicon_stage.lexicon_review.LexiconReview`, where they are documented."""

    candidate_kinds: Callable[[Sequence[Term], Sequence[RelatedTerms]], list[CandidateKind | None]]
    find_by_kind: Callable[[CandidateKind, int], list[Term]]
    proposal: Callable[[], VersionProposal]
    publish: Callable[[str, str], Lexicon]
    revert: Callable[[int, str], Lexicon]
    difference: Callable[[int, int], list[VersionChange]]
    import_list: Callable[[str, bytes, str], Message]
    preview_import: Callable[[str, bytes], ImportPreview]
    export: Callable[[str], str]
    export_concepts: Callable[[ConceptFormat], bytes]
    find_concept: Callable[[str], Concept | None]
    edit_concept: Callable[[str, Sequence[ConceptTerm], str, int | None], ReviewDecision]
