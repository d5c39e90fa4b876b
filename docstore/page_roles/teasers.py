"""Pages whose text belongs to another page.

They are lists that show an article, or its lead, below the headline of that article. A list and its article may be
crawled in either order. Teasers are stored, and resolved when both pages are known.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, Select, delete, select

from docstore.database import Database
from docstore.schema.article_tables import teasers
from domain.article import Article, Teaser
from domain.pagination import MAX_URL_BYTES, normalize_for_comparison, without_scheme
from domain.storable_text import sanitize_text

COMPARED_CHARS = 40  # characters of a line that are compared: a list may cut the lead anywhere
MIN_MATCHING_LINES_SHARE = 0.5  # share of the teaser's lines that the linked article must contain


def replace_teasers(database: Database, connection: Connection, batch_teasers: Mapping[int, Teaser | None]) -> None:
    """Replace the stored teasers of a batch: url_id -> teaser, None for no teaser."""
    connection.execute(delete(teasers).where(teasers.c.url_id.in_(list(batch_teasers))))
    rows = [
        {
            "url_id": url_id,
            "target": without_scheme(teaser.url),
            "lines": json.dumps([sanitize_text(line) for line in teaser.sample_lines], ensure_ascii=False),
        }
        for url_id, teaser in batch_teasers.items()
        if teaser is not None and len(teaser.url.encode("utf-8", "replace")) <= MAX_URL_BYTES
    ]
    database.insert_missing(connection, teasers, rows)


def shows_article(lines: Sequence[str], article: Article) -> bool:
    """True if the lines of a teaser are text of `article`."""
    text = normalize_for_comparison(article.body)
    line_starts = [normalize_for_comparison(line)[:COMPARED_CHARS] for line in lines if line.strip()]
    return bool(line_starts) and sum(lead in text for lead in line_starts) >= MIN_MATCHING_LINES_SHARE * len(
        line_starts
    )


def teasing_pages_query(target: str) -> Select[int]:
    """Query for the url_ids of pages with a teaser for a URL (without scheme)."""
    return select(teasers.c.url_id).where(teasers.c.target == target).order_by(teasers.c.url_id)


def load_teasers(connection: Connection, url_ids: Iterable[int]) -> dict[int, tuple[str, list[str]]]:
    """Return (target URL without scheme, lines) of the teasers of these pages, by url_id."""
    query = select(teasers).where(teasers.c.url_id.in_(list(url_ids)))
    return {row.url_id: (row.target, json.loads(row.lines)) for row in connection.execute(query)}
