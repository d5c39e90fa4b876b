"""The graph of pages in one transaction: next pages, canonical pages, and each page's own article.

Rows are loaded on first use and cached. The pages of the current batch are loaded together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from docstore.articles.row_mapping import article_from_json, article_from_row
from docstore.database import Database
from docstore.page_roles.teasers import load_teasers, replace_teasers, shows_article
from docstore.page_roles.url_patterns import is_in_list_pattern
from docstore.schema.article_tables import article_parts, articles, page_references
from docstore.schema.crawl_tables import urls
from domain.article import Article, Teaser
from domain.pagination import can_reference, is_same_content, without_scheme

NEXT_PAGE = "next"
CANONICAL_PAGE = "canonical"
MAX_REFERRERS = 200  # referring pages to load per target page
NO_TEASER: tuple[str, list[str]] = ("", [])
MAX_CANONICAL_HOPS = 10  # length of a chain of canonical references


@dataclass(frozen=True)
class PageArticle:
    """The extracted article of one page, before pages are joined."""

    url_id: int
    url: str
    host: str
    article: Article
    teaser: Teaser | None = None  # only for pages of the current batch


class PageGraph:
    """The pages around a batch.

    `batch_articles` contains the extraction result of each page of the batch: url_id -> article, None if there is none.
    """

    def __init__(self, connection: Connection, batch_articles: Mapping[int, PageArticle | None]) -> None:
        self._connection = connection
        self._batch_ids = frozenset(batch_articles)
        self._page_articles: dict[int, PageArticle | None] = dict(batch_articles)
        self._references: dict[int, dict[str, str]] = {}
        self._referrers: dict[str, dict[str, list[int]]] = {}
        self._pages_by_url: dict[str, list[int]] = {}
        self._in_list_pattern: dict[int, bool] = {}
        self._teasers = dict.fromkeys(batch_articles, NO_TEASER) | load_teasers(connection, batch_articles)
        self._load_references(list(batch_articles))
        self._load_referrers(
            [without_scheme(page_article.url) for page_article in batch_articles.values() if page_article]
        )

    def is_in_batch(self, url_id: int) -> bool:
        """True if the page belongs to the current batch."""
        return url_id in self._batch_ids

    def page_article(self, url_id: int) -> PageArticle | None:
        """Return the page's own article, or None."""
        if url_id not in self._page_articles:
            self._page_articles[url_id] = load_page_article(self._connection, url_id)
        return self._page_articles[url_id]

    def next_page(self, url_id: int) -> int | None:
        """Return the page that `url_id` references as its next page; None if either page is a list."""
        next_id = next(iter(self.pages_at_url(self._referenced_url(url_id, NEXT_PAGE), url_id)), None)
        return None if next_id is None or self.is_list(url_id) or self.is_list(next_id) else next_id

    def previous_page(self, url_id: int) -> int | None:
        """Return the page that references `url_id` as its next page, or None.

        If there are several, pages without a canonical reference come first, then the page with the lowest id.
        """
        referrers = sorted(
            self.referring_pages(url_id, NEXT_PAGE),
            key=lambda page: (bool(self._referenced_url(page, CANONICAL_PAGE)), page),
        )
        return next((page for page in referrers if self.page_article(page) and self.next_page(page) == url_id), None)

    def canonical_chain(self, url_id: int) -> list[int]:
        """Follow canonical references from `url_id`. Stops before a page that is already in the chain."""
        target_ids: list[int] = []
        current_id = url_id
        while len(target_ids) < MAX_CANONICAL_HOPS:
            target = self._canonical_target(current_id)
            if target is None or target in target_ids:
                break
            target_ids.append(target)
            current_id = target
        return target_ids

    def _canonical_target(self, url_id: int) -> int | None:
        page_article = self.page_article(url_id)
        for page in self.pages_at_url(self._referenced_url(url_id, CANONICAL_PAGE), url_id):
            target_article = self.page_article(page)
            if (
                page_article
                and target_article
                and is_same_content(page_article.article, target_article.article)
                and not self.is_list(page)
            ):
                return page
        return None

    def is_list(self, url_id: int) -> bool:
        """True if a page with an article is a list after all.

        It teases another page, or nearly all pages of its URL pattern are lists.
        """
        return self.teased_page(url_id) is not None or self.is_in_list_pattern(url_id)

    def is_in_list_pattern(self, url_id: int) -> bool:
        """True if the page is not a declared article and nearly all pages of its URL pattern are lists."""
        if url_id not in self._in_list_pattern:
            self._in_list_pattern[url_id] = is_in_list_pattern(self._connection, url_id)
        return self._in_list_pattern[url_id]

    def clear_pattern_cache(self) -> None:
        """Discard the cached list patterns after their members changed."""
        self._in_list_pattern.clear()

    def teased_page(self, url_id: int) -> int | None:
        """Return the page whose text is the whole text of `url_id`, or None.

        Returns None if that page teases another page itself. Otherwise pages that tease each other would both become
        lists.
        """
        shown_id = self._find_teased_page(url_id)
        return shown_id if shown_id is not None and self._find_teased_page(shown_id) is None else None

    def _find_teased_page(self, url_id: int) -> int | None:
        if url_id not in self._teasers:
            self._teasers[url_id] = load_teasers(self._connection, [url_id]).get(url_id, NO_TEASER)
        target, lines = self._teasers[url_id]
        for page in self.pages_at_url(target, url_id):
            target_article = self.page_article(page)
            if target_article and shows_article(lines, target_article.article):
                return page
        return None

    def referring_pages(self, url_id: int, kind: str) -> list[int]:
        """Return the first MAX_REFERRERS pages that reference `url_id` as their next or canonical page (`kind`)."""
        page_article = self.page_article(url_id)
        if page_article is None:
            return []
        target = without_scheme(page_article.url)
        if target not in self._referrers:
            self._load_referrers([target])
        return [page for page in self._referrers[target].get(kind, [])[:MAX_REFERRERS] if page != url_id]

    def pages_at_url(self, target: str, excluded_id: int = 0) -> list[int]:
        """Return the pages with an article at a URL without scheme, except `excluded_id`."""
        if not target:
            return []
        if target not in self._pages_by_url:
            url_variants = (f"https://{target}", f"http://{target}")
            query = select(urls.c.url_id).where(urls.c.url.in_(url_variants)).order_by(urls.c.url_id)
            self._pages_by_url[target] = list(self._connection.scalars(query))
        return [page for page in self._pages_by_url[target] if page != excluded_id and self.page_article(page)]

    def _referenced_url(self, url_id: int, kind: str) -> str:
        if url_id not in self._references:
            self._load_references([url_id])
        return self._references[url_id].get(kind, "")

    def _load_references(self, url_ids: Sequence[int]) -> None:
        self._references |= {url_id: {} for url_id in url_ids}
        for row in self._connection.execute(select(page_references).where(page_references.c.url_id.in_(url_ids))):
            self._references[row.url_id][row.kind] = row.target

    def _load_referrers(self, targets: Sequence[str]) -> None:
        self._referrers |= {target: {} for target in targets}
        query = select(page_references).where(page_references.c.target.in_(targets)).order_by(page_references.c.url_id)
        for row in self._connection.execute(query):
            self._referrers[row.target].setdefault(row.kind, []).append(row.url_id)


