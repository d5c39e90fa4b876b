"""Reads the article of a page from JSON-LD: finds the one node that is the article and reads its fields tolerantly.

    {"@graph": [{"@type": "NewsArticle", "datePublished": "2016-05-09T08:00", "author": {"name": "张三"}, ...}, ...]}

Invalid JSON (an extra comma, a raw line break) is read with regular expressions. All input is bounded.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any

from extractor.fields.title_matching import KEY_WORD_RE

MAX_JSON_LD_CHARS = 300_000  # of all scripts of a page together
MAX_NODES = 600  # nodes of a page that are read
MAX_DEPTH = 6
MAX_TYPED_NODES = 300  # nodes of a script whose types are those of the page ...
MAX_TYPED_DEPTH = 1  # ... and their depth: deeper nodes are parts of the subject of the page
# Most reliable first. Types that end in "article" are articles too.
ARTICLE_TYPES = ("newsarticle", "article", "blogposting", "reportagenewsarticle", "report", "liveblogposting")
FALLBACK_TYPES = (
    "discussionforumposting", "socialmediaposting", "review", "recipe", "howto", "question", "medicalwebpage",
    "videoobject", "podcastepisode", "webpage", "itempage", "faqpage", "creativework", "product",
)  # fmt: skip
# Nodes below these keys describe another article or another thing.
UNRELATED_KEYS = frozenset(
    (
        "itemlistelement", "mentions", "comment", "review", "reviews", "ispartof", "haspart", "liveblogupdate",
        "image", "video", "associatedmedia", "publisher", "author", "relatedlink", "suggestedanswer",
        "acceptedanswer", "breadcrumb", "isbasedon", "primaryimageofpage", "thumbnail", "citation", "offers",
    )
)  # fmt: skip
STRING_FIELD_PATTERN = r'"{}"\s{{0,9}}:\s{{0,9}}"((?:[^"\\]|\\.){{1,300}})"'
FIELD_RES = {
    name: re.compile(STRING_FIELD_PATTERN.format(name))
    for name in ("datePublished", "dateModified", "dateCreated", "uploadDate", "articleSection", "headline")
}
AUTHOR_RE = re.compile(r'"author"\s{0,9}:[\s\[{]{0,20}(?:"@?(?:type|id)"\s{0,9}:\s{0,9}"[^"]{0,99}"\s?,\s{0,20}){0,3}'
                    r'(?:"name"\s{0,9}:\s{0,9})?"((?:[^"\\]|\\.){1,99})"')  # fmt: skip

PAGE_IS_ARTICLE, PAGE_IS_COLLECTION = "article", "collection"
COLLECTION_TYPES = frozenset(("collectionpage", "searchresultspage", "blog", "profilepage"))
GENERIC_PAGE_TYPES = frozenset(("webpage", "itempage", "creativework", "product", "faqpage"))  # lists have them too
MIN_LIST_ARTICLES = 3  # this number of articles without a URL means a list

JsonLdNode = Mapping[str, Any]


@dataclass(frozen=True)
class JsonLdArticle:
    """The fields of the article's node as given; missing fields are empty.

    Attributes:
        published: datePublished; `created` and `modified` are dateCreated and dateModified.
        based_on: Name of the original article or medium.
        person_names: Names of the authors that are declared as persons.
        page_kind: PAGE_IS_ARTICLE, PAGE_IS_COLLECTION or an empty string.
        is_other_page: True if the node declares the URL of another page.
    """

    published: str = ""
    created: str = ""
    modified: str = ""
    headline: str = ""
    section: str = ""
    picture: str = ""
    url: str = ""
    based_on: str = ""
    person_names: tuple[str, ...] = ()
    author_names: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    breadcrumbs: tuple[str, ...] = ()
    body: str = ""
    page_kind: str = ""
    is_other_page: bool = False


NO_ARTICLE = JsonLdArticle()


@lru_cache(maxsize=1)
def read_scripts(scripts: tuple[str, ...]) -> tuple[list[list[tuple[JsonLdNode, int]]], list[str]]:
    """Parse JSON-LD scripts; returns the nodes of each valid script with their depths, and the other scripts."""
    nodes_by_script: list[list[tuple[JsonLdNode, int]]] = []
    unparsed_scripts: list[str] = []
    remaining_chars = MAX_JSON_LD_CHARS
    for script in scripts:
        script_data = parse_json(script[:remaining_chars])
        remaining_chars = max(0, remaining_chars - len(script))
        if script_data is None:
            unparsed_scripts.append(script[:MAX_JSON_LD_CHARS])
        else:
            nodes_by_script.append(list(iter_nodes(script_data, 0)))
    return nodes_by_script, unparsed_scripts


def json_ld_types(scripts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types of the outermost JSON-LD nodes, repeated for every node."""
    if not scripts:
        return ()
    return tuple(
        type_name
        for nodes in read_scripts(scripts)[0]
        for node, depth in nodes[:MAX_TYPED_NODES]
        if depth <= MAX_TYPED_DEPTH
        for type_name in node_types(node)
    )


