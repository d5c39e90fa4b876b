"""The filters of a search as a reader sees them: their kinds and values in words."""

from dataclasses import dataclass

from babel import Locale, UnknownLocaleError
from flask import g

from domain.article import PageType
from domain.file_formats import FORMATS_BY_NAME, HTML_FORMAT
from search_ui.context import current_services, current_site
from search_ui.i18n import translate, translate_code
from search_ui.query.display_text import clean_text, site_display_name
from search_ui.query.filters import HIDDEN, RequestFilter
from search_ui.query.search_request import PARAM_BY_FILTER, SearchRequest


@dataclass(frozen=True)
class ActiveFilter:
    """A filter of the current search: the name of its kind, its value ("": none) and the search without it."""

    kind: str
    label: str
    request_without: SearchRequest
    is_excluded: bool = False


def active_filters(request: SearchRequest) -> list[ActiveFilter]:
    """Return the operators typed in the query, then the filters chosen beside the results."""
    query = request.parsed_query
    chips = [
        ActiveFilter(translate("Search operator"), str(part), request.with_changes(raw_query=str(query.without(part))))
        for part in query.conditions
    ]
    for name, parameter in PARAM_BY_FILTER.items():
        chips += [
            ActiveFilter(
                translate_code("field", parameter), facet_label(name, value), request.with_toggled(name, value)
            )
            for value in getattr(request, name)
        ]
    for name, value in _excluded_values(request):
        without = request.with_toggled(name, value, is_exclusion=True)
        chips.append(ActiveFilter(translate("not"), facet_label(name, value), without, is_excluded=True))
    if request.since or request.until:
        without = request.with_changes(since="", until="")
        chips.append(ActiveFilter(translate("Date"), request.date_label, without))
    return chips + (
        [ActiveFilter(translate("Duplicates of one document"), "", request.with_changes(cluster=""))]
        if request.cluster
        else []
    )


def _excluded_values(request: SearchRequest) -> list[tuple[str, str]]:
    """Return the filter and the value of each exclusion."""
    return [(name, value) for name in PARAM_BY_FILTER for value in getattr(request.exclusions, name)]


def facet_label(name: str, value: str) -> str:
    """Return the display label of a facet value."""
    if name == "sites":
        return site_display_name(value, current_site().settings)
    if name == "terms":
        return current_services().display_name(value)
    if name == "types" and value in _PAGE_TYPES:
        return translate_code("type", value)
    if name == "formats" and value in _FORMATS:
        return translate_code("format", value)
    return language_name(value) if name == "languages" else clean_text(value)


_PAGE_TYPES = frozenset(PageType)
_FORMATS = frozenset((HTML_FORMAT, *FORMATS_BY_NAME))


def language_name(code: str) -> str:
    """Return the name of a language (`en` -> 英语) in the reader's language; the code itself if it is unknown."""
    try:
        return Locale.parse(code, sep="-").get_display_name(g.language) or code
    except (UnknownLocaleError, ValueError):
        return code


def filter_label(request: SearchRequest, request_filter: RequestFilter) -> str:
    """Return one filter of a request in words, such as `site: news.example`."""
    name = request_filter.request_field
    if not name:
        return " ".join(map(str, request_filter.query_parts))
    if name == HIDDEN:
        return translate("hidden by an editor for this query")
    if name == "sort":
        return translate("sorting by date, which requires every word")
    if name == "cluster":
        return translate("Duplicates of one document")
    if name == "date":
        return translate("{label}: {value}", label=translate("Date"), value=request.date_label)
    if name == "exclusions":
        labels = [facet_label(*exclusion) for exclusion in _excluded_values(request)]
        return translate("{label}: {value}", label=translate("not"), value=translate(", ").join(labels))
    kind = translate_code("field", PARAM_BY_FILTER[name])
    values = translate(", ").join(facet_label(name, value) for value in getattr(request, name))
    return translate("{label}: {value}", label=kind, value=values)
