"""The articles of an export of references."""

from collections.abc import Sequence
from dataclasses import replace

from search_ui.query.results import Hit
from search_ui.query.search import SearchService
from search_ui.query.search_request import RANKED_HITS, SearchRequest

MAX_EXPORTED_RESULTS = 200


def find_exported_results(search: SearchService, request: SearchRequest, is_related: bool = False) -> Sequence[Hit]:
    """Return the full matches among the first `MAX_EXPORTED_RESULTS` results of a search, in the order of its pages.

    With `is_related` these are the other results, and if there are no full matches all results. Raises what
    `SearchService.execute` raises.
    """
    settings = replace(search.settings, page_size=RANKED_HITS, deepest_result=MAX_EXPORTED_RESULTS)
    search = replace(search, settings=settings, has_snippets=False)
    plan, page = search.search(request.with_changes())
    hits = [*page.hits]
    while page.cursor:
        page = search.execute(search.plan(plan.request.with_changes(cursor=page.cursor)))
        hits += page.hits
    is_related = is_related or not page.total
    return [hit for hit in hits if hit.is_partial is is_related]
