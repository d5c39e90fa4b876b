"""The filters beside the results: typed fields for requests and pages, URL parameters and Solr fields."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Generic, TypeVar

from domain.article import ARTICLE_FIELDS
from solr_client import solr_fields

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
