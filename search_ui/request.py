"""What a reader asked for, read from an address and written back into one. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Protocol, Self

from docstore.errors import PlumblineError
from search_ui.settings import SearchSettings
from search_ui.texts import searchable

MOST_SITES = 50


class BadQueryError(PlumblineError):
    """An address asks for what does not exist. The text is a key of the translations."""


class Sort(StrEnum):
    """Orders of results."""

    RELEVANCE = "relevance"
    DATE = "date"


class Arguments(Protocol):
    """The parameters of an address, as Flask's `request.args` has them."""

    def get(self, key: str, default: str) -> str: ...
    def getlist(self, key: str) -> list[str]: ...


@dataclass(frozen=True)
class SearchRequest:
    """One result page.

    `typed` is the query as it came, `text` what is searched for ("" if nothing can be). `since` and `until` are a
    year, a month or a day (`2016`, `2016-05`, `2016-05-09`) or ""; the whole of `until` is meant.
    """

    typed: str = ""
    text: str = ""
    page: int = 1
    sites: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    sort: Sort = Sort.RELEVANCE
    profile: str = "plumbline"

    def span(self) -> tuple[str, str] | None:
        """The dates asked for as Solr writes them, first inclusive and last exclusive; None for all dates."""
        if not (self.since or self.until):
            return None
        first = _solr_time(_first_day(self.since)) if self.since else "*"
        return first, _solr_time(_day_after(self.until)) if self.until else "*"

    def only_year(self) -> int | None:
        """The year, if the dates asked for lie in a single one."""
        years = {self.since[:4], self.until[:4]}
        return int(years.pop()) if len(years) == 1 and self.since else None

    def is_filtered(self) -> bool:
        """True if a site or a date narrows the results."""
        return bool(self.sites or self.since or self.until)

    def changed(self, **changes: object) -> Self:
        """The same request with some parts changed, from its first page unless a page is named."""
        return replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]

    def toggled(self, site: str) -> Self:
        """The same request with `site` added to the sites asked for, or taken from them."""
        rest = tuple(other for other in self.sites if other != site)
        return self.changed(sites=rest if site in self.sites else (*self.sites, site))

    def arguments(self, settings: SearchSettings) -> list[tuple[str, str]]:
        """The request as parameters of an address; what is at its default is left out."""
        pairs = [("q", self.typed[: settings.longest_query])]
        pairs += [("site", site) for site in self.sites]
        pairs += [(name, value) for name, value in (("from", self.since), ("to", self.until)) if value]
        pairs += [("sort", self.sort)] if self.sort is not Sort.RELEVANCE else []
        pairs += [("profile", self.profile)] if self.profile != settings.profile else []
        return pairs + ([("page", str(self.page))] if self.page > 1 else [])


def parse_request(arguments: Arguments, settings: SearchSettings, profiles: Mapping[str, object]) -> SearchRequest:
    """Read an address; raise `BadQueryError` for a page, date, order or profile that does not exist."""
    typed = arguments.get("q", "")
    asked = SearchRequest(
        typed=typed,
        text=searchable(typed, settings.longest_query),
        page=_page(arguments.get("page", ""), settings),
        sites=tuple(dict.fromkeys(site for site in arguments.getlist("site") if site))[:MOST_SITES],
        since=_checked_date(arguments.get("from", "")),
        until=_checked_date(arguments.get("to", "")),
        sort=_sort(arguments.get("sort", "") or Sort.RELEVANCE),
        profile=arguments.get("profile", "") or settings.profile,
    )
    if asked.profile not in profiles:
        raise BadQueryError("error.profile")
    if asked.since and asked.until and _first_day(asked.since) >= _day_after(asked.until):
        raise BadQueryError("error.dates_reversed")
    return asked


def last_page(settings: SearchSettings) -> int:
    """The last page that can be asked for, however many results there are."""
    return max(1, settings.deepest_result // settings.page_size)


def _page(text: str, settings: SearchSettings) -> int:
    if not text:
        return 1
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise BadQueryError("error.page")
    page = int(text)
    if not 1 <= page <= last_page(settings):
        raise BadQueryError("error.page")
    return page


def _sort(text: str) -> Sort:
    try:
        return Sort(text)
    except ValueError as error:
        raise BadQueryError("error.sort") from error


_DATE = re.compile(r"([12][0-9]{3})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


def _checked_date(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    if not _DATE.fullmatch(text):
        raise BadQueryError("error.date")
    try:
        _first_day(text)
    except ValueError as error:
        raise BadQueryError("error.date") from error
    return text


def _first_day(text: str) -> date:
    year, month, day = (*(int(part) for part in text.split("-")), 1, 1)[:3]
    return date(year, month, day)


def _day_after(text: str) -> date:
    """The first day after a year, a month or a day."""
    first = _first_day(text)
    if len(text) == 4:
        return date(first.year + 1, 1, 1)
    if len(text) == 7:
        return (first + timedelta(days=31)).replace(day=1)
    return first + timedelta(days=1)


def _solr_time(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"
