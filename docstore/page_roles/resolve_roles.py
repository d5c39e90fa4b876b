"""The role of each page: article, continuation, alternate version or list.

    p1 -next-> p2 -next-> p3          pagination chain: one article at p1; p2 and p3 are continuations
    amp -canonical-> p1               alternate version of p1, if p1 is an article with the same content
    print (same title and body)       alternate version of p1, unless it declares itself canonical
    tag page below p1's headline      list, if p1 is an article with that text
    tag page among lists              list, unless it is a declared article

Only pages whose role a batch can change are resolved again, from each page's own article. The result depends only on
the known pages, never on their order of arrival.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from sqlalchemy import Column, ColumnElement, Connection, Select, and_, select, update

from docstore.articles.row_mapping import text_hash
from docstore.database import Database
from docstore.page_roles.page_graph import CANONICAL_PAGE, MAX_REFERRERS, PageArticle, PageGraph
from docstore.page_roles.teasers import teasing_pages_query
from docstore.page_roles.url_patterns import (
    ListEvidence,
    PatternMember,
    replace_members,
    undeclared_pages_query,
    url_pattern,
)
from docstore.schema.article_tables import article_parts, articles, pattern_members, teasers
from docstore.schema.crawl_tables import outcomes, urls
from domain.article import Article
from domain.message import Message
from domain.outcome import Outcome, Reason, Stage
from domain.pagination import MAX_CHAIN_PAGES, find_first_page, follow_next_pages, join_pages, without_scheme

MAX_DEPENDENTS = 2_000  # pages that one transaction resolves because of one change; the others are extracted again


@dataclass(frozen=True)
class PageRole:
    """The role of a page.

    Attributes:
        page_article: The page's own article.
        main_url_id: The page that represents this page; the page itself if it is an article.
        article: The article, joined of `page_count` pages; None if the page is not an article.
        outcome: Reason why the page is not an article (continuation, alternate version, list).
    """

    page_article: PageArticle
    main_url_id: int
    article: Article | None = None
    page_count: int = 1
    outcome: Outcome | None = None


@dataclass(frozen=True)
class CanonicalCandidate:
    """An article that may be the canonical one among the articles of a host with the same text."""

    url_id: int
    url: str
    canonical_url: str

    @property
    def is_self_canonical(self) -> bool:
        """True if the page declares itself canonical; then no other page supersedes it."""
        return without_scheme(self.canonical_url) == without_scheme(self.url)

    def sort_key(self, graph: PageGraph) -> tuple[bool, bool, bool, int, int]:
        """Order: self-canonical pages, those that others declare, those that declare none, the shortest URL.

        The first candidate is canonical.
        """
        is_declared = bool(graph.referring_pages(self.url_id, CANONICAL_PAGE))
        return not self.is_self_canonical, not is_declared, bool(self.canonical_url), len(self.url), self.url_id


def resolve_roles(
    database: Database,
    connection: Connection,
    batch_articles: Mapping[int, PageArticle | None],
    previous_next_urls: Iterable[str],
    batch_members: Mapping[int, PatternMember],
) -> dict[int, PageRole]:
    """Return the roles of the pages of a batch and of all pages that the batch affects, by url_id.

    Pages without their own article have no role.

    Args:
        database: The store.
        connection: Transaction of the batch.
        batch_articles: Article of each page of the batch by url_id; None for a page without an article.
        previous_next_urls: Next-page URLs of the batch stored before (`page_graph.replace_references`).
        batch_members: Pages of the batch that are lists or articles, by url_id.
    """
    graph = PageGraph(connection, batch_articles)
    ids = set(batch_articles) | {page for target in previous_next_urls for page in graph.pages_at_url(target)}
    ids = related_pages(connection, graph, ids | teasing_pages(connection, graph, batch_articles))
    members_updated: set[int] = set()
    while True:
        while unprocessed_ids := ids - members_updated:
            flipped_pages = update_pattern_members(database, connection, graph, unprocessed_ids, batch_members)
            members_updated |= unprocessed_ids
            ids |= related_pages(connection, graph, flipped_pages)
        roles = {url_id: initial_role(graph, url_id) for url_id in sorted(ids) if graph.page_article(url_id)}
        superseded_ids = mark_alternate_versions(connection, graph, roles, ids)
        added_ids = (
            related_pages(connection, graph, superseded_ids | dependent_pages(connection, roles, batch_articles)) - ids
        )
        if not added_ids:
            return roles
        ids |= added_ids


def related_pages(connection: Connection, graph: PageGraph, url_ids: Iterable[int]) -> set[int]:
    """Return `url_ids` and the pages that may belong to one article with them.

    These are pages that tease them, the pages of their pagination chains, pages with canonical references in either
    direction, and the main pages of which they were parts.
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
    """Return the pages that tease one of these pages (docstore/page_roles/teasers.py)."""
    targets = {
        without_scheme(page_article.url): page_article.url_id
        for page_article in map(graph.page_article, url_ids)
        if page_article
    }
    teasing_ids: set[int] = set()
    teased_targets = select(teasers.c.target).distinct().where(teasers.c.target.in_(list(targets)))
    for target in connection.scalars(teased_targets).all():
        part_ids = select(article_parts.c.url_id).where(article_parts.c.whole_id == targets[target])
        query, is_not_yet_part = teasing_pages_query(target), teasers.c.url_id.not_in(part_ids)
        teasing_ids |= load_first_pages(connection, query, teasers.c.url_id, MAX_REFERRERS, is_not_yet_part)
    return teasing_ids


