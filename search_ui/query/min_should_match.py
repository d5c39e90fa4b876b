"""Builds the queries for how much of the search query a document contains.

The parts of a query are its content words. A document contains a part if its text has the word, or a synonym, as
consecutive characters, whatever lexicon it was segmented with. A compound (`hp1010`) also matches if all its subwords
occur.
"""

import re
from collections.abc import Sequence

from search_ui.query.compound_words import split_compounds
from search_ui.query.display_text import has_word
from search_ui.query.search_request import SearchRequest, SortOrder
from search_ui.query.solr_query import MATCH_ALL, FieldClause, QueryParam, QueryVariant, QueryWords, SolrQuery
from search_ui.query.thesaurus import synonym_lookup
from solr_client import solr_fields

# A phrase of bigrams costs a third of a phrase of characters.
_BIGRAM_FIELDS = f"{solr_fields.TITLE} {solr_fields.BODY}"
_CHAR_FIELD = solr_fields.BODY_CHARS  # contains the title as well, single characters and stop words
_HAN_RUN_RE = re.compile("[\u4e00-\u9fff]{2,}")


MAX_PARTS_OF_SHORT_QUERY = 6


def min_required_parts(part_count: int) -> int:
    """Return the number of parts that a full match requires: both of two, half of up to six, a third of more.

    docs/decisions/0082 measures other shares.
    """
    if part_count <= 2:
        return part_count
    return (
        part_count - part_count // 2 if part_count <= MAX_PARTS_OF_SHORT_QUERY else part_count - part_count * 66 // 100
    )


def ranks_full_matches_first(request: SearchRequest, words: QueryWords) -> bool:
    """Return True if full matches rank before all others, whatever their scores.

    That is so if a full match requires every part. With more parts it would lower the quality (docs/decisions/0125).
    """
    part_count = len(content_parts(words))
    return is_ranked(request) and min_required_parts(part_count) == part_count


def lists_full_matches_first(request: SearchRequest, words: QueryWords, total: int, page_size: int) -> bool:
    """Return True if a page lists the `total` full matches before the related results.

    That is so if they rank first, or if the query is short and they fit on the first page.
    """
    fits = 0 < total <= page_size and len(content_parts(words)) <= MAX_PARTS_OF_SHORT_QUERY
    return ranks_full_matches_first(request, words) or (is_ranked(request) and fits)


def is_ranked(request: SearchRequest) -> bool:
    """Return True if the request has words and is sorted by relevance. Otherwise all hits are full matches."""
    return request.sort is SortOrder.RELEVANCE and bool(request.parsed_query.ranking_text)


def full_matches_query(request: SearchRequest, words: QueryWords) -> QueryParam:
    """Build the query `full_matches`, which matches documents with the minimum share of the query's parts.

    Counts use it: terms are OR-ed, so nearly every document matches a long query in some way. Sorted by date, every
    word is required anyway.
    """
    if not is_ranked(request):
        return QueryParam("full_matches", MATCH_ALL)
    parts = content_parts(words)
    if not parts:  # symbols and emoji, matched one by one
        char_clause = FieldClause(QueryVariant.TEXT, ((solr_fields.TITLE_CHARS, 1.0), (solr_fields.BODY_CHARS, 1.0)))
        return QueryParam(
            "full_matches",
            char_clause.to_query(
                {char_clause.variant: QueryParam(char_clause.variant, request.parsed_query.ranking_text)}
            ),
        )
    return QueryParam("full_matches", _min_parts_query(parts, min_required_parts(len(parts)), words))


def all_parts_query(words: QueryWords) -> QueryParam:
    """Build the query `all_parts`, which matches documents with every part and every residual character."""
    parts = all_parts(words)
    return QueryParam("all_parts", _min_parts_query(parts, len(parts), words))


def any_part_query(words: QueryWords) -> QueryParam:
    """Build the query `any_part`, which matches documents with at least one part."""
    return QueryParam("any_part", _min_parts_query(content_parts(words), 1, words))


def content_parts(words: QueryWords) -> tuple[str, ...]:
    """Return the parts of a query that was cut into `words`; () if it contains only symbols."""
    return tuple(word for word in words.get(QueryVariant.CONTENT, words[QueryVariant.DOMAIN]) if has_word(word))


def all_parts(words: QueryWords) -> tuple[str, ...]:
    """Return the parts of a query, followed by the residual characters between its words."""
    return (*content_parts(words), *words.get(QueryVariant.RESIDUAL_CHARS, ()))


def part_queries(words: QueryWords) -> list[QueryParam]:
    """Build for each content part the query that matches documents with this part, in the order of `content_parts`."""
    synonyms = synonym_lookup(words.get(QueryVariant.SYNONYMS, ()))
    return [_part_query(f"part{n}", word, synonyms(word)) for n, word in enumerate(content_parts(words))]


def _min_parts_query(parts: Sequence[str], min_count: int, words: QueryWords) -> SolrQuery:
    """Build a query for documents with at least `min_count` of the parts. The parts are the parameters `part0` etc."""
    synonyms = synonym_lookup(words.get(QueryVariant.SYNONYMS, ()))
    return SolrQuery.boolean(
        [_part_query(f"part{n}", word, synonyms(word)) for n, word in enumerate(parts)], min_should_match=min_count
    )


def _part_query(name: str, word: str, synonyms: Sequence[str]) -> QueryParam:
    alternatives = (word, *synonyms)
    query_fields = _BIGRAM_FIELDS if all(map(_HAN_RUN_RE.fullmatch, alternatives)) else _CHAR_FIELD
    phrase_query = SolrQuery.phrases(query_fields, f"{name}_text", alternatives, "OR")
    subwords = split_compounds(word)
    if len(subwords) < 2:
        return QueryParam(name, phrase_query)
    all_subwords = SolrQuery.simple(_CHAR_FIELD, QueryParam(f"{name}_subword_list", " ".join(subwords)), "AND", "''")
    return QueryParam(
        name,
        SolrQuery.boolean([QueryParam(f"{name}_phrase", phrase_query), QueryParam(f"{name}_subwords", all_subwords)]),
    )
