"""The sites of a file, as settings of the crawl."""

from dataclasses import dataclass

from crawler.urls.canonical import Scope, UrlRules, canonicalize_url, host_of, rejection_reason
from domain.outcome import Reason

MAX_SHOWN_CHARS = 200  # of a part of the file, in a note


@dataclass(frozen=True)
class SiteList:
    """The sites of a file.

    Attributes:
        seeds: Canonical URLs where the crawl begins.
        notes: One line about each part of the file that the settings cannot express.
    """

    seeds: tuple[str, ...]
    notes: tuple[str, ...]


def parse_seed(text: str, base: str = "") -> str | Reason:
    """Return the canonical form of a seed URL, or the reason why a crawl cannot begin there."""
    url = canonicalize_url(text, base)
    if isinstance(url, Reason):
        return url
    return rejection_reason(url, UrlRules((Scope(host_of(url)),))) or url
