"""Is what was found an article? The reasons why not, as pure rules on the body and the page around it."""

import re

from docstore.model import Outcome, PageType, Reason, Teaser, text_hash64
from extractor.body_methods.base import Body
from extractor.fields.person_names import normalize_name
from extractor.page.boilerplate_phrases import is_copyright
from extractor.page.layout import Layout, text_size
from extractor.page.parsed_page import ParsedPage
from extractor.page_types.documentation import code_only_reason, is_documentation_index
from extractor.page_types.list_page import MIN_TEASER_SIZE, find_list_reason, find_teaser_reason
from extractor.page_types.own_text import has_own_paragraph
from extractor.settings import ExtractSettings

MAX_CHARS_PER_SIZE_UNIT = 7  # a text of so many has the size of a Chinese character at least: three of them are letters
MAX_BREADCRUMB_CHARS = 200  # characters
ARROW_RE = re.compile("[>＞»›→]+")
NON_LIST_TYPES = (PageType.PRODUCT, PageType.SERVICE, PageType.REFERENCE)
WORD_SEARCH_CHARS = 10_000  # characters of a body in which words are looked for


def find_rejection(
    page: ParsedPage,
    body: Body | None,
    teaser: Teaser | None,
    settings: ExtractSettings,
    page_type: PageType | None = None,
) -> Outcome | None:
    """Why a page has no article, or None where `body` is one. Every refusal says what was seen.

    `page_type` is what the page was found to be, None where nothing but its text says so.
    """
    size = body_size(body, settings)
    if body is not None and size <= settings.copyright_longest and is_mostly_copyright(body.text):
        return Outcome(Reason.COPYRIGHT_ONLY, body.text[:80])
    if is_documentation_index(page):
        return Outcome(Reason.LIST_PAGE, "an index of a manual")
    if body is not None and is_only_breadcrumb(body.text, page.title):
        return Outcome(Reason.NO_BODY, f"a breadcrumb trail alone: {body.text[:40]}")
    if (
        body is not None
        and body.line_indices
        and (reason := code_only_reason(page, body.line_indices, body.title_line))
    ):
        return Outcome(Reason.NO_BODY, reason)
    if reason := list_reason_by_type(page, body, size, settings, page_type) or find_teaser_reason(page, body, teaser):
        return Outcome(Reason.LIST_PAGE, reason)
    if body is not None and size >= settings.shortest_body:
        return None if has_words(body.text) else Outcome(Reason.NO_BODY, f"no words, but {body.text[:40]}")
    if has_only_copyright(page.layout, settings.copyright_longest):
        return Outcome(Reason.COPYRIGHT_ONLY, "a copyright notice and no article")
    if size:
        return Outcome(Reason.NO_BODY, f"{size:.0f} characters of text")
    detail = "the title alone" if body is not None else "no text found"
    return Outcome(
        Reason.NO_BODY, detail + (" beside what many pages of the site show" if has_site_template_line(page) else "")
    )


def list_reason_by_type(
    page: ParsedPage, body: Body | None, size: float, settings: ExtractSettings, page_type: PageType | None
) -> str:
    """Why a page of some kind is a list, or "". What makes a list of articles does not make one of a product's page, of
    a service's, of a manual's: they have links to read more, and headlines over short texts. A collection is a list,
    unless it has a paragraph of its own.
    """
    if page_type in NON_LIST_TYPES and size > settings.list_longest_body:
        return ""
    if page_type is PageType.COLLECTION and size > settings.list_longest_body and has_own_paragraph(page):
        return ""
    return find_list_reason(page, body, size, settings)


def has_words(text: str) -> bool:
    """Letters, characters or digits stand in the beginning of a text."""
    return any(map(str.isalnum, text[:WORD_SEARCH_CHARS]))


def is_only_breadcrumb(text: str, title: str) -> bool:
    """The whole text is a line that says where the page stands: its steps, joined by arrows, one of them the site's
    or the page's name as <title> has it."""
    if len(text) > MAX_BREADCRUMB_CHARS or "\n" in text.strip():
        return False
    segments = [normalize_name(step) for step in ARROW_RE.split(text)]
    return len(segments) > 1 and any(len(step) > 1 and step in normalize_name(title) for step in segments)


def is_only_title(body: Body) -> bool:
    """Nothing was found but the title's own line."""
    return body.line_indices == (body.title_line,)


def has_site_template_line(page: ParsedPage) -> bool:
    """A line of text that many pages of the site show stands on the page (ZK-S3)."""
    template_line_hashes = page.site_template.template_line_hashes
    return any(
        line.size >= MIN_TEASER_SIZE and text_hash64(line.text) in template_line_hashes for line in page.layout.lines
    )


def body_size(body: Body | None, settings: ExtractSettings) -> float:
    """The size of a body, of a long one that of its beginning: it is larger than all that it is compared with.

    0 where there is none, and for the title alone.
    """
    if body is None or is_only_title(body):
        return 0.0
    max_threshold = max(settings.copyright_longest, settings.list_longest_body, settings.shortest_body)
    return text_size(body.text[: MAX_CHARS_PER_SIZE_UNIT * (max_threshold + 1)])


def is_mostly_copyright(body: str) -> bool:
    """Most of a text stands in lines with copyright or registration notices (ZK-S3)."""
    notices = sum(text_size(line) for line in body.split("\n") if is_copyright(line))
    return notices > 0.5 * text_size(body)


def has_only_copyright(layout: Layout, max_rest_size: float) -> bool:
    """The page holds a copyright notice, and hardly any text beside it and beside links."""
    is_copyright_line = [is_copyright(line.text) for line in layout.lines]
    rest_size = sum(
        line.size - line.link_size for line, notice in zip(layout.lines, is_copyright_line, strict=True) if not notice
    )
    return any(is_copyright_line) and rest_size <= max_rest_size
