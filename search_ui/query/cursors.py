"""Signs the start of a results page behind the numbered pages: a Solr cursor mark.

Solr decodes a mark as its own binary data, so only marks that Solr created may be sent to it. A mark is valid for one
search only. The signed value contains the mark, the page number and a fingerprint of the search.
"""

import hashlib
import json
from dataclasses import dataclass

from itsdangerous import BadData, URLSafeSerializer

from search_ui.query.search_request import BadSearchRequestError, SearchRequest, last_page
from search_ui.settings import SearchSettings

FIRST_CURSOR_MARK = "*"  # Solr's mark for the start of the results


@dataclass(frozen=True)
class CursorPosition:
    """The start of page `page`: the hits that follow Solr's cursor mark `solr_mark`."""

    page: int
    solr_mark: str


class CursorCodec:
    """Signs and verifies cursors with the site's `secret`."""

    def __init__(self, secret: bytes, settings: SearchSettings) -> None:
        self._serializer = URLSafeSerializer(secret, salt="cursor")
        self._settings = settings

    def encode(self, request: SearchRequest, position: CursorPosition) -> str:
        """Return a signed cursor for a URL. It is valid for the search of `request` only."""
        return str(self._serializer.dumps([position.page, position.solr_mark, self._request_fingerprint(request)]))

    def decode(self, request: SearchRequest) -> CursorPosition:
        """Return the position of `request.cursor`.

        Raises:
            BadSearchRequestError: The cursor was not signed by this site, or belongs to another search.
        """
        try:
            page, cursor_mark, fingerprint = self._serializer.loads(request.cursor)
        except (BadData, ValueError) as error:
            raise BadSearchRequestError("cursor") from error
        if fingerprint != self._request_fingerprint(request) or page > last_page(self._settings):
            raise BadSearchRequestError("cursor")
        return CursorPosition(page, cursor_mark)

    def _request_fingerprint(self, request: SearchRequest) -> str:
        search = json.dumps(request.with_changes().to_url_params(self._settings))
        return hashlib.sha256(search.encode()).hexdigest()[:16]
