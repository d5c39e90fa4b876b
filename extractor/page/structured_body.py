"""The text of an article whose page shows none: what the page says of it to machines.

Pages that scripts fill give the whole text in JSON-LD (`articleBody`), those of a video or a picture at least
a summary.
"""

import html
import re

from extractor.fields.linked_data import linked_article
from extractor.list_page import address_points, stated_points
from extractor.methods.contract import Body
from extractor.page.document import Document
from extractor.page.layout import size_of

DESCRIPTIONS = ("og:description", "description", "twitter:description")
SURE = 3  # points from which on a page is an article for certain (extractor/list_page.py)
BLOCK_TAG = re.compile(r"<(?:br|/?(?:p|div|li|h[1-6]|blockquote))\b[^<>]{0,300}>", re.I)
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")


def structured_body(document: Document, title: int = -1) -> Body | None:
    """The body that a page states and does not show, without lines; None where it states none.

    A summary is one only where the page is an article for certain. `title` is the line of the title, if it has one.
    """
    text = plain_text(linked_article(document.json_ld, document.url).body)
    if not text and stated_points(document) + max(0, address_points(document.url)) >= SURE:
        text = summary_of(document)
    spans = document.layout.spans
    if not text or not spans:
        return None
    lines = document.layout.lines
    place = title if title >= 0 else next((at for at, line in enumerate(lines) if line.tag == "h1"), -1)
    return Body(lines[place].span if place >= 0 else 0, (), text, place)


def summary_of(document: Document) -> str:
    """The longest description of a page's metas, if it says more than its title."""
    texts = [plain_text(document.metas[name]) for name in DESCRIPTIONS if name in document.metas]
    best = max(texts, key=size_of, default="")
    return best if best not in document.title and best != document.metas.get("og:title") else ""


def plain_text(markup: str) -> str:
    """A text without its tags and entities, one paragraph a line."""
    text = html.unescape(markup) if "&" in markup else markup
    if "<" in text:
        text = TAG.sub("", BLOCK_TAG.sub("\n", text))
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)
