"""The pages anyone may see: home, results, an article, comparison, help, and what programs ask for."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from babel import Locale, UnknownLocaleError
from flask import Blueprint, Response, abort, current_app, g, jsonify, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from docstore.errors import PlumblineError, SolrError, SolrStartingError
from docstore.formats import FORMATS, HTML
from docstore.model import PageType
from search_ui import api
from search_ui.accounts import requires
from search_ui.messages import say
from search_ui.pages.article import is_id
from search_ui.pages.clicks import log_search
from search_ui.pages.compare import compare
from search_ui.pages.first_screen import (
    front_params,
    front_terms,
    newest_of,
    newest_params,
    sections_of,
    without_rubrics,
)
from search_ui.pages.searcher import Answered, finder
from search_ui.pages.story import is_story_id, story_of, story_params
from search_ui.query.clauses import QueryVariant
from search_ui.query.ranking import PROFILES
from search_ui.query.request import CHOSEN, SearchRequest, Sort, parse_request
from search_ui.query.results import SiteCounts, site_counts, site_name
from search_ui.query.solr_params import site_params
from search_ui.query.texts import first_signs, searchable, shown
from search_ui.query.thesaurus import synonyms_in
from search_ui.site import current_site, has_tools, page, wants_json

pages = Blueprint("public", __name__)

PAGES_AROUND = 3  # page numbers on each side of the present one


@pages.get("/")
def home() -> Response:
    """The search box, and what there is to search. Without Solr only the box."""
    return page("home.html", counts=_counts(), lexicon=current_site().actions.lexicon(), **_front())


def _counts() -> SiteCounts | None:
    try:
        return site_counts(current_site().search.select(site_params()))
    except SolrError:
        return None


def _front() -> dict[str, Any]:
    """Terms, sections and newest articles of the vertical."""
    site = current_site()
    names = (site.settings.title, *site.settings.site_names.values())
    try:
        front = site.search.select(front_params())
        terms = front_terms(front, names, site.actions.base_segmenter())
        newest = site.search.select(newest_params(list(terms)))
    except SolrError:
        return {}
    return {
        "terms": without_rubrics(terms, newest),
        "sections": sections_of(front),
        "newest": newest_of(newest, site.settings),
    }


@pages.get("/search")
def search() -> Response:
    """One result page, as HTML or JSON."""
    finding = finder()
    asked = finding.as_meant(parse_request(request.args, current_site().settings, PROFILES))
    if wants_json():
        found = finding.page_of(asked, finding.words(asked))
        _log(asked, found.total, found.page)
        return jsonify(api.search_json(found, finding.offers(asked, found), asked))
    answer = finding.answered(asked)
    _log(asked, 0 if answer.replaced else answer.found.total, answer.found.page)
    return page("search.html", **_search_values(asked, answer))


def _log(asked: SearchRequest, total: int, number: int) -> None:
    if asked.text:
        g.hits = total
        log_search(asked.typed, total, number, asked.filters())


def _search_values(typed: SearchRequest, answer: Answered) -> dict[str, Any]:
    asked, found, settings = answer.asked, answer.found, current_site().settings
    return {
        "asked": asked,
        "found": found,
        "replaced": answer.replaced,
        "query_box": typed.typed,
        "query_shown": shown(first_signs(typed.typed, settings.longest_query)),
        "is_shortened": first_signs(typed.typed, settings.longest_query) != typed.typed,
        "offers": answer.offers,
        "also": synonyms_in(answer.words.get(QueryVariant.SYNONYMS, ())),
        "exactly": asked.changed(typed=str(asked.query.quoted())),
        "link": _link,
        "chips": _chips(asked),
        "value_label": _label,
        "sorts": list(Sort),
        "profiles": list(PROFILES),
        "numbers": page_numbers(found.page, found.pages),
        "feeds": {kind: _address("feeds.feed", asked.changed(sort=Sort.RELEVANCE), kind=kind) for kind in FEEDS},
    }


FEEDS = ("atom", "rss")


def _link(asked: SearchRequest) -> str:
    return _address("public.search", asked)


def _address(endpoint: str, asked: SearchRequest, **values: Any) -> str:
    return url_for(endpoint, **values) + "?" + urlencode(asked.arguments(current_site().settings))


@dataclass(frozen=True)
class Chip:
    """Something that narrows the results: a `kind` (key of the translations), what of it, the search without it."""

    kind: str
    label: str
    without: SearchRequest


def _chips(asked: SearchRequest) -> list[Chip]:
    """What is typed as a condition, then what was chosen beside the results."""
    query = asked.query
    chips = [Chip("typed", str(part), asked.changed(typed=str(query.without(part)))) for part in query.conditions]
    for name, parameter in CHOSEN.items():
        chips += [Chip(parameter, _label(name, value), asked.toggled(name, value)) for value in getattr(asked, name)]
    if asked.since or asked.until:
        span = asked.since if asked.since == asked.until else f"{asked.since} – {asked.until}"
        chips.append(Chip("date", span.strip(), asked.changed(since="", until="")))
    return chips + ([Chip("cluster", "", asked.changed(cluster=""))] if asked.cluster else [])


def _label(name: str, value: str) -> str:
    """A value of `CHOSEN` as a reader sees it."""
    if name == "sites":
        return site_name(value, current_site().settings)
    if name == "types" and value in _TYPES:
        return say(f"type.{value}")
    if name == "formats" and value in _FORMATS:
        return say(f"format.{value}")
    return _language_name(value) if name == "languages" else shown(value)


_TYPES = frozenset(PageType)
_FORMATS = frozenset((HTML, *FORMATS))


def page_numbers(present: int, last: int) -> list[int]:
    """The page numbers to link to: the present one and its neighbours, always as many where there are as many."""
    wanted = 2 * PAGES_AROUND + 1
    first = max(1, min(present - PAGES_AROUND, last - wanted + 1))
    return list(range(first, min(last, first + wanted - 1) + 1))


@pages.get("/article/<doc_id>")
def article(doc_id: str) -> Response:
    """What is known of one article, and the text that was kept of it; with `q`, why that finds it."""
    site = current_site()
    asked = parse_request(request.args, site.settings, PROFILES)
    found = finder().article(doc_id, asked) if is_id(doc_id) else None
    if found is None:
        abort(404)
    return page(
        "article.html",
        found=found,
        one=found.article,
        language=_language_name(found.article.language),
        asked=asked,
        query_box=asked.typed,
        query_shown=shown(first_signs(asked.typed, site.settings.longest_query)),
        link=_link,
    )


@pages.get("/story/<story_id>")
def story(story_id: str) -> Response:
    """The news of one event on several sites."""
    site = current_site()
    if not is_story_id(story_id):
        abort(404)
    found = story_of(story_id, site.search.select(story_params(story_id)), site.settings)
    if found is None:
        abort(404)
    return page("story.html", story=found)


def _language_name(code: str) -> str:
    """`en` -> 英语, in the reader's language; the code itself if it names none."""
    try:
        return Locale.parse(code, sep="-").get_display_name(g.language) or code
    except (UnknownLocaleError, ValueError):
        return code


