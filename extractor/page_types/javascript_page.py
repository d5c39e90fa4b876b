"""Is a page empty until a browser has run its scripts? Told by the page alone.

hardly any text stands on it, it has scripts, and
  it asks for JavaScript, in <noscript> or aloud     You need to enable JavaScript to run this app.
  or it has the empty root of an application         <div id="root"></div>  <app-root></app-root>
  or a framework has left its marks                  <script id="__NEXT_DATA__">, ng-version, data-reactroot
"""

import re

from docstore.model import Outcome, Reason
from extractor.body_methods.base import Body
from extractor.page.layout import Layout
from extractor.page.parsed_page import ParsedPage, visible_text_size
from extractor.page.tag_info import attribute_value

MIN_VISIBLE_SIZE = 60.0  # size of the text outside links from which on a page is not empty
MAX_SHELL_LINES = 40  # of a page that is empty: menus of a shell
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
RENDER_SETTING_HINT = "name its site in crawl.rendered and a browser shows it first"


def needs_javascript_reason(page: ParsedPage) -> str:
    """Why a page needs its scripts to be run, "" where it does not."""
    if (
        not page.script_count
        or visible_text_size(page.layout) > MIN_VISIBLE_SIZE
        or len(page.layout.lines) > MAX_SHELL_LINES
    ):
        return ""
    if page.asks_for_javascript or any(ENABLE_JAVASCRIPT_RE.search(line.text) for line in page.layout.lines):
        return "it asks for JavaScript"
    if root := find_empty_app_root(page.layout):
        return f"an application's root without text ({root})"
    if any(JS_FRAMEWORK_RE.search(span.tag_info.attribute_text) for span in page.layout.spans):
        return "a framework's page without text"
    return ""


def find_empty_app_root(layout: Layout) -> str:
    """The name of the element into which an application puts the page, if it is empty; ""."""
    for span in layout.spans:
        if span.end_line > span.start_line:
            continue
        name = attribute_value("id", span.tag_info.attribute_text).lower()
        if APP_ROOT_ID_RE.fullmatch(name) or APP_ROOT_TAG_RE.fullmatch(span.tag_info.tag):
            return name or span.tag_info.tag
    return ""


def is_only_javascript_notice(page: ParsedPage, body: Body) -> bool:
    """The whole text of a page with scripts asks for JavaScript."""
    return (
        page.script_count > 0
        and visible_text_size(page.layout) <= MIN_VISIBLE_SIZE
        and ENABLE_JAVASCRIPT_RE.search(body.text) is not None
    )


def javascript_outcome(page: ParsedPage) -> Outcome | None:
    """The outcome of a page without text that scripts would make, None for any other."""
    reason = needs_javascript_reason(page)
    return Outcome(Reason.NEEDS_JAVASCRIPT, f"{reason}: {RENDER_SETTING_HINT}") if reason else None
