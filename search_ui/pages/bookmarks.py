"""Bookmarks: articles that a reader keeps in the browser. The server lists and exports them, and stores nothing."""

from collections.abc import Sequence

from flask import Blueprint, Response, request
from werkzeug.datastructures import MultiDict

from search_ui import api
from search_ui.citations.formats import CITATION_FORMATS
from search_ui.context import current_services, external_url, render_page
from search_ui.query.search_request import BadSearchRequestError
from search_ui.services.articles import is_doc_id, list_by_ids

blueprint = Blueprint("bookmarks", __name__)

MAX_BOOKMARKS = 10_000  # in one browser; also the limit of an export
MAX_SHARED = 100  # in one link


@blueprint.get("/bookmarks")
def show_bookmarks() -> Response:
    """Show the articles that a link names (`ids`); without them, a page that the browser fills."""
    ids = _read_ids(request.args)
    shared_ids = ids[:MAX_SHARED]
    articles = list_by_ids(current_services().search, shared_ids)
    return render_page(
        "bookmarks.html",
        is_shared="ids" in request.args,
        articles=articles,
        ids=",".join(shared_ids),
        gone=len(shared_ids) - len(articles),
        left_out=len(ids) - len(shared_ids),
        citation_formats=CITATION_FORMATS,
        max_shared=MAX_SHARED,
        address=external_url("bookmarks.show_bookmarks"),
    )


@blueprint.post("/bookmarks")
def export_bookmarks() -> Response:
    """Return references to the articles of a list, in its order, as a file."""
    citation_format = CITATION_FORMATS.get(request.form.get("format", ""))
    if citation_format is None:
        raise BadSearchRequestError("format")
    articles = list_by_ids(current_services().search, _read_ids(request.form)[:MAX_BOOKMARKS])
    return api.citation_response(articles, citation_format, "bookmarks")


def _read_ids(arguments: MultiDict[str, str]) -> Sequence[str]:
    """Return the document ids of a list, each once; what is no id is left out."""
    return tuple(dict.fromkeys(filter(is_doc_id, arguments.get("ids", "").split(","))))
