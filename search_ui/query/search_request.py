"""Search requests: their filters, pages and cursors, parsed from URLs and formatted as URL parameters.

The first `RANKED_HITS` results are one ranked list, whatever the page length; its pages have numbers. Further pages
continue in the order of the words and are reached by cursor. The last page with a number ends where the ranked list
ends.

A cursor is a Solr cursor mark. Solr decodes a mark as its own binary data, so only marks that Solr created may be sent
to it, and a mark is valid for one search only. So cursors are signed, with the page and a fingerprint of the search.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, Generic, NamedTuple, Self, TypeVar

from itsdangerous import BadData, URLSafeSerializer
from werkzeug.datastructures import MultiDict

from domain.article import ARTICLE_FIELDS
from domain.errors import PlumblineError
from search_ui.query.display_text import normalize_query, truncate_query
from search_ui.query.query_parser import ParsedQuery, first_day, parse_query
from search_ui.settings import SearchSettings
from solr_client import solr_fields

MAX_FILTER_VALUES = 50  # values of one filter
MAX_VALUE_CHARS = 200  # no section or term of the index is longer

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class FilterFields(Generic[T]):
    """One tuple per filter: the selected values of a request, or the counted values of a results page.

    Except for `sites` and `terms`, `domain.article.Article` declares the filters (`ArticleField.facet`).
    """

    sites: tuple[T, ...] = ()
    sections: tuple[T, ...] = ()
    languages: tuple[T, ...] = ()
    authors: tuple[T, ...] = ()
    types: tuple[T, ...] = ()
    formats: tuple[T, ...] = ()
    terms: tuple[T, ...] = ()


_DECLARATIONS = {article_field.facet: article_field for article_field in ARTICLE_FIELDS.values() if article_field.facet}
FILTER_NAMES = tuple(each.name for each in fields(FilterFields))

PARAM_BY_FILTER: Mapping[str, str] = {
    name: {"sites": "site", "terms": "term"}.get(name) or _DECLARATIONS[name].parameter for name in FILTER_NAMES
}
"""URL parameter by filter."""

SOLR_FIELD_BY_FILTER: Mapping[str, str] = {
    name: {"sites": solr_fields.SITE, "terms": solr_fields.DOMAIN_TERMS}.get(name) or _DECLARATIONS[name].solr_name
    for name in FILTER_NAMES
}

FILTERS_WITH_SITE_VALUES = tuple(
    name for name in FILTER_NAMES if name in _DECLARATIONS and _DECLARATIONS[name].has_site_values
)
"""Filters whose values can belong to all documents of one site and to no other site."""

_FIRST_SHOWN = ("types", "formats", "sites", "terms")
DISPLAY_ORDER = (*_FIRST_SHOWN, *(name for name in FILTER_NAMES if name not in _FIRST_SHOWN))


class BadSearchRequestError(PlumblineError):
    """A URL parameter is invalid. The text is a message key."""


class SortOrder(StrEnum):
    """The sort orders of results."""

    RELEVANCE = "relevance"
    DATE = "date"
    OLDEST = "oldest"


@dataclass(frozen=True)
class SearchRequest(FilterFields[str]):
    """The request for one results page.

    Documents match that have any of the selected values of a filter (`FilterFields`), all selected terms, and no
    excluded value.

    Attributes:
        exclusions: The excluded values of each filter. Their URL parameters begin with `-`, as in `-site=a.example`.
        raw_query: The query as it was sent, without what exceeds `SearchSettings.longest_query`.
        text: The normalized query; "" if it contains nothing searchable.
        cursor: Signed start of a page behind the numbered ones (`CursorCodec`).
        cluster: Only the near-duplicates of this cluster match.
        since: First year, month or day (`2016`, `2016-05`, `2016-05-09`), or "".
        until: Last year, month or day, inclusive, or "".
    """

    exclusions: FilterFields[str] = FilterFields()
    raw_query: str = ""
    text: str = ""
    page: int = 1
    cursor: str = ""
    cluster: str = ""
    since: str = ""
    until: str = ""
    sort: SortOrder = SortOrder.RELEVANCE
    profile: str = "plumbline"

    @cached_property
    def parsed_query(self) -> ParsedQuery:
        """The parsed `text`."""
        return parse_query(self.text)

    @property
    def is_ranked(self) -> bool:
        """True if the request has words and is sorted by relevance."""
        return self.sort is SortOrder.RELEVANCE and bool(self.parsed_query.ranking_text)

    def date_range(self) -> tuple[date | None, date | None]:
        """Return the first day of the date range, and the first day after it; None: no limit."""
        return (
            first_day(self.since) if self.since else None,
            _first_day_after(self.until) if self.until else None,
        )

    @property
    def date_label(self) -> str:
        """The date range in words; "" if there is none."""
        date_range = self.since if self.since == self.until else f"{self.since} – {self.until}"
        return date_range.strip()

    def single_year(self) -> int | None:
        """Return the year if the date range lies within one year."""
        years = {self.since[:4], self.until[:4]}
        return int(years.pop()) if len(years) == 1 and self.since else None

    def is_filtered(self) -> bool:
        """Return True if the request has filters besides the query."""
        return self != self.without_filters()

    def has_criteria(self) -> bool:
        """Return True if the request has a query or a filter."""
        return bool(self.text) or self.is_filtered()

    def active_filter_params(self) -> tuple[str, ...]:
        """Return the URL parameters of the active filters."""
        further_filters = [("cluster", self.cluster), ("from", self.since), ("to", self.until)]
        return tuple(dict.fromkeys(name for name, value in [*self._filter_params(), *further_filters] if value))

    def _filter_params(self) -> list[tuple[str, str]]:
        selected = [(param, value) for name, param in PARAM_BY_FILTER.items() for value in getattr(self, name)]
        return selected + [
            (f"-{param}", value) for name, param in PARAM_BY_FILTER.items() for value in getattr(self.exclusions, name)
        ]

    def without_filters(self) -> Self:
        """Return the request without its filters."""
        empty_filters: dict[str, Any] = dict.fromkeys(PARAM_BY_FILTER, ())
        return replace(self, **empty_filters, exclusions=FilterFields(), cluster="", since="", until="")

    def with_changes(self, **changes: object) -> Self:
        """Return the request with changed fields. It starts at the first page unless a page is given."""
        return replace(self, **{"page": 1, "cursor": "", **changes})  # type: ignore[arg-type]

    def with_toggled(self, name: str, value: str, is_exclusion: bool = False) -> Self:
        """Return the request with `value` added to or removed from a filter, or from its excluded values.

        A value that is added to one of them is removed from the other. `name` is a key of `PARAM_BY_FILTER`.
        """
        selected_values, excluded_values = getattr(self, name), getattr(self.exclusions, name)
        if is_exclusion:
            excluded_values, selected_values = _toggle(value, excluded_values, selected_values)
        else:
            selected_values, excluded_values = _toggle(value, selected_values, excluded_values)
        exclusions = replace(self.exclusions, **{name: excluded_values})
        return self.with_changes(**{name: selected_values, "exclusions": exclusions})

    def to_url_params(self, settings: SearchSettings) -> list[tuple[str, str]]:
        """Return the request as URL parameters, without defaults."""
        pairs = [("q", self.raw_query), *self._filter_params()]
        pairs += [("cluster", self.cluster), ("from", self.since), ("to", self.until)]
        pairs += [("sort", self.sort)] if self.sort is not SortOrder.RELEVANCE else []
        pairs += [("profile", self.profile)] if self.profile != settings.profile else []
        pairs += [("page", str(self.page))] if self.page > 1 and not self.cursor else []
        pairs += [("cursor", self.cursor)]
        return [(name, value) for name, value in pairs if value or name == "q"]


def parse_search_request(
    arguments: MultiDict[str, str], settings: SearchSettings, profiles: Mapping[str, object]
) -> SearchRequest:
    """Parse the parameters of a URL.

    Raises:
        BadSearchRequestError: The page, date, sort order or profile is invalid.
    """
    request, errors = parse_valid_parameters(arguments, settings, profiles)
    if errors:
        raise BadSearchRequestError(next(iter(errors.values())))
    return request


def parse_valid_parameters(
    arguments: MultiDict[str, str], settings: SearchSettings, profiles: Mapping[str, object]
) -> tuple[SearchRequest, dict[str, str]]:
    """Parse the parameters of a URL and ignore an invalid page, date or sort order.

    Returns:
        The request, and the message key of each ignored parameter.

    Raises:
        BadSearchRequestError: The profile is invalid.
    """
    errors: dict[str, str] = {}

    def parse(name: str, parse_value: Callable[[str], T], default: T) -> T:
        try:
            return parse_value(arguments.get(name, ""))
        except BadSearchRequestError as error:
            errors[name] = str(error)
            return default

    raw_query = truncate_query(arguments.get("q", ""), settings.longest_query)
    request = SearchRequest(
        raw_query=raw_query,
        text=normalize_query(raw_query, settings.longest_query),
        page=parse("page", lambda text: _parse_page(text, settings), 1),
        cursor=arguments.get("cursor", ""),
        **_parse_filters(arguments),
        exclusions=FilterFields(**_parse_filters(arguments, "-")),
        cluster=arguments.get("cluster", "")[:MAX_VALUE_CHARS],
        since=parse("from", _parse_date_filter, ""),
        until=parse("to", _parse_date_filter, ""),
        sort=parse("sort", _parse_sort, SortOrder.RELEVANCE),
        profile=arguments.get("profile", "") or settings.profile,
    )
    if request.profile not in profiles:
        raise BadSearchRequestError("profile")
    if request.since and request.until and first_day(request.since) >= _first_day_after(request.until):
        errors["to"] = "dates_reversed"
        request = replace(request, since="", until="")
    return request, errors


def last_page(settings: SearchSettings) -> int:
    """Return the number of the last page that can be reached, by number or by cursor."""
    return page_at(max(settings.page_size, settings.deepest_result), settings.page_size)


def last_numbered_page(settings: SearchSettings) -> int:
    """Return the last page that can be requested by number."""
    return min(count_numbered_pages(RANKED_HITS, settings.page_size), last_page(settings))


def _toggle(
    value: str, values: Sequence[str], opposite_values: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return `values` with `value` added or removed, and `opposite_values` without it if it was added."""
    if value in values:
        return tuple(each for each in values if each != value), tuple(opposite_values)
    return (*values, value), tuple(each for each in opposite_values if each != value)


