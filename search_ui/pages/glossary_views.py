"""The public pages of the lexicon: one page for each published term, and the list of terms."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, abort, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.term import ConceptTerm, ConceptTermStatus
from search_ui.context import current_site, external_url, render_page
from search_ui.glossary import INITIALS, MAX_NAME_CHARS, Glossary, GlossaryTerm, current_glossary
from search_ui.pages.article import parse_related
from search_ui.pages.quoted_definitions import QuotedDefinition, fetch_definitions
from search_ui.pages.rising_terms import current_rising_terms
from search_ui.pages.term_citation import TermSource, format_bibtex
from search_ui.pages.term_usage import (
    MIN_MONTH_ARTICLES,
    TermUsage,
    cooccurring_terms_params,
    first_use_params,
    largest_percent,
    months_params,
    most_cited_params,
    newest_articles_params,
    parse_cooccurring_terms,
    parse_months,
    parse_term_counts,
    term_counts_params,
)
from search_ui.query.display_text import clean_text
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_client import select_in_background
from search_ui.vocabulary_cache import current_vocabulary
from text.folding import word_key

blueprint = Blueprint("glossary", __name__)

TERMS_PER_PAGE = 100


@blueprint.get("/term/<path:name>")
def term(name: str) -> BaseResponse:
    """Show a published term. Another spelling or a synonym redirects to it; `deprecated` names a deprecated term."""
    glossary = current_glossary()
    glossary_term = glossary.find(name)
    if glossary_term is None:
        abort(404)
    concept = current_site().backend.review_service.find_concept(glossary_term.text)
    concept_terms = concept.terms if concept else ()
    deprecated_keys = {word_key(item.text) for item in concept_terms if item.status is ConceptTermStatus.DEPRECATED}
    if glossary_term.text != name:
        deprecated_word = name if word_key(name) in deprecated_keys else None
        language = request.args.get("lang")
        return redirect(url_for("glossary.term", name=glossary_term.text, lang=language, deprecated=deprecated_word))
    deprecated_name = request.args.get("deprecated", "")
    label = display_name(glossary_term.text)
    source = _term_source(glossary_term, glossary, label)
    usage, definitions = fetch_term_usage(glossary_term, glossary), fetch_definitions(glossary_term.text)
    return render_page(
        "term.html",
        term=glossary_term,
        broader=[(name, glossary.find(name)) for name in glossary_term.broader_terms],
        narrower=glossary.narrower_terms(glossary_term),
        name_of=display_name,
        label=label,
        deprecated_name=deprecated_name if word_key(deprecated_name) in deprecated_keys else "",
        word_groups=group_words(glossary_term, concept_terms),
        usage=usage,
        largest_percent=largest_percent(usage.months),
        first_version=current_site().backend.review_service.first_version(glossary_term.text),
        source=source,
        bibtex=format_bibtex(source),
        definitions=definitions,
        json_ld=term_to_json_ld(glossary_term, label, definitions),
        search_link=lambda **filters: search_url(glossary_term.text, **filters),
        day=_format_day,
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
        "term.abbreviation": term.abbreviations,
        "term.equivalent": term.equivalents,
        "term.synonyms": term.variants,
    }
    special_words = {*preferred_words, *deprecated_words}
    return {
        "term.preferred": [word for word in preferred_words if word in term.synonyms],
        **{key: [word for word in words if word not in special_words] for key, words in groups.items()},
        "term.deprecated": [word for word in deprecated_words if word in term.synonyms],
    }


@blueprint.get("/terms")
def term_list() -> BaseResponse:
    """List the published terms: all, by initial, new ones, or those that contain `q`."""
    text, initial, only_new = request.args.get("q", ""), request.args.get("initial", ""), "new" in request.args
    glossary = current_glossary()
    matches = glossary.select_terms(text, initial if initial in INITIALS else "", only_new)
    page = page_of_terms(matches, request.args.get("page", ""))

    def page_url(number: int) -> str:
        new = "1" if only_new else None
        return url_for("glossary.term_list", q=text or None, initial=initial or None, new=new, page=number)

    return render_page(
        "terms.html",
        glossary=glossary,
        page=page,
        text=clean_text(text[:MAX_NAME_CHARS]),
        initial=initial,
        only_new=only_new,
        rising_terms=current_rising_terms(),
        initials=glossary.used_initials,
        page_url=page_url,
        label=display_name,
        query_box="",
    )


@dataclass(frozen=True)
class TermPage:
    """One page of a list of terms. `number` and `last` count pages from 1."""

    terms: Sequence[GlossaryTerm]
    total: int
    number: int
    last: int


def page_of_terms(matches: Sequence[GlossaryTerm], number_text: str) -> TermPage:
    """Return the page with this number: the first if it is no number, the last if it is too large."""
    last = max(1, -(-len(matches) // TERMS_PER_PAGE))
    number = int(number_text) if re.fullmatch("[0-9]{1,6}", number_text) else 1
    number = min(max(1, number), last)
    return TermPage(matches[(number - 1) * TERMS_PER_PAGE : number * TERMS_PER_PAGE], len(matches), number, last)


def fetch_term_usage(term: GlossaryTerm, glossary: Glossary) -> TermUsage:
    """Fetch where the articles use a term. Raises what `SolrBackend.select` raises."""
    site, text = current_site(), term.text
    first, newest, most_cited, cooccurring = (
        select_in_background(site.solr, params)
        for params in (
            first_use_params(text),
            newest_articles_params(text),
            most_cited_params(text),
            cooccurring_terms_params(text),
        )
    )
    counts = parse_term_counts(site.solr.select(term_counts_params(text)), site.settings)
    months = parse_months(site.solr.select(months_params(text, counts))) if counts.first_month else ()
    return TermUsage(
        counts,
        months,
        next(iter(parse_related(first.result(), site.settings)), None),
        parse_related(newest.result(), site.settings),
        parse_related(most_cited.result(), site.settings),
        parse_cooccurring_terms(cooccurring.result(), _other_terms(term, glossary)),
    )


def _other_terms(term: GlossaryTerm, glossary: Glossary) -> Callable[[str], bool]:
    """Return a function that is true for published terms without a stated relation to a term."""
    narrower_keys = (narrower.word_keys[0] for narrower in glossary.narrower_terms(term))
    related_keys = {*term.word_keys, *map(word_key, term.broader_terms), *narrower_keys}

    def is_other_term(text: str) -> bool:
        other = glossary.find(text)
        return other is not None and other.text == text and related_keys.isdisjoint(other.word_keys)

    return is_other_term


def search_url(text: str, **filters: Any) -> str:
    """Return the URL of the search for the articles with a term. `filters` are fields of `SearchRequest`."""
    settings = current_site().settings
    search_request = SearchRequest(**{"terms": (text,), "profile": settings.profile, **filters})
    return url_for("public.search") + "?" + urlencode(search_request.to_url_params(settings))


def display_name(text: str) -> str:
    """Return a term in its usual spelling."""
    return clean_text(current_vocabulary().display_form(text))


def _term_source(term: GlossaryTerm, glossary: Glossary, label: str) -> TermSource:
    site = current_site()
    return TermSource(
        label,
        site.settings.title,
        glossary.version,
        _format_day(glossary.published_at),
        external_url("glossary.term", name=term.text),
        _format_day(site.clock()),
    )


def _format_day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def term_to_json_ld(term: GlossaryTerm, label: str, definitions: Sequence[QuotedDefinition]) -> dict[str, Any]:
    """Return a term as a schema.org `DefinedTerm`, with the first definition."""
    description = {"description": definitions[0].definition.sentence} if definitions else {}
    return {
        "@context": "https://schema.org",
        "@type": "DefinedTerm",
        "name": label,
        "alternateName": list(term.synonyms),
        "url": external_url("glossary.term", name=term.text),
        "inDefinedTermSet": {"@type": "DefinedTermSet", "name": current_site().settings.title},
        **description,
    }
