"""Compression of the texts that programs before schema version 16 saved, some in each run.

The upgrade itself changes no row, so that it is quick. It notes the last article under PLAIN_TEXTS_KEY.
"""

from sqlalchemy import select, update

from docstore.bookkeeping import read_meta_int, write_meta
from docstore.database import StorePart
from docstore.schema.article_tables import articles

PLAIN_TEXTS_KEY = "plain_texts"  # articles with larger ids are compressed; see docstore/schema/migrations.py
MAX_ARTICLES_PER_RUN = 50_000  # less than a minute
BATCH_SIZE = 100


class TextCompression(StorePart):
    """Compress the texts of an older store (`store.text_compression`)."""

    def compress_texts(self, max_articles: int = MAX_ARTICLES_PER_RUN) -> int:
        """Compress the texts of up to `max_articles` articles, rounded up to batches.

        Texts stay equal, and so do the checksums of rows.

        Returns:
            The number of articles; 0 if all are compressed, and on PostgreSQL.
        """
        count = 0
        while count < max_articles and (batch_count := self._compress_next_batch()):
            count += batch_count
        return count

    def _compress_next_batch(self) -> int:
        with self._database.read() as connection:
            last_url_id = read_meta_int(connection, PLAIN_TEXTS_KEY)
        if self._database.is_shared or not last_url_id:
            return 0
        query = select(articles.c.url_id, articles.c.body, articles.c.blocks).where(articles.c.url_id <= last_url_id)
        with self._database.write() as connection:
            rows = connection.execute(query.order_by(articles.c.url_id.desc()).limit(BATCH_SIZE)).all()
            for row in rows:
                values = {"body": row.body, "blocks": row.blocks}
                connection.execute(update(articles).where(articles.c.url_id == row.url_id).values(values))
            write_meta(self._database, connection, PLAIN_TEXTS_KEY, rows[-1].url_id - 1 if rows else 0)
        return len(rows)
