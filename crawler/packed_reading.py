"""Pages and links as words, and as bytes to keep: a focused crawl reads a page once and remembers what it read.

{"url": ..., "title": [...], "description": [...], "blocks": [["content", 0.4, [...]], ...], "links": [[url, [...],
[...]], ...]}         zlib; about a third of the page's text
"""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from crawler.guide import LinkWords, PageWords, WordBlock, Words
from docstore.errors import StoreError
from docstore.frontier.focused_decisions import PageDecision
from docstore.model import Link, Page

SEED_PRIORITY = 1e9  # seeds come before whatever a strategy promises

Cut = Callable[[str], Words]
"""Text to words, lower case: what the strategies compare."""
ReadPage = Callable[[Page], PageWords]


@dataclass(frozen=True)
class PageReading:
    """A fetched page as words, with its links (each URL once, none to the page itself)."""

    page: PageWords
    links: tuple[LinkWords, ...] = ()


class Guide(Protocol):
    """Who judges the pages and links of a crawl that looks for something (`focused.TopicGuide`)."""

    def read(self, page: Page, links: Sequence[Link]) -> PageReading:
        """A page and its links as words; in any thread."""

    def judge(self, reading: PageReading, anchors: Mapping[str, str]) -> PageDecision:
        """What to make of a fetched page. `anchors` has the text of each of its links. In one thread."""

    def priority(self, url: str) -> float | None:
        """How soon to fetch a URL; None: not at all, as far as is known."""


def read_links(page_url: str, links: Sequence[Link], cut: Cut) -> tuple[LinkWords, ...]:
    """The links of a page as words; those to itself tell nothing."""
    return tuple(LinkWords(link.url, cut(link.anchor), cut(link.context)) for link in links if link.url != page_url)


def packed(reading: PageReading) -> bytes:
    """The reading as bytes; `unpacked` gives it back."""
    page = reading.page
    row = {
        "url": page.url,
        "title": page.title,
        "description": page.description,
        "blocks": [(block.kind, block.weight, block.words) for block in page.blocks],
        "links": [(link.url, link.anchor, link.context) for link in reading.links],
    }
    return zlib.compress(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass"), 3)


def unpacked(data: bytes) -> PageReading:
    """The reading that was packed. StoreError for other bytes."""
    try:
        row: dict[str, Any] = json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass"))
        blocks = tuple(WordBlock(kind, tuple(words), weight) for kind, weight, words in row["blocks"])
        page = PageWords(row["url"], tuple(row["title"]), tuple(row["description"]), blocks)
        links = tuple(LinkWords(url, tuple(anchor), tuple(context)) for url, anchor, context in row["links"])
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"what a focused crawl remembers of a page is damaged: {error}") from error
    return PageReading(page, links)
