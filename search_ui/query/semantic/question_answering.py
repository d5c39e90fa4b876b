"""Selects the quotations shown above the hits. No I/O."""

from collections.abc import Mapping, Sequence

from search_ui.query.query_words import QueryWords
from search_ui.query.results import Hit
from search_ui.query.semantic.answer_extraction import (
    ANSWER_MODELS,
    SHOWN_FROM,
    CosineFunction,
    Quotation,
    SourceText,
    find_quotes,
    parse_question_terms,
)
from search_ui.query.semantic.answer_types import AnswerKind, expected_answer, is_question
from search_ui.query.semantic.hybrid import FusedCandidates
from search_ui.query.solr_client import SolrResponse, documents
from solr_client import solr_fields

MAX_SOURCES, MAX_DEFINITION_SOURCES = 3, 10  # hits that are read; a definition is often not in the best ones


def find_source_ids(question: str, ids: Sequence[str], candidates: FusedCandidates | None) -> Sequence[str]:
    """Return those of the first hits `ids` that can be quoted as the answer; () if the text is no question."""
    if not candidates or not candidates.vector.model_id.startswith(ANSWER_MODELS) or not is_question(question):
        return ()
    is_definition = expected_answer(question).kind is AnswerKind.DEFINITION
    return ids[: MAX_DEFINITION_SOURCES if is_definition else MAX_SOURCES]


def answer_from_hits(
    words: QueryWords,
    candidates: FusedCandidates,
    hits: Sequence[Hit],
    bodies: SolrResponse,
    sentence_cosines: CosineFunction,
) -> tuple[Quotation, ...]:
    """Return quotations of the first `hits` that answer a question.

    Returns () if the text is no question or the confidence is too low. `bodies` is the response to `body_params` for at
    least the hits of `find_source_ids`. `sentence_cosines` returns the cosines of texts to the question.
    """
    hit_by_id: Mapping[str, Hit] = {hit.doc_id: hit for hit in hits}
    source_ids = find_source_ids(words.typed, list(hit_by_id), candidates)
    if not source_ids or not candidates.neighbours:
        return ()
    expected = expected_answer(words.typed)
    quotes = find_quotes(
        parse_question_terms(expected, words.text, words.content),
        expected,
        _read_sources(bodies, source_ids),
        dict(candidates.neighbours),
        sentence_cosines,
    )
    return tuple(
        Quotation(
            quote.doc_id, quote.text, quote.paragraph, hit.plain_title, hit.site_name, hit.published, hit.language
        )
        for quote in quotes
        if quote.confidence >= SHOWN_FROM
        for hit in [hit_by_id[quote.doc_id]]
    )


def _read_sources(response: SolrResponse, ids: Sequence[str]) -> list[SourceText]:
    """Return the documents `ids` of a response to `body_params`, in this order."""
    document_by_id = {str(doc[solr_fields.ID]): doc for doc in documents(response)}
    id_and_document = ((doc_id, document_by_id[doc_id]) for doc_id in ids if doc_id in document_by_id)
    return [
        SourceText(doc_id, str(doc.get(solr_fields.TITLE, "")), str(doc.get(solr_fields.BODY, "")))
        for doc_id, doc in id_and_document
    ]
