"""The graph of pages as one transaction sees it: next pages, canonical pages, and each page's own article.

Everything is read once and only when asked for; the pages of the present batch are read together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from docstore.articles.rows import article_of, article_of_json
from docstore.database import Database
from docstore.grouping.pagination import is_version_of, may_be_tied, without_scheme
from docstore.grouping.teasers import is_shown, renew_teasers, teasers_of
from docstore.grouping.url_patterns import is_among_lists
from docstore.model import Article, Teaser
from docstore.schema.article_tables import articles, parts, ties
from docstore.schema.crawl_tables import urls

NEXT = "next"
CANONICAL = "canonical"
MAX_REFERRERS = 200  # pages looked at that name the same page as their next or canonical one
NO_TEASER: tuple[str, list[str]] = ("", [])
MAX_CANONICAL_HOPS = 10  # from a page to its canonical page, to that one's canonical page ...


@dataclass(frozen=True)
class OwnArticle:
    """What extraction made of one page by itself, before pages are joined."""

    url_id: int
    url: str
    host: str
    article: Article
    teaser: Teaser | None = None  # of a page of the present batch


class PageGraph:
    """The pages around a batch. `fresh` is what extraction has just made of each of its pages; None: no article."""

    def __init__(self, connection: Connection, fresh: Mapping[int, OwnArticle | None]) -> None:
        self._connection = connection
        self._fresh = frozenset(fresh)
        self._own: dict[int, OwnArticle | None] = dict(fresh)
        self._ties: dict[int, dict[str, str]] = {}
        self._referrers: dict[str, dict[str, list[int]]] = {}
        self._pages_at: dict[str, list[int]] = {}
        self._among_lists: dict[int, bool] = {}
        self._teasers = dict.fromkeys(fresh, NO_TEASER) | teasers_of(connection, fresh)
        self._read_ties(list(fresh))
        self._read_referrers([without_scheme(own.url) for own in fresh.values() if own])

    def is_fresh(self, url_id: int) -> bool:
        """Is it a page of the present batch?"""
        return url_id in self._fresh

    def own(self, url_id: int) -> OwnArticle | None:
        """The page's own article, if it has one."""
        if url_id not in self._own:
            self._own[url_id] = read_own_article(self._connection, url_id)
        return self._own[url_id]

    def next_page(self, url_id: int) -> int | None:
        """The page that `url_id` names as its next; None where one of the two is a list: lists go on too."""
        found = next(iter(self.pages_at(self._named(url_id, NEXT), url_id)), None)
        return None if found is None or self.is_list(url_id) or self.is_list(found) else found

    def previous_page(self, url_id: int) -> int | None:
        """The page that names `url_id` as its next. Of several the one that names no other page as canonical,
        then the first known.
        """
        referrers = sorted(self.referrers(url_id, NEXT), key=lambda page: (bool(self._named(page, CANONICAL)), page))
        return next((page for page in referrers if self.own(page) and self.next_page(page) == url_id), None)

    def canonical_targets(self, url_id: int) -> list[int]:
        """The page that `url_id` names as canonical, the one that this one names, and so on, until one comes back."""
        found: list[int] = []
        here = url_id
        while len(found) < MAX_CANONICAL_HOPS:
            target = self._canonical_target(here)
            if target is None or target in found:
                break
            found.append(target)
            here = target
        return found

    def _canonical_target(self, url_id: int) -> int | None:
        mine = self.own(url_id)
        for page in self.pages_at(self._named(url_id, CANONICAL), url_id):
            other = self.own(page)
            if mine and other and is_version_of(mine.article, other.article) and not self.is_list(page):
                return page
        return None

    def is_list(self, url_id: int) -> bool:
        """Is a page with an article a list all the same: because it shows another page, or because of its siblings?"""
        return self.shown_page(url_id) is not None or self.is_among_lists(url_id)

    def is_among_lists(self, url_id: int) -> bool:
        """Does nothing vouch for the page, and are its siblings under one URL pattern lists?"""
        if url_id not in self._among_lists:
            self._among_lists[url_id] = is_among_lists(self._connection, url_id)
        return self._among_lists[url_id]

    def forget_siblings(self) -> None:
        """Read anew what is known of siblings: it has changed."""
        self._among_lists.clear()

    def shown_page(self, url_id: int) -> int | None:
        """The page whose text is all that `url_id` shows; None if that page shows another one in turn, so that pages
        which show each other are not lost together.
        """
        shown = self._shown_page(url_id)
        return shown if shown is not None and self._shown_page(shown) is None else None

    def _shown_page(self, url_id: int) -> int | None:
        if url_id not in self._teasers:
            self._teasers[url_id] = teasers_of(self._connection, [url_id]).get(url_id, NO_TEASER)
        target, lines = self._teasers[url_id]
        for page in self.pages_at(target, url_id):
            other = self.own(page)
            if other and is_shown(lines, other.article):
                return page
        return None

    def referrers(self, url_id: int, kind: str) -> list[int]:
        """The first MAX_REFERRERS pages that name `url_id` as their next or canonical page (`kind`)."""
        own = self.own(url_id)
        if own is None:
            return []
        target = without_scheme(own.url)
        if target not in self._referrers:
            self._read_referrers([target])
        return [page for page in self._referrers[target].get(kind, [])[:MAX_REFERRERS] if page != url_id]

    def pages_at(self, target: str, but: int = 0) -> list[int]:
        """The pages with an article at a URL without scheme, without the page `but`."""
        if not target:
            return []
        if target not in self._pages_at:
            both = (f"https://{target}", f"http://{target}")
            query = select(urls.c.url_id).where(urls.c.url.in_(both)).order_by(urls.c.url_id)
            self._pages_at[target] = list(self._connection.scalars(query))
        return [page for page in self._pages_at[target] if page != but and self.own(page)]

    def _named(self, url_id: int, kind: str) -> str:
        if url_id not in self._ties:
            self._read_ties([url_id])
        return self._ties[url_id].get(kind, "")

    def _read_ties(self, url_ids: Sequence[int]) -> None:
        self._ties |= {url_id: {} for url_id in url_ids}
        for row in self._connection.execute(select(ties).where(ties.c.url_id.in_(url_ids))):
            self._ties[row.url_id][row.kind] = row.target

    def _read_referrers(self, targets: Sequence[str]) -> None:
        self._referrers |= {target: {} for target in targets}
        query = select(ties).where(ties.c.target.in_(targets)).order_by(ties.c.url_id)
        for row in self._connection.execute(query):
            self._referrers[row.target].setdefault(row.kind, []).append(row.url_id)


