"""What a page says of its article besides title and date: author, source, section, keywords, picture, URLs."""

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from extractor.fields.byline import find_author, find_source, line_of
from extractor.fields.linked_data import LinkedArticle, linked_article
from extractor.fields.page_urls import absolute, find_canonical, find_next, parts_of
from extractor.fields.persons import bare
from extractor.methods.contract import Body
from extractor.page.byline_zone import BylineZone, byline_zone_of
from extractor.page.document import Document
from extractor.page.markup_hints import attributes_of

MAX_KEYWORDS = 20
MAX_LISTED = 80
LONGEST_KEYWORD = 40
FEW_KEYWORDS = 10  # longer lists name the whole site: of them those stay that the article uses
LONGEST_SECTION = 40
MAX_CRUMBS = 8
CRUMB_JOINT = re.compile(r"\s*(?:-{1,2}>|>{1,2}|＞|»|›|→|/|\||┊|·)\s*")
HOME = frozenset(
    (
        "首页", "首頁", "主页", "网站首页", "home", "homepage", "正文", "文章", "内容", "详情", "文章正文",
        "新闻正文", "article", "blog", "当前位置", "查看内容", "浏览", "您的位置", "所在位置", "startseite",
        "accueil", "inicio", "you are here", "breadcrumb", "tags", "返回", "上一页", "下一页", "articles", "index",
        "news detail", "more",
    )
)  # fmt: skip
PLACE = re.compile(r"^.{0,12}?(?:位置|当前在|您在|you are here)(?:是|[:：])?\s*[:：]?\s*", re.I)
TRAIL = re.compile(r"(?:首页|首頁|主页|正文|\bhome|位置).{0,60}[>＞»›]|[>＞»›].{0,30}正文|位置[:：]", re.I)
SECTION_METAS = (
    "article:section", "og:article:section", "parsely-section", "sailthru.section", "section", "cxenseparse:section",
    "channel", "category", "lanmu", "columnname",
)  # fmt: skip
KEYWORD_METAS = ("news_keywords", "keywords", "article:tag", "parsely-tags", "sailthru.tags")
KEYWORD_JOINT = re.compile(r"\s*[,，;；、|｜\n]\s*")
NO_KEYWORD = re.compile(r"://|[<>={}]")
PICTURE_METAS = (
    "og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "weibo:article:image",
    "thumbnail", "image",
)  # fmt: skip
NO_PICTURE = re.compile(
    r"logo|default|blank|spacer|placeholder|1x1|pixel|avatar|favicon|sprite|qrcode|erweima|/icons?/|loading|\.svg"
)
MIN_SIDE = 100  # pixels, of a picture in the text whose size is known
PICTURE_SOURCES = ("data-original", "data-src", "data-lazy-src", "data-url", "src")


@dataclass(frozen=True)
class Metadata:
    """All "" or () where the page does not say. Several authors are joined by ", "; URLs are absolute.

    `source` is whom the article was taken over from, `section` the channel it stands in, `picture` its lead picture.
    `canonical_url` is the URL that the page names as its own, `next_url` the page on which the article goes on.
    """

    author: str = ""
    source: str = ""
    section: str = ""
    keywords: tuple[str, ...] = ()
    picture: str = ""
    canonical_url: str = ""
    next_url: str = ""


def find_metadata(document: Document, body: Body, title: str) -> Metadata:
    """The metadata of a page whose article has this body and title. No input makes this raise."""
    linked = linked_article(document.json_ld, document.url)
    frame = byline_zone_of(document, body.span)
    site = site_names(document, title)
    canonical = find_canonical(document, linked)
    author, source = find_author(document, frame, linked, site), find_source(document, frame, linked)
    return Metadata(
        author="" if author == source else author,
        source=source,
        section=find_section(document, frame, linked, title, site),
        keywords=find_keywords(document, linked, body, title, site),
        picture=find_picture(document, linked, body),
        canonical_url=canonical,
        next_url=find_next(document, frame, canonical),
    )


def site_names(document: Document, title: str) -> frozenset[str]:
    """What the site calls itself, letters only: in its metas, behind the title, and in its host."""
    metas = document.metas
    stated = [
        metas.get(name, "") for name in ("og:site_name", "application-name", "copyright", "publisher", "generator")
    ]
    behind = document.title.replace(title, " ") if title and title in document.title else ""
    url = document.url or document.links.get("canonical", "") or metas.get("og:url", "")
    host = parts_of(url)[0].removeprefix("www.")
    labels = [host, *host.split(".")[:-1], *host.split(".")[-2:-1]]
    parts = (
        part
        for text in (*stated, *re.split(r"[_|｜–—-]|\s[·•»]\s", behind), *labels)
        for part in (text, text.split(" ")[0])
    )
    return frozenset(name for part in parts if len(name := bare(part)) > 1)