@lru_cache(maxsize=2)  # called several times for a page
def find_json_ld_article(scripts: tuple[str, ...], url: str, titles: tuple[str, ...] = ()) -> JsonLdArticle:
    """Find the article of a page in the texts of its JSON-LD scripts. `titles` are those in the head of the page.

    Returns:
        The article; all fields are empty if the scripts contain none.
    """
    if not scripts:
        return NO_ARTICLE
    nodes_by_script, unparsed_scripts = read_scripts(scripts)
    nodes = list(chain.from_iterable(nodes_by_script))
    by_id = {str(node.get("@id")): node for node, _ in nodes if "@id" in node and len(node) > 1}
    ranked_nodes = sorted(
        ((rank_node(node, depth, url, titles), position) for position, (node, depth) in enumerate(nodes[:MAX_NODES]))
    )
    articles = [
        nodes[position][0]
        for (is_other_type, is_other_article, *_), position in ranked_nodes
        if not is_other_type and not (is_other_article and position != ranked_nodes[0][1])
    ]
    breadcrumbs = next((breadcrumb_names(node) for node, _ in nodes if "breadcrumblist" in node_types(node)), ())
    if not articles:
        article = article_from_broken_json("\n".join(unparsed_scripts), breadcrumbs)
        return replace(article, page_kind=article.page_kind or page_kind(nodes, url))
    is_other_page = ranked_nodes[0][0][1]
    article = build_json_ld_article(articles, by_id, breadcrumbs)
    return replace(article, page_kind=page_kind(nodes, url), is_other_page=is_other_page)


def parse_json(script: str) -> object:
    """Parse a JSON script; returns None if it is not valid JSON."""
    text = script.strip().removeprefix("<!--").removesuffix("-->").strip()
    text = text.removeprefix("//<![CDATA[").removesuffix("//]]>").strip().rstrip(";")
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def iter_nodes(value: object, depth: int) -> Iterator[tuple[JsonLdNode, int]]:
    """Yield all objects of a JSON value with their depth, outermost first, except those below UNRELATED_KEYS."""
    if isinstance(value, list):
        for item in value[:MAX_NODES]:
            yield from iter_nodes(item, depth)
    elif isinstance(value, dict):
        yield value, depth
        if depth < MAX_DEPTH:
            for name, child in value.items():
                if isinstance(child, dict | list) and name.lower() not in UNRELATED_KEYS:
                    yield from iter_nodes(child, depth + (name != "@graph"))


def node_types(node: JsonLdNode) -> tuple[str, ...]:
    """Return the types of a node in lower case, without the URL of the vocabulary."""
    types = node.get("@type", "")
    return tuple(str(item).rpartition("/")[2].lower() for item in (types if isinstance(types, list) else [types]))


NOT_AN_ARTICLE_RANK = 99
MIN_SAME_WORD_RATIO, MAX_OTHER_WORD_RATIO = 0.7, 0.3  # words of a headline that the titles of the page contain


