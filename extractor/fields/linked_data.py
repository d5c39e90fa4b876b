"""What a page says of its article in JSON-LD: the one node among many that is the article, read tolerantly.

    {"@graph": [{"@type": "NewsArticle", "datePublished": "2016-05-09T08:00", "author": {"name": "张三"}, ...}, ...]}

A script that is no JSON (a comma too many, a raw line break) is read by patterns. All input is bounded.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

LONGEST = 300_000  # characters of all scripts together
MAX_NODES = 600  # objects looked at on a page
DEEPEST = 6
# In order of trust; what ends in "Article" or "Posting" is an article too.
ARTICLE_TYPES = ("newsarticle", "article", "blogposting", "reportagenewsarticle", "report", "liveblogposting")
LATER_TYPES = (
    "discussionforumposting", "socialmediaposting", "review", "recipe", "howto", "question", "medicalwebpage",
    "videoobject", "podcastepisode", "webpage", "itempage", "faqpage", "creativework", "product",
)  # fmt: skip
# What stands below these is another article, or another thing.
OTHERS = frozenset(
    (
        "itemlistelement", "mentions", "comment", "review", "reviews", "ispartof", "haspart", "liveblogupdate",
        "image", "video", "associatedmedia", "publisher", "author", "relatedlink", "suggestedanswer",
        "acceptedanswer", "breadcrumb", "isbasedon", "primaryimageofpage", "thumbnail", "citation", "offers",
    )
)  # fmt: skip
FIELD = r'"{}"\s{{0,9}}:\s{{0,9}}"((?:[^"\\]|\\.){{1,300}})"'
FIELDS = {
    name: re.compile(FIELD.format(name))
    for name in ("datePublished", "dateModified", "dateCreated", "uploadDate", "articleSection", "headline")
}
AUTHOR = re.compile(r'"author"\s{0,9}:[\s\[{]{0,20}(?:"@?(?:type|id)"\s{0,9}:\s{0,9}"[^"]{0,99}"\s?,\s{0,20}){0,3}'
                    r'(?:"name"\s{0,9}:\s{0,9})?"((?:[^"\\]|\\.){1,99})"')  # fmt: skip

ARTICLE, COLLECTION = "article", "collection"
COLLECTION_TYPES = frozenset(("collectionpage", "searchresultspage", "blog", "profilepage"))
PAGE_TYPES = frozenset(("webpage", "itempage", "creativework", "product", "faqpage"))  # of lists as of articles
MANY = 3  # articles without a URL that make a list

Node = Mapping[str, Any]


@dataclass(frozen=True)
class LinkedArticle:
    """The fields of the article's node as they stand there, "" or () for what is missing.

    `kind` says what the page is: ARTICLE, where the node is an article of this page, COLLECTION, or "". `elsewhere`:
    the node gives another page's URL.
    """

    published: str = ""
    created: str = ""
    modified: str = ""
    headline: str = ""
    section: str = ""
    picture: str = ""
    url: str = ""
    based_on: str = ""
    people: tuple[str, ...] = ()  # of the authors, those that are said to be persons
    authors: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    crumbs: tuple[str, ...] = ()
    body: str = ""
    kind: str = ""
    elsewhere: bool = False


@lru_cache(maxsize=2)  # date and metadata of a page both ask
def linked_article(scripts: tuple[str, ...], url: str) -> LinkedArticle:
    """The article of a page among the nodes of its JSON-LD scripts; an empty one where there is none."""
    nodes: list[tuple[Node, int]] = []
    broken: list[str] = []
    left = LONGEST
    for script in scripts:
        parsed = parsed_json(script[:left])
        left = max(0, left - len(script))
        if parsed is None:
            broken.append(script[:LONGEST])
        else:
            nodes += walk(parsed, 0)
    by_id = {str(node.get("@id")): node for node, _ in nodes if "@id" in node and len(node) > 1}
    ranked = sorted(((rank(node, depth, url), place) for place, (node, depth) in enumerate(nodes[:MAX_NODES])))
    articles = [nodes[place][0] for how, place in ranked if how[0] < NO_ARTICLE]
    crumbs = next((crumbs_of(node) for node, _ in nodes if "breadcrumblist" in types_of(node)), ())
    if not articles:
        found = article_in_pieces("\n".join(broken), crumbs)
        return replace(found, kind=found.kind or kind_of(nodes, url))
    own = addresses_of(articles[0])
    elsewhere = bool(url and own) and not any(is_same_page(address, url) for address in own)
    return replace(article_of(articles, by_id, crumbs), kind=kind_of(nodes, url), elsewhere=elsewhere)


def parsed_json(script: str) -> object:
    """The value of a JSON text, None for what is no JSON."""
    text = script.strip().removeprefix("<!--").removesuffix("-->").strip()
    text = text.removeprefix("//<![CDATA[").removesuffix("//]]>").strip().rstrip(";")
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def walk(value: object, depth: int) -> Iterator[tuple[Node, int]]:
    """All objects of a value, outermost first, with the depth of nesting; not those below OTHERS."""
    if isinstance(value, list):
        for one in value[:MAX_NODES]:
            yield from walk(one, depth)
    elif isinstance(value, dict):
        yield value, depth
        if depth < DEEPEST:
            for name, inner in value.items():
                if isinstance(inner, dict | list) and name.lower() not in OTHERS:
                    yield from walk(inner, depth + (name != "@graph"))


def types_of(node: Node) -> tuple[str, ...]:
    """The types of a node in lower case."""
    types = node.get("@type", "")
    return tuple(str(one).rpartition("/")[2].lower() for one in (types if isinstance(types, list) else [types]))


NO_ARTICLE = 99


def rank(node: Node, depth: int, url: str) -> tuple[int, int, int]:
    """How little a node is the page's article: its type, whether its URL is another's, its depth."""
    best = min((rank_of_type(name) for name in types_of(node)), default=NO_ARTICLE)
    address = node.get("url") or node.get("@id")
    other = isinstance(address, str) and bool(url) and not is_same_page(address, url)
    return best, int(other), depth


def kind_of(nodes: Sequence[tuple[Node, int]], url: str) -> str:
    """What the page of these nodes is: an article that gives the page's URL, a collection, an article without one.

    Where many articles give no URL they are those of a list.
    """
    articles = [node for node, _ in nodes[:MAX_NODES] if any(map(is_article_type, types_of(node)))]
    found = [addresses_of(node) for node in articles]
    if url and any(is_same_page(address, url) for addresses in found for address in addresses):
        return ARTICLE
    if any(depth < 2 and not COLLECTION_TYPES.isdisjoint(types_of(node)) for node, depth in nodes[:MAX_NODES]):
        return COLLECTION
    nowhere = sum(not addresses or not url for addresses in found)
    return ARTICLE if 0 < nowhere < MANY else ""


def is_article_type(name: str) -> bool:
    """A page has one thing of this type at most, if it is not a list."""
    return rank_of_type(name) < NO_ARTICLE and name not in PAGE_TYPES


def addresses_of(node: Node) -> list[str]:
    """The URLs that an article gives as its own."""
    values = [node.get("url"), node.get("mainEntityOfPage")]
    return [address for address in (address_of(value, {}) for value in values if value) if "/" in address]


def rank_of_type(name: str) -> int:
    """Place of a type among those of articles."""
    if name in ARTICLE_TYPES or name.endswith("article") or name == "blogposting":
        return 0
    return 1 + LATER_TYPES.index(name) if name in LATER_TYPES else NO_ARTICLE


def is_same_page(address: str, url: str) -> bool:
    """Two URLs of one page, scheme, host, query and fragment apart."""
    return path_of(address) == path_of(url)


def path_of(address: str) -> str:
    """What stands behind the host of a URL, without query, fragment and the last slash."""
    path = re.split("[?#]", address.partition("://")[2] or address, maxsplit=1)[0]
    return path.partition("/")[2].strip("/").lower()


def article_of(nodes: Sequence[Node], by_id: Mapping[str, Node], crumbs: tuple[str, ...]) -> LinkedArticle:
    """The first node's fields; what it lacks, another node of the page may have (the page's dates, its picture)."""
    first = nodes[0]

    def text(name: str, others: bool = False) -> str:
        return next((found for node in (nodes[:9] if others else (first,)) if (found := text_of(node.get(name)))), "")

    return LinkedArticle(
        published=text("datePublished", others=True),
        created=text("dateCreated") or text("uploadDate"),
        modified=text("dateModified", others="datePublished" not in first),
        headline=text("headline") or text("name"),
        section=texts_of(first.get("articleSection"))[-1:][0] if texts_of(first.get("articleSection")) else "",
        picture=address_of(first.get("image"), by_id) or text("thumbnailUrl"),
        url=address_of(first.get("url"), by_id) or address_of(first.get("mainEntityOfPage"), by_id),
        based_on=name_of(first.get("isBasedOn"), by_id),
        people=names_of(first.get("author") or first.get("creator"), by_id, "person"),
        authors=names_of(first.get("author") or first.get("creator"), by_id),
        keywords=keywords_of(first.get("keywords")),
        crumbs=crumbs,
        body=body_of(nodes),
    )


def body_of(nodes: Sequence[Node]) -> str:
    """The text of the first node that has one."""
    texts = (node.get("articleBody") or node.get("text") for node in nodes[:9])
    return next((text for text in texts if isinstance(text, str)), "")


def article_in_pieces(text: str, crumbs: tuple[str, ...] = ()) -> LinkedArticle:
    """What patterns find in scripts that are no JSON."""
    if not text:
        return LinkedArticle(crumbs=crumbs)
    found = {name: unescaped(match[1]) for name, pattern in FIELDS.items() if (match := pattern.search(text))}
    author = AUTHOR.search(text)
    return LinkedArticle(
        published=found.get("datePublished", ""),
        created=found.get("dateCreated") or found.get("uploadDate", ""),
        modified=found.get("dateModified", ""),
        headline=found.get("headline", ""),
        section=found.get("articleSection", ""),
        authors=(unescaped(author[1]),) if author else (),
        crumbs=crumbs,
        kind=ARTICLE if "headline" in found and "datePublished" in found else "",
    )


def unescaped(text: str) -> str:
    """The text of a JSON string, as it stands where that cannot be told."""
    try:
        return str(json.loads(f'"{text}"', strict=False)).strip()
    except ValueError:
        return text.strip()


def text_of(value: object) -> str:
    """A text value, or the first of a list."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name")
    return str(value).strip()[:2_000] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def texts_of(value: object) -> tuple[str, ...]:
    """All text values of a list, or of one."""
    values = value[:MAX_NODES] if isinstance(value, list) else [value]
    return tuple(found for one in values if (found := text_of(one)))


