"""Breadth first: keep everything, follow links level by level (Wang Du 2019).

The depth limit and the incremental set are the crawl's own rules.
"""

from crawler.strategy import ParentPage, Relevance
from docstore.model import Link, Page


class BreadthFirst:
    """The strategy of the spine: links nearer to a seed come first."""

    def keep(self, page: Page) -> Relevance:
        """Always."""
        return Relevance(keep=True, score=1.0)

    def link_priority(self, parent: ParentPage, link: Link) -> float | None:
        """The negative depth of the link."""
        return -float(parent.entry.depth + 1)

    def learn(self, page: Page) -> None:
        """Nothing to learn: the set of known URLs is the frontier's."""
