"""The public pages of the lexicon: one page for each published term, and the list of terms."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import Blueprint, Response, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.term import ConceptTerm, ConceptTermStatus, TermClass
from search_ui.citations.formats import TermSource, format_term_bibtex
from search_ui.context import current_services, current_site, external_url, render_page, search_url
from search_ui.glossary import INITIALS, MAX_NAME_CHARS, Glossary, GlossaryTerm
from search_ui.i18n import translate
from search_ui.list_pages import slice_page
from search_ui.local_dates import format_day
from search_ui.query.display_text import clean_text, safe_url
from search_ui.services.terms import (
    MIN_MONTH_ARTICLES,
    PublishedTerm,
    find_rising_terms,
    find_term,
    largest_percent,
    term_request,
)
from text.folding import word_key

blueprint = Blueprint("glossary", __name__)

TERMS_PER_PAGE = 100
MAX_PRINTED_TERMS = 2000
MAX_SITEMAP_TERMS = 50_000  # limit of the protocol
CONCEPT_ID_RE = re.compile("c[0-9a-f]{16}")  # as domain.concept.create_concept_id makes them


@blueprint.get("/term/<path:name>")
def term(name: str) -> BaseResponse:
    """Show a published term. Another spelling, a synonym or the id of its concept redirects to it.

    `deprecated` in the URL names a deprecated term.
    """
    site = current_services()
    published = find_term(site, name)
    if published is None and CONCEPT_ID_RE.fullmatch(name):
        published = find_term(site, site.backend.find_by_concept(name) or "")
    if published is None:
        abort(404)
    glossary_term, concept = published.term, published.concept
    concept_terms = concept.terms if concept else ()
    deprecated_keys = {word_key(item.text) for item in concept_terms if item.status is ConceptTermStatus.DEPRECATED}
    if glossary_term.text != name:
        deprecated_word = name if word_key(name) in deprecated_keys else None
        language = request.args.get("lang")
        return redirect(url_for("glossary.term", name=glossary_term.text, lang=language, deprecated=deprecated_word))
    deprecated_name = request.args.get("deprecated", "")
    stable_url = external_url("glossary.term", name=concept.concept_id) if concept else ""
    source = _term_source(published, stable_url or external_url("glossary.term", name=glossary_term.text))
    return render_page(
        "term.html",
        term=glossary_term,
        broader=[(name, site.glossary.find(name)) for name in glossary_term.broader_terms],
        narrower=published.narrower,
        related=published.related,
        name_of=site.display_name,
        follow_link=follow_url(glossary_term.text),
        label=published.label,
        deprecated_name=deprecated_name if word_key(deprecated_name) in deprecated_keys else "",
        word_groups=group_words(glossary_term, concept_terms),
        usage=published.usage,
        largest_percent=largest_percent(published.usage.months),
        first_version=published.first_version,
        stable_url=stable_url,
        source=source,
        bibtex=format_term_bibtex(source),
        definitions=published.definitions,
        json_ld=term_to_json_ld(published),
        search_link=partial(articles_url, glossary_term.text),
        day=format_day,
        min_month_articles=MIN_MONTH_ARTICLES,
        query_box="",
    )


def group_words(term: GlossaryTerm, concept_terms: Sequence[ConceptTerm]) -> Mapping[str, Sequence[str]]:
    """Return the other words of a term by the key of their heading; deprecated and preferred ones have their own."""
    words_by_status = {
        status: tuple(dict.fromkeys(item.text for item in concept_terms if item.status is status))
        for status in ConceptTermStatus
    }
    preferred_words, deprecated_words = (
        words_by_status[ConceptTermStatus.PREFERRED],
        words_by_status[ConceptTermStatus.DEPRECATED],
    )
    groups = {
        translate("Abbreviation"): term.abbreviations,
        translate("In the other language"): term.equivalents,
        translate("Synonyms"): term.variants,
    }
    special_words = {*preferred_words, *deprecated_words}
    return {
        translate("Preferred terms"): [word for word in preferred_words if word in term.synonyms],
        **{key: [word for word in words if word not in special_words] for key, words in groups.items()},
        translate("Deprecated terms"): [word for word in deprecated_words if word in term.synonyms],
    }


@blueprint.get("/terms")
def term_list() -> BaseResponse:
    """List the published terms: all, by initial, by class, new ones, or those that contain `q`."""
    glossary, term_filter = current_services().glossary, TermFilter.from_request()
    page = slice_page(term_filter.select(glossary), request.args.get("page", ""), TERMS_PER_PAGE)
    return render_page(
        "terms.html",
        glossary=glossary,
        page=page,
        filter=term_filter,
        text=clean_text(term_filter.text[:MAX_NAME_CHARS]),
        rising_terms=find_rising_terms(current_services()),
        page_url=lambda number: url_for("glossary.term_list", **term_filter.url_values, page=number),
        label=current_services().display_name,
        query_box="",
    )


@blueprint.get("/terms/print")
def printed_terms() -> BaseResponse:
    """Show the published terms with names and definitions on one page, at most MAX_PRINTED_TERMS."""
    glossary, term_filter = current_services().glossary, TermFilter.from_request()
    matches = term_filter.select(glossary)
    terms = matches[:MAX_PRINTED_TERMS]
    return render_page(
        "terms_print.html",
        glossary=glossary,
        terms=terms,
        total=len(matches),
        filter=term_filter,
        definitions_by_term=current_services().backend.public_definitions([term.text for term in terms]),
        safe_url=safe_url,
        published=format_day(glossary.published_at),
        label=current_services().display_name,
        query_box="",
    )


@blueprint.get("/sitemap.xml")
def sitemap() -> Response:
    """Return the pages of the terms for search engines: as a sitemap, or with many terms as an index of sitemaps."""
    glossary, number = current_services().glossary, request.args.get("page", "")
    page = slice_page(glossary.terms, number, MAX_SITEMAP_TERMS)
    is_index = page.last > 1 and not number
    body = render_template(
        "sitemap.xml",
        is_index=is_index,
        pages=range(1, page.last + 1),
        terms=() if is_index else page.items,
        external_url=external_url,
        published=format_day(glossary.published_at),
    )
    return Response(body, content_type="application/xml; charset=utf-8")


@dataclass(frozen=True)
class TermFilter:
    """The criteria of a list of terms, as its URL states them. Invalid values are ""."""

    text: str = ""
    initial: str = ""
    category: str = ""
    only_new: bool = False

    @classmethod
    def from_request(cls) -> "TermFilter":
        """Return the criteria of the current request."""
        initial, category = request.args.get("initial", ""), request.args.get("class", "")
        return cls(
            request.args.get("q", ""),
            initial if initial in INITIALS else "",
            category if category in frozenset(TermClass) else "",
            "new" in request.args,
        )

    @property
    def url_values(self) -> dict[str, Any]:
        """The URL parameters of the criteria that are set."""
        values = {"q": self.text, "initial": self.initial, "class": self.category, "new": "1" if self.only_new else ""}
        return {name: value for name, value in values.items() if value}

    def select(self, glossary: Glossary) -> Sequence[GlossaryTerm]:
        """Return the terms that match all criteria."""
        category = TermClass(self.category) if self.category else None
        return glossary.select_terms(self.text, self.initial, self.only_new, category=category)


def articles_url(text: str, **filters: Any) -> str:
    """Return the URL of the search for the articles with a term. `filters` are fields of `SearchRequest`."""
    return search_url("public.search", term_request(text, profile=current_site().settings.profile, **filters))


def follow_url(text: str) -> str:
    """Return the URL of the page on which the search for a term can be followed."""
    return search_url("follow.show_form", term_request(text, profile=current_site().settings.profile))


def _term_source(published: PublishedTerm, url: str) -> TermSource:
    site = published.site
    return TermSource(
        published.label,
        site.settings.title,
        site.glossary.version,
        format_day(site.glossary.published_at),
        url,
        format_day(site.clock()),
    )


def term_to_json_ld(published: PublishedTerm) -> dict[str, Any]:
    """Return a term as a schema.org `DefinedTerm`, with the first definition."""
    definitions = published.definitions
    description = {"description": definitions[0].definition.sentence} if definitions else {}
    return {
        "@context": "https://schema.org",
        "@type": "DefinedTerm",
        "name": published.label,
        "alternateName": list(published.term.synonyms),
        "url": external_url("glossary.term", name=published.term.text),
        "inDefinedTermSet": {"@type": "DefinedTermSet", "name": published.site.settings.title},
        **description,
    }
