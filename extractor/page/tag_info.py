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
    FOOTER_OR_COMMENTS = 5  # is called comments or footer: these may well be longer than the article


ASIDE_TAGS = frozenset(("nav", "aside", "form", "dialog", "menu"))
NEVER_ASIDE_TAGS = frozenset(("html", "body", "main", "article", "h1", "p", "tbody", "tr"))
HIDDEN_CLASSES = frozenset(("hidden", "hide", "d-none", "visually-hidden", "sr-only", "screen-reader-text", "u-hidden"))
RESPONSIVE_CLASS_RE = re.compile(r"(?:sm|md|lg|xl|2xl|d-sm|d-md|d-lg|d-xl|show|print)\W|d-(?:sm|md|lg|xl)")
ASIDE_ROLES = frozenset(("navigation", "complementary", "banner", "search", "dialog", "menu", "alertdialog"))
CAMEL_WORD_RE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
LOWERCASE_RUN_RE = re.compile("[^\x00-`{-\x7f]+")  # small ones, and all beyond ASCII
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
ASIDE_STEM_RE = re.compile(r"related[a-z]|recommend|newsletter|sponsor|breadcrumb|sidebar|advert|subscri|tuijian")
# Believed only as a whole name: too many articles are "post tag-oil has-author".
ASIDE_NAMES = frozenset(
    (
        "menu", "relate", "relative", "hot", "hots", "tools", "tool", "tags", "tag", "keyword", "prev", "next",
        "zeren", "source", "laiyuan", "more", "links", "print", "skip", "search", "sr",
    )
)  # fmt: skip
FOOTER_OR_COMMENT_WORDS = frozenset(
    (
        "footer", "foot", "copyright", "copyrights", "comment", "comments", "cmt", "disqus", "pinglun", "respond",
        "reply", "replies",
    )
)  # fmt: skip
ARTICLE_PART_WORDS = frozenset(
    ("embed", "embedded", "tweet", "quote")
)  # parts of an article, whatever else they are called
WORDPRESS_POST_CLASSES = frozenset(
    ("post", "hentry", "type-post")
)  # WordPress lists author, tags and category beside them
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
CAPTION_CLASS_RE = re.compile(r"caption\b|credit|attribution")
# Elements whose own text may be the title, a date, a name ...: they are kept as notes (extractor/page/layout_builder.py).
METADATA_CLASS_RE = re.compile(
    r"date|time|publi|pubt|posted|post-?meta|entry-meta|article-?info|artinfo|byline|author|writer|reporter|editor|"
    r"source|origin|laiyuan|zuozhe|riqi|shijian|fabu|title|headline|biaoti|breadcrumb|crumb|section|channel|category"
)
ATTRIBUTE_RE = re.compile(r'(?<!\S)([^\s=]++)="([^"]*+)"')
MAX_IDENTIFIER_CHARS = 300


class TagInfo(NamedTuple):
    """A start tag, read once: its tag, the hint in its names, and whether it is a caption's.

    `identifiers` is id, class, itemprop, rel and property in lower case; `is_metadata` says that it speaks of a title, a date, a
    name; `is_boilerplate`, that it is called no part of the article, and nothing that would tell about it; `attribute_text` is the rest
    of the tag as it stood.
    """

    tag: str
    attribute_text: str
    hint: Hint
    identifiers: str
    is_caption: bool
    is_metadata: bool
    is_boilerplate: bool

    @property
    def attributes(self) -> Mapping[str, str]:
        """All attributes by name."""
        return parse_attributes(self.attribute_text)


@lru_cache(maxsize=20_000)
def parse_tag(tag: str, attribute_text: str) -> TagInfo:
    """The facts of a start tag. `attribute_text` are its attributes as well-formed markup has them: `class="news" id="x"`."""
    if not attribute_text:
        hint, is_metadata = choose_hint(tag, 0, "", False), tag == "time"
        return TagInfo(
            tag, attribute_text, hint, "", tag in CAPTION_TAGS, is_metadata, hint >= Hint.ASIDE and not is_metadata
        )
    classes, element_id = attribute_value("class", attribute_text), attribute_value("id", attribute_text)
    kinds = (classify_names(classes) if classes else 0) | (classify_names(element_id) if element_id else 0)
    name = f"{element_id} {classes}".lower()
    if "itemprop" in attribute_text or "rel=" in attribute_text or "property=" in attribute_text:
        itemprop = attribute_value("itemprop", attribute_text).lower()
        other_names = (
            f"{itemprop} {attribute_value('rel', attribute_text)} {attribute_value('property', attribute_text)}".lower()
        )
        kinds |= KIND_METADATA if METADATA_CLASS_RE.search(other_names) is not None else 0
        kinds |= KIND_BODY if itemprop in ("articlebody", "text") else 0
        name = f"{name} {other_names}"
    role = attribute_value("role", attribute_text) if "role=" in attribute_text else ""
    hint = choose_hint(tag, kinds & HINT_KINDS, role, is_hidden(attribute_text, classes))
    is_caption, is_metadata = (
        tag in CAPTION_TAGS or kinds & KIND_CAPTION > 0,
        tag == "time" or kinds & KIND_METADATA > 0,
    )
    return TagInfo(
        tag,
        attribute_text,
        hint,
        name[:MAX_IDENTIFIER_CHARS],
        is_caption,
        is_metadata,
        hint >= Hint.ASIDE and not is_metadata,
    )


