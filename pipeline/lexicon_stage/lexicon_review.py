"""Review of terms with the lexicon stage: versions, lists and concepts, on the pages and on the command line."""

import threading
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial

from docstore.store import Store
from docstore.terms.review import TermReview
from domain.concept import Concept, ConceptFormat, create_concept_id
from domain.errors import LexiconError
from domain.message import Message
from domain.review import ReviewDecision, ReviewDecisionKind, TermEdit
from domain.term import ConceptTerm, Lexicon, LexiconEntry, Term, TermStatus
from domain.term_relation import ProposalState
from lexicon.concepts.checks import check_concepts
from lexicon.concepts.concept_groups import ConceptIndex, add_definitions, group_terms
from lexicon.concepts.formats import (
    FORMATS_WITH_RELATIONS,
    detect_concept_format,
    format_concept_file,
    parse_concept_file,
)
from lexicon.concepts.import_plan import ImportPlan, plan_import
from lexicon.jieba_dictionary import create_domain_segmenter, decode_dictionary
from lexicon.publishing import NothingToPublishError, build_next_version, ensure_acceptable, ensure_harmless
from lexicon.version_check import check_version
from lexicon.word_lists import FORMATTERS, detect_word_list_format, parse_word_list
from pipeline.lexicon_stage.candidate_kinds import find_candidates_of_kind, judge_kinds
from pipeline.lexicon_stage.version_changes import format_entry, version_changes
from search_ui.review.lexicon_tools import ConceptPreview, ImportPreview, LexiconTools, VersionChange, VersionProposal


