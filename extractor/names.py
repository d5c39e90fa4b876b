"""What the names that page authors give to elements (tag, class, id, role, itemprop) say about their text.

General words only, no site's own. Names are hints: methods/weighed_lines.py overrules them where the text disagrees.
"""

import re
from enum import Enum
from functools import lru_cache

from lxml.etree import _Element as Element


class Hint(Enum):
    """What an element's name promises."""

    BODY = "body"  # this is called the text of the article
    ARTICLE = "article"  # holds the article among other things
    NONE = "none"
    ASIDE = "aside"  # is called navigation, related news, advertisement ...
    AFTER = "after"  # is called comments or footer: these may well be longer than the article


ASIDE_TAGS = frozenset(("nav", "aside", "form", "dialog", "menu"))
NEVER_ASIDE = frozenset(("html", "body", "main", "article", "h1", "p", "tbody", "tr"))
ASIDE_ROLES = frozenset(("navigation", "complementary", "banner", "search", "dialog", "menu", "alertdialog"))
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
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
        "disclaimer", "statement", "shengming", "mianze", "friendlink", "friendlinks", "player",
    )
)  # fmt: skip
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


def hint_of(element: Element) -> Hint:
    """The hint in an element's names."""
    get = element.get
    name = f"{get('id') or ''} {get('class') or ''}"
    return _hint(str(element.tag), name[:300], get("role") or "", get("itemprop") or "", is_hidden(element))


def is_hidden(element: Element) -> bool:
    """Not shown when the page opens, by attribute or inline style."""
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    return "display:none" in (element.get("style") or "").replace(" ", "").lower()


@lru_cache(maxsize=20_000)
def _hint(tag: str, name: str, role: str, itemprop: str, hidden: bool) -> Hint:
    names = name.split()
    if itemprop.lower() in ("articlebody", "text") or any(is_body_name(word) for word in names):
        return Hint.BODY
    if tag in NEVER_ASIDE:
        return Hint.ARTICLE if tag in ("article", "main") else Hint.NONE
    if tag == "footer" or role == "contentinfo":
        return Hint.AFTER
    if hidden or tag in ASIDE_TAGS or role in ASIDE_ROLES:
        return Hint.ASIDE
    if POST_NAMES.intersection(names):
        return Hint.ARTICLE
    words = {word.lower() for part in names for word in WORD.findall(part)} | {part.lower() for part in names}
    if words & AFTER_WORDS:
        return Hint.AFTER
    if words & ASIDE_WORDS or {part.lower() for part in names} & ASIDE_NAMES:
        return Hint.ASIDE
    return Hint.ARTICLE if words & ARTICLE_WORDS else Hint.NONE


def is_body_name(name: str) -> bool:
    """True for a class or id that is some spelling of "article body": article-content, artibody, post_text ..."""
    return "".join(word.lower() for word in WORD.findall(name) if not word.isdigit()) in BODY_WORDS
