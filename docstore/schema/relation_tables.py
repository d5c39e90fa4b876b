"""The tables of relations between articles.

citing, citations, cited_names   citation keys of articles (docstore/articles/citations.py)
uncounted                        citation keys that changed since the last count
news, news_keys                  dated articles and their distinctive words (docstore/articles/stories.py)
glosses                          bilingual term pairs in articles (docstore/terms/glosses.py)
"""

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, String, Table

from docstore.schema.base import PackedText, metadata

article_citation_sources = Table(
    "citing",
    metadata,
    Column(
        "url_id", BigInteger, primary_key=True, autoincrement=False
    ),  # not a foreign key: the row outlives the article until the next update
    Column("digest", String(64), nullable=False),  # of the article when it was read
    Column("cluster", String(32), nullable=False),  # doc_id
    Column("voice", BigInteger, nullable=False),  # text_hash64; equal for copies and for the parts of a work
    Column("host", String(300), nullable=False),
)

article_cited_keys = Table(
    "citations",
    metadata,
    Column("url_id", BigInteger, primary_key=True, autoincrement=False),
    Column("key", BigInteger, primary_key=True, autoincrement=False),  # text_hash64, see indexer/citation_keys.py
    Index("citations_by_key", "key"),
)

article_own_keys = Table(
    "cited_names",
    metadata,
    Column("url_id", BigInteger, primary_key=True, autoincrement=False),
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Index("cited_names_by_key", "key"),
)

stale_citation_keys = Table(
    "uncounted",
    metadata,
    Column("key", BigInteger, primary_key=True, autoincrement=False),
)

news_items = Table(
    "news",
    metadata,
    Column("url_id", BigInteger, primary_key=True, autoincrement=False),
    Column("doc_id", String(32), nullable=False),
    Column("host", String(300), nullable=False),
    Column("day", Integer, nullable=False),  # day of publication, counted from 0001-01-01
    Column("words", PackedText, nullable=False),  # JSON: word -> weight
    Column("vector", LargeBinary, nullable=False),
    Column("story", String(16), nullable=False),
    Index("news_by_story", "story"),
)

news_item_keys = Table(
    "news_keys",
    metadata,
    Column("key", BigInteger, primary_key=True, autoincrement=False),  # text_hash64 of a word
    Column("url_id", BigInteger, primary_key=True, autoincrement=False),
    Column("day", Integer, nullable=False),
    Index("news_keys_by_day", "key", "day"),
    Index("news_keys_by_article", "url_id"),
)

glosses = Table(
    "glosses",
    metadata,
    Column("url_id", BigInteger, primary_key=True, autoincrement=False),
    Column("han", String(40), primary_key=True),
    Column("latin", String(200), primary_key=True),
    Column("han_whole", Integer, nullable=False),  # 1: the Chinese side is a complete term, 0: the Latin side is
)
