"""What a page says of its own kind to machines: structured data, microdata, the tool that made it, its URL. Pure.

No site's own words: types of schema.org and Open Graph, boards that many sites run, steps that many URLs share.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from extractor.fields.linked_data import parsed_json, types_of, walk
from extractor.page.document import Document
from extractor.page.markup_hints import plain, value_of
from extractor.page.url_steps import steps_of

MAX_SCRIPT = 300_000  # characters of all JSON-LD that are read
MAX_NODES = 300
MAX_DEPTH = 1  # deeper nodes are parts of what the page is about
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
MANY_PRODUCTS = 3  # things on one page that make a collection
BOARD_TOOLS = re.compile(
    r"\b(?:discourse|vbulletin|phpbb|xenforo|mybb|simple machines|smf|invision|ip\.board|flarum|vanilla|nodebb|discuz|"
    r"phpwind|bbpress|punbb|fluxbb|jforum|kunena|question2answer|askbot|lemmy|hoop\.la|ubb\.threads|yabb|wbb|"
    r"woltlab|burning board|tapatalk|proboards|answerhub|khoros|lithium)\b"
)
# A step, or the beginning of a file's name, of the URL of one thread; and of the host or the first steps of a board.
THREAD_STEP = re.compile(
    r"(?:view-?topic|show-?thread|show-?topic|view-?thread|view-?discussion|read-?thread)(?:$|\W)|"
    r"(?:threads?|topics?|discussions?|questions?|tid|post)[-_]?\d{2,}"
)
THREAD_WORDS = frozenset(
    ("thread", "threads", "topic", "topics", "discussion", "discussions", "question", "questions", "t", "d",
     "comments", "issues", "talk", "ask", "tiezi", "wenda", "viewtopic")
)  # fmt: skip
BOARD_WORDS = frozenset(
    ("forum", "forums", "bbs", "board", "boards", "community", "communities", "discuss", "answers", "ask", "club",
     "tieba", "luntan", "discourse", "talk", "r", "forumdisplay", "zhidao", "qa")
)  # fmt: skip
REFERENCE_WORDS = frozenset(
    ("docs", "doc", "documentation", "manual", "manuals", "reference", "handbook", "api", "wiki", "help", "kb", "faq",
     "man", "javadoc", "apidocs", "guide", "guides", "userguide", "tutorial", "tutorials", "learn", "support",
     "glossary", "wendang", "shouce", "bangzhu", "devguide", "knowledgebase", "developer",
     "developers", "specs", "spec")
)  # fmt: skip
PRODUCT_WORDS = frozenset(
    ("product", "products", "p", "dp", "pdp", "item", "itm", "listing", "sku", "goods", "shangpin", "app")
)
COLLECTION_WORDS = frozenset(
    ("collection", "collections", "category", "categories", "c", "cat", "shop", "catalog", "browse", "genre", "brands",
     "tag", "tags", "topic", "topics", "list", "directory", "search", "leibie", "fenlei", "market", "plp")
)  # fmt: skip
SERVICE_WORDS = frozenset(
    ("service", "services", "solutions", "solution", "platform", "pricing", "features", "product", "products",
     "consulting", "fuwu", "yewu", "services.html", "plans", "about", "industries", "capabilities", "what-we-do")
)  # fmt: skip
SERVICE_URL = frozenset(("service", "services", "consulting", "solutions", "fuwu"))
LIST_FILES = re.compile(r"(?:forum-?display|view-?forum|memberlist|search)\b")


@dataclass(frozen=True, slots=True)
class TypeMarks:
    """What a page says of its kind: types of its JSON-LD, of its microdata, and of Open Graph, in lower case.

    `tools` is what made it, `thread_url` and `board_url`: its URL is like that of one thread, of something on a board.
    `steps` are those of its URL, the first name of its host among them; `products` how many things it says it shows.
    """

    linked: frozenset[str]
    items: frozenset[str]
    graph: str
    tools: str
    thread_url: bool
    board_url: bool
    steps: tuple[str, ...] = ()
    products: int = 0

    @property
    def stated(self) -> frozenset[str]:
        """Types of schema.org, wherever the page says them."""
        return self.linked | self.items

    @property
    def is_board(self) -> bool:
        """A tool for boards made it."""
        return BOARD_TOOLS.search(self.tools) is not None

    @property
    def says_thread(self) -> bool:
        """It calls itself a thread; a page of frequent questions is none, though each of them may be called one."""
        if "faqpage" in self.stated:
            return False
        asked = "question" in self.stated and (self.thread_url or self.board_url)
        return asked or not THREAD_TYPES.isdisjoint(self.stated)

    @property
    def says_article(self) -> bool:
        """It calls itself an article by a type of schema.org; that of Open Graph is on pages of all kinds."""
        return not ARTICLE_TYPES.isdisjoint(self.stated)

    @property
    def says_product(self) -> bool:
        """It calls itself a thing that is sold, or names some."""
        return self.is_product_page or self.products > 0

    @property
    def is_product_page(self) -> bool:
        """It calls itself one thing, of which there may be many variants."""
        return self.graph.endswith(("product", "product.item")) or "productgroup" in self.stated

    @property
    def says_collection(self) -> bool:
        """It calls itself a collection, or shows several things that are sold."""
        if self.is_product_page:
            return False
        named = self.graph == "product.group" or not COLLECTION_TYPES.isdisjoint(self.stated)
        return self.products >= MANY_PRODUCTS or (named and self.products == 0)

    @property
    def says_one_product(self) -> bool:
        """It calls itself one thing, whatever others it names; a service that is rated calls itself so, too."""
        if self.is_product_page:
            return True
        return 0 < self.products < MANY_PRODUCTS and not self.in_url(SERVICE_URL)

    @property
    def says_service(self) -> bool:
        """It says what somebody offers to do."""
        return not SERVICE_TYPES.isdisjoint(self.stated)

    @property
    def says_reference(self) -> bool:
        """It calls itself a page of a manual."""
        return not REFERENCE_TYPES.isdisjoint(self.stated)

    def in_url(self, words: frozenset[str]) -> bool:
        """One of these stands in its URL as a step."""
        return not words.isdisjoint(self.steps)


def marks_of(document: Document) -> TypeMarks:
    """What a page says of its kind."""
    thread, board = url_marks(document.url)
    linked, items = linked_types(document.json_ld), list(item_types(document))
    return TypeMarks(
        linked=frozenset(linked),
        items=frozenset(items),
        graph=document.metas.get("og:type", "").strip().lower().removeprefix("og:"),
        tools=f"{document.made_by} {root_names(document)}",
        thread_url=thread,
        board_url=board,
        steps=url_steps(document.url),
        products=max(sum(one in PRODUCT_TYPES for one in found) for found in (linked, items)),
    )


def url_steps(url: str) -> tuple[str, ...]:
    """The names of a URL's host but for its domain, and the steps of its path, in lower case."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    hosts = parts.netloc.lower().partition(":")[0].split(".")[:-2]
    return (*hosts, *steps_of(url))


