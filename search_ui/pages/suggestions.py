"""What a reader may want to type, as one types: queries that others asked with success, terms, titles.

    GET /suggest?q=页岩                ["页岩", ["页岩气", ...]]                   what browsers ask for (OpenSearch)
    GET /suggest?q=页岩&format=json    {"query": "页岩", "suggestions": [{"text": "页岩气", "kind": "term"}, ...]}

Queries and terms are looked up in memory, by characters, pinyin and first letters; titles in Solr, by any part of them
as far as it is typed. Without Solr there are no titles; nothing here is ever an error for the reader.
"""

import json
from collections.abc import Sequence

from flask import Blueprint, Response, jsonify, request

from docstore import solr_fields
from docstore.errors import SolrError
from search_ui.context import current_site
from search_ui.query.display_text import clean_text, normalize_query
from search_ui.query.query_parser import as_plain_words
from search_ui.query.solr_client import SolrBackend, SolrResponse
from search_ui.query.solr_query import Params, SolrQuery, select_params
from search_ui.spelling.vocabulary import KnownWord, WordKind
from search_ui.vocabulary_cache import current_vocabulary
from text.folding import word_key

blueprint = Blueprint("suggestions", __name__)

MAX_SUGGESTIONS = 8  # suggestions
MIN_TITLE_SLOTS = 3  # of them, where there are enough others
MAX_TITLE_CHARS = 60  # characters
CACHE_SECONDS = 60  # by browsers: typing goes back and forth


@blueprint.get("/suggest")
def suggest() -> Response:
    """Suggestions for `q`."""
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
    """At most `MAX_SUGGESTIONS` suggestions, each text once, the likeliest first."""
    site = current_site()
    text = normalize_query(raw_query, site.settings.longest_query)
    if not text:
        return []
    known_words = current_vocabulary().complete(text, MAX_SUGGESTIONS)
    return _merge(known_words, _fetch_titles(site.solr, text), text)


def _fetch_titles(solr: SolrBackend, text: str) -> list[str]:
    try:
        return parse_titles(solr.select(title_prefix_params(text)))
    except SolrError:
        return []


def title_prefix_params(text: str) -> Params:
    """What asks Solr for titles that hold `text`, its last word only as far as it is typed."""
    raw_query = SolrQuery.phrases(solr_fields.TITLE_PREFIX, "typed", [text])
    return select_params(
        raw_query, rows=MAX_SUGGESTIONS, fl=[solr_fields.TITLE], sort=f"score desc,{solr_fields.PUBLISHED} desc"
    )


def parse_titles(response: SolrResponse) -> list[str]:
    """The titles in Solr's answer, as a reader could have typed them."""
    titles = (clean_text(str(doc.get(solr_fields.TITLE, ""))) for doc in response.get("response", {}).get("docs", ()))
    return [plain for title in titles if (plain := as_plain_words(title)) and len(plain) <= MAX_TITLE_CHARS]


def _merge(known_words: Sequence[KnownWord], titles: Sequence[str], text: str) -> list[KnownWord]:
    """Known words first, but some room is kept for titles; what is typed already is no suggestion."""
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