def name_of(value: object, by_id: Mapping[str, Node]) -> str:
    """The name of a person or a thing, which may stand in another node."""
    if isinstance(value, dict):
        if "name" not in value and "@id" in value:
            value = by_id.get(str(value["@id"]), {})
        return text_of(value.get("name"))
    return value.strip() if isinstance(value, str) else ""


def names_of(value: object, by_id: Mapping[str, Node], kind: str = "") -> tuple[str, ...]:
    """The names of all in a list, or of one; only of those of a type if one is given."""
    values = value[:50] if isinstance(value, list) else [value]
    if kind:
        values = [
            one for one in values if isinstance(one, dict) and kind in types_of(by_id.get(str(one.get("@id")), one))
        ]
    return tuple(found for one in values if (found := name_of(one, by_id)))


def address_of(value: object, by_id: Mapping[str, Node]) -> str:
    """The URL of a picture or a page: a text, or the url or @id of an object."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = (
            value.get("url")
            or value.get("contentUrl")
            or by_id.get(str(value.get("@id")), {}).get("url")
            or value.get("@id")
        )
        value = value[0] if isinstance(value, list) and value else value
    return value.strip() if isinstance(value, str) else ""


def keywords_of(value: object) -> tuple[str, ...]:
    """Keywords as they are listed; a text with commas is a list."""
    return tuple(value.split(",")) if isinstance(value, str) else texts_of(value)


def crumbs_of(node: Node) -> tuple[str, ...]:
    """The names of a breadcrumb trail, from the home page on."""
    items = node.get("itemListElement")
    items = [one for one in items[:20] if isinstance(one, dict)] if isinstance(items, list) else []
    items.sort(key=lambda one: int(text_of(one.get("position"))) if text_of(one.get("position")).isdecimal() else 0)
    return tuple(text_of(one.get("name")) or text_of(one.get("item")) for one in items)
