"""Finds the body that a page declares in JSON-LD or meta tags, for pages without visible text.

Pages rendered by scripts declare the whole text in JSON-LD (`articleBody`). Pages of a video or a picture declare at
least a summary.
"""

import html
import re

from extractor.fields.json_ld import find_json_ld_article
from extractor.page.layout import text_size
from extractor.page.parsed_page import Body, ParsedPage
from extractor.page_types.page_signals import declared_score, url_score

DESCRIPTION_META_NAMES = ("og:description", "description", "twitter:description")
MIN_ARTICLE_SCORE = 3  # minimum points of a certain article (extractor/page_types/page_signals.py)
BLOCK_TAG_RE = re.compile(r"<(?:br|/?(?:p|div|li|h[1-6]|blockquote))\b[^<>]{0,300}>", re.I)
TAG_RE = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")


def find_declared_body(page: ParsedPage, title_line: int = -1) -> Body | None:
    """Return the declared body of a page, without lines; None if it declares none.

    A summary is used only if the page is certainly an article. `title_line` is the line index of the title, or -1.
    """
    text = markup_to_text(find_json_ld_article(page.json_ld, page.url, page.head_titles).body)
    if not text and declared_score(page) + max(0, url_score(page.url)) >= MIN_ARTICLE_SCORE:
        texts = [markup_to_text(page.metas[name]) for name in DESCRIPTION_META_NAMES if name in page.metas]
        longest = max(texts, key=text_size, default="")
        # A description may only repeat the title.
        text = longest if longest not in page.title and longest != page.metas.get("og:title") else ""
    spans = page.layout.spans
    if not text or not spans:
        return None
    lines = page.layout.lines
    heading_line = (
        title_line
        if title_line >= 0
        else next((line_index for line_index, line in enumerate(lines) if line.tag == "h1"), -1)
    )
    return Body(lines[heading_line].span_index if heading_line >= 0 else 0, (), text, heading_line)


def markup_to_text(markup: str) -> str:
    """Return the text of HTML markup without tags and entities, one paragraph a line."""
    text = html.unescape(markup) if "&" in markup else markup
    if "<" in text:
        text = TAG_RE.sub("", BLOCK_TAG_RE.sub("\n", text))
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)
