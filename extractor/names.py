"""What a start tag says about its element's text: tag, class, id, role, itemprop, style.

General words only, no site's own. Names are hints: methods/weighed_lines.py overrules them where the text disagrees.
"""

import re
from collections.abc import Mapping
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple


class Hint(IntEnum):
    """What an element's name promises."""

    BODY = 0  # this is called the text of the article
    ARTICLE = 1  # holds the article among other things
    NONE = 2
    ASIDE = 3  # is called navigation, related news, advertisement ...
    HIDDEN = 4  # is not shown when the page opens
    AFTER = 5  # is called comments or footer: these may well be longer than the article


ASIDE_TAGS = frozenset(("nav", "aside", "form", "dialog", "menu"))
NEVER_ASIDE = frozenset(("html", "body", "main", "article", "h1", "p", "tbody", "tr"))
HIDING = frozenset(("hidden", "hide", "d-none", "visually-hidden", "sr-only", "screen-reader-text", "u-hidden"))
SHOWING = re.compile(r"(?:sm|md|lg|xl|2xl|d-sm|d-md|d-lg|d-xl|show|print)\W|d-(?:sm|md|lg|xl)")
ASIDE_ROLES = frozenset(("navigation", "complementary", "banner", "search", "dialog", "menu", "alertdialog"))
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
LETTERS_ONLY = dict.fromkeys(map(ord, "-_:.0123456789"))
# Believed wherever they occur in a name: "site-footer", "relatedNews".
ASIDE_WORDS = frozenset(
    (
        "nav", "navi", "navbar", "navigation", "menubar", "breadcrumb", "breadcrumbs", "crumb", "crumbs",
        "bottom", "copyinfo", "sidebar", "aside", "rail", "related", "xiangguan",
        "recommend", "recommended", "recommendation", "recommendations", "recommends", "tuijian", "hotnews",
        "ranklist", "rank", "ranking", "popular", "mostread", "morenews", "trending", "outbrain", "taboola",
        "share", "shares", "sharing", "sharebar", "fenxiang", "bdsharebuttonbox", "jiathis", "bshare", "social",
        "socials", "sns", "qrcode", "ewm", "erweima", "ad", "ads", "adv", "advert", "advertisement", "adsense",
        "guanggao", "promo", "promos", "promotion", "promoted", "sponsor", "sponsored", "banner", "popup", "modal",
        "overlay", "cookie", "cookies", "consent", "gdpr", "newsletter", "subscribe", "subscription", "register",
        "signup", "login", "toolbar", "tooltip", "feedback", "noprint", "screenreader", "pager", "pagination",
        "paging", "pagebar", "author", "authors", "bio", "biography", "byline", "keywords", "toc", "vote", "digg",
        "cta", "factbox", "tearoff", "toc", "tableofcontents", "disclaimer", "statement", "shengming", "mianze",
        "friendlink", "friendlinks", "player",
    )
)  # fmt: skip
# Believed wherever these letters stand in a name: "relatedpoststitle".
ASIDE_STEMS = re.compile(r"related[a-z]|recommend|newsletter|sponsor|breadcrumb|sidebar|advert|subscri|tuijian")
# Believed only as a whole name: too many articles are "post tag-oil has-author".
ASIDE_NAMES = frozenset(
    (
        "menu", "relate", "relative", "hot", "hots", "tools", "tool", "tags", "tag", "keyword", "prev", "next",
        "zeren", "source", "laiyuan", "more", "links", "print", "skip", "search", "sr",
    )
)  # fmt: skip
AFTER_WORDS = frozenset(
    (
        "footer", "foot", "copyright", "copyrights", "comment", "comments", "cmt", "disqus", "pinglun", "respond",
        "reply", "replies",
    )
)  # fmt: skip
PART_WORDS = frozenset(("embed", "embedded", "tweet", "quote"))  # parts of an article, whatever else they are called
POST_NAMES = frozenset(("post", "hentry", "type-post"))  # WordPress lists author, tags and category beside them
BODY_WORDS = frozenset(
    (
        "articlebody", "artibody", "articlecontent", "articletext", "articledetail", "contentbody", "contentdetail",
        "contenttext", "contentarticle", "postbody", "postcontent", "posttext", "entrycontent", "entrytext",
        "newscontent", "newstext", "newsbody", "newsdetail", "storybody", "storytext", "storycontent", "bodytext",
        "bodycontent", "textcontent", "maintext", "zhengwen", "neirong", "wenzhang", "richtext", "richmediacontent",
        "textbody", "blogcontent", "blogpostcontent", "bodycopy", "articlecopy", "wysiwyg", "zoom", "endtext",
        "detailcontent", "trseditor", "articlecon", "artcontent",
    )
)  # fmt: skip
ARTICLE_WORDS = frozenset(
    ("article", "content", "post", "entry", "story", "text", "body", "news", "detail", "details", "main", "zoom", "art")
)  # fmt: skip


CAPTION = re.compile(r"caption\b|credit|attribution")
# Elements whose own text may be the title, a date, a name ...: they are kept as notes (extractor/lines.py).
MARKED = re.compile(
    r"date|time|publi|pubt|posted|post-?meta|entry-meta|article-?info|artinfo|byline|author|writer|reporter|editor|"
    r"source|origin|laiyuan|zuozhe|riqi|shijian|fabu|title|headline|biaoti|breadcrumb|crumb|section|channel|category"
)
ATTRIBUTE = re.compile(r'(?<!\S)([^\s=]++)="([^"]*+)"')
LONGEST_NAME = 300


