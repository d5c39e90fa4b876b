"""The public pages: home, results, article, comparison, help, and the endpoints for programs."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, abort, current_app, g, jsonify, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.curation import CurationAction
from domain.errors import PlumblineError, SolrError, SolrStartingError
from search_ui import api
from search_ui.accounts import allow_developer_tools
from search_ui.citations.embedded import to_coins, to_meta_tags
from search_ui.citations.formats import CITATION_FORMATS, format_gb7714
from search_ui.context import (
    abort_missing,
    cluster_parameter,
    current_services,
    current_site,
    external_url,
    remember_choice,
    render_page,
    search_url,
    wants_json,
)
from search_ui.glossary import GlossaryTerm
from search_ui.local_dates import last_day, local_day
from search_ui.pages.active_filters import active_filters, facet_label, language_name
from search_ui.pages.click_tracking import log_search
from search_ui.pages.story import is_story_id, parse_story, story_params
from search_ui.query.display_text import clean_text, normalize_query
from search_ui.query.query_plan import QueryPlan
from search_ui.query.ranking import PROFILES
from search_ui.query.results import MIN_STORY_SITES, SearchPage, SiteCounts, parse_site_counts
from search_ui.query.search_request import (
    DISPLAY_ORDER,
    BadSearchRequestError,
    SearchRequest,
    SortOrder,
    parse_search_request,
    parse_valid_parameters,
)
from search_ui.query.semantic.answer_types import expected_answer
from search_ui.query.solr_client import documents
from search_ui.query.solr_requests import document_params, site_counts_params
from search_ui.services.articles import is_doc_id, load_article
from search_ui.services.citations import MAX_EXPORTED_RESULTS
from search_ui.services.compare import compare_lexicons
from search_ui.services.definitions import InlineDefinitions, explain_terms
from search_ui.services.home import load_home_content
from search_ui.services.terms import find_related_searches, find_rising_terms, find_similar_terms
from text.segment import base_segmenter

blueprint = Blueprint("public", __name__)

DEFINITIONS = "definitions"  # cookie and URL parameter: "off" or "on"
PAGE_LINKS_EACH_SIDE = 3  # page numbers on each side of the current one


@blueprint.get("/")
def home() -> Response:
    """Show the search box and the content of the index. If Solr fails, only the box."""
    return render_page(
        "home.html",
        counts=_fetch_site_counts(),
        glossary=current_services().glossary,
        rising_terms=find_rising_terms(current_services()),
        value_label=facet_label,
        content=load_home_content(current_services()),
    )


def _fetch_site_counts() -> SiteCounts | None:
    try:
        return parse_site_counts(current_services().solr.select(site_counts_params()))
    except SolrError:
        return None


@blueprint.get("/search")
def search() -> Response:
    """Return one results page, as HTML or JSON.

    HTML shows the results of a spelling correction if the query itself has no full match. JSON
    always contains the results of the query itself, and offers corrections as suggestions.
    """
    search_service = current_services().search
    search_request, errors = parse_valid_parameters(request.args, current_site().settings, PROFILES)
    if errors and wants_json():
        raise BadSearchRequestError(next(iter(errors.values())))
    if wants_json():
        plan, search_page = search_service.search(search_request)
        _log_search(plan.request, search_page)
        return jsonify(api.search_page_to_json(search_page, search_page.suggestions, plan.request))
    plan, search_page = search_service.search_with_correction(search_request)
    if not errors:
        _log_search(search_request, search_page)
    return render_page("search.html", **_search_context(search_request, plan, search_page), errors=errors)


def _log_search(request: SearchRequest, page: SearchPage) -> None:
    if request.text:
        g.hits = page.match_count
        log_search(request, page)


@dataclass(frozen=True)
class PageLookup:
    """A query that is the URL of a page. `doc_id` is the ID of its article, "" if the index does not have it."""

    url: str
    doc_id: str


_URL_RE = re.compile(r"https?://[^\s/]+/\S*|https?://[^\s/]+", re.IGNORECASE)


def _look_up_page(request: SearchRequest) -> PageLookup | None:
    """Return the page whose URL is the query; None for other queries."""
    url = request.raw_query.strip()
    if not _URL_RE.fullmatch(url):
        return None
    site = current_services()
    doc_id = site.backend.document_id(url)
    is_indexed = bool(doc_id) and bool(documents(site.solr.select(document_params(doc_id))))
    return PageLookup(url, doc_id if is_indexed else "")


def _search_context(original_request: SearchRequest, plan: QueryPlan, search_page: SearchPage) -> dict[str, Any]:
    search_request, settings = plan.request, current_site().settings
    term = _find_searched_term(search_request)
    words = search_request.parsed_query.ranking_text
    is_first_page = search_request.page == 1 and not search_request.cursor
    feed_query = urlencode(search_request.with_changes(sort=SortOrder.RELEVANCE).to_url_params(settings))
    return {
        "asked": search_request,
        "found": search_page,
        "is_keyword_only": current_site().query_vectors.is_preparing(),
        "replaced": search_page.is_corrected,
        "query_box": request.args.get("q", ""),
        "query_shown": clean_text(original_request.raw_query),
        "is_shortened": original_request.raw_query != request.args.get("q", ""),
        "offers": search_page.suggestions,
        "also": plan.words.synonyms,
        "exactly": search_request.with_changes(raw_query=str(search_request.parsed_query.with_words_quoted())),
        "page_lookup": _look_up_page(original_request),
        "term_card": term,
        "related_searches": find_related_searches(current_services(), words) if words and is_first_page else (),
        "similar_terms": () if search_page.hits or not words else find_similar_terms(current_services(), words),
        "term_definitions": current_services().backend.public_definitions([term.text])[term.text] if term else (),
        "link": partial(search_url, "public.search"),
        "values_link": _filter_values_url,
        "citation_formats": CITATION_FORMATS,
        "max_exported": MAX_EXPORTED_RESULTS,
        "export_link": _export_url,
        "cluster_parameter": cluster_parameter,
        "coins": lambda hit: to_coins(api.build_current_reference(hit)),
        "diagnosis_link": lambda asked: search_url("admin.page_diagnosis", asked.with_changes()),
        "curation": plan.curation,
        "curation_actions": list(CurationAction),
        "last_day": last_day,
        "chips": active_filters(search_request),
        "value_label": facet_label,
        "filter_names": DISPLAY_ORDER,
        "sorts": list(SortOrder),
        "presets": _date_presets(search_request),
        "profiles": list(PROFILES),
        "numbers": page_number_window(search_page.page, search_page.numbered_pages),
        "follow_link": f"{url_for('follow.show_form')}?{feed_query}",
        "feeds": {kind: f"{url_for('feeds.feed', kind=kind)}?{feed_query}" for kind in FEED_KINDS},
    }


def _find_searched_term(request: SearchRequest) -> GlossaryTerm | None:
    """Return the published term that is the whole query, or whose definition it asks for (`LNG是什么`).

    Returns None on later pages and with operators.
    """
    if not request.text or request.page > 1 or request.cursor or request.parsed_query.conditions:
        return None
    glossary = current_services().glossary
    return glossary.find(request.text) or glossary.find(expected_answer(request.text).term)


def _filter_values_url(request: SearchRequest, name: str) -> str:
    """Return the URL of the page with all values of a filter."""
    params = urlencode(request.to_url_params(current_site().settings))
    return f"{url_for('filter_values.show_values', name=name)}?{params}"


FEED_KINDS = ("atom", "rss")
_PRESET_DAYS = {"week": 7, "month": 30, "year": 365}


def _date_presets(request: SearchRequest) -> dict[str, SearchRequest]:
    """Return the searches for the last week, month and year, today included, by the end of their message key."""
    today = local_day(current_site().clock())
    return {
        name: request.with_changes(since=(today - timedelta(days=days - 1)).isoformat(), until="")
        for name, days in _PRESET_DAYS.items()
    }


def _export_url(request: SearchRequest, citation_format: str, is_related: bool = False) -> str:
    """Return the URL of the references to the full matches of a search, or to its related results.

    `citation_format` is a key of CITATION_FORMATS.
    """
    related = {"related": "1"} if is_related else {}
    return search_url("api.search", request.with_changes(), **related, format=citation_format)


def page_number_window(current: int, last: int) -> list[int]:
    """Return the page numbers to link to: a window of constant width around the current page."""
    window = 2 * PAGE_LINKS_EACH_SIDE + 1
    first = max(1, min(current - PAGE_LINKS_EACH_SIDE, last - window + 1))
    return list(range(first, min(last, first + window - 1) + 1))


@blueprint.get("/article/<doc_id>")
def article(doc_id: str) -> Response:
    """Show the details and the saved text of an article; with `q`, why the query matches it."""
    site = current_services()
    search_request = parse_search_request(request.args, site.settings, PROFILES)
    article_page = load_article(current_services().search, doc_id, search_request) if is_doc_id(doc_id) else None
    if article_page is None:
        abort_missing(doc_id)
    reference = api.build_current_reference(article_page.article)
    is_off = request.args.get(DEFINITIONS, request.cookies.get(DEFINITIONS)) == "off"
    response = render_page(
        "article.html",
        found=article_page,
        inline=InlineDefinitions() if is_off else explain_terms(current_services(), article_page.article.paragraphs),
        definitions_off=is_off,
        one=article_page.article,
        has_copy=site.settings.originals and doc_id in site.backend.originals.find_ids([doc_id]),
        language=language_name(article_page.article.language),
        citation=format_gb7714(reference),
        citation_tags=to_meta_tags(reference),
        coins=to_coins(reference),
        citation_formats=CITATION_FORMATS,
        value_label=facet_label,
        asked=search_request,
        query_box=search_request.raw_query,
        query_shown=clean_text(search_request.raw_query),
        link=partial(search_url, "public.search"),
    )
    return remember_choice(response, DEFINITIONS, ("off", "on"))


@blueprint.get("/story/<story_id>")
def story(story_id: str) -> Response:
    """Show the news of one event on several sites; with `q`, a link back to the results."""
    site = current_services()
    search_request = parse_search_request(request.args, site.settings, PROFILES)
    if not is_story_id(story_id):
        abort(404)
    story_view = parse_story(story_id, site.solr.select(story_params(story_id)), site.settings)
    if story_view is None or (site.is_limited and story_view.site_count < MIN_STORY_SITES):
        abort(404)
    return render_page(
        "story.html",
        story=story_view,
        asked=search_request,
        query_box=search_request.raw_query,
        query_shown=clean_text(search_request.raw_query),
        link=partial(search_url, "public.search"),
    )


@blueprint.get("/help")
def help_page() -> Response:
    """Show the search help."""
    return render_page("help.html", query_box="", last=current_site().settings.deepest_result)


@blueprint.get("/compare")
@allow_developer_tools
def compare_page() -> BaseResponse:
    """Compare base dictionary and domain lexicon for one term (Wang Du 2019, WD-S3)."""
    if wants_json():
        return api.compare_api()
    site, raw_query = current_services(), request.args.get("q", "")
    term = normalize_query(raw_query, site.settings.longest_query)
    segmenters = {"base": base_segmenter(), "domain": site.segmenter}
    sides = compare_lexicons(site.solr, segmenters, term) if term else ()  # an empty page, not a table of nothing
    return render_page("compare.html", query_box=raw_query, term=term, typed=bool(raw_query), sides=sides)


@blueprint.get("/healthz")
def healthz() -> Response:
    """Return status 200 if a search would succeed now, else 503; for load balancers and supervisors.

    Failed runs do not change the status, because a restart of the site would not repair them. They are reported in
    `runs`.
    """
    site = current_services()
    try:
        counts = parse_site_counts(site.solr.select(site_counts_params()))
        # Among the waiting documents are those that only signed-in readers find.
        index_lag = None if site.is_limited else site.backend.count_pending_documents()
        state = {"status": "ok", "documents": counts.documents, "index_lag": index_lag}
    except SolrStartingError:
        state = {"status": "starting", "reason": "Solr is starting"}
    except PlumblineError as error:
        state = {"status": "unavailable", "reason": type(error).__name__}
    response = jsonify(title=site.settings.title, runs=_run_status(), **state)
    response.status_code = 200 if state["status"] == "ok" else 503
    return response


def _run_status() -> dict[str, str | None] | None:
    """Return the state of the runs with times in UTC; None if the store fails."""
    try:
        run_history = current_services().backend.run_history()
    except PlumblineError:
        return None
    times = {
        "last_good": run_history.last_success_at,
        "failed_since": run_history.failing_since,
        "next": run_history.next_run_at,
    }
    formatted_times: dict[str, str | None] = {
        name: None if timestamp is None else datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="seconds")
        for name, timestamp in times.items()
    }
    return formatted_times | {"last": run_history.runs[0].state.value if run_history.runs else None}


_DISALLOWED_PATHS = (
    "search", "filter", "article", "bookmarks", "follow", "story", "compare", "feed", "picture", "suggest", "api",
    "admin", "metrics",
)  # fmt: skip
_ROBOTS_TXT = "User-agent: *\n" + "".join(f"Disallow: /{path}\n" for path in _DISALLOWED_PATHS)


@blueprint.get("/robots.txt")
def robots() -> Response:
    """Allow search engines the home page and the terms, but not results and review."""
    return Response(f"{_ROBOTS_TXT}Sitemap: {external_url('glossary.sitemap')}\n", mimetype="text/plain")


@blueprint.get("/favicon.ico")
def favicon() -> Response:
    """Return the icon, for browsers that request the default path."""
    return current_app.send_static_file("favicon.svg")
