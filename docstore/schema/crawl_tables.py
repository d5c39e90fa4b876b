"""The tables of the crawl.

urls             the frontier: one row per accepted URL; `due_at` is the time of the next visit
pages            the stored response of a URL, as a pointer into the WARC files
outcomes         the last outcome of each stage for a URL
robots           robots.txt as fetched, one row per origin
judged           decisions of a focused crawl on pages; it rebuilds its state from these rows
left_out         links that a focused crawl did not follow
topic_questions  pages that a person should classify for a topic, and the answers
learned          learned state of sites, shared by several machines
"""

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, LargeBinary, String, Table, Text

from docstore.schema.base import BigIntegerId, CodedText, LongInteger, metadata

urls = Table(
    "urls",
    metadata,
    Column("url_id", BigIntegerId, primary_key=True, autoincrement=True),
    Column("url", Text, nullable=False, unique=True),  # canonical; at most 2,000 characters
    Column("host", String(300), nullable=False),
    Column("queue", LongInteger, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("priority", Float, nullable=False),
    Column("due_at", Float),  # epoch seconds; 0: due immediately; NULL: never, see `exclusion`
    Column("gap", Float, nullable=False, default=0.0),
    Column("attempts", Integer, nullable=False, default=0),  # failures since the last success
    Column("etag", Text, nullable=False, default=""),
    Column("last_modified", Text, nullable=False, default=""),
    Column("digest", String(64), nullable=False, default=""),
    Column("visited_at", Float),
    Column("parent_id", BigInteger),
    Column("anchor", Text, nullable=False, default=""),
    Column("context", Text, nullable=False, default=""),
    Column("found_at", Float, nullable=False),
    Column("exclusion", String(16), nullable=False, server_default=""),  # see UrlExclusion; "" unless `due_at` is NULL
    Index("urls_by_due", "queue", "due_at"),
)

pages = Table(
    "pages",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("final_url", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("content_type", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("fetched_at", Float, nullable=False),
    Column("warc_file", String(200), nullable=False),
    Column("warc_offset", BigInteger, nullable=False),
    Column("warc_length", BigInteger, nullable=False),
)

outcomes = Table(
    "outcomes",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("stage", String(16), primary_key=True),
    Column("reason", String(32), nullable=False),
    Column("detail", CodedText, nullable=False, default=""),
    Column("input", String(64), nullable=False, default=""),  # digest of the data that the stage processed
    Column("at", Float, nullable=False),
    Index("outcomes_by_reason", "stage", "reason"),
)

robots_files = Table(
    "robots",
    metadata,
    Column("origin", String(400), primary_key=True),
    Column("status", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("fetched_at", Float, nullable=False),
)

focused_decisions = Table(
    "judged",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),  # order of the decisions
    Column("strategy", String(32), nullable=False),
    Column("topic", String(100), nullable=False),
    Column("score", Float, nullable=False),
    Column("kept", Integer, nullable=False),  # 1: retained, 0: not
    Column("words", LargeBinary, nullable=False),  # see crawler/focused_policy.py
    Index("judged_by_seq", "seq"),
)

rejected_links = Table(
    "left_out",
    metadata,
    Column("url", Text, primary_key=True),
    Column("parent_id", BigInteger, nullable=False),
    Column("anchor", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Float, nullable=False),
)

topic_questions = Table(
    "topic_questions",
    metadata,
    Column("topic", String(100), primary_key=True),
    Column("url", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("place", Integer, nullable=False),  # order of the questions
    Column("score", Float, nullable=False),  # probability of being on topic when the question was created
    Column("answer", Integer),  # 1: yes, 0: no, NULL: not answered
    Column("answered_by", String(64), nullable=False),
    Column("answered_at", Float),
)

site_state = Table(
    "learned",
    metadata,
    Column("heading", String(32), primary_key=True),
    Column("host", String(300), primary_key=True),
    Column("value", Text, nullable=False),  # JSON
)
