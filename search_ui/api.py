"""The JSON API, version 1. docs/reference/api.md describes it; /api/v1 returns it in OpenAPI.

Within a version fields can be added, but never removed or changed in meaning. Errors have the format of
`search_ui.context.error_response`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, current_app, g, jsonify, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.article import ARTICLE_FIELDS, ArticleField
from domain.concept import Concept
from search_ui.accounts import allow_developer_tools
from search_ui.api_tokens import ApiScope, check_api_token
from search_ui.citations.formats import CITATION_FORMATS, CitationFormat
from search_ui.citations.reference import Reference, build_reference
from search_ui.context import (
    abort_missing,
    cluster_parameter,
    current_services,
    current_site,
    elapsed_ms,
    external_url,
    search_url,
)
from search_ui.glossary import GlossaryTerm
from search_ui.list_pages import slice_page
from search_ui.local_dates import format_day
from search_ui.pages.glossary_views import TERMS_PER_PAGE
from search_ui.pages.suggestions import suggest_completions
from search_ui.query.display_text import Segments, normalize_query
from search_ui.query.facets import Facet
from search_ui.query.ranking import PROFILES
from search_ui.query.results import ArticleSummary, Hit, SearchPage, plain_text
from search_ui.query.score_explanation import RankExplanation
from search_ui.query.search_request import PARAM_BY_FILTER, BadSearchRequestError, SearchRequest, parse_search_request
from search_ui.services.articles import ArticleDetails, ArticleView, find_article, is_doc_id, load_article
from search_ui.services.citations import find_exported_results
from search_ui.services.compare import LexiconResult, compare_lexicons
from search_ui.services.definitions import QuotedDefinition
from search_ui.services.terms import find_term
from search_ui.spelling.did_you_mean import SearchSuggestion
from text.segment import base_segmenter

blueprint = Blueprint("api", __name__, url_prefix="/api/v1")
blueprint.before_request(lambda: check_api_token(ApiScope.SEARCH))

JsonDict = dict[str, Any]


@blueprint.get("")
def openapi_document() -> Response:
    """Return the OpenAPI 3.1 document of this API."""
    document = json.loads((Path(str(current_app.static_folder)) / "openapi.json").read_text(encoding="utf-8"))
    return jsonify(with_article_fields(document, ARTICLE_FIELDS))


def with_article_fields(document: JsonDict, article_fields: Mapping[str, ArticleField]) -> JsonDict:
    """Add the filters and details of `article_fields` that an OpenAPI document lacks. Returns the changed document."""
    parameters: list[JsonDict] = document["paths"]["/search"]["get"]["parameters"]
    schemas = document["components"]["schemas"]
    facets, article_schema = schemas["Results"]["properties"]["facets"], schemas["Article"]
    for name, article_field in article_fields.items():
        if article_field.facet and article_field.facet not in facets["properties"]:
            facets["properties"][article_field.facet] = {
                "type": "array",
                "items": {"$ref": "#/components/schemas/Facet"},
            }
            facets["required"].append(article_field.facet)
            section = next(each for each in parameters if each.get("name") == "section")
            description = f"Only these values of `{name}`; can be repeated."
            parameters.append({**section, "name": article_field.parameter, "description": description})
            excluding = f"None of these values of `{name}`; can be repeated."
            parameters.append({**section, "name": f"-{article_field.parameter}", "description": excluding})
        if article_field.is_detail and name not in article_schema["properties"]:
            article_schema["properties"][name] = {"type": "string"}
            article_schema["required"].append(name)
    return document


@blueprint.get("/search")
def search() -> Response:
    """Return one page of results; with a citation format, references to the first results of all pages."""
    citation_format = requested_citation_format()
    search_service = current_services().search
    search_request = parse_search_request(request.args, current_site().settings, PROFILES)
    if citation_format:
        is_related = request.args.get("related") == "1"
        hits = find_exported_results(search_service, search_request, is_related)
        return citation_response(hits, citation_format, "search-results")
    plan, search_page = search_service.search(search_request)
    if search_request.text:
        g.hits = search_page.match_count
    return jsonify(search_page_to_json(search_page, search_page.suggestions, plan.request))


def requested_citation_format() -> CitationFormat | None:
    """Return the export format that the URL requests; None for JSON.

    Raises:
        BadSearchRequestError: There is no such format.
    """
    name = request.args.get("format", "") or "json"
    if name == "json":
        return None
    if name not in CITATION_FORMATS:
        raise BadSearchRequestError("format")
    return CITATION_FORMATS[name]


def build_current_reference(article: ArticleSummary) -> Reference:
    """Build the reference to an article that the reader accesses today."""
    access_date = format_day(current_site().clock())
    return build_reference(article, access_date, external_url("public.article", doc_id=article.doc_id))


def citation_response(articles: Iterable[ArticleSummary], citation_format: CitationFormat, file_name: str) -> Response:
    """Return references to articles as a file to download; `file_name` has no extension."""
    text = citation_format.write([build_current_reference(article) for article in articles])
    response = Response(text, content_type=f"{citation_format.media_type}; charset=utf-8")
    response.headers.set("Content-Disposition", "attachment", filename=f"{file_name}.{citation_format.extension}")
    return response


@blueprint.get("/articles/<doc_id>")
def article(doc_id: str) -> Response:
    """Return one article; with `q`, its highlighted text and the explanation of its rank.

    With a citation format, return the reference to the article.
    """
    citation_format = requested_citation_format()
    if citation_format:
        details = find_article(current_services().search, doc_id) if is_doc_id(doc_id) else None
        return citation_response([details], citation_format, doc_id) if details else abort_missing(doc_id)
    search_request = parse_search_request(request.args, current_site().settings, PROFILES)
    article_page = load_article(current_services().search, doc_id, search_request) if is_doc_id(doc_id) else None
    return jsonify(_article_to_json(article_page)) if article_page else abort_missing(doc_id)


@blueprint.get("/suggest")
def suggest() -> Response:
    """Return completions of `q` as JSON."""
    raw_query = request.args.get("q", "")
    return jsonify(
        query=raw_query,
        suggestions=[
            {"text": suggestion.text, "kind": suggestion.kind} for suggestion in suggest_completions(raw_query)
        ],
    )


@blueprint.get("/terms")
def terms() -> Response:
    """Return one page of the published terms; with `prefix`, those whose name, synonym or pinyin begins with it."""
    prefix = request.args.get("prefix", "")
    glossary = current_services().glossary
    page = slice_page(glossary.select_terms(prefix, is_prefix=True), request.args.get("page", ""), TERMS_PER_PAGE)
    next_url = url_for("api.terms", prefix=prefix or None, page=page.number + 1) if page.number < page.last else None
    return jsonify(
        lexicon_version=glossary.version,
        total=page.total,
        page=page.number,
        next=next_url,
        terms=[_term_to_json(glossary_term) for glossary_term in page.items],
    )


@blueprint.get("/terms/<path:name>")
def term(name: str) -> Response:
    """Return one published term, by its name or a synonym, and where the articles use it."""
    published = find_term(current_services(), name)
    if published is None:
        abort(404)
    first_version, usage = published.first_version, published.usage
    return jsonify(
        {
            **_term_to_json(published.term),
            "lexicon_version": first_version.version if first_version else None,
            "concept": _concept_to_json(published.concept),
            "definitions": [_definition_to_json(quote) for quote in published.definitions],
            "broader": list(published.term.broader_terms),
            "narrower": [narrower.text for narrower in published.narrower],
            "related": [related.text for related in published.related],
            "often_together": [{"name": row.text, "articles": row.article_count} for row in usage.cooccurring],
            "articles": usage.counts.article_count,
            "first_use": usage.first.published if usage.first else "",
            "months": [
                {"month": month.month, "articles": month.count, "all_articles": month.total} for month in usage.months
            ],
            "facets": {
                name: [_facet_to_json(facet) for facet in facets] for name, facets in usage.counts.facets.items()
            },
            "newest": _neighbours_to_json(usage.newest),
            "most_cited": _neighbours_to_json(usage.most_cited),
        }
    )


def _concept_to_json(concept: Concept | None) -> JsonDict:
    concept = concept or Concept("", ())
    return {"id": concept.concept_id, "terms": [asdict(term) for term in concept.terms]}


def _definition_to_json(quote: QuotedDefinition) -> JsonDict:
    definition = quote.definition
    return {
        "text": definition.sentence,
        "title": definition.title,
        "url": definition.url,
        "published": definition.published,
        "id": quote.article.doc_id if quote.article else None,
    }


def _term_to_json(term: GlossaryTerm) -> JsonDict:
    return {
        "name": term.text,
        "label": current_services().display_name(term.text),
        "url": url_for("glossary.term", name=term.text),
        "synonyms": list(term.synonyms),
        "class": term.category,
        "new": term.is_new,
    }


@blueprint.get("/compare")
@allow_developer_tools
def compare_api() -> BaseResponse:
    """Compare base dictionary and domain lexicon for one term."""
    site, raw_query = current_services(), request.args.get("q", "")
    term = normalize_query(raw_query, site.settings.longest_query)
    segmenters = {"base": base_segmenter(), "domain": site.segmenter}
    return jsonify(
        query=raw_query, sides=[_side_to_json(side) for side in compare_lexicons(site.solr, segmenters, term)]
    )


@blueprint.get("/<path:rest>")
def not_found(rest: str) -> Response:
    """Return status 404 as JSON for unknown paths."""
    return abort(404)


def search_page_to_json(page: SearchPage, offers: Sequence[SearchSuggestion], request: SearchRequest) -> JsonDict:
    """Return a results page as JSON. The hits are those of the request itself, never those of a correction."""
    settings = current_site().settings
    next_request = _next_page_request(page, request)
    return {
        "query": request.raw_query,
        "profile": request.profile,
        "sort": request.sort,
        "total": page.total,
        "documents": page.documents,
        "matched": page.match_count,
        "partial": page.partial,
        "took_ms": elapsed_ms(),
        "page": page.page,
        "page_size": settings.page_size,
        "next": search_url("api.search", next_request) if next_request else None,
        "answer": [
            {"id": quote.doc_id, "title": quote.title, "text": quote.text, "paragraph": quote.paragraph}
            for quote in page.quotations
        ],
        "hits": [_hit_to_json(hit) for hit in page.hits],
        "offers": [_suggestion_to_json(offer) for offer in offers],
        "facets": {
            name: [_facet_to_json(facet) for facet in getattr(page, name)] for name in (*PARAM_BY_FILTER, "dates")
        },
    }


def _next_page_request(page: SearchPage, request: SearchRequest) -> SearchRequest | None:
    if page.cursor:
        return request.with_changes(cursor=page.cursor)
    return request.with_changes(page=page.page + 1) if page.page < page.numbered_pages else None


def _hit_to_json(hit: Hit) -> JsonDict:
    return {
        "id": hit.doc_id,
        "title": hit.plain_title,
        "url": hit.url,
        "site": hit.site,
        "published": hit.published,
        "fetched": hit.fetched,
        "cluster": cluster_parameter(hit),
        "copies": hit.copies,
        "similar": hit.similar,
        "story": hit.story,
        "is_partial": hit.is_partial,
        "by_meaning": hit.by_meaning,
        "recommended": hit.is_recommended,
        "format": hit.format,
        "text_source": hit.text_source,
        "page": hit.page or None,
        "snippet": _segments_to_json(hit.snippet),
        "excerpt": plain_text(hit.snippet),
    }


def _suggestion_to_json(offer: SearchSuggestion) -> JsonDict:
    address = search_url("api.search", offer.request)
    return {"kind": offer.kind, "query": offer.request.raw_query, "total": offer.hit_count, "address": address}


def _facet_to_json(facet: Facet) -> JsonDict:
    return {"value": facet.value, "label": facet.label, "count": facet.count, "selected": facet.selected}


def _segments_to_json(segments: Segments) -> list[JsonDict]:
    return [{"text": segment.text, "marked": segment.marked} for segment in segments]


def _article_to_json(page: ArticleView) -> JsonDict:
    return {
        **_article_details_to_json(page.article),
        "similar": _neighbours_to_json(page.related),
        "series": _neighbours_to_json(page.same_series),
        "copies": _neighbours_to_json(page.copies),
        "explanation": _explanation_to_json(page.explanation),
    }


def _article_details_to_json(article: ArticleDetails) -> JsonDict:
    names = ("url", "site", "published", "fetched", "language", "length")
    return {
        "id": article.doc_id,
        "title": article.plain_title,
        **{name: getattr(article, name) for name in names},
        "cluster": cluster_parameter(article),
        **article.details,
        "format": article.format,
        "text_source": article.text_source,
        "pages": [
            {"page": document_page.number, "paragraphs": len(document_page.paragraphs)}
            for document_page in article.pages
        ],
        "terms": list(article.terms),
        "paragraphs": [_segments_to_json(paragraph) for paragraph in article.paragraphs],
    }


def _side_to_json(side: LexiconResult) -> JsonDict:
    """Return the results with one lexicon as JSON."""
    measures = side.measures
    return {
        "lexicon": side.name,
        "words": side.words,
        "total": side.total,
        "first_rank": measures.first_rank,
        "reciprocal_rank": measures.reciprocal_rank,
        "precision_at_10": measures.precision_at_10,
        "whole": measures.whole_term_count,
    }


def _neighbours_to_json(neighbours: Sequence[ArticleSummary]) -> list[JsonDict]:
    return [
        {"id": each.doc_id, "title": each.plain_title, "url": each.safe_url, "published": each.published}
        for each in neighbours
    ]


def _explanation_to_json(explanation: RankExplanation | None) -> JsonDict | None:
    if explanation is None:
        return None
    has_scores = explanation.has_scores
    parts = [
        {
            "part": part.name,
            "score": part.score if has_scores else None,
            "percent": part.percent if has_scores else None,
            "terms": list(part.terms),
        }
        for part in explanation.parts
    ]
    return {"score": explanation.score if has_scores else None, "parts": parts}