def update_pattern_members(
    database: Database,
    connection: Connection,
    graph: PageGraph,
    ids: Iterable[int],
    batch_members: Mapping[int, PatternMember],
) -> set[int]:
    """Save the pages `ids` as members of their URL patterns.

    Returns the pages that become lists or articles because of it.
    """
    query = select(pattern_members).where(pattern_members.c.url_id.in_(list(ids)))
    stored_members = {
        row.url_id: PatternMember(row.url_id, row.pattern, ListEvidence(row.evidence), bool(row.is_list))
        for row in connection.execute(query)
    }
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
        load_first_pages(connection, undeclared_pages_query(flipped_patterns), pattern_members.c.url_id, MAX_DEPENDENTS)
        if flipped_patterns
        else set()
    )


def following_pages(graph: PageGraph, url_id: int) -> list[int]:
    """Return the pages after a page in its pagination chain, whichever article they belong to."""
    following_ids: list[int] = []
    current_id = graph.next_page(url_id)
    while current_id is not None and current_id not in following_ids and len(following_ids) < MAX_CHAIN_PAGES:
        following_ids.append(current_id)
        current_id = graph.next_page(current_id)
    return following_ids


def initial_role(graph: PageGraph, url_id: int) -> PageRole:
    """Return the role of a page by references and teasers, before articles with the same text are compared."""
    page_article = graph.page_article(url_id)
    assert page_article is not None  # noqa: S101 (for the type checker)
    if list_page_role := list_role(graph, page_article):
        return list_page_role
    head = find_first_page(url_id, graph.previous_page)
    chain = [url_id] if head is None else follow_next_pages(head, graph.next_page, graph.previous_page)
    if head is not None and head != url_id:
        return represented_page_role(page_article, head, Reason.CONTINUATION, page_url(graph, head))
    targets = graph.canonical_chain(url_id)
    # Of pages that reference each other, the one with the lowest id is canonical.
    is_first_of_ring = url_id in targets and url_id == min(targets)
    canonical = None if not targets or targets[0] in chain or is_first_of_ring else targets[0]
    if canonical is not None:
        return represented_page_role(page_article, canonical, Reason.ALTERNATE_VERSION, page_url(graph, canonical))
    pages = [page for page in map(graph.page_article, chain) if page]
    return PageRole(page_article, url_id, join_pages([page.article for page in pages]), len(pages))


