"""What the extractor's worker processes do with one page or document: they load this, and no store.

The process that hands out the pages names these functions only, so the extractor is loaded where it is used. The
workers load it when they start (`EXTRACTOR`).
"""

from dataclasses import replace

from crawler.http.content_type import content_type_of
from crawler.urls.canonical import canonical
from docstore.model import Article, Outcome, Reading, Reason, SiteKnowledge, Teaser
from extractor.settings import ExtractSettings

EXTRACTOR = ("extractor.article_extractor", "extractor.documents.read", "extractor.signature", "datasketch")
HTML_TYPES = ("text/html", "application/xhtml+xml")


def read_page(
    data: bytes, url: str, content_type: str, fetched_at: float, site: SiteKnowledge, settings: ExtractSettings
) -> Reading:
    """What the extractor makes of a page of which `site` is known, or of a document, complete as the store keeps it."""
    from extractor.article_extractor import ArticleExtractor
    from extractor.documents.read import read_document

    if is_document(data, url, content_type):
        return Reading(completed(read_document(data, url, content_type, fetched_at), url))
    reading = ArticleExtractor(settings).read(data, url, content_type, fetched_at, site)
    return replace(reading, result=completed(reading.result, url), teaser=known_teaser(reading.teaser, url))


def read_article(
    data: bytes, url: str, content_type: str, fetched_at: float, settings: ExtractSettings
) -> Article | Outcome:
    """The article of a page or a document of which nothing else is known, or why it has none."""
    from extractor.article_extractor import ArticleExtractor
    from extractor.documents.read import read_document

    if is_document(data, url, content_type):
        return read_document(data, url, content_type, fetched_at)
    return ArticleExtractor(settings).extract(data, url, content_type, fetched_at)


def is_document(data: bytes, url: str, content_type: str) -> bool:
    """Is it of one of the formats that are read beside HTML? What was kept as HTML was looked at by the crawl."""
    from extractor.documents.read import document_format

    said = content_type_of(content_type).type
    return said not in HTML_TYPES and bool(document_format(data, url, content_type))


def completed(result: Article | Outcome, url: str) -> Article | Outcome:
    """An article with its signature, and with the URLs it names in the form in which the store knows them."""
    if isinstance(result, Outcome):
        return result
    from extractor.signature import signature

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
