"""Synonym sets of Elastic App Search: the JSON of its synonyms API, or a list of sets. Each set is a concept."""

import json
from collections.abc import Iterator
from typing import Any

from domain.coded_message import CodedMessage
from lexicon.concepts.checks import ParsedConcept
from lexicon.concepts.concept_csv import build_concept


def is_synonym_response(text: str) -> bool:
    """True if `text`, the first characters of a file, begins like a response of the synonyms API."""
    return text.startswith(("{", "[")) and '"synonyms"' in text


def parse_appsearch(content: bytes) -> Iterator[ParsedConcept]:
    """Yield the concepts of a file. In each language, the first term of a set is the preferred one."""
    try:
        document: Any = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        yield 0, CodedMessage(f"not valid JSON: {str(error)[:200]}", "list_not_json")
        return
    sets = document.get("results") if isinstance(document, dict) else document
    for number, synonym_set in enumerate(sets if isinstance(sets, list) else [None], 1):
        terms = synonym_set.get("synonyms") if isinstance(synonym_set, dict) else None
        if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
            yield 0, CodedMessage(f"set {number} has no list of synonyms", "synonym_set_invalid", number=number)
            continue
        rows = [(0, {"term": term.strip()}) for term in dict.fromkeys(terms)]
        concept_id = synonym_set.get("id")
        yield build_concept(concept_id if isinstance(concept_id, str) else "", rows)
