"""Reads start tags: hints about the text of an element from its tag, class, id, role, itemprop and style.

Only general words, no words of single sites. Names are hints: line_scoring.py overrides them if the text contradicts.
"""

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple


class Hint(IntEnum):
    """Role of an element according to its names."""

    BODY = 0  # text of the article
    ARTICLE = 1  # contains the article among other things
    NONE = 2
    ASIDE = 3  # navigation, related news, advertisement ...
    HIDDEN = 4  # not visible when the page opens
    FOOTER_OR_COMMENTS = 5  # comments or footer, which may be longer than the article


ASIDE_TAGS = frozenset(("nav", "aside", "form", "dialog", "menu"))
NEVER_ASIDE_TAGS = frozenset(("html", "body", "main", "article", "h1", "p", "tbody", "tr"))
HIDDEN_CLASSES = frozenset(("hidden", "hide", "d-none", "visually-hidden", "sr-only", "screen-reader-text", "u-hidden"))
RESPONSIVE_CLASS_RE = re.compile(r"(?:sm|md|lg|xl|2xl|d-sm|d-md|d-lg|d-xl|show|print)\W|d-(?:sm|md|lg|xl)")
ASIDE_ROLES = frozenset(("navigation", "complementary", "banner", "search", "dialog", "menu", "alertdialog"))
CAMEL_WORD_RE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
LOWERCASE_RUN_RE = re.compile("[^\x00-`{-\x7f]+")  # a-z and all non-ASCII characters
# Accepted as any word of a name: "site-footer", "relatedNews".
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
# Accepted anywhere in a name: "relatedpoststitle".
ASIDE_STEM_RE = re.compile(r"related[a-z]|recommend|newsletter|sponsor|breadcrumb|sidebar|advert|subscri|tuijian")
# Accepted only as a complete name: the class of many articles is "post tag-oil has-author".
ASIDE_NAMES = frozenset(
    (
        "menu", "relate", "relative", "hot", "hots", "tools", "tool", "tags", "tag", "keyword", "prev", "next",
        "zeren", "source", "laiyuan", "more", "links", "print", "skip", "search", "sr", "linenos", "lineno",
        "linenodiv", "line-numbers", "line-number", "rouge-gutter", "hljs-ln-numbers", "blob-num", "crayon-nums",
    )
)  # fmt: skip
FOOTER_OR_COMMENT_WORDS = frozenset(
    (
        "footer", "foot", "copyright", "copyrights", "comment", "comments", "cmt", "disqus", "pinglun", "respond",
        "reply", "replies",
    )
)  # fmt: skip
# Words of a name that describe a state or space, not what the element is: "section--has-ads", "with_sidebar",
# "richtext--space-bottom".
STATE_RE = re.compile(
    r"(?:^|[-_])(?:has|have|with|without|no|non)(?:[-_]{1,3}|(?=[A-Z]))[A-Za-z]{1,40}+(?:[-_]{1,3}[A-Za-z]{1,40}+){0,9}$"
    r"|(?:space|spacing|spacer|margin|padding|pad|gap|border|align|valign)[-_]*(?:top|bottom)"
)
# Parts of an article, even if their names contain other words.
ARTICLE_PART_WORDS = frozenset(("embed", "embedded", "tweet", "quote"))
# WordPress adds classes for author, tags and category to these.
WORDPRESS_POST_CLASSES = frozenset(("post", "hentry", "type-post"))
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


FOOTNOTE_RE = re.compile("footnote|endnote")  # an aside with this name belongs to the text
CAPTION_TAGS = ("figcaption", "figure")
CAPTION_CLASS_RE = re.compile(r"caption\b|credit|attribution")
# Elements whose own text may be the title, a date or a name: recorded as inline elements by layout_builder.py.
METADATA_CLASS_RE = re.compile(
    r"date|time|publi|pubt|posted|post-?meta|entry-meta|article-?info|artinfo|byline|author|writer|reporter|editor|"
    r"source|origin|laiyuan|zuozhe|riqi|shijian|fabu|title|headline|biaoti|breadcrumb|crumb|section|channel|category"
)
ATTRIBUTE_RE = re.compile(r'(?<!\S)([^\s=]++)="([^"]*+)"')
HIDDEN_ATTRIBUTE_RE = re.compile('(?:^| )hidden="')
MAX_IDENTIFIER_CHARS = 300


