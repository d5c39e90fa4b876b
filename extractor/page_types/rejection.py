"""Rejection rules: pure functions that return why a page has no article (an Outcome), or None."""

import re

from domain.article import PageType, Teaser, text_hash64
from domain.coded_message import CodedMessage
from domain.outcome import Outcome, Reason
from extractor.body_methods.base import Body
from extractor.fields.person_names import normalize_name
from extractor.page.boilerplate_phrases import is_copyright
from extractor.page.layout import Layout, text_size
from extractor.page.parsed_page import ParsedPage
from extractor.page_types.documentation import code_only_reason, is_documentation_index
from extractor.page_types.list_page import MIN_TEASER_SIZE, find_list_reason, find_teaser_reason
from extractor.page_types.own_text import has_own_paragraph
from extractor.settings import ExtractSettings

MAX_CHARS_PER_SIZE_UNIT = 7  # upper bound: 7 characters of any text have a size of at least 1 (3 Latin letters)
MAX_BREADCRUMB_CHARS = 200
ARROW_RE = re.compile("[>＞»›→]+")
NON_LIST_TYPES = (PageType.PRODUCT, PageType.SERVICE, PageType.REFERENCE)
NO_TEXT_MESSAGE = CodedMessage("no text found", "no_text")
ONLY_TITLE_MESSAGE = CodedMessage("only the title", "only_title")
WORD_SEARCH_CHARS = 10_000  # length of the beginning of a body that is searched for words


def find_rejection(
    page: ParsedPage,
    body: Body | None,
    teaser: Teaser | None,
    settings: ExtractSettings,
    page_type: PageType | None = None,
) -> Outcome | None:
    """Return why a page has no article, or None if `body` is an article. The detail of the outcome states the evidence.

    Args:
        page: The page.
        body: The extracted body, None if not found.
        teaser: The linked headline above the body, None if there is none.
        settings: Thresholds of the extraction.
        page_type: Type of the page, None if only its content decides.
    """
    size = body_size(body, settings)
    if body is not None and size <= settings.copyright_longest and is_mostly_copyright(body.text):
        return Outcome(Reason.COPYRIGHT_ONLY, body.text[:80])
    if is_documentation_index(page):
        return Outcome(Reason.LIST_PAGE, "generated index of a manual")
    if body is not None and is_only_breadcrumb(body.text, page.title):
        return Outcome(
            Reason.NO_BODY,
            CodedMessage(f"only a breadcrumb trail: {body.text[:40]}", "only_breadcrumb", words=body.text[:40]),
        )
    if (
        body is not None
        and body.line_indices
        and (reason := code_only_reason(page, body.line_indices, body.title_line))
    ):
        return Outcome(Reason.NO_BODY, reason)
    if reason := list_reason_by_type(page, body, size, settings, page_type) or find_teaser_reason(page, body, teaser):
        return Outcome(Reason.LIST_PAGE, reason)
    if body is not None and size >= settings.shortest_body:
        if has_words(body.text):
            return None
        return Outcome(Reason.NO_BODY, CodedMessage(f"no words: {body.text[:40]}", "no_words", words=body.text[:40]))
    if has_only_copyright(page.layout, settings.copyright_longest):
        return Outcome(Reason.COPYRIGHT_ONLY, CodedMessage("copyright notice without an article", "copyright_notice"))
    if size:
        return Outcome(Reason.NO_BODY, CodedMessage(f"{size:.0f} characters of text", "short_text", n=round(size)))
    detail = ONLY_TITLE_MESSAGE if body is not None else NO_TEXT_MESSAGE
    if has_site_template_line(page):
        detail = CodedMessage(f"{detail}; other text is shown on many pages of the site", "site_text", reason=detail)
    return Outcome(Reason.NO_BODY, detail)


def list_reason_by_type(
    page: ParsedPage, body: Body | None, size: float, settings: ExtractSettings, page_type: PageType | None
) -> str:
    """Return why a page of a known type is a list, or an empty string.

    Product, service and reference pages also have "read more" links and short teasers, so list rules apply to them only
    if the body is short. A collection is a list unless it has an introduction of its own.
    """
    if page_type in NON_LIST_TYPES and size > settings.list_longest_body:
        return ""
    if page_type is PageType.COLLECTION and size > settings.list_longest_body and has_own_paragraph(page):
        return ""
    return find_list_reason(page, body, size, settings)


def has_words(text: str) -> bool:
    """Return whether the beginning of a text contains letters, characters or digits."""
    return any(map(str.isalnum, text[:WORD_SEARCH_CHARS]))


def is_only_breadcrumb(text: str, title: str) -> bool:
    """Return whether the text is only a breadcrumb trail: one line of steps joined by arrows.

    At least one step must be part of <title>: the name of the site or of the page.
    """
    if len(text) > MAX_BREADCRUMB_CHARS or "\n" in text.strip():
        return False
    segments = [normalize_name(step) for step in ARROW_RE.split(text)]
    return len(segments) > 1 and any(len(step) > 1 and step in normalize_name(title) for step in segments)


def is_only_title(body: Body) -> bool:
    """Return whether the body consists of the title line only."""
    return body.line_indices == (body.title_line,)


def has_site_template_line(page: ParsedPage) -> bool:
    """Return whether the page contains a line of text that many pages of the site show (ZK-S3)."""
    template_line_hashes = page.site_template.template_line_hashes
    return any(
        line.size >= MIN_TEASER_SIZE and text_hash64(line.text) in template_line_hashes for line in page.layout.lines
    )


def body_size(body: Body | None, settings: ExtractSettings) -> float:
    """Return the size of a body in Chinese characters, capped: only as much text is measured as the thresholds need.

    Returns 0 for a missing body and for a body that is only the title.
    """
    if body is None or is_only_title(body):
        return 0.0
    max_threshold = max(settings.copyright_longest, settings.list_longest_body, settings.shortest_body)
    return text_size(body.text[: MAX_CHARS_PER_SIZE_UNIT * (max_threshold + 1)])


def is_mostly_copyright(body: str) -> bool:
    """Return whether more than half of a text is in lines with copyright or registration notices (ZK-S3)."""
    notice_size = sum(text_size(line) for line in body.split("\n") if is_copyright(line))
    return notice_size > 0.5 * text_size(body)


def has_only_copyright(layout: Layout, max_rest_size: float) -> bool:
    """Return whether the page has a copyright notice and at most `max_rest_size` of other text outside links."""
    is_copyright_line = [is_copyright(line.text) for line in layout.lines]
    rest_size = sum(
        line.size - line.link_size for line, notice in zip(layout.lines, is_copyright_line, strict=True) if not notice
    )
    return any(is_copyright_line) and rest_size <= max_rest_size
