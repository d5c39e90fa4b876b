"""Loads an article with its neighbours: sends the Solr requests of the article page."""

from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace

from domain.errors import SolrError
from search_ui.pages.article import (
    MAX_SIMILAR,
    SUMMARY_FIELDS,
    ArticleDetails,
    ArticleView,
    article_params,
    copies_params,
    explain_params,
    parse_article,
    parse_explanation,
    parse_related,
    series_params,
)
from search_ui.query.query_plan import QueryPlan
from search_ui.query.score_explanation import RankExplanation, add_semantic_part
from search_ui.query.search import SearchService
from search_ui.query.search_request import SearchRequest
from search_ui.query.semantic.related import drop_distant, fuse_by_rank, more_like_this_params, nearest_articles_params
from search_ui.query.solr_client import SolrResponse, select_in_background
from search_ui.query.solr_query import Params
from text.domain_terms import is_domain_term


def find_article(search: SearchService, doc_id: str) -> ArticleDetails | None:
    """Return an article without highlighting; None if it does not exist. Raises what `SolrBackend.select` raises."""
    params = article_params(doc_id, search.plan(SearchRequest()))
    return parse_article(search.solr.select(params), search.settings)


def load_article(search: SearchService, doc_id: str, request: SearchRequest) -> ArticleView | None:
    """Return an article with its neighbours, and its explanation if there is a query; None if it does not exist.

    Raises what `SolrBackend.select` raises.
    """
    plan = search.add_work_boosts(search.plan(request))
    article = parse_article(search.solr.select(article_params(doc_id, plan)), search.settings)
    if article is None:
        return None

    def start(params: Params) -> "Future[SolrResponse]":
        return select_in_background(search.solr, params)

    series = start(series_params(article.cluster, article.series)) if article.series else None
    copies = start(copies_params(doc_id, article.cluster))
    explanation = start(explain_params(doc_id, plan)) if plan.words.typed else None
    related = _fetch_related(search, article)
    segmenter = search.lexicon_backend.base_segmenter()
    return ArticleView(
        replace(article, terms=tuple(term for term in article.terms if is_domain_term(term, segmenter))),
        related=parse_related(related, search.settings),
        same_series=parse_related(series.result() if series else {}, search.settings),
        copies=parse_related(copies.result(), search.settings),
        explanation=_explain(search, doc_id, plan, explanation.result()) if explanation else None,
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
    responses = [search.solr.select(more_like_this_params(article.doc_id, *cluster_and_series, SUMMARY_FIELDS))]
    with suppress(SolrError):  # the collection has no such field
        responses += [drop_distant(nearest.result(), vector)] if nearest and vector else []
    return fuse_by_rank(responses, MAX_SIMILAR)


def _explain(search: SearchService, doc_id: str, plan: QueryPlan, response: SolrResponse) -> RankExplanation:
    """Return the explanation of the rank, with the share of the semantic score."""
    candidates = search.find_candidates(plan)
    share = candidates.get_semantic_share(doc_id) if candidates else 0.0
    return add_semantic_part(parse_explanation(response, doc_id), share)
