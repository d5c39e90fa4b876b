"""Selection of the candidates that are accepted as words without a reviewer.

A candidate is accepted if the learned model is nearly certain or the candidate is a frequent compound noun, different
words stand beside it, it occurs in several documents, it names a thing (no person, no unit, no instruction, no
identifier of a program), it is no fragment and no plural, and it is no part of a page template. No I/O.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from domain.term import Term, TermStatus
from lexicon.jieba_dictionary import has_candidate_shape
from lexicon.relations import find_number_forms
from text.domain_terms import is_domain_term
from text.folding import normalize_text, word_key
from text.mixed_terms import TermFinder
from text.pinyin import has_han
from text.scripts import HAN, language_of_term
from text.segment import Segmenter

PROBABILITIES = {"zh": (0.91, 0.88, 0.85, 0.82), "en": (0.9, 0.85, 0.8, 0.75)}
"""Probabilities from which candidates can be accepted, by language (docs/decisions/0145-words-and-terms.md)."""
UNREVIEWED_PROBABILITY = {"zh": 0.85, "en": 0.8}  # until reviewers have decided on MIN_REVIEWED such candidates
MIN_REVIEWED, MIN_REVIEWED_PRECISION = 30, 0.97
MIN_OCCURRENCES_PER_DOCUMENT = {"zh": 1.0, "en": 3.0}
"""English general expressions (rapid growth) seldom occur several times in a document; terms do."""
MIN_DOCUMENTS = {"zh": 3, "en": 4}
FRAGMENT_SHARE = 0.6
"""A candidate is a fragment if this share of its occurrences lies in one longer candidate or beside the same word."""
PERSON_TAG, NOUN_TAG, LATIN_TAGS = "nr", "n", ("eng", "x")  # jieba's tags; the first two are prefixes
MAX_NAME_CHARS, MAX_TITLED_CHARS = 3, 4  # of a name after a tagged surname of one character, or beside a title
# 实验结果显示 and 屏幕截图所示 are no terms
REPORTING_VERBS = ("显示", "表明", "证明", "说明", "指出", "认为", "提出", "发现", "介绍", "所示")
_FIRST_WORDS = "创建 新建 添加 删除 重命名 单击 双击 右键 点击 键入 请参阅 没收 吊销 继续 继续执行 未 双方"
_NUMERALS = "million billion one two three four five six seven eight nine ten"
PHRASE_FIRST_WORDS = frozenset(f"{_FIRST_WORDS} {_NUMERALS}".split())
"""First words of instructions (创建供应商), states (未配置) and mentions (双方当事人, three standards)."""
ENGLISH_FUNCTION_WORDS = frozenset(("and", "for", "from", "in", "of", "on", "or", "to", "with"))
_ORDINAL_RE = re.compile(r"第[〇零一二三四五六七八九十百千\d]+[条款章节项编页]|\d+(?:st|nd|rd|th) .*")
MIN_WORD_CHARS = 3  # of a single Latin word
MAX_PART_LENGTH = 12  # words of a part of a Latin term, characters of a part of a Chinese one

# Minima of a frequent Chinese compound noun of general words, of which the model is less certain (世界石油大会). The
# frequency counts relative to the corpus: in a small one, a few occurrences are much.
MIN_COMPOUND_PROBABILITY = 0.6
MIN_COMPOUND_OCCURRENCES, MIN_COMPOUND_OCCURRENCES_PER_DOCUMENT = 8, 1.25  # lines of a page layout occur once
MIN_COMPOUND_LOG_FREQUENCY = math.log(100)  # per million words
MIN_COMPOUND_ASSOCIATION = 2.0  # log ratio, per word, of the frequency to the one of independent words
MAX_COMPOUND_NEIGHBOUR_SHARE = 0.4

# What the articles show of a candidate.
EDGE_CHARS = 120  # of the beginning and the end of an article
MIN_MIDDLE_CHARS = 480  # between them; a shorter article does not count
MIN_TEMPLATE_ARTICLES, TEMPLATE_SHARE = 3, 0.8  # articles with the candidate at the beginning or the end only
CAPITALIZED_SHARE, TITLED_SHARE = 0.8, 0.3  # of the occurrences of a name
_TITLES = ("先生", "女士", "教授", "博士", "院士", "主任", "经理", "董事长", "局长", "书记", "主席", "部长", "记者")
_AFTER_NAMES = (*_TITLES, "说:", "说、", "表示:", "表示、")  # as `normalize_text` writes them
_AUTHOR_SEPARATOR_RE = re.compile(f"[,，、;；/|:：()（）]|(?:本报)?(?:记者|通讯员|作者)|(?<=[{HAN}]) | (?=[{HAN}])")


def select_confident_terms(
    candidates: Sequence[Term],
    base_segmenter: Segmenter,
    decided_terms: Sequence[Term] = (),
    texts: Iterable[str] = (),
    authors: Iterable[str] = (),
) -> list[Term]:
    """Return the candidates to accept, in their order.

    Args:
        candidates: All undecided candidates of the learned scorer; `score` is a probability.
        base_segmenter: Segmenter without the words of the domain.
        decided_terms: Accepted and rejected terms. Fragments and plurals of accepted ones are not accepted.
        texts: Articles that show which candidates are names or belong to a page template.
        authors: Values of the field for the names of authors.
    """
    author_keys = {word_key(name) for value in authors for name in _AUTHOR_SEPARATOR_RE.split(value)}
    accepted_terms = [term for term in decided_terms if term.status is TermStatus.ACCEPTED]
    longer_frequency = frequency_in_longer_terms([*candidates, *accepted_terms])

    def may_be_word(term: Term) -> bool:
        return (
            longer_frequency.get(term.text, 0) < FRAGMENT_SHARE * term.frequency
            and word_key(term.text) not in author_keys
            and is_domain_term(term.text, base_segmenter)
            and not may_be_name(term.text, base_segmenter)
            and not is_phrase(term.text, base_segmenter)
            and not may_be_identifier(term.text)
            and has_candidate_shape(term.text)
        )

    reviewed_terms = [term for term in decided_terms if not term.is_automatic and may_be_word(term)]
    min_probability = {language: choose_probability(language, reviewed_terms) for language in PROBABILITIES}
    selected_terms = [
        term
        for term in candidates
        if term.status is TermStatus.CANDIDATE
        and term.version == 0  # no person has decided or undone anything about it
        and has_counts(term.text, term.score, term.frequency, term.document_count)
        and 0 < neighbour_share(term) < FRAGMENT_SHARE
        and (term.score >= min_probability[language_of_term(term.text)] or is_frequent_compound(term, base_segmenter))
        and may_be_word(term)
    ]
    unfit_texts = find_names_and_templates([term.text for term in selected_terms], texts)
    known_forms = {form for term in accepted_terms for form in find_number_forms(term.text)}
    confident_terms = []
    for term in selected_terms:
        if term.text not in unfit_texts and known_forms.isdisjoint(forms := find_number_forms(term.text)):
            confident_terms.append(term)
            known_forms.update(forms)
    return confident_terms


def choose_probability(language: str, reviewed_terms: Sequence[Term]) -> float:
    """Return the lowest probability from which reviewers accept nearly all; infinity if there is none."""
    minimum = math.inf
    for probability in PROBABILITIES[language]:
        terms = [term for term in reviewed_terms if term.score >= probability]
        accepted = [term.status is TermStatus.ACCEPTED for term in terms if language_of_term(term.text) == language]
        if len(accepted) < MIN_REVIEWED:
            minimum = max(probability, UNREVIEWED_PROBABILITY[language])
        elif sum(accepted) >= MIN_REVIEWED_PRECISION * len(accepted):
            minimum = probability
    return minimum


def has_counts(text: str, probability: float, frequency: int, document_count: int) -> bool:
    """True if a candidate with these counts can be accepted, depending on what stands beside it."""
    language = language_of_term(text)
    is_probable = probability >= (MIN_COMPOUND_PROBABILITY if has_han(text) else PROBABILITIES[language][-1])
    has_documents = document_count >= MIN_DOCUMENTS[language]
    return is_probable and has_documents and frequency >= MIN_OCCURRENCES_PER_DOCUMENT[language] * document_count


def find_names_and_templates(candidates: Sequence[str], texts: Iterable[str]) -> set[str]:
    """Return the candidates with capitals, with titles beside short ones, or only at the edges of articles."""
    patterns, finder = {text: re.compile(re.escape(text), re.IGNORECASE) for text in candidates}, TermFinder(candidates)
    places, capitals, titles, articles, edges = (Counter[str]() for _ in range(5))
    for text in map(normalize_text, texts):
        end = len(text) - EDGE_CHARS
        for candidate in finder.find_terms(text):
            spans = [match.span() for match in patterns[candidate].finditer(text)]
            places[candidate] += len(spans)
            capitals[candidate] += sum(is_capitalized(text[slice(*span)]) for span in spans)
            titles[candidate] += sum(text.endswith(_TITLES, 0, i) or text.startswith(_AFTER_NAMES, j) for i, j in spans)
            if spans and end >= EDGE_CHARS + MIN_MIDDLE_CHARS:  # there are none if a blank divides the candidate
                articles[candidate] += 1
                edges[candidate] += all(i < EDGE_CHARS or j > end for i, j in spans)
    return {
        candidate
        for candidate, count in places.items()
        if 0 < CAPITALIZED_SHARE * count <= capitals[candidate]
        or (len(candidate) <= MAX_TITLED_CHARS and 0 < TITLED_SHARE * count <= titles[candidate])
        or max(MIN_TEMPLATE_ARTICLES, TEMPLATE_SHARE * articles[candidate]) <= edges[candidate]
    }


def may_be_name(text: str, base_segmenter: Segmenter) -> bool:
    """True if text or surname are tagged as a name (石英 is, too), or all words of a Latin text are capitalized."""
    [(first, first_tag), *further_words] = base_segmenter.tag(text)
    is_short = len(first) == 1 and len(text) <= MAX_NAME_CHARS
    return (first_tag.startswith(PERSON_TAG) and (is_short or not further_words)) or is_capitalized(text)


def is_capitalized(text: str) -> bool:
    """True for several Latin words with capitals, such as Henry VIII; the first word is no abbreviation."""
    first, *last_words = text.split()
    return bool(last_words) and first.istitle() and all(word[0].isupper() for word in last_words) and not has_han(text)


def is_frequent_compound(term: Term, base_segmenter: Segmenter) -> bool:
    """True for a frequent Chinese candidate of nouns that belong together and different words on both sides."""
    parts = dict(term.score_components)
    return (
        has_han(term.text)
        and term.frequency >= max(MIN_COMPOUND_OCCURRENCES, MIN_COMPOUND_OCCURRENCES_PER_DOCUMENT * term.document_count)
        and parts.get("specific", 0.0) >= MIN_COMPOUND_LOG_FREQUENCY
        and parts.get("association", 0.0) >= MIN_COMPOUND_ASSOCIATION
        and neighbour_share(term) <= MAX_COMPOUND_NEIGHBOUR_SHARE
        and all(tag.startswith(NOUN_TAG) or tag in LATIN_TAGS for _, tag in base_segmenter.tag(term.text))
    )


def neighbour_share(term: Term) -> float:
    """Return the share of the occurrences beside the most frequent neighbours; 0 for a label, which has none.

    Neighbours are counted in eight groups by hash, so the share is that of a group.
    """
    independent = dict(term.score_components).get("independent", -math.inf)  # lexicon/model/row_features.py
    return round(term.frequency + 0.5 - math.exp(independent)) / term.frequency


def is_phrase(text: str, base_segmenter: Segmenter) -> bool:
    """True for an instruction, a statement, an ordinal number, or words around a preposition."""
    return (
        text.endswith(REPORTING_VERBS)
        or text.startswith("依法")
        or bool(_ORDINAL_RE.fullmatch(text))
        or not ENGLISH_FUNCTION_WORDS.isdisjoint(text.lower().split(" "))
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
