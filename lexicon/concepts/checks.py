"""Checks of the concepts of a file. What is invalid is left out and named with its reason; all else is imported."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from domain.concept import Concept, sort_terms
from domain.message import Message
from domain.term import MAX_DEFINITION_CHARS, STATUS_ORDER, ConceptTerm, ConceptTermStatus, LineError
from lexicon.concepts.concept_groups import add_texts, normalize_terms
from lexicon.jieba_dictionary import MAX_INPUT_CHARS, find_count_error, find_term_error
from text.folding import word_key
from text.scripts import language_of_term

MAX_TEXT_CHARS = 5_000  # of a source or a note
MAX_ID_CHARS = 300
_LANGUAGE_TAG = re.compile("[a-z]{2,3}(-[a-z0-9]{1,8})*")
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_INVISIBLE = re.compile("[\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")  # in texts of web pages
_STATUS_ENDINGS = ("term", "术语", "名称", "用语", "使用", "词")
_STATUS_WORDS = {
    ConceptTermStatus.PREFERRED: """preferred recommended standardized standardised standard legal regulated official
        main 首选 推荐 优选 规范 标准 正式 法定 正名""",
    ConceptTermStatus.ADMITTED: """admitted allowed accepted acceptable approved permitted alternative alternate synonym
        variant proposed provisional new active valid current
        允许 许用 可用 认可 接受 容许 备选 同义词 又称 别名 简称 全称 俗称""",
    ConceptTermStatus.DEPRECATED: """deprecated superseded obsolete forbidden prohibited banned notrecommended donotuse
        notallowed disallowed notpermitted notadmitted rejected discouraged avoid avoided outdated archaic historical
        withdrawn inactive invalid negative 禁用 禁止 不推荐 不建议 不可用 不允许 不规范 弃用 废弃 废止 停用 作废 淘汰
        过时 拒用 已废止 已弃用 已废弃 旧称 曾称 旧词 被取代""",
}
STATUS_BY_WORD = {word: status for status, words in _STATUS_WORDS.items() for word in words.split()}

ParsedConcept = tuple[int, Concept | str]
"""Line number (0: unknown) of a concept in a file, and the concept, or what is wrong there."""


def to_single_line(text: str) -> str:
    """Return a text in one line, without characters that no file format can contain."""
    return " ".join(_UNPRINTABLE.sub("", text).split())


def find_status(name: str) -> ConceptTermStatus | None:
    """Return the status that a word of a terminology tool means: `notRecommended`, `obsoleteTerm`, 禁用."""
    word = re.sub("-admn-sts|[ _-]", "", unicodedata.normalize("NFKC", name).strip().lower())
    shorter_words = (word.removesuffix(ending) for ending in _STATUS_ENDINGS)
    return next((STATUS_BY_WORD[form] for form in (word, *shorter_words) if form in STATUS_BY_WORD), None)


def assign_statuses(
    terms: Sequence[ConceptTerm], names: Sequence[str]
) -> tuple[list[ConceptTerm], list[tuple[int, Message]]]:
    """Return the terms with the statuses that a file names, and the unknown names with the indexes of their terms.

    In each language without a preferred term, the first term without a status is preferred. All other terms without a
    known status are admitted.
    """
    statuses = [find_status(name) for name in names]
    languages = {
        term.language for term, status in zip(terms, statuses, strict=True) if status is ConceptTermStatus.PREFERRED
    }
    errors = []
    for index, name in enumerate(names):
        if not name.strip() and terms[index].language not in languages:
            languages.add(terms[index].language)
            statuses[index] = ConceptTermStatus.PREFERRED
        elif name.strip() and statuses[index] is None:
            values = {"term": to_single_line(terms[index].text)[:40], "status": to_single_line(name)[:40]}
            errors.append((index, Message("“{term}”: unknown status “{status}”, read as admitted", **values)))
    pairs = zip(terms, statuses, strict=True)
    return [replace(term, status=status or ConceptTermStatus.ADMITTED) for term, status in pairs], errors


def concept_reason(label: str, reason: str) -> Message:
    """Return a reason with the name of the concept."""
    return Message("Concept “{concept}”: {reason}", concept=to_single_line(label)[:80], reason=reason)


def check_concepts(parsed_concepts: Iterable[ParsedConcept]) -> tuple[list[Concept], list[LineError]]:
    """Return the concepts of a file in normal form, and what was wrong.

    A term of several concepts stays in the first one that prefers it, else in the first one that admits it.
    """
    numbered_concepts: list[tuple[int, Concept]] = []
    errors: list[LineError] = []
    name_by_id: dict[str, str] = {}
    for line, item in parsed_concepts:
        if not isinstance(item, Concept):
            errors.append((line, item))
            continue
        concept, reasons = _clean_concept(item)
        checked_concept = complete_concept(concept, concept.terms)
        if isinstance(checked_concept, Message):
            reasons.append(checked_concept)
        elif concept.concept_id and (other := name_by_id.get(concept.concept_id)):
            reasons = [Message("the id {id} is also the id of concept “{other}”", id=concept.concept_id, other=other)]
        else:
            numbered_concepts.append((line, concept))
            name_by_id[concept.concept_id] = checked_concept.label
        errors += ((line, concept_reason(_concept_name(concept), reason)) for reason in reasons)
    ranked_terms = sorted(
        (STATUS_ORDER.index(term.status), index, word_key(term.text))
        for index, (_, concept) in enumerate(numbered_concepts)
        for term in concept.terms
    )
    owner_by_key = {key: index for _, index, key in reversed(ranked_terms)}
    concepts = []
    for index, (line, concept) in enumerate(numbered_concepts):
        own_terms, reasons = [], []
        for term in concept.terms:
            owner = owner_by_key[word_key(term.text)]
            if owner == index:
                own_terms.append(term)
            else:
                other = _concept_name(numbered_concepts[owner][1])
                reasons.append(Message("the term “{term}” is also in concept “{other}”", term=term.text, other=other))
        checked_concept = complete_concept(concept, own_terms)
        if isinstance(checked_concept, Concept):
            concepts.append(checked_concept)
        else:
            reasons.append(checked_concept)
        errors += ((line, concept_reason(_concept_name(concept), reason)) for reason in reasons)
    if not errors and not concepts:
        errors.append((0, Message("the file contains no concept")))
    return concepts, errors


def complete_concept(concept: Concept, terms: Sequence[ConceptTerm]) -> Concept | Message:
    """Return the concept with these terms, one of which is preferred, or the reason why they are no concept."""
    if not terms:
        return Message("it has no term")
    if error := find_count_error(terms):
        return error
    best_term = min(terms, key=lambda term: STATUS_ORDER.index(term.status))
    if best_term.status is ConceptTermStatus.DEPRECATED:
        return Message("all its terms are deprecated")
    preferred_term = replace(best_term, status=ConceptTermStatus.PREFERRED)
    terms = [preferred_term if term is best_term else term for term in terms]
    return replace(concept, terms=sort_terms(normalize_terms(terms)))


def _concept_name(concept: Concept) -> str:
    return concept.concept_id or next((term.text for term in concept.terms), "")


def _clean_concept(concept: Concept) -> tuple[Concept, list[Message]]:
    """Return a concept with normal texts, without invalid and repeated terms, and what was wrong."""
    terms: dict[tuple[str, str], ConceptTerm] = {}
    reasons: list[Message] = []
    for file_term in sorted(concept.terms, key=lambda term: STATUS_ORDER.index(term.status)):
        if (term := _clean_term(file_term, reasons)) is not None:
            key = term.text, term.language
            terms[key] = add_texts(terms[key], term.definition, term.source, term.note) if key in terms else term
    concept_id, related_ids = to_single_line(concept.concept_id), concept.related_ids
    if len(concept_id) > MAX_ID_CHARS:
        values = {"count": len(concept_id), "limit": MAX_ID_CHARS}
        reasons.append(Message("the id has {count} characters; at most {limit} are allowed", **values))
        concept_id = ""
    clean_concept = replace(
        concept,
        concept_id=concept_id,
        terms=tuple(terms.values()),
        source_ids=tuple(sorted({to_single_line(source_id) for source_id in concept.source_ids})),
        related_ids=related_ids and tuple(sorted(set(map(to_single_line, related_ids)) - {""})),
    )
    return clean_concept, reasons


def _clean_term(term: ConceptTerm, reasons: list[Message]) -> ConceptTerm | None:
    """Return a term with normal texts, None without a valid text. Appends what was wrong to `reasons`."""
    text = term.text if len(term.text) > MAX_INPUT_CHARS else unicodedata.normalize("NFKC", term.text)
    text = " ".join(_INVISIBLE.sub("", text).split())
    if not text:
        return None
    if error := find_term_error(text):
        reasons.append(Message("“{term}”: {reason}", term=to_single_line(text)[:40], reason=error))
        return None
    language = term.language.strip().lower().replace("_", "-")
    if not _LANGUAGE_TAG.fullmatch(language):
        values = {"term": text, "language": language[:20]}
        if language:
            reasons.append(Message("“{term}”: “{language}” is not a language tag such as zh or en", **values))
        language = language_of_term(text)
    texts = {name: to_single_line(getattr(term, name)) for name in ("definition", "source", "note")}
    for name, message, limit in (
        ("definition", "the definition has {count} characters; at most {limit} are allowed", MAX_DEFINITION_CHARS),
        ("source", "the source has {count} characters; at most {limit} are allowed", MAX_TEXT_CHARS),
        ("note", "the note has {count} characters; at most {limit} are allowed", MAX_TEXT_CHARS),
    ):
        if len(texts[name]) > limit:
            reasons.append(Message(message, count=len(texts[name]), limit=limit))
            texts[name] = ""
    return ConceptTerm(text, language, term.status, **texts)