class Facts(NamedTuple):
    """A start tag, read once: its tag, the hint in its names, and whether it is a caption's.

    `name` is id, class, itemprop, rel and property in lower case; `marked` says that it speaks of a title, a date, a
    name; `apart`, that it is called no part of the article, and nothing that would tell about it; `markup` is the rest
    of the tag as it stood.
    """

    tag: str
    markup: str
    hint: Hint
    name: str
    caption: bool
    marked: bool
    apart: bool

    @property
    def attributes(self) -> Mapping[str, str]:
        """All attributes by name."""
        return attributes_of(self.markup)


@lru_cache(maxsize=20_000)
def facts_of(tag: str, markup: str) -> Facts:
    """The facts of a start tag. `markup` are its attributes as well-formed markup has them: `class="news" id="x"`."""
    kinds, caption, marked, name, role, hidden = 0, tag in ("figcaption", "figure"), tag == "time", "", "", False
    if markup:
        classes, identity = value_of("class", markup), value_of("id", markup)
        for names in (classes, identity):
            if names:
                found = names_of(names[:LONGEST_NAME])
                kinds, caption, marked = kinds | found.kinds, caption or found.caption, marked or found.marked
        name = f"{identity} {classes}".lower()
        if "itemprop" in markup or "rel=" in markup or "property=" in markup:
            itemprop = value_of("itemprop", markup).lower()
            more = f"{itemprop} {value_of('rel', markup)} {value_of('property', markup)}".lower()
            marked = marked or MARKED.search(more) is not None
            kinds |= BODY if itemprop in ("articlebody", "text") else 0
            name = f"{name} {more}"
        role = value_of("role", markup) if "role=" in markup else ""
        hidden = is_hidden(markup, classes)
    hint = hint_of(tag, kinds, role, hidden)
    return Facts(tag, markup, hint, name[:LONGEST_NAME], caption, marked, hint >= Hint.ASIDE and not marked)


def value_of(name: str, markup: str) -> str:
    """The value of one attribute, or ""."""
    start = markup.find(f'{name}="')
    while start > 0 and markup[start - 1] != " ":
        start = markup.find(f'{name}="', start + 1)
    if start < 0:
        return ""
    start += len(name) + 2
    return markup[start : markup.find('"', start)]


def attributes_of(text: str) -> dict[str, str]:
    """Attributes by name; the first of a name wins."""
    return {name.lower(): plain(value) for name, value in reversed(ATTRIBUTE.findall(text))} if text else {}


def plain(text: str) -> str:
    """Serialised text without its entities."""
    if "&" not in text:
        return text
    for entity, char in ENTITIES:
        text = text.replace(entity, char)
    return text


ENTITIES = (
    ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#13;", " "), ("&#10;", " "), ("&#9;", " "), ("&amp;", "&"),
)  # fmt: skip


def is_hidden(markup: str, names: str) -> bool:
    """Not shown when the page opens, by attribute, inline style, or a class that says so on every screen."""
    if not ("style=" in markup or "hid" in markup or "none" in markup or "sr-only" in markup or "-reader" in markup):
        return False
    words = names.split()
    if not HIDING.isdisjoint(words) and not any(SHOWING.match(word) for word in words):
        return True
    attributes = attributes_of(markup)
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    return "display:none" in attributes.get("style", "").replace(" ", "").lower()


def hint_of(tag: str, kinds: int, role: str, hidden: bool) -> Hint:
    """The hint in an element's tag, the kinds of its names, and its role."""
    if kinds & BODY:
        return Hint.HIDDEN if hidden else Hint.BODY
    if tag in NEVER_ASIDE:
        return Hint.ARTICLE if tag in ("article", "main") else Hint.NONE
    if tag == "footer" or role == "contentinfo":
        return Hint.AFTER
    if hidden:
        return Hint.HIDDEN
    if tag in ASIDE_TAGS or role in ASIDE_ROLES:
        return Hint.ASIDE
    return next((hint for kind, hint in IN_ORDER if kinds & kind), Hint.NONE) if kinds else Hint.NONE


# What one class or id is; an element's names are the sum of theirs.
BODY, POST, AFTER, ASIDE, ARTICLE = 1, 2, 4, 8, 16
IN_ORDER = ((POST, Hint.ARTICLE), (AFTER, Hint.AFTER), (ASIDE, Hint.ASIDE), (ARTICLE, Hint.ARTICLE))


def is_aside(name: str, words: set[str]) -> bool:
    """A name of navigation, related news, advertisements ..., and of no part of an article."""
    if name in ASIDE_NAMES:
        return True
    if words.isdisjoint(ASIDE_WORDS) and ASIDE_STEMS.search(name) is None:
        return False
    return words.isdisjoint(PART_WORDS)


@lru_cache(maxsize=50_000)
def kind_of(name: str) -> int:
    """The kind of one class or id, 0 for none."""
    low = name.lower()
    words = {low} if name.isalpha() and low == name else {low, *(word.lower() for word in WORD.findall(name))}
    if low.translate(LETTERS_ONLY) in BODY_WORDS:
        return BODY  # some spelling of "article body": article-content, artibody, post_text ...
    if name in POST_NAMES:
        return POST
    if not words.isdisjoint(AFTER_WORDS):
        return AFTER
    if is_aside(low, words):
        return ASIDE
    return 0 if words.isdisjoint(ARTICLE_WORDS) else ARTICLE


class Names(NamedTuple):
    """What classes or an id say together."""

    kinds: int
    caption: bool
    marked: bool


@lru_cache(maxsize=20_000)
def names_of(names: str) -> Names:
    """What the classes in an attribute say. Sites have few different ones."""
    low = names.lower()
    kinds = 0
    for name in names.split():
        kinds |= kind_of(name)
    return Names(kinds, CAPTION.search(low) is not None, MARKED.search(low) is not None)
