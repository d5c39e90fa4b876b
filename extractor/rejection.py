"""Is what was found an article? The reasons why not, as pure rules on the body and the page around it."""

import re

from docstore.model import Outcome, PageType, Reason, Teaser, line_hash
from extractor.fields.persons import bare
from extractor.list_page import TEASER, list_reason, teaser_reason
from extractor.manual import is_index_file, no_text_reason
from extractor.methods.contract import Body
from extractor.page.document import Document
from extractor.page.layout import Layout, size_of
from extractor.page.phrases import is_copyright
from extractor.settings import ExtractSettings
from extractor.types.own_text import own_paragraph

CHARACTERS = 7  # a text of so many has the size of a Chinese character at least: three of them are letters
LONGEST_TRAIL = 200  # characters
ARROW = re.compile("[>＞»›→]+")
ONE_THING = (PageType.PRODUCT, PageType.SERVICE, PageType.REFERENCE)
BEGINNING = 10_000  # characters of a body in which words are looked for


def refuse(
    document: Document,
    body: Body | None,
    teaser: Teaser | None,
    settings: ExtractSettings,
    kind: PageType | None = None,
) -> Outcome | None:
    """Why a page has no article, or None where `body` is one. Every refusal says what was seen.

    `kind` is what the page was found to be, None where nothing but its text says so.
    """
    size = body_size(body, settings)
    if body is not None and size <= settings.copyright_longest and is_notice(body.text):
        return Outcome(Reason.COPYRIGHT_ONLY, body.text[:80])
    if is_index_file(document):
        return Outcome(Reason.LIST_PAGE, "an index of a manual")
    if body is not None and is_trail_alone(body.text, document.title):
        return Outcome(Reason.NO_BODY, f"a breadcrumb trail alone: {body.text[:40]}")
    if body is not None and body.lines and (why := no_text_reason(document, body.lines, body.title)):
        return Outcome(Reason.NO_BODY, why)
    if why := kind_reason(document, body, size, settings, kind) or teaser_reason(document, body, teaser):
        return Outcome(Reason.LIST_PAGE, why)
    if body is not None and size >= settings.shortest_body:
        return None if has_words(body.text) else Outcome(Reason.NO_BODY, f"no words, but {body.text[:40]}")
    if is_bare(document.layout, settings.copyright_longest):
        return Outcome(Reason.COPYRIGHT_ONLY, "a copyright notice and no article")
    if size:
        return Outcome(Reason.NO_BODY, f"{size:.0f} characters of text")
    own = "the title alone" if body is not None else "no text found"
    return Outcome(
        Reason.NO_BODY, own + (" beside what many pages of the site show" if shows_template(document) else "")
    )


def kind_reason(
    document: Document, body: Body | None, size: float, settings: ExtractSettings, kind: PageType | None
) -> str:
    """Why a page of some kind is a list, or "". What makes a list of articles does not make one of a product's page, of
    a service's, of a manual's: they have links to read more, and headlines over short texts. A collection is a list,
    unless it has a paragraph of its own.
    """
    if kind in ONE_THING and size > settings.list_longest_body:
        return ""
    if kind is PageType.COLLECTION and size > settings.list_longest_body and own_paragraph(document):
        return ""
    return list_reason(document, body, size, settings)


def has_words(text: str) -> bool:
    """Letters, characters or digits stand in the beginning of a text."""
    return any(map(str.isalnum, text[:BEGINNING]))


def is_trail_alone(text: str, title: str) -> bool:
    """The whole text is a line that says where the page stands: its steps, joined by arrows, one of them the site's
    or the page's name as <title> has it."""
    if len(text) > LONGEST_TRAIL or "\n" in text.strip():
        return False
    steps = [bare(step) for step in ARROW.split(text)]
    return len(steps) > 1 and any(len(step) > 1 and step in bare(title) for step in steps)


def is_title_alone(body: Body) -> bool:
    """Nothing was found but the title's own line."""
    return body.lines == (body.title,)


def shows_template(document: Document) -> bool:
    """A line of text that many pages of the site show stands on the page (ZK-S3)."""
    repeated = document.site.repeated
    return any(line.size >= TEASER and line_hash(line.text) in repeated for line in document.layout.lines)


def body_size(body: Body | None, settings: ExtractSettings) -> float:
    """The size of a body, of a long one that of its beginning: it is larger than all that it is compared with.

    0 where there is none, and for the title alone.
    """
    if body is None or is_title_alone(body):
        return 0.0
    longest = max(settings.copyright_longest, settings.list_longest_body, settings.shortest_body)
    return size_of(body.text[: CHARACTERS * (longest + 1)])


def is_notice(body: str) -> bool:
    """Most of a text stands in lines with copyright or registration notices (ZK-S3)."""
    notices = sum(size_of(line) for line in body.split("\n") if is_copyright(line))
    return notices > 0.5 * size_of(body)


def is_bare(layout: Layout, longest: float) -> bool:
    """The page holds a copyright notice, and hardly any text beside it and beside links."""
    notices = [is_copyright(line.text) for line in layout.lines]
    rest = sum(line.size - line.link_size for line, notice in zip(layout.lines, notices, strict=True) if not notice)
    return any(notices) and rest <= longest
