"""Checks of the concepts of a file. Every invalid concept is named; the caller imports all concepts or none."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from domain.concept import Concept, sort_terms
from domain.errors import ConceptFileError
from domain.message import Message
from domain.term import MAX_DEFINITION_CHARS, ConceptTerm, ConceptTermStatus
from lexicon.concepts.concept_groups import normalize_terms
from lexicon.jieba_dictionary import MAX_INPUT_CHARS, MAX_LISTED_ERRORS, find_term_error
from text.folding import word_key

MAX_TEXT_CHARS = 5_000  # of a source or a note
MAX_TERMS_PER_CONCEPT = 40
MAX_ID_CHARS = 300
_LANGUAGE_TAG = re.compile("[a-z]{2,3}(-[a-z0-9]{1,8})*")
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")

ParsedConcept = tuple[int, Concept | str]
"""Line number (0: unknown) of a concept in a file, and the concept, or the reason why it cannot be read."""


def to_single_line(text: str) -> str:
    """Return a text in one line, without characters that no file format can contain."""
    return " ".join(_UNPRINTABLE.sub("", text).split())


def parse_status(name: str) -> ConceptTermStatus | str:
    """Return the status with this name, or the reason why there is none. "" is an admitted term."""
    status = to_single_line(name).lower() or ConceptTermStatus.ADMITTED
    if status in set(ConceptTermStatus):
        return ConceptTermStatus(status)
    names = ", ".join(ConceptTermStatus)
    return Message("unknown status “{status}”; allowed: {names}", status=name[:40], names=names)


def concept_reason(label: str, reason: str) -> Message:
    """Return a reason with the name of the concept."""
    return Message("Concept “{concept}”: {reason}", concept=label[:80], reason=reason)


def check_concepts(parsed_concepts: Iterable[ParsedConcept]) -> list[Concept]:
    """Return the concepts of a file in normal form: cleaned texts, sorted terms.

    Raises:
        ConceptFileError: concepts are invalid, an id or a term occurs in two concepts, or there is no concept.
    """
    valid_concepts: list[Concept] = []
    errors: list[tuple[int, str]] = []
    label_by_id: dict[str, str] = {}
    label_by_key: dict[str, str] = {}
    for line_number, item in parsed_concepts:
        concept = _check_concept(item) if isinstance(item, Concept) else item
        if isinstance(concept, Concept):
            error = _find_repetition(concept, label_by_id, label_by_key)
            if error is None:
                valid_concepts.append(concept)
                continue
            concept = concept_reason(_concept_name(concept), error)
        errors.append((line_number, concept))
    if not errors and not valid_concepts:
        errors.append((0, Message("the file contains no concept")))
    if errors:
        raise concept_file_error(errors, valid_concepts)
    return valid_concepts


def concept_file_error(errors: Sequence[tuple[int, str]], valid_concepts: Sequence[Concept] = ()) -> ConceptFileError:
    """Return the error that names invalid concepts, each with its line number if that is not 0."""
    listed_errors = "; ".join(f"line {line}: {error}" if line else error for line, error in errors[:MAX_LISTED_ERRORS])
    more_count = len(errors) - MAX_LISTED_ERRORS
    remainder = f"; and {more_count} more" if more_count > 0 else ""
    return ConceptFileError(f"nothing imported: {listed_errors}{remainder}", tuple(errors), tuple(valid_concepts))


def _concept_name(concept: Concept) -> str:
    return concept.concept_id or concept.label


def _find_repetition(concept: Concept, label_by_id: dict[str, str], label_by_key: dict[str, str]) -> str | None:
    """Return what `concept` repeats of earlier concepts; otherwise record its id and terms and return None."""
    name = _concept_name(concept)
    if concept.concept_id and concept.concept_id in label_by_id:
        other = label_by_id[concept.concept_id]
        return Message("the id {id} is also the id of concept “{other}”", id=concept.concept_id, other=other)
    for term in concept.terms:
        if other := label_by_key.get(word_key(term.text), ""):
            return Message("the term “{term}” is also in concept “{other}”", term=term.text, other=other)
    label_by_id[concept.concept_id] = name
    label_by_key.update((word_key(term.text), name) for term in concept.terms)
    return None


def _check_concept(concept: Concept) -> Concept | str:
    """Return a concept in normal form, or the reason why it is invalid."""
    terms = [_clean_term(term) for term in concept.terms]
    name = to_single_line(concept.concept_id) or next((term.text for term in terms), "")
    if error := next((error for term in terms if (error := _find_term_error(term))), None) or _find_error(terms):
        return concept_reason(name, error)
    if len(to_single_line(concept.concept_id)) > MAX_ID_CHARS:
        return concept_reason(
            name,
            Message(
                "the id has {count} characters; at most {limit} are allowed",
                count=len(concept.concept_id),
                limit=MAX_ID_CHARS,
            ),
        )
    return replace(
        concept,
        concept_id=to_single_line(concept.concept_id),
        terms=sort_terms(normalize_terms(terms)),
        source_ids=tuple(sorted({to_single_line(source_id) for source_id in concept.source_ids})),
        related_ids=None
        if concept.related_ids is None
        else tuple(sorted({to_single_line(related_id) for related_id in concept.related_ids} - {""})),
    )


def _clean_term(term: ConceptTerm) -> ConceptTerm:
    text = to_single_line(term.text)
    return ConceptTerm(
        unicodedata.normalize("NFKC", text) if len(text) <= MAX_INPUT_CHARS else text,
        term.language.strip().lower().replace("_", "-"),
        term.status,
        *(to_single_line(value) for value in (term.definition, term.source, term.note)),
    )


def _find_term_error(term: ConceptTerm) -> str | None:
    if error := find_term_error(term.text):
        text = term.text[:40]
        return Message("“{term}”: {reason}", term=text, reason=error)
    if not _LANGUAGE_TAG.fullmatch(term.language):
        return Message(
            "“{term}”: “{language}” is not a language tag such as zh or en", term=term.text, language=term.language[:20]
        )
    for text, message, limit in (
        (term.definition, "the definition has {count} characters; at most {limit} are allowed", MAX_DEFINITION_CHARS),
        (term.source, "the source has {count} characters; at most {limit} are allowed", MAX_TEXT_CHARS),
        (term.note, "the note has {count} characters; at most {limit} are allowed", MAX_TEXT_CHARS),
    ):
        if len(text) > limit:
            return Message(message, count=len(text), limit=limit)
    return None


def _find_error(terms: Sequence[ConceptTerm]) -> str | None:
    if not terms:
        return Message("it has no term")
    if len({word_key(term.text) for term in terms}) > MAX_TERMS_PER_CONCEPT:
        return Message(
            "it has {count} terms; at most {limit} are allowed", count=len(terms), limit=MAX_TERMS_PER_CONCEPT
        )
    preferred_by_language: dict[str, str] = {}
    seen_terms: set[tuple[str, str]] = set()
    for term in terms:
        if (term.text, term.language) in seen_terms:
            return Message("it has the term “{term}” twice", term=term.text)
        seen_terms.add((term.text, term.language))
        if term.status is ConceptTermStatus.PREFERRED:
            other = preferred_by_language.setdefault(term.language, term.text)
            if other != term.text:
                return Message(
                    "it has two preferred terms in {language}: “{first}” and “{second}”",
                    language=term.language,
                    first=other,
                    second=term.text,
                )
    if not preferred_by_language:
        return Message("it has no preferred term (in CSV, the rows of a concept share its concept id)")
    return None
