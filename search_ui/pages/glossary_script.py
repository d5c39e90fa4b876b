"""Definitions for the pages of other sites: the script /glossary.js, and the terms in the text that it sends."""

from flask import Blueprint, Response, current_app, jsonify, request

from search_ui.context import current_site, external_url
from search_ui.i18n import translate
from search_ui.pages.glossary_views import display_name
from search_ui.pages.inline_definitions import fetch_defined_terms
from search_ui.query.display_text import safe_url

blueprint = Blueprint("glossary_script", __name__)

MAX_TEXT_CHARS = 20_000  # as in static/glossary.js; about 30 ms


@blueprint.get("/glossary.js")
def script() -> Response:
    """Return the script that other sites load."""
    return current_app.send_static_file("glossary.js")


@blueprint.post("/glossary.json")
def find_definitions() -> Response:
    """Return the terms with a definition in the text of the request, with the offsets of their first occurrence.

    Lines are separate texts. Offsets count UTF-16 units, as in JavaScript. Only pages of this site and of
    `search.glossary_origins` can read the response.
    """
    lines = request.get_data().decode("utf-8", "replace")[:MAX_TEXT_CHARS].split("\n")
    occurrences, definition_by_term = fetch_defined_terms(lines)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + _utf16_length(line) + 1)
    entries = []
    for index, occurrence in occurrences:
        if (definition := definition_by_term.get(occurrence.term.text)) is not None:
            start = offsets[index] + _utf16_length(lines[index][: occurrence.start])
            name = display_name(occurrence.term.text)
            entries.append(
                {
                    "start": start,
                    "end": start + _utf16_length(lines[index][occurrence.start : occurrence.end]),
                    "term": name,
                    "label": translate("definitions.of", term=name),
                    "url": external_url("glossary.term", name=occurrence.term.text),
                    "text": definition.sentence,
                    "language": definition.language,
                    "title": definition.title if definition.url_id else translate("term.own_definition"),
                    "source": safe_url(definition.url),
                }
            )
    response = jsonify(definitions=entries, link=translate("term.card_link"))
    response.vary.update(["Origin", "Accept-Language"])
    if request.origin in current_site().settings.glossary_origins:
        response.access_control_allow_origin = request.origin
    return response


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
