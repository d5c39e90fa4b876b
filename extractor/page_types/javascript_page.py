"""Detects pages that are empty until a browser runs their scripts. Uses only the page itself.

Such a page has almost no text, has scripts, and shows one of these signals:
  it asks for JavaScript, in <noscript> or in text   You need to enable JavaScript to run this app.
  it has the empty root element of an application    <div id="root"></div>  <app-root></app-root>
  it has traces of a framework                       <script id="__NEXT_DATA__">, ng-version, data-reactroot
"""

import re

from domain.coded_message import CodedMessage
from domain.outcome import Outcome, Reason
from extractor.body_methods.base import Body
from extractor.page.layout import Layout
from extractor.page.parsed_page import ParsedPage, visible_text_size
from extractor.page.tag_info import attribute_value

MIN_VISIBLE_SIZE = 60.0  # a page with more text outside links is not empty; in Chinese characters
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
    r"javascript.{0,20}(?:被禁用|未启用|已禁用|停用)|(?:aktivier|activer|habilit)\w*.{0,20}javascript",
    re.I,
)
NOTICE_REASON = CodedMessage("the page asks for JavaScript", "asks_for_javascript")
RENDER_SETTING_HINT = "add the site to crawl.rendered to render its pages in a browser"


def needs_javascript_reason(page: ParsedPage) -> str:
    """Return why a page is empty without JavaScript, or an empty string if it is not."""
    if (
        not page.script_count
        or visible_text_size(page.layout) > MIN_VISIBLE_SIZE
        or len(page.layout.lines) > MAX_SHELL_LINES
    ):
        return ""
    if page.asks_for_javascript or any(ENABLE_JAVASCRIPT_RE.search(line.text) for line in page.layout.lines):
        return NOTICE_REASON
    if root := find_empty_app_root(page.layout):
        return CodedMessage(f"application root without text ({root})", "empty_app_root", root=root)
    if any(JS_FRAMEWORK_RE.search(span.tag_info.attribute_text) for span in page.layout.spans):
        return CodedMessage("page of a JavaScript framework without text", "empty_framework_page")
    return ""


def find_empty_app_root(layout: Layout) -> str:
    """Return the id or tag of an empty application root element, or an empty string."""
    for span in layout.spans:
        if span.end_line > span.start_line:
            continue
        name = attribute_value("id", span.tag_info.attribute_text).lower()
        if APP_ROOT_ID_RE.fullmatch(name) or APP_ROOT_TAG_RE.fullmatch(span.tag_info.tag):
            return name or span.tag_info.tag
    return ""


def is_only_javascript_notice(page: ParsedPage, body: Body) -> bool:
    """Return whether a page with scripts shows almost nothing but a "please enable JavaScript" notice as its body."""
    return (
        page.script_count > 0
        and visible_text_size(page.layout) <= MIN_VISIBLE_SIZE
        and ENABLE_JAVASCRIPT_RE.search(body.text) is not None
    )


def javascript_outcome(page: ParsedPage) -> Outcome | None:
    """Return the outcome NEEDS_JAVASCRIPT for a page that is empty without JavaScript, None for any other page."""
    reason = needs_javascript_reason(page)
    return javascript_rejection(reason) if reason else None


def javascript_rejection(reason: str = NOTICE_REASON) -> Outcome:
    """Return the outcome NEEDS_JAVASCRIPT with its reason and the advice."""
    message = CodedMessage(f"{reason}: {RENDER_SETTING_HINT}", "needs_javascript", reason=reason)
    return Outcome(Reason.NEEDS_JAVASCRIPT, message)
