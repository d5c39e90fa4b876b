"""Functions that the extraction workers run for one page or document; they do not open the store.

The calling process imports only these functions, not the extractor. Each worker imports the extractor at its start
(`EXTRACTOR_MODULES`).
"""

from collections.abc import Sequence
from dataclasses import replace

from crawler.http.content_type import parse_content_type
from crawler.urls.canonical import canonicalize_url
from domain.article import Article, ExtractionResult, SiteTemplate
from domain.file_formats import HTML_MEDIA_TYPES
from domain.outcome import Outcome, Reason
from domain.recognized_page import RecognizedPage
from extractor.settings import ExtractSettings

EXTRACTOR_MODULES = ("extractor.article_extractor", "extractor.documents.reader", "extractor.minhash")


def extract_page(
    data: bytes,
    url: str,
    content_type: str,
    fetched_at: float,
    site: SiteTemplate,
    settings: ExtractSettings,
    recognized_pages: Sequence[RecognizedPage] = (),
) -> ExtractionResult:
    """Extract a page with the template of its site, or a document with its recognized pages.

    `data` is the complete stored body.
    """
    from extractor.article_extractor import ArticleExtractor
    from extractor.documents.reader import extract_document

    if is_document(data, url, content_type):
        reading = extract_document(data, url, content_type, fetched_at, recognized_pages)
        return replace(reading, result=finalize_article(reading.result, url))
    reading = ArticleExtractor(settings).extract_with_site(data, url, content_type, fetched_at, site)
    teaser_url = canonical_or_empty(reading.teaser.url, url) if reading.teaser else ""
    teaser = replace(reading.teaser, url=teaser_url) if reading.teaser and teaser_url else None
    return replace(reading, result=finalize_article(reading.result, url), teaser=teaser)


def read_article(
    data: bytes, url: str, content_type: str, fetched_at: float, settings: ExtractSettings
) -> Article | Outcome:
    """Return the article of a page or document without a site template, or the outcome if there is no article."""
    from extractor.article_extractor import ArticleExtractor
    from extractor.documents.reader import read_document

    if is_document(data, url, content_type):
        return read_document(data, url, content_type, fetched_at)
    return ArticleExtractor(settings).extract(data, url, content_type, fetched_at)


def is_document(data: bytes, url: str, content_type: str) -> bool:
    """True if the data is in one of the document formats, not HTML.

    A declared HTML type is trusted: the crawl checked it.
    """
    from extractor.documents.reader import detect_format

    declared_type = parse_content_type(content_type).media_type
    return declared_type not in HTML_MEDIA_TYPES and bool(detect_format(data, url, content_type))


def finalize_article(result: Article | Outcome, url: str) -> Article | Outcome:
    """Add the MinHash signature to an article and canonicalize its URLs. Outcomes are returned unchanged."""
    if isinstance(result, Outcome):
        return result
    from extractor.minhash import minhash_signature

    return replace(
        result,
        signature=minhash_signature(result.body),
        canonical_url=canonical_or_empty(result.canonical_url, url),
        next_url=canonical_or_empty(result.next_url, url),
    )


def canonical_or_empty(url: str, base: str) -> str:
    """Return the canonical form of a URL on the page `base`; "" if it has none."""
    canonical_or_reason = canonicalize_url(url, base) if url else ""
    return "" if isinstance(canonical_or_reason, Reason) else canonical_or_reason
