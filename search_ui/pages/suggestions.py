"""What a reader may want to type, as one types: queries that others asked with success, terms, titles.

    GET /suggest?q=页岩                ["页岩", ["页岩气", ...]]                   what browsers ask for (OpenSearch)
    GET /suggest?q=页岩&format=json    {"query": "页岩", "suggestions": [{"text": "页岩气", "kind": "term"}, ...]}

Queries and terms are looked up in memory, by characters, pinyin and first letters; titles in Solr, by any part of them
as far as it is typed. Without Solr there are no titles; nothing here is ever an error for the reader.
"""

import json
from collections.abc import Sequence

from flask import Blueprint, Response, jsonify, request

from docstore import fields
from docstore.errors import SolrError
from search_ui.live_vocabulary import current_vocabulary
from search_ui.query.clauses import Clause, Params, select_params
from search_ui.query.parse import as_plain
from search_ui.query.solr_client import Answer, Search
from search_ui.query.texts import searchable, shown
from search_ui.site import current_site
from search_ui.spelling.vocabulary import KnownWord, WordKind
from text.folding import word_key

pages = Blueprint("suggestions", __name__)

MOST = 8  # suggestions
MAX_TITLES = 3  # of them, where there are enough others
LONGEST_TITLE = 60  # characters
KEPT_SECONDS = 60  # by browsers: typing goes back and forth


@pages.get("/suggest")
def suggest() -> Response:
    """Suggestions for `q`."""
    typed = request.args.get("q", "")
    found = suggestions_for(typed)
    if request.args.get("format") == "json":
        response = jsonify(query=typed, suggestions=[{"text": one.text, "kind": one.kind} for one in found])
    else:
        body = json.dumps([typed, [one.text for one in found]], ensure_ascii=True)
        response = Response(body, mimetype="application/x-suggestions+json")
    response.cache_control.private = True
    response.cache_control.max_age = KEPT_SECONDS
    return response


def suggestions_for(typed: str) -> list[KnownWord]:
    """At most `MOST` suggestions, each text once, the likeliest first."""
    site = current_site()
    text = searchable(typed, site.settings.longest_query)
    if not text:
        return []
    known = current_vocabulary().beginning_with(text, MOST)
    return _merged(known, _titles(site.search, text), text)


def _titles(search: Search, text: str) -> list[str]:
    try:
        return titles_of(search.select(title_params(text)))
    except SolrError:
        return []


def title_params(text: str) -> Params:
    """What asks Solr for titles that hold `text`, its last word only as far as it is typed."""
    typed = Clause.phrases(fields.TITLE_TYPED, "typed", [text])
    return select_params(typed, rows=MOST, fl=[fields.TITLE], sort=f"score desc,{fields.PUBLISHED} desc")


def titles_of(answer: Answer) -> list[str]:
    """The titles in Solr's answer, as a reader could have typed them."""
    titles = (shown(str(doc.get(fields.TITLE, ""))) for doc in answer.get("response", {}).get("docs", ()))
    return [plain for title in titles if (plain := as_plain(title)) and len(plain) <= LONGEST_TITLE]


def _merged(known: Sequence[KnownWord], titles: Sequence[str], text: str) -> list[KnownWord]:
    """Known words first, but some room is kept for titles; what is typed already is no suggestion."""
    room = MOST - min(MAX_TITLES, len(titles))
    ranked = [*known[:room], *(KnownWord(title, WordKind.TITLE, n) for n, title in enumerate(titles)), *known[room:]]
    once: dict[str, KnownWord] = {}
    for one in ranked:
        once.setdefault(word_key(one.text), one)
    once.pop(word_key(text), None)
    return list(once.values())[:MOST]
