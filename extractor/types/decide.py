"""What kind of page a page is, and its text by the rule of that kind.

    posts of several people, by their own and the page's marks      -> thread      every post (thread.py)
    it says that it is an article, or when it was published          -> article     what its method chose
    a manual made it, its URL or its types say so                    -> reference   all but sidebars, code kept
    it says that it is one thing to buy, or shows a price and a cart -> product     the more inclusive rule
    it says that it is a collection, or looks like a list            -> collection  if it has a paragraph of its own
    it says what somebody offers, or has sections and no day         -> service     the more inclusive rule

Where the body that was chosen holds most of what can be read it is taken as it is (inclusive.py).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from docstore.model import Article, PageType
from extractor.fields.dates.date import MODIFIED_METAS, Published
from extractor.list_page import FRONT_PAGE, PUBLISHED_METAS, is_headline, path_of
from extractor.manual import is_manual
from extractor.methods.anchor import title_place
from extractor.methods.contract import Body
from extractor.page.document import Document, with_all_lines
from extractor.page.dom import HEADINGS
from extractor.page.layout import CODE_TAG, Layout, size_of
from extractor.types.inclusive import apart_lines, inclusive_body
from extractor.types.left_out import LeftOut, left_out_of
from extractor.types.marks import (
    COLLECTION_WORDS,
    PRODUCT_WORDS,
    REFERENCE_WORDS,
    SERVICE_WORDS,
    TypeMarks,
    marks_of,
)
from extractor.types.thread import Thread, find_thread

DAY = len("2016-05-09")
ENOUGH = 0.8  # of what can be read: a body that holds more is taken as it is
MIN_CODE = 5  # lines of code that a reference has
LABEL = 40.0  # size of the longest line that may be a price or a button
MANY_LINKS = 0.4  # share of links from which on a page without a day is a collection ...
MANY_HEADLINES = 12  # ... if it has so many
MANY_PRICES = 6
MIN_SERVICE = 100.0  # size of the text of a service page
PRICE = re.compile(r"(?:[$€£¥￥]|\b(?:usd|eur|gbp|rmb|cny)\b)\s?\d|\d[\d.,]*\s?(?:€|£|元|円|zł|kr\b|usd\b|eur\b)", re.I)
CART = re.compile(
    r"add to (?:cart|bag|basket|wish ?list)|buy (?:it )?now|in stock|out of stock|sold out|free shipping|\bsku\b|"
    r"shipping (?:&|and) returns|加入购物车|立即购买|库存|现货|包邮|商品详情|加入購物車|"
    r"in den warenkorb|ajouter au panier",
    re.I,
)
OFFER = re.compile(
    r"\b(?:get started|contact us|request an? (?:demo|quote|consultation|estimate)|get an? (?:demo|quote|estimate)|"
    r"free (?:trial|quote|consultation|estimate)|book (?:now|an?|your)|schedule an?|talk to (?:sales|us|an expert)|"
    r"start (?:now|free|for free|your)|sign up|our (?:services|clients|customers|pricing|team)|why (?:choose )?us|"
    r"call (?:us|now|today)|pricing|apply now|enrol?l)\b|联系我们|免费试用|立即咨询|"
    r"在线咨询|获取报价|服务优势|合作客户|申请试用|解决方案|客户案例|服务流程",
    re.I,
)
MIN_OFFERS, MANY_SECTIONS = 2, 4
LINKED = 0.5


@dataclass(frozen=True)
class TypedPage:
    """A page with its kind (None: an article, or told by what it is made of), the body by its rule, and why."""

    document: Document
    body: Body | None
    kind: PageType | None = None
    why: str = ""
    thread: Thread | None = None
    left_out: LeftOut | None = None


@dataclass(frozen=True, slots=True)
class Looks:
    """What stands on a page outside of its navigation: the share of links, and how many of what kinds of things."""

    share: float
    headlines: int
    prices: int
    carts: int
    offers: int
    sections: int


def typed_page(document: Document, body: Body | None, published: Callable[[Body], Published]) -> TypedPage:
    """The kind of a page. `body` is what its method took for the text; `published` says when that was published."""
    marks = marks_of(document)
    found = find_thread(document, marks)
    if found is not None:
        read, thread = found
        return TypedPage(read, thread.body(read.layout), PageType.THREAD, thread.why, thread)
    kind, why = kind_of(document, marks, body, published)
    if kind is PageType.ARTICLE or kind is None:
        return TypedPage(document, body, kind, why)
    return by_rule(document, body, kind, why)


def kind_of(
    document: Document, marks: TypeMarks, body: Body | None, published: Callable[[Body], Published]
) -> tuple[PageType | None, str]:
    """The kind of a page that is no thread, and why."""
    stated = marks.says_article or any(name in document.metas for name in PUBLISHED_METAS)
    if marks.says_article and not marks.products and not marks.in_url(COLLECTION_WORDS):
        return PageType.ARTICLE, "it calls itself an article"
    if marks.says_one_product and (marks.products or not is_shelf(looks_of(document), marks)):
        return PageType.PRODUCT, "it calls itself a product"
    if marks.says_collection:
        return PageType.COLLECTION, "it calls itself a collection"
    if stated:
        return PageType.ARTICLE, "it calls itself an article"
    if is_reference(document, marks):
        return PageType.REFERENCE, "a manual's page"
    if body is not None and is_dated(document, published(body)):
        return PageType.ARTICLE, "it has a day"
    return kind_by_looks(document, marks, looks_of(document))


def is_reference(document: Document, marks: TypeMarks) -> bool:
    """It belongs to a manual, by who made it, by what it says, or by its URL and its code."""
    if marks.says_reference or is_manual(document):
        return True
    if not marks.in_url(REFERENCE_WORDS):
        return False
    return marks.steps[:1] in (("docs",), ("wiki",)) or has_code(document.layout) or not marks.in_url(SERVICE_WORDS)


def has_code(layout: Layout) -> bool:
    """Several lines are code."""
    return sum(line.tag == CODE_TAG for line in layout.lines) >= MIN_CODE


def is_dated(document: Document, published: Published) -> bool:
    """A day of publication is known, which is not that of the last change alone."""
    if not published.day:
        return False
    changed = any(name in document.metas for name in MODIFIED_METAS)
    return not (published.source == "meta" and changed and published.day == published.modified)


def kind_by_looks(document: Document, marks: TypeMarks, looks: Looks) -> tuple[PageType | None, str]:
    """The kind of a page without a day by what stands on it: a cart, many links, sections."""
    is_front = FRONT_PAGE.fullmatch(path_of(document.url)) is not None
    if is_shelf(looks, marks) or (looks.share >= MANY_LINKS and looks.headlines >= MANY_HEADLINES):
        return PageType.COLLECTION, f"{looks.headlines} links and {looks.prices} prices"
    if looks.prices and (marks.in_url(PRODUCT_WORDS) or (looks.carts and not is_front)):
        return PageType.PRODUCT, "it shows a price and a cart"
    offered = marks.says_service or (marks.in_url(SERVICE_WORDS) and not is_front)
    if (
        offered or looks.offers >= MIN_OFFERS or looks.sections >= MANY_SECTIONS
    ) and looks.headlines <= 2 * MANY_HEADLINES:
        return PageType.SERVICE, "it says what is offered"
    return None, ""


def is_shelf(looks: Looks, marks: TypeMarks) -> bool:
    """Many things stand on the page, each with its link and its price; or its URL is that of a shelf."""
    if looks.prices >= MANY_PRICES and looks.headlines >= MANY_PRICES:
        return True
    return marks.in_url(COLLECTION_WORDS) and (looks.prices > 1 or looks.headlines >= MANY_PRICES)


def looks_of(document: Document) -> Looks:
    """The looks of a page."""
    apart = apart_lines(document.layout)
    lines = [line for line, is_apart in zip(document.layout.lines, apart, strict=True) if not is_apart]
    total = sum(line.size for line in lines)
    labels = [line.text for line in lines if line.size < LABEL]
    return Looks(
        sum(min(line.size, line.link_size) for line in lines) / total if total else 0.0,
        sum(map(is_headline, lines)),
        sum(PRICE.search(text) is not None for text in labels),
        sum(CART.search(text) is not None for text in labels),
        len({text.lower() for text in labels if OFFER.search(text)}),
        sum(line.tag in HEADINGS[1:4] and line.link_share < LINKED for line in lines),
    )


def by_rule(document: Document, body: Body | None, kind: PageType | None, why: str) -> TypedPage:
    """The page with the body by the rule of its kind: the chosen one, or where that holds little the inclusive."""
    whole = with_all_lines(document)
    left_out = left_out_of(whole, body)
    if left_out.share >= ENOUGH and body is not None:
        return TypedPage(document, body, kind, why, left_out=left_out)
    wider = inclusive_body(whole, title_place(whole))
    if wider is None or size_of(wider.text) <= left_out.body:
        return TypedPage(document, body, kind, why, left_out=left_out)
    return TypedPage(whole, wider, kind, why, left_out=left_out_of(whole, wider))


def of_first_post(article: Article, thread: Thread, latest: str) -> Article:
    """The article of a thread: its author and day are those of the first post, as far as that names them."""
    first = thread.posts[0]
    if first.author:
        article = replace(article, author=first.author)
    if first.time and first.time[:DAY] <= latest:
        at = first.time if len(first.time) > DAY else ""
        article = replace(article, published=first.time[:DAY], published_at=at, date_source="time")
    return article
