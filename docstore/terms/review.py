"""Review of terms: what reviewers look up about terms, and decide, with the rules of the lexicon."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from docstore.store import Store
from domain.account import Role
from domain.errors import LexiconError
from domain.review import ReviewDecision, ReviewDecisionKind, TermEdit
from domain.term import (
    MAX_DEFINITION_CHARS,
    ConceptTerm,
    ConceptTermStatus,
    DefinitionChoice,
    Term,
    TermStatus,
)
from domain.term_relation import ProposalState, RelationKind
from text.folding import word_key
from text.glosses import rank_translations, run_suffixes
from text.scripts import language_of_term
from text.similarity.similar_terms import SimilarTermIndex

MAX_RELATED_TERMS = 6  # of each kind
MIN_INNER_WORD_LENGTH = 2  # characters of a term inside another term

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


class TermReview:
    """Review of the terms of one store. `actor` is an account name. Invalid changes raise LexiconError.

    Args:
        store: The store.
        check_words: Raises LexiconError for words that cannot be terms; the rule of the lexicon stage.
    """

    def __init__(self, store: Store, check_words: Callable[[Iterable[str]], None]) -> None:
        self.store = store
        self._check_words = check_words

    def related_terms(self, terms: Sequence[Term]) -> list[RelatedTerms]:
        """Return the related terms of each of `terms`."""
        parts = {word for term in terms for word in substrings(term.text)}
        known_terms = self.store.review_queue.find_terms(sorted(parts))
        containing = self.store.review_queue.terms_containing([term.text for term in terms], MAX_RELATED_TERMS)
        similar = SimilarTermIndex(self.store.review_queue.texts_with_status(TermStatus.ACCEPTED))
        translations = self._translations([term.text for term in terms])
        return [
            RelatedTerms(
                tuple((word, known_terms[word].status) for word in known_words[:MAX_RELATED_TERMS]),
                tuple(containing[term.text]),
                tuple(similar.find_similar(term.text, MAX_RELATED_TERMS)),
                tuple(word for word in translations.get(term.text, ()) if word not in term.synonyms),
            )
            for term in terms
            for known_words in [[word for word in dict.fromkeys(substrings(term.text)) if word in known_terms]]
        ]

    def _translations(self, texts: Sequence[str]) -> dict[str, list[str]]:
        """Return likely translations of each term, from glosses in the articles."""
        glosses = self.store.glosses.find_by_ending(texts)
        ends = {end for term_glosses in glosses.values() for _, gloss in term_glosses for end in run_suffixes(gloss)}
        known_terms = frozenset(map(word_key, self.store.review_queue.find_terms(sorted(ends))))
        return {
            text: rank_translations(text, term_glosses, known_terms)[:MAX_RELATED_TERMS]
            for text, term_glosses in glosses.items()
        }

    def apply(self, kind: ReviewDecisionKind, edits: Sequence[TermEdit], actor: str) -> ReviewDecision:
        """Change terms, all or none. Raises ConcurrentEditError if a term has changed since it was seen."""
        self._check_words(edit.text for edit in edits if edit.status is TermStatus.ACCEPTED or edit.create_if_missing)
        self._check_words(
            word for edit in edits for word in (*(edit.synonyms or ()), *(edit.broader_terms or ())) if word
        )
        return self.store.review_history.apply(kind, edits, actor)

    def decide(self, texts: Sequence[str], status: TermStatus, actor: str) -> ReviewDecision:
        """Set the status of terms, whatever it was; all or none."""
        return self.apply(ReviewDecisionKind.DECIDE, [TermEdit(text, status) for text in dict.fromkeys(texts)], actor)

    def propose(self, text: str, actor: str) -> ReviewDecision:
        """Add a word as a candidate. A known term is not changed."""
        return self.apply(
            ReviewDecisionKind.PROPOSE, [TermEdit(text, create_if_missing=True, keep_existing=True)], actor
        )

    def add_synonym(self, text: str, word: str, actor: str) -> ReviewDecision:
        """Add `word` to the synonyms of the term `text`."""
        term = self.store.review_queue.find_terms([text]).get(text)
        synonyms, version = (term.synonyms, term.version) if term else ((), None)
        return self.apply(
            ReviewDecisionKind.SYNONYMS,
            [TermEdit(text, synonyms=(*synonyms, word.strip()), seen_version=version)],
            actor,
        )

    def merge(self, text: str, into: str, actor: str, expected_version: int | None) -> ReviewDecision:
        """Make `text` a synonym of the term `into`."""
        self._check_words([text])
        return self.store.review_history.merge(text, into, actor, expected_version)

    def rename(self, text: str, new_text: str, actor: str, expected_version: int | None) -> ReviewDecision:
        """Accept `new_text` in place of `text`."""
        self._check_words([new_text])
        return self.store.review_history.rename(text, new_text, actor, expected_version)

    def choose_definition(self, text: str, sentence: str, actor: str, expected_version: int | None) -> ReviewDecision:
        """Choose the candidate with this sentence as the definition of a term; "": the term has none."""
        choice = DefinitionChoice()
        if sentence:
            candidates = self.store.definitions.find_candidates([text])[text]
            candidate = next((candidate for candidate in candidates if candidate.sentence == sentence), None)
            if candidate is None:
                raise LexiconError(
                    "This definition of {term} is no candidate any more. Look at the candidates again.", term=text
                )
            choice = DefinitionChoice(
                candidate.sentence, candidate.url_id, candidate.url, candidate.title, candidate.published
            )
        return self._define(text, choice, actor, expected_version)

    def write_definition(self, text: str, definition: str, actor: str, expected_version: int | None) -> ReviewDecision:
        """Choose a definition that the reviewer wrote. White space is normalized."""
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

    def accept_relation(self, kind: RelationKind, text: str, other: str, actor: str) -> ReviewDecision | None:
        """Add `other` to the broader terms of the term `text` or, for another kind, to its synonyms.

        Of the names of a renaming, the old one becomes deprecated and the new one preferred. Related terms are stored
        with the proposal, so that there is no decision to undo: the result is None.
        """
        if kind is RelationKind.RELATED:
            self.set_relation_state(kind, text, other, ProposalState.ACCEPTED, actor)
            return None
        if kind is RelationKind.EQUIVALENT:
            return self.add_synonym(text, other, actor)
        term = self.store.review_queue.find_terms([text]).get(text)
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

    def set_relation_state(self, kind: RelationKind, text: str, other: str, state: ProposalState, actor: str) -> None:
        """Reject a proposal, or open a rejected one, or one of related terms that was accepted, again."""
        values = {"kind": kind, "term": text, "other": other}
        self.store.operations.run(self.store.relations.operation(state), actor, values)

    def reviewers(self) -> list[str]:
        """Return the accounts to which terms can be assigned."""
        return [account.name for account in self.store.accounts.list_accounts() if account.has_role(Role.REVIEWER)]

    def assign(self, texts: Sequence[str], reviewer: str, actor: str) -> None:
        """Assign terms to a reviewer; "" for nobody. Raises LexiconError if a term or the reviewer is unknown."""
        if reviewer and reviewer not in self.reviewers():
            raise LexiconError("No reviewer has the name “{name}”.", name=reviewer[:64])
        reviewers = dict.fromkeys(texts, reviewer)
        self.store.operations.run(self.store.term_assignments.operation, actor, {"reviewers": reviewers})


def substrings(text: str) -> list[str]:
    """Return the substrings of a word, the longest first, with at most 12 characters each."""
    longest = min(len(text) - 1, 12)
    return [
        text[start : start + size]
        for size in range(longest, MIN_INNER_WORD_LENGTH - 1, -1)
        for start in range(len(text) - size + 1)
    ]
