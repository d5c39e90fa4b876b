"""The role of each page in the store: an article, a continuation, a double or a list.

    p1 -next-> p2 -next-> p3          a pagination chain: one article at p1; p2 and p3 are continuations
    amp -canonical-> p1               amp is a double of p1, once p1 is an article and says the same
    print (same title and body)       superseded by p1, and a double of it, unless it names itself as canonical
    tag page below p1's headline      a list, once p1 is an article that has its text
    tag page among lists              a list, as long as nothing vouches for it

Only pages whose role a batch can have changed are resolved again, from each page's own article. The answer depends on
what is known of the pages alone, never on the order in which they came.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from sqlalchemy import Column, ColumnElement, Connection, Select, and_, select, update

from docstore.articles.rows import text_key
from docstore.database import Database
from docstore.grouping.page_graph import CANONICAL, MAX_REFERRERS, OwnArticle, PageGraph
from docstore.grouping.pagination import MAX_CHAIN_PAGES, first_page_of, join_pages, pagination_chain, without_scheme
from docstore.grouping.teasers import not_known_behind, showing, shown_among
from docstore.grouping.url_patterns import (
    ListEvidence,
    Sibling,
    known_siblings,
    pattern_of,
    replace_siblings,
    unvouched,
)
from docstore.model import Article, Outcome, Reason, Stage
from docstore.schema.article_tables import articles, page_kinds, parts, teasers
from docstore.schema.crawl_tables import outcomes, urls

MAX_DEPENDENTS = 2_000  # pages that one change can touch in one transaction; the others are extracted again


@dataclass(frozen=True)
class PageRole:
    """What a page is: an `article`, joined of `pages` pages; or part of the page `whole_id`, and `outcome` says why
    (continuation, double, list).
    """

    own: OwnArticle
    whole_id: int
    article: Article | None = None
    pages: int = 1
    outcome: Outcome | None = None


@dataclass(frozen=True)
class CanonicalCandidate:
    """An article that may be the canonical one among those with the same text on a host: the first by `rank` is."""

    url_id: int
    url: str
    canonical_url: str

    @property
    def is_self_canonical(self) -> bool:
        """Does the page name itself as canonical? Then nothing supersedes it."""
        return without_scheme(self.canonical_url) == without_scheme(self.url)

    @property
    def rank(self) -> tuple[bool, bool, int, int]:
        """Sort key: what names itself as canonical, then what names no page, then the shortest URL, then the oldest."""
        return not self.is_self_canonical, bool(self.canonical_url), len(self.url), self.url_id


def resolve(
    database: Database,
    connection: Connection,
    fresh: Mapping[int, OwnArticle | None],
    old_next: Iterable[str],
    siblings: Mapping[int, Sibling],
) -> dict[int, PageRole]:
    """The roles of the pages of a batch and of all others that it changes: url_id -> role. A page without an article of
    its own has none.

    `fresh` is what extraction made of the batch's pages (None: no article), `old_next` are the URLs that they named as
    their next pages before (`page_graph.renew_ties`), `siblings` those of the batch that are lists or articles.
    """
    graph = PageGraph(connection, fresh)
    ids = touched_pages(connection, graph, fresh, old_next)
    counted: set[int] = set()
    while True:
        while new := ids - counted:
            turned = update_siblings(database, connection, graph, new, siblings)
            counted |= new
            ids |= related_pages(connection, graph, turned)
        found = {url_id: role_of(graph, url_id) for url_id in sorted(ids) if graph.own(url_id)}
        superseded = supersede_doubles(connection, found, ids)
        more = related_pages(connection, graph, superseded | dependents(connection, found, fresh)) - ids
        if not more:
            return found
        ids |= more


def touched_pages(
    connection: Connection, graph: PageGraph, fresh: Mapping[int, OwnArticle | None], old_next: Iterable[str]
) -> set[int]:
    """The pages whose role may depend on pages of the batch: by what these name or named, and by what shows them."""
    ids = set(fresh) | {page for target in old_next for page in graph.pages_at(target)}
    return related_pages(connection, graph, ids | pages_showing(connection, graph, fresh))


def related_pages(connection: Connection, graph: PageGraph, url_ids: Iterable[int]) -> set[int]:
    """The pages `url_ids`, and those that may belong to one article with them: what shows them, the pages of their
    chains, the pages that they name as canonical or that name them so, and the pages they were part of.
    """
    ids = set(url_ids)
    ids |= pages_showing(connection, graph, ids)
    for url_id in tuple(ids):
        ids.update(later_pages(graph, url_id))
    for url_id in tuple(ids):
        ids.update(graph.referrers(url_id, CANONICAL), graph.canonical_targets(url_id))
    for url_id in tuple(ids):
        ids.add(first_page_of(url_id, graph.previous_page) or url_id)
    ids.update(connection.scalars(select(parts.c.whole_id).where(parts.c.url_id.in_(ids))))
    return ids


def pages_showing(connection: Connection, graph: PageGraph, url_ids: Iterable[int]) -> set[int]:
    """The pages that show one of these pages (docstore/grouping/teasers.py)."""
    targets = {without_scheme(own.url): own.url_id for own in map(graph.own, url_ids) if own}
    found: set[int] = set()
    for target in shown_among(connection, targets):
        undecided = not_known_behind(targets[target])
        found |= first_of(connection, showing(target), teasers.c.url_id, MAX_REFERRERS, undecided)
    return found


def update_siblings(
    database: Database, connection: Connection, graph: PageGraph, ids: Iterable[int], fresh: Mapping[int, Sibling]
) -> set[int]:
    """Keep what the pages `ids` are among their siblings; returns the pages that become lists by that, or are none any
    longer.
    """
    old = known_siblings(connection, ids)
    known = {url_id: one for url_id, one in old.items() if not graph.is_fresh(url_id)} | {
        url_id: one for url_id, one in fresh.items() if url_id in set(ids)
    }
    new = {
        url_id: replace(one, is_list=one.evidence is ListEvidence.LIST or graph.shown_page(url_id) is not None)
        for url_id, one in known.items()
    }
    turned = replace_siblings(database, connection, old, new)
    graph.forget_siblings()
    return first_of(connection, unvouched(turned), page_kinds.c.url_id, MAX_DEPENDENTS) if turned else set()


def later_pages(graph: PageGraph, url_id: int) -> list[int]:
    """The pages after a page in its chain, whichever article they belong to."""
    found: list[int] = []
    here = graph.next_page(url_id)
    while here is not None and here not in found and len(found) < MAX_CHAIN_PAGES:
        found.append(here)
        here = graph.next_page(here)
    return found


def role_of(graph: PageGraph, url_id: int) -> PageRole:
    """The role of a page by what pages name and show, before articles of the same text are compared."""
    own = graph.own(url_id)
    assert own is not None
    if refused := list_role(graph, own):
        return refused
    head = first_page_of(url_id, graph.previous_page)
    chain = [url_id] if head is None else pagination_chain(head, graph.next_page, graph.previous_page)
    if head is not None and head != url_id:
        return part_role(own, head, Reason.CONTINUATION, url_of(graph, head))
    canonical = canonical_of(graph, url_id, chain)
    if canonical is not None:
        return part_role(own, canonical, Reason.DOUBLE, url_of(graph, canonical))
    pages = [page for page in map(graph.own, chain) if page]
    return PageRole(own, url_id, join_pages([page.article for page in pages]), len(pages))


def list_role(graph: PageGraph, own: OwnArticle) -> PageRole | None:
    """The role of a page that is a list, because of what it shows or what its siblings are; None if it is none."""
    shown = graph.shown_page(own.url_id)
    if shown is not None:
        return part_role(own, shown, Reason.LIST_PAGE, f"its text is that of {url_of(graph, shown)}")
    if not graph.is_among_lists(own.url_id):
        return None
    return part_role(own, own.url_id, Reason.LIST_PAGE, f"nearly all pages like {pattern_of(own.url)} are lists")


def canonical_of(graph: PageGraph, url_id: int, chain: list[int]) -> int | None:
    """The canonical page that this one is a double of; None if it is none. Of pages that name each other as canonical
    it is the first known.
    """
    targets = graph.canonical_targets(url_id)
    is_first_of_ring = url_id in targets and url_id == min(targets)
    return None if not targets or targets[0] in chain or is_first_of_ring else targets[0]


def part_role(own: OwnArticle, whole_id: int, reason: Reason, detail: str) -> PageRole:
    """The role of a page that is no article but part of the page `whole_id`."""
    return PageRole(own, whole_id, outcome=Outcome(reason, detail))


def url_of(graph: PageGraph, url_id: int) -> str:
    """The URL of a page that has an article of its own, else ""."""
    own = graph.own(url_id)
    return own.url if own else ""


def supersede_doubles(connection: Connection, found: dict[int, PageRole], decided: AbstractSet[int]) -> set[int]:
    """Of articles of a host with the same text keep the best candidate; the others in `found` become its doubles.

    Pages in `decided` that are not in `found` are no articles any more, whatever the store has of them. Returns the
    superseded articles outside of `found`: they have to be resolved as well.
    """
    clusters: dict[tuple[str, int], list[CanonicalCandidate]] = {}
    for url_id, role in found.items():
        if role.article is not None:
            candidate = CanonicalCandidate(url_id, role.own.url, role.article.canonical_url)
            clusters.setdefault((role.own.host, text_key(role.article)), []).append(candidate)
    for key, candidate in stored_candidates(connection, clusters, decided):
        clusters[key].append(candidate)
    superseded = set()
    for cluster in clusters.values():
        best = min(cluster, key=lambda candidate: candidate.rank)
        outranked = {one.url_id for one in cluster if one is not best and not one.is_self_canonical}
        superseded |= outranked - found.keys()
        for url_id in outranked & found.keys():
            found[url_id] = part_role(found[url_id].own, best.url_id, Reason.DOUBLE, best.url)
    return superseded


def stored_candidates(
    connection: Connection, keys: Iterable[tuple[str, int]], decided: AbstractSet[int]
) -> list[tuple[tuple[str, int], CanonicalCandidate]]:
    """The articles in the store that have one of `keys` (host, text_key), without the pages `decided`."""
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


def dependents(
    connection: Connection, found: Mapping[int, PageRole], fresh: Mapping[int, OwnArticle | None]
) -> set[int]:
    """The parts of articles whose text or existence has changed: their roles may be others now."""
    ids = {*found, *fresh}
    query = select(articles.c.url_id, articles.c.text_key).where(articles.c.url_id.in_(ids))
    before = {row.url_id: row.text_key for row in connection.execute(query)}
    now = {url_id: text_key(role.article) for url_id, role in found.items() if role.article}
    changed = {url_id for url_id in ids if url_id not in now or before.get(url_id) != now[url_id]}
    behind = select(parts.c.url_id).where(parts.c.whole_id.in_(changed)).order_by(parts.c.url_id)
    return first_of(connection, behind, parts.c.url_id, MAX_DEPENDENTS)


def first_of(
    connection: Connection,
    url_ids: Select[int],
    column: Column[int],
    most: int,
    only: ColumnElement[bool] | None = None,
) -> set[int]:
    """The first `most` pages of a query that is in order of `column`. The others, or those of them for which `only`
    holds, are extracted again.
    """
    first = list(connection.scalars(url_ids.limit(most)))
    if len(first) == most:
        rest = url_ids.where(column > first[-1])
        extract_again(connection, rest if only is None else rest.where(only))
    return set(first)


def extract_again(connection: Connection, url_ids: Select[int]) -> None:
    """Let pages wait for extraction, which resolves their roles one batch at a time."""
    mine = and_(outcomes.c.stage == Stage.EXTRACT, outcomes.c.url_id.in_(url_ids))
    connection.execute(update(outcomes).where(mine).values(input=""))
