"""Rejection rules: pure functions that return why a page has no article (an Outcome), or None.

A page that is empty until a browser runs its scripts has almost no text, has scripts, and shows one of these signals:

    it asks for JavaScript, in <noscript> or in text   You need to enable JavaScript to run this app.
    it has the empty root element of an application    <div id="root">Loading...</div>  <app-root></app-root>
    it has traces of a framework                       <script id="__NEXT_DATA__">, ng-version, data-reactroot
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from domain.article import PageType, Teaser, text_hash64
from domain.message import Message
from domain.outcome import Outcome, Reason
from extractor.fields.metadata import absolute_url
from extractor.fields.title_matching import normalize_letters
from extractor.page.boilerplate_phrases import is_copyright
from extractor.page.layout import CODE_TAG, Layout, Line, text_size
from extractor.page.parsed_page import Body, ParsedPage
from extractor.page.tag_info import attribute_value, unescape_markup
from extractor.page.urls import path_segments
from extractor.page_types.documentation import INDEX_FILE_RE
from extractor.page_types.list_page import MIN_TEASER_SIZE, find_list_reason, find_teaser_reason, has_own_paragraph
from extractor.page_types.page_signals import MAX_TEXT_SIZE_BESIDE_HEADLINE, PageSignals, is_headline_line
from extractor.settings import ExtractSettings

MAX_CHARS_PER_SIZE_UNIT = 7  # upper bound: 7 characters of any text have a size of at least 1 (3 Latin letters)
MAX_BREADCRUMB_CHARS = 200
ARROW_RE = re.compile("[>＞»›→]+")
INDEX_SEGMENTS = frozenset(("class-use",))
LINE_NUMBER_RE = re.compile(r"\s*\d{1,6}(?!\d)")
MIN_NUMBERED_SHARE = 0.9  # share of the lines of a listing with increasing line numbers
MIN_LISTING_LINES = 5
NON_LIST_TYPES = (PageType.PRODUCT, PageType.SERVICE, PageType.REFERENCE)
NO_TEXT_MESSAGE = Message("No text found")
ONLY_TITLE_MESSAGE = Message("Only the title")
MANUAL_INDEX_MESSAGE = Message("Generated index of a manual")
WORD_SEARCH_CHARS = 10_000  # length of the beginning of a body that is searched for words
MIN_VISIBLE_SIZE = 60.0  # a page with more text outside links is not empty; in Chinese characters
MAX_NOTE_SIZE = 8.0  # of a note in an empty page, in Chinese characters
MAX_SHELL_LINES = 40  # maximum number of lines (menus of the application shell) of an empty page
APP_ROOT_ID_RE = re.compile(
    r"(?:root|app|__next|__nuxt|___gatsby|main-app|app-root|react-root|reactroot|app-mount|app-container|mount|spa|"
    r"q-app|svelte|ember-app|vue-app|container-app|single-spa-application.*|micro-app)"
)
APP_ROOT_TAG_RE = re.compile(r"(?:app|my-app|ng-app)(?:-root|-shell|-main)?|app-[a-z]+|.+-app(?:-root)?")
JS_FRAMEWORK_RE = re.compile(
    r"\bng-version=|\bng-app=|\bdata-reactroot\b|\bdata-server-rendered=|\bdata-v-app\b|\bng-controller="
)
ENABLE_JAVASCRIPT_RE = re.compile(
    r"(?:enable|activate|turn on|requires?|needs?|without|support)\W.{0,40}java ?script|"
    r"java ?script.{0,40}(?:is (?:disabled|required|not enabled|off)|enabled|must be|to (?:run|use|view))|"
    r"(?:启用|开启|打开|允许|支持|啟用|開啟).{0,12}javascript|"
    r"javascript.{0,20}(?:被禁用|未启用|已禁用|停用)|(?:aktivier|activer|habilit)\w{0,10}.{0,20}javascript",
    re.I,
)
JAVASCRIPT_OUTCOME = Outcome(
    Reason.NEEDS_JAVASCRIPT,
    Message("The page requires JavaScript to show its text: set render of the site to render its pages in a browser"),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An extracted body that the rules accept or reject.

    Attributes:
        signals: The signals of the page.
        body: The body, None if not found.
        teaser: The linked headline above the body, None if there is none.
        settings: Thresholds of the extraction.
        page_type: Type of the page, None if only its content decides.
        size: Size of the body in Chinese characters (see `body_size`).
    """

    signals: PageSignals
    body: Body | None
    teaser: Teaser | None
    settings: ExtractSettings
    page_type: PageType | None
    size: float

    @property
    def page(self) -> ParsedPage:
        """The page."""
        return self.signals.page


def find_rejection(
    signals: PageSignals,
    body: Body | None,
    teaser: Teaser | None,
    settings: ExtractSettings,
    page_type: PageType | None = None,
) -> Outcome | None:
    """Return why a page has no article, or None if `body` is an article. The detail of the outcome states the evidence.

    For the arguments see `Candidate`.
    """
    candidate = Candidate(signals, body, teaser, settings, page_type, body_size(body, settings))
    is_long_enough = body is not None and candidate.size >= settings.shortest_body
    rules = (*REJECTION_RULES, *(LONG_BODY_RULES if is_long_enough else SHORT_BODY_RULES))
    return next((outcome for rule in rules if (outcome := rule(candidate)) is not None), None)