@pages.get("/help")
def search_help() -> Response:
    """How to search."""
    return page("help.html", query_box="", last=current_site().settings.deepest_result)


@pages.get("/compare")
def comparison() -> BaseResponse:
    """One term against the base dictionary and the domain lexicon (Wang Du 2019, WD-S3), for those who may."""
    return _compared() if has_tools() else requires()(_compared)()


def _compared() -> Response:
    if wants_json():
        return api.comparison()
    site, typed = current_site(), request.args.get("q", "")
    term = searchable(typed, site.settings.longest_query)
    segmenters = {"base": site.actions.base_segmenter(), "domain": site.actions.segmenter()}
    sides = compare(site.search, segmenters, term) if term else ()  # an empty page, not a table of nothing
    return page("compare.html", query_box=typed, term=term, typed=bool(typed), sides=sides)


@pages.get("/healthz")
def health() -> Response:
    """200 if a search would be answered now, else 503; for load balancers and supervisors.

    Runs that fail do not change the status: the site serves what the index has, and to restart it mends no run. They
    are told in `runs`, for whoever watches the vertical.
    """
    site = current_site()
    try:
        counts = site_counts(site.search.select(site_params()))
        return jsonify(status="ok", documents=counts.documents, index_lag=site.actions.index_lag(), runs=_runs())
    except SolrStartingError:
        response = jsonify(status="starting", reason="Solr is starting", runs=_runs())
    except PlumblineError as error:
        response = jsonify(status="unavailable", reason=type(error).__name__, runs=_runs())
    response.status_code = 503
    return response


def _runs() -> dict[str, str | None] | None:
    """How the runs are, times in UTC; None where the store does not say."""
    try:
        found = current_site().actions.nights()
    except PlumblineError:
        return None
    times = {"last_good": found.last_good, "failed_since": found.failed_since, "next": found.next_run}
    told: dict[str, str | None] = {name: None if at is None else utc(at) for name, at in times.items()}
    return told | {"last": found.runs[0].state.value if found.runs else None}


def utc(seconds: float) -> str:
    """Epoch seconds as ISO 8601 writes them."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


_CLOSED = ("search", "article", "story", "compare", "feed", "picture", "suggest", "api", "admin", "metrics")
_ROBOTS = "User-agent: *\n" + "".join(f"Disallow: /{path}\n" for path in _CLOSED)


@pages.get("/robots.txt")
def robots() -> Response:
    """The home page may be listed elsewhere; results and review may not."""
    return Response(_ROBOTS, mimetype="text/plain")


@pages.get("/favicon.ico")
def favicon() -> Response:
    """The sign of the site, for browsers that ask without being told where it is."""
    return current_app.send_static_file("favicon.svg")
