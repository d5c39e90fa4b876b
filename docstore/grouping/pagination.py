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
MIN_JACCARD = 0.5  # of a page and the one it names as canonical, where their titles differ
SITE_VARIANT = re.compile(r"^(?:(?:www|wap|mobile|m|amp|touch|3g|print)\.)+(?=[^.]+\.)")
SCHEME = re.compile(r"^https?://", re.IGNORECASE)
# What may tell a page's title (without white space) from the first page's: 题目（2） 题目第2页 Title-Page2 Title(2/3)
PAGE_MARK = re.compile(r"[-–—_|,:：(（\[【]?(?:page|第)?\d+(?:(?:/|of)\d+)?页?[)）\]】]?$")

Neighbour = Callable[[int], int | None]


def first_page_of(page: int, previous_page: Neighbour) -> int | None:
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


def pagination_chain(head: int, next_page: Neighbour, previous_page: Neighbour) -> list[int]:
    """The pages of an article in order, `head` first; at most MAX_CHAIN_PAGES."""
    chain = [head]
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
    first = articles[0]
    if len(articles) == 1:
        return first
    bodies, blocks = [first.body], list(first.blocks)
    for later in articles[1:]:
        bodies.append(body_without_lead(later.body, first))
        blocks += blocks_without_lead(later.blocks, first)
    return replace(
        first,
        body="\n".join(body for body in bodies if body),
        blocks=tuple(blocks),
        next_url=articles[-1].next_url,
        picture=next((article.picture for article in articles if article.picture), ""),
        modified=max(article.modified for article in articles),
        signature=union_signature(tuple(article.signature for article in articles)),
    )


def body_without_lead(body: str, first: Article) -> str:
    """A later page's body without the title and lead lines that it shares with the first page."""
    known = {comparable(first.title), *map(comparable, first.body.split("\n", LEAD_LINES)[:LEAD_LINES])}
    lines = body.split("\n")
    start = next((n for n, line in enumerate(lines) if comparable(line) not in known), len(lines))
    return "\n".join(lines[start:])


def blocks_without_lead(blocks: Sequence[Block], first: Article) -> Sequence[Block]:
    """A later page's blocks without the title and lead blocks that it shares with the first page."""
    known = {comparable(first.title), *map(block_key, first.blocks[:LEAD_LINES])}
    start = next((n for n, block in enumerate(blocks) if block_key(block) not in known), len(blocks))
    return blocks[start:]


def block_key(block: Block) -> str:
    """Equal for blocks that show the same: the URL of a picture, the text of any other."""
    return block.url if block.kind is BlockKind.PICTURE else comparable(block.text)


def comparable(text: str) -> str:
    """A text as it is compared: without white space and case-folded."""
    return "".join(text.split()).casefold()


def union_signature(signatures: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The MinHash signature of the union of several texts; texts too short for a signature do not count."""
    return tuple(map(min, zip(*(signature for signature in signatures if signature), strict=True)))


def is_version_of(page: Article, canonical: Article) -> bool:
    """Is `page` a version of the article that it names as canonical? On some sites every page names the same one."""
    title, body = title_without_page_mark(page.title), comparable(page.body)
    if (title and title == title_without_page_mark(canonical.title)) or body == comparable(canonical.body):
        return True
    return jaccard_estimate(page.signature, canonical.signature) >= MIN_JACCARD


def title_without_page_mark(title: str) -> str:
    """A title as it is compared: without its page number (`PAGE_MARK`)."""
    return PAGE_MARK.sub("", comparable(title))


def jaccard_estimate(one: Sequence[int], other: Sequence[int]) -> float:
    """The Jaccard index of the shingles of two texts, 0 to 1, estimated by the share of equal places of their MinHash
    signatures; 0 where one has none.
    """
    if not one or len(one) != len(other):
        return 0.0
    return sum(map(int.__eq__, one, other)) / len(one)


def is_same_site(one: str, other: str) -> bool:
    """Are two URLs of one site: of the same host but for `www.`, `m.`, `amp.` ..., or one host above the other?"""
    a, b = site_of(one), site_of(other)
    return a == b or (is_subdomain(a, b) or is_subdomain(b, a))


def is_subdomain(host: str, above: str) -> bool:
    """Is `host` a part of `above`, as `amp.news.test` is of `news.test`?"""
    return "." in above and not above.replace(".", "").partition(":")[0].isdigit() and host.endswith("." + above)


def site_of(url: str) -> str:
    """`host[:port]` of a URL without what names a variant of the site."""
    return SITE_VARIANT.sub("", without_scheme(url).partition("/")[0].lower())


def without_scheme(url: str) -> str:
    """A URL without its scheme: http and https are the same page wherever both answer."""
    return SCHEME.sub("", url)


def may_be_tied(page: str, target: str) -> bool:
    """May the URL `page` name the URL `target` as another page of its article? Never itself, nor a front page."""
    path = without_scheme(target).partition("/")[2]
    return bool(path) and target != page and is_same_site(page, target)