def find_attribute_value(name: str, attribute_text: str) -> int:
    """Where the value of an attribute begins, -1 where there is no such attribute."""
    needle = name + '="'
    start = attribute_text.find(needle)
    while start > 0 and attribute_text[start - 1] != " ":
        start = attribute_text.find(needle, start + 1)
    return start + len(needle) if start >= 0 else -1


def attribute_value(name: str, attribute_text: str) -> str:
    """The value of one attribute as it stands, or ""."""
    start = find_attribute_value(name, attribute_text)
    return attribute_text[start : attribute_text.find('"', start)] if start >= 0 else ""


def parse_attributes(attribute_text: str) -> dict[str, str]:
    """Attributes by name; the first of a name wins."""
    return (
        {name.lower(): unescape_markup(value) for name, value in reversed(ATTRIBUTE_RE.findall(attribute_text))}
        if attribute_text
        else {}
    )


def unescape_markup(text: str) -> str:
    """Serialised text without its entities."""
    if "&" not in text:
        return text
    for entity, char in ENTITIES:
        text = text.replace(entity, char)
    return text


ENTITIES = (
    ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#13;", " "), ("&#10;", " "), ("&#9;", " "), ("&amp;", "&"),
)  # fmt: skip


def is_hidden(attribute_text: str, names: str) -> bool:
    """Not shown when the page opens, by attribute, inline style, or a class that says so on every screen."""
    if not (
        "hid" in attribute_text
        or "none" in attribute_text
        or "sr-only" in attribute_text
        or "-reader" in attribute_text
        or "NONE" in attribute_text
    ):
        return False
    words = names.split()
    if not HIDDEN_CLASSES.isdisjoint(words) and not any(RESPONSIVE_CLASS_RE.match(word) for word in words):
        return True
    if find_attribute_value("hidden", attribute_text) >= 0 or attribute_value("aria-hidden", attribute_text) == "true":
        return True
    return "display:none" in attribute_value("style", attribute_text).replace(" ", "").lower()


def choose_hint(tag: str, kinds: int, role: str, is_hidden_element: bool) -> Hint:
    """The hint in an element's tag, the kinds of its names, and its role."""
    if kinds & KIND_BODY:
        return Hint.HIDDEN if is_hidden_element else Hint.BODY
    if tag in NEVER_ASIDE_TAGS:
        return Hint.ARTICLE if tag in ("article", "main") else Hint.NONE
    if tag == "footer" or role == "contentinfo":
        return Hint.FOOTER_OR_COMMENTS
    if is_hidden_element:
        return Hint.HIDDEN
    if tag in ASIDE_TAGS or role in ASIDE_ROLES:
        return Hint.ASIDE
    return next((hint for kind, hint in HINT_PRIORITY if kinds & kind), Hint.NONE) if kinds else Hint.NONE


# What one class or id is; an element's names are the sum of theirs.
KIND_BODY, KIND_POST, KIND_FOOTER_OR_COMMENTS, KIND_ASIDE, KIND_ARTICLE, KIND_CAPTION, KIND_METADATA = (
    1,
    2,
    4,
    8,
    16,
    32,
    64,
)
HINT_KINDS = KIND_BODY | KIND_POST | KIND_FOOTER_OR_COMMENTS | KIND_ASIDE | KIND_ARTICLE
HINT_PRIORITY = (
    (KIND_POST, Hint.ARTICLE),
    (KIND_FOOTER_OR_COMMENTS, Hint.FOOTER_OR_COMMENTS),
    (KIND_ASIDE, Hint.ASIDE),
    (KIND_ARTICLE, Hint.ARTICLE),
)


def is_aside_name(name: str, words: Sequence[str]) -> bool:
    """A name of navigation, related news, advertisements ..., and of no part of an article."""
    if name in ASIDE_NAMES:
        return True
    if ASIDE_WORDS.isdisjoint(words) and ASIDE_STEM_RE.search(name) is None:
        return False
    return ARTICLE_PART_WORDS.isdisjoint(words)


def classify_names(names: str) -> int:
    """What the classes in an attribute say together."""
    kinds = 0
    for name in names[:MAX_IDENTIFIER_CHARS].split():
        kinds |= classify_name(name)
    return kinds


@lru_cache(maxsize=100_000)
def classify_name(name: str) -> int:
    """What one class or id says, 0 for nothing. Sites share many of theirs."""
    lowercase_name = name.lower()
    kind = hint_kind(name, lowercase_name)
    if METADATA_CLASS_RE.search(lowercase_name) is not None:
        kind |= KIND_METADATA
    if (
        "caption" in lowercase_name or "credit" in lowercase_name or "attribution" in lowercase_name
    ) and CAPTION_CLASS_RE.search(lowercase_name) is not None:
        kind |= KIND_CAPTION
    return kind


def hint_kind(name: str, lowercase_name: str) -> int:
    """The kind in a class or id from which hints are made; `lowercase_name` is it in lower case."""
    words = LOWERCASE_RUN_RE.findall(lowercase_name)
    if "".join(words) in BODY_WORDS:
        return KIND_BODY  # some spelling of "article body": article-content, artibody, post_text ...
    if name in WORDPRESS_POST_CLASSES:
        return KIND_POST
    if name != lowercase_name:
        words += [word.lower() for word in CAMEL_WORD_RE.findall(name)]
    if not FOOTER_OR_COMMENT_WORDS.isdisjoint(words):
        return KIND_FOOTER_OR_COMMENTS
    if is_aside_name(lowercase_name, words):
        return KIND_ASIDE
    return 0 if ARTICLE_WORDS.isdisjoint(words) else KIND_ARTICLE
