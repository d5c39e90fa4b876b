"""Articles: details, highlighted text, other versions, near-duplicates, related articles, and the rank in a search.

Related articles are found by words and by vectors. The two lists are fused by reciprocal ranks (Cormack, Clarke,
Büttcher 2009, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods"). Near-duplicates and
articles of the same series are excluded.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from domain.article import ARTICLE_FIELDS
from domain.batches import batched
from domain.curation import CurationRule
from domain.errors import SolrError
from domain.page_offsets import PageOffsets, page_number_at, parse_page_offsets
from search_ui.query.display_text import Segments, clean_text, split_highlights
from search_ui.query.facets import facet_counts
from search_ui.query.query_plan import QueryPlan
from search_ui.query.results import MIN_STORY_SITES, ArticleSummary, list_articles, plain_text, summary_values
from search_ui.query.score_explanation import RankExplanation, add_semantic_part, parse_explain, without_scores
from search_ui.query.search import SearchService
from search_ui.query.search_request import SearchRequest
from search_ui.query.semantic.hybrid import QueryVector, first_by_cluster, neighbour_cosine
from search_ui.query.solr_client import SolrResponse, documents, select_in_background, with_documents
from search_ui.query.solr_query import MATCH_ALL_PARAM, Params, QueryParam, SolrQuery, select_params, terms_facet
from search_ui.query.solr_requests import (
    HIGHLIGHT_END,
    HIGHLIGHT_START,
    UNIQUE_SITES,
    display_fields_params,
    highlight_terms_params,
)
from search_ui.settings import SearchSettings
from solr_client import solr_fields

MAX_SIMILAR = 5
MAX_COPIES = 20
MAX_SERIES = 20
MAX_IDS_PER_REQUEST = 500
MAX_ANALYZED_CHARS = 500_000  # the whole body, as it was indexed

_DOC_ID_RE = re.compile(r"[\w.-]{1,64}")
SUMMARY_FIELDS = (
    solr_fields.ID,
    solr_fields.URL,
    solr_fields.SITE,
    solr_fields.TITLE,
    solr_fields.PUBLISHED_TEXT,
    solr_fields.FORMAT,
    solr_fields.LANGUAGE,
)
_DETAIL_BY_NAME = {
    name: article_field.solr_name for name, article_field in ARTICLE_FIELDS.items() if article_field.is_detail
}
_DETAIL_FIELDS = (
    *SUMMARY_FIELDS,
    solr_fields.BODY,
    solr_fields.FETCHED,
    solr_fields.CLUSTER_ID,
    solr_fields.SERIES_ID,
    *_DETAIL_BY_NAME.values(),
    solr_fields.DOMAIN_TERMS,
    solr_fields.TEXT_SOURCE,
    solr_fields.PAGE_STARTS,
    solr_fields.STORY_ID,
    solr_fields.ARTICLE_DIGEST,
)

CANDIDATES_PER_LIST = 30
DATED = f"{solr_fields.PUBLISHED}:[* TO NOW+1DAY]"  # dates in the future are errors
NEWEST_FIRST = f"{solr_fields.PUBLISHED} desc,{solr_fields.ID} asc"
RRF_K = 10  # the larger, the slower the score falls with the rank
_MORE_LIKE_THIS_OPTIONS = {"mintf": "1", "mindf": "2", "maxdfpct": "20", "minwl": "2", "maxqt": "25", "boost": "true"}


@dataclass(frozen=True)
class DocumentPage:
    """The paragraphs that begin on one page of a document. `number` 0: before the first known page."""

    number: int
    paragraphs: tuple[Segments, ...]


@dataclass(frozen=True, kw_only=True)
class ArticleDetails(ArticleSummary):
    """One article with its text.

    Attributes:
        details: Values by name of the fields that `domain.article.ARTICLE_FIELDS` declares as details.
        length: Number of characters without whitespace.
        paragraphs: The text, highlighted.
        pages: The paragraphs by page of the document; () if it has no pages.
        article_digest: Digest of the article as it was indexed.
    """

    details: Mapping[str, str]
    length: int
    terms: tuple[str, ...]
    paragraphs: tuple[Segments, ...]
    pages: tuple[DocumentPage, ...] = ()
    article_digest: str = ""


@dataclass(frozen=True)
class ArticleView:
    """The content of an article page.

    `same_series` are other versions and issues, without near-duplicates. `related` are other similar articles.
    `explanation` is None if the request has no query. `rule` is that of an editor for the query and the article.
    """

    article: ArticleDetails
    related: tuple[ArticleSummary, ...]
    same_series: tuple[ArticleSummary, ...]
    copies: tuple[ArticleSummary, ...]
    explanation: RankExplanation | None
    rule: CurationRule | None = None


def is_doc_id(text: str) -> bool:
    """Return True if the text has the form of a document id."""
    return bool(_DOC_ID_RE.fullmatch(text))


def list_by_ids(search: SearchService, ids: Sequence[str]) -> tuple[ArticleSummary, ...]:
    """Return the articles with these ids that the index has, in this order."""
    articles: dict[str, ArticleSummary] = {}
    for batch in batched(ids, MAX_IDS_PER_REQUEST):
        response = search.solr.select(display_fields_params(batch))
        articles.update((article.doc_id, article) for article in list_articles(response, search.settings))
    return tuple(articles[doc_id] for doc_id in ids if doc_id in articles)


def article_params(doc_id: str, plan: QueryPlan) -> Params:
    """Build the request for one article with its whole text highlighted."""
    full_text_params = [
        ("hl.fragsize", "0"), ("hl.snippets", "1"), ("hl.defaultSummary", "true"),
        ("hl.maxAnalyzedChars", str(MAX_ANALYZED_CHARS)),
    ]  # fmt: skip
    highlight_params = [*highlight_terms_params(plan), *full_text_params] if plan.words.typed else []
    return select_params(_doc_id_clause(doc_id), rows=1, fl=_DETAIL_FIELDS, extra_params=highlight_params)


def _doc_id_clause(doc_id: str) -> SolrQuery:
    return SolrQuery.term(solr_fields.ID, "doc", doc_id)


def explain_params(doc_id: str, plan: QueryPlan) -> Params:
    """Build the request for the score of one article and its explanation."""
    debug_params = [("debug", "results"), ("debug.explain.structured", "true")]
    return select_params(
        plan.word_ranking, [_doc_id_clause(doc_id)], 1, (solr_fields.ID, "score"), extra_params=debug_params
    )


def series_params(cluster: str, series: str) -> Params:
    """Build the request for other versions and issues of an article, near-duplicates once, newest first."""
    clause = SolrQuery.boolean(
        must=[QueryParam("members", SolrQuery.term(solr_fields.SERIES_ID, "series", series))],
        must_not=[_cluster_param(cluster)],
    )
    return select_params(clause, [SolrQuery.collapse_clusters(NEWEST_FIRST)], MAX_SERIES, SUMMARY_FIELDS, NEWEST_FIRST)


def copies_params(doc_id: str, cluster: str) -> Params:
    """Build the request for the near-duplicates of an article, newest first."""
    clause = SolrQuery.boolean(must=[_cluster_param(cluster)], must_not=[QueryParam("itself", _doc_id_clause(doc_id))])
    return select_params(clause, rows=MAX_COPIES, fl=SUMMARY_FIELDS, sort=NEWEST_FIRST)


def story_sites_params(story: str) -> Params:
    """Build the request for the number of sites of a story, as the facet `stories`."""
    clause = SolrQuery.term(solr_fields.STORY_ID, "story", story)
    return select_params(clause, facets={"stories": terms_facet(solr_fields.STORY_ID, 1, facet=UNIQUE_SITES)})


def _cluster_param(cluster: str) -> QueryParam:
    return QueryParam("copies", SolrQuery.term(solr_fields.CLUSTER_ID, "cluster", cluster))


def parse_article(response: SolrResponse, settings: SearchSettings) -> ArticleDetails | None:
    """Parse the response to `article_params`. Returns None if there is no such article."""
    docs = documents(response)
    if not docs:
        return None
    doc = docs[0]
    values = summary_values(doc, settings)
    highlights = response.get("highlighting", {}).get(values["doc_id"], {})
    body, text = str(doc.get(solr_fields.BODY, "")), "".join(highlights.get(solr_fields.BODY, ()))
    lines = tuple(_iter_paragraphs(text if HIGHLIGHT_START in text else body))
    starts = parse_page_offsets(str(doc.get(solr_fields.PAGE_STARTS, "")))
    return ArticleDetails(
        **{**values, "title": _highlighted_field(highlights, solr_fields.TITLE) or values["title"]},
        details={
            # the section is a filter value; it is returned as it was indexed
            name: value if solr_name == solr_fields.SECTION else clean_text(value)
            for name, solr_name in _DETAIL_BY_NAME.items()
            for value in [str(doc.get(solr_name, ""))]
        },
        length=len("".join(body.split())),
        terms=tuple(map(str, doc.get(solr_fields.DOMAIN_TERMS, ()))),
        paragraphs=tuple(segments for _, segments in lines),
        pages=_group_by_page(lines, starts) if starts else (),
        article_digest=str(doc.get(solr_fields.ARTICLE_DIGEST, "")),
    )


def _highlighted_field(highlights: Mapping[str, Any], name: str) -> Segments:
    """Return the highlighted text of a field. Its only snippet is the whole text."""
    return split_highlights("".join(highlights.get(name, ())), HIGHLIGHT_START, HIGHLIGHT_END)


def _iter_paragraphs(text: str) -> Iterator[tuple[int, Segments]]:
    """Yield the non-blank lines with their offsets in the text without marks. No mark spans two lines."""
    offset = 0
    for line in text.split("\n"):
        segments = split_highlights(line, HIGHLIGHT_START, HIGHLIGHT_END)
        if plain_text(segments).strip():
            yield offset, segments
        offset += len(line) - line.count(HIGHLIGHT_START) - line.count(HIGHLIGHT_END) + 1


def _group_by_page(lines: Sequence[tuple[int, Segments]], starts: PageOffsets) -> tuple[DocumentPage, ...]:
    """Group lines by the page on which they begin."""
    runs = groupby(lines, key=lambda line: page_number_at(starts, line[0]))
    return tuple(DocumentPage(page, tuple(segments for _, segments in run)) for page, run in runs)


def find_article(search: SearchService, doc_id: str, plan: QueryPlan | None = None) -> ArticleDetails | None:
    """Return an article, highlighted if there is a query plan; None if it does not exist.

    Raises what `SolrBackend.select` raises.
    """
    params = article_params(doc_id, plan or search.plan(SearchRequest()))
    article = parse_article(search.solr.select(params), search.settings)
    return article and replace(article, terms=tuple(filter(search.is_term, article.terms)))


def load_article(search: SearchService, doc_id: str, request: SearchRequest) -> ArticleView | None:
    """Return an article with its neighbours, and its explanation if there is a query; None if it does not exist.

    Raises what `SolrBackend.select` raises.
    """
    plan = search.add_work_boosts(search.plan(request))
    article = find_article(search, doc_id, plan)
    if article is None:
        return None

    def start(params: Params) -> "Future[SolrResponse]":
        return select_in_background(search.solr, params)

    series = start(series_params(article.cluster, article.series)) if article.series else None
    copies = start(copies_params(doc_id, article.cluster))
    explanation = start(explain_params(doc_id, plan)) if plan.words.typed else None
    related = _fetch_related(search, article)
    if search.is_limited and article.story:
        sites = facet_counts(search.solr.select(story_sites_params(article.story)), "stories")
        is_told = any(count >= MIN_STORY_SITES for _, count in sites)
        article = article if is_told else replace(article, story="")
    return ArticleView(
        article,
        related=list_articles(related, search.settings),
        same_series=list_articles(series.result() if series else {}, search.settings),
        copies=list_articles(copies.result(), search.settings),
        explanation=_explain(search, doc_id, plan, explanation.result()) if explanation else None,
        rule=plan.curation.rule_by_id.get(doc_id),
    )


def _fetch_related(search: SearchService, article: ArticleDetails) -> SolrResponse:
    """Fetch related articles by words and by vectors."""
    vector = search.query_vectors.article_vector(article.article_digest)
    cluster_and_series = (article.cluster, article.series)
    nearest = (
        select_in_background(search.solr, nearest_articles_params(vector, *cluster_and_series, SUMMARY_FIELDS))
        if vector
        else None
    )
    params = more_like_this_params(article.doc_id, *cluster_and_series, SUMMARY_FIELDS, search.is_limited)
    responses = [search.solr.select(params)]
    with suppress(SolrError):  # the collection has no such field
        responses += [drop_distant(nearest.result(), vector)] if nearest and vector else []
    return fuse_by_rank(responses, MAX_SIMILAR)


def _explain(search: SearchService, doc_id: str, plan: QueryPlan, response: SolrResponse) -> RankExplanation:
    """Return the explanation of the rank; it is empty if the query does not match the article."""
    explanation = parse_explain(response.get("debug", {}).get("explain", {}).get(doc_id, {}))
    candidates = search.find_candidates(plan)
    share = candidates.get_semantic_share(doc_id) if candidates else 0.0
    explanation = add_semantic_part(explanation, share)
    return without_scores(explanation) if search.is_limited else explanation


def more_like_this_params(
    doc_id: str, cluster: str, series: str, field_names: Sequence[str], is_limited: bool = False
) -> Params:
    """Build the request for articles with the same distinctive character pairs.

    Single characters are ignored, and pairs that occur in a fifth of all documents; not these if articles are left out,
    because they would count.
    """
    query_fields = f"'{solr_fields.BODY} {solr_fields.TITLE}'"
    options = [(name, value) for name, value in _MORE_LIKE_THIS_OPTIONS.items() if name != "maxdfpct" or not is_limited]
    like = SolrQuery("mlt", (("qf", query_fields), *options, ("v", QueryParam("doc", doc_id))))
    each = SolrQuery.collapse_clusters(f"score desc,{solr_fields.ID} asc")
    return select_params(like, [_outside_group(cluster, series), each], CANDIDATES_PER_LIST, field_names)


def nearest_articles_params(vector: QueryVector, cluster: str, series: str, field_names: Sequence[str]) -> Params:
    """Build the kNN request for the nearest articles to `vector`, the vector of the article itself."""
    nearest = SolrQuery(
        "knn", (("f", vector.field), ("topK", str(CANDIDATES_PER_LIST)), ("v", QueryParam("vector", vector.solr_text)))
    )
    return select_params(nearest, [_outside_group(cluster, series)], CANDIDATES_PER_LIST, (*field_names, "score"))


def _outside_group(cluster: str, series: str) -> SolrQuery:
    copies = QueryParam("copies", SolrQuery.term(solr_fields.CLUSTER_ID, "cluster", cluster))
    members = QueryParam("members", SolrQuery.term(solr_fields.SERIES_ID, "series", series))
    return SolrQuery.boolean(must=[MATCH_ALL_PARAM], must_not=[copies, members])


def drop_distant(response: SolrResponse, vector: QueryVector) -> SolrResponse:
    """Return a response to `nearest_articles_params` without documents below the minimum cosine."""
    docs = [doc for doc in documents(response) if neighbour_cosine(doc) >= vector.min_cosine]
    return with_documents({}, docs, len(docs))


def fuse_by_rank(answers: Sequence[SolrResponse], limit: int) -> SolrResponse:
    """Fuse Solr responses by rank into one of at most `limit` documents, the first of each cluster."""
    score_by_cluster: dict[str, float] = defaultdict(float)
    docs: dict[str, Mapping[str, Any]] = {}
    for response in answers:
        for rank, (cluster, doc) in enumerate(first_by_cluster(response).items()):
            score_by_cluster[cluster] += 1 / (RRF_K + rank)
            docs.setdefault(cluster, doc)
    best = sorted(score_by_cluster, key=lambda cluster: (-score_by_cluster[cluster], cluster))[:limit]
    return with_documents({}, [docs[cluster] for cluster in best], len(best))