def reject_short_list(candidate: Candidate) -> Outcome | None:
    """Reject a page without own text that links to headlines, or to pages below its URL: a list of few entries."""
    lines, body, url = candidate.page.layout.lines, candidate.body, candidate.page.url
    if body is not None and not body.line_indices:
        return None  # the text is declared in the head
    own_size = 0.0
    for line in (lines[index] for index in body.line_indices if index != body.title_line) if body is not None else ():
        own_size += 0.0 if is_list_entry(line, url) or is_copyright(line.text) else line.size
        if own_size >= candidate.settings.shortest_body:
            return None
    complete = candidate.signals.complete
    mask = complete.boilerplate_mask
    count = sum(is_list_entry(line, url) and not mask[index] for index, line in enumerate(complete.page.layout.lines))
    if not count:
        return None
    return Outcome(
        Reason.LIST_PAGE, Message("1 link to another page and no text", "{n} links to other pages and no text", n=count)
    )


def is_list_entry(line: Line, url: str) -> bool:
    """Return whether a line is a headline, or links to a page below `url` with few words beside the link.

    The rows of a table contain no URLs.
    """
    if is_headline_line(line):
        return True
    is_sentence = line.text.endswith((".", "。")) and not line.is_link
    if not line.link_size or is_sentence or line.size - line.link_size > MAX_TEXT_SIZE_BESIDE_HEADLINE:
        return False
    folder = url.partition("?")[0].rpartition("/")[0] + "/"
    hrefs = (unescape_markup(attribute_value("href", attribute_text)) for _, _, attribute_text in line.links)
    return bool(line.cells) or any(
        absolute_url(url, href).startswith(folder) and href not in ("", url, folder) for href in hrefs
    )


def reject_copyright_text(candidate: Candidate) -> Outcome | None:
    """Reject a short body that is mostly a copyright notice."""
    body = candidate.body
    if body is None or candidate.size > candidate.settings.copyright_longest or not is_mostly_copyright(body.text):
        return None
    return Outcome(Reason.COPYRIGHT_ONLY, body.text[:80])


def reject_documentation_index(candidate: Candidate) -> Outcome | None:
    """Reject a generated index of a manual."""
    signals = candidate.signals
    is_index = is_index_url(signals.page.url) and signals.is_documentation
    return Outcome(Reason.LIST_PAGE, MANUAL_INDEX_MESSAGE) if is_index else None


def reject_breadcrumb(candidate: Candidate) -> Outcome | None:
    """Reject a body that is only a breadcrumb trail."""
    if candidate.body is None or not is_only_breadcrumb(candidate.body.text, candidate.page.title):
        return None
    words = candidate.body.text[:40]
    return Outcome(Reason.NO_BODY, Message("Only a breadcrumb trail: {words}", words=words))


def reject_code_listing(candidate: Candidate) -> Outcome | None:
    """Reject a page of documentation, or a listing, that contains only source code."""
    body = candidate.body
    if body is None or not body.line_indices:
        return None
    reason = code_only_reason(
        candidate.page.layout, candidate.signals.is_documentation, body.line_indices, body.title_line
    )
    return Outcome(Reason.NO_BODY, reason) if reason else None


def reject_list(candidate: Candidate) -> Outcome | None:
    """Reject a list page."""
    reason = list_reason_by_type(candidate)
    return Outcome(Reason.LIST_PAGE, reason) if reason else None


def reject_teaser(candidate: Candidate) -> Outcome | None:
    """Reject a page whose text is below the headline of another page."""
    reason = find_teaser_reason(candidate.signals, candidate.body, candidate.teaser)
    return Outcome(Reason.LIST_PAGE, reason) if reason else None


def reject_text_without_words(candidate: Candidate) -> Outcome | None:
    """Reject a body without letters, characters and digits."""
    words = candidate.body.text[:40] if candidate.body is not None else ""
    if candidate.body is None or has_words(candidate.body.text):
        return None
    return Outcome(Reason.NO_BODY, Message("No words: {words}", words=words))


def reject_copyright_page(candidate: Candidate) -> Outcome | None:
    """Reject a page that shows a copyright notice and no article."""
    if not has_only_copyright(candidate.page.layout, candidate.settings.copyright_longest):
        return None
    return Outcome(Reason.COPYRIGHT_ONLY, Message("Copyright notice without an article"))


def reject_short_text(candidate: Candidate) -> Outcome | None:
    """Reject a body that is too short."""
    size = candidate.size
    if not size:
        return None
    return Outcome(Reason.NO_BODY, Message("1 character of text", "{n} characters of text", n=round(size)))


def reject_missing_text(candidate: Candidate) -> Outcome:
    """Reject a page without a body."""
    detail = ONLY_TITLE_MESSAGE if candidate.body is not None else NO_TEXT_MESSAGE
    if has_site_template_line(candidate.page):
        detail = Message("{reason}; the rest of the text is repeated on many pages of the site", reason=detail)
    return Outcome(Reason.NO_BODY, detail)


