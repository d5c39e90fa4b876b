"""Finds candidates that are names of persons, quantities, or fragments of longer terms."""

from collections.abc import Mapping, Sequence
from itertools import islice

from docstore.terms.review import RelatedTerms, TermWithStatus
from docstore.terms.review_queue import ReviewQueue
from domain.review import CandidateKind, TermQuery
from domain.term import Term, TermStatus
from lexicon.automatic_acceptance import FRAGMENT_SHARE, frequency_in_longer_terms
from text.domain_terms import is_person_name, is_quantity
from text.segment import base_segmenter

MAX_EXAMINED_TERMS = 20_000  # of each status, those with the best scores
LONGER_STATUSES = (TermStatus.CANDIDATE, TermStatus.ACCEPTED)


def judge_kind(term: Term, longer_frequency: int) -> CandidateKind | None:
    """Return the kind of a candidate; None if it may be a term of the domain.

    `longer_frequency` is the frequency of the most frequent longer term that contains it.
    """
    if is_person_name(term.text, base_segmenter()):
        return CandidateKind.PERSON
    if is_quantity(term.text, base_segmenter()):
        return CandidateKind.QUANTITY
    is_fragment = term.frequency > 0 and longer_frequency >= FRAGMENT_SHARE * term.frequency
    return CandidateKind.FRAGMENT if is_fragment else None


def judge_kinds(
    queue: ReviewQueue, terms: Sequence[Term], related_terms: Sequence[RelatedTerms]
) -> list[CandidateKind | None]:
    """Return the kind of each term; None for terms that are no candidates. `related_terms` are those of `terms`."""
    texts = {
        text for related in related_terms for text, status in related.containing_terms if status in LONGER_STATUSES
    }
    longer_terms = queue.find_terms(sorted(texts))
    return [
        judge_kind(term, _max_frequency(related.containing_terms, longer_terms))
        if term.status is TermStatus.CANDIDATE
        else None
        for term, related in zip(terms, related_terms, strict=True)
    ]


def _max_frequency(containing: Sequence[TermWithStatus], terms: Mapping[str, Term]) -> int:
    return max((terms[text].frequency for text, _ in containing if text in terms), default=0)


def find_candidates_of_kind(queue: ReviewQueue, kind: CandidateKind, limit: int) -> list[Term]:
    """Return at most `limit` candidates of a kind, those with the best scores first."""
    candidates, accepted_terms = (
        queue.find_page(TermQuery(status=status, limit=MAX_EXAMINED_TERMS))[1] for status in LONGER_STATUSES
    )
    longer_frequency = frequency_in_longer_terms([*candidates, *accepted_terms])
    terms = (term for term in candidates if judge_kind(term, longer_frequency.get(term.text, 0)) is kind)
    return list(islice(terms, limit))
