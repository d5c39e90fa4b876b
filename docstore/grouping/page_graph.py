"""What pages say of each other, as one transaction sees it: next pages, originals, and each page's own article.

Everything is read once and only when asked for; the pages of the present batch are read together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from docstore.articles.rows import article_of, article_of_json
from docstore.database import Database
from docstore.grouping.pagination import address, is_alike, is_tie
from docstore.grouping.teasers import is_shown, renew_teasers, teasers_of
from docstore.grouping.url_patterns import is_among_lists
from docstore.model import Article, Teaser
from docstore.tables import articles, parts, ties, urls

NEXT = "next"
CANONICAL = "canonical"
RIVALS = 200  # of the pages that name the same next page or original, so many are looked at
NO_TEASER: tuple[str, list[str]] = ("", [])
HOPS = 10  # from a page to its original, to that one's original ...


@dataclass(frozen=True)
class Own:
    """What extraction made of one page by itself."""

    url_id: int
    url: str
    host: str
    article: Article
    teaser: Teaser | None = None  # of a page of the present batch


class PageGraph:
    """The pages around a batch. `fresh` is what extraction has just made of each of its pages; None: no article."""

    def __init__(self, connection: Connection, fresh: Mapping[int, Own | None]) -> None:
        self._connection = connection
        self._fresh = frozenset(fresh)
        self._own: dict[int, Own | None] = dict(fresh)
        self._ties: dict[int, dict[str, str]] = {}
        self._before: dict[str, dict[str, list[int]]] = {}
        self._at: dict[str, list[int]] = {}
        self._among_lists: dict[int, bool] = {}
        self._teasers = dict.fromkeys(fresh, NO_TEASER) | teasers_of(connection, fresh)
        self._read_ties(list(fresh))
        self._read_naming([address(own.url) for own in fresh.values() if own])

    def is_fresh(self, url_id: int) -> bool:
        """Is it a page of the present batch?"""
        return url_id in self._fresh

    def own(self, url_id: int) -> Own | None:
        """The page's own article, if it has one."""
        if url_id not in self._own:
            self._own[url_id] = read_own(self._connection, url_id)
        return self._own[url_id]

    def successor(self, url_id: int) -> int | None:
        """The page that `url_id` names as its next. Lists go on as well, and are no article."""
        found = next(iter(self.pages_at(self._tie(url_id, NEXT), url_id)), None)
        return None if found is None or self.is_list(url_id) or self.is_list(found) else found

    def predecessor(self, url_id: int) -> int | None:
        """The page that `url_id` is the next of: of several the first known, one that is its own original before
        another version of it.
        """
        rivals = sorted(self.naming(url_id, NEXT), key=lambda rival: (bool(self._tie(rival, CANONICAL)), rival))
        return next((r for r in rivals if self.own(r) and self.successor(r) == url_id), None)

    def originals(self, url_id: int) -> list[int]:
        """The page that `url_id` names as its original, that one's original, and so on, until one comes back."""
        found: list[int] = []
        here = url_id
        while len(found) < HOPS:
            original = self._original(here)
            if original is None or original in found:
                break
            found.append(original)
            here = original
        return found

    def _original(self, url_id: int) -> int | None:
        mine = self.own(url_id)
        for page in self.pages_at(self._tie(url_id, CANONICAL), url_id):
            other = self.own(page)
            if mine and other and is_alike(mine.article, other.article) and not self.is_list(page):
                return page
        return None

    def is_list(self, url_id: int) -> bool:
        """Is a page with an article a list all the same: for its text, or for its siblings?"""
        return self.shows(url_id) is not None or self.is_among_lists(url_id)

    def is_among_lists(self, url_id: int) -> bool:
        """Does nothing vouch for a page, and are its siblings lists?"""
        if url_id not in self._among_lists:
            self._among_lists[url_id] = is_among_lists(self._connection, url_id)
        return self._among_lists[url_id]

    def forget_siblings(self) -> None:
        """What is known of siblings has changed."""
        self._among_lists.clear()

    def shows(self, url_id: int) -> int | None:
        """The page whose text is all that a page shows, if that one does not show another's in turn: of pages that show
        each other none is lost.
        """
        shown = self._shown(url_id)
        return shown if shown is not None and self._shown(shown) is None else None

    def _shown(self, url_id: int) -> int | None:
        if url_id not in self._teasers:
            self._teasers[url_id] = teasers_of(self._connection, [url_id]).get(url_id, NO_TEASER)
        target, lines = self._teasers[url_id]
        for page in self.pages_at(target, url_id):
            other = self.own(page)
            if other and is_shown(lines, other.article):
                return page
        return None

    def naming(self, url_id: int, kind: str) -> list[int]:
        """The first RIVALS pages that name `url_id` as their next page or as their original."""
        own = self.own(url_id)
        if own is None:
            return []
        target = address(own.url)
        if target not in self._before:
            self._read_naming([target])
        return [page for page in self._before[target].get(kind, [])[:RIVALS] if page != url_id]

    def pages_at(self, target: str, but: int = 0) -> list[int]:
        """The pages with an article at a URL without scheme, `but` one."""
        if not target:
            return []
        if target not in self._at:
            both = (f"https://{target}", f"http://{target}")
            query = select(urls.c.url_id).where(urls.c.url.in_(both)).order_by(urls.c.url_id)
            self._at[target] = list(self._connection.scalars(query))
        return [page for page in self._at[target] if page != but and self.own(page)]

    def _tie(self, url_id: int, kind: str) -> str:
        if url_id not in self._ties:
            self._read_ties([url_id])
        return self._ties[url_id].get(kind, "")

    def _read_ties(self, url_ids: Sequence[int]) -> None:
        self._ties |= {url_id: {} for url_id in url_ids}
        for row in self._connection.execute(select(ties).where(ties.c.url_id.in_(url_ids))):
            self._ties[row.url_id][row.kind] = row.target

    def _read_naming(self, targets: Sequence[str]) -> None:
        self._before |= {target: {} for target in targets}
        query = select(ties).where(ties.c.target.in_(targets)).order_by(ties.c.url_id)
        for row in self._connection.execute(query):
            self._before[row.target].setdefault(row.kind, []).append(row.url_id)


