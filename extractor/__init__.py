"""Extractor stage: turns a fetched page into an article, or into an outcome with the reason for its rejection.

Input: bytes (or text) of a page and its URL. Output: domain.article.Article or Outcome.

Start with article_extractor.py, which contains the flow:

    page/          parse a page: bytes to text (text/decoding), text to a clean tree (dom.py), the tree to lines of
                   text and spans of elements (layout_builder.py)
    body_methods/  choose the lines of the body; the setting `extract.method` selects the method
    article_blocks.py, rendering.py   the body as paragraphs, lists, tables and pictures, and its output formats
    fields/        title, date, byline, language and the other fields
    page_types/    classify the page (thread, manual, product, collection), detect list pages and teasers, reject pages
    documents/     PDF, Office and other files: documents/reader.py, a flow of its own
    minhash.py     signature of a text, used to find near-duplicates
"""

from domain.article import Article
from domain.outcome import Outcome
from extractor.settings import ExtractSettings

__all__ = ["ExtractSettings", "extract"]


def extract(html: bytes | str, url: str, content_type: str = "") -> Article | Outcome:
    """Extract the article of a page with the default method and settings.

    Args:
        html: Page as bytes or decoded text.
        url: URL of the page, the base of its relative links.
        content_type: HTTP header as sent; its charset is one hint for decoding.

    Returns:
        The article, or an Outcome with the reason why the page has none.
    """
    from extractor.article_extractor import ArticleExtractor  # lazy: importing the settings must not load the parser

    return ArticleExtractor().extract(html, url, content_type)
