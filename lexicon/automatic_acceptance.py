"""Selection of the candidates that are accepted without a reviewer.

A candidate is accepted if the learned model is nearly certain or the candidate is a frequent compound noun, different
words stand beside it, it occurs in several documents, it names a thing (no person, no unit, no instruction, no
identifier of a program), and it is no fragment of a longer term. No I/O.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from domain.term import Term, TermStatus
from lexicon.jieba_dictionary import has_candidate_shape
from text.domain_terms import is_domain_term
from text.pinyin import has_han
from text.scripts import language_of_term
from text.segment import Segmenter

MIN_PROBABILITY = {"zh": 0.85, "en": 0.75}
"""Probability from which candidates are accepted, by language (docs/decisions/0127-automatic-acceptance.md)."""
MIN_OCCURRENCES_PER_DOCUMENT = {"zh": 1.0, "en": 3.0}
"""English general expressions (rapid growth) seldom occur several times in a document; terms do."""
MIN_DOCUMENTS = {"zh": 3, "en": 4}
FRAGMENT_SHARE = 0.6
"""A candidate is a fragment if this share of its occurrences lies in one longer candidate or beside the same word."""
PERSON_TAG, NOUN_TAG, LATIN_TAGS = "nr", "n", ("eng", "x")  # jieba's tags; the first two are prefixes
MAX_NAME_CHARS = 3  # of a name after a tagged surname of one character
# 实验结果显示 and 屏幕截图所示 are no terms
REPORTING_VERBS = ("显示", "表明", "证明", "说明", "指出", "认为", "提出", "发现", "介绍", "所示")
_FIRST_WORDS = """
创建 新建 添加 删除 重命名 单击 双击 右键 点击 键入 请参阅 没收 吊销 继续 继续执行 未 双方
one two three four five six seven eight nine ten
"""
PHRASE_FIRST_WORDS = frozenset(_FIRST_WORDS.split())
"""First words of instructions (创建供应商), states (未配置) and mentions (双方当事人, three standards)."""
PHRASE_START = "依法"
ENGLISH_FUNCTION_WORDS = frozenset(("and", "for", "from", "in", "of", "on", "or", "to", "with"))
GENERAL_LAST_WORDS = ("conditions", "decisions", "efforts", "factors", "issues", "purposes", "reasons", "situations")
_ORDINAL_RE = re.compile(
    r"第[〇零一二三四五六七八九十百千\d]+[条款章节项编页]|\d+(?:st|nd|rd|th) .*"
)  # 第八十七条, 21st century
MIN_WORD_CHARS = 3  # of a single Latin word
MAX_PART_LENGTH = 12  # words of a part of a Latin term, characters of a part of a Chinese one

# Minima of a frequent Chinese compound noun of general words, of which the model is less certain (世界石油大会). The
# frequency counts relative to the corpus: in a small one, a few occurrences are much.
MIN_COMPOUND_PROBABILITY = 0.6
MIN_COMPOUND_OCCURRENCES = 8
MIN_COMPOUND_LOG_FREQUENCY = math.log(100)  # per million words
MIN_COMPOUND_DOCUMENTS = 4
MIN_COMPOUND_OCCURRENCES_PER_DOCUMENT = 1.25  # lines of a page layout occur once
MIN_COMPOUND_ASSOCIATION = 2.0  # log ratio, per word, of the frequency to the one of independent words
MAX_COMPOUND_NEIGHBOUR_SHARE = 0.4


def select_confident_terms(
    candidates: Sequence[Term], base_segmenter: Segmenter, accepted_terms: Iterable[Term] = ()
) -> list[Term]:
    """Return the candidates to accept, in their order.

    Args:
        candidates: All undecided candidates of the learned scorer; `score` is a probability.
        base_segmenter: Segmenter without the words of the domain.
        accepted_terms: Terms that are accepted already; their fragments are not accepted either.
    """
    longer_frequency = frequency_in_longer_terms([*candidates, *accepted_terms])
    return [
        term
        for term in candidates
        if term.status is TermStatus.CANDIDATE
        and term.version == 0  # no person has decided or undone anything about it
        and (is_confident(term) or is_frequent_compound(term, base_segmenter))
        and longer_frequency.get(term.text, 0) < FRAGMENT_SHARE * term.frequency
        and is_domain_term(term.text, base_segmenter)
        and not may_be_name(term.text, base_segmenter)
        and not is_phrase(term.text, base_segmenter)
        and not may_be_identifier(term.text)
        and has_candidate_shape(term.text)
    ]


def may_be_name(text: str, base_segmenter: Segmenter) -> bool:
    """True if text or surname are tagged as a name (石英 is, too), or all words of a Latin text are capitalized."""
    [(first, first_tag), *further_words] = base_segmenter.tag(text)
    is_short = len(first) == 1 and len(text) <= MAX_NAME_CHARS
    is_tagged = (not further_words or is_short) and first_tag.startswith(PERSON_TAG)
    return is_tagged or (" " in text and text.istitle() and not has_han(text))


def is_confident(term: Term) -> bool:
    """True if the probability and the counts of a candidate suffice for its language."""
    language = language_of_term(term.text)
    return (
        term.score >= MIN_PROBABILITY[language]
        and term.document_count >= MIN_DOCUMENTS[language]
        and term.frequency >= MIN_OCCURRENCES_PER_DOCUMENT[language] * term.document_count
        and 0 < neighbour_share(term) < FRAGMENT_SHARE
    )


def is_frequent_compound(term: Term, base_segmenter: Segmenter) -> bool:
    """True for a frequent Chinese candidate of nouns that belong together and different words on both sides."""
    parts = dict(term.score_components)
    return (
        has_han(term.text)
        and term.score >= MIN_COMPOUND_PROBABILITY
        and term.document_count >= MIN_COMPOUND_DOCUMENTS
        and term.frequency >= max(MIN_COMPOUND_OCCURRENCES, MIN_COMPOUND_OCCURRENCES_PER_DOCUMENT * term.document_count)
        and parts.get("specific", 0.0) >= MIN_COMPOUND_LOG_FREQUENCY
        and parts.get("association", 0.0) >= MIN_COMPOUND_ASSOCIATION
        and 0 < neighbour_share(term) <= MAX_COMPOUND_NEIGHBOUR_SHARE
        and all(tag.startswith(NOUN_TAG) or tag in LATIN_TAGS for _, tag in base_segmenter.tag(term.text))
    )


def neighbour_share(term: Term) -> float:
    """Return the share of the occurrences beside the most frequent neighbours; 0 for a label, which has none.

    Neighbours are counted in eight groups by hash, so the share is that of a group.
    """
    independent = dict(term.score_components).get("independent", -math.inf)  # lexicon/model/row_features.py
    return round(term.frequency + 0.5 - math.exp(independent)) / term.frequency


def is_phrase(text: str, base_segmenter: Segmenter) -> bool:
    """True for an instruction, a statement, an ordinal number, a general expression, or words around a preposition."""
    words = text.lower().split(" ")
    return (
        text.endswith(REPORTING_VERBS)
        or text.startswith(PHRASE_START)
        or bool(_ORDINAL_RE.fullmatch(text))
        or not ENGLISH_FUNCTION_WORDS.isdisjoint(words)
        or words[-1] in GENERAL_LAST_WORDS
        or base_segmenter.tag(text)[0][0].lower() in PHRASE_FIRST_WORDS
    )


def may_be_identifier(text: str) -> bool:
    """True for a single Latin word that is not spelled like an abbreviation or a product: verbose, Rows, x86, OK."""
    if has_han(text) or " " in text:
        return False
    return text.islower() or len(text) < MIN_WORD_CHARS or (text.isalpha() and text == text.capitalize())


def frequency_in_longer_terms(terms: Iterable[Term]) -> dict[str, int]:
    """Return, for each text inside other terms, the frequency of the most frequent term that contains it."""
    frequency_by_part: dict[str, int] = {}
    for term in terms:
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
