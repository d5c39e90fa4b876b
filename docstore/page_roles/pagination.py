"""Which pages are one article, decided without the store.

    pagination_chain  the pages that an article is spread over      p1 -> p2 -> p3
    first_page_of     the first page of a chain, from any page      p3 -> p1
    join_pages        the articles of a chain as one
    is_same_site      may a page name this URL as its next page or its canonical page?
    is_version_of     does a page have the text of the page that it names as canonical?

Pages are known by number (`url_id`). `next_page` gives the page that a page names as its next, `previous_page` the one
page that names it as its next. A page has one next page, so following previous pages can only come back to the start.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from docstore.model import Article, Block, BlockKind

MAX_CHAIN_PAGES = 50
LEAD_LINES = 5  # of the first page, which later pages may repeat above their text
MIN_VERSION_JACCARD = 0.5  # of a page and the one it names as canonical, where their titles differ
SITE_VARIANT_PREFIX = re.compile(r"^(?:(?:www|wap|mobile|m|amp|touch|3g|print)\.)+(?=[^.]+\.)")
SCHEME = re.compile(r"^https?://", re.IGNORECASE)
# What may tell a page's title (without white space) from the first page's: 题目（2） 题目第2页 Title-Page2 Title(2/3)
PAGE_NUMBER_SUFFIX = re.compile(r"[-–—_|,:：(（\[【]?(?:page|第)?\d+(?:(?:/|of)\d+)?页?[)）\]】]?$")

PageLookup = Callable[[int], int | None]


def find_first_page(page: int, previous_page: PageLookup) -> int | None:
    """The first page of the pagination chain that `page` belongs to; in a ring of pages, the lowest number.

    None where `page` is further than MAX_CHAIN_PAGES from it: such a page stays an article of its own.
    """
    visited = [page]
    while len(visited) <= MAX_CHAIN_PAGES:
        previous = previous_page(visited[-1])
        if previous is None:
            return visited[-1]
        if previous in visited:
            return min(visited)
        visited.append(previous)
    return None


def follow_next_pages(first_page: int, next_page: PageLookup, previous_page: PageLookup) -> list[int]:
    """The pages of an article in order, `first_page` first; at most MAX_CHAIN_PAGES."""
    chain = [first_page]
    while len(chain) < MAX_CHAIN_PAGES:
        following = next_page(chain[-1])
        if following is None or following in chain or previous_page(following) != chain[-1]:
            break
        chain.append(following)
    return chain


def join_pages(articles: Sequence[Article]) -> Article:
    """The pages of a chain as one article, with the URL and the metadata of the first page.

    Title and lead lines that later pages repeat are dropped. The signature is that of the whole text, without the
    shingles that cross the end of a page: the MinHash of a union of sets is the minimum of each place.
    """
    first_article = articles[0]
    if len(articles) == 1:
        return first_article
    bodies, blocks = [first_article.body], list(first_article.blocks)
    for later in articles[1:]:
        bodies.append(strip_repeated_lead(later.body, first_article))
        blocks += strip_repeated_lead_blocks(later.blocks, first_article)
    return replace(
        first_article,
        body="\n".join(body for body in bodies if body),
        blocks=tuple(blocks),
        next_url=articles[-1].next_url,
        picture=next((article.picture for article in articles if article.picture), ""),
        modified=max(article.modified for article in articles),
        signature=union_signature(tuple(article.signature for article in articles)),
    )


def strip_repeated_lead(body: str, first_article: Article) -> str:
    """A later page's body without the title and lead lines that it shares with the first page."""
    lead_lines = {
        normalize_for_comparison(first_article.title),
        *map(normalize_for_comparison, first_article.body.split("\n", LEAD_LINES)[:LEAD_LINES]),
    }
    lines = body.split("\n")
    start = next((n for n, line in enumerate(lines) if normalize_for_comparison(line) not in lead_lines), len(lines))
    return "\n".join(lines[start:])


def strip_repeated_lead_blocks(blocks: Sequence[Block], first_article: Article) -> Sequence[Block]:
    """A later page's blocks without the title and lead blocks that it shares with the first page."""
    lead_keys = {
        normalize_for_comparison(first_article.title),
        *map(block_comparison_key, first_article.blocks[:LEAD_LINES]),
    }
    start = next((n for n, block in enumerate(blocks) if block_comparison_key(block) not in lead_keys), len(blocks))
    return blocks[start:]


def block_comparison_key(block: Block) -> str:
    """Equal for blocks that show the same: the URL of a picture, the text of any other."""
    return block.url if block.kind is BlockKind.PICTURE else normalize_for_comparison(block.text)


def normalize_for_comparison(text: str) -> str:
    """A text as it is compared: without white space and case-folded."""
    return "".join(text.split()).casefold()


def union_signature(signatures: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The MinHash signature of the union of several texts; texts too short for a signature do not count."""
    return tuple(map(min, zip(*(signature for signature in signatures if signature), strict=True)))


def is_same_content(page: Article, canonical: Article) -> bool:
    """Is `page` a version of the article that it names as canonical? On some sites every page names the same one."""
    title, body = title_without_page_number(page.title), normalize_for_comparison(page.body)
    if (title and title == title_without_page_number(canonical.title)) or body == normalize_for_comparison(
        canonical.body
    ):
        return True
    return estimate_jaccard(page.signature, canonical.signature) >= MIN_VERSION_JACCARD


def title_without_page_number(title: str) -> str:
    """A title as it is compared: without its page number (`PAGE_NUMBER_SUFFIX`)."""
    return PAGE_NUMBER_SUFFIX.sub("", normalize_for_comparison(title))


def estimate_jaccard(first: Sequence[int], second: Sequence[int]) -> float:
    """The Jaccard index of the shingles of two texts, 0 to 1, estimated by the share of equal places of their MinHash
    signatures; 0 where one has none.
    """
    if not first or len(first) != len(second):
        return 0.0
    return sum(map(int.__eq__, first, second)) / len(first)


def is_same_site(first_url: str, second_url: str) -> bool:
    """Are two URLs of one site: of the same host but for `www.`, `m.`, `amp.` ..., or one host above the other?"""
    first_site, second_site = site_host(first_url), site_host(second_url)
    return first_site == second_site or (is_subdomain(first_site, second_site) or is_subdomain(second_site, first_site))


def is_subdomain(host: str, parent: str) -> bool:
    """Is `host` a part of `parent`, as `amp.news.test` is of `news.test`?"""
    return "." in parent and not parent.replace(".", "").partition(":")[0].isdigit() and host.endswith("." + parent)


def site_host(url: str) -> str:
    """`host[:port]` of a URL without what names a variant of the site."""
    return SITE_VARIANT_PREFIX.sub("", without_scheme(url).partition("/")[0].lower())


def without_scheme(url: str) -> str:
    """A URL without its scheme: http and https are the same page wherever both answer."""
    return SCHEME.sub("", url)


def can_reference(page: str, target: str) -> bool:
    """May the URL `page` name the URL `target` as another page of its article? Never itself, nor a front page."""
    path = without_scheme(target).partition("/")[2]
    return bool(path) and target != page and is_same_site(page, target)
