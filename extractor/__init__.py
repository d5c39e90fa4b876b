"""Extractor stage: a fetched page becomes an article, or an outcome that says why it is none.

In: bytes (or text) of a page and its URL.   Out: docstore.model.Article or Outcome.

Open article_extractor.py first; it is the flow:

    page/      the page as the decisions see it: bytes to text (charset.py), text to a clean tree (dom.py), the tree as
               lines of text (lines.py); and the body as paragraphs, lists, tables and pictures (structure.py)
    methods/   which lines are the body; the setting `extract.method` chooses
    fields/    title, date, byline, language and the other fields
    documents/ PDF, Office and other files, which are no pages: documents/read.py, a flow of its own
    types/     what kind of page it is, and the body by the rule of that kind: threads, manuals, products, collections
    list_page.py, manual.py, rejection.py, teaser.py   what is no article, and why
    signature.py   by what near-duplicates are found
"""

from docstore.model import Article, Outcome
from extractor.settings import ExtractSettings

__all__ = ["ExtractSettings", "extract"]


def extract(html: bytes | str, url: str, content_type: str = "") -> Article | Outcome:
    """The article of a page by the default method and settings, or the reason why it has none."""
    from extractor.article_extractor import ArticleExtractor  # here: whoever wants the settings alone loads no parser

    return ArticleExtractor().extract(html, url, content_type)
