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

from docstore.articles.row_mapping import text_hash
from docstore.database import Database
from docstore.model import Article, Outcome, Reason, Stage
from docstore.page_roles.page_graph import CANONICAL_PAGE, MAX_REFERRERS, PageArticle, PageGraph
from docstore.page_roles.pagination import (
    MAX_CHAIN_PAGES,
    find_first_page,
    follow_next_pages,
    join_pages,
    without_scheme,
)
from docstore.page_roles.teasers import is_not_part_of, teased_urls, teasing_pages_query
from docstore.page_roles.url_patterns import (
    ListEvidence,
    PatternMember,
    load_members,
    replace_members,
    undeclared_pages_query,
    url_pattern,
)
from docstore.schema.article_tables import article_parts, articles, pattern_members, teasers
from docstore.schema.crawl_tables import outcomes, urls

MAX_DEPENDENTS = 2_000  # pages that one change can touch in one transaction; the others are extracted again


@dataclass(frozen=True)
class PageRole:
    """What a page is: an `article`, joined of `page_count` pages; or part of the page `main_url_id`, and `outcome` says why
    (continuation, double, list).
    """

    page_article: PageArticle
    main_url_id: int
    article: Article | None = None
    page_count: int = 1
    outcome: Outcome | None = None


@dataclass(frozen=True)
class CanonicalCandidate:
    """An article that may be the canonical one among those with the same text on a host: the first by `sort_key` is."""

    url_id: int
    url: str
    canonical_url: str

    @property
    def is_self_canonical(self) -> bool:
        """Does the page name itself as canonical? Then nothing supersedes it."""
        return without_scheme(self.canonical_url) == without_scheme(self.url)

    @property
    def sort_key(self) -> tuple[bool, bool, int, int]:
        """Sort key: what names itself as canonical, then what names no page, then the shortest URL, then the oldest."""
        return not self.is_self_canonical, bool(self.canonical_url), len(self.url), self.url_id


def resolve_roles(
    database: Database,
    connection: Connection,
    batch_articles: Mapping[int, PageArticle | None],
    previous_next_urls: Iterable[str],
    batch_members: Mapping[int, PatternMember],
) -> dict[int, PageRole]:
    """The roles of the pages of a batch and of all others that it changes: url_id -> role. A page without an article of
    its own has none.

    `batch_articles` is what extraction made of the batch's pages (None: no article), `previous_next_urls` are the URLs that they named as
    their next pages before (`page_graph.replace_references`), `batch_members` those of the batch that are lists or articles.
    """
    graph = PageGraph(connection, batch_articles)
    ids = affected_pages(connection, graph, batch_articles, previous_next_urls)
    members_updated: set[int] = set()
    while True:
        while unprocessed_ids := ids - members_updated:
            flipped_pages = update_pattern_members(database, connection, graph, unprocessed_ids, batch_members)
            members_updated |= unprocessed_ids
            ids |= related_pages(connection, graph, flipped_pages)
        roles = {url_id: initial_role(graph, url_id) for url_id in sorted(ids) if graph.page_article(url_id)}
        superseded_ids = mark_alternate_versions(connection, roles, ids)
        added_ids = (
            related_pages(connection, graph, superseded_ids | dependent_pages(connection, roles, batch_articles)) - ids
        )
        if not added_ids:
            return roles
        ids |= added_ids


def affected_pages(
    connection: Connection,
    graph: PageGraph,
    batch_articles: Mapping[int, PageArticle | None],
    previous_next_urls: Iterable[str],
) -> set[int]:
    """The pages whose role may depend on pages of the batch: by what these name or named, and by what shows them."""
    ids = set(batch_articles) | {page for target in previous_next_urls for page in graph.pages_at_url(target)}
    return related_pages(connection, graph, ids | teasing_pages(connection, graph, batch_articles))


def related_pages(connection: Connection, graph: PageGraph, url_ids: Iterable[int]) -> set[int]:
    """The pages `url_ids`, and those that may belong to one article with them: what shows them, the pages of their
    chains, the pages that they name as canonical or that name them so, and the pages they were part of.
    """
    ids = set(url_ids)
    ids |= teasing_pages(connection, graph, ids)
    for url_id in tuple(ids):
        ids.update(following_pages(graph, url_id))
    for url_id in tuple(ids):
        ids.update(graph.referring_pages(url_id, CANONICAL_PAGE), graph.canonical_chain(url_id))
    for url_id in tuple(ids):
        ids.add(find_first_page(url_id, graph.previous_page) or url_id)
    ids.update(connection.scalars(select(article_parts.c.whole_id).where(article_parts.c.url_id.in_(ids))))
    return ids


