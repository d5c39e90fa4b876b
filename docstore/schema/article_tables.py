"""The tables of articles: what pages became, what a site's pages have in common, what the index has still to do.

articles  the article that a page (or a chain of pages) became; `duplicate_of` groups copies, `series` what is similar
parts     what a page is by itself, where the article is kept under another URL or joined of several pages
ties      URLs that a page names as the next page of its article, or as its original
bands     keys of those articles that copies and similar ones are looked for among
key_parts, sealed_keys, sealed_leaders   the same of past months, packed (docstore/near_duplicates/key_segments.py)
teasers   what a page shows of another one below that one's headline
page_kinds, url_patterns   is a page a list by itself, and how many of its siblings under one pattern of URLs are
sites, site_pages, site_lines, site_tails   what the pages of a host have in common
vectors   what a model of meaning made of a text: one vector of the article, one a passage
changes   the change log: what the indexer has still to do, in order; a row is deleted when it is done
indexed   what the index holds of a URL, and by which lexicon it was segmented
"""

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, LargeBinary, String, Table, Text

from docstore.schema.base import BigIntegerId, metadata

articles = Table(
    "articles",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("doc_id", String(32), nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("published", String(10), nullable=False),
    Column("date_source", String(16), nullable=False),
    Column("language", String(16), nullable=False),
    Column("method", String(32), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("extracted_at", Float, nullable=False),
    Column("published_at", Text, nullable=False, server_default=""),
    Column("modified", Text, nullable=False, server_default=""),
    Column("author", Text, nullable=False, server_default=""),
    Column("source", Text, nullable=False, server_default=""),
    Column("section", Text, nullable=False, server_default=""),
    Column("keywords", Text, nullable=False, server_default="[]"),  # JSON list of strings
    Column("picture", Text, nullable=False, server_default=""),
    Column("canonical_url", Text, nullable=False, server_default=""),
    Column("next_url", Text, nullable=False, server_default=""),
    Column("blocks", Text, nullable=False, server_default="[]"),  # JSON, see docstore/articles/row_mapping.py
    Column("signature", LargeBinary),  # little-endian 32-bit numbers; NULL: a text too short for one
    Column("text_key", BigInteger),  # line_hash of title and body; NULL until extracted again after an upgrade
    Column("duplicate_of", String(32), nullable=False, server_default=""),  # doc_id
    Column("series", String(32), nullable=False, server_default=""),  # "": not told yet, or too short a text
    Column("page_type", String(16), nullable=False, server_default=""),  # "": not told yet
    Column("format", String(16), nullable=False, server_default="html"),
    Column("citations", Integer, nullable=False, server_default="0"),  # by how many others it is cited
    Column("story", String(16), nullable=False, server_default=""),  # see docstore/articles/stories.py
    Index("articles_by_text", "text_key"),
    Index("articles_by_digest", "digest"),
    Index("articles_by_duplicate", "duplicate_of"),
    Index("articles_by_series", "series"),
)

article_parts = Table(
    "parts",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("whole_id", BigInteger, nullable=False),  # the page that stands for this one; itself: the first of several
    Column("article", Text, nullable=False),  # JSON
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

vectors = Table(
    "vectors",
    metadata,
    Column("digest", String(64), primary_key=True),  # of articles: those that a reader sees alike share theirs
    Column("model", String(64), primary_key=True),
    Column("passage", Integer, primary_key=True, autoincrement=False),  # 0: the title and the beginning of the body
    Column("start", Integer, nullable=False),  # the passage's characters of the body
    Column("end", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),  # a byte a dimension, see text/embedding/embedder.py; empty: no text
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
    Column("pattern", BigInteger, nullable=False),  # line_hash, see docstore/page_roles/url_patterns.py
    Column(
        "evidence", Integer, nullable=False
    ),  # of the page by itself: 0 a list, 1 an article, 2 one that is vouched for
    Column("is_list", Integer, nullable=False),  # 1 where it is, by itself or because its text is another page's
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
    Column("bits", Integer, nullable=False),  # it has two to the power of so many buckets
    Column("entries", BigInteger, nullable=False),
    Column("state", String(16), nullable=False),  # building, ready or dropped
    sqlite_autoincrement=True,
)

key_segment_buckets = Table(
    "sealed_keys",
    metadata,
    Column("part", BigInteger, primary_key=True, autoincrement=False),
    Column("bucket", BigInteger, primary_key=True, autoincrement=False),  # the first bits of its keys
    Column("entries", LargeBinary, nullable=False),
)

sealed_leaders = Table(
    "sealed_leaders",
    metadata,
    Column(
        "url_id", BigIntegerId, ForeignKey("articles.url_id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    Column("seal", BigInteger, nullable=False),  # which of all seals, counted from 1, holds its keys
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
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),  # counted
)

site_lines = Table(
    "site_lines",
    metadata,
    Column("host", String(300), primary_key=True),
    Column("line", BigInteger, primary_key=True, autoincrement=False),  # line_hash
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
    sqlite_autoincrement=True,  # a sequence number is never given twice, even after rows are deleted
)

indexed_documents = Table(
    "indexed",
    metadata,
    Column("url_id", BigInteger, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False),
    Column("lexicon_version", Integer, nullable=False),
    Column("indexed_at", Float, nullable=False),
)
