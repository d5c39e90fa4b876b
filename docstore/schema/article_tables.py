"""The tables of articles, near-duplicates, site templates, and the change log.

articles       the article of a page or pagination chain; `duplicate_of` groups copies, `series` similar articles
parts          a page's own article, if the stored article has another URL or is joined of several pages
ties           next-page and canonical URLs that pages reference
bands          keys of cluster leaders, to find copies and similar articles
key_parts, sealed_keys, sealed_leaders        the same for past months (docstore/near_duplicates/key_segments.py)
recognized_pages                              pages of documents that OCR has read
teasers        headlines that link to another page, with the text below them
page_kinds, url_patterns                      evidence of pages, and counts of lists by URL pattern
sites, site_pages, site_lines, site_tails     repeated text of the pages of a host
vectors        embedding vectors: one per article, one per passage
changes        the change log: entries that the indexer must process; deleted when done
indexed        state of each document in the index
"""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, LargeBinary, String, Table, Text

from docstore.schema.base import BigIntegerId, PackedText, metadata
from domain.article import ARTICLE_FIELDS

# Columns that are no text fields of `domain.article.Article`, after the field behind which they stand in the table.
# Row checksums depend on the order of the columns.
_OTHER_COLUMNS = {
    "method": (Column("digest", String(64), nullable=False), Column("extracted_at", Float, nullable=False)),
    "section": (Column("keywords", Text, nullable=False, server_default="[]"),),  # JSON list of strings
    "next_url": (
        Column("blocks", PackedText, nullable=False, server_default="[]"),  # JSON, see docstore/articles/row_mapping.py
        Column("signature", LargeBinary),  # little-endian 32-bit integers; NULL: the text is too short
        Column("text_key", BigInteger),  # text_hash64 of title and body; NULL until extracted again after an upgrade
        Column("duplicate_of", String(32), nullable=False, server_default=""),  # doc_id
        Column("series", String(32), nullable=False, server_default=""),  # "": not determined yet, or text too short
    ),
}
_FIELDS_OF_VERSION_1 = ("title", "body", "published", "date_source", "language", "method")  # without SQL default


def _article_columns() -> Iterator[Column[Any]]:
    """Yield a column for each text field of an article, and the other columns."""
    for name, article_field in ARTICLE_FIELDS.items():
        long_type = PackedText() if name == "body" else Text()
        sql_type = String(article_field.max_chars) if article_field.max_chars else long_type
        default = None if name in _FIELDS_OF_VERSION_1 else article_field.default
        yield Column(name, sql_type, nullable=False, server_default=default)
        yield from _OTHER_COLUMNS.get(name, ())


articles = Table(
    "articles",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("doc_id", String(32), nullable=False, unique=True),
    *_article_columns(),
    Column("citations", Integer, nullable=False, server_default="0"),  # number of citing sources
    Column("story", String(16), nullable=False, server_default=""),  # see docstore/articles/stories.py
    Index("articles_by_text", "text_key"),
    Index("articles_by_digest", "digest"),
    Index("articles_by_duplicate", "duplicate_of"),
    Index("articles_by_series", "series"),
)
COLUMNS_SET_BY_OTHER_ARTICLES = ("duplicate_of", "series", "citations", "story")
"""Columns of `articles` whose values depend on other articles."""

article_parts = Table(
    "parts",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column(
        "whole_id", BigInteger, nullable=False
    ),  # the page that represents this one; the page itself if it is the first of several
    Column("article", PackedText, nullable=False),  # JSON
    Index("parts_by_whole", "whole_id"),
)

page_references = Table(
    "ties",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("kind", String(16), primary_key=True),  # next or canonical
    Column("target", Text, nullable=False),  # a URL of the same site, without its scheme
    Index("ties_by_target", "target"),
)

