"""Which pages are one article, decided without the store.

    chain_of      the pages an article goes on over             p1 -> p2 -> p3
    head_of       the first of them, from any                   p3 -> p1
    join          their articles as one
    is_same_site  may a page speak for a URL at all?
    is_alike      is a page what its original says?

Pages are known by number; `successor` gives the page that a page names as its next, `predecessor` the one page that a
page is the next of. A page has one successor, so that following predecessors can only come back to where it began.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from docstore.model import Article, Block, BlockKind

LONGEST_CHAIN = 50
LEAD = 5  # so many lines of the first page may stand again above a later page's text
MIN_LIKENESS = 0.5  # of a page and its original, where their titles differ
SITE_VARIANT = re.compile(r"^(?:(?:www|wap|mobile|m|amp|touch|3g|print)\.)+(?=[^.]+\.)")
SCHEME = re.compile(r"^https?://", re.IGNORECASE)
# What may tell a page's title (without white space) from the first page's: 题目（2） 题目第2页 Title-Page2 Title(2/3)
PAGE_MARK = re.compile(r"[-–—_|,:：(（\[【]?(?:page|第)?\d+(?:(?:/|of)\d+)?页?[)）\]】]?$")

Step = Callable[[int], int | None]


def head_of(page: int, predecessor: Step) -> int | None:
    """The first page of the article that `page` belongs to; in a ring of pages, the one with the lowest number.

    None where `page` is further than LONGEST_CHAIN from it: such a page stays an article of its own.
    """
    seen = [page]
    while len(seen) <= LONGEST_CHAIN:
        before = predecessor(seen[-1])
        if before is None:
            return seen[-1]
        if before in seen:
            return min(seen)
        seen.append(before)
    return None


def chain_of(head: int, successor: Step, predecessor: Step) -> list[int]:
    """The pages of an article from its first on."""
    chain = [head]
    while len(chain) < LONGEST_CHAIN:
        following = successor(chain[-1])
        if following is None or following in chain or predecessor(following) != chain[-1]:
            break
        chain.append(following)
    return chain


def join(articles: Sequence[Article]) -> Article:
    """One article of the pages of a chain, under the URL of the first and with what it says of itself.

    Title and lead lines that later pages repeat are dropped. The signature is that of the whole but for the shingles
    across page ends: the least of each place, as MinHash has it for the union of two sets.
    """
    first = articles[0]
    if len(articles) == 1:
        return first
    bodies, blocks = [first.body], list(first.blocks)
    for later in articles[1:]:
        bodies.append(without_lead(later.body, first))
        blocks += without_lead_blocks(later.blocks, first)
    return replace(
        first,
        body="\n".join(body for body in bodies if body),
        blocks=tuple(blocks),
        next_url=articles[-1].next_url,
        picture=next((article.picture for article in articles if article.picture), ""),
        modified=max(article.modified for article in articles),
        signature=union(tuple(article.signature for article in articles)),
    )


def without_lead(body: str, first: Article) -> str:
    """A later page's body without the title and lead lines that it shares with the first page."""
    known = {bare(first.title), *map(bare, first.body.split("\n", LEAD)[:LEAD])}
    lines = body.split("\n")
    start = next((n for n, line in enumerate(lines) if bare(line) not in known), len(lines))
    return "\n".join(lines[start:])


def without_lead_blocks(blocks: Sequence[Block], first: Article) -> Sequence[Block]:
    """The same for blocks."""
    known = {bare(first.title), *map(seen_of, first.blocks[:LEAD])}
    start = next((n for n, block in enumerate(blocks) if seen_of(block) not in known), len(blocks))
    return blocks[start:]


def seen_of(block: Block) -> str:
    """What makes a block the same as another."""
    return block.url if block.kind is BlockKind.PICTURE else bare(block.text)


def bare(text: str) -> str:
    """A text as it is compared: without white space, in one case."""
    return "".join(text.split()).casefold()


def union(signatures: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The MinHash signature of the union of what `signatures` stand for; texts too short for one do not count."""
    return tuple(map(min, zip(*(signature for signature in signatures if signature), strict=True)))


def is_alike(page: Article, original: Article) -> bool:
    """Is `page` the article that its canonical link says it is? Sites exist where every page names the same one."""
    title, body = title_key(page.title), bare(page.body)
    if (title and title == title_key(original.title)) or body == bare(original.body):
        return True
    return likeness(page.signature, original.signature) >= MIN_LIKENESS


def title_key(title: str) -> str:
    """A title as it is compared: without its page number."""
    return PAGE_MARK.sub("", bare(title))


def likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """The share of equal places of two MinHash signatures: it estimates the Jaccard index of the texts' shingles."""
    if not one or len(one) != len(other):
        return 0.0
    return sum(map(int.__eq__, one, other)) / len(one)


def is_same_site(one: str, other: str) -> bool:
    """Are two URLs of one site: of the same host but for `www.`, `m.`, `amp.` ..., or one host above the other?"""
    a, b = site_of(one), site_of(other)
    return a == b or (is_below(a, b) or is_below(b, a))


def is_below(host: str, above: str) -> bool:
    """Is `host` a part of `above`, as `amp.news.test` is of `news.test`?"""
    return "." in above and not above.replace(".", "").partition(":")[0].isdigit() and host.endswith("." + above)


def site_of(url: str) -> str:
    """`host[:port]` of a URL without what names a variant of the site."""
    return SITE_VARIANT.sub("", address(url).partition("/")[0].lower())


def address(url: str) -> str:
    """A URL without its scheme: http and https are the same page wherever both answer."""
    return SCHEME.sub("", url)


def is_tie(page: str, target: str) -> bool:
    """May `page` name `target` as another page of the same article? Never itself, and never a site's front page."""
    path = address(target).partition("/")[2]
    return bool(path) and target != page and is_same_site(page, target)
