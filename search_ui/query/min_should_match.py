"""How much of a query a document holds. Its parts are its content words, each one part whatever its length. Pure.

A part is held where the document's text has the word, or a synonym of it, as a run of characters, whatever lexicon the
document was cut with; a glued word (`hp1010`) also where all of its pieces stand somewhere. As in `ranking`,
a reader's words are only ever values of parameters that fixed queries name.
"""

import re
from collections.abc import Sequence

from docstore import solr_fields
from search_ui.query.display_text import has_word
from search_ui.query.search_request import SearchRequest, SortOrder
from search_ui.query.solr_query import MATCH_ALL, FieldClause, QueryParam, QueryVariant, QueryWords, SolrQuery
from search_ui.query.thesaurus import synonym_lookup
from text.compound_words import split_compounds

_BIGRAM_FIELDS = f"{solr_fields.TITLE} {solr_fields.BODY}"  # a phrase of pairs costs a third of one of characters
_CHAR_FIELD = solr_fields.BODY_CHARS  # of the title as well; knows characters alone and stop words
_HAN_RUN_RE = re.compile("[\u4e00-\u9fff]{2,}")


def min_required_parts(part_count: int) -> int:
    """How many parts are enough: of two both, of up to six at least half, of more at least a third.

    docs/decisions/0082 has what other shares would do.
    """
    if part_count <= 2:
        return part_count
    return part_count - part_count // 2 if part_count <= 6 else part_count - part_count * 66 // 100


def enough_parts_query(request: SearchRequest, words: QueryWords) -> QueryParam:
    """The query `enough`, by which is counted: documents that hold a good share of what is asked for.

    Terms are OR-ed, so nearly every document matches a long query somehow, and a count of those says nothing. By date
    every word is required anyway.
    """
    if request.sort is SortOrder.DATE or not request.parsed_query.ranking_text:
        return QueryParam("enough", MATCH_ALL)
    parts = content_parts(words)
    if not parts:  # signs and pictures, which are found one by one
        char_clause = FieldClause(QueryVariant.TEXT, ((solr_fields.TITLE_CHARS, 1.0), (solr_fields.BODY_CHARS, 1.0)))
        return QueryParam(
            "enough",
            char_clause.to_query(
                {char_clause.variant: QueryParam(char_clause.variant, request.parsed_query.ranking_text)}
            ),
        )
    return QueryParam("enough", _holding_at_least(parts, min_required_parts(len(parts)), words))


def all_parts_query(words: QueryWords) -> QueryParam:
    """The query `whole`: documents that hold every part, and every character that is left over."""
    parts = all_parts(words)
    return QueryParam("whole", _holding_at_least(parts, len(parts), words))


def any_part_query(words: QueryWords) -> QueryParam:
    """The query `some`: documents that hold a part."""
    return QueryParam("some", _holding_at_least(content_parts(words), 1, words))


def content_parts(words: QueryWords) -> tuple[str, ...]:
    """The parts of a query that was cut into `words`; () if it is nothing but signs."""
    return tuple(word for word in words.get(QueryVariant.CONTENT, words[QueryVariant.DOMAIN]) if has_word(word))


def all_parts(words: QueryWords) -> tuple[str, ...]:
    """The parts of a query, and after them the characters that are left over between its words."""
    return (*content_parts(words), *words.get(QueryVariant.RESIDUAL_CHARS, ()))


def _holding_at_least(parts: Sequence[str], min_count: int, words: QueryWords) -> SolrQuery:
    """Documents that hold so many of the parts; each is a query by itself, `held0` and so on."""
    synonyms = synonym_lookup(words.get(QueryVariant.SYNONYMS, ()))
    return SolrQuery.boolean(
        [_part_query(f"held{n}", word, synonyms(word)) for n, word in enumerate(parts)], min_should_match=min_count
    )


def _part_query(name: str, word: str, synonyms: Sequence[str]) -> QueryParam:
    alternatives = (word, *synonyms)
    query_fields = _BIGRAM_FIELDS if all(map(_HAN_RUN_RE.fullmatch, alternatives)) else _CHAR_FIELD
    phrase_query = SolrQuery.phrases(query_fields, f"{name}_text", alternatives, "OR")
    subwords = split_compounds(word)
    if len(subwords) < 2:
        return QueryParam(name, phrase_query)
    all_subwords = SolrQuery.simple(_CHAR_FIELD, QueryParam(f"{name}_glued", " ".join(subwords)), "AND", "''")
    return QueryParam(
        name, SolrQuery.boolean([QueryParam(f"{name}_run", phrase_query), QueryParam(f"{name}_pieces", all_subwords)])
    )
