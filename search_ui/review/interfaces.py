"""The interface between the review pages and the lexicon. `pipeline` provides the implementation."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.concept import Concept, ConceptFormat
from domain.review import CandidateKind, ReviewDecision, ReviewDecisionKind, TermEdit, TermQuery, TermStatistics
from domain.rising_term import RisingTerm
from domain.term import ConceptTerm, Definition, Lexicon, PublishedTermStates, Term, TermStatus, VersionCheck
from domain.term_relation import RelationKind, RelationProposal
from text.segment import Segmenter

TermWithStatus = tuple[str, TermStatus]


@dataclass(frozen=True)
class RelatedTerms:
    """Terms related to a term.

    `nested_terms` are contained in it and `containing_terms` contain it, each with its status. `similar_terms` are
    accepted terms. `translations` are translations found in articles that are not synonyms yet.
    """

    nested_terms: tuple[TermWithStatus, ...] = ()
    containing_terms: tuple[TermWithStatus, ...] = ()
    similar_terms: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()


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
class DecidedRelations:
    """Proposals of relations that reviewers decided on, by term; `accepted` has only related terms."""

    accepted: Sequence[RelationProposal]
    rejected: Sequence[RelationProposal]


class ReviewService(Protocol):
    """Terms, review decisions and versions. `actor` is an account name. Invalid changes raise LexiconError."""

    @property
    def needs_second_reviewer(self) -> bool:
        """True if a term that a reviewer accepts, and an edit of an accepted term, wait for another account."""

    def find_page(self, query: TermQuery) -> tuple[int, list[Term]]:
        """Return the number of terms that match the query, and a page of them."""

    def find_terms(self, texts: Sequence[str]) -> dict[str, Term]:
        """Return those of `texts` that are terms."""

    def find_by_concept(self, concept_id: str) -> str | None:
        """Return the accepted term of a concept; None if there is none."""

    def related_terms(self, terms: Sequence[Term]) -> list[RelatedTerms]:
        """Return the related terms of each of `terms`."""

    def rising_terms(self) -> dict[str, RisingTerm]:
        """Return the terms that rose in the latest run, by text. They lead the review order."""

    def narrower_terms(self, text: str) -> list[str]:
        """Return the terms with `text` as a broader term."""

    def recent_acceptance(self) -> tuple[int, int]:
        """Return the acceptance of the last hundred decisions on mined terms.

        Returns:
            The number of accepted terms, and the number of decisions.
        """

    def count_decided_terms(self, actor: str, since: float) -> int:
        """Return the number of terms that `actor` has decided since `since` (epoch seconds), without those undone."""

    def candidate_kinds(self, terms: Sequence[Term], related: Sequence[RelatedTerms]) -> list[CandidateKind | None]:
        """Return what each of `terms` seems to be instead of a term of the domain; None if it may be one.

        `related` are the related terms of `terms`, in the same order.
        """

    def find_by_kind(self, kind: CandidateKind, limit: int) -> list[Term]:
        """Return at most `limit` candidates of a kind."""

    def pending_counts(self) -> tuple[int, int, int]:
        """Return the number of terms that the next version adds, removes and modifies."""

    def apply(self, kind: ReviewDecisionKind, edits: Sequence[TermEdit], actor: str) -> ReviewDecision:
        """Change terms, all or none. Raises ConcurrentEditError if a term has changed since it was seen."""

    def decide(self, texts: Sequence[str], status: TermStatus, actor: str) -> ReviewDecision:
        """Set the status of terms, whatever it was; all or none."""

    def propose(self, text: str, actor: str) -> ReviewDecision:
        """Add a word as a candidate. A known term is not changed."""

    def add_synonym(self, text: str, word: str, actor: str) -> ReviewDecision:
        """Add `word` to the synonyms of the term `text`."""

    def merge(self, text: str, into: str, actor: str, expected_version: int | None) -> ReviewDecision:
        """Make `text` a synonym of the term `into`."""

    def rename(self, text: str, new_text: str, actor: str, expected_version: int | None) -> ReviewDecision:
        """Accept `new_text` in place of `text`."""

    def undo(self, actor: str, act_id: int | None) -> ReviewDecision:
        """Undo an action; None: the last action of `actor`."""

    def history(self, text: str, actor: str, offset: int, limit: int) -> tuple[int, list[ReviewDecision]]:
        """Return the number of decisions and a page of them, newest first; of a term or an account if given."""

    def publish(self, actor: str, note: str = "") -> Lexicon:
        """Publish all accepted terms as a new version, with a note for its readers.

        Raises LexiconError if the check of the proposal names a term that must not be published.
        """

    def revert(self, version: int, actor: str) -> Lexicon:
        """Publish the terms of an older version, unchecked, as a new version. Resets the status of terms to it."""

    def versions(self) -> list[tuple[Lexicon, int]]:
        """Return all versions without their entries, newest first, each with its number of terms."""

    def last_decision_id(self) -> int:
        """Return the id of the last decision, or 0. It increases with every decision."""

    def published_term_states(self, version: int) -> PublishedTermStates:
        """Return which terms of a version are withdrawn, automatic or new."""

    def first_version(self, text: str) -> Lexicon | None:
        """Return the oldest version with a term, without its entries; None if no version has it."""

    def definitions(self, text: str) -> list[Definition]:
        """Return the definitions of a term for readers: a reviewer's choice first, then the other candidates.

        Superseded candidates are last.
        Without a choice, the candidates. Empty if a reviewer decided that the term has none.
        """

    def definition_candidates(self, text: str) -> list[Definition]:
        """Return the sentences that may define a term and that its articles still contain, best first."""

    def choose_definition(self, text: str, sentence: str, actor: str, expected_version: int | None) -> ReviewDecision:
        """Choose the candidate with this sentence as the definition of a term; "": the term has none."""

    def write_definition(self, text: str, definition: str, actor: str, expected_version: int | None) -> ReviewDecision:
        """Choose a definition that the reviewer wrote. White space is normalized."""

    def relation_proposals(self, limit: int) -> tuple[int, list[RelationProposal]]:
        """Return the number of open proposals of relations, and the best `limit` of them."""

    def decided_relations(self, limit: int) -> DecidedRelations:
        """Return accepted related terms and rejected proposals, at most `limit` of each."""

    def accepted_related_terms(self, text: str) -> list[str]:
        """Return the terms that reviewers accepted as related to the term `text`, sorted."""

    def accept_relation(self, kind: RelationKind, text: str, other: str, actor: str) -> ReviewDecision | None:
        """Add `other` to the broader terms of the term `text` or, for another kind, to its synonyms.

        Of the names of a renaming, the old one becomes deprecated and the new one preferred. Related terms are stored
        with the proposal, so that there is no decision to undo: the result is None, and `reopen_relation` undoes it.
        """

    def reject_relation(self, kind: RelationKind, text: str, other: str, actor: str) -> None:
        """Reject a proposal: it does not return."""

    def reopen_relation(self, kind: RelationKind, text: str, other: str, actor: str) -> None:
        """Open a rejected proposal, or one of related terms that was accepted, again."""

    def best_definitions(self, texts: Collection[str]) -> dict[str, Definition]:
        """Return the best definition of each of these terms that has one."""

    def defined_terms(self) -> dict[str, int]:
        """Return the terms with a definition, with the number of articles that use each."""

    def definitions_revision(self) -> tuple[int, float]:
        """Return a value that changes when `defined_terms` can have changed without a review decision."""

    def difference(self, before: int, after: int) -> list[VersionChange]:
        """Return the changes from version `before` to version `after`."""

    def import_list(self, name: str, content: bytes, actor: str) -> int:
        """Accept the terms or concepts of a file named `name`.

        Returns:
            The number of terms or of changed concepts.

        Raises:
            DictionaryError: Some lines or concepts are invalid. It lists all of them, and nothing is imported.
        """

    def preview_import(self, name: str, content: bytes) -> ImportPreview:
        """Return what the import of a file of concepts would add and change. Raises the errors of `import_list`."""

    def find_concept(self, text: str) -> Concept | None:
        """Return the concept of an accepted term, without those of its synonyms; None for another text."""

    def edit_concept(
        self, text: str, terms: Sequence[ConceptTerm], actor: str, expected_version: int | None
    ) -> ReviewDecision:
        """Replace the terms of the concept of the accepted term `text`.

        Raises ConcurrentEditError if the term has another version than `expected_version`.
        """

    def export(self, list_format: str) -> str:
        """Return the newest version in a list format."""

    def export_concepts(self, concept_format: ConceptFormat) -> bytes:
        """Return the concepts of the accepted terms in a format of concepts."""

    def proposal(self) -> VersionProposal:
        """Return the version that would be published now."""

    def statistics(self) -> TermStatistics:
        """Return the statistics of all terms."""
