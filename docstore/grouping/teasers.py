"""Pages whose text is another page's: lists that show an article, or its lead, below that article's headline.

A list page and its article come in any order and any night: what a page shows is kept, and decided once both are known.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, Select, delete, select

from docstore.articles.records import storable
from docstore.database import Database
from docstore.grouping.pagination import comparable, without_scheme
from docstore.model import Article, Teaser
from docstore.schema.article_tables import parts, teasers

LEAD_CHARACTERS = 40  # characters of a line that are compared: the lead on a list may be cut anywhere
MIN_SHARE = 0.5  # of the lines that a page shows below a headline stand in the text that the headline leads to


def renew_teasers(database: Database, connection: Connection, fresh: Mapping[int, Teaser | None]) -> None:
    """Keep what the pages of a batch (url_id -> teaser, None for none) show now."""
    connection.execute(delete(teasers).where(teasers.c.url_id.in_(list(fresh))))
    rows = [
        {
            "url_id": url_id,
            "target": without_scheme(teaser.url),
            "lines": json.dumps([storable(line) for line in teaser.lines], ensure_ascii=False),
        }
        for url_id, teaser in fresh.items()
        if teaser is not None
    ]
    database.upsert(connection, teasers, rows)


def is_shown(lines: Sequence[str], article: Article) -> bool:
    """Are the lines that a page shows the text of `article`?"""
    text = comparable(article.body)
    leads = [comparable(line)[:LEAD_CHARACTERS] for line in lines if line.strip()]
    return bool(leads) and sum(lead in text for lead in leads) >= MIN_SHARE * len(leads)


def shown_among(connection: Connection, targets: Iterable[str]) -> list[str]:
    """Those of the URLs (without scheme) that any page shows."""
    return list(connection.scalars(select(teasers.c.target).distinct().where(teasers.c.target.in_(list(targets)))))


def showing(target: str) -> Select[int]:
    """The pages that show the page at a URL (without scheme)."""
    return select(teasers.c.url_id).where(teasers.c.target == target).order_by(teasers.c.url_id)


def not_known_behind(url_id: int) -> ColumnElement[bool]:
    """Of pages that show another: it is not known yet that they are lists of it."""
    return teasers.c.url_id.not_in(select(parts.c.url_id).where(parts.c.whole_id == url_id))


def teasers_of(connection: Connection, url_ids: Iterable[int]) -> dict[int, tuple[str, list[str]]]:
    """What pages show: url_id -> target, lines."""
    query = select(teasers).where(teasers.c.url_id.in_(list(url_ids)))
    return {row.url_id: (row.target, json.loads(row.lines)) for row in connection.execute(query)}
