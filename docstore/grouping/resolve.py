"""Which pages of the store are one article: chains of pages, and versions of the same page under other URLs.

    p1 -next-> p2 -next-> p3          one article at p1; p2 and p3 are continuations
    amp -canonical-> p1               amp is a double of p1, once p1 is an article and says the same
    print (same title and body)       a double, where it names no original itself
    tag page below p1's headline      a list, once p1 is an article that has its text
    tag page among lists              a list, as long as nothing vouches for it

Only the pages that a batch can have changed anything for are decided again, from each page's own article. The answer
depends on what is known of the pages alone, never on the order in which they came.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from sqlalchemy import Column, ColumnElement, Connection, Select, and_, select, update

from docstore.articles.rows import text_key
from docstore.database import Database
from docstore.grouping.page_graph import CANONICAL, RIVALS, Own, PageGraph
from docstore.grouping.pagination import LONGEST_CHAIN, address, chain_of, head_of, join
from docstore.grouping.teasers import not_known_behind, showing, shown_among
from docstore.grouping.url_patterns import (
    Evidence,
    Sibling,
    known_siblings,
    pattern_of,
    replace_siblings,
    unvouched,
)
from docstore.model import Article, Outcome, Reason, Stage
from docstore.tables import articles, outcomes, page_kinds, parts, teasers, urls

MOST = 2_000  # doubles of one article that are looked at in one transaction


@dataclass(frozen=True)
class PageRole:
    """What a page is: an article (of `pages` pages), or with `outcome` a part of what is kept at `whole_id`."""

    own: Own
    whole_id: int
    article: Article | None = None
    pages: int = 1
    outcome: Outcome | None = None


@dataclass(frozen=True)
class CanonicalCandidate:
    """An article among those of the same text on the same host; the first in order stands for all."""

    url_id: int
    url: str
    canonical_url: str

    @property
    def is_original(self) -> bool:
        """Does the page call itself the original? Then it is nobody's double."""
        return address(self.canonical_url) == address(self.url)

    @property
    def rank(self) -> tuple[bool, bool, int, int]:
        """The original comes first, then what names no other, then the shortest URL, then the first known."""
        return not self.is_original, bool(self.canonical_url), len(self.url), self.url_id


def resolve(
    database: Database,
    connection: Connection,
    fresh: Mapping[int, Own | None],
    old_next: Iterable[str],
    siblings: Mapping[int, Sibling],
) -> dict[int, PageRole]:
    """The places of the pages of a batch and of all others that it changes; pages without article have none.

    `fresh` is what extraction made of the batch's pages, `old_next` the URLs that they named as their next
    pages before (docstore.page_graph.renew_ties), `siblings` those of the batch that are lists or articles.
    """
    graph = PageGraph(connection, fresh)
    ids = reached(connection, graph, fresh, old_next)
    counted: set[int] = set()
    while True:
        while new := ids - counted:
            turned = count_siblings(database, connection, graph, new, siblings)
            counted |= new
            ids |= around(connection, graph, turned)
        found = {url_id: place_of(graph, url_id) for url_id in sorted(ids) if graph.own(url_id)}
        superseded = join_doubles(connection, found, ids)
        more = around(connection, graph, superseded | dependents(connection, found, fresh)) - ids
        if not more:
            return found
        ids |= more


def reached(
    connection: Connection, graph: PageGraph, fresh: Mapping[int, Own | None], old_next: Iterable[str]
) -> set[int]:
    """The pages whose place may hang on those of the batch by what they name and show."""
    ids = set(fresh) | {page for target in old_next for page in graph.pages_at(target)}
    return around(connection, graph, ids | all_showing(connection, graph, fresh))


def around(connection: Connection, graph: PageGraph, url_ids: Iterable[int]) -> set[int]:
    """Pages with those that may be of one article with them, by what is named and by what was kept."""
    ids = set(url_ids)
    ids |= all_showing(connection, graph, ids)
    for url_id in tuple(ids):
        ids.update(following(graph, url_id))
    for url_id in tuple(ids):
        ids.update(graph.naming(url_id, CANONICAL), graph.originals(url_id))
    for url_id in tuple(ids):
        ids.add(head_of(url_id, graph.predecessor) or url_id)
    ids.update(connection.scalars(select(parts.c.whole_id).where(parts.c.url_id.in_(ids))))
    return ids


def all_showing(connection: Connection, graph: PageGraph, url_ids: Iterable[int]) -> set[int]:
    """The pages that show one of these pages."""
    targets = {address(own.url): own.url_id for own in map(graph.own, url_ids) if own}
    found: set[int] = set()
    for target in shown_among(connection, targets):
        found |= some_of(connection, showing(target), teasers.c.url_id, RIVALS, not_known_behind(targets[target]))
    return found


def count_siblings(
    database: Database, connection: Connection, graph: PageGraph, ids: Iterable[int], fresh: Mapping[int, Sibling]
) -> set[int]:
    """Count what pages are among their siblings; returns pages that are a list now for those, or no longer."""
    old = known_siblings(connection, ids)
    known = {url_id: one for url_id, one in old.items() if not graph.is_fresh(url_id)} | {
        url_id: one for url_id, one in fresh.items() if url_id in set(ids)
    }
    new = {
        url_id: replace(one, is_list=one.evidence is Evidence.LIST or graph.shows(url_id) is not None)
        for url_id, one in known.items()
    }
    turned = replace_siblings(database, connection, old, new)
    graph.forget_siblings()
    return some_of(connection, unvouched(turned), page_kinds.c.url_id, MOST) if turned else set()


