"""Segments a query into the words that the Solr requests contain."""

from search_ui.query.content_words import drop_question_words, split_content_words
from search_ui.query.display_text import has_word
from search_ui.query.ranking import PROFILES
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_query import QueryVariant, QueryWords
from search_ui.query.thesaurus import Thesaurus, find_synonym_groups
from text.segment import Segmenter


def segment_words(text: str, segmenter: Segmenter) -> tuple[str, ...]:
    """Return the words of `text` in order, without punctuation and spaces."""
    return tuple(word for word in segmenter.cut(text) if has_word(word))


def segment_query(
    request: SearchRequest, segmenter: Segmenter, base_segmenter: Segmenter, thesaurus: Thesaurus
) -> QueryWords:
    """Segment a query as the documents were: with the published lexicon and, if ranked by, the base dictionary.

    Args:
        request: The search.
        segmenter: The segmenter with the published lexicon.
        base_segmenter: The segmenter with the base dictionary only.
        thesaurus: The synonyms of the lexicon.
    """
    text = request.parsed_query.ranking_text
    if not request.parsed_query.conditions:
        text = drop_question_words(text, segmenter.cut(text))
    segmented_words = segmenter.cut(text)
    domain_words = tuple(filter(has_word, segmented_words))
    content, residual_chars = split_content_words(text, segmented_words)
    words = {
        QueryVariant.TEXT: (text,),
        QueryVariant.DOMAIN: domain_words,
        QueryVariant.CONTENT: content,
        QueryVariant.RESIDUAL_CHARS: residual_chars,
        QueryVariant.SYNONYMS: find_synonym_groups(request.parsed_query, domain_words, thesaurus),
    }
    if any(clause.variant is QueryVariant.BASE for clause in PROFILES[request.profile].field_clauses):
        words[QueryVariant.BASE] = segment_words(text, base_segmenter)
    return words
