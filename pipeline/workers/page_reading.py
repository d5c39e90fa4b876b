"""What the extractor's worker processes do with one page or document: they load this, and no store.

The process that hands out the pages names these functions only, so the extractor is loaded where it is used. The
workers load it when they start (`EXTRACTOR`).
"""

from dataclasses import replace

from crawler.http.content_type import parse_content_type
from crawler.urls.canonical import canonicalize_url
from docstore.model import Article, ExtractionResult, Outcome, Reason, SiteTemplate, Teaser
from extractor.settings import ExtractSettings

EXTRACTOR = ("extractor.article_extractor", "extractor.documents.reader", "extractor.minhash", "datasketch")
HTML_TYPES = ("text/html", "application/xhtml+xml")


def read_page(
    data: bytes, url: str, content_type: str, fetched_at: float, site: SiteTemplate, settings: ExtractSettings
) -> ExtractionResult:
    """What the extractor makes of a page of which `site` is known, or of a document, complete as the store keeps it."""
    from extractor.article_extractor import ArticleExtractor
    from extractor.documents.reader import read_document

    if is_document(data, url, content_type):
        return ExtractionResult(finalize_article(read_document(data, url, content_type, fetched_at), url))
    reading = ArticleExtractor(settings).extract_with_site(data, url, content_type, fetched_at, site)
    return replace(reading, result=finalize_article(reading.result, url), teaser=canonical_teaser(reading.teaser, url))


def read_article(
    data: bytes, url: str, content_type: str, fetched_at: float, settings: ExtractSettings
) -> Article | Outcome:
    """The article of a page or a document of which nothing else is known, or why it has none."""
    from extractor.article_extractor import ArticleExtractor
    from extractor.documents.reader import read_document

    if is_document(data, url, content_type):
        return read_document(data, url, content_type, fetched_at)
    return ArticleExtractor(settings).extract(data, url, content_type, fetched_at)


def is_document(data: bytes, url: str, content_type: str) -> bool:
    """Is it of one of the formats that are read beside HTML? What was kept as HTML was looked at by the crawl."""
    from extractor.documents.reader import detect_format

    declared_type = parse_content_type(content_type).media_type
    return declared_type not in HTML_TYPES and bool(detect_format(data, url, content_type))


def finalize_article(result: Article | Outcome, url: str) -> Article | Outcome:
    """An article with its signature, and with the URLs it names in the form in which the store knows them."""
    if isinstance(result, Outcome):
        return result
    from extractor.minhash import minhash_signature

    return replace(
        result,
        signature=minhash_signature(result.body),
        canonical_url=canonical_or_empty(result.canonical_url, url),
        next_url=canonical_or_empty(result.next_url, url),
    )


def canonical_teaser(teaser: Teaser | None, url: str) -> Teaser | None:
    """A teaser of a page whose URL the store may know."""
    target = canonical_or_empty(teaser.url, url) if teaser is not None else ""
    return replace(teaser, url=target) if teaser is not None and target else None


def canonical_or_empty(url: str, base: str) -> str:
    """The canonical form of a URL that a page names; "" where it has none."""
    canonical_or_reason = canonicalize_url(url, base) if url else ""
    return "" if isinstance(canonical_or_reason, Reason) else canonical_or_reason
