"""Is what was found an article? The reasons why not, as pure rules on the body and the page around it."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from docstore.model import Outcome, Reason, line_hash
from extractor.document import Document
from extractor.lines import Layout, Line, size_of
from extractor.methods.anchor import is_near
from extractor.methods.contract import Body
from extractor.phrases import is_copyright
from extractor.settings import ExtractSettings

ARTICLE_TITLE = 6.0  # shortest title that names an article, not a channel, in Chinese characters
HEADLINE = 6.0  # shortest link that may be a headline
TEASER = 15.0  # shortest text between headlines
LONGEST_TEASER = 100.0  # a longer paragraph is no teaser
LIST_HEADLINES = 12  # headlines that make a page with little text a list ...
HEADLINES_SHARE = 0.4  # ... from this share of links in its text
MOST_HEADLINES = 8  # headlines in a body that make one ask whether it is a list
DATELINE = re.compile(
    "(?:时间|時間|日期)[:：].{0,40}(?:来源|來源|作者|编辑|浏览|点击|阅读)|(?:来源|來源|作者)[:：].{0,40}(?:时间|時間|日期)[:：]"
)
DATELINE_ABOVE = 3  # lines above the body in which it may stand
FRONT_PAGE = re.compile(r"/?(?:(?:index|default|home)(?:\.\w{2,5})?/?)?", re.I)


def refuse(document: Document, body: Body | None, settings: ExtractSettings) -> Outcome | None:
    """Why a page has no article, or None where `body` is one. Every refusal says what was seen."""
    layout = document.layout
    size = size_of(body.text) if body is not None and not is_title_alone(body) else 0.0
    if body is not None and size <= settings.copyright_longest and is_notice(body.text):
        return Outcome(Reason.COPYRIGHT_ONLY, body.text[:80])
    if not is_anchored(document, body):
        if size <= settings.list_longest_body and is_link_list(layout, settings.list_link_share):
            return Outcome(Reason.LIST_PAGE, f"{link_share(layout):.0%} of the text is links")
        if body is not None and is_teaser_list(layout, body):
            return Outcome(Reason.LIST_PAGE, "the text is teasers between headlines")
    if size >= settings.shortest_body:
        return None
    if is_bare(layout, settings.copyright_longest):
        return Outcome(Reason.COPYRIGHT_ONLY, "a copyright notice and no article")
    if size:
        return Outcome(Reason.NO_BODY, f"{size:.0f} characters of text")
    own = "the title alone" if body is not None else "no text found"
    return Outcome(
        Reason.NO_BODY, own + (" beside what many pages of the site show" if shows_template(document) else "")
    )


def is_title_alone(body: Body) -> bool:
    """Nothing was found but the title's own line."""
    return set(body.lines) <= {body.title}


def shows_template(document: Document) -> bool:
    """A line of text that many pages of the site show stands on the page (ZK-S3)."""
    repeated = document.site.repeated
    return any(line.size >= TEASER and line_hash(line.text) in repeated for line in document.layout.lines)


def is_notice(body: str) -> bool:
    """Most of a text stands in lines with copyright or registration notices (ZK-S3)."""
    notices = sum(size_of(line) for line in body.split("\n") if is_copyright(line))
    return notices > 0.5 * size_of(body)


def is_bare(layout: Layout, longest: float) -> bool:
    """The page holds a copyright notice, and hardly any text beside it and beside links."""
    notices = [is_copyright(line.text) for line in layout.lines]
    rest = sum(line.size - line.link_size for line, notice in zip(layout.lines, notices, strict=True) if not notice)
    return any(notices) and rest <= longest


def is_anchored(document: Document, body: Body | None) -> bool:
    """The body stands by a heading that repeats the page's <title>, and that is more than a channel's name; or right
    below a line that says when and from where this article came.
    """
    if body is None or FRONT_PAGE.fullmatch(path_of(document.url)):
        return False
    layout = document.layout
    title = body.title
    if is_near(layout.spans[body.span], title, layout.lines) and layout.lines[title].size >= ARTICLE_TITLE:
        return True
    first = body.lines[0] if body.lines else 0
    return any(DATELINE.search(line.text) for line in layout.lines[max(0, first - DATELINE_ABOVE) : first])


def path_of(url: str) -> str:
    """Path of a URL; "-" where there is none to judge by: no URL, one with a query, or a broken one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "-"
    return parts.path if parts.netloc and not parts.query else "-"


def is_link_list(layout: Layout, list_link_share: float) -> bool:
    """The page's text is mostly links; where they are many headlines, with dates beside them, a smaller share does."""
    share = link_share(layout)
    return share >= list_link_share or (share >= HEADLINES_SHARE and count_headlines(layout.lines) >= LIST_HEADLINES)


def count_headlines(lines: Sequence[Line]) -> int:
    """Lines that are links, and long enough to be headlines."""
    return sum(line.link_share > 0.5 and line.size >= HEADLINE for line in lines)


def is_teaser_list(layout: Layout, body: Body) -> bool:
    """The body's element holds as many headlines as texts, and no text that is longer than a teaser."""
    span = layout.spans[body.span]
    lines = layout.lines[span.start : span.end]
    headlines = count_headlines(lines)
    texts = [line.size for line in lines if line.link_share <= 0.5 and line.size >= TEASER]
    return headlines >= max(MOST_HEADLINES, len(texts)) and max(texts, default=0.0) <= LONGEST_TEASER


def link_share(layout: Layout) -> float:
    """Share of link text in the text of the page, 0 to 1."""
    total = sum(line.size for line in layout.lines)
    return sum(min(line.link_size, line.size) for line in layout.lines) / total if total else 0.0
