"""The content of sitemaps and feeds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SitemapEntry:
    """One page that a sitemap or feed lists.

    Attributes:
        url: canonical URL.
        lastmod: epoch seconds of the last change, None if not given.
    """

    url: str
    lastmod: float | None = None


@dataclass(frozen=True)
class Sitemap:
    """The content of a sitemap or feed: the listed pages, and the URLs of the sitemaps listed in an index."""

    entries: tuple[SitemapEntry, ...] = ()
    child_sitemaps: tuple[str, ...] = ()


EMPTY_SITEMAP = Sitemap()
