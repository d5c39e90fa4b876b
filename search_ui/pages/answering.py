"""The answer above the hits: which sentences of the first ones, if any. Asks Solr for their texts, nothing else."""

from collections.abc import Mapping, Sequence

from docstore import fields
from search_ui.query.clauses import QueryVariant, Words
from search_ui.query.results import Hit
from search_ui.query.semantic.answers import (
    MAX_QUOTES,
    Quotation,
    Source,
    confidence,
    evidence,
    model_for,
    quotes,
    word_weights,
)
from search_ui.query.semantic.meaning import Candidates
from search_ui.query.semantic.questions import is_question
from search_ui.query.solr_client import Answer, Search
from search_ui.query.solr_params import bodies_params


def answered_by(
    search: Search, question: str, words: Words, both: Candidates, hits: Sequence[Hit]
) -> tuple[Quotation, ...]:
    """What answers a question, in the words of the first `hits`; () for what is no question, or has no sure answer.

    Raises what `Search.select` raises.
    """
    model = model_for(both.vector.model_id)
    first: Mapping[str, Hit] = {hit.doc_id: hit for hit in hits[:MAX_QUOTES]}
    if model is None or not first or not both.near or not is_question(question):
        return ()
    sources = _sources(search.select(bodies_params(list(first))), list(first))
    weights = word_weights(words[QueryVariant.CONTENT])
    if not sources or confidence(evidence(weights, sources, both.by_words, both.near), model) < model.shown_from:
        return ()
    return tuple(
        Quotation(quote.doc_id, quote.text, quote.paragraph, hit.plain_title, hit.site_name, hit.published)
        for quote in quotes(weights, sources)
        for hit in [first[quote.doc_id]]
    )


def _sources(bodies: Answer, ids: Sequence[str]) -> list[Source]:
    """The documents `ids` of an answer to `bodies_params`, in this order."""
    found = {str(doc[fields.ID]): doc for doc in bodies.get("response", {}).get("docs", ())}
    held = ((one, found[one]) for one in ids if one in found)
    return [Source(one, str(doc.get(fields.TITLE, "")), str(doc.get(fields.BODY, ""))) for one, doc in held]
