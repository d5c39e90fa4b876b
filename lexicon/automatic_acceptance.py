"""Selection of the candidates that are accepted without a reviewer.

A candidate is accepted if the learned model is nearly certain, it occurs in several documents, it names a thing (no
person, no unit), and it is no fragment of a longer candidate. No I/O.
"""

from collections.abc import Iterator, Sequence

from domain.term import Term, TermStatus
from lexicon.jieba_dictionary import find_term_error
from text.domain_terms import is_domain_term
from text.pinyin import has_han
from text.segment import Segmenter

MIN_PROBABILITY = 0.75
"""Probability from which candidates are accepted. The gold terms of the training corpora are incomplete, so .75 means a
precision of about .95 by eye (docs/decisions/0127-automatic-acceptance.md)."""
MIN_DOCUMENTS = 3
FRAGMENT_SHARE = 0.6  # a candidate is a fragment if this share of its occurrences lies in one longer candidate
PERSON_TAG = "nr"  # prefix of jieba's tags
REPORTING_VERBS = ("显示", "表明", "证明", "说明", "指出", "认为", "提出", "发现", "介绍")  # 实验结果显示 is no term
MAX_PART_LENGTH = 12  # words of a part of a Latin term, characters of a part of a Chinese one


def select_confident_terms(candidates: Sequence[Term], base_segmenter: Segmenter) -> list[Term]:
    """Return the candidates to accept, in their order.

    Args:
        candidates: All undecided candidates of the learned scorer; `score` is a probability.
        base_segmenter: Segmenter without the words of the domain.
    """
    longer_frequency = frequency_in_longer_candidates(candidates)
    return [
        term
        for term in candidates
        if term.status is TermStatus.CANDIDATE
        and term.version == 0  # no person has decided or undone anything about it
        and term.score >= MIN_PROBABILITY
        and term.document_count >= MIN_DOCUMENTS
        and longer_frequency.get(term.text, 0) < FRAGMENT_SHARE * term.frequency
        and is_domain_term(term.text, base_segmenter)
        and not may_be_name(term.text, base_segmenter)
        and not term.text.endswith(REPORTING_VERBS)
        and not find_term_error(term.text)
    ]


def may_be_name(text: str, base_segmenter: Segmenter) -> bool:
    """True if the dictionary tags the whole text as a name of a person; it tags some minerals so, too (石英)."""
    [(_, first_tag), *further_words] = base_segmenter.tag(text)
    return not further_words and first_tag.startswith(PERSON_TAG)


def frequency_in_longer_candidates(candidates: Sequence[Term]) -> dict[str, int]:
    """Return, for each text inside other candidates, the frequency of the most frequent candidate that contains it."""
    frequency_by_part: dict[str, int] = {}
    for term in candidates:
        for part in iter_parts(term.text):
            frequency_by_part[part] = max(frequency_by_part.get(part, 0), term.frequency)
    return frequency_by_part


def iter_parts(text: str) -> Iterator[str]:
    """Yield the proper parts of a term: runs of characters if it contains Chinese, otherwise runs of words.

    >>> list(iter_parts("shale gas well"))
    ['shale', 'shale gas', 'gas', 'gas well', 'well']
    """
    pieces, separator = (list(text), "") if has_han(text) else (text.split(" "), " ")
    for start in range(len(pieces)):
        for end in range(start + 1, min(len(pieces), start + MAX_PART_LENGTH) + 1):
            if end - start < len(pieces):
                yield separator.join(pieces[start:end])
