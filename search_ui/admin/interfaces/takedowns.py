"""The interface of the pages about takedowns."""

from collections.abc import Sequence
from typing import Protocol

from domain.administration import Takedown


class TakedownService(Protocol):
    """Takes pages down permanently, and undoes it."""

    def take_down(self, url: str, account: str, reason: str) -> Sequence[Takedown]:
        """Exclude a page from crawl, extraction and index, with all addresses of the same article.

        Args:
            url: A URL, canonical or not.
            account: Name of the account.
            reason: Text of the operator.

        Returns:
            The new takedowns; empty if the page was taken down before.

        Raises:
            UrlError: `url` is not an http or https URL.
        """

    def restore(self, url: str, account: str) -> Sequence[Takedown]:
        """Undo the takedown of a page, so that the next run crawls it. Returns the takedowns that ended."""

    def find_document(self, doc_id: str) -> Takedown | None:
        """Return the takedown of the article with this document id, or None."""

    def list_all(self) -> Sequence[Takedown]:
        """Return all takedowns, the newest first."""
