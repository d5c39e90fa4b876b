"""What a reader asked for, read from a URL and written back into one. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, Self

from docstore.errors import PlumblineError
from search_ui.query.parse import Query, parse
from search_ui.query.texts import first_signs, searchable
from search_ui.settings import SearchSettings

MAX_CHOSEN = 50  # values of one filter
LONGEST_VALUE = 200  # characters; no section or term of the index is longer
NUMBERED_PAGES = 10  # these have numbers; further ones follow each other by cursors
CHOSEN: Mapping[str, str] = {
    "sites": "site", "sections": "section", "languages": "language", "authors": "author", "types": "type",
    "formats": "filetype", "terms": "term",
}  # fmt: skip
"""What can be chosen beside the results: the field of a request, and its parameter."""


class BadQueryError(PlumblineError):
    """A URL asks for what does not exist. The text is a key of the translations."""


class Sort(StrEnum):
    """Orders of results."""

    RELEVANCE = "relevance"
    DATE = "date"


class Arguments(Protocol):
    """The parameters of a URL, as Flask's `request.args` has them."""

    def get(self, key: str, default: str) -> str: ...
    def getlist(self, key: str) -> list[str]: ...


@dataclass(frozen=True)
class SearchRequest:
    """One result page.

    `typed` is the query as it came, `text` what is searched for ("" if nothing can be). Documents of any of `sites`, in
    any of `sections` and `languages`, by any of `authors`, of any of `types` and `formats` and with all of the domain's
    `terms` are meant; with `cluster`, the near-duplicates that have it in common. `since` and `until` are a year, a
    month or a day (`2016`, `2016-05`, `2016-05-09`) or ""; the whole of `until` is meant. `cursor` is where a page
    beyond the numbered ones begins (`search_ui.query.cursors`).
    """

    typed: str = ""
    text: str = ""
    page: int = 1
    cursor: str = ""
    sites: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    cluster: str = ""
    since: str = ""
    until: str = ""
    sort: Sort = Sort.RELEVANCE
    profile: str = "plumbline"

    @cached_property
    def query(self) -> Query:
        """What `text` means."""
        return parse(self.text)

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
        """True if anything but the words narrows the results."""
        return self != self.unfiltered()

    def is_anything(self) -> bool:
        """True if there is something to look for: words or signs, or what narrows the results alone."""
        return bool(self.text) or self.is_filtered()

    def filters(self) -> tuple[str, ...]:
        """The names of what narrows the results, as URLs have them."""
        chosen = {parameter: getattr(self, name) for name, parameter in CHOSEN.items()}
        chosen |= {"cluster": self.cluster, "from": self.since, "to": self.until}
        return tuple(name for name, values in chosen.items() if values)

    def unfiltered(self) -> Self:
        """The same words in the same order, wherever they are found."""
        nothing: dict[str, Any] = dict.fromkeys(CHOSEN, ())
        return replace(self, **nothing, cluster="", since="", until="")

    def changed(self, **changes: object) -> Self:
        """The same request with some parts changed, from its first page unless a page is named."""
        return replace(self, **{"page": 1, "cursor": "", **changes})  # type: ignore[arg-type]

    def toggled(self, name: str, value: str) -> Self:
        """The same request with `value` added to what is chosen of `name` (of `CHOSEN`), or taken from it."""
        chosen: tuple[str, ...] = getattr(self, name)
        rest = tuple(other for other in chosen if other != value)
        return self.changed(**{name: rest if value in chosen else (*chosen, value)})

    def arguments(self, settings: SearchSettings) -> list[tuple[str, str]]:
        """The request as parameters of a URL; what is at its default is left out."""
        pairs = [("q", first_signs(self.typed, settings.longest_query))]
        for name, parameter in CHOSEN.items():
            pairs += [(parameter, value) for value in getattr(self, name)]
        pairs += [("cluster", self.cluster), ("from", self.since), ("to", self.until)]
        pairs += [("sort", self.sort)] if self.sort is not Sort.RELEVANCE else []
        pairs += [("profile", self.profile)] if self.profile != settings.profile else []
        pairs += [("page", str(self.page))] if self.page > 1 and not self.cursor else []
        pairs += [("cursor", self.cursor)]
        return [(name, value) for name, value in pairs if value or name == "q"]


def parse_request(arguments: Arguments, settings: SearchSettings, profiles: Mapping[str, object]) -> SearchRequest:
    """Read a URL; raise `BadQueryError` for a page, date, order or profile that does not exist."""
    typed = arguments.get("q", "")
    asked = SearchRequest(
        typed=typed,
        text=searchable(typed, settings.longest_query),
        page=_page(arguments.get("page", ""), settings),
        cursor=arguments.get("cursor", ""),
        **{name: _chosen(arguments.getlist(parameter)) for name, parameter in CHOSEN.items()},
        cluster=arguments.get("cluster", "")[:LONGEST_VALUE],
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
    """The last page that can be reached, however many results there are."""
    return max(1, settings.deepest_result // settings.page_size)


def last_numbered(settings: SearchSettings) -> int:
    """The last page that can be asked for by its number."""
    return min(NUMBERED_PAGES, last_page(settings))


def _chosen(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value[:LONGEST_VALUE] for value in values if value))[:MAX_CHOSEN]


def _page(text: str, settings: SearchSettings) -> int:
    if not text:
        return 1
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise BadQueryError("error.page")
    page = int(text)
    if not 1 <= page <= last_numbered(settings):
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
