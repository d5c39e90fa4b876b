"""Stories: news of one event, reported by several sites within a few days.

An article joins the story of the most similar article within `MAX_DAYS_APART`. If that article has no story and is from
another site, the two start a new story. A story therefore has at least two sites. Copies of an article do not start
stories. The id of a story is derived from its first article and never changes; stories are not merged.

An article is only compared with articles that share rare words with it, so the cost does not grow with the store. The
caller decides how similar two events are (`EventSimilarity`).
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Connection, delete, func, select, update

from docstore.bookkeeping import log_index_changes
from docstore.database import StorePart
from docstore.schema.article_tables import articles
from docstore.schema.relation_tables import news_item_keys, news_items
from domain.article import text_hash64
from domain.article_relations import EventSimilarity, NewsItem
from domain.index_change import IndexOperation

MAX_DAYS_APART = 3  # between two articles on one event
MAX_STORY_DAYS = 14  # between the first and the last article of a story
MIN_SHARED_KEYS = 2  # common keys of two articles before they are compared
MAX_CANDIDATES = 20


class StoryTable(StorePart):
    """Assign articles to stories (`store.stories`)."""

    def assign(
        self, items: Sequence[NewsItem], removed_ids: Iterable[int], event_similarity: EventSimilarity, now: float
    ) -> set[int]:
        """Assign new or changed articles to stories. Returns the url_ids of all articles whose story changed.

        Those that are not new or changed themselves are added to the change log.

        Args:
            items: New or changed news articles.
            removed_ids: url_ids of articles that are not, or no longer, news.
            event_similarity: Confidence that two articles report the same event.
            now: Epoch seconds.
        """
        with self._database.write() as connection:
            url_ids = [*(item.url_id for item in items), *removed_ids]
            is_removed = news_items.c.url_id.in_(url_ids)
            query = select(news_items.c.url_id, news_items.c.story).where(is_removed, news_items.c.story > "")
            previous_stories = {row.url_id: row.story for row in connection.execute(query)}
            connection.execute(delete(news_items).where(is_removed))
            connection.execute(delete(news_item_keys).where(news_item_keys.c.url_id.in_(url_ids)))
            connection.execute(update(articles).where(articles.c.url_id.in_(list(previous_stories))).values(story=""))
            self._insert(connection, items)
            changed_ids: set[int] = set()
            for item, candidate_ids in _find_candidates(connection, items):
                if item.url_id not in changed_ids:
                    previous_story = previous_stories.get(item.url_id, "")
                    changed_ids |= _assign_story(connection, item, candidate_ids, previous_story, event_similarity)
            changed_ids |= _dissolve_single_site_stories(connection, set(previous_stories.values()))
            log_index_changes(connection, IndexOperation.UPSERT, sorted(changed_ids.difference(url_ids)), now)
            return changed_ids | previous_stories.keys()

    def _insert(self, connection: Connection, items: Sequence[NewsItem]) -> None:
        rows = [
            {
                "url_id": item.url_id,
                "doc_id": item.doc_id,
                "host": item.host,
                "day": item.ordinal_day,
                "vector": item.vector,
            }
            | {"words": json.dumps(item.word_weights), "story": ""}
            for item in items
        ]
        keys = [
            {"key": text_hash64(key), "url_id": item.url_id, "day": item.ordinal_day}
            for item in items
            for key in item.keys
        ]
        self._database.insert_missing(connection, news_items, rows)
        self._database.insert_missing(connection, news_item_keys, keys)


def _assign_story(
    connection: Connection,
    item: NewsItem,
    candidate_ids: Sequence[int],
    previous_story: str,
    event_similarity: EventSimilarity,
) -> set[int]:
    """Assign an article without a story. Returns the url_ids of all articles whose story changed."""
    candidates = []
    if candidate_ids:
        for row in connection.execute(select(news_items).where(news_items.c.url_id.in_(candidate_ids))):
            other = NewsItem(row.url_id, row.doc_id, row.host, row.day, json.loads(row.words), (), row.vector)
            candidates.append((event_similarity(item, other), other, row.story))
    ranked_candidates = sorted(
        (candidate for candidate in candidates if candidate[0]),
        key=lambda candidate: (candidate[2] != previous_story, -candidate[0], candidate[1].url_id),
    )
    for story in (story for _, _, story in ranked_candidates if story):
        if _fits_in_story(connection, story, item.ordinal_day):
            return _set_story(connection, story, [item.url_id])
    for other in (other for _, other, story in ranked_candidates if not story and other.host != item.host):
        first_item = min(item, other, key=lambda candidate: (candidate.ordinal_day, candidate.url_id))
        return _set_story(connection, story_id(first_item.doc_id), [item.url_id, other.url_id])
    return set()


def story_id(doc_id: str) -> str:
    """Return the id of the story that began with this article: 16 hex digits."""
    return hashlib.sha256(f"story {doc_id}".encode()).hexdigest()[:16]


def _find_candidates(connection: Connection, items: Sequence[NewsItem]) -> Iterator[tuple[NewsItem, list[int]]]:
    """Yield each item with the articles within `MAX_DAYS_APART` that share the most keys with it."""
    key, similar_key = news_item_keys.alias("k1"), news_item_keys.alias("k2")
    item_id, candidate_id, days = (
        key.c.url_id,
        similar_key.c.url_id,
        (key.c.day - MAX_DAYS_APART, key.c.day + MAX_DAYS_APART),
    )
    rank = func.row_number().over(partition_by=item_id, order_by=(func.count().desc(), candidate_id))
    ranking = (
        select(item_id.label("item_id"), candidate_id.label("candidate_id"), rank.label("rank"))
        .join(similar_key, (similar_key.c.key == key.c.key) & similar_key.c.day.between(*days))
        .where(item_id.in_([item.url_id for item in items]), candidate_id != item_id)
        .group_by(item_id, candidate_id)
        .having(func.count() >= MIN_SHARED_KEYS)
        .subquery()
    )
    candidates_by_item = defaultdict[int, list[int]](list)
    for row in connection.execute(select(ranking).where(ranking.c.rank <= MAX_CANDIDATES)):
        candidates_by_item[row.item_id].append(row.candidate_id)
    return ((item, candidates_by_item[item.url_id]) for item in items)


def _fits_in_story(connection: Connection, story: str, day: int) -> bool:
    days = [*connection.scalars(select(news_items.c.day).where(news_items.c.story == story)), day]
    return bool(max(days) - min(days) <= MAX_STORY_DAYS)


def _set_story(connection: Connection, story: str, url_ids: Sequence[int]) -> set[int]:
    for table in (news_items, articles):
        connection.execute(update(table).where(table.c.url_id.in_(url_ids)).values(story=story))
    return set(url_ids)


def _dissolve_single_site_stories(connection: Connection, stories: Iterable[str]) -> set[int]:
    """Dissolve stories that only one site still reports. Returns the url_ids of their articles."""
    changed_ids: set[int] = set()
    for story in stories:
        rows = connection.execute(
            select(news_items.c.url_id, news_items.c.host).where(news_items.c.story == story)
        ).all()
        if len({row.host for row in rows}) == 1:
            changed_ids |= _set_story(connection, "", [row.url_id for row in rows])
    return changed_ids
