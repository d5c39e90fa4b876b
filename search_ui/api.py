"""The JSON API, version 1: what the pages show, for programs. docs/api.md describes it, /api/v1 is the same in OpenAPI.

Fields may be added within a version; none changes its meaning or goes away. Errors are `search_ui.site.error_answer`'s.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, abort, current_app, g, jsonify, request, url_for

from search_ui.pages.article import ArticlePage, Details, Neighbour, is_id
from search_ui.pages.compare import Side, compare
from search_ui.pages.searcher import finder
from search_ui.pages.suggestions import suggestions_for
from search_ui.query.explanation import RankExplanation
from search_ui.query.ranking import PROFILES
from search_ui.query.request import CHOSEN, SearchRequest, parse_request
from search_ui.query.results import Facet, Hit, SearchPage
from search_ui.query.semantic.answers import Quotation
from search_ui.query.texts import Segments, searchable
from search_ui.site import current_site
from search_ui.spelling.did_you_mean import DidYouMean

pages = Blueprint("api", __name__, url_prefix="/api/v1")

Json = dict[str, Any]


@pages.get("")
def description() -> Response:
    """This API in OpenAPI 3.1."""
    response = current_app.send_static_file("openapi.json")
    response.mimetype = "application/json"
    return response


@pages.get("/search")
def search() -> Response:
    """One page of results."""
    finding = finder()
    asked = finding.as_meant(parse_request(request.args, current_site().settings, PROFILES))
    found = finding.page_of(asked, finding.words(asked))
    if asked.text:
        g.hits = found.total
    return jsonify(search_json(found, finding.offers(asked, found), asked))


@pages.get("/articles/<doc_id>")
def article(doc_id: str) -> Response:
    """One article; with `q`, what of it the query finds and why."""
    asked = parse_request(request.args, current_site().settings, PROFILES)
    found = finder().article(doc_id, asked) if is_id(doc_id) else None
    return jsonify(_article_json(found)) if found else abort(404)


@pages.get("/suggest")
def suggest() -> Response:
    """Completions of what is being typed."""
    typed = request.args.get("q", "")
    return jsonify(query=typed, suggestions=[{"text": one.text, "kind": one.kind} for one in suggestions_for(typed)])


@pages.get("/compare")
def comparison() -> Response:
    """One term against the base dictionary and the domain lexicon."""
    site, typed = current_site(), request.args.get("q", "")
    term = searchable(typed, site.settings.longest_query)
    segmenters = {"base": site.actions.base_segmenter(), "domain": site.actions.segmenter()}
    return jsonify(query=typed, sides=[_side(side) for side in compare(site.search, segmenters, term)])


@pages.get("/<path:rest>")
def nothing(rest: str) -> Response:
    """What does not exist, said as JSON."""
    return abort(404)


def search_json(page: SearchPage, offers: Sequence[DidYouMean], asked: SearchRequest) -> Json:
    """A result page; the hits are those of what was asked, whatever is offered beside."""
    settings = current_site().settings
    following = _following(page, asked)
    return {
        "query": asked.typed,
        "profile": asked.profile,
        "sort": asked.sort,
        "total": page.total,
        "documents": page.documents,
        "matched": page.matched,
        "partial": page.partial,
        "took_ms": page.took_ms,
        "page": page.page,
        "page_size": settings.page_size,
        "next": url_for("api.search") + "?" + urlencode(following.arguments(settings)) if following else None,
        "answer": [_quotation(quote) for quote in page.quotes],
        "hits": [_hit(hit) for hit in page.hits],
        "offers": [_offer(offer) for offer in offers],
        "facets": {name: [_facet(facet) for facet in getattr(page, name)] for name in (*CHOSEN, "dates")},
    }


def _following(page: SearchPage, asked: SearchRequest) -> SearchRequest | None:
    if page.cursor:
        return asked.changed(cursor=page.cursor)
    return asked.changed(page=page.page + 1) if page.page < page.pages else None


def _quotation(quote: Quotation) -> Json:
    return {"id": quote.doc_id, "title": quote.title, "text": quote.text, "paragraph": quote.paragraph}


def _hit(hit: Hit) -> Json:
    return {
        "id": hit.doc_id,
        "title": hit.plain_title,
        "url": hit.url,
        "site": hit.site,
        "published": hit.published,
        "fetched": hit.fetched,
        "cluster": hit.cluster,
        "copies": hit.copies,
        "similar": hit.similar,
        "story": hit.story,
        "is_partial": hit.is_partial,
        "by_meaning": hit.by_meaning,
        "format": hit.format,
        "page": hit.page or None,
        "snippet": _segments(hit.snippet),
    }


def _offer(offer: DidYouMean) -> Json:
    query, settings = offer.asked, current_site().settings
    address = url_for("api.search") + "?" + urlencode(query.arguments(settings))
    return {"kind": offer.kind, "query": query.typed, "total": offer.count, "address": address}


def _facet(facet: Facet) -> Json:
    return {"value": facet.value, "label": facet.label, "count": facet.count, "selected": facet.selected}


def _segments(segments: Segments) -> list[Json]:
    return [{"text": segment.text, "marked": segment.marked} for segment in segments]


def _article_json(page: ArticlePage) -> Json:
    return {
        **_details(page.article),
        "similar": _neighbours(page.similar),
        "series": _neighbours(page.series),
        "copies": _neighbours(page.copies),
        "explanation": _explanation(page.why),
    }


def _details(article: Details) -> Json:
    names = ("url", "site", "published", "fetched", "author", "source", "section", "language", "cluster", "length")
    return {
        "id": article.doc_id,
        "title": article.plain_title,
        **{name: getattr(article, name) for name in names},
        "format": article.format,
        "pages": [{"page": one.number, "paragraphs": len(one.paragraphs)} for one in article.pages],
        "terms": list(article.terms),
        "paragraphs": [_segments(paragraph) for paragraph in article.paragraphs],
    }


def _side(side: Side) -> Json:
    """One lexicon's answer in a comparison."""
    measures = side.measures
    return {
        "lexicon": side.name,
        "words": side.words,
        "total": side.total,
        "first_rank": measures.first_rank,
        "reciprocal_rank": measures.reciprocal_rank,
        "precision_at_10": measures.precision_at_10,
        "whole": measures.whole,
    }


def _neighbours(found: Sequence[Neighbour]) -> list[Json]:
    return [{"id": one.doc_id, "title": one.title, "url": one.link, "published": one.published} for one in found]


def _explanation(why: RankExplanation | None) -> Json | None:
    if why is None:
        return None
    parts = [
        {"part": part.name, "score": part.score, "percent": part.percent, "terms": list(part.terms)}
        for part in why.parts
    ]
    return {"score": why.score, "parts": parts}