# The first rule that returns an outcome decides.
REJECTION_RULES = (
    reject_short_list,
    reject_copyright_text,
    reject_documentation_index,
    reject_breadcrumb,
    reject_code_listing,
    reject_list,
    reject_teaser,
)
LONG_BODY_RULES = (reject_text_without_words,)  # of at least `shortest_body`
SHORT_BODY_RULES = (reject_copyright_page, reject_short_text, reject_missing_text)


def list_reason_by_type(candidate: Candidate) -> str:
    """Return why a page of a known type is a list, or an empty string.

    Product, service and reference pages also have "read more" links and short teasers, so list rules apply to them only
    if the body is short. A collection is a list unless it has an introduction of its own.
    """
    signals, page_type, settings = candidate.signals, candidate.page_type, candidate.settings
    is_long = candidate.size > settings.list_longest_body
    if is_long and (page_type in NON_LIST_TYPES or (page_type is PageType.COLLECTION and has_own_paragraph(signals))):
        return ""
    return find_list_reason(signals, candidate.body, candidate.size, settings)


def code_only_reason(layout: Layout, is_documentation: bool, body_lines: Sequence[int], title_line: int) -> str:
    """Return why a page contains only source code, or an empty string if it contains text.

    Applies only to documentation pages and to untitled listings with line numbers. Other pages with code are posts.

    Args:
        layout: Layout of the page.
        is_documentation: True if the page belongs to generated documentation.
        body_lines: Line indices of the body.
        title_line: Line index of the title, -1 for none.
    """
    start = title_line + 1 if 0 <= title_line < body_lines[0] else body_lines[0]
    lines = layout.lines[start : body_lines[-1] + 1]
    code_lines = [line for line in lines if line.tag == CODE_TAG]
    if len(code_lines) < MIN_LISTING_LINES or any(line.has_punctuation for line in lines if line.tag != CODE_TAG):
        return ""
    is_listing = is_documentation or (title_line < 0 and has_line_numbers(code_lines))
    return (
        Message("1 line of source code and no text", "{n} lines of source code and no text", n=len(code_lines))
        if is_listing
        else ""
    )


def has_line_numbers(lines: Sequence[Line]) -> bool:
    """Return whether the lines begin with increasing line numbers."""
    numbers = [int(number_match[0]) for line in lines if (number_match := LINE_NUMBER_RE.match(line.text))]
    increasing_pairs = sum(first < second for first, second in pairwise(numbers))
    return increasing_pairs >= MIN_NUMBERED_SHARE * len(lines)


def is_index_url(url: str) -> bool:
    """Return whether a URL is that of a page generated from definitions: an index, a class tree, a usage list."""
    segments = path_segments(url)
    if not segments:
        return False
    return not INDEX_SEGMENTS.isdisjoint(segments[-2:-1]) or INDEX_FILE_RE.fullmatch(segments[-1]) is not None


def has_words(text: str) -> bool:
    """Return whether the beginning of a text contains letters, characters or digits."""
    return any(map(str.isalnum, text[:WORD_SEARCH_CHARS]))


def is_only_breadcrumb(text: str, title: str) -> bool:
    """Return whether the text is only a breadcrumb trail: one line of steps joined by arrows.

    At least one step must be part of <title>: the name of the site or of the page.
    """
    if len(text) > MAX_BREADCRUMB_CHARS or "\n" in text.strip():
        return False
    segments = [normalize_letters(step) for step in ARROW_RE.split(text)]
    return len(segments) > 1 and any(len(step) > 1 and step in normalize_letters(title) for step in segments)


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


def needs_javascript(signals: PageSignals) -> bool:
    """Return whether a page is empty without JavaScript."""
    page = signals.page
    if not page.script_count or signals.visible_size > MIN_VISIBLE_SIZE or len(page.layout.lines) > MAX_SHELL_LINES:
        return False
    return (
        page.asks_for_javascript
        or any(ENABLE_JAVASCRIPT_RE.search(line.text) for line in page.layout.lines)
        or has_empty_app_root(page.layout)
        or not (page.layout.lines or page.layout.pictures)
        or any(JS_FRAMEWORK_RE.search(span.tag_info.attribute_text) for span in page.layout.spans)
    )


def has_empty_app_root(layout: Layout) -> bool:
    """Return whether the root element of an application is empty, apart from a note such as "Loading..."."""
    return any(
        APP_ROOT_ID_RE.fullmatch(attribute_value("id", span.tag_info.attribute_text).lower())
        or APP_ROOT_TAG_RE.fullmatch(span.tag_info.tag)
        for span in layout.spans
        if sum(line.size for line in layout.lines[span.start_line : span.end_line]) <= MAX_NOTE_SIZE
    )


def is_only_javascript_notice(signals: PageSignals, body: Body) -> bool:
    """Return whether a page with scripts shows almost nothing but a "please enable JavaScript" notice as its body."""
    return (
        signals.page.script_count > 0
        and signals.visible_size <= MIN_VISIBLE_SIZE
        and ENABLE_JAVASCRIPT_RE.search(body.text) is not None
    )
