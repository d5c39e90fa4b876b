"""What a start tag says about its element's text: tag, class, id, role, itemprop, style.

General words only, no site's own. Names are hints: line_scoring.py overrules them where the text disagrees.
"""

import re
from collections.abc import Mapping, Sequence
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
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
LETTERS = re.compile("[^\x00-`{-\x7f]+")  # small ones, and all beyond ASCII
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


CAPTION_TAGS = ("figcaption", "figure")
CAPTION = re.compile(r"caption\b|credit|attribution")
# Elements whose own text may be the title, a date, a name ...: they are kept as notes (extractor/page/lines.py).
MARKED = re.compile(
    r"date|time|publi|pubt|posted|post-?meta|entry-meta|article-?info|artinfo|byline|author|writer|reporter|editor|"
    r"source|origin|laiyuan|zuozhe|riqi|shijian|fabu|title|headline|biaoti|breadcrumb|crumb|section|channel|category"
)
ATTRIBUTE = re.compile(r'(?<!\S)([^\s=]++)="([^"]*+)"')
LONGEST_NAME = 300


class TagInfo(NamedTuple):
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
def facts_of(tag: str, markup: str) -> TagInfo:
    """The facts of a start tag. `markup` are its attributes as well-formed markup has them: `class="news" id="x"`."""
    if not markup:
        hint, marked = hint_of(tag, 0, "", False), tag == "time"
        return TagInfo(tag, markup, hint, "", tag in CAPTION_TAGS, marked, hint >= Hint.ASIDE and not marked)
    classes, identity = value_of("class", markup), value_of("id", markup)
    kinds = (kinds_of(classes) if classes else 0) | (kinds_of(identity) if identity else 0)
    name = f"{identity} {classes}".lower()
    if "itemprop" in markup or "rel=" in markup or "property=" in markup:
        itemprop = value_of("itemprop", markup).lower()
        more = f"{itemprop} {value_of('rel', markup)} {value_of('property', markup)}".lower()
        kinds |= MARKS if MARKED.search(more) is not None else 0
        kinds |= BODY if itemprop in ("articlebody", "text") else 0
        name = f"{name} {more}"
    role = value_of("role", markup) if "role=" in markup else ""
    hint = hint_of(tag, kinds & HINTS, role, is_hidden(markup, classes))
    caption, marked = tag in CAPTION_TAGS or kinds & CAPTIONS > 0, tag == "time" or kinds & MARKS > 0
    return TagInfo(tag, markup, hint, name[:LONGEST_NAME], caption, marked, hint >= Hint.ASIDE and not marked)


def place_of_value(name: str, markup: str) -> int:
    """Where the value of an attribute begins, -1 where there is no such attribute."""
    wanted = name + '="'
    start = markup.find(wanted)
    while start > 0 and markup[start - 1] != " ":
        start = markup.find(wanted, start + 1)
    return start + len(wanted) if start >= 0 else -1


def value_of(name: str, markup: str) -> str:
    """The value of one attribute as it stands, or ""."""
    start = place_of_value(name, markup)
    return markup[start : markup.find('"', start)] if start >= 0 else ""


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
    if not ("hid" in markup or "none" in markup or "sr-only" in markup or "-reader" in markup or "NONE" in markup):
        return False
    words = names.split()
    if not HIDING.isdisjoint(words) and not any(SHOWING.match(word) for word in words):
        return True
    if place_of_value("hidden", markup) >= 0 or value_of("aria-hidden", markup) == "true":
        return True
    return "display:none" in value_of("style", markup).replace(" ", "").lower()


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
BODY, POST, AFTER, ASIDE, ARTICLE, CAPTIONS, MARKS = 1, 2, 4, 8, 16, 32, 64
HINTS = BODY | POST | AFTER | ASIDE | ARTICLE
IN_ORDER = ((POST, Hint.ARTICLE), (AFTER, Hint.AFTER), (ASIDE, Hint.ASIDE), (ARTICLE, Hint.ARTICLE))


def is_aside(name: str, words: Sequence[str]) -> bool:
    """A name of navigation, related news, advertisements ..., and of no part of an article."""
    if name in ASIDE_NAMES:
        return True
    if ASIDE_WORDS.isdisjoint(words) and ASIDE_STEMS.search(name) is None:
        return False
    return PART_WORDS.isdisjoint(words)


def kinds_of(names: str) -> int:
    """What the classes in an attribute say together."""
    kinds = 0
    for name in names[:LONGEST_NAME].split():
        kinds |= kind_of(name)
    return kinds


@lru_cache(maxsize=100_000)
def kind_of(name: str) -> int:
    """What one class or id says, 0 for nothing. Sites share many of theirs."""
    low = name.lower()
    kind = hinting_kind_of(name, low)
    if MARKED.search(low) is not None:
        kind |= MARKS
    if ("caption" in low or "credit" in low or "attribution" in low) and CAPTION.search(low) is not None:
        kind |= CAPTIONS
    return kind


def hinting_kind_of(name: str, low: str) -> int:
    """The kind in a class or id from which hints are made; `low` is it in lower case."""
    words = LETTERS.findall(low)
    if "".join(words) in BODY_WORDS:
        return BODY  # some spelling of "article body": article-content, artibody, post_text ...
    if name in POST_NAMES:
        return POST
    if name != low:
        words += [word.lower() for word in WORD.findall(name)]
    if not AFTER_WORDS.isdisjoint(words):
        return AFTER
    if is_aside(low, words):
        return ASIDE
    return 0 if ARTICLE_WORDS.isdisjoint(words) else ARTICLE
