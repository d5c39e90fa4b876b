"""Where a page beyond the numbered ones begins: Solr's cursor mark, sealed.

Solr reads a mark as binary data of its own, so nobody but Solr may have written it; and a mark means something in its
own search alone. The seal holds the mark, the number of the page, and the search that it belongs to.
"""

import hashlib
import json
from dataclasses import dataclass

from itsdangerous import BadData, URLSafeSerializer

from search_ui.query.request import BadQueryError, SearchRequest, last_page
from search_ui.settings import SearchSettings

FIRST = "*"  # Solr's mark for the beginning


@dataclass(frozen=True)
class CursorPlace:
    """Page number `page` begins after what Solr has marked with `mark`."""

    page: int
    mark: str


class Cursors:
    """Seals and opens cursors with the site's `secret`."""

    def __init__(self, secret: bytes, settings: SearchSettings) -> None:
        self._seal = URLSafeSerializer(secret, salt="cursor")
        self._settings = settings

    def sealed(self, asked: SearchRequest, place: CursorPlace) -> str:
        """`place` in the search that `asked` belongs to, as text for a URL."""
        return str(self._seal.dumps([place.page, place.mark, self._fingerprint(asked)]))

    def opened(self, asked: SearchRequest) -> CursorPlace:
        """Where `asked.cursor` points; `BadQueryError` if it was not sealed here, for this search."""
        try:
            page, mark, fingerprint = self._seal.loads(asked.cursor)
        except (BadData, ValueError) as error:
            raise BadQueryError("error.cursor") from error
        if fingerprint != self._fingerprint(asked) or page > last_page(self._settings):
            raise BadQueryError("error.cursor")
        return CursorPlace(page, mark)

    def _fingerprint(self, asked: SearchRequest) -> str:
        search = json.dumps(asked.changed().arguments(self._settings))
        return hashlib.sha256(search.encode()).hexdigest()[:16]