@lru_cache(maxsize=2)
def linked_types(scripts: tuple[str, ...]) -> tuple[str, ...]:
    """The types of the outermost nodes of JSON-LD, each as often as it stands there."""
    found: list[str] = []
    left = MAX_SCRIPT
    for script in scripts:
        parsed = parsed_json(script[:left]) if left > 0 else None
        left -= len(script)
        for place, (node, depth) in enumerate(walk(parsed, 0) if parsed is not None else ()):
            if place >= MAX_NODES:
                break
            if depth <= MAX_DEPTH:
                found += types_of(node)
    return tuple(found)


def item_types(document: Document) -> Iterator[str]:
    """The types of microdata, of blocks only: small elements are parts of others."""
    for span in document.layout.spans:
        if "itemtype" in span.facts.markup:
            for one in plain(value_of("itemtype", span.facts.markup)).split():
                yield one.rpartition("/")[2].lower()


def root_names(document: Document) -> str:
    """The names of the outermost elements, in which boards name themselves."""
    return " ".join(span.facts.name for span in document.layout.spans[:2])


def url_marks(url: str) -> tuple[bool, bool]:
    """Is a URL like that of one thread; is it one of a board?"""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False, False
    steps = steps_of(url)
    hosts = parts.netloc.lower().partition(":")[0].split(".")[:-1]
    board = not BOARD_WORDS.isdisjoint(hosts) or not BOARD_WORDS.isdisjoint(steps[:2])
    if LIST_FILES.search(parts.path.lower()):
        return False, board
    file = f"{steps[-1]}?{parts.query.lower()}" if steps else parts.query.lower()
    named = any(step in THREAD_WORDS for step in steps[:-1]) or "viewthread" in parts.query.lower()
    named = named or (steps[-2:-1] == ["post"] and steps[-1].isdecimal())  # articles are posts by their words
    return named or THREAD_STEP.search(file) is not None, board
