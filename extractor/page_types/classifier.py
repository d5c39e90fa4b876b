"""Classifies pages and chooses the body by the rule of the page type.

    posts of several people, by their own and the page's signals       -> thread      every post (thread.py)
    declared as an article, or has a date of publication              -> article     the body of the extraction method
    generated documentation; URL or schema.org type of a reference    -> reference   all but sidebars, code included
    declared as one product, or shows a price and a cart              -> product     the more inclusive body
    declared as a collection, or looks like a list                    -> collection  if it has an introduction
    declared as a service, or has offers or sections and no date      -> service     the more inclusive body

A body with most of the readable text is used as it is (body_methods/inclusive.py).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from domain.article import Article, PageType
from extractor.body_methods.base import Body
from extractor.body_methods.inclusive import boilerplate_line_mask, extract_inclusive_body
from extractor.fields.dates.publication_date import MODIFIED_META_NAMES, PublicationDate
from extractor.fields.title_anchor import find_title_line
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import CODE_TAG, Layout, text_size
from extractor.page.parsed_page import ParsedPage, with_complete_layout
from extractor.page_types.body_coverage import BodyCoverage, measure_coverage
from extractor.page_types.documentation import is_documentation_page
from extractor.page_types.list_page import (
    FRONT_PAGE_PATH_RE,
    PUBLISHED_META_NAMES,
    is_headline_line,
    path_without_query,
)
from extractor.page_types.thread import Thread, find_thread
from extractor.page_types.type_signals import (
    COLLECTION_SEGMENTS,
    PRODUCT_SEGMENTS,
    REFERENCE_SEGMENTS,
    SERVICE_SEGMENTS,
    TypeSignals,
    read_type_signals,
)

ISO_DATE_LENGTH = len("2016-05-09")
MIN_BODY_COVERAGE = 0.8  # share of the readable text; a body with more is used as it is
MIN_CODE_LINES = 5  # lines of code of a reference page
MAX_LABEL_SIZE = 40.0  # longer lines are not prices or buttons; in Chinese characters
# A page without a date is a collection if it has at least this share of link text and this number of headlines.
MIN_COLLECTION_LINK_SHARE = 0.4
MIN_COLLECTION_HEADLINES = 12
MIN_LISTING_PRICES = 6  # prices, and headlines, of a product listing
PRICE_RE = re.compile(
    r"(?:[$€£¥￥]|\b(?:usd|eur|gbp|rmb|cny)\b)\s?\d|\d[\d.,]*\s?(?:€|£|元|円|zł|kr\b|usd\b|eur\b)", re.I
)
CART_RE = re.compile(
    r"add to (?:cart|bag|basket|wish ?list)|buy (?:it )?now|in stock|out of stock|sold out|free shipping|\bsku\b|"
    r"shipping (?:&|and) returns|加入购物车|立即购买|库存|现货|包邮|商品详情|加入購物車|"
    r"in den warenkorb|ajouter au panier",
    re.I,
)
OFFER_RE = re.compile(
    r"\b(?:get started|contact us|request an? (?:demo|quote|consultation|estimate)|get an? (?:demo|quote|estimate)|"
    r"free (?:trial|quote|consultation|estimate)|book (?:now|an?|your)|schedule an?|talk to (?:sales|us|an expert)|"
    r"start (?:now|free|for free|your)|sign up|our (?:services|clients|customers|pricing|team)|why (?:choose )?us|"
    r"call (?:us|now|today)|pricing|apply now|enrol?l)\b|联系我们|免费试用|立即咨询|"
    r"在线咨询|获取报价|服务优势|合作客户|申请试用|解决方案|客户案例|服务流程",
    re.I,
)
MIN_SERVICE_OFFERS, MIN_SERVICE_SECTIONS = 2, 4
MAX_SECTION_LINK_SHARE = 0.5


@dataclass(frozen=True)
class ClassifiedPage:
    """Result of classification.

    Attributes:
        page: The page; with a complete layout if the body was chosen from it.
        body: The body by the rule of the page type, None if not found.
        page_type: None if no signal decides; then the content of the article decides (see `refine_type_by_content`).
        reason: Explanation of the page type for people.
        thread: The thread, if the page is a thread.
        coverage: Coverage of `body`, if it was measured.
    """

    page: ParsedPage
    body: Body | None
    page_type: PageType | None = None
    reason: str = ""
    thread: Thread | None = None
    coverage: BodyCoverage | None = None


@dataclass(frozen=True, slots=True)
class PageContentCounts:
    """Content of a page outside its boilerplate: share of link text, and counts of typical elements."""

    link_share: float
    headline_count: int
    price_count: int
    cart_phrase_count: int
    offer_phrase_count: int
    section_count: int


def classify_page(
    page: ParsedPage, body: Body | None, get_published: Callable[[Body], PublicationDate]
) -> ClassifiedPage:
    """Classify a page and choose its body.

    Args:
        page: The page.
        body: The body of the extraction method.
        get_published: Returns the date of publication for a body.
    """
    type_signals = read_type_signals(page)
    thread_result = find_thread(page, type_signals)
    if thread_result is not None:
        complete_page, thread = thread_result
        return ClassifiedPage(
            complete_page, thread.to_body(complete_page.layout), PageType.THREAD, thread.reason, thread
        )
    page_type, reason = decide_page_type(page, type_signals, body, get_published)
    if page_type is PageType.ARTICLE or page_type is None:
        return ClassifiedPage(page, body, page_type, reason)
    return with_inclusive_body(page, body, page_type, reason)


def decide_page_type(
    page: ParsedPage, type_signals: TypeSignals, body: Body | None, get_published: Callable[[Body], PublicationDate]
) -> tuple[PageType | None, str]:
    """Return the type of a page that is not a thread, with the reason; (None, "") if no signal decides."""
    is_declared_article = type_signals.declares_article or any(name in page.metas for name in PUBLISHED_META_NAMES)
    if (
        type_signals.declares_article
        and not type_signals.product_count
        and not type_signals.has_url_segment(COLLECTION_SEGMENTS)
    ):
        return PageType.ARTICLE, "declared as an article"
    if type_signals.declares_single_product and (
        type_signals.product_count or not is_product_listing(count_page_content(page), type_signals)
    ):
        return PageType.PRODUCT, "declared as a product"
    if type_signals.declares_collection:
        return PageType.COLLECTION, "declared as a collection"
    if is_declared_article:
        return PageType.ARTICLE, "declared as an article"
    if is_reference_page(page, type_signals):
        return PageType.REFERENCE, "documentation page"
    if body is not None and has_publication_date(page, get_published(body)):
        return PageType.ARTICLE, "has a date of publication"
    return page_type_by_content(page, type_signals, count_page_content(page))


def is_reference_page(page: ParsedPage, type_signals: TypeSignals) -> bool:
    """Return whether a page is a reference page, by its generator, its schema.org types, or its URL and its code."""
    if type_signals.declares_reference or is_documentation_page(page):
        return True
    if not type_signals.has_url_segment(REFERENCE_SEGMENTS):
        return False
    return (
        type_signals.url_segments[:1] in (("docs",), ("wiki",))
        or has_code_lines(page.layout)
        or not type_signals.has_url_segment(SERVICE_SEGMENTS)
    )


def has_code_lines(layout: Layout) -> bool:
    """Return whether at least MIN_CODE_LINES lines are code."""
    return sum(line.tag == CODE_TAG for line in layout.lines) >= MIN_CODE_LINES


def has_publication_date(page: ParsedPage, published: PublicationDate) -> bool:
    """Return whether the date of publication is known and is not only the date of the last change."""
    if not published.date:
        return False
    has_modified_meta = any(name in page.metas for name in MODIFIED_META_NAMES)
    return not (published.source == "meta" and has_modified_meta and published.date == published.modified)


def page_type_by_content(
    page: ParsedPage, type_signals: TypeSignals, counts: PageContentCounts
) -> tuple[PageType | None, str]:
    """Return the type of an undated page by its content (cart, links, sections), with the reason."""
    is_front = FRONT_PAGE_PATH_RE.fullmatch(path_without_query(page.url)) is not None
    if is_product_listing(counts, type_signals) or (
        counts.link_share >= MIN_COLLECTION_LINK_SHARE and counts.headline_count >= MIN_COLLECTION_HEADLINES
    ):
        return PageType.COLLECTION, f"{counts.headline_count} links and {counts.price_count} prices"
    if counts.price_count and (
        type_signals.has_url_segment(PRODUCT_SEGMENTS) or (counts.cart_phrase_count and not is_front)
    ):
        return PageType.PRODUCT, "shows a price and a cart"
    is_service_url = type_signals.declares_service or (type_signals.has_url_segment(SERVICE_SEGMENTS) and not is_front)
    if (
        is_service_url
        or counts.offer_phrase_count >= MIN_SERVICE_OFFERS
        or counts.section_count >= MIN_SERVICE_SECTIONS
    ) and counts.headline_count <= 2 * MIN_COLLECTION_HEADLINES:
        return PageType.SERVICE, "describes an offer"
    return None, ""


def is_product_listing(counts: PageContentCounts, type_signals: TypeSignals) -> bool:
    """Return whether a page lists many products, each with link and price, or has the URL of a product list."""
    if counts.price_count >= MIN_LISTING_PRICES and counts.headline_count >= MIN_LISTING_PRICES:
        return True
    return type_signals.has_url_segment(COLLECTION_SEGMENTS) and (
        counts.price_count > 1 or counts.headline_count >= MIN_LISTING_PRICES
    )


def count_page_content(page: ParsedPage) -> PageContentCounts:
    """Count links, headlines, prices, phrases and sections of a page outside its boilerplate."""
    is_boilerplate = boilerplate_line_mask(page.layout)
    lines = [line for line, skip in zip(page.layout.lines, is_boilerplate, strict=True) if not skip]
    total = sum(line.size for line in lines)
    short_texts = [line.text for line in lines if line.size < MAX_LABEL_SIZE]
    return PageContentCounts(
        sum(min(line.size, line.link_size) for line in lines) / total if total else 0.0,
        sum(map(is_headline_line, lines)),
        sum(PRICE_RE.search(text) is not None for text in short_texts),
        sum(CART_RE.search(text) is not None for text in short_texts),
        len({text.lower() for text in short_texts if OFFER_RE.search(text)}),
        sum(line.tag in HEADING_TAGS[1:4] and line.link_share < MAX_SECTION_LINK_SHARE for line in lines),
    )


def with_inclusive_body(page: ParsedPage, body: Body | None, page_type: PageType | None, reason: str) -> ClassifiedPage:
    """Return the classified page with the body by the rule of its type.

    The given body is used if it covers MIN_BODY_COVERAGE of the readable text. Otherwise the inclusive body is used if
    it is larger.
    """
    complete_page = with_complete_layout(page)
    coverage = measure_coverage(complete_page, body)
    if coverage.covered_share >= MIN_BODY_COVERAGE and body is not None:
        return ClassifiedPage(page, body, page_type, reason, coverage=coverage)
    inclusive_body = extract_inclusive_body(complete_page, find_title_line(complete_page))
    if inclusive_body is None or text_size(inclusive_body.text) <= coverage.body_size:
        return ClassifiedPage(page, body, page_type, reason, coverage=coverage)
    return ClassifiedPage(
        complete_page, inclusive_body, page_type, reason, coverage=measure_coverage(complete_page, inclusive_body)
    )


def with_first_post_fields(article: Article, thread: Thread, latest_date: str) -> Article:
    """Return the article of a thread with author and date of the first post, if known and not after `latest_date`."""
    first = thread.posts[0]
    if first.author:
        article = replace(article, author=first.author)
    if first.time and first.time[:ISO_DATE_LENGTH] <= latest_date:
        published_at = first.time if len(first.time) > ISO_DATE_LENGTH else ""
        article = replace(
            article, published=first.time[:ISO_DATE_LENGTH], published_at=published_at, date_source="time"
        )
    return article
