"""Builds the queries for the words that a document contains.

The parts of a query are its content words. A document contains a part if its text has the word, a synonym of it or,
in languages with a field of stems, another form of it. Solr cuts the part as it cut the text, so whatever lexicon the
document was segmented with, consecutive characters match. A document with all parts is a full match.
"""

import re
from collections.abc import Sequence

from search_ui.query.query_words import QueryWords
from search_ui.query.solr_query import QueryParam, SolrQuery
from solr_client import solr_fields
from text.scripts import HAN
from text.sign_words import find_sign_words

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


def all_parts_query(words: QueryWords) -> QueryParam:
    """Build the query `all_parts`, which matches documents with every part and every residual character."""
    chars = [QueryParam(f"char{n}", contains_query(f"char{n}", (char,))) for n, char in enumerate(words.residual_chars)]
    return QueryParam("all_parts", SolrQuery.boolean(must=[*part_queries(words), *chars]))


def any_part_query(words: QueryWords) -> QueryParam:
    """Build the query `any_part`, which matches documents with at least one part."""
    return QueryParam("any_part", SolrQuery.boolean(part_queries(words)))


def part_queries(words: QueryWords) -> list[QueryParam]:
    """Build for each content word the query that matches documents with this part, in the order of the words."""
    has_stems = len(words.content) <= MAX_STEMMED_PARTS
    return [
        QueryParam(f"part{n}", contains_query(f"part{n}", (word, *words.find_synonyms(word)), has_stems))
        for n, word in enumerate(words.content)
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
