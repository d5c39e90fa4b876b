"""Selects the quotations shown above the hits. No I/O."""

from collections.abc import Mapping, Sequence

from search_ui.query.results import Hit
from search_ui.query.semantic.answer_extraction import (
    MAX_QUOTES,
    Quotation,
    SourceText,
    answer_confidence,
    collect_evidence,
    extract_quotes,
    find_answer_model,
    rarity_weights,
)
from search_ui.query.semantic.hybrid import FusedCandidates
from search_ui.query.semantic.questions import is_question
from search_ui.query.solr_client import SolrResponse, documents
from search_ui.query.solr_query import QueryVariant, QueryWords
from solr_client import solr_fields


def answer_from_hits(
    question: str, words: QueryWords, candidates: FusedCandidates, hits: Sequence[Hit], bodies: SolrResponse
) -> tuple[Quotation, ...]:
    """Return quotations of the first `hits` that answer a question.

    Returns () if the text is no question or the confidence is too low. `bodies` is the response to `body_params` for at
    least the first `MAX_QUOTES` hits.
    """
    model = find_answer_model(candidates.vector.model_id)
    first_hits: Mapping[str, Hit] = {hit.doc_id: hit for hit in hits[:MAX_QUOTES]}
    if model is None or not first_hits or not candidates.neighbours or not is_question(question):
        return ()
    document_by_id = {str(doc[solr_fields.ID]): doc for doc in documents(bodies)}
    sources = [
        SourceText(doc_id, str(doc.get(solr_fields.TITLE, "")), str(doc.get(solr_fields.BODY, "")))
        for doc_id in first_hits
        if (doc := document_by_id.get(doc_id))
    ]
    word_weights = rarity_weights(words[QueryVariant.CONTENT])
    if (
        not sources
        or answer_confidence(
            collect_evidence(word_weights, sources, candidates.lexical_ids, candidates.neighbours), model
        )
        < model.shown_from
    ):
        return ()
    return tuple(
        Quotation(
            quote.doc_id, quote.text, quote.paragraph, hit.plain_title, hit.site_name, hit.published, hit.language
        )
        for quote in extract_quotes(word_weights, sources)
        for hit in [first_hits[quote.doc_id]]
    )
