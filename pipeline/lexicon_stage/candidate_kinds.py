"""Finds candidates that are names of persons, quantities, or fragments of longer terms."""

from collections.abc import Iterable, Sequence
from itertools import chain, islice

from docstore.terms.review import RelatedTerms
from docstore.terms.review_queue import ReviewQueue
from domain.review import CandidateKind, TermQuery
from domain.term import Term, TermStatus
from lexicon.automatic_acceptance import frequency_in_longer_terms, neighbour_share
from text.domain_terms import is_person_name, is_quantity
from text.segment import base_segmenter

MAX_EXAMINED_TERMS = 20_000  # of each status, the first in review order
LONGER_STATUSES = (TermStatus.CANDIDATE, TermStatus.ACCEPTED)
MIN_FRAGMENT_SHARE = 0.9  # of the occurrences: all fragments can be rejected at once, and 页岩气 is none of 页岩气井


def find_kinds(candidates: Sequence[Term], other_terms: Iterable[Term]) -> dict[str, CandidateKind]:
    """Return the kinds of those candidates that are seldom terms, by text.

    A fragment hardly ever stands outside one longer candidate or one of `other_terms`.
    """
    longer_frequency = frequency_in_longer_terms(chain(candidates, other_terms))
    kinds = {}
    for term in candidates:
        if is_person_name(term.text, base_segmenter()):
            kinds[term.text] = CandidateKind.PERSON
        elif is_quantity(term.text, base_segmenter()):
            kinds[term.text] = CandidateKind.QUANTITY
        elif term.frequency:
            longer_share = longer_frequency.get(term.text, 0) / term.frequency
            if min(longer_share, neighbour_share(term)) >= MIN_FRAGMENT_SHARE:
                kinds[term.text] = CandidateKind.FRAGMENT
    return kinds


def judge_kinds(
    queue: ReviewQueue, terms: Sequence[Term], related_terms: Sequence[RelatedTerms]
) -> list[CandidateKind | None]:
    """Return the kind of each term; None for terms that are no candidates. `related_terms` are those of `terms`."""
    texts = {
        text for related in related_terms for text, status in related.containing_terms if status in LONGER_STATUSES
    }
    candidates = [term for term in terms if term.status is TermStatus.CANDIDATE]
    kinds = find_kinds(candidates, queue.find_terms(sorted(texts)).values())
    return [kinds.get(term.text) for term in terms]


def find_candidates_of_kind(queue: ReviewQueue, kind: CandidateKind, limit: int) -> list[Term]:
    """Return at most `limit` candidates of a kind, in review order."""
    candidates, accepted_terms = (
        queue.find_page(TermQuery(status=status, limit=MAX_EXAMINED_TERMS))[1] for status in LONGER_STATUSES
    )
    kinds = find_kinds(candidates, accepted_terms)
    return list(islice((term for term in candidates if kinds.get(term.text) is kind), limit))