recognized_pages = Table(
    "recognized_pages",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),  # of the page, from 1
    Column("digest", String(64), nullable=False),  # of the version of the document
    Column("width", Float, nullable=False),  # points
    Column("height", Float, nullable=False),
    Column("lines", PackedText, nullable=False),  # JSON: values of `domain.recognized_page.RecognizedLine`
    Column("at", Float, nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column(
        "digest", String(64), primary_key=True
    ),  # digest of articles: articles with the same visible text share vectors
    Column("model", String(64), primary_key=True),
    Column("passage", Integer, primary_key=True, autoincrement=False),  # 0: the title and the beginning of the body
    Column("start", Integer, nullable=False),  # offset of the passage in the body
    Column("end", Integer, nullable=False),
    Column(
        "vector", LargeBinary, nullable=False
    ),  # one byte per dimension, see text/embedding/embedder.py; empty: no text
)

teasers = Table(
    "teasers",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("target", Text, nullable=False),  # a URL of the same site, without its scheme
    Column("lines", Text, nullable=False),  # JSON list of strings
    Index("teasers_by_target", "target"),
)

pattern_members = Table(
    "page_kinds",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("pattern", BigInteger, nullable=False),  # text_hash64, see docstore/page_roles/url_patterns.py
    Column("evidence", Integer, nullable=False),  # `ListEvidence`: 0 list, 1 undeclared article, 2 declared article
    Column("is_list", Integer, nullable=False),  # 1: a list by its own evidence, or because its text is another page's
    Index("page_kinds_by_pattern", "pattern", "evidence"),
)

url_pattern_counts = Table(
    "url_patterns",
    metadata,
    Column("pattern", BigInteger, primary_key=True, autoincrement=False),
    Column("lists", Integer, nullable=False),
    Column("others", Integer, nullable=False),
)

near_duplicate_keys = Table(
    "bands",
    metadata,
    Column("band", BigInteger, primary_key=True, autoincrement=False),
    Column(
        "url_id",
        BigInteger,
        ForeignKey("articles.url_id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Index("bands_by_article", "url_id"),
)

key_segments = Table(
    "key_parts",
    metadata,
    Column("part", BigIntegerId, primary_key=True, autoincrement=True),
    Column("first_seal", BigInteger, nullable=False),
    Column("last_seal", BigInteger, nullable=False),
    Column("bits", Integer, nullable=False),  # the segment has 2^bits buckets
    Column("entries", BigInteger, nullable=False),
    Column("state", String(16), nullable=False),  # building, ready or dropped
    sqlite_autoincrement=True,
)

key_segment_buckets = Table(
    "sealed_keys",
    metadata,
    Column("part", BigInteger, primary_key=True, autoincrement=False),
    Column("bucket", BigInteger, primary_key=True, autoincrement=False),  # first bits of its keys
    Column("entries", LargeBinary, nullable=False),
)

sealed_leaders = Table(
    "sealed_leaders",
    metadata,
    Column(
        "url_id", BigIntegerId, ForeignKey("articles.url_id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    Column("seal", BigInteger, nullable=False),  # number (from 1) of the seal that contains its keys
)

site_page_counts = Table(
    "sites",
    metadata,
    Column("host", String(300), primary_key=True),
    Column("pages", Integer, nullable=False),
)

counted_site_pages = Table(
    "site_pages",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
)

site_lines = Table(
    "site_lines",
    metadata,
    Column("host", String(300), primary_key=True),
    Column("line", BigInteger, primary_key=True, autoincrement=False),  # text_hash64
    Column("pages", Integer, nullable=False),
)

site_title_suffixes = Table(
    "site_tails",
    metadata,
    Column("host", String(300), primary_key=True),
    Column("tail", String(200), primary_key=True),
    Column("pages", Integer, nullable=False),
)

index_changes = Table(
    "changes",
    metadata,
    Column("seq", BigIntegerId, primary_key=True, autoincrement=True),
    Column("url_id", BigInteger, nullable=False),
    Column("op", String(16), nullable=False),
    Column("at", Float, nullable=False),
    Index("changes_by_url", "url_id", "seq"),
    sqlite_autoincrement=True,  # sequence numbers are never reused, even after rows are deleted
)

indexed_documents = Table(
    "indexed",
    metadata,
    Column("url_id", BigInteger, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False),
    Column("lexicon_version", Integer, nullable=False),
    Column("indexed_at", Float, nullable=False),
)
