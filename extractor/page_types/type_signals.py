"""Reads the declared type of a page: structured data, microdata, Open Graph, generator and URL. Pure functions.

Contains no words of single sites: only types of schema.org and Open Graph, names of forum software, and URL segments
that many sites share.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from extractor.fields.json_ld import iter_nodes, node_types, parse_json
from extractor.page.parsed_page import ParsedPage
from extractor.page.tag_info import attribute_value, unescape_markup
from extractor.page.urls import path_segments

MAX_JSON_LD_CHARS = 300_000  # of all JSON-LD scripts of a page together
MAX_NODES = 300
MAX_NODE_DEPTH = 1  # deeper nodes are parts of the subject of the page
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
FORUM_LIST_FILE_RE = re.compile(r"(?:forum-?display|view-?forum|memberlist|search)\b")


@dataclass(frozen=True, slots=True)
class TypeSignals:
    """Signals of the page type that a page declares. All types are in lower case.

    Attributes:
        json_ld_types: Types of the outermost JSON-LD nodes.
        microdata_types: Types of microdata.
        og_type: Open Graph type without the prefix "og:".
        generator_text: Generator of the page and identifiers of its outermost elements.
        has_thread_url: True if the URL is like that of one thread.
        has_forum_url: True if the URL is like that of a forum.
        url_segments: Host labels without the domain, then path segments.
        product_count: Number of declared products.
    """

    json_ld_types: frozenset[str]
    microdata_types: frozenset[str]
    og_type: str
    generator_text: str
    has_thread_url: bool
    has_forum_url: bool
    url_segments: tuple[str, ...] = ()
    product_count: int = 0

    @property
    def schema_types(self) -> frozenset[str]:
        """All declared types of schema.org."""
        return self.json_ld_types | self.microdata_types

    @property
    def is_forum_software(self) -> bool:
        """Whether forum software generated the page."""
        return FORUM_SOFTWARE_RE.search(self.generator_text) is not None

    @property
    def declares_thread(self) -> bool:
        """Whether the page declares a thread.

        FAQ pages do not count, although each of their questions may be declared.
        """
        if "faqpage" in self.schema_types:
            return False
        is_question_page = "question" in self.schema_types and (self.has_thread_url or self.has_forum_url)
        return is_question_page or not THREAD_TYPES.isdisjoint(self.schema_types)

    @property
    def declares_article(self) -> bool:
        """Whether the page declares an article of schema.org.

        The Open Graph type does not count: pages of all types use it.
        """
        return not ARTICLE_TYPES.isdisjoint(self.schema_types)

    @property
    def declares_any_product(self) -> bool:
        """Whether the page declares a product page or any product."""
        return self.declares_product_page or self.product_count > 0

    @property
    def declares_product_page(self) -> bool:
        """Whether the page declares one product, possibly with many variants."""
        return self.og_type.endswith(("product", "product.item")) or "productgroup" in self.schema_types

    @property
    def declares_collection(self) -> bool:
        """Whether the page declares a collection or several products."""
        if self.declares_product_page:
            return False
        declares_list = self.og_type == "product.group" or not COLLECTION_TYPES.isdisjoint(self.schema_types)
        return self.product_count >= MIN_COLLECTION_PRODUCTS or (declares_list and self.product_count == 0)

    @property
    def declares_single_product(self) -> bool:
        """Whether the page declares one product, possibly next to others.

        Rated services, which also declare a product, do not count.
        """
        if self.declares_product_page:
            return True
        return 0 < self.product_count < MIN_COLLECTION_PRODUCTS and not self.has_url_segment(STRICT_SERVICE_SEGMENTS)

    @property
    def declares_service(self) -> bool:
        """Whether the page declares a service."""
        return not SERVICE_TYPES.isdisjoint(self.schema_types)

    @property
    def declares_reference(self) -> bool:
        """Whether the page declares a reference page."""
        return not REFERENCE_TYPES.isdisjoint(self.schema_types)

    def has_url_segment(self, segments: frozenset[str]) -> bool:
        """Return whether any of the segments occurs in the URL."""
        return not segments.isdisjoint(self.url_segments)


def read_type_signals(page: ParsedPage) -> TypeSignals:
    """Read the declared type signals of a page."""
    has_thread_url, has_forum_url = thread_and_forum_url(page.url)
    ld_types, item_types = json_ld_types(page.json_ld), list(iter_microdata_types(page))
    return TypeSignals(
        json_ld_types=frozenset(ld_types),
        microdata_types=frozenset(item_types),
        og_type=page.metas.get("og:type", "").strip().lower().removeprefix("og:"),
        generator_text=f"{page.generator_text} {root_element_names(page)}",
        has_thread_url=has_thread_url,
        has_forum_url=has_forum_url,
        url_segments=host_and_path_segments(page.url),
        product_count=max(
            sum(type_name in PRODUCT_TYPES for type_name in type_names) for type_names in (ld_types, item_types)
        ),
    )


def host_and_path_segments(url: str) -> tuple[str, ...]:
    """Return the host labels of a URL without the last two, then its path segments; all in lower case."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    host_labels = parts.netloc.lower().partition(":")[0].split(".")[:-2]
    return (*host_labels, *path_segments(url))


@lru_cache(maxsize=2)
def json_ld_types(scripts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types of the outermost JSON-LD nodes, repeated for every node."""
    type_names: list[str] = []
    remaining_chars = MAX_JSON_LD_CHARS
    for script in scripts:
        script_data = parse_json(script[:remaining_chars]) if remaining_chars > 0 else None
        remaining_chars -= len(script)
        for node_number, (node, depth) in enumerate(iter_nodes(script_data, 0) if script_data is not None else ()):
            if node_number >= MAX_NODES:
                break
            if depth <= MAX_NODE_DEPTH:
                type_names += node_types(node)
    return tuple(type_names)


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
    try:
        parts = urlsplit(url)
    except ValueError:
        return False, False
    segments = path_segments(url)
    host_labels = parts.netloc.lower().partition(":")[0].split(".")[:-1]
    has_forum_url = not FORUM_SEGMENTS.isdisjoint(host_labels) or not FORUM_SEGMENTS.isdisjoint(segments[:2])
    if FORUM_LIST_FILE_RE.search(parts.path.lower()):
        return False, has_forum_url
    last_segment = f"{segments[-1]}?{parts.query.lower()}" if segments else parts.query.lower()
    has_thread_segment = any(step in THREAD_SEGMENTS for step in segments[:-1]) or "viewthread" in parts.query.lower()
    # Only numbers count after /post/: the posts of a blog have words there.
    has_thread_segment = has_thread_segment or (segments[-2:-1] == ["post"] and segments[-1].isdecimal())
    return has_thread_segment or THREAD_SEGMENT_RE.search(last_segment) is not None, has_forum_url
