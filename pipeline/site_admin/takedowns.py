"""Pages that an operator takes down: the store first, then Solr, both before the answer to the form."""

import logging
from collections.abc import Sequence

from crawler.urls.canonical import canonicalize_url
from domain.administration import Takedown
from domain.article import document_id
from domain.errors import PlumblineError, UrlError
from domain.outcome import Reason
from pipeline.engine import Engine

log = logging.getLogger(__name__)


class StoreTakedowns:
    """Implements `search_ui.admin.interfaces.takedowns.TakedownService` on the store and the index.

    With `opens_solr` a takedown opens Solr if it is not open and the store has indexed documents.
    """

    def __init__(self, engine: Engine, opens_solr: bool = False) -> None:
        self._engine = engine
        self._opens_solr = opens_solr
        self._table = engine.store.takedowns
        self.find_document, self.list_all = self._table.find_document, self._table.list_all

    def take_down(self, url: str, account: str, reason: str, other_addresses: Sequence[str] = ()) -> Sequence[Takedown]:
        """Take a page down; see `docstore.takedowns.TakedownTable.take_down`.

        The documents are deleted from Solr at once, even while a run writes to the index. If Solr is not available,
        the next update of the index deletes them: their deletion is logged in the store.

        Raises:
            UrlError: `url` is not an http or https URL.
        """
        canonical_form = canonicalize_url(url)
        if isinstance(canonical_form, Reason):
            raise UrlError(f"{url[:200]!r} is not an http or https URL")
        new_takedowns = self._table.take_down(canonical_form, account, reason, other_addresses)
        if new_takedowns:
            self._delete_documents([document_id(takedown.url) for takedown in new_takedowns])
        return new_takedowns

    def restore(self, url: str, account: str) -> Sequence[Takedown]:
        """Undo a takedown; see `docstore.takedowns.TakedownTable.restore`."""
        canonical_form = canonicalize_url(url)
        return [] if isinstance(canonical_form, Reason) else self._table.restore(canonical_form, account)

    def _delete_documents(self, doc_ids: Sequence[str]) -> None:
        has_documents = self._engine.store.change_log.indexed_document_count() > 0
        if not (self._engine.has_index or (self._opens_solr and has_documents)):
            return
        try:
            self._engine.index.delete(doc_ids)
            self._engine.index.commit(soft=True)
        except PlumblineError as error:
            log.warning("%d documents were not deleted from Solr at once: %s", len(doc_ids), error)