def rank_node(node: JsonLdNode, depth: int, url: str, titles: tuple[str, ...]) -> tuple[bool, bool, bool, int, int]:
    """Return the rank of a node as the article of the page; lower is better.

    The first two members tell whether it is no article or certainly another one (by URL and headline), and whether it
    may be another one (by URL or headline). A WebPage with the URL of the page says nothing about its article.
    """
    types = node_types(node)
    best_type_rank = min((type_rank(name) for name in types), default=NOT_AN_ARTICLE_RANK)
    headline, urls = value_text(node.get("headline") or node.get("name")), own_urls(node) if url else []
    has_own_url = any(is_same_page(own_url, url) for own_url in urls)
    word_ratio = shared_word_ratio(headline, titles)
    is_match = has_own_url or word_ratio > MIN_SAME_WORD_RATIO
    is_other = not is_match and (bool(urls) or word_ratio < MAX_OTHER_WORD_RATIO)
    if is_other and urls and word_ratio < MAX_OTHER_WORD_RATIO:
        best_type_rank = NOT_AN_ARTICLE_RANK
    is_own_article = is_match and GENERIC_PAGE_TYPES.isdisjoint(types)
    return best_type_rank == NOT_AN_ARTICLE_RANK, is_other, not is_own_article, best_type_rank, depth


def shared_word_ratio(headline: str, titles: tuple[str, ...]) -> float:
    """Return the ratio of the words of a headline that the titles of a page contain; 0.5 if one is missing."""
    words, title_words = ({*KEY_WORD_RE.findall(text.lower())} for text in (headline, " ".join(titles)))
    return len(words & title_words) / len(words) if words and title_words else 0.5


def page_kind(nodes: Sequence[tuple[JsonLdNode, int]], url: str) -> str:
    """Return the kind of a page by its nodes: PAGE_IS_ARTICLE, PAGE_IS_COLLECTION or an empty string.

    An article that declares the URL of the page decides; then a collection; then one or two articles without a URL.
    """
    articles = [node for node, _ in nodes[:MAX_NODES] if any(map(is_article_type, node_types(node)))]
    urls_per_article = [own_urls(node) for node in articles]
    if url and any(is_same_page(own_url, url) for article_urls in urls_per_article for own_url in article_urls):
        return PAGE_IS_ARTICLE
    if any(depth < 2 and not COLLECTION_TYPES.isdisjoint(node_types(node)) for node, depth in nodes[:MAX_NODES]):
        return PAGE_IS_COLLECTION
    count_without_url = sum(not article_urls or not url for article_urls in urls_per_article)
    return PAGE_IS_ARTICLE if 0 < count_without_url < MIN_LIST_ARTICLES else ""


def is_article_type(name: str) -> bool:
    """Return whether a type is one of which only list pages have several nodes."""
    return type_rank(name) < NOT_AN_ARTICLE_RANK and name not in GENERIC_PAGE_TYPES


def own_urls(node: JsonLdNode) -> list[str]:
    """Return the URLs that an article declares as its own."""
    values = [node.get("url"), node.get("mainEntityOfPage")]
    return [own_url for own_url in (entity_url(value, {}) for value in values if value) if "/" in own_url]


def type_rank(name: str) -> int:
    """Return the rank of a type as an article: 0 is best, NOT_AN_ARTICLE_RANK means no article."""
    if name in ARTICLE_TYPES or name.endswith("article") or name == "blogposting":
        return 0
    return 1 + FALLBACK_TYPES.index(name) if name in FALLBACK_TYPES else NOT_AN_ARTICLE_RANK


def is_same_page(candidate_url: str, url: str) -> bool:
    """Return whether two URLs have the same path; scheme, host, query and fragment are ignored."""
    return url_path(candidate_url) == url_path(url)


def url_path(candidate_url: str) -> str:
    """Return the path of a URL in lower case, without leading and trailing slashes."""
    path = re.split("[?#]", candidate_url.partition("://")[2] or candidate_url, maxsplit=1)[0]
    return path.partition("/")[2].strip("/").lower()


def build_json_ld_article(
    nodes: Sequence[JsonLdNode], by_id: Mapping[str, JsonLdNode], breadcrumbs: tuple[str, ...]
) -> JsonLdArticle:
    """Build the article from the first node; some missing fields come from the other nodes of the page."""
    first = nodes[0]

    def text(name: str, search_other_nodes: bool = False) -> str:
        return next(
            (
                first_text
                for node in (nodes[:9] if search_other_nodes else (first,))
                if (first_text := value_text(node.get(name)))
            ),
            "",
        )

    return JsonLdArticle(
        published=text("datePublished", search_other_nodes=True),
        created=text("dateCreated") or text("uploadDate"),
        modified=text("dateModified", search_other_nodes="datePublished" not in first),
        headline=text("headline") or text("name"),
        section=value_texts(first.get("articleSection"))[-1:][0] if value_texts(first.get("articleSection")) else "",
        picture=entity_url(first.get("image"), by_id) or text("thumbnailUrl"),
        url=entity_url(first.get("url"), by_id) or entity_url(first.get("mainEntityOfPage"), by_id),
        based_on=entity_name(first.get("isBasedOn"), by_id),
        person_names=entity_names(first.get("author") or first.get("creator"), by_id, "person"),
        author_names=entity_names(first.get("author") or first.get("creator"), by_id),
        keywords=parse_keywords(first.get("keywords")),
        breadcrumbs=breadcrumbs,
        body=article_body(nodes),
    )


