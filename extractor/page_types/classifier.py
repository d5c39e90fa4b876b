"""Classifies pages and chooses the body by the rule of the page type.

    posts of several people, by their own and the page's signals       -> thread      every post (thread.py)
    declared as an article, or has a date of publication              -> article     the body of the extraction method
    generated documentation; URL or schema.org type of a reference    -> reference   all but sidebars, code included
    declared as one product, or shows a price and a cart              -> product     the more inclusive body
    declared as a collection, or looks like a list                    -> collection  if it has an introduction
    guide, by its title or its code, without a date              -> reference   as above
    declared as a service, or has offers or sections and no date      -> service     the more inclusive body

If no rule of PAGE_TYPE_RULES holds, the content of the article decides:

    dated, a text            -> article      news, a post, a report
    no date of publication   -> reference    a page of an encyclopedia, of a company's site
    half of it code          -> code         a listing, a page of an API
    pictures with captions   -> pictures

A body with most of the readable text is used as it is (body_methods/inclusive.py).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from domain.article import Article, BlockKind, PageType
from extractor.body_methods.inclusive import extract_inclusive_body
from extractor.fields.dates.date_parsing import find_date_in_url
from extractor.fields.dates.publication_date import MODIFIED_META_NAMES
from extractor.page.layout import CODE_TAG, text_size
from extractor.page.parsed_page import Body
from extractor.page_types.body_coverage import BodyCoverage, measure_coverage
from extractor.page_types.documentation import NEWS_SEGMENTS
from extractor.page_types.page_signals import (
    COLLECTION_SEGMENTS,
    MANUAL_SEGMENTS,
    PRODUCT_SEGMENTS,
    REFERENCE_SEGMENTS,
    SERVICE_SEGMENTS,
    PageSignals,
)
from extractor.page_types.thread import Thread, find_thread

ISO_DATE_LENGTH = len("2016-05-09")
MIN_BODY_COVERAGE = 0.8  # share of the readable text; a body with more is used as it is
MIN_CODE_LINES = 5  # lines of code of a reference page
# A page without a date is a collection if it has at least this share of link text and this number of headlines.
MIN_COLLECTION_LINK_SHARE = 0.4
MIN_COLLECTION_HEADLINES = 12
MIN_LISTING_PRICES = 6  # prices, and headlines, of a product listing
MIN_SERVICE_OFFERS, MIN_SERVICE_SECTIONS = 2, 4
MAX_OFFER_SECTION_SIZE = 300.0  # mean size of sections without an offer; those of a guide are longer
GUIDE_TITLE_RE = re.compile(
    r"\b(?:tutorials?|quick ?start|getting started|how to|walk-?through|cheat ?sheet|guide to|manual|"
    r"(?:user|developer|install(?:ation)?|migration|reference|style|admin(?:istration)?) guide)\b|"
    "教程|指南|手册|入门|快速上手",
    re.I,
)
MIN_GALLERY_PICTURES = 3
MAX_CHARS_PER_PICTURE = 100  # the length of a caption
MIN_CODE_SHARE = 0.5  # share of code in the characters of the body
CONTENT_OVERRIDABLE_TYPES = (None, PageType.ARTICLE, PageType.REFERENCE)  # may become CODE or GALLERY


@dataclass(frozen=True)
class ClassifiedPage:
    """Result of classification.

    Attributes:
        signals: The signals of the page; with a complete layout if the body was chosen from it.
        body: The body by the rule of the page type, None if not found.
        page_type: None if no signal decides; then the content of the article decides (see `refine_type_by_content`).
        reason: Explanation of the page type for people.
        thread: The thread, if the page is a thread.
        coverage: Coverage of `body`, if it was measured.
    """

    signals: PageSignals
    body: Body | None
    page_type: PageType | None = None
    reason: str = ""
    thread: Thread | None = None
    coverage: BodyCoverage | None = None


def classify_page(signals: PageSignals, body: Body | None) -> ClassifiedPage:
    """Classify a page and choose its body. `body` is the body of the extraction method."""
    thread_result = find_thread(signals)
    if thread_result is not None:
        complete_signals, thread = thread_result
        thread_body = thread.to_body(complete_signals.page.layout)
        return ClassifiedPage(complete_signals, thread_body, PageType.THREAD, thread.reason, thread)
    rule = next((rule for rule in PAGE_TYPE_RULES if rule.holds(signals, body)), None)
    if rule is None:
        return ClassifiedPage(signals, body)
    reason = rule.reason if isinstance(rule.reason, str) else rule.reason(signals)
    if rule.page_type is PageType.ARTICLE:
        return ClassifiedPage(signals, body, rule.page_type, reason)
    return with_inclusive_body(ClassifiedPage(signals, body, rule.page_type, reason))


class PageTypeRule(NamedTuple):
    """A page type, the reason for it, and whether the rule holds for a page and its body."""

    page_type: PageType
    reason: str | Callable[[PageSignals], str]
    holds: Callable[[PageSignals, Body | None], bool]


def is_manual_page(signals: PageSignals, _body: Body | None) -> bool:
    """Return whether a page of a manual declares a technical article, or nothing more precise than an article.

    Templates of manuals declare every page as an article, and the time of the build as its publication.
    """
    type_signals = signals.type_signals
    if find_date_in_url(signals.page.url) or type_signals.has_url_segment(NEWS_SEGMENTS):
        return False
    if signals.declares_dated_article:
        return False
    return type_signals.declares_reference or type_signals.has_url_segment(MANUAL_SEGMENTS) or signals.is_documentation


def is_article_only(signals: PageSignals, _body: Body | None) -> bool:
    """Return whether a page declares an article and no product, and its URL is not that of a collection."""
    type_signals = signals.type_signals
    return (
        type_signals.declares_article
        and not type_signals.product_count
        and not type_signals.has_url_segment(COLLECTION_SEGMENTS)
    )


def is_single_product(signals: PageSignals, _body: Body | None) -> bool:
    """Return whether a page declares one product, and does not list many if it declares it only as a page."""
    type_signals = signals.type_signals
    return type_signals.declares_single_product and (
        bool(type_signals.product_count) or not is_product_listing(signals)
    )


def is_reference_page(signals: PageSignals, _body: Body | None) -> bool:
    """Return whether a page is a reference page, by its generator, its schema.org types, or its URL and its code."""
    type_signals = signals.type_signals
    if type_signals.declares_reference or signals.is_documentation:
        return True
    if not type_signals.has_url_segment(REFERENCE_SEGMENTS):
        return False
    return (
        type_signals.url_segments[:1] in (("docs",), ("wiki",))
        or sum(line.tag == CODE_TAG for line in signals.page.layout.lines) >= MIN_CODE_LINES
        or not type_signals.has_url_segment(SERVICE_SEGMENTS)
    )


def has_publication_date(signals: PageSignals, body: Body | None) -> bool:
    """Return whether the date of publication is known and is not only the date of the last change."""
    published = signals.published(body) if body is not None else None
    if published is None or not published.date or published.is_last_change:
        return False
    has_modified_meta = any(name in signals.page.metas for name in MODIFIED_META_NAMES)
    return not (published.source == "meta" and has_modified_meta and published.date == published.modified)


def has_only_change_date(signals: PageSignals, body: Body | None) -> bool:
    """Return whether the only date of a page is that of its last change, and neither type nor URL are of a service."""
    type_signals = signals.type_signals
    if type_signals.declares_service or type_signals.has_url_segment(SERVICE_SEGMENTS) or signals.is_front_page:
        return False
    return body is not None and signals.published(body).is_last_change


def is_product_listing(signals: PageSignals) -> bool:
    """Return whether a page lists many products, each with link and price, or has the URL of a product list."""
    counts = signals.content_counts
    if counts.price_count >= MIN_LISTING_PRICES and counts.headline_count >= MIN_LISTING_PRICES:
        return True
    return signals.type_signals.has_url_segment(COLLECTION_SEGMENTS) and (
        counts.price_count > 1 or counts.headline_count >= MIN_LISTING_PRICES
    )


def is_listing(signals: PageSignals, _body: Body | None) -> bool:
    """Return whether an undated page lists products, or consists of many headlines."""
    counts = signals.content_counts
    return is_product_listing(signals) or (
        counts.link_share >= MIN_COLLECTION_LINK_SHARE and counts.headline_count >= MIN_COLLECTION_HEADLINES
    )


def has_price_and_cart(signals: PageSignals, _body: Body | None) -> bool:
    """Return whether an undated page shows a price, and a cart or the URL of a product."""
    counts = signals.content_counts
    return bool(counts.price_count) and (
        signals.type_signals.has_url_segment(PRODUCT_SEGMENTS)
        or (counts.cart_phrase_count > 0 and not signals.is_front_page)
    )


def describes_offer(signals: PageSignals, _body: Body | None) -> bool:
    """Return whether an undated page declares a service, has the URL of one, or has offers or sections."""
    type_signals, counts = signals.type_signals, signals.content_counts
    has_short_sections = signals.visible_size <= MAX_OFFER_SECTION_SIZE * counts.section_count
    return (
        type_signals.declares_service
        or (type_signals.has_url_segment(SERVICE_SEGMENTS) and not signals.is_front_page)
        or counts.offer_phrase_count >= MIN_SERVICE_OFFERS
        or (counts.section_count >= MIN_SERVICE_SECTIONS and (counts.offer_phrase_count > 0 or has_short_sections))
    ) and counts.headline_count <= 2 * MIN_COLLECTION_HEADLINES


def is_guide(signals: PageSignals, body: Body | None) -> bool:
    """Return whether a page that looks like an offer is a guide: by its title or its code, and no declared service."""
    type_signals = signals.type_signals
    if type_signals.declares_service or type_signals.has_url_segment(SERVICE_SEGMENTS) or signals.is_front_page:
        return False
    is_titled_or_has_code = GUIDE_TITLE_RE.search(signals.page.title) or (
        sum(line.tag == CODE_TAG for line in signals.page.layout.lines) >= MIN_CODE_LINES
    )
    return bool(is_titled_or_has_code) and describes_offer(signals, body)


# The first rule that holds decides. Declared types precede the date, and the date precedes the content.
PAGE_TYPE_RULES = (
    PageTypeRule(PageType.REFERENCE, "page of a manual", is_manual_page),
    PageTypeRule(PageType.ARTICLE, "declared as an article", is_article_only),
    PageTypeRule(PageType.PRODUCT, "declared as a product", is_single_product),
    PageTypeRule(
        PageType.COLLECTION,
        "declared as a collection",
        lambda signals, _body: signals.type_signals.declares_collection,
    ),
    PageTypeRule(
        PageType.ARTICLE,
        "declared as an article",
        lambda signals, _body: signals.type_signals.declares_article or signals.has_published_meta,
    ),
    PageTypeRule(PageType.REFERENCE, "documentation page", is_reference_page),
    PageTypeRule(PageType.ARTICLE, "has a date of publication", has_publication_date),
    PageTypeRule(
        PageType.COLLECTION,
        lambda signals: (
            f"{signals.content_counts.headline_count} links and {signals.content_counts.price_count} prices"
        ),
        is_listing,
    ),
    PageTypeRule(PageType.PRODUCT, "shows a price and a cart", has_price_and_cart),
    PageTypeRule(PageType.REFERENCE, "guide or tutorial", is_guide),
    PageTypeRule(PageType.REFERENCE, "has only a date of its last change", has_only_change_date),
    PageTypeRule(PageType.SERVICE, "describes an offer", describes_offer),
)


def with_inclusive_body(classified_page: ClassifiedPage) -> ClassifiedPage:
    """Return the classified page with the body by the rule of its type.

    The given body is used if it covers MIN_BODY_COVERAGE of the readable text. Otherwise the inclusive body is used if
    it is larger.
    """
    complete_signals, body = classified_page.signals.complete, classified_page.body
    coverage = measure_coverage(complete_signals, body)
    if coverage.covered_share >= MIN_BODY_COVERAGE and body is not None:
        return replace(classified_page, coverage=coverage)
    inclusive_body = extract_inclusive_body(
        complete_signals.page.layout, complete_signals.title_line, complete_signals.readable_mask
    )
    if inclusive_body is None or text_size(inclusive_body.text) <= coverage.body_size:
        return replace(classified_page, coverage=coverage)
    return replace(
        classified_page,
        signals=complete_signals,
        body=inclusive_body,
        coverage=measure_coverage(complete_signals, inclusive_body),
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


def refine_type_by_content(article: Article, page_type: PageType | None) -> PageType:
    """Return the final page type. `page_type` is the declared type, None if the page declares none."""
    content_type = type_by_content(article)
    if page_type is None or (
        page_type in CONTENT_OVERRIDABLE_TYPES and content_type in (PageType.CODE, PageType.GALLERY)
    ):
        return content_type
    return page_type


def type_by_content(article: Article) -> PageType:
    """Return the page type that follows from the blocks and the date of an article."""
    picture_count = sum(block.kind is BlockKind.PICTURE for block in article.blocks)
    if picture_count >= MIN_GALLERY_PICTURES and len(article.body) <= picture_count * MAX_CHARS_PER_PICTURE:
        return PageType.GALLERY
    code_chars = sum(len(block.text) for block in article.blocks if block.kind is BlockKind.CODE)
    if code_chars and code_chars >= MIN_CODE_SHARE * len(article.body):
        return PageType.CODE
    return PageType.ARTICLE if article.published else PageType.REFERENCE