def load_page_article(connection: Connection, url_id: int) -> PageArticle | None:
    """Load a page's own article from `article_parts`, otherwise from `articles`; None if it has none."""
    part_query = select(article_parts.c.article, urls.c.url, urls.c.host).join(
        urls, urls.c.url_id == article_parts.c.url_id
    )
    part_row = connection.execute(part_query.where(article_parts.c.url_id == url_id)).first()
    if part_row:
        return PageArticle(url_id, part_row.url, part_row.host, article_from_json(part_row.url, part_row.article))
    article_query = select(articles, urls.c.url, urls.c.host).join(urls, urls.c.url_id == articles.c.url_id)
    row = connection.execute(article_query.where(articles.c.url_id == url_id)).first()
    return PageArticle(url_id, row.url, row.host, article_from_row(row)) if row else None


def replace_references(
    database: Database, connection: Connection, batch_articles: Mapping[int, PageArticle | None]
) -> list[str]:
    """Replace the stored references and teasers of a batch.

    Returns the next-page URLs (without scheme) stored before.
    """
    is_in_batch = page_references.c.url_id.in_(list(batch_articles))
    previous_next_urls = list(
        connection.scalars(select(page_references.c.target).where(is_in_batch, page_references.c.kind == NEXT_PAGE))
    )
    connection.execute(delete(page_references).where(is_in_batch))
    rows = [row for page_article in batch_articles.values() if page_article for row in reference_rows(page_article)]
    database.insert_missing(connection, page_references, rows)
    replace_teasers(
        database,
        connection,
        {url_id: page_article.teaser if page_article else None for url_id, page_article in batch_articles.items()},
    )
    return previous_next_urls


def reference_rows(page_article: PageArticle) -> Iterable[dict[str, object]]:
    """Return the `page_references` rows of a page: its next and canonical page, if they are plausible."""
    referenced_urls = {NEXT_PAGE: page_article.article.next_url, CANONICAL_PAGE: page_article.article.canonical_url}
    for kind, url in referenced_urls.items():
        if can_reference(page_article.url, url):
            yield {"url_id": page_article.url_id, "kind": kind, "target": without_scheme(url)}