def list_role(graph: PageGraph, page_article: PageArticle) -> PageRole | None:
    """Return the role of a page that is a list because of its teaser or its URL pattern; None if it is not a list."""
    shown_id = graph.teased_page(page_article.url_id)
    if shown_id is not None:
        shown_url = page_url(graph, shown_id)
        message = Message("Its text is that of {url}", url=shown_url)
        return represented_page_role(page_article, shown_id, Reason.LIST_PAGE, message)
    if not graph.is_in_list_pattern(page_article.url_id):
        return None
    pattern = url_pattern(page_article.url)
    message = Message("Nearly all pages like {pattern} are lists", pattern=pattern)
    return represented_page_role(page_article, page_article.url_id, Reason.LIST_PAGE, message)


def represented_page_role(page_article: PageArticle, main_url_id: int, reason: Reason, detail: str) -> PageRole:
    """Return the role of a page that is not an article and is represented by the page `main_url_id`."""
    return PageRole(page_article, main_url_id, outcome=Outcome(reason, detail))


def page_url(graph: PageGraph, url_id: int) -> str:
    """Return the URL of a page with its own article, otherwise ""."""
    page_article = graph.page_article(url_id)
    return page_article.url if page_article else ""


def mark_alternate_versions(
    connection: Connection, graph: PageGraph, roles: dict[int, PageRole], resolved_ids: AbstractSet[int]
) -> set[int]:
    """Retain the best candidate among articles of a host with the same text.

    The others in `roles` become alternate versions. Stored articles of pages in `resolved_ids` that have no role are
    ignored, because they are articles no longer.

    Returns:
        url_ids of superseded articles outside `roles`, which must be resolved too.
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
        best = min(cluster, key=lambda candidate: candidate.sort_key(graph))
        outranked_ids = {rival.url_id for rival in cluster if rival is not best and not rival.is_self_canonical}
        superseded_ids |= outranked_ids - roles.keys()
        for url_id in outranked_ids & roles.keys():
            roles[url_id] = represented_page_role(
                roles[url_id].page_article, best.url_id, Reason.ALTERNATE_VERSION, best.url
            )
    return superseded_ids


def stored_candidates(
    connection: Connection, keys: Iterable[tuple[str, int]], resolved_ids: AbstractSet[int]
) -> list[tuple[tuple[str, int], CanonicalCandidate]]:
    """Return the stored articles with one of `keys` (host, text hash), except the pages `resolved_ids`."""
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
    """Return the parts of articles whose text or existence changed. Their roles may change."""
    ids = {*roles, *batch_articles}
    query = select(articles.c.url_id, articles.c.text_key).where(articles.c.url_id.in_(ids))
    hash_before = {row.url_id: row.text_key for row in connection.execute(query)}
    hash_now = {url_id: text_hash(role.article) for url_id, role in roles.items() if role.article}
    changed_ids = {url_id for url_id in ids if url_id not in hash_now or hash_before.get(url_id) != hash_now[url_id]}
    part_ids = (
        select(article_parts.c.url_id).where(article_parts.c.whole_id.in_(changed_ids)).order_by(article_parts.c.url_id)
    )
    return load_first_pages(connection, part_ids, article_parts.c.url_id, MAX_DEPENDENTS)


def load_first_pages(
    connection: Connection,
    url_ids: Select[int],
    column: Column[int],
    limit: int,
    rest_filter: ColumnElement[bool] | None = None,
) -> set[int]:
    """Return the first `limit` pages of a query ordered by `column`, and mark the other pages for extraction.

    Args:
        connection: Transaction to read and write in.
        url_ids: Query for url_ids.
        column: The column by which the query is ordered.
        limit: Maximum number of pages to return.
        rest_filter: If set, mark only those other pages that meet this condition.
    """
    first_ids = list(connection.scalars(url_ids.limit(limit)))
    if len(first_ids) == limit:
        rest_query = url_ids.where(column > first_ids[-1])
        rest_ids = rest_query if rest_filter is None else rest_query.where(rest_filter)
        is_target = and_(outcomes.c.stage == Stage.EXTRACT, outcomes.c.url_id.in_(rest_ids))
        connection.execute(update(outcomes).where(is_target).values(input=""))
    return set(first_ids)