def _parse_filters(arguments: MultiDict[str, str], sign: str = "") -> dict[str, tuple[str, ...]]:
    filters = {}
    for name, parameter in PARAM_BY_FILTER.items():
        values = dict.fromkeys(value[:MAX_VALUE_CHARS] for value in arguments.getlist(sign + parameter) if value)
        filters[name] = tuple(values)[:MAX_FILTER_VALUES]
    return filters


def _parse_page(text: str, settings: SearchSettings) -> int:
    if not text:
        return 1
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise BadSearchRequestError("page")
    page = int(text)
    if not 1 <= page <= last_numbered_page(settings):
        raise BadSearchRequestError("page")
    return page


def _parse_sort(text: str) -> SortOrder:
    try:
        return SortOrder(text or SortOrder.RELEVANCE)
    except ValueError as error:
        raise BadSearchRequestError("sort") from error


_DATE_RE = re.compile(r"([12][0-9]{3})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


def _parse_date_filter(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    if not _DATE_RE.fullmatch(text):
        raise BadSearchRequestError("date")
    try:
        first_day(text)
    except ValueError as error:
        raise BadSearchRequestError("date") from error
    return text


def _first_day_after(text: str) -> date:
    """Return the first day after a year, a month or a day."""
    first = first_day(text)
    if len(text) == 4:
        return date(first.year + 1, 1, 1)
    if len(text) == 7:
        return (first + timedelta(days=31)).replace(day=1)
    return first + timedelta(days=1)


RANKED_HITS = 100
"""Results that are ranked together, by words and meaning."""


class PageSpan(NamedTuple):
    """The hits of one page: offsets in the list of results, `end` exclusive."""

    start: int
    end: int


def page_span(page: int, page_size: int) -> PageSpan:
    """Return the span of page `page`, from 1."""
    last_numbered_page = count_numbered_pages(RANKED_HITS, page_size)
    if page > last_numbered_page:
        start = RANKED_HITS + (page - last_numbered_page - 1) * page_size
        return PageSpan(start, start + page_size)
    return PageSpan((page - 1) * page_size, min(page * page_size, RANKED_HITS))


def page_at(rank: int, page_size: int) -> int:
    """Return the page that lists the result with this rank, from 1."""
    if rank <= RANKED_HITS:
        return -(-rank // page_size)
    return count_numbered_pages(RANKED_HITS, page_size) - (RANKED_HITS - rank) // page_size


def count_numbered_pages(hits: int, page_size: int) -> int:
    """Return the number of pages with a number of a list with `hits` hits; at least 1."""
    return max(1, -(-min(hits, RANKED_HITS) // page_size))


@dataclass(frozen=True)
class CursorPosition:
    """The start of page `page`: the hits that follow Solr's cursor mark `solr_mark`."""

    page: int
    solr_mark: str


class CursorCodec:
    """Signs and verifies cursors with the site's `secret`."""

    def __init__(self, secret: bytes, settings: SearchSettings) -> None:
        self._serializer = URLSafeSerializer(secret, salt="cursor")
        self._settings = settings

    def encode(self, request: SearchRequest, position: CursorPosition) -> str:
        """Return a signed cursor for a URL. It is valid for the search of `request` only."""
        return str(self._serializer.dumps([position.page, position.solr_mark, self._request_fingerprint(request)]))

    def decode(self, request: SearchRequest) -> CursorPosition:
        """Return the position of `request.cursor`.

        Raises:
            BadSearchRequestError: The cursor was not signed by this site, or belongs to another search.
        """
        try:
            page, cursor_mark, fingerprint = self._serializer.loads(request.cursor)
        except (BadData, ValueError) as error:
            raise BadSearchRequestError("cursor") from error
        if fingerprint != self._request_fingerprint(request) or page > last_page(self._settings):
            raise BadSearchRequestError("cursor")
        return CursorPosition(page, cursor_mark)

    def _request_fingerprint(self, request: SearchRequest) -> str:
        search = json.dumps(request.with_changes().to_url_params(self._settings))
        return hashlib.sha256(search.encode()).hexdigest()[:16]
