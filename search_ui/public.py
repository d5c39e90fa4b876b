"""The pages anyone may see: home, results, an article, comparison, help, and what programs ask for."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from babel import Locale, UnknownLocaleError
from flask import Blueprint, Response, abort, current_app, g, jsonify, request, url_for

from docstore.errors import PlumblineError, SolrError, SolrStartingError
from search_ui import api
from search_ui.article import is_id
from search_ui.clicks import log_search
from search_ui.compare import compare
from search_ui.corrections import Offer
from search_ui.finding import Words, finder
from search_ui.query import site_params
from search_ui.ranking import PROFILES, Form
from search_ui.request import SearchRequest, Sort, parse_request
from search_ui.results import SearchPage, SiteCounts, site_counts, site_name
from search_ui.site import current_site, page, wants_json
from search_ui.texts import first_signs, searchable, shown
from search_ui.thesaurus import synonyms_in

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
    asked = parse_request(request.args, current_site().settings, PROFILES)
    finding = finder()
    words = finding.words(asked)
    found = finding.page_of(asked, words)
    if asked.text:
        log_search(asked.typed, found.total, found.page, asked.filters())
    if wants_json():
        return jsonify(api.search_json(found, asked))
    return page("search.html", **_search_values(asked, found, words, finding.offers(asked, found)))


def _search_values(asked: SearchRequest, found: SearchPage, words: Words, offers: list[Offer]) -> dict[str, Any]:
    settings = current_site().settings
    return {
        "asked": asked,
        "found": found,
        "query_box": asked.typed,
        "query_shown": shown(first_signs(asked.typed, settings.longest_query)),
        "is_shortened": first_signs(asked.typed, settings.longest_query) != asked.typed,
        "offers": offers,
        "also": synonyms_in(words.get(Form.SYNONYMS, ())),
        "exactly": asked.changed(typed=str(asked.query.quoted())),
        "link": _link,
        "chips": _chips(asked),
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
    query, settings = asked.query, current_site().settings
    chips = [Chip("typed", str(part), asked.changed(typed=str(query.without(part)))) for part in query.conditions]
    chips += [Chip("site", site_name(site, settings), asked.toggled("sites", site)) for site in asked.sites]
    chips += [Chip("section", shown(name), asked.toggled("sections", name)) for name in asked.sections]
    chips += [Chip("term", shown(term), asked.toggled("terms", term)) for term in asked.terms]
    if asked.since or asked.until:
        span = asked.since if asked.since == asked.until else f"{asked.since} – {asked.until}"
        chips.append(Chip("date", span.strip(), asked.changed(since="", until="")))
    return chips + ([Chip("cluster", "", asked.changed(cluster=""))] if asked.cluster else [])


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
def comparison() -> Response:
    """One term against the base dictionary and the domain lexicon (Wang Du 2019, WD-S3)."""
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


_CLOSED = ("search", "article", "compare", "feed", "suggest", "api", "admin")
_ROBOTS = "User-agent: *\n" + "".join(f"Disallow: /{path}\n" for path in _CLOSED)


@pages.get("/robots.txt")
def robots() -> Response:
    """The home page may be listed elsewhere; results and review may not."""
    return Response(_ROBOTS, mimetype="text/plain")


@pages.get("/favicon.ico")
def favicon() -> Response:
    """The sign of the site, for browsers that ask without being told where it is."""
    return current_app.send_static_file("favicon.svg")