def read_own_article(connection: Connection, url_id: int) -> OwnArticle | None:
    """A page's own article: the one in `parts`, or else the one in `articles`; None if it has none."""
    aside = select(parts.c.article, urls.c.url, urls.c.host).join(urls, urls.c.url_id == parts.c.url_id)
    kept = connection.execute(aside.where(parts.c.url_id == url_id)).first()
    if kept:
        return OwnArticle(url_id, kept.url, kept.host, article_of_json(kept.url, kept.article))
    here = select(articles, urls.c.url, urls.c.host).join(urls, urls.c.url_id == articles.c.url_id)
    row = connection.execute(here.where(articles.c.url_id == url_id)).first()
    return OwnArticle(url_id, row.url, row.host, article_of(row)) if row else None


def renew_ties(database: Database, connection: Connection, fresh: Mapping[int, OwnArticle | None]) -> list[str]:
    """Keep what the pages of a batch name now; returns the next pages (URLs without scheme) that they named before."""
    mine = ties.c.url_id.in_(list(fresh))
    before = list(connection.scalars(select(ties.c.target).where(mine, ties.c.kind == NEXT)))
    connection.execute(delete(ties).where(mine))
    rows = [row for own in fresh.values() if own for row in tie_rows(own)]
    database.upsert(connection, ties, rows)
    renew_teasers(database, connection, {url_id: own.teaser if own else None for url_id, own in fresh.items()})
    return before


def tie_rows(own: OwnArticle) -> Iterable[dict[str, object]]:
    """The `ties` rows of a page: the next and the canonical page that it names, where they are plausible."""
    named = {NEXT: own.article.next_url, CANONICAL: own.article.canonical_url}
    for kind, url in named.items():
        if may_be_tied(own.url, url):
            yield {"url_id": own.url_id, "kind": kind, "target": without_scheme(url)}
