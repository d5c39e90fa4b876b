"""Builds the queries for the words that a document contains.

The parts of a query are its content words. A document contains a part if its text has the word, a synonym of it or,
in languages with a field of stems, another form of it. Solr cuts the part as it cut the text, so whatever lexicon the
document was segmented with, consecutive characters match. A document with all parts is a full match.
"""

import re
from collections.abc import Sequence

from search_ui.query.display_text import has_word
from search_ui.query.search_request import SearchRequest, SortOrder
from search_ui.query.semantic.questions import is_question
from search_ui.query.solr_query import MATCH_ALL, FieldClause, QueryParam, QueryVariant, QueryWords, SolrQuery
from search_ui.query.thesaurus import synonym_lookup
from solr_client import solr_fields
from text.scripts import HAN
from text.sign_words import find_sign_words

MAX_KEYWORDS = 5
"""Content words of a keyword query; a longer one is read as a sentence."""
MAX_STEMMED_PARTS = 12
"""Content words up to which their other forms are searched: each costs several clauses, and Solr allows 1,024."""

ARTICLE_COUNT = f"unique({solr_fields.CLUSTER_ID})"
"""Facet function: the number of articles, near-duplicates once."""

# A phrase of pairs costs a third of a phrase of characters.
_PAIR_FIELDS = f"{solr_fields.TITLE} {solr_fields.BODY}"
_CHAR_FIELD = solr_fields.BODY_CHARS  # contains the title as well, single characters and stop words
_KANA, _HANGUL = "\u3041-\u30ff\u31f0-\u31ff", "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"
_PAIR_RUN_RE = re.compile(f"[{HAN}{_KANA}{_HANGUL}]{{2,}}")
_STEMS_FIELD = solr_fields.STEMS_FIELD_BY_LANGUAGE
_STEM_FIELDS_BY_LETTER = [
    (re.compile(f"[{_KANA}]"), _STEMS_FIELD["ja"]),
    (re.compile(f"[{_HANGUL}]"), _STEMS_FIELD["ko"]),
    (re.compile("[\u0400-\u04ff]"), _STEMS_FIELD["ru"]),
    (re.compile("[A-Za-z\u00c0-\u024f]"), " ".join(_STEMS_FIELD[language] for language in ("de", "es", "fr", "pl"))),
]


def ranks_full_matches_first(request: SearchRequest, words: QueryWords) -> bool:
    """Return True if full matches rank before all others, whatever their scores: for keywords.

    A question and a query of more words are ranked by relevance alone, because a good answer seldom repeats all of
    their words (docs/decisions/0125).
    """
    return (
        is_ranked(request)
        and len(content_parts(words)) <= MAX_KEYWORDS
        and not is_question(request.parsed_query.ranking_text)
    )


def is_ranked(request: SearchRequest) -> bool:
    """Return True if the request has words and is sorted by relevance. Otherwise all hits are full matches."""
    return request.sort is SortOrder.RELEVANCE and bool(request.parsed_query.ranking_text)


def full_matches_query(request: SearchRequest, words: QueryWords) -> QueryParam:
    """Build the query `full_matches`, which matches documents with all content words.

    Sorted by date, every word is required anyway.
    """
    if not is_ranked(request):
        return QueryParam("full_matches", MATCH_ALL)
    parts = content_parts(words)
    if not parts:  # symbols and emoji, matched one by one
        clause = FieldClause(QueryVariant.TEXT, ((solr_fields.TITLE, 1.0), (solr_fields.BODY, 1.0)))
        text_param = QueryParam(clause.variant, request.parsed_query.ranking_text)
        return QueryParam("full_matches", clause.to_query({clause.variant: text_param}))
    return QueryParam("full_matches", SolrQuery.boolean(must=part_queries(words)))


def all_parts_query(words: QueryWords) -> QueryParam:
    """Build the query `all_parts`, which matches documents with every part and every residual character."""
    residual_chars = words.get(QueryVariant.RESIDUAL_CHARS, ())
    chars = [QueryParam(f"char{n}", contains_query(f"char{n}", (char,))) for n, char in enumerate(residual_chars)]
    return QueryParam("all_parts", SolrQuery.boolean(must=[*part_queries(words), *chars]))


def any_part_query(words: QueryWords) -> QueryParam:
    """Build the query `any_part`, which matches documents with at least one part."""
    return QueryParam("any_part", SolrQuery.boolean(part_queries(words)))


def content_parts(words: QueryWords) -> tuple[str, ...]:
    """Return the parts of a query that was cut into `words`; () if it contains only symbols."""
    return tuple(word for word in words.get(QueryVariant.CONTENT, words[QueryVariant.DOMAIN]) if has_word(word))


def all_parts(words: QueryWords) -> tuple[str, ...]:
    """Return the parts of a query, followed by the residual characters between its words."""
    return (*content_parts(words), *words.get(QueryVariant.RESIDUAL_CHARS, ()))


def part_queries(words: QueryWords) -> list[QueryParam]:
    """Build for each content part the query that matches documents with this part, in the order of `content_parts`."""
    synonyms, parts = synonym_lookup(words.get(QueryVariant.SYNONYMS, ())), content_parts(words)
    has_stems = len(parts) <= MAX_STEMMED_PARTS
    return [
        QueryParam(f"part{n}", contains_query(f"part{n}", (word, *synonyms(word)), has_stems))
        for n, word in enumerate(parts)
    ]


def find_stem_fields(text: str) -> str:
    """Return the fields of stems for the letters of a text, separated by spaces; "" if there are none."""
    return " ".join(fields for letter_re, fields in _STEM_FIELDS_BY_LETTER if letter_re.search(text))


def contains_query(name: str, texts: Sequence[str], has_stems: bool = True, tag: str = "") -> SolrQuery:
    """Build the query for documents that contain one of `texts`.

    Args:
        name: Begins the names of the request parameters.
        texts: A word or phrase, and its synonyms.
        has_stems: Other forms of the first text match too.
        tag: Tag of the filter.
    """
    stem_fields = find_stem_fields(texts[0]) if has_stems else ""
    if not stem_fields or find_sign_words(texts[0]):
        return contains_phrase_query(name, texts, tag=tag)
    phrase = QueryParam(f"{name}_phrase", contains_phrase_query(name, texts))
    stems = SolrQuery.simple(stem_fields, QueryParam(f"{name}_word", texts[0]), "AND", "''")
    return SolrQuery.boolean([phrase, QueryParam(f"{name}_stems", stems)], tag=tag)


def contains_phrase_query(name: str, texts: Sequence[str], in_title: bool = False, tag: str = "") -> SolrQuery:
    """Build the query for documents that contain one of `texts` as a phrase, with the sign of a sign word (`C++`)."""
    pair_fields, char_field = (solr_fields.TITLE, solr_fields.TITLE_CHARS) if in_title else (_PAIR_FIELDS, _CHAR_FIELD)
    query_fields = pair_fields if all(map(_PAIR_RUN_RE.fullmatch, texts)) else char_field
    sign_words = find_sign_words(texts[0])
    phrase_query = SolrQuery.phrases(query_fields, f"{name}_text", texts, "OR", "" if sign_words else tag)
    if not sign_words:
        return phrase_query
    signs = [SolrQuery.term(solr_fields.SIGN_WORDS, f"{name}_sign{n}", word) for n, word in enumerate(sign_words)]
    clauses = [phrase_query, *signs]
    return SolrQuery.boolean(must=[QueryParam(f"{name}_must{n}", clause) for n, clause in enumerate(clauses)], tag=tag)
