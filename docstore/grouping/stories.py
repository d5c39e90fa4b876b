"""Stories: news of one event, told by several sites within days.

An article joins the story of the article that is most like it, within `DAYS`, or begins one together with it, if both
are of different sites; so a story has two sites at least. What is a copy stands behind its original and begins nothing.
A story keeps its id, which is made of the article that it began with, and never becomes part of another one.

An article is compared with those alone that share words with it that few have, so what it costs does not grow with the
store. Whether two tell of the same event, whoever calls decides (`Same`).
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, update

from docstore.articles.records import Op, write_changes
from docstore.database import Database
from docstore.model import line_hash
from docstore.schema.article_tables import articles
from docstore.schema.relation_tables import news, news_keys

DAYS = 3  # between two articles that are taken for news of one event
MAX_SPAN = 14  # days that a story lasts
MIN_SHARED = 2  # keys that two articles share before they are compared
MAX_COMPARED = 20


@dataclass(frozen=True)
class NewsItem:
    """An article as stories see it: `day` is that of publication, counted from 0001-01-01; `words` are
    those that tell of its event, with their weights, `keys` the most telling ones; `vector` is int8 bytes, or none.
    """

    url_id: int
    doc_id: str
    host: str
    day: int
    words: Mapping[str, float]
    keys: Sequence[str] = ()
    vector: bytes = b""


Same = Callable[[NewsItem, NewsItem], float]
"""How surely two articles tell of the same event; 0 where they do not."""


class StoryTable:
    """`store.stories`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def assign(self, items: Sequence[NewsItem], gone: Iterable[int], same: Same, now: float) -> int:
        """Find the stories of new or changed articles; `gone` are no news (any more). What of other articles changes is
        put into the change log; returns how many those are.
        """
        with self._database.write() as connection:
            left = _forget(connection, [*(item.url_id for item in items), *gone])
            self._insert(connection, items)
            moved: set[int] = set()
            for item in items:
                if item.url_id not in moved:
                    moved |= _place(connection, item, left.get(item.url_id, ""), same)
            moved |= _dissolve(connection, set(left.values()))
            others = sorted(moved - {item.url_id for item in items})
            write_changes(connection, Op.UPSERT, others, now)
            return len(others)

    def _insert(self, connection: Connection, items: Sequence[NewsItem]) -> None:
        rows = [
            {"url_id": one.url_id, "doc_id": one.doc_id, "host": one.host, "day": one.day, "vector": one.vector}
            | {"words": json.dumps(one.words), "story": ""}
            for one in items
        ]
        keys = [{"key": line_hash(key), "url_id": one.url_id, "day": one.day} for one in items for key in one.keys]
        self._database.upsert(connection, news, rows)
        self._database.upsert(connection, news_keys, keys)


def _place(connection: Connection, item: NewsItem, before: str, same: Same) -> set[int]:
    """Find the story of an article that has none; returns the articles whose story is another now."""
    near = [(same(item, other), other, story) for other, story in _near(connection, item)]
    found = sorted((one for one in near if one[0]), key=lambda one: (one[2] != before, -one[0], one[1].url_id))
    for story in (story for _, _, story in found if story):
        if _lasts(connection, story, item.day):
            return _set(connection, story, [item.url_id])
    for other in (other for _, other, story in found if not story and other.host != item.host):
        first = min(item, other, key=lambda one: (one.day, one.url_id))
        return _set(connection, story_id(first.doc_id), [item.url_id, other.url_id])
    return set()


def story_id(doc_id: str) -> str:
    """The id of the story that began with this article: 16 hex digits."""
    return hashlib.sha256(f"story {doc_id}".encode()).hexdigest()[:16]


def _near(connection: Connection, item: NewsItem) -> list[tuple[NewsItem, str]]:
    """The articles within the days that share most keys with this one, each with its story."""
    query = (
        select(news_keys.c.url_id)
        .where(news_keys.c.key.in_([line_hash(key) for key in item.keys]), news_keys.c.url_id != item.url_id)
        .where(news_keys.c.day.between(item.day - DAYS, item.day + DAYS))
        .group_by(news_keys.c.url_id)
        .having(func.count() >= MIN_SHARED)
        .order_by(func.count().desc(), news_keys.c.url_id)
    )
    likely = list(connection.scalars(query.limit(MAX_COMPARED)))
    rows = connection.execute(select(news).where(news.c.url_id.in_(likely))) if likely else ()
    return [
        (NewsItem(row.url_id, row.doc_id, row.host, row.day, json.loads(row.words), (), row.vector), row.story)
        for row in rows
    ]


def _lasts(connection: Connection, story: str, day: int) -> bool:
    days = [*connection.scalars(select(news.c.day).where(news.c.story == story)), day]
    return bool(max(days) - min(days) <= MAX_SPAN)


def _set(connection: Connection, story: str, url_ids: Sequence[int]) -> set[int]:
    for table in (news, articles):
        connection.execute(update(table).where(table.c.url_id.in_(url_ids)).values(story=story))
    return set(url_ids)


def _forget(connection: Connection, url_ids: Sequence[int]) -> Mapping[int, str]:
    """Forget these articles; returns the stories that they were in."""
    mine = news.c.url_id.in_(url_ids)
    query = select(news.c.url_id, news.c.story).where(mine, news.c.story > "")
    left = {row.url_id: row.story for row in connection.execute(query)}
    connection.execute(delete(news).where(mine))
    connection.execute(delete(news_keys).where(news_keys.c.url_id.in_(url_ids)))
    connection.execute(update(articles).where(articles.c.url_id.in_(list(left))).values(story=""))
    return left


def _dissolve(connection: Connection, stories: Iterable[str]) -> set[int]:
    """Take apart those of these stories that one site alone tells any more; returns the articles that were in them."""
    moved: set[int] = set()
    for story in stories:
        rows = connection.execute(select(news.c.url_id, news.c.host).where(news.c.story == story)).all()
        if len({row.host for row in rows}) == 1:
            moved |= _set(connection, "", [row.url_id for row in rows])
    return moved
