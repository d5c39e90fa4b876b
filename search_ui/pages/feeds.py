"""Any search as a feed (Atom, RSS 2.0), and the site as a browser's search engine (OpenSearch)."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from urllib.parse import urlencode

from flask import Blueprint, Response, render_template, request

from search_ui.pages.searcher import finder
from search_ui.query.ranking import PROFILES
from search_ui.query.request import SearchRequest, Sort, parse_request
from search_ui.query.results import Hit, plain
from search_ui.query.texts import shown
from search_ui.site import current_site, external_url

pages = Blueprint("feeds", __name__)

ENTRIES = 20
KINDS = {"atom": "application/atom+xml", "rss": "application/rss+xml"}
_FEED_SECONDS = 300  # programs that ask more often get what they had


@dataclass(frozen=True)
class Entry:
    """One article in a feed. `moment` is the day of publication, else the time of the fetch, or None."""

    doc_id: str
    title: str
    link: str
    summary: str
    site: str
    moment: datetime | None

    @property
    def iso(self) -> str:
        """The moment as Atom wants it."""
        return self.moment.isoformat() if self.moment else "1970-01-01T00:00:00+00:00"

    @property
    def mail(self) -> str:
        """The moment as RSS wants it."""
        return format_datetime(self.moment) if self.moment else ""


@pages.get("/feed.<any(atom, rss):kind>")
def feed(kind: str) -> Response:
    """The newest articles of a search. Filters are those of the result page; its order and pages are not."""
    site = current_site()
    asked = parse_request(request.args, site.settings, PROFILES).changed(sort=Sort.DATE)
    finding = replace(finder(), settings=replace(site.settings, page_size=ENTRIES))
    found = finding.page_of(asked, finding.words(asked))
    entries = [_entry(hit) for hit in found.hits]
    updated = max((entry.iso for entry in entries), default="1970-01-01T00:00:00+00:00")
    body = render_template(
        f"feed.{kind}.xml",
        entries=entries,
        updated=updated,
        query=shown(asked.typed),
        page=_address("public.search", asked),
        itself=_address("feeds.feed", asked.changed(sort=Sort.RELEVANCE), kind=kind),
    )
    return _kept(Response(body, content_type=f"{KINDS[kind]}; charset=utf-8"))


def _entry(hit: Hit) -> Entry:
    link = hit.link or external_url("public.article", doc_id=hit.doc_id)
    title, summary = hit.plain_title or hit.url, plain(hit.snippet)
    return Entry(hit.doc_id, title, link, summary, hit.site_name, moment_of(hit.published) or moment_of(hit.fetched))


def moment_of(text: str) -> datetime | None:
    """`2016-05`, `2016-05-09` or `2016-05-09T10:20:00Z` as a moment, None for anything else."""
    try:
        moment = datetime.fromisoformat(text if len(text) != 7 else f"{text}-01")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _address(endpoint: str, asked: SearchRequest, **values: str) -> str:
    pairs = asked.arguments(current_site().settings)
    return external_url(endpoint, **values) + "?" + urlencode(pairs)


def _kept(response: Response) -> Response:
    """Let a program ask again with what it knows, and be told that nothing is new."""
    response.cache_control.public = True
    response.cache_control.max_age = _FEED_SECONDS
    response.vary.update(["Accept-Language", "Cookie"])
    response.add_etag()
    response.make_conditional(request)
    return response


@pages.get("/opensearch.xml")
def opensearch() -> Response:
    """What a browser needs to search here from its own search box."""
    body = render_template("opensearch.xml", external_url=external_url)
    return Response(body, content_type="application/opensearchdescription+xml; charset=utf-8")