def teasing_pages(connection: Connection, graph: PageGraph, url_ids: Iterable[int]) -> set[int]:
    """The pages that show one of these pages (docstore/page_roles/teasers.py)."""
    targets = {
        without_scheme(page_article.url): page_article.url_id
        for page_article in map(graph.page_article, url_ids)
        if page_article
    }
    teasing_ids: set[int] = set()
    for target in teased_urls(connection, targets):
        is_not_part_yet = is_not_part_of(targets[target])
        teasing_ids |= take_first(
            connection, teasing_pages_query(target), teasers.c.url_id, MAX_REFERRERS, is_not_part_yet
        )
    return teasing_ids


def update_pattern_members(
    database: Database,
    connection: Connection,
    graph: PageGraph,
    ids: Iterable[int],
    batch_members: Mapping[int, PatternMember],
) -> set[int]:
    """Keep what the pages `ids` are among their siblings; returns the pages that become lists by that, or are none any
    longer.
    """
    stored_members = load_members(connection, ids)
    current_members = {url_id: member for url_id, member in stored_members.items() if not graph.is_in_batch(url_id)} | {
        url_id: member for url_id, member in batch_members.items() if url_id in set(ids)
    }
    updated_members = {
        url_id: replace(member, is_list=member.evidence is ListEvidence.LIST or graph.teased_page(url_id) is not None)
        for url_id, member in current_members.items()
    }
    flipped_patterns = replace_members(database, connection, stored_members, updated_members)
    graph.clear_pattern_cache()
    return (
        take_first(connection, undeclared_pages_query(flipped_patterns), pattern_members.c.url_id, MAX_DEPENDENTS)
        if flipped_patterns
        else set()
    )


def following_pages(graph: PageGraph, url_id: int) -> list[int]:
    """The pages after a page in its chain, whichever article they belong to."""
    following_ids: list[int] = []
    current_id = graph.next_page(url_id)
    while current_id is not None and current_id not in following_ids and len(following_ids) < MAX_CHAIN_PAGES:
        following_ids.append(current_id)
        current_id = graph.next_page(current_id)
    return following_ids


def initial_role(graph: PageGraph, url_id: int) -> PageRole:
    """The role of a page by what pages name and show, before articles of the same text are compared."""
    page_article = graph.page_article(url_id)
    assert page_article is not None
    if list_page_role := list_role(graph, page_article):
        return list_page_role
    head = find_first_page(url_id, graph.previous_page)
    chain = [url_id] if head is None else follow_next_pages(head, graph.next_page, graph.previous_page)
    if head is not None and head != url_id:
        return part_of_role(page_article, head, Reason.CONTINUATION, page_url(graph, head))
    canonical = canonical_page(graph, url_id, chain)
    if canonical is not None:
        return part_of_role(page_article, canonical, Reason.ALTERNATE_VERSION, page_url(graph, canonical))
    pages = [page for page in map(graph.page_article, chain) if page]
    return PageRole(page_article, url_id, join_pages([page.article for page in pages]), len(pages))


def list_role(graph: PageGraph, page_article: PageArticle) -> PageRole | None:
    """The role of a page that is a list, because of what it shows or what its siblings are; None if it is none."""
    shown_id = graph.teased_page(page_article.url_id)
    if shown_id is not None:
        return part_of_role(
            page_article, shown_id, Reason.LIST_PAGE, f"its text is that of {page_url(graph, shown_id)}"
        )
    if not graph.is_in_list_pattern(page_article.url_id):
        return None
    return part_of_role(
        page_article,
        page_article.url_id,
        Reason.LIST_PAGE,
        f"nearly all pages like {url_pattern(page_article.url)} are lists",
    )


def canonical_page(graph: PageGraph, url_id: int, chain: list[int]) -> int | None:
    """The canonical page that this one is a double of; None if it is none. Of pages that name each other as canonical
    it is the first known.
    """
    targets = graph.canonical_chain(url_id)
    is_first_of_ring = url_id in targets and url_id == min(targets)
    return None if not targets or targets[0] in chain or is_first_of_ring else targets[0]


