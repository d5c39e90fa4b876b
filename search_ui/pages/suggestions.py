"""Completes queries while a reader types: successful queries of others, terms and titles.

    GET /suggest?q=页岩                ["页岩", ["页岩气", ...]]                   for browsers (OpenSearch)
    GET /suggest?q=页岩&format=json    {"query": "页岩", "suggestions": [{"text": "页岩气", "kind": "term"}, ...]}

Queries and terms are looked up in memory by characters, pinyin and initials. Titles are looked up in Solr by any of
their words, the last one as a prefix. If Solr fails, there are no titles. Errors are never shown to the reader.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from flask import Blueprint, Response, jsonify, request

from domain.errors import SolrError
from search_ui.context import current_services
from search_ui.query.display_text import clean_text, normalize_query
from search_ui.query.query_parser import as_plain_words
from search_ui.query.solr_client import SolrBackend, SolrResponse, documents
from search_ui.query.solr_query import Params, SolrQuery, select_params
from search_ui.spelling.vocabulary import KnownWord, WordKind
from solr_client import solr_fields
from text.folding import word_key

blueprint = Blueprint("suggestions", __name__)

MAX_SUGGESTIONS = 8
MIN_TITLE_SLOTS = 3  # slots reserved for titles
MAX_TITLE_CHARS = 60  # longer titles are not suggested
CACHE_SECONDS = 60  # in browsers, because readers delete and retype


@blueprint.get("/suggest")
def suggest() -> Response:
    """Return suggestions for `q`."""
    raw_query = request.args.get("q", "")
    suggestions = suggest_completions(raw_query)
    if request.args.get("format") == "json":
        response = jsonify(
            query=raw_query,
            suggestions=[{"text": suggestion.text, "kind": suggestion.kind} for suggestion in suggestions],
        )
    else:
        body = json.dumps([raw_query, [suggestion.text for suggestion in suggestions]], ensure_ascii=True)
        response = Response(body, mimetype="application/x-suggestions+json")
    response.cache_control.private = True
    response.cache_control.max_age = CACHE_SECONDS
    return response


def suggest_completions(raw_query: str) -> list[KnownWord]:
    """Return at most `MAX_SUGGESTIONS` distinct suggestions, most likely first."""
    site = current_services()
    text = normalize_query(raw_query, site.settings.longest_query)
    if not text:
        return []
    known_words = [
        replace(word, kind=WordKind.WORD) if word.kind is WordKind.TERM and not site.glossary.find(word.text) else word
        for word in site.vocabulary.complete(text, MAX_SUGGESTIONS)
    ]
    return _merge(known_words, _fetch_titles(site.solr, text), text)


def _fetch_titles(solr: SolrBackend, text: str) -> list[str]:
    try:
        return parse_titles(solr.select(title_prefix_params(text)))
    except SolrError:
        return []


def title_prefix_params(text: str) -> Params:
    """Build the request for titles that contain `text`, with its last word as a prefix."""
    raw_query = SolrQuery.phrases(solr_fields.TITLE_PREFIX, "typed", [text])
    return select_params(
        raw_query, rows=MAX_SUGGESTIONS, fl=[solr_fields.TITLE], sort=f"score desc,{solr_fields.PUBLISHED} desc"
    )


def parse_titles(response: SolrResponse) -> list[str]:
    """Return the titles of a response as plain words, without query syntax."""
    titles = (clean_text(str(doc.get(solr_fields.TITLE, ""))) for doc in documents(response))
    return [plain for title in titles if (plain := as_plain_words(title)) and len(plain) <= MAX_TITLE_CHARS]


def _merge(known_words: Sequence[KnownWord], titles: Sequence[str], text: str) -> list[KnownWord]:
    """Merge known words and titles. Some slots are reserved for titles; the typed text itself is excluded."""
    known_word_slots = MAX_SUGGESTIONS - min(MIN_TITLE_SLOTS, len(titles))
    ranked_words = [
        *known_words[:known_word_slots],
        *(KnownWord(title, WordKind.TITLE, n) for n, title in enumerate(titles)),
        *known_words[known_word_slots:],
    ]
    by_key: dict[str, KnownWord] = {}
    for word in ranked_words:
        by_key.setdefault(word_key(word.text), word)
    by_key.pop(word_key(text), None)
    return list(by_key.values())[:MAX_SUGGESTIONS]
