"""The page with all values of one filter of a search."""

from functools import partial

from flask import Blueprint, Response, abort, request

from search_ui.context import current_services, current_site, render_page, search_url
from search_ui.pages.active_filters import facet_label
from search_ui.query.display_text import clean_text
from search_ui.query.facets import build_facets, facet_counts
from search_ui.query.ranking import PROFILES
from search_ui.query.search_request import FILTER_NAMES, MAX_VALUE_CHARS, parse_search_request
from text.folding import word_key

blueprint = Blueprint("filter_values", __name__)

MAX_LISTED_VALUES = 1000
MAX_SEARCHED_VALUES = 10_000  # values among which those with a text are found


@blueprint.get("/filter/<name>")
def show_values(name: str) -> Response:
    """List the values of a filter with their counts in a search; with `contains`, those with this text."""
    if name not in FILTER_NAMES:
        abort(404)
    search_request = parse_search_request(request.args, current_site().settings, PROFILES).with_changes()
    text = request.args.get("contains", "").strip()[:MAX_VALUE_CHARS]
    limit = MAX_SEARCHED_VALUES if text else MAX_LISTED_VALUES
    counts = facet_counts(current_services().search.count_values(search_request, name, limit), name)
    labelled_counts = [(value, facet_label(name, value), count) for value, count in counts]
    matching = [row for row in labelled_counts if any(word_key(text) in word_key(each) for each in row[:2])]
    return render_page(
        "filter_values.html",
        name=name,
        facets=build_facets(matching[:MAX_LISTED_VALUES], frozenset(getattr(search_request, name))),
        value_count=len(matching),
        is_truncated=len(counts) >= limit or len(matching) > MAX_LISTED_VALUES,
        text=text,
        asked=search_request,
        query_box=search_request.raw_query,
        query_shown=clean_text(search_request.raw_query),
        value_label=facet_label,
        link=partial(search_url, "public.search"),
    )