def following(graph: PageGraph, url_id: int) -> list[int]:
    """The pages after a page, whichever article they belong to."""
    found: list[int] = []
    here = graph.successor(url_id)
    while here is not None and here not in found and len(found) < LONGEST_CHAIN:
        found.append(here)
        here = graph.successor(here)
    return found


def place_of(graph: PageGraph, url_id: int) -> PageRole:
    """What a page is by what pages name."""
    own = graph.own(url_id)
    assert own is not None
    if refused := list_place(graph, own):
        return refused
    head = head_of(url_id, graph.predecessor)
    chain = [url_id] if head is None else chain_of(head, graph.successor, graph.predecessor)
    if head is not None and head != url_id:
        return part_of(own, head, Reason.CONTINUATION, url_of(graph, head))
    original = original_of(graph, url_id, chain)
    if original is not None:
        return part_of(own, original, Reason.DOUBLE, url_of(graph, original))
    pages = [page for page in map(graph.own, chain) if page]
    return PageRole(own, url_id, join([page.article for page in pages]), len(pages))


def list_place(graph: PageGraph, own: Own) -> PageRole | None:
    """The place of a page that is a list, for what it shows or for what its siblings are."""
    shown = graph.shows(own.url_id)
    if shown is not None:
        return part_of(own, shown, Reason.LIST_PAGE, f"its text is that of {url_of(graph, shown)}")
    if not graph.is_among_lists(own.url_id):
        return None
    return part_of(own, own.url_id, Reason.LIST_PAGE, f"nearly all pages like {pattern_of(own.url)} are lists")


def original_of(graph: PageGraph, url_id: int, chain: list[int]) -> int | None:
    """The page that this one is a double of. Where pages call each other the original, the first known one is."""
    originals = graph.originals(url_id)
    is_first_of_ring = url_id in originals and url_id == min(originals)
    if not originals or originals[0] in chain or is_first_of_ring:
        return None
    return originals[0]


def part_of(own: Own, whole_id: int, reason: Reason, whole_url: str) -> PageRole:
    """The place of a page that is no article of its own."""
    return PageRole(own, whole_id, outcome=Outcome(reason, whole_url))


def url_of(graph: PageGraph, url_id: int) -> str:
    """The URL of a page that has an article."""
    own = graph.own(url_id)
    return own.url if own else ""


def join_doubles(connection: Connection, found: dict[int, PageRole], decided: AbstractSet[int]) -> set[int]:
    """Make doubles of the articles in `found` whose text is another's on the same host.

    Those of the pages `decided` that are not in `found` are no articles any more, whatever the store has of them.
    Returns the articles outside that have to become doubles of one in `found`.
    """
    groups: dict[tuple[str, int], list[CanonicalCandidate]] = {}
    for url_id, place in found.items():
        if place.article is not None:
            standing = CanonicalCandidate(url_id, place.own.url, place.article.canonical_url)
            groups.setdefault((place.own.host, text_key(place.article)), []).append(standing)
    for key, standing in outside(connection, groups, decided):
        groups[key].append(standing)
    superseded = set()
    for group in groups.values():
        best = min(group, key=lambda standing: standing.rank)
        losers = {standing.url_id for standing in group if standing is not best and not standing.is_original}
        superseded |= losers - found.keys()
        for url_id in losers & found.keys():
            found[url_id] = part_of(found[url_id].own, best.url_id, Reason.DOUBLE, best.url)
    return superseded


def outside(
    connection: Connection, keys: Iterable[tuple[str, int]], decided: AbstractSet[int]
) -> list[tuple[tuple[str, int], CanonicalCandidate]]:
    """The articles in the store, but for the pages `decided`, with the same (host, text_key) as one of `keys`."""
    wanted = set(keys)
    query = (
        select(articles.c.url_id, articles.c.text_key, articles.c.canonical_url, urls.c.url, urls.c.host)
        .join(urls, urls.c.url_id == articles.c.url_id)
        .where(articles.c.text_key.in_({text for _, text in wanted}))
    )
    return [
        ((row.host, row.text_key), CanonicalCandidate(row.url_id, row.url, row.canonical_url))
        for row in connection.execute(query)
        if (row.host, row.text_key) in wanted and row.url_id not in decided
    ]


def dependents(connection: Connection, found: Mapping[int, PageRole], fresh: Mapping[int, Own | None]) -> set[int]:
    """The parts of those articles that are not what they were in the store: their place may be another now."""
    ids = {*found, *fresh}
    query = select(articles.c.url_id, articles.c.text_key).where(articles.c.url_id.in_(ids))
    before = {row.url_id: row.text_key for row in connection.execute(query)}
    now = {url_id: text_key(place.article) for url_id, place in found.items() if place.article}
    changed = {url_id for url_id in ids if url_id not in now or before.get(url_id) != now[url_id]}
    behind = select(parts.c.url_id).where(parts.c.whole_id.in_(changed)).order_by(parts.c.url_id)
    return some_of(connection, behind, parts.c.url_id, MOST)


def some_of(
    connection: Connection, url_ids: Select[int], column: Column[int], most: int, but: ColumnElement[bool] | None = None
) -> set[int]:
    """The first `most` pages of a query in order of `column`; the others, if `but`, are extracted again."""
    first = list(connection.scalars(url_ids.limit(most)))
    if len(first) == most:
        rest = url_ids.where(column > first[-1])
        wait_again(connection, rest if but is None else rest.where(but))
    return set(first)


def wait_again(connection: Connection, url_ids: Select[int]) -> None:
    """Let pages wait for extraction, which finds their places one batch at a time."""
    mine = and_(outcomes.c.stage == Stage.EXTRACT, outcomes.c.url_id.in_(url_ids))
    connection.execute(update(outcomes).where(mine).values(input=""))
