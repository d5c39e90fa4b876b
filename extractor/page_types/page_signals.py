"""Reads what the rules of page types, lists, rejections and suspicions need to know of a page. Pure functions.

`PageSignals` is one object per page; it computes each value once, at its first use. `TypeSignals` are what the page
declares: structured data, microdata, Open Graph, generator and URL.

Contains no words of single sites: only types of schema.org and Open Graph, names of forum software, and URL segments
and phrases that many sites share.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl, urlsplit

from extractor.body_methods.inclusive import boilerplate_line_mask, readable_line_mask
from extractor.fields.dates.date_parsing import find_date_in_url
from extractor.fields.dates.publication_date import PublicationDate
from extractor.fields.json_ld import PAGE_IS_ARTICLE, PAGE_IS_COLLECTION, find_json_ld_article, json_ld_types
from extractor.fields.title_matching import find_title_line
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import Line, text_size
from extractor.page.parsed_page import Body, ParsedPage, visible_text_size
from extractor.page.tag_info import attribute_value, unescape_markup
from extractor.page.urls import path_segments, split_url
from extractor.page_types.documentation import is_documentation_page

THREAD_TYPES = frozenset(("discussionforumposting", "qapage", "socialmediaposting", "conversation"))
ARTICLE_TYPES = frozenset(
    ("article", "newsarticle", "blogposting", "reportagenewsarticle", "opinionnewsarticle", "analysisnewsarticle",
     "advertisercontentarticle", "scholarlyarticle", "review", "recipe")
)  # fmt: skip
REFERENCE_TYPES = frozenset(("techarticle", "apireference", "softwaresourcecode", "definedterm"))
PRODUCT_TYPES = frozenset(("product", "productgroup", "productmodel", "individualproduct", "vehicle", "car"))
SERVICE_TYPES = frozenset(
    ("service", "financialproduct", "softwareapplication", "webapplication", "professionalservice", "localbusiness",
     "homeandconstructionbusiness", "legalservice", "financialservice", "medicalbusiness", "governmentservice")
)  # fmt: skip
COLLECTION_TYPES = frozenset(("collectionpage", "itemlist", "offercatalog", "searchresultspage"))
MIN_COLLECTION_PRODUCTS = 3  # a page that declares this many products is a collection
FORUM_SOFTWARE_RE = re.compile(
    r"\b(?:discourse|vbulletin|phpbb|xenforo|mybb|simple machines|smf|invision|ip\.board|flarum|vanilla|nodebb|discuz|"
    r"phpwind|bbpress|punbb|fluxbb|jforum|kunena|question2answer|askbot|lemmy|hoop\.la|ubb\.threads|yabb|wbb|"
    r"woltlab|burning board|tapatalk|proboards|answerhub|khoros|lithium)\b"
)
# The beginning of a segment in the URL of one thread. Below: the segments of a thread, and the host labels or first
# segments of a forum.
THREAD_SEGMENT_RE = re.compile(
    r"(?:view-?topic|show-?thread|show-?topic|view-?thread|view-?discussion|read-?thread)(?:$|\W)|"
    r"(?:threads?|topics?|discussions?|questions?|tid|post)[-_]?\d{2,}"
)
THREAD_SEGMENTS = frozenset(
    ("thread", "threads", "topic", "topics", "discussion", "discussions", "question", "questions", "t", "d",
     "comments", "issues", "talk", "ask", "tiezi", "wenda", "viewtopic")
)  # fmt: skip
FORUM_SEGMENTS = frozenset(
    ("forum", "forums", "bbs", "board", "boards", "community", "communities", "discuss", "answers", "ask", "club",
     "tieba", "luntan", "discourse", "talk", "r", "forumdisplay", "zhidao", "qa")
)  # fmt: skip
REFERENCE_SEGMENTS = frozenset(
    ("docs", "doc", "documentation", "manual", "manuals", "reference", "handbook", "api", "wiki", "help", "kb", "faq",
     "man", "javadoc", "apidocs", "guide", "guides", "userguide", "tutorial", "tutorials", "learn", "support",
     "glossary", "wendang", "shouce", "bangzhu", "devguide", "knowledgebase", "developer",
     "developers", "specs", "spec")
)  # fmt: skip
MANUAL_SEGMENTS = frozenset(
    ("docs", "documentation", "manual", "manuals", "handbook", "javadoc", "apidocs", "devguide", "userguide")
)
PRODUCT_SEGMENTS = frozenset(
    ("product", "products", "p", "dp", "pdp", "item", "itm", "listing", "sku", "goods", "shangpin", "app")
)
COLLECTION_SEGMENTS = frozenset(
    ("collection", "collections", "category", "categories", "c", "cat", "shop", "catalog", "browse", "genre", "brands",
     "tag", "tags", "topic", "topics", "list", "directory", "search", "leibie", "fenlei", "market", "plp")
)  # fmt: skip
SERVICE_SEGMENTS = frozenset(
    ("service", "services", "solutions", "solution", "platform", "pricing", "features", "product", "products",
     "consulting", "fuwu", "yewu", "services.html", "plans", "about", "industries", "capabilities", "what-we-do")
)  # fmt: skip
STRICT_SERVICE_SEGMENTS = frozenset(("service", "services", "consulting", "solutions", "fuwu"))
CHANNEL_URL_SCORE = -2  # points of the URL of a channel or a date
FORUM_LIST_FILE_RE = re.compile(r"(?:forum-?display|view-?forum|memberlist|search)\b")
# Points of the URL and of the metadata for an article: see list_page.py.
FRONT_PAGE_PATH_RE = re.compile(r"/?(?:(?:index|default|home|main)(?:\.\w{2,5})?/?)?", re.I)
CHANNEL_SEGMENTS = frozenset(
    (
        "tag", "tags", "category", "categories", "topic", "topics", "search", "list", "lists", "author", "authors",
        "channel", "channels", "page", "label", "labels", "section", "sections", "forum", "forums", "board", "feed",
        "results",
    )
)  # fmt: skip
CHANNEL_FILE_RE = re.compile(
    r"(?:(?:index|list|forum|default|page|search|channel|col|class|column)(?:[-_]?\d{1,9}){0,2}|(?:node|tag|board)_\d{1,9})"
    r"(?:\.\w{2,5})?"
)
LIST_QUERY_KEYS = frozenset(("q", "query", "s", "search", "keyword", "keywords", "wd", "kw", "page", "tag"))
FILE_EXTENSION_RE = re.compile(r"\.(?:s?html?|php|aspx?|jsp|do)$")
LONG_NUMBER_RE = re.compile(r"\d{4,}")
SLUG_WORD_RE = re.compile(r"[^\W\d_]+")
MIN_SLUG_WORDS, MIN_LONG_SLUG_WORDS = 4, 6
HAN_CHARS_PER_WORD = 2  # Chinese characters that count as one word of a slug
PUBLISHED_META_NAMES = (
    "article:published_time",
    "og:article:published_time",
    "datepublished",
    "pubdate",
    "publishdate",
)
OG_ARTICLE_TYPES = ("article", "video", "news", "blog", "post")
# Lines. Sizes are in Chinese characters.
MIN_HEADLINE_SIZE = 6.0  # a shorter link is not a headline
MAX_TEXT_SIZE_BESIDE_HEADLINE = 12.0  # a date, a name or a number on the line of a headline
RELATIVE_TIME_RE = re.compile(  # "2 days ago", as forums show it for a topic and for its last reply
    r"\b(?:\d{1,6} (?:year|month|week|day|hour|min(?:ute)?|sec(?:ond)?)s? ){1,4}ago\b"
    r"|(?<!\d)\d{1,6}\s?(?:年|个月|周|天|小时|分钟|秒)前",  # bounded: linear time for long digit runs
    re.I,
)
FRAGMENT_LINK_RE = re.compile(r"#[^\s!/]")
MAX_LABEL_SIZE = 40.0  # longer lines are not prices or buttons
PRICE_RE = re.compile(
    r"(?:[$€£¥￥]|\b(?:usd|eur|gbp|rmb|cny)\b)\s?\d|\d[.,]{0,2}\s?(?:€|£|元|円|zł|kr\b|usd\b|eur\b)", re.I
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
MAX_SECTION_LINK_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class TypeSignals:
    """Signals of the page type that a page declares.

    Attributes:
        og_type: Open Graph type in lower case, without the prefix "og:".
        url_segments: Host labels without the domain, then path segments.
        has_thread_url: True if the URL is like that of one thread.
        has_forum_url: True if the URL is like that of a forum.
        is_forum_software: True if forum software generated the page.
        product_count: Number of declared products.
        declares_thread: A discussion. FAQ pages do not count, although each of their questions may be declared.
        declares_article: An article of schema.org. The Open Graph type does not count: pages of all types use it.
        declares_any_product: A product page or any product.
        declares_collection: A collection or several products.
        declares_single_product: One product, possibly with variants or next to others. Rated services, which also
            declare a product, do not count.
        declares_service: A service.
        declares_reference: A reference page.
    """

    og_type: str
    url_segments: tuple[str, ...]
    has_thread_url: bool
    has_forum_url: bool
    is_forum_software: bool
    product_count: int
    declares_thread: bool
    declares_article: bool
    declares_any_product: bool
    declares_collection: bool
    declares_single_product: bool
    declares_service: bool
    declares_reference: bool

    def has_url_segment(self, segments: frozenset[str]) -> bool:
        """Return whether any of the segments occurs in the URL."""
        return not segments.isdisjoint(self.url_segments)


def read_type_signals(page: ParsedPage) -> TypeSignals:
    """Read the declared type signals of a page."""
    ld_types, item_types = json_ld_types(page.json_ld), list(iter_microdata_types(page))
    schema_types = frozenset((*ld_types, *item_types))
    og_type = page.metas.get("og:type", "").strip().lower().removeprefix("og:")
    has_thread_url, has_forum_url = thread_and_forum_url(page.url)
    host_labels = split_url(page.url).netloc.lower().partition(":")[0].split(".")[:-2]
    url_segments = (*host_labels, *path_segments(page.url))
    product_count = max(
        sum(type_name in PRODUCT_TYPES for type_name in type_names) for type_names in (ld_types, item_types)
    )
    # One product, possibly with many variants.
    is_product_page = og_type.endswith(("product", "product.item")) or "productgroup" in schema_types
    is_question_page = "question" in schema_types and (has_thread_url or has_forum_url)
    is_list = og_type == "product.group" or not COLLECTION_TYPES.isdisjoint(schema_types)
    return TypeSignals(
        og_type=og_type,
        url_segments=url_segments,
        has_thread_url=has_thread_url,
        has_forum_url=has_forum_url,
        is_forum_software=FORUM_SOFTWARE_RE.search(f"{page.generator_text} {root_element_names(page)}") is not None,
        product_count=product_count,
        declares_thread="faqpage" not in schema_types
        and (is_question_page or not THREAD_TYPES.isdisjoint(schema_types)),
        declares_article=not ARTICLE_TYPES.isdisjoint(schema_types),
        declares_any_product=is_product_page or product_count > 0,
        declares_collection=not is_product_page
        and (product_count >= MIN_COLLECTION_PRODUCTS or (is_list and product_count == 0)),
        declares_single_product=is_product_page
        or (0 < product_count < MIN_COLLECTION_PRODUCTS and STRICT_SERVICE_SEGMENTS.isdisjoint(url_segments)),
        declares_service=not SERVICE_TYPES.isdisjoint(schema_types),
        declares_reference=not REFERENCE_TYPES.isdisjoint(schema_types),
    )


def iter_microdata_types(page: ParsedPage) -> Iterator[str]:
    """Yield the microdata types of block elements; inline elements are parts of other items."""
    for span in page.layout.spans:
        if "itemtype" in span.tag_info.attribute_text:
            for type_url in unescape_markup(attribute_value("itemtype", span.tag_info.attribute_text)).split():
                yield type_url.rpartition("/")[2].lower()


def root_element_names(page: ParsedPage) -> str:
    """Return the identifiers of the two outermost elements, which name the forum software on many forums."""
    return " ".join(span.tag_info.identifiers for span in page.layout.spans[:2])


def thread_and_forum_url(url: str) -> tuple[bool, bool]:
    """Return whether a URL is typical of a thread, and whether it is typical of a forum."""
    parts, segments = split_url(url), path_segments(url)
    host_labels = parts.netloc.lower().partition(":")[0].split(".")[:-1]
    has_forum_url = not FORUM_SEGMENTS.isdisjoint(host_labels) or not FORUM_SEGMENTS.isdisjoint(segments[:2])
    if FORUM_LIST_FILE_RE.search(parts.path.lower()):
        return False, has_forum_url
    last_segment = f"{segments[-1]}?{parts.query.lower()}" if segments else parts.query.lower()
    has_thread_segment = any(step in THREAD_SEGMENTS for step in segments[:-1]) or "viewthread" in parts.query.lower()
    # Only numbers count after /post/: the posts of a blog have words there.
    has_thread_segment = has_thread_segment or (segments[-2:-1] == ["post"] and segments[-1].isdecimal())
    return has_thread_segment or THREAD_SEGMENT_RE.search(last_segment) is not None, has_forum_url


@dataclass(frozen=True, slots=True)
class PageContentCounts:
    """Content of a page outside its boilerplate: share of link text, and counts of typical elements."""

    link_share: float
    headline_count: int
    price_count: int
    cart_phrase_count: int
    offer_phrase_count: int
    section_count: int


class PageSignals:
    """What the rules read of one page. Each property is computed at its first use.

    Args:
        page: The page.
        find_published: Returns the date of publication of a page with this body.
    """

    def __init__(self, page: ParsedPage, find_published: Callable[[ParsedPage, Body], PublicationDate]) -> None:
        self.page = page
        self.find_published = find_published
        self.published_by_span: dict[int, PublicationDate] = {}

    @cached_property
    def complete(self) -> "PageSignals":
        """The signals of the page with a complete layout, boilerplate included."""
        return self if self.page.is_complete else PageSignals(self.page.complete_page, self.find_published)

    @cached_property
    def type_signals(self) -> TypeSignals:
        """The declared type signals. They do not depend on the layout of boilerplate."""
        return read_type_signals(self.page)

    @cached_property
    def is_documentation(self) -> bool:
        """Whether the page belongs to generated documentation."""
        return is_documentation_page(self.page)

    @cached_property
    def is_front_page(self) -> bool:
        """Whether the URL is that of a home page."""
        return FRONT_PAGE_PATH_RE.fullmatch(path_without_query(self.page.url)) is not None

    @cached_property
    def has_published_meta(self) -> bool:
        """Whether a meta gives the date of publication."""
        return any(name in self.page.metas for name in PUBLISHED_META_NAMES)

    @cached_property
    def declares_dated_article(self) -> bool:
        """Whether the page declares an article of schema.org and the date of its publication."""
        json_ld_article = find_json_ld_article(self.page.json_ld, self.page.url, self.page.head_titles)
        return self.type_signals.declares_article and (self.has_published_meta or bool(json_ld_article.published))

    @cached_property
    def declared_article_score(self) -> int:
        """Points of metadata and URL for an article; a negative score means a list."""
        return declared_score(self.page) + url_score(self.page.url)

    @cached_property
    def title_line(self) -> int:
        """Index of the title line, -1 if not found."""
        return find_title_line(self.page)

    @cached_property
    def boilerplate_mask(self) -> list[bool]:
        """For each line, whether it is in navigation, a footer or another boilerplate element."""
        return boilerplate_line_mask(self.page.layout)

    @cached_property
    def readable_mask(self) -> list[bool]:
        """For each line, whether it is text: outside boilerplate, links and template lines."""
        return readable_line_mask(self.page, self.boilerplate_mask)

    @cached_property
    def content_counts(self) -> PageContentCounts:
        """Counts of typical elements outside the boilerplate."""
        lines = zip(self.page.layout.lines, self.boilerplate_mask, strict=True)
        return count_page_content([line for line, is_boilerplate in lines if not is_boilerplate])

    @cached_property
    def visible_size(self) -> float:
        """Size of all text outside links, in Chinese characters."""
        return visible_text_size(self.page.layout)

    def published(self, body: Body) -> PublicationDate:
        """Return the date of publication of the page with this body."""
        if body.span_index not in self.published_by_span:
            self.published_by_span[body.span_index] = self.find_published(self.page, body)
        return self.published_by_span[body.span_index]


def declared_score(page: ParsedPage) -> int:
    """Return the points of the declared metadata: JSON-LD, date metas and og:type."""
    metas = page.metas
    json_ld_article = find_json_ld_article(page.json_ld, page.url, page.head_titles)
    score = {PAGE_IS_ARTICLE: 3, PAGE_IS_COLLECTION: -4}.get(
        json_ld_article.page_kind, 1 if json_ld_article.published else 0
    )
    score += 2 * any(name in metas for name in PUBLISHED_META_NAMES)
    return score + metas.get("og:type", "").lower().startswith(OG_ARTICLE_TYPES)


def path_without_query(url: str) -> str:
    """Return the path of a URL; "-" if the URL is empty, malformed or has a query, so that it cannot be a home page."""
    parts = split_url(url)
    return parts.path if parts.netloc and not parts.query else "-"


def url_score(url: str) -> int:
    """Return the points of the URL: positive for one article, negative for a home page or a channel."""
    try:
        parts = urlsplit(url)
        query_params = parse_qsl(parts.query, max_num_fields=50)
    except ValueError:
        return 0
    if not parts.netloc:
        return 0
    if not parts.query and FRONT_PAGE_PATH_RE.fullmatch(parts.path):
        return -3
    segments = path_segments(url)
    score = article_path_score(segments)
    if is_channel_path(segments) or (not score and any(key.lower() in LIST_QUERY_KEYS for key, _ in query_params)):
        return CHANNEL_URL_SCORE
    if score or any(LONG_NUMBER_RE.search(value) for _, value in query_params):
        return max(1, score)
    return (
        -1
        if segments
        and not query_params
        and not FILE_EXTENSION_RE.search(segments[-1])
        and not any(map(str.isdigit, segments[-1]))
        else 0
    )


def is_channel_path(segments: Sequence[str]) -> bool:
    """Return whether a path names a channel, a search, a page of a channel, or only a date."""
    # Articles have index pages too: /2016/05/09/oil/index.html
    if segments and CHANNEL_FILE_RE.fullmatch(segments[-1]):
        return is_channel_path(segments[:-1]) or article_path_score(segments[:-1]) == 0
    if segments and all(segment.isdecimal() and len(segment) <= 4 for segment in segments):
        return True
    if CHANNEL_SEGMENTS.isdisjoint(segments[-3:]):
        return False
    score = article_path_score(segments)
    return score == 0 or (score == 1 and not CHANNEL_SEGMENTS.isdisjoint(segments[-2:]))


def article_path_score(segments: Sequence[str]) -> int:
    """Return the points of a path: 2 for a date or a long slug, 1 for a slug or a long number, otherwise 0."""
    if not segments:
        return 0
    last_segment = FILE_EXTENSION_RE.sub("", segments[-1])
    han_count = sum(char > "\u2e80" for char in last_segment)
    word_count = len(SLUG_WORD_RE.findall(last_segment)) + han_count // HAN_CHARS_PER_WORD
    if word_count >= MIN_LONG_SLUG_WORDS or len(find_date_in_url("/".join(("", "", *segments)))) == len("2016-05-09"):
        return 2
    return int(word_count >= MIN_SLUG_WORDS or LONG_NUMBER_RE.search(last_segment) is not None)


def count_page_content(lines: Sequence[Line]) -> PageContentCounts:
    """Count links, headlines, prices, phrases and sections. `lines` are those of a page outside its boilerplate."""
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


def is_headline_line(line: Line) -> bool:
    """Return whether a line is a link to an article, with at most a date or a name next to the link."""
    if line.link_size < MIN_HEADLINE_SIZE or line.size - line.link_size > MAX_TEXT_SIZE_BESIDE_HEADLINE + sum(
        map(text_size, RELATIVE_TIME_RE.findall(line.text))
    ):
        return False
    return not line.links or not all(is_fragment_link(attribute_text) for _, _, attribute_text in line.links)


def is_fragment_link(attribute_text: str) -> bool:
    """Return whether a link leads to a fragment of its own page, as in a table of contents. "#" alone is a button."""
    return FRAGMENT_LINK_RE.match(attribute_value("href", attribute_text)) is not None