class LexiconReview(TermReview):
    """Review of the terms of one store, and what needs the lexicon stage: `tools` has its methods for the pages."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, ensure_acceptable)
        self.candidate_kinds = partial(judge_kinds, store.review_queue)
        self.find_by_kind = partial(find_candidates_of_kind, store.review_queue)
        self._lock = threading.Lock()
        self._cached_proposal: tuple[tuple[int, int], VersionProposal] | None = None

    @property
    def tools(self) -> LexiconTools:
        """What the review pages need of the lexicon stage."""
        return LexiconTools(*(getattr(self, field.name) for field in fields(LexiconTools)))

    def publish(self, actor: str, note: str = "", is_confirmed: bool = False) -> Lexicon:
        """Publish all accepted terms as a new version, with a note for its readers.

        Raises LexiconError if the check of the proposal names a harmful term, unless the reviewer has confirmed it.
        """
        proposal = self.proposal()
        new = proposal.lexicon
        if new.version == proposal.published_lexicon.version:
            raise NothingToPublishError("Nothing to publish: no term has changed since the last version.")
        if not is_confirmed:
            ensure_harmless(proposal.check)
        return self.store.lexicons.publish(replace(new, published_by=actor, note=note))

    def revert(self, version: int, actor: str) -> Lexicon:
        """Publish the terms of an older version, unchecked, as a new version. Resets the status of terms to it.

        With two reviewers, terms that are not accepted now wait for another account and are not in the new version.
        """
        table = self.store.lexicons
        if not 0 <= version <= table.latest_version():
            raise LexiconError("The lexicon has no version {version}.", version=version)
        target, latest = table.load_version(version), table.load_latest()
        if target.entries == latest.entries:
            raise NothingToPublishError(
                "Nothing to restore: version {latest} has the same terms as version {version}.",
                latest=latest.version,
                version=version,
            )
        # All other accepted terms become candidates again.
        target_texts = {entry.text for entry in target.entries}
        removed_texts = [term.text for term in table.accepted_terms() if term.text not in target_texts]
        removals = [TermEdit(text, TermStatus.CANDIDATE) for text in removed_texts]
        edits = removals + [edit_for_entry(entry) for entry in target.entries]
        self.store.review_history.apply(ReviewDecisionKind.REVERT, edits, actor)
        accepted_texts = {term.text for term in table.accepted_terms()}
        entries = tuple(entry for entry in target.entries if entry.text in accepted_texts)
        note = f"as version {version}"
        return table.publish(Lexicon(latest.version + 1, entries, note=note, published_by=actor))

    def difference(self, before: int, after: int) -> list[VersionChange]:
        """Return the changes from version `before` to version `after`."""
        table = self.store.lexicons
        for number in (before, after):
            if not 0 <= number <= table.latest_version():
                raise LexiconError("The lexicon has no version {version}.", version=number)
        return version_changes(table.load_version(before), table.load_version(after))

    def preview_import(
        self, name: str, content: bytes, list_format: str | None = None, concept_format: ConceptFormat | None = None
    ) -> ImportPreview:
        """Return what the import of a file of terms or concepts named `name` would do. Formats: None is detected."""
        concept_format = concept_format or (None if list_format else detect_concept_format(name, content))
        if concept_format:
            plan = self.plan_concepts(content, concept_format)
            changes = [
                ConceptPreview(item.after.label, item.before is None, *plan.lines(item)) for item in plan.changes
            ]
            concept_count, term_count = len(plan.changes), sum(len(item.after.terms) for item in plan.changes)
            return ImportPreview(
                plan.edits, changes, plan.unchanged_count, import_size(term_count, concept_count), plan.errors
            )
        text = decode_dictionary(content)
        entries, errors = parse_word_list(text, list_format or detect_word_list_format(name, text))
        table = self.store.lexicons
        known_entries = build_next_version(table.accepted_terms(), table.load_latest()).entries
        lines = {entry.text: format_entry(entry) for entry in known_entries}
        changes = [
            ConceptPreview(entry.text, entry.text not in lines, list(filter(None, [lines.get(entry.text)])), [line])
            for entry in entries
            if lines.get(entry.text) != (line := format_entry(entry))
        ]
        edits = list(map(edit_for_entry, entries))
        return ImportPreview(edits, changes, len(entries) - len(changes), import_size(len(entries)), errors)

    def import_file(self, preview: ImportPreview, actor: str) -> ReviewDecision:
        """Accept the terms or concepts of a file."""
        return self.store.review_history.apply(ReviewDecisionKind.ADD, preview.edits, actor)

    def export(self, list_format: str, version: int | None = None) -> str:
        """Return the newest version, or an older one, in a list format."""
        table = self.store.lexicons
        automatic_texts = {term.text for term in table.accepted_terms() if term.is_automatic}
        lexicon = table.load_latest() if version is None else table.load_version(version)
        entries = [replace(entry, is_automatic=entry.text in automatic_texts) for entry in lexicon.entries]
        return FORMATTERS[list_format](entries)

    def concepts(self, version: int | None = None) -> ConceptIndex:
        """Return the concepts of the accepted terms, or of the terms of a published version."""
        terms = self.store.lexicons.accepted_terms()
        if version is not None:
            entries = self.store.lexicons.load_version(version).entries
            stored_terms = self.store.review_queue.find_terms([entry.text for entry in entries])
            terms = [
                replace(
                    stored_terms.get(entry.text) or Term(entry.text, 0.0, 0, 0, concept_id=create_concept_id()),
                    synonyms=entry.synonyms,
                    category=entry.category,
                    broader_terms=entry.broader_terms,
                )
                for entry in entries
            ]
        public = self.store.definitions.find_public([term.text for term in terms])
        definition_by_term = {text: definitions[0] for text, definitions in public.items()}
        related_pairs = self.store.relations.related_pairs(ProposalState.ACCEPTED)
        return ConceptIndex(add_definitions(terms, definition_by_term), related_pairs)

    def export_concepts(self, concept_format: ConceptFormat, version: int | None = None) -> bytes:
        """Return the concepts of the accepted terms, or of a version, in a format of concepts."""
        concepts = [group.concept for group in self.concepts(version).groups]
        return format_concept_file(concepts, concept_format)

    def plan_concepts(self, content: bytes, concept_format: ConceptFormat) -> ImportPlan:
        """Return what the import of a file of concepts would do."""
        concepts, errors = parse_concept_file(content, concept_format)
        plan = self.plan_import(concepts, concept_format)
        return replace(plan, errors=(*errors, *plan.errors))

    def plan_import(self, concepts: Sequence[Concept], concept_format: ConceptFormat) -> ImportPlan:
        """Return what the import of concepts would do."""
        return plan_import(concepts, self.concepts(), concept_format in FORMATS_WITH_RELATIONS)

    def find_concept(self, text: str) -> Concept | None:
        """Return the concept of an accepted term, without those of its synonyms; None for another text."""
        term = self.store.review_queue.find_terms([text]).get(text)
        is_accepted = term is not None and term.status is TermStatus.ACCEPTED
        return group_terms(add_definitions([term], {}))[0].concept if term and is_accepted else None

    def edit_concept(
        self, text: str, terms: Sequence[ConceptTerm], actor: str, expected_version: int | None
    ) -> ReviewDecision:
        """Replace the terms of the concept of the accepted term `text`.

        Raises ConcurrentEditError if the term has another version than `expected_version`.
        """
        index = self.concepts()
        group = index.find_by_term(text)
        if group is None or group.head.text != text:
            raise LexiconError("“{term}” is not an accepted term with a concept of its own", term=text)
        concepts, errors = check_concepts([(0, Concept(group.concept.concept_id, tuple(terms), related_ids=None))])
        plan = plan_import(concepts, index, has_relations=False)
        for _, error in (*errors, *plan.errors):
            raise LexiconError(error)
        edits = [replace(edit, seen_version=expected_version) if edit.text == text else edit for edit in plan.edits]
        return self.store.review_history.apply(ReviewDecisionKind.CONCEPT, edits, actor)

    def proposal(self) -> VersionProposal:
        """Return the version that would be published now."""
        with self._lock:
            revision = (self.store.review_history.last_decision_id(), self.store.lexicons.latest_version())
            if self._cached_proposal is None or self._cached_proposal[0] != revision:
                self._cached_proposal = (revision, self._build_proposal())
            return self._cached_proposal[1]

    def _build_proposal(self) -> VersionProposal:
        latest, accepted_terms = self.store.lexicons.load_latest(), self.store.lexicons.accepted_terms()
        new = build_next_version(accepted_terms, latest)
        changed_terms = self.store.review_queue.find_terms(new.changed_terms_since(latest)).values()
        check = check_version(latest, new, [*changed_terms, *accepted_terms])
        resegmented_texts = {text for text, (before, after) in check.words_by_term.items() if before != after}
        changes = version_changes(latest, new)
        return VersionProposal(
            latest,
            new,
            create_domain_segmenter(new),
            tuple(change for change in changes if change.text in resegmented_texts),
            tuple(change for change in changes if change.text not in resegmented_texts),
            check,
        )


def import_size(term_count: int, concept_count: int = 0) -> Message:
    """Return `1 concept, 2 terms`, or `2 terms` for a list without concepts."""
    terms = Message("1 term", "{n} terms", n=term_count)
    concepts = Message("1 concept", "{n} concepts", n=concept_count)
    return Message("{concepts}, {terms}", concepts=concepts, terms=terms) if concept_count else terms


def edit_for_entry(entry: LexiconEntry) -> TermEdit:
    """Return the edit that adds a lexicon entry as an accepted term."""
    return TermEdit(
        entry.text,
        TermStatus.ACCEPTED,
        entry.category,
        entry.synonyms,
        entry.broader_terms,
        entry.frequency,
        entry.pos_tag,
        create_if_missing=True,
    )
