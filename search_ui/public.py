"""The pages anyone may see: home, results, comparison, and what programs ask for."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, current_app, jsonify, request, url_for

from docstore.errors import PlumblineError, SolrError
from search_ui.compare import Side, compare
from search_ui.query import phrases, search_params, site_params, words_of
from search_ui.ranking import PROFILES, Form
from search_ui.request import SearchRequest, Sort, parse_request
from search_ui.results import NOTHING, SearchPage, SiteCounts, as_json, search_page, site_counts
from search_ui.site import current_site, page, wants_json
from search_ui.texts import searchable, shown

pages = Blueprint("public", __name__)

PAGES_AROUND = 3  # page numbers on each side of the present one


@pages.get("/")
def home() -> Response:
    """The search box, and what there is to search. Without Solr the counts are left out."""
    site = current_site()
    return page("home.html", counts=_counts(), lexicon=site.actions.lexicon())


def _counts() -> SiteCounts | None:
    try:
        return site_counts(current_site().search.select(site_params()))
    except SolrError:
        return None


@pages.get("/search")
def search() -> Response:
    """One result page, as HTML or JSON."""
    site = current_site()
    asked = parse_request(request.args, site.settings, PROFILES)
    words = _words(asked)
    params = search_params(asked, words, site.settings.page_size) if asked.text else []
    found = search_page(site.search.select(params), asked, site.settings) if params else NOTHING
    if wants_json():
        return jsonify(as_json(found, asked, site.settings))
    return page("search.html", **_search_values(asked, found, words))


def _words(asked: SearchRequest) -> Mapping[Form, tuple[str, ...]]:
    """The query cut as the documents were: by the indexed lexicon, and by the base dictionary where that ranks."""
    actions = current_site().actions
    words = {Form.DOMAIN: words_of(asked.text, actions.segmenter())}
    if any(clause.form is Form.BASE for clause in PROFILES[asked.profile].clauses):
        words[Form.BASE] = words_of(asked.text, actions.base_segmenter())
    return words


def _search_values(asked: SearchRequest, found: SearchPage, words: Mapping[Form, tuple[str, ...]]) -> dict[str, Any]:
    return {
        "asked": asked,
        "found": found,
        "query_box": asked.typed,
        "query_shown": shown(asked.typed[: current_site().settings.longest_query]),
        "is_shortened": len(asked.typed) > current_site().settings.longest_query,
        "is_quoted": bool(phrases(asked.text)),
        "words": list(dict.fromkeys(words[Form.DOMAIN])),
        "link": _link,
        "sorts": list(Sort),
        "profiles": list(PROFILES),
        "numbers": page_numbers(found.page, found.pages),
    }


def _link(asked: SearchRequest) -> str:
    return url_for("public.search") + "?" + urlencode(asked.arguments(current_site().settings))


def page_numbers(present: int, last: int) -> list[int]:
    """The page numbers to link to: the present one and its neighbours, always as many where there are as many."""
    wanted = 2 * PAGES_AROUND + 1
    first = max(1, min(present - PAGES_AROUND, last - wanted + 1))
    return list(range(first, min(last, first + wanted - 1) + 1))


@pages.get("/compare")
def comparison() -> Response:
    """One term against the base dictionary and the domain lexicon (Wang Du 2019, WD-S3)."""
    site = current_site()
    typed = request.args.get("q", "")
    term = searchable(typed, site.settings.longest_query)
    segmenters = {"base": site.actions.base_segmenter(), "domain": site.actions.segmenter()}
    sides = compare(site.search, segmenters, term) if term else ()
    if wants_json():
        return jsonify(query=typed, sides=[_side_json(side) for side in sides])
    return page("compare.html", query_box=typed, term=term, typed=bool(typed), sides=sides)


def _side_json(side: Side) -> Mapping[str, object]:
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


@pages.get("/healthz")
def health() -> Response:
    """200 if a search would be answered now, else 503; for load balancers and supervisors."""
    site = current_site()
    try:
        counts = site_counts(site.search.select(site_params()))
        return jsonify(status="ok", documents=counts.documents, index_lag=site.actions.index_lag())
    except PlumblineError as error:
        response = jsonify(status="unavailable", reason=type(error).__name__)
        response.status_code = 503
        return response


_ROBOTS = "User-agent: *\nDisallow: /search\nDisallow: /compare\nDisallow: /admin\n"


@pages.get("/robots.txt")
def robots() -> Response:
    """The home page may be listed elsewhere; results and review may not."""
    return Response(_ROBOTS, mimetype="text/plain")


@pages.get("/favicon.ico")
def favicon() -> Response:
    """The sign of the site, for browsers that ask without being told where it is."""
    return current_app.send_static_file("favicon.svg")
