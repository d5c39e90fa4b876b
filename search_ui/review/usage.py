"""Where articles use a candidate, in figures that a reviewer understands."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from search_ui.query.display_text import has_word
from search_ui.query.solr_client import SolrBackend, documents
from search_ui.query.solr_query import SolrQuery, select_params
from search_ui.review.term_display import find_kwic_lines
from solr_client import solr_fields
from text.segment import Segmenter

MAX_READ_ARTICLES = 12
MAX_READ_PLACES = 8  # of one article
MAX_NEIGHBOURS = 2
MIN_NEIGHBOUR_PLACES = 3
MIN_NEIGHBOUR_SHARE = 0.25  # of the places that were read


@dataclass(frozen=True)
class CandidateUsage:
    """The number of articles and sites with a text, and the words that often stand next to it."""

    article_count: int
    site_count: int
    words_before: tuple[str, ...] = ()
    words_after: tuple[str, ...] = ()


def load_usage(solr: SolrBackend, text: str, base_segmenter: Segmenter) -> CandidateUsage:
    """Count the articles and sites with `text`, and read its neighbours in the newest articles.

    Raises what `SolrBackend.select` raises.
    """
    query = SolrQuery.phrases(f"{solr_fields.TITLE_CHARS} {solr_fields.BODY_CHARS}", "quoted", [text])
    facets = {"article_count": f"unique({solr_fields.CLUSTER_ID})", "site_count": f"unique({solr_fields.SITE})"}
    fields = (solr_fields.ID, solr_fields.TITLE, solr_fields.BODY)
    order = f"{solr_fields.PUBLISHED} desc,{solr_fields.ID} asc"
    response = solr.select(select_params(query, rows=MAX_READ_ARTICLES, fl=fields, sort=order, facets=facets))
    counts = response.get("facets", {})
    lines = [
        line
        for doc in documents(response)
        for line in find_kwic_lines(
            f"{doc.get(solr_fields.TITLE, '')}\n{doc.get(solr_fields.BODY, '')}", text, "", "", MAX_READ_PLACES
        )
    ]
    words_before = (base_segmenter.cut(line.before)[-1:] for line in lines)
    words_after = (base_segmenter.cut(line.after)[:1] for line in lines)
    return CandidateUsage(
        int(counts.get("article_count", 0)),
        int(counts.get("site_count", 0)),
        frequent_words(words_before, len(lines)),
        frequent_words(words_after, len(lines)),
    )


def frequent_words(neighbours: Iterable[list[str]], place_count: int) -> tuple[str, ...]:
    """Return the most frequent of the neighbouring words, without punctuation and rare words."""
    counts = Counter(word.strip() for words in neighbours for word in words if has_word(word))
    minimum = max(MIN_NEIGHBOUR_PLACES, MIN_NEIGHBOUR_SHARE * place_count)
    return tuple(word for word, count in counts.most_common(MAX_NEIGHBOURS) if count >= minimum)
