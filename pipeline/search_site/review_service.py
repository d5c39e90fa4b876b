"""Lexicon review on the store, for pages and command line: implements `search_ui.review.interfaces.ReviewService`."""

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace

from docstore.store import Store
from domain.batches import batched
from domain.concept import Concept, ConceptFormat, create_concept_id
from domain.errors import ConceptFileError, LexiconError
from domain.review import CandidateKind, Order, ReviewDecision, ReviewDecisionKind, TermEdit, TermQuery, TermStatistics
from domain.rising_term import RisingTerm
from domain.term import (
    MAX_DEFINITION_CHARS,
    ConceptTerm,
    ConceptTermStatus,
    Definition,
    DefinitionChoice,
    DefinitionSource,
    Lexicon,
    LexiconEntry,
    PublishedTermStates,
    Term,
    TermStatus,
)
from domain.term_relation import ProposalState, RelationKind, RelationProposal
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
from lexicon.similar_terms import SimilarTermIndex
from lexicon.version_check import check_version
from lexicon.word_lists import FORMATTERS, detect_word_list_format, parse_word_list
from pipeline.search_site.candidate_kinds import find_candidates_of_kind, judge_kinds
from pipeline.search_site.version_changes import version_changes
from search_ui.review.interfaces import (
    ConceptPreview,
    DecidedRelations,
    ImportPreview,
    RelatedTerms,
    TermWithStatus,
    VersionChange,
    VersionProposal,
)
from text.folding import word_key
from text.glosses import Gloss, rank_translations, run_suffixes
from text.scripts import LANGUAGE_PATTERNS, language_of_term

MAX_RELATED_TERMS = 6  # of each kind
MIN_INNER_WORD_LENGTH = 2  # characters of a term inside another term
TERMS_PER_QUERY = 500


