"""Pages whose text is another page's: lists that show an article, or its lead, below that article's headline.

A list page and its article come in any order and any night: what a page shows is kept, and decided once both are known.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, Select, delete, select

from docstore.bookkeeping import sanitize_text
from docstore.database import Database
from docstore.model import Article, Teaser
from docstore.page_roles.pagination import normalize_for_comparison, without_scheme
from docstore.schema.article_tables import article_parts, teasers

COMPARED_CHARS = 40  # characters of a line that are compared: the lead on a list may be cut anywhere
MIN_MATCHING_LINES_SHARE = (
    0.5  # of the lines that a page shows below a headline stand in the text that the headline leads to
)


def replace_teasers(database: Database, connection: Connection, batch_teasers: Mapping[int, Teaser | None]) -> None:
    """Keep what the pages of a batch (url_id -> teaser, None for none) show now."""
    connection.execute(delete(teasers).where(teasers.c.url_id.in_(list(batch_teasers))))
    rows = [
        {
            "url_id": url_id,
            "target": without_scheme(teaser.url),
            "lines": json.dumps([sanitize_text(line) for line in teaser.sample_lines], ensure_ascii=False),
        }
        for url_id, teaser in batch_teasers.items()
        if teaser is not None
    ]
    database.upsert(connection, teasers, rows)


def shows_article(lines: Sequence[str], article: Article) -> bool:
    """Are the lines that a page shows the text of `article`?"""
    text = normalize_for_comparison(article.body)
    line_starts = [normalize_for_comparison(line)[:COMPARED_CHARS] for line in lines if line.strip()]
    return bool(line_starts) and sum(lead in text for lead in line_starts) >= MIN_MATCHING_LINES_SHARE * len(
        line_starts
    )


def teased_urls(connection: Connection, targets: Iterable[str]) -> list[str]:
    """Those of the URLs (without scheme) that any page shows."""
    return list(connection.scalars(select(teasers.c.target).distinct().where(teasers.c.target.in_(list(targets)))))


def teasing_pages_query(target: str) -> Select[int]:
    """The pages that show the page at a URL (without scheme)."""
    return select(teasers.c.url_id).where(teasers.c.target == target).order_by(teasers.c.url_id)


def is_not_part_of(url_id: int) -> ColumnElement[bool]:
    """Of pages that show another: it is not known yet that they are lists of it."""
    return teasers.c.url_id.not_in(select(article_parts.c.url_id).where(article_parts.c.whole_id == url_id))


def load_teasers(connection: Connection, url_ids: Iterable[int]) -> dict[int, tuple[str, list[str]]]:
    """What pages show: url_id -> target, lines."""
    query = select(teasers).where(teasers.c.url_id.in_(list(url_ids)))
    return {row.url_id: (row.target, json.loads(row.lines)) for row in connection.execute(query)}
