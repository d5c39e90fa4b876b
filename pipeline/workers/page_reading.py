"""What the extractor's worker processes do with one page (worker_process.py): they load this, and no store."""

from dataclasses import replace

from crawler.urls.canonical import canonical
from docstore.model import Article, Outcome, Reading, Reason, SiteKnowledge, Teaser
from extractor.article_extractor import ArticleExtractor
from extractor.settings import ExtractSettings
from extractor.signature import signature


def read_page(
    html: bytes, url: str, content_type: str, fetched_at: float, site: SiteKnowledge, settings: ExtractSettings
) -> Reading:
    """What the extractor makes of a page of which `site` is known, complete as the store keeps it."""
    reading = ArticleExtractor(settings).read(html, url, content_type, fetched_at, site)
    return replace(reading, result=completed(reading.result, url), teaser=known_teaser(reading.teaser, url))


def completed(result: Article | Outcome, url: str) -> Article | Outcome:
    """An article with its signature, and with the URLs it names in the form in which the store knows them."""
    if isinstance(result, Outcome):
        return result
    return replace(
        result,
        signature=signature(result.body),
        canonical_url=known_form(result.canonical_url, url),
        next_url=known_form(result.next_url, url),
    )


def known_teaser(teaser: Teaser | None, url: str) -> Teaser | None:
    """A teaser of a page whose URL the store may know."""
    target = known_form(teaser.url, url) if teaser is not None else ""
    return replace(teaser, url=target) if teaser is not None and target else None


def known_form(url: str, base: str) -> str:
    """The canonical form of a URL that a page names; "" where it has none."""
    found = canonical(url, base) if url else ""
    return "" if isinstance(found, Reason) else found