class StoreReview:
    """Lexicon review on one store; the methods are documented in `ReviewService`."""

    def __init__(self, store: Store, needs_second_reviewer: bool = False) -> None:
        self.needs_second_reviewer = needs_second_reviewer
        self._store = store
        self._lock = threading.Lock()
        self._cached_proposal: tuple[tuple[int, int], VersionProposal] | None = None
        self._cached_shares: tuple[int, tuple[tuple[str, float], ...]] | None = None  # by text version

    def find_page(self, query: TermQuery) -> tuple[int, list[Term]]:
        """See `ReviewService`, also for the methods below. Without a language, the review order mixes languages."""
        if query.order is Order.REVIEW and not query.pattern:
            query = replace(query, language_shares=self._language_shares())
        return self._store.review_queue.find_page(query)

    def _language_shares(self) -> tuple[tuple[str, float], ...]:
        """Return the pattern of the terms of each language with its share of the articles; empty without articles."""
        version = self._store.articles.text_version()
        if self._cached_shares is None or self._cached_shares[0] != version:
            counts = self._store.articles.count_by_language()
            chinese_count = sum(count for language, count in counts.items() if language.partition("-")[0] == "zh")
            total_count = sum(counts.values())
            share_counts = {"zh": chinese_count, "en": total_count - chinese_count} if total_count else {}
            shares = tuple((LANGUAGE_PATTERNS[name], count / total_count) for name, count in share_counts.items())
            self._cached_shares = version, shares
        return self._cached_shares[1]

    def find_terms(self, texts: Sequence[str]) -> dict[str, Term]:
        return self._store.review_queue.find_terms(texts)

    def find_by_concept(self, concept_id: str) -> str | None:
        return self._store.review_queue.find_by_concept(concept_id)

    def related_terms(self, terms: Sequence[Term]) -> list[RelatedTerms]:
        substrings_by_text = {term.text: substrings(term.text) for term in terms}
        known_terms = self._store.review_queue.find_terms(
            sorted({word for words in substrings_by_text.values() for word in words})
        )
        containing = self._store.review_queue.terms_containing([term.text for term in terms], MAX_RELATED_TERMS)
        similar = SimilarTermIndex(self._store.review_queue.texts_with_status(TermStatus.ACCEPTED))
        translations = self._translations([term.text for term in terms])
        return [
            RelatedTerms(
                known_substrings(substrings_by_text[term.text], known_terms),
                tuple(containing[term.text]),
                tuple(similar.find_similar(term.text, MAX_RELATED_TERMS)),
                tuple(word for word in translations.get(term.text, ()) if word not in term.synonyms),
            )
            for term in terms
        ]

    def _translations(self, texts: Sequence[str]) -> dict[str, list[str]]:
        """Return likely translations of each term, from glosses in the articles."""
        glosses_by_text = self._store.glosses.find_by_ending(texts)
        glosses = {
            text: [Gloss(row.han, row.latin, row.is_han_whole) for row in glosses_by_text[text]]
            for text in glosses_by_text
        }
        ends = {end for term_glosses in glosses.values() for gloss in term_glosses for end in run_suffixes(gloss)}
        known_terms = frozenset(map(word_key, self._store.review_queue.find_terms(sorted(ends))))
        return {
            text: rank_translations(text, term_glosses, known_terms)[:MAX_RELATED_TERMS]
            for text, term_glosses in glosses.items()
        }

    def rising_terms(self) -> dict[str, RisingTerm]:
        return {term.text: term for term in self._store.rising_terms.load()}

    def narrower_terms(self, text: str) -> list[str]:
        return self._store.review_queue.narrower_terms(text)

    def recent_acceptance(self) -> tuple[int, int]:
        return self._store.review_queue.recent_acceptance()

    def count_decided_terms(self, actor: str, since: float) -> int:
        return self._store.review_history.count_decided_terms(actor, since)

    def candidate_kinds(self, terms: Sequence[Term], related: Sequence[RelatedTerms]) -> list[CandidateKind | None]:
        return judge_kinds(self._store.review_queue, terms, related)

    def find_by_kind(self, kind: CandidateKind, limit: int) -> list[Term]:
        return find_candidates_of_kind(self._store.review_queue, kind, limit)

    def pending_counts(self) -> tuple[int, int, int]:
        return self._store.review_queue.unpublished_change_counts()

    def apply(self, kind: ReviewDecisionKind, edits: Sequence[TermEdit], actor: str) -> ReviewDecision:
        ensure_acceptable(edit.text for edit in edits if edit.status is TermStatus.ACCEPTED or edit.create_if_missing)
        ensure_acceptable(
            word for edit in edits for word in (*(edit.synonyms or ()), *(edit.broader_terms or ())) if word
        )
        return self._store.review_history.apply(kind, edits, actor, self.needs_second_reviewer)

    def decide(self, texts: Sequence[str], status: TermStatus, actor: str) -> ReviewDecision:
        return self.apply(ReviewDecisionKind.DECIDE, [TermEdit(text, status) for text in dict.fromkeys(texts)], actor)

    def propose(self, text: str, actor: str) -> ReviewDecision:
        return self.apply(
            ReviewDecisionKind.PROPOSE, [TermEdit(text, create_if_missing=True, keep_existing=True)], actor
        )

    def add_synonym(self, text: str, word: str, actor: str) -> ReviewDecision:
        term = self.find_terms([text]).get(text)
        synonyms, version = (term.synonyms, term.version) if term else ((), None)
        return self.apply(
            ReviewDecisionKind.SYNONYMS,
            [TermEdit(text, synonyms=(*synonyms, word.strip()), seen_version=version)],
            actor,
        )

    def merge(self, text: str, into: str, actor: str, expected_version: int | None) -> ReviewDecision:
        ensure_acceptable([text])
        return self._store.review_history.merge(text, into, actor, expected_version)

    def rename(self, text: str, new_text: str, actor: str, expected_version: int | None) -> ReviewDecision:
        ensure_acceptable([new_text])
        history = self._store.review_history
        return history.rename(text, new_text, actor, expected_version, self.needs_second_reviewer)

    def undo(self, actor: str, act_id: int | None) -> ReviewDecision:
        return self._store.review_history.undo(actor, act_id)

    def history(self, text: str, actor: str, offset: int, limit: int) -> tuple[int, list[ReviewDecision]]:
        return self._store.review_history.list_decisions(text, actor, offset, limit)

    def publish(self, actor: str, note: str = "") -> Lexicon:
        proposal = self.proposal()
        new = proposal.lexicon
        if new.version == proposal.published_lexicon.version:
            raise NothingToPublishError("Nothing to publish: no term has changed since the last version.")
        ensure_harmless(proposal.check)
        return self._store.lexicons.publish(replace(new, published_by=actor, note=note))

    def revert(self, version: int, actor: str) -> Lexicon:
        table = self._store.lexicons
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
        self._store.review_history.apply(ReviewDecisionKind.REVERT, edits, actor)
        note = f"as version {version}"
        return table.publish(Lexicon(latest.version + 1, target.entries, note=note, published_by=actor))

    def versions(self) -> list[tuple[Lexicon, int]]:
        return self._store.lexicons.list_versions()

    def last_decision_id(self) -> int:
        return self._store.review_history.last_decision_id()

    def published_term_states(self, version: int) -> PublishedTermStates:
        return self._store.lexicons.published_term_states(version)

    def first_version(self, text: str) -> Lexicon | None:
        return self._store.lexicons.first_version(text)

    def definitions(self, text: str) -> list[Definition]:
        term = self.find_terms([text]).get(text)
        choice = term.definition if term else None
        if term is None or choice is None:
            return self.definition_candidates(text)
        if not choice.sentence:
            return []
        definition = self._chosen_definition(term, choice)
        candidates = self.definition_candidates(text)
        return [definition, *(candidate for candidate in candidates if candidate.sentence != choice.sentence)]

    def definition_candidates(self, text: str) -> list[Definition]:
        stored_definitions = self._store.definitions.find_by_term(text)
        return [definition for definition in stored_definitions if not definition.needs_recheck]

    def best_definitions(self, texts: Collection[str]) -> dict[str, Definition]:
        definition_by_text = self._store.definitions.find_best(texts)
        for text, term in self.find_terms(list(texts)).items():
            if term.definition is not None:
                definition_by_text.pop(text, None)
                if term.definition.sentence:
                    definition_by_text[text] = self._chosen_definition(term, term.definition)
        return definition_by_text

    def _chosen_definition(self, term: Term, choice: DefinitionChoice) -> Definition:
        """Return the choice of a reviewer as a definition of the term."""
        source = (choice.url_id, choice.url, choice.title, choice.published)
        is_changed, is_gone = (
            term.definition_source is state for state in (DefinitionSource.CHANGED, DefinitionSource.GONE)
        )
        language = language_of_term(term.text)
        return Definition(term.text, language, choice.sentence, *source, 1.0, 0.0, is_changed, is_gone)

    def defined_terms(self) -> dict[str, int]:
        return self._store.definitions.document_counts()

    def definitions_revision(self) -> tuple[int, float]:
        return self._store.relations.search_state()

    def choose_definition(self, text: str, sentence: str, actor: str, expected_version: int | None) -> ReviewDecision:
        candidate_by_sentence = {candidate.sentence: candidate for candidate in self.definition_candidates(text)}
        choice = DefinitionChoice()
        if sentence:
            candidate = candidate_by_sentence.get(sentence)
            if candidate is None:
                raise LexiconError(
                    "This definition of {term} is no candidate any more. Look at the candidates again.", term=text
                )
            choice = DefinitionChoice(
                candidate.sentence, candidate.url_id, candidate.url, candidate.title, candidate.published
            )
        return self._define(text, choice, actor, expected_version)

    def write_definition(self, text: str, definition: str, actor: str, expected_version: int | None) -> ReviewDecision:
        definition = " ".join(definition.split())
        if not definition:
            raise LexiconError("The definition has no text.")
        if len(definition) > MAX_DEFINITION_CHARS:
            values = {"limit": MAX_DEFINITION_CHARS, "length": len(definition)}
            raise LexiconError("A definition has at most {limit} characters, not {length}.", **values)
        return self._define(text, DefinitionChoice(definition), actor, expected_version)

    def _define(self, text: str, choice: DefinitionChoice, actor: str, version: int | None) -> ReviewDecision:
        edit = TermEdit(text, definition=choice, seen_version=version)
        return self.apply(ReviewDecisionKind.DEFINE, [edit], actor)

    def relation_proposals(self, limit: int) -> tuple[int, list[RelationProposal]]:
        return self._store.relations.list_open(limit)

    def decided_relations(self, limit: int) -> DecidedRelations:
        accepted, rejected = (
            self._store.relations.list_decided(state, limit)
            for state in (ProposalState.ACCEPTED, ProposalState.REJECTED)
        )
        return DecidedRelations(accepted, rejected)

    def accepted_related_terms(self, text: str) -> list[str]:
        return self._store.relations.list_related(text)

    def accept_relation(self, kind: RelationKind, text: str, other: str, actor: str) -> ReviewDecision | None:
        if kind is RelationKind.RELATED:
            self._set_proposal_state(kind, text, other, ProposalState.ACCEPTED, actor)
            return None
        if kind is RelationKind.EQUIVALENT:
            return self.add_synonym(text, other, actor)
        term = self.find_terms([text]).get(text)
        if term is not None and kind is not RelationKind.BROADER:
            old, new = (other, text) if kind is RelationKind.FORMER else (text, other)
            return self._rename_in_concept(term, other, old, new, actor)
        broader_terms, version = (term.broader_terms, term.version) if term else ((), None)
        edit = TermEdit(text, broader_terms=(*broader_terms, other), seen_version=version)
        return self.apply(ReviewDecisionKind.RELATE, [edit], actor)

    def _rename_in_concept(self, term: Term, synonym: str, old: str, new: str, actor: str) -> ReviewDecision:
        """Add a synonym; of the two names of a renaming, deprecate the old one and prefer the new one."""
        statuses = {old: ConceptTermStatus.DEPRECATED, new: ConceptTermStatus.PREFERRED}
        known_terms = {item.text: item for item in term.concept_terms}
        renamed_terms = [
            replace(known_terms.get(name) or ConceptTerm(name, language_of_term(name)), status=status)
            for name, status in statuses.items()
        ]
        concept_terms = (*(item for item in term.concept_terms if item.text not in statuses), *renamed_terms)
        synonyms = (*term.synonyms, synonym)
        edit = TermEdit(term.text, synonyms=synonyms, concept_terms=concept_terms, seen_version=term.version)
        return self.apply(ReviewDecisionKind.SYNONYMS, [edit], actor)

    def reject_relation(self, kind: RelationKind, text: str, other: str, actor: str) -> None:
        self._set_proposal_state(kind, text, other, ProposalState.REJECTED, actor)

    def reopen_relation(self, kind: RelationKind, text: str, other: str, actor: str) -> None:
        self._set_proposal_state(kind, text, other, ProposalState.PROPOSED, actor)

    def _set_proposal_state(self, kind: RelationKind, text: str, other: str, state: ProposalState, actor: str) -> None:
        if not self._store.relations.set_state(kind, text, other, state, actor):
            raise LexiconError("There is no proposal to relate {term} to {other} any more.", term=text, other=other)

    def difference(self, before: int, after: int) -> list[VersionChange]:
        table = self._store.lexicons
        for number in (before, after):
            if not 0 <= number <= table.latest_version():
                raise LexiconError("The lexicon has no version {version}.", version=number)
        return version_changes(table.load_version(before), table.load_version(after))

    def import_list(self, name: str, content: bytes, actor: str) -> int:
        concept_format = detect_concept_format(name, content)
        if concept_format:
            plan = self.plan_concepts(content, concept_format)
            self.import_concepts(plan, actor)
            return len(plan.changes)
        text = decode_dictionary(content)
        entries = parse_word_list(text, detect_word_list_format(name, text))
        self.apply(ReviewDecisionKind.ADD, [edit_for_entry(entry) for entry in entries], actor)
        return len(entries)

    def export(self, list_format: str, version: int | None = None) -> str:
        table = self._store.lexicons
        automatic_texts = {term.text for term in table.accepted_terms() if term.is_automatic}
        lexicon = table.load_latest() if version is None else table.load_version(version)
        entries = [replace(entry, is_automatic=entry.text in automatic_texts) for entry in lexicon.entries]
        return FORMATTERS[list_format](entries)

    def concepts(self, version: int | None = None) -> ConceptIndex:
        """Return the concepts of the accepted terms, or of the terms of a published version."""
        terms = self._store.lexicons.accepted_terms()
        if version is not None:
            entries = self._store.lexicons.load_version(version).entries
            stored_terms = self.find_terms([entry.text for entry in entries])
            terms = [
                replace(
                    stored_terms.get(entry.text) or Term(entry.text, 0.0, 0, 0, concept_id=create_concept_id()),
                    synonyms=entry.synonyms,
                    category=entry.category,
                    broader_terms=entry.broader_terms,
                )
                for entry in entries
            ]
        definition_by_term: dict[str, Definition] = {}
        for batch in batched([term.text for term in terms], TERMS_PER_QUERY):
            definition_by_term |= self._store.definitions.find_best(batch)
        return ConceptIndex(add_definitions(terms, definition_by_term), self._store.relations.accepted_pairs())

    def export_concepts(self, concept_format: ConceptFormat, version: int | None = None) -> bytes:
        concepts = [group.concept for group in self.concepts(version).groups]
        return format_concept_file(concepts, concept_format)

    def plan_concepts(self, content: bytes, concept_format: ConceptFormat) -> ImportPlan:
        concepts = parse_concept_file(content, concept_format)
        return self.plan_import(concepts, concept_format)

    def plan_import(self, concepts: Sequence[Concept], concept_format: ConceptFormat) -> ImportPlan:
        return plan_import(concepts, self.concepts(), concept_format in FORMATS_WITH_RELATIONS)

    def preview_import(self, name: str, content: bytes) -> ImportPreview:
        concept_format = detect_concept_format(name, content)
        if concept_format is None:
            raise LexiconError("only files of concepts have a preview: TBX, SKOS, or CSV with the column “concept id”")
        plan = self.plan_concepts(content, concept_format)
        changes = tuple(
            ConceptPreview(item.after.label, item.before is None, *plan.lines(item)) for item in plan.changes
        )
        return ImportPreview(changes, plan.unchanged_count)

    def find_concept(self, text: str) -> Concept | None:
        term = self.find_terms([text]).get(text)
        is_accepted = term is not None and term.status is TermStatus.ACCEPTED
        return group_terms(add_definitions([term], {}))[0].concept if term and is_accepted else None

    def edit_concept(
        self, text: str, terms: Sequence[ConceptTerm], actor: str, expected_version: int | None
    ) -> ReviewDecision:
        index = self.concepts()
        group = index.find_by_term(text)
        if group is None or group.head.text != text:
            raise LexiconError("“{term}” is not an accepted term with a concept of its own", term=text)
        try:
            concepts = check_concepts([(0, Concept(group.concept.concept_id, tuple(terms), related_ids=None))])
            plan = plan_import(concepts, index, has_relations=False)
        except ConceptFileError as error:
            raise LexiconError(error.line_errors[0][1]) from error
        edits = [replace(edit, seen_version=expected_version) if edit.text == text else edit for edit in plan.edits]
        return self._store.review_history.apply(ReviewDecisionKind.CONCEPT, edits, actor, self.needs_second_reviewer)

    def import_concepts(self, plan: ImportPlan, actor: str) -> ReviewDecision:
        return self._store.review_history.apply(ReviewDecisionKind.ADD, plan.edits, actor, self.needs_second_reviewer)

    def proposal(self) -> VersionProposal:
        with self._lock:
            revision = (self._store.review_history.last_decision_id(), self._store.lexicons.latest_version())
            if self._cached_proposal is None or self._cached_proposal[0] != revision:
                self._cached_proposal = (revision, self._build_proposal())
            return self._cached_proposal[1]

    def _build_proposal(self) -> VersionProposal:
        latest, accepted_terms = self._store.lexicons.load_latest(), self._store.lexicons.accepted_terms()
        new = build_next_version(accepted_terms, latest)
        resegmented_texts = set(new.changed_terms_since(latest))
        changes = version_changes(latest, new)
        changed_terms = self._store.review_queue.find_terms(sorted(resegmented_texts)).values()
        return VersionProposal(
            latest,
            new,
            create_domain_segmenter(new),
            tuple(change for change in changes if change.text in resegmented_texts),
            tuple(change for change in changes if change.text not in resegmented_texts),
            check_version(latest, new, [*changed_terms, *accepted_terms]),
        )

    def statistics(self) -> TermStatistics:
        return self._store.review_queue.statistics()


def substrings(text: str) -> list[str]:
    """Return the substrings of a word, the longest first, with at most 12 characters each."""
    longest = min(len(text) - 1, 12)
    return [
        text[start : start + size]
        for size in range(longest, MIN_INNER_WORD_LENGTH - 1, -1)
        for start in range(len(text) - size + 1)
    ]


def known_substrings(words: Sequence[str], known_terms: dict[str, Term]) -> tuple[TermWithStatus, ...]:
    """Return the distinct `words` that are terms, with their status."""
    terms = dict.fromkeys(word for word in words if word in known_terms)
    return tuple((word, known_terms[word].status) for word in terms)[:MAX_RELATED_TERMS]


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
