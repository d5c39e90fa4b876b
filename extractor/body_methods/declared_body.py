"""The text of an article whose page shows none: what the page says of it to machines.

Pages that scripts fill give the whole text in JSON-LD (`articleBody`), those of a video or a picture at least
a summary.
"""

import html
import re

from extractor.body_methods.base import Body
from extractor.fields.json_ld import find_json_ld_article
from extractor.page.layout import text_size
from extractor.page.parsed_page import ParsedPage
from extractor.page_types.list_page import declared_score, url_score

DESCRIPTION_META_NAMES = ("og:description", "description", "twitter:description")
MIN_ARTICLE_SCORE = 3  # points from which on a page is an article for certain (extractor/page_types/list_page.py)
BLOCK_TAG_RE = re.compile(r"<(?:br|/?(?:p|div|li|h[1-6]|blockquote))\b[^<>]{0,300}>", re.I)
TAG_RE = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")


def find_declared_body(page: ParsedPage, title_line: int = -1) -> Body | None:
    """The body that a page states and does not show, without lines; None where it states none.

    A summary is one only where the page is an article for certain. `title_line` is the line of the title, if it has one.
    """
    text = markup_to_text(find_json_ld_article(page.json_ld, page.url).body)
    if not text and declared_score(page) + max(0, url_score(page.url)) >= MIN_ARTICLE_SCORE:
        text = longest_description(page)
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


def longest_description(page: ParsedPage) -> str:
    """The longest description of a page's metas, if it says more than its title."""
    texts = [markup_to_text(page.metas[name]) for name in DESCRIPTION_META_NAMES if name in page.metas]
    longest = max(texts, key=text_size, default="")
    return longest if longest not in page.title and longest != page.metas.get("og:title") else ""


def markup_to_text(markup: str) -> str:
    """A text without its tags and entities, one paragraph a line."""
    text = html.unescape(markup) if "&" in markup else markup
    if "<" in text:
        text = TAG_RE.sub("", BLOCK_TAG_RE.sub("\n", text))
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)