def find_section(document: Document, frame: BylineZone, linked: LinkedArticle, title: str, site: frozenset[str]) -> str:
    """The channel in which an article stands: as a field says, or the last step of its breadcrumbs."""
    fields = (document.metas[name] for name in SECTION_METAS if name in document.metas)
    steps = (last_step(crumbs, title, site) for crumbs in (linked.crumbs, *trails(document, frame)))
    found = (one_section(text) for text in (*fields, linked.section, *steps))
    return next((text for text in found if is_section(text, site)), "")


def one_section(text: str) -> str:
    """The first word of a Chinese channel's name, which has no spaces in it; other names whole."""
    words = html.unescape(text).split()
    return words[0] if words and not words[0].isascii() else " ".join(words)


def is_section(text: str, site: frozenset[str]) -> bool:
    """The text may name a channel."""
    if not 1 < len(text) <= LONGEST_SECTION or text.casefold() in HOME or bare(text) in site:
        return False
    return "://" not in text and not text.replace(".", "").isdecimal()


def last_step(crumbs: Iterable[str], title: str, site: frozenset[str]) -> str:
    """The last of a trail's steps that is neither the article, nor the home page."""
    own = bare(title)
    steps = [
        step for step in crumbs if step and (not own or (bare(step) not in own and own not in bare(step)) or not own)
    ]
    return next((step for step in reversed(steps) if is_section(step, site)), "")


def trails(document: Document, frame: BylineZone) -> Iterator[list[str]]:
    """Breadcrumb trails above the text: elements named so, and lines that look so."""
    layout = document.layout
    for note in layout.notes:
        if note.line <= frame.first and ("crumb" in note.facts.name):
            yield steps_of(note.text)
    for span in layout.spans[: bisect_right(layout.spans, frame.first, key=line_of)]:
        if span.facts.marked and "crumb" in span.facts.name and span.end - span.start <= MAX_CRUMBS:
            lines = layout.lines[span.start : span.end]
            yield steps_of(lines[0].text) if len(lines) == 1 else [line.text.strip(" >/›»|") for line in lines]
    top = frame.title if frame.title >= 0 else frame.first
    for line in layout.lines[max(0, top - 12) : top + 3]:
        if line.size < 60 and TRAIL.search(line.text):
            yield steps_of(line.text)


def steps_of(trail: str) -> list[str]:
    """The steps of a trail written on one line."""
    steps = CRUMB_JOINT.split(PLACE.sub("", trail[:200]))
    return [step.strip() for step in steps] if len(steps) > 1 else []


def find_keywords(
    document: Document, linked: LinkedArticle, body: Body, title: str, site: frozenset[str]
) -> tuple[str, ...]:
    """The article's keywords; a long list is the site's, and only what the article says of it stays."""
    stated = next((document.metas[name] for name in KEYWORD_METAS if document.metas.get(name, "").strip()), "")
    listed = keyword_list(stated) or list(linked.keywords)
    own = bare(title)
    words: dict[str, str] = {}
    for word in listed[:MAX_LISTED]:
        if is_keyword(word, own, site):
            words.setdefault(bare(word), word)
    found = list(words.values())
    text = f"{title}\n{body.text}".casefold()
    used = [word for word in found if word.casefold() in text]
    return tuple((found if used and len(found) <= FEW_KEYWORDS else used)[:MAX_KEYWORDS])


def keyword_list(text: str) -> list[str]:
    """A text of keywords, apart: at commas, or at spaces where Chinese words stand without commas."""
    words = [word.strip(" .。\"'#") for word in KEYWORD_JOINT.split(html.unescape(text))]
    if len(words) == 1 and not text.isascii() and all(len(word) <= 8 for word in text.split()):
        words = html.unescape(text).split()
    return [" ".join(word.split()) for word in words]


def is_keyword(word: str, title: str, site: frozenset[str]) -> bool:
    """A word of an article, neither its title nor the site."""
    name = bare(word)
    return 0 < len(name) <= LONGEST_KEYWORD and name != title and name not in site and not NO_KEYWORD.search(word)


def find_picture(document: Document, linked: LinkedArticle, body: Body) -> str:
    """The lead picture: as fields name it, or the first in the text that is large enough."""
    fields = (document.metas[name] for name in PICTURE_METAS if name in document.metas)
    base = absolute(document.url, document.links.get("base", "")) or document.url
    for address in chain(fields, [linked.picture], pictures_of(document, body)):
        if address and not NO_PICTURE.search(address.lower()) and not address.startswith("data:"):
            url = absolute(base, address)
            if url:
                return url
    return ""


def pictures_of(document: Document, body: Body) -> Iterator[str]:
    """URLs of the pictures that stand in the text."""
    if not body.lines:
        return
    first, last = body.lines[0] - 1, body.lines[-1] + 1
    for picture in document.layout.pictures:
        if first <= picture.line <= last:
            facts = attributes_of(picture.attributes)
            sides = [facts.get(name, "").removesuffix("px") for name in ("width", "height")]
            if not any(side.isdecimal() and len(side) < 5 and int(side) < MIN_SIDE for side in sides):
                yield next((facts[name] for name in PICTURE_SOURCES if facts.get(name)), "")
