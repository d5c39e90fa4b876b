"""The answer for articles that the index does not have."""

from typing import NoReturn

from flask import abort

from search_ui.context import current_site
from search_ui.pages.article import is_doc_id


def abort_missing(doc_id: str) -> NoReturn:
    """Abort with status 410 if the article was taken down, otherwise with 404."""
    is_taken_down = is_doc_id(doc_id) and current_site().backend.takedowns.find_document(doc_id) is not None
    abort(410 if is_taken_down else 404)
