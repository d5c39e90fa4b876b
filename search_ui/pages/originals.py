"""Serves pages and files as they were fetched, so that libraries can cite them.

    GET /article/<id>/original         source and time of the fetch, with a frame for the page
    GET /article/<id>/original/page    the sanitized page, for the frame
    GET /article/<id>/original/file    the bytes of a file, as an attachment

Two independent protections apply. The HTML is sanitized (`pipeline/search_site/html_sanitizer.py`), and the browser
must not run or load anything (`FRAME_HEADERS` and a frame with an empty sandbox).
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from urllib.parse import unquote, urlsplit

from flask import Blueprint, Response, abort, send_file

from domain.file_formats import FORMATS_BY_NAME, HTML_FORMAT
from search_ui.context import abort_missing, current_services, error_response, render_page
from search_ui.i18n import translate_code
from search_ui.interfaces import OriginalDocument, OriginalError
from search_ui.query.display_text import clean_text, safe_url
from search_ui.services.articles import is_doc_id

blueprint = Blueprint("originals", __name__, url_prefix="/article/<doc_id>/original")

MAX_FILE_NAME_CHARS = 100
CACHE_SECONDS = 3600  # in the browser
_UNSAFE_FILE_CHARS_RE = re.compile(r"[\\/:*?\"<>|%\x00-\x1f\x7f]")
_HTTP_STATUS_BY_CODE = {"busy": 503, "refused": 403}
_LOCKED_CSP = "default-src 'none'; base-uri 'none'; form-action 'none'; sandbox"
FRAME_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": f"{_LOCKED_CSP}; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-DNS-Prefetch-Control": "off",
    "Cross-Origin-Resource-Policy": "same-origin",
}
FILE_HEADERS: Mapping[str, str] = {"Content-Security-Policy": _LOCKED_CSP, "X-Download-Options": "noopen"}


@blueprint.after_request
def _add_noindex(response: Response) -> Response:
    response.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    return response


@blueprint.errorhandler(OriginalError)
def _on_original_error(error: OriginalError) -> Response:
    """Return the page that explains why a saved copy cannot be shown."""
    code = str(error)
    return error_response(_HTTP_STATUS_BY_CODE.get(code, 404), translate_code("original", code), code)


@blueprint.get("")
def show_original(doc_id: str) -> Response:
    """Show a page or file as it was fetched, with URL and fetch time: HTML in a frame, a file as a download link."""
    document = _original_or_404(doc_id)
    if document.format == HTML_FORMAT:
        # raises if the page cannot be shown, so that the error is not shown inside the frame
        current_services().backend.originals.sanitized_html(doc_id)
    fetched_at = datetime.fromtimestamp(document.fetched_at, UTC)
    return render_page(
        "original.html",
        doc_id=doc_id,
        document=document,
        url=clean_text(document.url),
        link=safe_url(document.url),
        at=fetched_at,
    )


@blueprint.get("/page")
def frame(doc_id: str) -> Response:
    """Return the sanitized page for the frame."""
    if _original_or_404(doc_id).format != HTML_FORMAT:
        abort(404)
    return _with_private_headers(
        Response(current_services().backend.originals.sanitized_html(doc_id), mimetype="text/html"), FRAME_HEADERS
    )


@blueprint.get("/file")
def file(doc_id: str) -> Response:
    """Return the file as an attachment with its media type."""
    document = _original_or_404(doc_id)
    if document.format == HTML_FORMAT:
        abort(404)
    kind, name = FORMATS_BY_NAME[document.format].media_types[0], _file_name(document, doc_id)
    content = BytesIO(current_services().backend.originals.file_bytes(doc_id))
    return _with_private_headers(send_file(content, kind, as_attachment=True, download_name=name), FILE_HEADERS)


def _original_or_404(doc_id: str) -> OriginalDocument:
    site = current_services()
    document = site.backend.originals.find(doc_id) if site.settings.originals and is_doc_id(doc_id) else None
    return document or abort_missing(doc_id)


def _with_private_headers(response: Response, headers: Mapping[str, str]) -> Response:
    response.headers.update(headers)
    response.cache_control.private = True
    response.cache_control.max_age = CACHE_SECONDS
    return response


def _file_name(document: OriginalDocument, doc_id: str) -> str:
    """Return the file name from the URL, with the extension of the format."""
    url_file_name = unquote(urlsplit(document.url).path).rpartition("/")[2]
    name = _UNSAFE_FILE_CHARS_RE.sub("_", clean_text(url_file_name))[-MAX_FILE_NAME_CHARS:].lstrip(".")
    endings = FORMATS_BY_NAME[document.format].extensions
    return (
        name if name.lower().endswith(tuple(f".{ending}" for ending in endings)) else f"{name or doc_id}.{endings[0]}"
    )