def read_own(connection: Connection, url_id: int) -> Own | None:
    """A page's own article: the one kept aside, or else the one that it is in the store."""
    aside = select(parts.c.article, urls.c.url, urls.c.host).join(urls, urls.c.url_id == parts.c.url_id)
    kept = connection.execute(aside.where(parts.c.url_id == url_id)).first()
    if kept:
        return Own(url_id, kept.url, kept.host, article_of_json(kept.url, kept.article))
    here = select(articles, urls.c.url, urls.c.host).join(urls, urls.c.url_id == articles.c.url_id)
    row = connection.execute(here.where(articles.c.url_id == url_id)).first()
    return Own(url_id, row.url, row.host, article_of(row)) if row else None


def renew_ties(database: Database, connection: Connection, fresh: Mapping[int, Own | None]) -> list[str]:
    """Keep what the pages of a batch name now; returns the next pages that they named before."""
    mine = ties.c.url_id.in_(list(fresh))
    before = list(connection.scalars(select(ties.c.target).where(mine, ties.c.kind == NEXT)))
    connection.execute(delete(ties).where(mine))
    rows = [row for own in fresh.values() if own for row in tie_rows(own)]
    database.upsert(connection, ties, rows)
    renew_teasers(database, connection, {url_id: own.teaser if own else None for url_id, own in fresh.items()})
    return before


def tie_rows(own: Own) -> Iterable[dict[str, object]]:
    """The `ties` rows of a page: what it names that may belong to it."""
    named = {NEXT: own.article.next_url, CANONICAL: own.article.canonical_url}
    for kind, url in named.items():
        if is_tie(own.url, url):
            yield {"url_id": own.url_id, "kind": kind, "target": address(url)}
