"""A page or document as it was fetched, beside the text that was read of it: what a library can cite.

    GET /article/<id>/original         where and when it was fetched, around a frame with the page
    GET /article/<id>/original/page    the page, harmless, for that frame
    GET /article/<id>/original/file    the bytes of a document, to be kept and not shown

Two locks hold alone: what is served has nothing in it that acts or loads (`pipeline/search_site/safe_html.py`), and
the browser is told to run and load nothing (`FRAME_HEADERS`, and a frame with an empty sandbox).
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from urllib.parse import unquote, urlsplit

from flask import Blueprint, Response, abort, send_file

from docstore.formats import FORMATS, HTML
from search_ui.actions import Original, OriginalError
from search_ui.messages import say
from search_ui.pages.article import is_id
from search_ui.query.texts import link_to, shown
from search_ui.site import current_site, error_answer, page

pages = Blueprint("originals", __name__, url_prefix="/article/<doc_id>/original")

MAX_NAME = 100  # characters of a file's name
KEPT_SECONDS = 3600  # by the browser that asked
_UNSAFE = re.compile(r"[\\/:*?\"<>|%\x00-\x1f\x7f]")
_STATUS = {"busy": 503, "refused": 403}
_LOCKED = "default-src 'none'; base-uri 'none'; form-action 'none'; sandbox"
FRAME_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": f"{_LOCKED}; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-DNS-Prefetch-Control": "off",
    "Cross-Origin-Resource-Policy": "same-origin",
}
FILE_HEADERS: Mapping[str, str] = {"Content-Security-Policy": _LOCKED, "X-Download-Options": "noopen"}


@pages.after_request
def _unlisted(response: Response) -> Response:
    response.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    return response


@pages.errorhandler(OriginalError)
def _fault(error: OriginalError) -> Response:
    """Why a page cannot be shown as it was."""
    code = str(error)
    return error_answer(_STATUS.get(code, 404), say(f"original.{code}"), code)


@pages.get("")
def original(doc_id: str) -> Response:
    """Where the page was found and when; around the page itself, or a document to keep."""
    kept = _kept(doc_id)
    if kept.format == HTML:
        current_site().actions.originals.html(doc_id)  # what cannot be shown is said here, and not in the frame
    at = datetime.fromtimestamp(kept.fetched_at, UTC)
    return page("original.html", doc_id=doc_id, kept=kept, url=shown(kept.url), link=link_to(kept.url), at=at)


@pages.get("/page")
def frame(doc_id: str) -> Response:
    """The page for the frame."""
    if _kept(doc_id).format != HTML:
        abort(404)
    return _bounded(Response(current_site().actions.originals.html(doc_id), mimetype="text/html"), FRAME_HEADERS)


@pages.get("/file")
def file(doc_id: str) -> Response:
    """The document, as an attachment of its own type."""
    kept = _kept(doc_id)
    if kept.format == HTML:
        abort(404)
    kind, name = FORMATS[kept.format].types[0], _file_name(kept, doc_id)
    content = BytesIO(current_site().actions.originals.file(doc_id))
    return _bounded(send_file(content, kind, as_attachment=True, download_name=name), FILE_HEADERS)


def _kept(doc_id: str) -> Original:
    site = current_site()
    kept = site.actions.originals.of(doc_id) if site.settings.originals and is_id(doc_id) else None
    return kept or abort(404)


def _bounded(response: Response, headers: Mapping[str, str]) -> Response:
    response.headers.update(headers)
    response.cache_control.private = True
    response.cache_control.max_age = KEPT_SECONDS
    return response


def _file_name(kept: Original, doc_id: str) -> str:
    """The name of the file on its site, with the ending of its format."""
    last = unquote(urlsplit(kept.url).path).rpartition("/")[2]
    name = _UNSAFE.sub("_", shown(last))[-MAX_NAME:].lstrip(".")
    endings = FORMATS[kept.format].endings
    return name if name.lower().endswith(tuple(f".{one}" for one in endings)) else f"{name or doc_id}.{endings[0]}"
