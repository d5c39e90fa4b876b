"""Where articles use the terms of a review page, in figures that a reviewer understands.

The figures count the articles that a search for the quoted term finds, near-duplicates once.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from search_ui.query.display_text import has_word
from search_ui.query.full_matches import ARTICLE_COUNT, contains_phrase_query
from search_ui.query.solr_client import SolrBackend, documents
from search_ui.query.solr_query import MATCH_ALL, select_params
from search_ui.review.term_display import KwicLine, find_kwic_lines
from solr_client import solr_fields
from text.segment import Segmenter

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


def count_articles(solr: SolrBackend, terms: Sequence[str]) -> Mapping[str, int]:
    """Count the articles with each term, in one request. Raises what `SolrBackend.select` raises."""
    queries = [contains_phrase_query(f"term{n}", (term,)) for n, term in enumerate(terms)]
    facets = {
        f"term{n}": {"type": "query", "q": query.to_syntax(), "facet": {"n": ARTICLE_COUNT}}
        for n, query in enumerate(queries)
    }
    term_params = [pair for query in queries for pair in query.to_params()]
    counts = solr.select(select_params(MATCH_ALL, facets=facets, extra_params=term_params)).get("facets", {})
    return {term: int(counts.get(f"term{n}", {}).get("n", 0)) for n, term in enumerate(terms)}


def load_usage(solr: SolrBackend, term: str, base_segmenter: Segmenter) -> CandidateUsage:
    """Count the articles and sites with a term, and read its places and neighbours in the newest articles.

    Raises what `SolrBackend.select` raises.
    """
    facets = {"article_count": ARTICLE_COUNT, "site_count": f"unique({solr_fields.SITE})"}
    fields = (solr_fields.ID, solr_fields.TITLE, solr_fields.BODY)
    order = f"{solr_fields.PUBLISHED} desc,{solr_fields.ID} asc"
    query = contains_phrase_query("term", (term,))
    response = solr.select(select_params(query, rows=MAX_READ_ARTICLES, fl=fields, sort=order, facets=facets))
    counts = response.get("facets", {})
    lines_by_article = []
    for doc in documents(response):
        doc_id, title = str(doc[solr_fields.ID]), str(doc.get(solr_fields.TITLE, ""))
        text = f"{title}\n{doc.get(solr_fields.BODY, '')}"
        lines_by_article.append(find_kwic_lines(text, term, doc_id, title, MAX_READ_PLACES))
    lines = [line for article_lines in lines_by_article for line in article_lines]
    words_before = (base_segmenter.cut(line.before)[-1:] for line in lines)
    words_after = (base_segmenter.cut(line.after)[:1] for line in lines)
    return CandidateUsage(
        int(counts.get("article_count", 0)),
        int(counts.get("site_count", 0)),
        tuple(line for article_lines in lines_by_article for line in article_lines[:MAX_SHOWN_PLACES]),
        frequent_words(words_before, len(lines)),
        frequent_words(words_after, len(lines)),
    )


def frequent_words(neighbours: Iterable[list[str]], place_count: int) -> tuple[str, ...]:
    """Return the most frequent of the neighbouring words, without punctuation and rare words."""
    counts = Counter(word.strip() for words in neighbours for word in words if has_word(word))
    minimum = max(MIN_NEIGHBOUR_PLACES, MIN_NEIGHBOUR_SHARE * place_count)
    return tuple(word for word, count in counts.most_common(MAX_NEIGHBOURS) if count >= minimum)
