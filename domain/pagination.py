"""Pagination chains and versions of a page. Pure functions, without the store.

    follow_next_pages  the pages of an article in order           p1 -> p2 -> p3
    find_first_page    the first page of a chain, from any page   p3 -> p1
    join_pages         the articles of a chain as one article
    can_reference      can a URL be the next or canonical page of another?
    is_same_content    has a page the same content as its canonical page?

Pages are identified by `url_id`. A page has at most one next page, and its previous page is one whose next page it is.
So a walk along previous pages can only return to its start; then all pages of the walk are a cycle.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from domain.article import Article, Block, BlockKind

MAX_CHAIN_PAGES = 50
MAX_URL_BYTES = 2000  # of a page that is crawled; a B-tree index of PostgreSQL holds 2,704 bytes per value
LEAD_LINES = 5  # lines of the first page that later pages may repeat above their text
MIN_VERSION_JACCARD = 0.5  # similarity of a page and its canonical page, if their titles differ
SITE_VARIANT_PREFIX = re.compile(r"^(?:(?:www|wap|mobile|m|amp|touch|3g|print)\.)+(?=[^.]+\.)")
SCHEME = re.compile(r"^https?://", re.IGNORECASE)
# Page number at the end of a title without white space: 题目（2） 题目第2页 Title-Page2 Title(2/3)
PAGE_NUMBER_SUFFIX = re.compile(r"[-–—_|,:：(（\[【]?(?:page|第)?(?<!\d)\d++(?:(?:/|of)\d++)?页?[)）\]】]?$")

PageLookup = Callable[[int], int | None]


def find_first_page(page: int, previous_page: PageLookup) -> int | None:
    """Return the first page of the pagination chain that contains `page`, to join the chain to one article.

    Args:
        page: url_id of the page.
        previous_page: returns the page whose next page is its argument, or None.

    Returns:
        The url_id of the first page; in a cycle, the lowest url_id of the cycle. None if `page` is not among the first
        MAX_CHAIN_PAGES pages of its chain, or if the cycle is longer. Such a page remains a separate article.
    """
    visited_pages = [page]
    while len(visited_pages) <= MAX_CHAIN_PAGES:
        previous = previous_page(visited_pages[-1])
        if previous is None:
            return visited_pages[-1]
        if previous == page:
            return min(visited_pages)
        visited_pages.append(previous)
    return None


def follow_next_pages(first_page: int, next_page: PageLookup, previous_page: PageLookup) -> list[int]:
    """Return the pages of an article in order, starting with `first_page`; at most MAX_CHAIN_PAGES."""
    chain = [first_page]
    while len(chain) < MAX_CHAIN_PAGES:
        following_page = next_page(chain[-1])
        if following_page is None or following_page in chain or previous_page(following_page) != chain[-1]:
            break
        chain.append(following_page)
    return chain


def join_pages(articles: Sequence[Article]) -> Article:
    """Join the pages of an article, in order, to one article.

    The URL and metadata are those of the first page, except: `next_url` is that of the last page, `modified` the
    newest, `picture` the first one. Titles and lead lines that later pages repeat are dropped. The signature is the
    element-wise minimum of the pages' signatures, which is the MinHash of all their shingles together.

    Args:
        articles: The extracted pages; at least one.
    """
    first_article = articles[0]
    if len(articles) == 1:
        return first_article
    bodies, blocks = [first_article.body], list(first_article.blocks)
    for later_article in articles[1:]:
        bodies.append(strip_repeated_lead(later_article.body, first_article))
        blocks += strip_repeated_lead_blocks(later_article.blocks, first_article)
    return replace(
        first_article,
        body="\n".join(body for body in bodies if body),
        blocks=tuple(blocks),
        next_url=articles[-1].next_url,
        picture=next((article.picture for article in articles if article.picture), ""),
        modified=max(article.modified for article in articles),
        # The MinHash signature of the union of the texts that have one.
        signature=tuple(map(min, zip(*(article.signature for article in articles if article.signature), strict=True))),
    )


def strip_repeated_lead(body: str, first_article: Article) -> str:
    """Return the body of a later page without the title and lead lines that it repeats from the first page."""
    lead_lines = {
        normalize_for_comparison(first_article.title),
        *map(normalize_for_comparison, first_article.body.split("\n", LEAD_LINES)[:LEAD_LINES]),
    }
    lines = body.split("\n")
    start = next((n for n, line in enumerate(lines) if normalize_for_comparison(line) not in lead_lines), len(lines))
    return "\n".join(lines[start:])


def strip_repeated_lead_blocks(blocks: Sequence[Block], first_article: Article) -> Sequence[Block]:
    """Return the blocks of a later page without the title and lead blocks that it repeats from the first page."""
    lead_keys = {
        normalize_for_comparison(first_article.title),
        *map(block_comparison_key, first_article.blocks[:LEAD_LINES]),
    }
    start = next((n for n, block in enumerate(blocks) if block_comparison_key(block) not in lead_keys), len(blocks))
    return blocks[start:]


def block_comparison_key(block: Block) -> str:
    """Return a key that is equal for blocks with the same content.

    It is the URL of a picture, otherwise the normalized text.
    """
    return block.url if block.kind is BlockKind.PICTURE else normalize_for_comparison(block.text)


def normalize_for_comparison(text: str) -> str:
    """Return a text without white space, case-folded."""
    return "".join(text.split()).casefold()


def is_same_content(page: Article, canonical: Article) -> bool:
    """True if `page` is a version of the article `canonical`.

    The canonical reference is not enough: on some sites every page references the same page.
    """
    title, body = title_without_page_number(page.title), normalize_for_comparison(page.body)
    if (title and title == title_without_page_number(canonical.title)) or body == normalize_for_comparison(
        canonical.body
    ):
        return True
    return estimate_jaccard(page.signature, canonical.signature) >= MIN_VERSION_JACCARD


def title_without_page_number(title: str) -> str:
    """Return a normalized title without its page number (`PAGE_NUMBER_SUFFIX`)."""
    return PAGE_NUMBER_SUFFIX.sub("", normalize_for_comparison(title))


def estimate_jaccard(first: Sequence[int], second: Sequence[int]) -> float:
    """Estimate the Jaccard index of the shingles of two texts, 0 to 1.

    Returns the share of equal elements of their MinHash signatures; 0 if a text has no signature.
    """
    if not first or len(first) != len(second):
        return 0.0
    return sum(map(int.__eq__, first, second)) / len(first)


def is_same_site(first_url: str, second_url: str) -> bool:
    """True if two URLs belong to one site.

    Their hosts are equal without prefixes such as `www.`, `m.` and `amp.`, or one host is a subdomain of the other.
    """
    first_site, second_site = site_host(first_url), site_host(second_url)
    return first_site == second_site or (is_subdomain(first_site, second_site) or is_subdomain(second_site, first_site))


def is_subdomain(host: str, parent: str) -> bool:
    """True if `host` is a subdomain of `parent`, as `amp.news.test` is of `news.test`."""
    return "." in parent and not parent.replace(".", "").partition(":")[0].isdigit() and host.endswith("." + parent)


def site_host(url: str) -> str:
    """Return `host[:port]` of a URL without prefixes for site variants (`www.`, `m.` ...)."""
    return SITE_VARIANT_PREFIX.sub("", without_scheme(url).partition("/")[0].lower())


def without_scheme(url: str) -> str:
    """Return a URL without its scheme. The http and https URLs of a page are equivalent."""
    return SCHEME.sub("", url)


def can_reference(page: str, target: str) -> bool:
    """True if the URL `target` can be another page of the article at `page`.

    It must be on the same site, and must be neither the page itself nor a front page. A longer URL is not crawled.
    """
    path = without_scheme(target).partition("/")[2]
    is_url_of_page = bool(path) and len(target.encode("utf-8", "replace")) <= MAX_URL_BYTES
    return is_url_of_page and target != page and is_same_site(page, target)
