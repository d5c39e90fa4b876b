"""Followed searches: their requests, their names, and their results among articles seen for the first time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from werkzeug.datastructures import MultiDict

from domain.errors import SolrUnavailableError
from search_ui.query.display_text import clean_text, site_display_name
from search_ui.query.ranking import PROFILES
from search_ui.query.results import Hit
from search_ui.query.search import SearchService, SolrRequest
from search_ui.query.search_request import PARAM_BY_FILTER, SearchRequest, SortOrder, parse_search_request
from search_ui.query.solr_client import SolrBackend, SolrResponse, is_partial, match_count
from search_ui.query.solr_query import Params, SolrQuery
from search_ui.query.solr_requests import hits_params
from search_ui.services.site import SiteServices
from search_ui.settings import SearchSettings
from solr_client import solr_fields

MAX_ARTICLES = 100  # in one message; further ones are counted


@dataclass(frozen=True)
class AmongArticles:
    """A search server that only knows some documents."""

    solr: SolrBackend
    doc_ids: Sequence[str]

    def select(self, params: Params) -> SolrResponse:
        """Send a select request. See `SolrBackend.select`."""
        query = SolrQuery.terms(solr_fields.ID, "among_ids", self.doc_ids, separator=",")
        return self.solr.select([*params, ("fq", query.to_syntax()), *query.to_params()])


def followed_query(request: SearchRequest, settings: SearchSettings) -> str:
    """Return the query string that identifies a search, whatever its page and order."""
    request = request.with_changes(sort=SortOrder.RELEVANCE, profile=settings.profile, cluster="")
    return urlencode(request.to_url_params(settings))


def parse_followed_query(query: str, settings: SearchSettings) -> SearchRequest:
    """Return the search of a query string. Raises BadSearchRequestError."""
    return parse_search_request(MultiDict(parse_qsl(query)), settings, PROFILES)


def follow_label(request: SearchRequest, settings: SearchSettings) -> str:
    """Return the name of a search in one line: its query and the values of its filters."""
    values = [value for name in PARAM_BY_FILTER if name != "sites" for value in getattr(request, name)]
    values += [site_display_name(site, settings) for site in request.sites]
    values += [f"{request.since} – {request.until}".strip()] if request.since or request.until else []
    return " · ".join(filter(None, map(clean_text, [request.raw_query, *values])))


@dataclass(frozen=True)
class NewArticles:
    """The new articles of a search, newest first, and the number of those behind the first MAX_ARTICLES."""

    hits: Sequence[Hit] = ()
    more: int = 0


def find_new_articles(services: SiteServices, request: SearchRequest, doc_ids: Sequence[str]) -> NewArticles:
    """Return the full matches of a search among some documents, near-duplicates and stories once.

    Most searches match none: they cost one small request. Raises what `SolrBackend.select` raises.
    """
    services = replace(services.with_page_size(MAX_ARTICLES), solr=AmongArticles(services.solr, doc_ids))
    search: SearchService = services.search
    plan = search.plan(request.with_changes(sort=SortOrder.DATE))
    probe = search.select(SolrRequest.HITS, hits_params(plan, 0))
    if not match_count(probe) and not is_partial(probe):
        return NewArticles()
    page = search.execute(plan)
    if page.partial:
        raise SolrUnavailableError("Solr took too long to match a followed search")
    by_story = {hit.story or hit.cluster or hit.doc_id: hit for hit in reversed(page.hits)}
    hits = [hit for hit in page.hits if by_story[hit.story or hit.cluster or hit.doc_id] is hit]
    return NewArticles(hits, max(0, page.match_count - len(page.hits)))
