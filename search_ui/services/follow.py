"""Followed searches: their requests, their names, and their results among articles seen for the first time."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from werkzeug.datastructures import MultiDict

from domain.errors import SolrUnavailableError
from search_ui.query.display_text import clean_text, site_display_name
from search_ui.query.ranking import PROFILES
from search_ui.query.results import Hit
from search_ui.query.search import SearchService, SolrRequest
from search_ui.query.search_request import FILTER_NAMES, SearchRequest, SortOrder, parse_search_request
from search_ui.query.solr_query import SolrQuery
from search_ui.query.solr_requests import hits_params
from search_ui.settings import SearchSettings
from solr_client import solr_fields

MAX_ARTICLES = 100  # in one message; further ones are counted


def followed_query(request: SearchRequest, settings: SearchSettings) -> str:
    """Return the query string that identifies a search, whatever its page and order."""
    request = request.with_changes(sort=SortOrder.RELEVANCE, profile=settings.profile, cluster="")
    return urlencode(request.to_url_params(settings))


def parse_followed_query(query: str, settings: SearchSettings) -> SearchRequest:
    """Return the search of a query string. Raises BadSearchRequestError."""
    return parse_search_request(MultiDict(parse_qsl(query)), settings, PROFILES)


def follow_label(request: SearchRequest, settings: SearchSettings) -> str:
    """Return the name of a search in one line: its query and the values of its filters, `-` before excluded ones."""
    values = [
        sign + (site_display_name(value, settings) if name == "sites" else value)
        for sign, filters in (("", request), ("-", request.exclusions))
        for name in FILTER_NAMES
        for value in getattr(filters, name)
    ]
    return " · ".join(filter(None, map(clean_text, [request.raw_query, *values, request.date_label])))


@dataclass(frozen=True)
class NewArticles:
    """The new articles of a search, newest first, and the number of those behind the first MAX_ARTICLES."""

    hits: Sequence[Hit] = ()
    more: int = 0


def find_new_articles(search: SearchService, request: SearchRequest, doc_ids: Sequence[str]) -> NewArticles:
    """Return the full matches of a search among some articles, near-duplicates and stories once.

    Args:
        search: The search.
        request: What is followed.
        doc_ids: The ids of the articles.

    Raises what `SolrBackend.select` raises.
    """
    plan = search.plan(request.with_changes(sort=SortOrder.DATE))
    among_ids = SolrQuery.terms(solr_fields.ID, "among_ids", doc_ids, separator="-")  # URLs need no escape for it
    params = [*hits_params(plan, MAX_ARTICLES), ("fq", among_ids.to_syntax()), *among_ids.to_params()]
    page = search.list_hits(plan, search.select(SolrRequest.HITS, params))
    if page.partial:
        raise SolrUnavailableError("Solr took too long to match a followed search")
    first_by_story: dict[str, Hit] = {}
    for hit in page.hits:
        first_by_story.setdefault(hit.story or hit.doc_id, hit)
    return NewArticles(tuple(first_by_story.values()), max(0, page.match_count - len(page.hits)))
