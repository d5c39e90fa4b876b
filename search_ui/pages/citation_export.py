"""Exports references to articles, for one article and for a list of results."""

from collections.abc import Sequence
from dataclasses import replace

from flask import Response, request

from search_ui.citations.formats import CITATION_FORMATS, CitationFormat
from search_ui.citations.reference import CitedDocument, Reference, build_reference
from search_ui.context import current_site, external_url
from search_ui.local_dates import format_day
from search_ui.query.paging import RANKED_HITS
from search_ui.query.search import SearchService
from search_ui.query.search_request import BadSearchRequestError, SearchRequest

MAX_EXPORTED_RESULTS = 200


def requested_citation_format() -> CitationFormat | None:
    """Return the export format that the URL requests; None for JSON.

    Raises:
        BadSearchRequestError: There is no such format.
    """
    name = request.args.get("format", "") or "json"
    if name == "json":
        return None
    if name not in CITATION_FORMATS:
        raise BadSearchRequestError("format")
    return CITATION_FORMATS[name]


def build_current_reference(document: CitedDocument) -> Reference:
    """Build the reference to a document that the reader accesses today."""
    access_date = format_day(current_site().clock())
    return build_reference(document, access_date, external_url("public.article", doc_id=document.doc_id))


def find_exported_results(search_service: SearchService, search_request: SearchRequest) -> Sequence[CitedDocument]:
    """Return the full matches among the first `MAX_EXPORTED_RESULTS` results of a search, in the order of its pages.

    With the URL parameter `related=1` these are the other results, and if there are no full matches all results.
    Raises what `SearchService.execute` raises.
    """
    settings = replace(search_service.settings, page_size=RANKED_HITS, deepest_result=MAX_EXPORTED_RESULTS)
    search_service = replace(search_service, settings=settings, has_snippets=False)
    page = search_service.execute(search_service.plan(search_request.with_changes()))
    hits = [*page.hits]
    while page.cursor:
        page = search_service.execute(search_service.plan(search_request.with_changes(cursor=page.cursor)))
        hits += page.hits
    is_related = request.args.get("related") == "1" or not page.total
    return [hit for hit in hits if hit.is_partial is is_related]


def citation_response(documents: Sequence[CitedDocument], citation_format: CitationFormat, file_name: str) -> Response:
    """Return references to documents as a file to download; `file_name` has no extension."""
    text = citation_format.write([build_current_reference(document) for document in documents])
    response = Response(text, content_type=f"{citation_format.media_type}; charset=utf-8")
    response.headers.set("Content-Disposition", "attachment", filename=f"{file_name}.{citation_format.extension}")
    return response
