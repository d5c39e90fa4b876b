"""What the lexicon stage does for the review pages. Stages never import each other, so `pipeline` hands it over."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from docstore.terms.review import RelatedTerms
from domain.concept import Concept, ConceptFormat
from domain.message import Message
from domain.review import CandidateKind, ReviewDecision, TermEdit
from domain.term import ConceptTerm, Lexicon, LineError, Term, VersionCheck
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
        check: What the changes do to known sentences, and which terms make the segmentation worse.
    """

    published_lexicon: Lexicon
    lexicon: Lexicon
    segmenter: Segmenter
    word_changes: tuple[VersionChange, ...]
    other_changes: tuple[VersionChange, ...]
    check: VersionCheck


@dataclass(frozen=True)
class ConceptPreview:
    """What an import would do to a concept or term: the lines of text that describe it lose some and gain others."""

    label: str
    is_new: bool
    removed_lines: Sequence[str]
    added_lines: Sequence[str]


@dataclass(frozen=True)
class ImportPreview:
    """What the import of a file would do.

    Attributes:
        edits: The edits of terms that the import makes.
        changes: The concepts or, of a word list, the terms that it would add or change.
        unchanged_count: Number of the other concepts or terms of the file.
        size: What is imported: `1 concept, 2 terms`.
        errors: Lines of the file that are not imported, or not as they are, with the reason.
    """

    edits: Sequence[TermEdit]
    changes: Sequence[ConceptPreview]
    unchanged_count: int
    size: Message
    errors: Sequence[LineError]

    @property
    def is_useless(self) -> bool:
        """True if nothing of the file can be imported."""
        return bool(self.errors) and not (self.edits or self.unchanged_count)

    @property
    def counts(self) -> Mapping[str, int]:
        """Numbers of new, changed and unchanged concepts or terms."""
        new_count = sum(change.is_new for change in self.changes)
        return {"new": new_count, "changed": len(self.changes) - new_count, "unchanged": self.unchanged_count}


@dataclass(frozen=True)
class LexiconTools:
    """Functions of `pipeline.lexicon_stage.lexicon_review.LexiconReview`, where they are documented."""

    candidate_kinds: Callable[[Sequence[Term], Sequence[RelatedTerms]], list[CandidateKind | None]]
    find_by_kind: Callable[[CandidateKind, int], list[Term]]
    proposal: Callable[[], VersionProposal]
    publish: Callable[[str, str, bool], Lexicon]
    revert: Callable[[int, str], Lexicon]
    difference: Callable[[int, int], list[VersionChange]]
    preview_import: Callable[[str, bytes], ImportPreview]
    import_file: Callable[[ImportPreview, str], ReviewDecision]
    export: Callable[[str], str]
    export_concepts: Callable[[ConceptFormat], bytes]
    find_concept: Callable[[str], Concept | None]
    edit_concept: Callable[[str, Sequence[ConceptTerm], str, int | None], ReviewDecision]
