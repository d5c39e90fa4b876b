"""Where a page beyond the numbered ones begins: Solr's cursor mark, sealed.

Solr reads a mark as binary data of its own, so nobody but Solr may have written it; and a mark means something in its
own search alone. The seal holds the mark, the number of the page, and the search that it belongs to.
"""

import hashlib
import json
from dataclasses import dataclass

from itsdangerous import BadData, URLSafeSerializer

from search_ui.query.search_request import BadSearchRequestError, SearchRequest, last_page
from search_ui.settings import SearchSettings

FIRST_CURSOR_MARK = "*"  # Solr's mark for the beginning


@dataclass(frozen=True)
class CursorPosition:
    """Page number `page` begins after what Solr has marked with `solr_mark`."""

    page: int
    solr_mark: str


class CursorCodec:
    """Seals and opens cursors with the site's `secret`."""

    def __init__(self, secret: bytes, settings: SearchSettings) -> None:
        self._serializer = URLSafeSerializer(secret, salt="cursor")
        self._settings = settings

    def encode(self, request: SearchRequest, position: CursorPosition) -> str:
        """`position` in the search that `request` belongs to, as text for a URL."""
        return str(self._serializer.dumps([position.page, position.solr_mark, self._request_fingerprint(request)]))

    def decode(self, request: SearchRequest) -> CursorPosition:
        """Where `asked.cursor` points; `BadSearchRequestError` if it was not sealed here, for this search."""
        try:
            page, cursor_mark, fingerprint = self._serializer.loads(request.cursor)
        except (BadData, ValueError) as error:
            raise BadSearchRequestError("error.cursor") from error
        if fingerprint != self._request_fingerprint(request) or page > last_page(self._settings):
            raise BadSearchRequestError("error.cursor")
        return CursorPosition(page, cursor_mark)

    def _request_fingerprint(self, request: SearchRequest) -> str:
        search = json.dumps(request.with_changes().to_url_params(self._settings))
        return hashlib.sha256(search.encode()).hexdigest()[:16]