def part_of_role(page_article: PageArticle, main_url_id: int, reason: Reason, detail: str) -> PageRole:
    """The role of a page that is no article but part of the page `main_url_id`."""
    return PageRole(page_article, main_url_id, outcome=Outcome(reason, detail))


def page_url(graph: PageGraph, url_id: int) -> str:
    """The URL of a page that has an article of its own, else ""."""
    page_article = graph.page_article(url_id)
    return page_article.url if page_article else ""


def mark_alternate_versions(
    connection: Connection, roles: dict[int, PageRole], resolved_ids: AbstractSet[int]
) -> set[int]:
    """Of articles of a host with the same text keep the best candidate; the others in `roles` become its doubles.

    Pages in `resolved_ids` that are not in `roles` are no articles any more, whatever the store has of them. Returns the
    superseded articles outside of `roles`: they have to be resolved as well.
    """
    clusters: dict[tuple[str, int], list[CanonicalCandidate]] = {}
    for url_id, role in roles.items():
        if role.article is not None:
            candidate = CanonicalCandidate(url_id, role.page_article.url, role.article.canonical_url)
            clusters.setdefault((role.page_article.host, text_hash(role.article)), []).append(candidate)
    for key, candidate in stored_candidates(connection, clusters, resolved_ids):
        clusters[key].append(candidate)
    superseded_ids = set()
    for cluster in clusters.values():
        best = min(cluster, key=lambda candidate: candidate.sort_key)
        outranked_ids = {rival.url_id for rival in cluster if rival is not best and not rival.is_self_canonical}
        superseded_ids |= outranked_ids - roles.keys()
        for url_id in outranked_ids & roles.keys():
            roles[url_id] = part_of_role(roles[url_id].page_article, best.url_id, Reason.ALTERNATE_VERSION, best.url)
    return superseded_ids


def stored_candidates(
    connection: Connection, keys: Iterable[tuple[str, int]], resolved_ids: AbstractSet[int]
) -> list[tuple[tuple[str, int], CanonicalCandidate]]:
    """The articles in the store that have one of `keys` (host, text_key), without the pages `resolved_ids`."""
    requested_keys = set(keys)
    query = (
        select(articles.c.url_id, articles.c.text_key, articles.c.canonical_url, urls.c.url, urls.c.host)
        .join(urls, urls.c.url_id == articles.c.url_id)
        .where(articles.c.text_key.in_({text for _, text in requested_keys}))
    )
    return [
        ((row.host, row.text_key), CanonicalCandidate(row.url_id, row.url, row.canonical_url))
        for row in connection.execute(query)
        if (row.host, row.text_key) in requested_keys and row.url_id not in resolved_ids
    ]


def dependent_pages(
    connection: Connection, roles: Mapping[int, PageRole], batch_articles: Mapping[int, PageArticle | None]
) -> set[int]:
    """The parts of articles whose text or existence has changed: their roles may be others now."""
    ids = {*roles, *batch_articles}
    query = select(articles.c.url_id, articles.c.text_key).where(articles.c.url_id.in_(ids))
    hash_before = {row.url_id: row.text_key for row in connection.execute(query)}
    hash_now = {url_id: text_hash(role.article) for url_id, role in roles.items() if role.article}
    changed = {url_id for url_id in ids if url_id not in hash_now or hash_before.get(url_id) != hash_now[url_id]}
    part_ids = (
        select(article_parts.c.url_id).where(article_parts.c.whole_id.in_(changed)).order_by(article_parts.c.url_id)
    )
    return take_first(connection, part_ids, article_parts.c.url_id, MAX_DEPENDENTS)


def take_first(
    connection: Connection,
    url_ids: Select[int],
    column: Column[int],
    limit: int,
    rest_filter: ColumnElement[bool] | None = None,
) -> set[int]:
    """The first `limit` pages of a query that is in order of `column`. The others, or those of them for which `rest_filter`
    holds, are extracted again.
    """
    first = list(connection.scalars(url_ids.limit(limit)))
    if len(first) == limit:
        rest_query = url_ids.where(column > first[-1])
        mark_for_extraction(connection, rest_query if rest_filter is None else rest_query.where(rest_filter))
    return set(first)


def mark_for_extraction(connection: Connection, url_ids: Select[int]) -> None:
    """Let pages wait for extraction, which resolves their roles one batch at a time."""
    is_target = and_(outcomes.c.stage == Stage.EXTRACT, outcomes.c.url_id.in_(url_ids))
    connection.execute(update(outcomes).where(is_target).values(input=""))
