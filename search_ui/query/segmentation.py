"""Segments a query into the words that the Solr requests contain."""

from collections.abc import Sequence

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
    request: SearchRequest, segmenters: Sequence[Segmenter], base_segmenter: Segmenter, thesaurus: Thesaurus
) -> QueryWords:
    """Segment a query as the documents were: with the indexed lexicon and, if ranked by, the base dictionary.

    After a publication some documents are still segmented with an older version. New words are searched in them as
    consecutive characters.

    Args:
        request: The search.
        segmenters: The segmenter with the indexed lexicon, then those of older versions that documents still have.
        base_segmenter: The segmenter with the base dictionary only.
        thesaurus: The synonyms of the lexicon.
    """
    segmenter, *older_segmenters = segmenters
    text = request.parsed_query.ranking_text
    if not request.parsed_query.conditions:
        text = drop_question_words(text, segmenter.cut(text))
    segmented_words = segmenter.cut(text)
    newest = tuple(filter(has_word, segmented_words))
    old_lexicon_words = [segment_words(text, old_segmenter) for old_segmenter in older_segmenters]
    older = tuple(word for segmented_words in old_lexicon_words for word in segmented_words)
    content, residual_chars = split_content_words(text, segmented_words)
    words = {
        QueryVariant.TEXT: (text,),
        QueryVariant.DOMAIN: newest,
        QueryVariant.CONTENT: content,
        QueryVariant.RESIDUAL_CHARS: residual_chars,
        QueryVariant.OLD_LEXICON: older,
        QueryVariant.NEW_WORDS: tuple(word for word in newest if old_lexicon_words and word not in older),
        QueryVariant.SYNONYMS: find_synonym_groups(request.parsed_query, newest, thesaurus),
    }
    if any(clause.variant is QueryVariant.BASE for clause in PROFILES[request.profile].field_clauses):
        words[QueryVariant.BASE] = segment_words(text, base_segmenter)
    return words