class TagInfo(NamedTuple):
    """Data of a start tag.

    Attributes:
        attribute_text: The attributes as markup.
        hint: Role of the element according to its names.
        identifiers: Id, class, itemprop, rel and property in lower case.
        is_caption: True for a picture caption.
        is_metadata: True if the identifiers suggest a title, date or name.
        is_boilerplate: True if the hint is ASIDE, HIDDEN or FOOTER_OR_COMMENTS, and the element is not metadata.
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
        """All attributes of the tag by lower-case name, entities resolved."""
        return parse_attributes(self.attribute_text)


@lru_cache(maxsize=20_000)
def parse_tag(tag: str, attribute_text: str) -> TagInfo:
    """Return the data of a start tag. `attribute_text` contains its attributes as markup: `class="news" id="x"`."""
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
    if tag == "td" and "gutter" in classes.split():  # line numbers beside code; other elements are columns of a page
        kinds |= KIND_ASIDE
    hint = choose_hint(tag, kinds & HINT_KINDS, role, is_hidden(attribute_text))
    if hint is Hint.ASIDE and FOOTNOTE_RE.search(name) is not None:
        hint = Hint.NONE
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


def attribute_value(name: str, attribute_text: str) -> str:
    """Return the value of one attribute as markup, or an empty string."""
    needle = name + '="'
    start = attribute_text.find(needle)
    while start > 0 and attribute_text[start - 1] != " ":
        start = attribute_text.find(needle, start + 1)
    if start < 0:
        return ""
    start += len(needle)
    return attribute_text[start : attribute_text.find('"', start)]


def parse_attributes(attribute_text: str) -> dict[str, str]:
    """Return the attributes by lower-case name, entities resolved; the first of a name wins."""
    return (
        {name.lower(): unescape_markup(value) for name, value in reversed(ATTRIBUTE_RE.findall(attribute_text))}
        if attribute_text
        else {}
    )


def unescape_markup(text: str) -> str:
    """Resolve the entities of serialized text."""
    if "&" not in text:
        return text
    for entity, char in ENTITIES:
        text = text.replace(entity, char)
    return text


ENTITIES = (
    ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#13;", " "), ("&#10;", " "), ("&#9;", " "), ("&amp;", "&"),
)  # fmt: skip


def is_hidden(attribute_text: str) -> bool:
    """Return whether an element is hidden when the page opens, from screens or from screen readers."""
    return is_invisible(attribute_text) or attribute_value("aria-hidden", attribute_text) == "true"


def is_invisible(attribute_text: str) -> bool:
    """Return whether an element is not visible when the page opens.

    Evidence is an attribute, the inline style, or a class that hides the element on screens of all sizes.
    """
    if not (
        "hid" in attribute_text
        or "none" in attribute_text
        or "sr-only" in attribute_text
        or "-reader" in attribute_text
        or "NONE" in attribute_text
    ):
        return False
    words = attribute_value("class", attribute_text).split()
    if not HIDDEN_CLASSES.isdisjoint(words) and not any(RESPONSIVE_CLASS_RE.match(word) for word in words):
        return True
    if HIDDEN_ATTRIBUTE_RE.search(attribute_text):
        return True
    return "display:none" in attribute_value("style", attribute_text).replace(" ", "").lower()


def choose_hint(tag: str, kinds: int, role: str, is_hidden_element: bool) -> Hint:
    """Return the hint for an element from its tag, the kinds of its names (KIND_* flags), and its role."""
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
    return HINT_BY_KINDS[kinds]


# Bit flags for the meaning of one class or id. The flags of an element are those of all its names.
KIND_BODY = 1
KIND_POST = 2
KIND_FOOTER_OR_COMMENTS = 4
KIND_ASIDE = 8
KIND_ARTICLE = 16
KIND_CAPTION = 32
KIND_METADATA = 64
HINT_KINDS = KIND_BODY | KIND_POST | KIND_FOOTER_OR_COMMENTS | KIND_ASIDE | KIND_ARTICLE
HINT_PRIORITY = (
    (KIND_POST, Hint.ARTICLE),
    (KIND_FOOTER_OR_COMMENTS, Hint.FOOTER_OR_COMMENTS),
    (KIND_ASIDE, Hint.ASIDE),
    (KIND_ARTICLE, Hint.ARTICLE),
)
# Indexed by all combinations of HINT_KINDS.
HINT_BY_KINDS = tuple(
    next((hint for kind, hint in HINT_PRIORITY if kinds & kind), Hint.NONE) for kinds in range(HINT_KINDS + 1)
)


def is_aside_name(name: str, words: Sequence[str]) -> bool:
    """Return whether a name means navigation, related news, advertisement etc., and not a part of an article.

    `name` is in lower case; `words` are its words.
    """
    if name in ASIDE_NAMES:
        return True
    if ASIDE_WORDS.isdisjoint(words) and ASIDE_STEM_RE.search(name) is None:
        return False
    return ARTICLE_PART_WORDS.isdisjoint(words)


def classify_names(names: str) -> int:
    """Return the KIND_* flags of all classes in an attribute."""
    kinds = 0
    for name in names[:MAX_IDENTIFIER_CHARS].split():
        kinds |= classify_name(name)
    return kinds


@lru_cache(maxsize=100_000)
def classify_name(name: str) -> int:
    """Return the KIND_* flags of one class or id, 0 for none. Cached, because pages of a site share most names."""
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
    """Return the KIND_* flag of a class or id for its hint, 0 for none. `lowercase_name` is `name` in lower case."""
    stateless_name = STATE_RE.sub("", name)
    if stateless_name != name:
        name, lowercase_name = stateless_name, stateless_name.lower()
    words = LOWERCASE_RUN_RE.findall(lowercase_name)
    if "".join(words) in BODY_WORDS:
        return KIND_BODY  # a spelling of "article body": article-content, artibody, post_text ...
    if name in WORDPRESS_POST_CLASSES:
        return KIND_POST
    if name != lowercase_name:
        words += [word.lower() for word in CAMEL_WORD_RE.findall(name)]
    if not FOOTER_OR_COMMENT_WORDS.isdisjoint(words):
        return KIND_FOOTER_OR_COMMENTS
    if is_aside_name(lowercase_name, words):
        return KIND_ASIDE
    return 0 if ARTICLE_WORDS.isdisjoint(words) else KIND_ARTICLE
