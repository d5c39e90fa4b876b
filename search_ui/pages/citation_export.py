"""Exports references to articles, for one article and for a list of results."""

from collections.abc import Sequence
from dataclasses import replace

from flask import Response, request

from search_ui.citations.formats import CITATION_FORMATS, CitationFormat
from search_ui.citations.reference import CitedDocument, Reference, build_reference
from search_ui.context import current_site, external_url
from search_ui.local_dates import format_day
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
        raise BadSearchRequestError("error.format")
    return CITATION_FORMATS[name]


def build_current_reference(document: CitedDocument) -> Reference:
    """Build the reference to a document that the reader accesses today."""
    access_date = format_day(current_site().clock())
    return build_reference(document, access_date, external_url("public.article", doc_id=document.doc_id))


def find_exported_results(search_service: SearchService, search_request: SearchRequest) -> Sequence[CitedDocument]:
    """Return the first `MAX_EXPORTED_RESULTS` results of a search. Raises what `SearchService.execute` raises."""
    one_page = replace(search_service.settings, page_size=MAX_EXPORTED_RESULTS, deepest_result=MAX_EXPORTED_RESULTS)
    return replace(search_service, settings=one_page, has_snippets=False).execute(search_request.with_changes()).hits


def citation_response(documents: Sequence[CitedDocument], citation_format: CitationFormat, file_name: str) -> Response:
    """Return references to documents as a file to download; `file_name` has no extension."""
    text = citation_format.write([build_current_reference(document) for document in documents])
    response = Response(text, content_type=f"{citation_format.media_type}; charset=utf-8")
    response.headers.set("Content-Disposition", "attachment", filename=f"{file_name}.{citation_format.extension}")
    return response
