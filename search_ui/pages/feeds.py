"""Serves searches as feeds (Atom, RSS 2.0) and the OpenSearch description of the site."""

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from urllib.parse import urlencode

from flask import Blueprint, Response, render_template, request

from search_ui.context import current_services, current_site, external_url
from search_ui.query.display_text import clean_text
from search_ui.query.ranking import PROFILES
from search_ui.query.results import Hit, plain_text
from search_ui.query.search_request import SearchRequest, SortOrder, parse_search_request

blueprint = Blueprint("feeds", __name__)

MAX_ENTRIES = 20
FEED_MIMETYPES = {"atom": "application/atom+xml", "rss": "application/rss+xml"}
_CACHE_SECONDS = 300  # programs that poll more often use their cache


@dataclass(frozen=True)
class FeedEntry:
    """One article in a feed. `updated_at` is the date of publication, else the time of the fetch, or None."""

    doc_id: str
    title: str
    link: str
    summary: str
    site: str
    updated_at: datetime | None

    @property
    def atom_date(self) -> str:
        """The time in the format of Atom."""
        return self.updated_at.isoformat() if self.updated_at else "1970-01-01T00:00:00+00:00"

    @property
    def rss_date(self) -> str:
        """The time in the format of RSS."""
        return format_datetime(self.updated_at) if self.updated_at else ""


@blueprint.get("/feed.<any(atom, rss):kind>")
def feed(kind: str) -> Response:
    """Return the newest articles of a search. Filters are those of the results page; sorting and pages are ignored."""
    search_service = current_services().with_page_size(MAX_ENTRIES).search
    search_request = parse_search_request(request.args, current_site().settings, PROFILES)
    search_request = search_request.with_changes(sort=SortOrder.DATE)
    search_page = search_service.execute(search_service.plan(search_request))
    entries = [_to_entry(hit) for hit in search_page.hits]
    updated = max((entry.atom_date for entry in entries), default="1970-01-01T00:00:00+00:00")
    body = render_template(
        f"feed.{kind}.xml",
        entries=entries,
        updated=updated,
        query=clean_text(search_request.raw_query),
        page=_feed_url("public.search", search_request),
        itself=_feed_url("feeds.feed", search_request.with_changes(sort=SortOrder.RELEVANCE), kind=kind),
    )
    return feed_response(body, kind)


def feed_response(body: str, kind: str) -> Response:
    """Return a feed of a kind (a key of FEED_MIMETYPES) as a response that clients can cache."""
    response = Response(body, content_type=f"{FEED_MIMETYPES[kind]}; charset=utf-8")
    response.cache_control.public = True
    response.cache_control.max_age = _CACHE_SECONDS
    response.vary.update(["Accept-Language", "Cookie"])
    response.add_etag()
    response.make_conditional(request)
    return response


def _to_entry(hit: Hit) -> FeedEntry:
    link = hit.safe_url or external_url("public.article", doc_id=hit.doc_id)
    title, summary = hit.plain_title or hit.url, plain_text(hit.snippet)
    return FeedEntry(
        hit.doc_id, title, link, summary, hit.site_name, parse_timestamp(hit.published) or parse_timestamp(hit.fetched)
    )


def parse_timestamp(text: str) -> datetime | None:
    """Parse `2016-05`, `2016-05-09` or `2016-05-09T10:20:00Z`; None for anything else."""
    try:
        moment = datetime.fromisoformat(text if len(text) != 7 else f"{text}-01")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _feed_url(endpoint: str, request: SearchRequest, **values: str) -> str:
    pairs = request.to_url_params(current_site().settings)
    return external_url(endpoint, **values) + "?" + urlencode(pairs)


@blueprint.get("/opensearch.xml")
def opensearch() -> Response:
    """Return the OpenSearch description of the site."""
    body = render_template("opensearch.xml", external_url=external_url)
    return Response(body, content_type="application/opensearchdescription+xml; charset=utf-8")