def article_body(nodes: Sequence[JsonLdNode]) -> str:
    """Return the text of the first node that has one, or an empty string."""
    texts = (node.get("articleBody") or node.get("text") for node in nodes[:9])
    return next((text for text in texts if isinstance(text, str)), "")


def article_from_broken_json(text: str, breadcrumbs: tuple[str, ...] = ()) -> JsonLdArticle:
    """Read the article from scripts that are not valid JSON, with regular expressions."""
    if not text:
        return JsonLdArticle(breadcrumbs=breadcrumbs)
    values = {
        name: unescape_json_string(match[1]) for name, pattern in FIELD_RES.items() if (match := pattern.search(text))
    }
    author = AUTHOR_RE.search(text)
    return JsonLdArticle(
        published=values.get("datePublished", ""),
        created=values.get("dateCreated") or values.get("uploadDate", ""),
        modified=values.get("dateModified", ""),
        headline=values.get("headline", ""),
        section=values.get("articleSection", ""),
        author_names=(unescape_json_string(author[1]),) if author else (),
        breadcrumbs=breadcrumbs,
        page_kind=PAGE_IS_ARTICLE if "headline" in values and "datePublished" in values else "",
    )


def unescape_json_string(text: str) -> str:
    """Resolve the escapes of a JSON string; returns the string unchanged if they are invalid."""
    try:
        return str(json.loads(f'"{text}"', strict=False)).strip()
    except ValueError:
        return text.strip()


def value_text(value: object) -> str:
    """Return a value as text: the first item of a list, the @value or name of an object."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name")
    return str(value).strip()[:2_000] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def value_texts(value: object) -> tuple[str, ...]:
    """Return a value, or all items of a list, as texts."""
    values = value[:MAX_NODES] if isinstance(value, list) else [value]
    return tuple(text for item in values if (text := value_text(item)))


def entity_name(value: object, by_id: Mapping[str, JsonLdNode]) -> str:
    """Return the name of a person or thing, or an empty string. A reference (@id) is resolved with `by_id`."""
    if isinstance(value, dict):
        if "name" not in value and "@id" in value:
            value = by_id.get(str(value["@id"]), {})
        return value_text(value.get("name"))
    return value.strip() if isinstance(value, str) else ""


def entity_names(value: object, by_id: Mapping[str, JsonLdNode], required_type: str = "") -> tuple[str, ...]:
    """Return the names of all entities of a list or of a single entity.

    If `required_type` is given, other types are skipped.
    """
    values = value[:50] if isinstance(value, list) else [value]
    if required_type:
        values = [
            item
            for item in values
            if isinstance(item, dict) and required_type in node_types(by_id.get(str(item.get("@id")), item))
        ]
    return tuple(name for item in values if (name := entity_name(item, by_id)))


def entity_url(value: object, by_id: Mapping[str, JsonLdNode]) -> str:
    """Return the URL of a picture or page: a string, or the url, contentUrl or @id of an object."""
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


def parse_keywords(value: object) -> tuple[str, ...]:
    """Return the keywords; a string is split at commas."""
    return tuple(value.split(",")) if isinstance(value, str) else value_texts(value)


def breadcrumb_names(node: JsonLdNode) -> tuple[str, ...]:
    """Return the names of a breadcrumb trail, the home page first."""
    items = node.get("itemListElement")
    items = [item for item in items[:20] if isinstance(item, dict)] if isinstance(items, list) else []
    items.sort(
        key=lambda item: int(value_text(item.get("position"))) if value_text(item.get("position")).isdecimal() else 0
    )
    return tuple(value_text(item.get("name")) or value_text(item.get("item")) for item in items)
