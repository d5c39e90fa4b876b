"""Is a page empty until a browser has run its scripts? Told by the page alone.

hardly any text stands on it, it has scripts, and
  it asks for JavaScript, in <noscript> or aloud     You need to enable JavaScript to run this app.
  or it has the empty root of an application         <div id="root"></div>  <app-root></app-root>
  or a framework has left its marks                  <script id="__NEXT_DATA__">, ng-version, data-reactroot
"""

import re

from docstore.model import Outcome, Reason
from extractor.methods.contract import Body
from extractor.page.document import Document, shown_size
from extractor.page.layout import Layout
from extractor.page.markup_hints import value_of

SHOWN = 60.0  # size of the text outside links from which on a page is not empty
MAX_LINES = 40  # of a page that is empty: menus of a shell
ROOT_ID = re.compile(
    r"(?:root|app|__next|__nuxt|___gatsby|main-app|app-root|react-root|reactroot|app-mount|app-container|mount|spa|"
    r"q-app|svelte|ember-app|vue-app|container-app|single-spa-application.*|micro-app)"
)
ROOT_TAGS = re.compile(r"(?:app|my-app|ng-app)(?:-root|-shell|-main)?|app-[a-z]+|.+-app(?:-root)?")
FRAMEWORK = re.compile(
    r"\bng-version=|\bng-app=|\bdata-reactroot\b|\bdata-server-rendered=|\bdata-v-app\b|\bng-controller="
)
ASKS = re.compile(
    r"(?:enable|activate|turn on|requires?|needs?|without|support)\W.{0,40}java ?script|"
    r"java ?script.{0,40}(?:is (?:disabled|required|not enabled|off)|enabled|must be|to (?:run|use|view))|"
    r"(?:启用|开启|打开|允许|支持|啟用|開啟).{0,12}javascript|"
    r"javascript.{0,20}(?:被禁用|未启用|已禁用|停用)|(?:aktivier|activer|habilit)\w*.{0,20}javascript",
    re.I,
)
HINT = "name its site in crawl.rendered and a browser shows it first"


def scripts_reason(document: Document) -> str:
    """Why a page needs its scripts to be run, "" where it does not."""
    if not document.scripts or shown_size(document.layout) > SHOWN or len(document.layout.lines) > MAX_LINES:
        return ""
    if document.asks_for_scripts or any(ASKS.search(line.text) for line in document.layout.lines):
        return "it asks for JavaScript"
    if root := empty_root(document.layout):
        return f"an application's root without text ({root})"
    if any(FRAMEWORK.search(span.facts.markup) for span in document.layout.spans):
        return "a framework's page without text"
    return ""


def empty_root(layout: Layout) -> str:
    """The name of the element into which an application puts the page, if it is empty; ""."""
    for span in layout.spans:
        if span.end > span.start:
            continue
        name = value_of("id", span.facts.markup).lower()
        if ROOT_ID.fullmatch(name) or ROOT_TAGS.fullmatch(span.facts.tag):
            return name or span.facts.tag
    return ""


def asks_alone(document: Document, body: Body) -> bool:
    """The whole text of a page with scripts asks for JavaScript."""
    return document.scripts > 0 and shown_size(document.layout) <= SHOWN and ASKS.search(body.text) is not None


def needs_scripts(document: Document) -> Outcome | None:
    """The outcome of a page without text that scripts would make, None for any other."""
    why = scripts_reason(document)
    return Outcome(Reason.NEEDS_SCRIPTS, f"{why}: {HINT}") if why else None
