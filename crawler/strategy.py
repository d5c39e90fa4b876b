"""The contract of a crawl strategy (METHODS section 5)."""

from dataclasses import dataclass
from typing import Protocol

from docstore.model import FrontierEntry, Link, Page


@dataclass(frozen=True)
class Relevance:
    """Is the page worth keeping, and how relevant is it (0 hopeless, 1 certain)?"""

    keep: bool
    score: float


@dataclass(frozen=True)
class ParentPage:
    """The page a link was found on."""

    entry: FrontierEntry
    page: Page
    judgement: Relevance


class Strategy(Protocol):
    """What varies between the papers. Called from one thread, for one page at a time: keep, link_priority, learn."""

    def keep(self, page: Page) -> Relevance:
        """Judge a fetched page."""

    def link_priority(self, parent: ParentPage, link: Link) -> float | None:
        """How soon to fetch what the link leads to, higher is sooner; None to discard it."""

    def learn(self, page: Page) -> None:
        """Take note of a page that was kept."""
