"""Where articles use the terms of a review page, in figures that a reviewer understands.

The figures count the articles with a term as its page does (search_ui/services/terms.py). Places are those of the
quoted term.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from search_ui.query.display_text import has_word
from search_ui.query.full_matches import ARTICLE_COUNT, contains_phrase_query
from search_ui.query.search import SearchService
from search_ui.query.solr_client import documents
from search_ui.query.solr_query import MATCH_ALL, select_params, whole_index_facet
from search_ui.review.term_display import KwicLine, find_kwic_lines
from search_ui.services.terms import term_articles_query
from solr_client import solr_fields
from text.segment import base_segmenter

MAX_READ_ARTICLES = 12
MAX_READ_PLACES = 8  # of one article
MAX_SHOWN_PLACES = 2  # of one article
MAX_NEIGHBOURS = 2
MIN_NEIGHBOUR_PLACES = 3
MIN_NEIGHBOUR_SHARE = 0.25  # of the places that were read


@dataclass(frozen=True)
class CandidateUsage:
    """The number of articles and sites with a term, some places in them, and the words that often stand next to it."""

    article_count: int
    site_count: int
    places: tuple[KwicLine, ...] = ()
    words_before: tuple[str, ...] = ()
    words_after: tuple[str, ...] = ()


def count_articles(search: SearchService, terms: Sequence[str]) -> Mapping[str, int]:
    """Count the articles with each term, in one request. Raises what `SolrBackend.select` raises."""
    queries = {f"term{n}_": term_articles_query(search, term) for n, term in enumerate(terms)}
    facets = {name: _count_facet(query.to_syntax(name)) for name, query in queries.items()}
    term_params = [pair for name, query in queries.items() for pair in query.to_params(name)]
    response = search.solr.select(select_params(MATCH_ALL, facets=facets, extra_params=term_params))
    counts = response.get("facets", {})
    return {term: int(counts.get(name, {}).get("n", 0)) for term, name in zip(terms, queries, strict=True)}


def _count_facet(query_syntax: str) -> dict[str, object]:
    return whole_index_facet(query_syntax, n=ARTICLE_COUNT, sites=f"unique({solr_fields.SITE})")


def load_usage(search: SearchService, term: str) -> CandidateUsage:
    """Count the articles and sites with a term, and read its places and neighbours in the newest articles.

    Raises what `SolrBackend.select` raises.
    """
    matches = term_articles_query(search, term)
    facets = {"matches": _count_facet(matches.to_syntax())}
    fields = (solr_fields.ID, solr_fields.TITLE, solr_fields.BODY)
    order = f"{solr_fields.PUBLISHED} desc,{solr_fields.ID} asc"
    query = contains_phrase_query("term", (term,))
    params = select_params(query, (), MAX_READ_ARTICLES, fields, order, facets, matches.to_params())
    response = search.solr.select(params)
    counts = response.get("facets", {}).get("matches", {})
    lines_by_article = []
    for doc in documents(response):
        doc_id, title = str(doc[solr_fields.ID]), str(doc.get(solr_fields.TITLE, ""))
        text = f"{title}\n{doc.get(solr_fields.BODY, '')}"
        lines_by_article.append(find_kwic_lines(text, term, doc_id, title, MAX_READ_PLACES))
    lines = [line for article_lines in lines_by_article for line in article_lines]
    words_before = (base_segmenter().cut(line.before)[-1:] for line in lines)
    words_after = (base_segmenter().cut(line.after)[:1] for line in lines)
    return CandidateUsage(
        int(counts.get("n", 0)),
        int(counts.get("sites", 0)),
        tuple(line for article_lines in lines_by_article for line in article_lines[:MAX_SHOWN_PLACES]),
        frequent_words(words_before, len(lines)),
        frequent_words(words_after, len(lines)),
    )


def frequent_words(neighbours: Iterable[list[str]], place_count: int) -> tuple[str, ...]:
    """Return the most frequent of the neighbouring words, without punctuation and rare words."""
    counts = Counter(word.strip() for words in neighbours for word in words if has_word(word))
    minimum = max(MIN_NEIGHBOUR_PLACES, MIN_NEIGHBOUR_SHARE * place_count)
    return tuple(word for word, count in counts.most_common(MAX_NEIGHBOURS) if count >= minimum)
