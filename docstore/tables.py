"""The tables. SQLite (WAL) by default, PostgreSQL by URL; nothing here is special to either.

urls      the frontier: one row a URL ever accepted; `due_at` says when it is to be asked (again)
pages     the answer kept for a URL, as a pointer into the WARC files
outcomes  what each stage last did with a URL, and why
articles  the article that a page (or a chain of pages) became; `duplicate_of` groups copies, `series` what is similar
parts     what a page is by itself, where the article is kept under another URL or joined of several pages
ties      URLs that a page names as the next page of its article, or as its original
bands     keys of those articles that copies and similar ones are looked for among
teasers   what a page shows of another one below that one's headline
page_kinds, url_patterns   is a page a list by itself, and how many of its siblings under one pattern of URLs are
sites, site_pages, site_lines, site_tails   what the pages of a host have in common
vectors   what a model of meaning made of a text: one vector of the article, one a passage
changes   the change log: what the indexer has still to do, in order; a row is deleted when it is done
indexed   what the index holds of a URL, and by which lexicon it was segmented
terms     candidate words with their evidence and what reviewers said of them
term_acts, term_changes   who said what of which terms and when, with what there was before: nothing is ever lost
lexicons, lexicon_entries   published versions; never changed once written
robots    robots.txt as fetched, one row an origin
judged    what a focused crawl read and thought of a page: its state is made of these rows again
left_out  links that a focused crawl did not follow, and why
topic_questions   pages that a person is asked about, are they of the topic? and what was answered
runs      one row a run of the pipeline, with its report
site_runs what each of the last runs did at each site, by outcome
alerts, alert_notices   what the operator shall know, and what each channel has been told
accounts  who may sign in to the search site, and for what
searches, clicks   what was searched for and opened; nothing that says by whom
row_sums  sums of rows that nothing can make again          (docstore/integrity/row_sums.py)
meta      schema version, the id of this store, and other single values

What articles are to each other stands in docstore/articles/relation_tables.py.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

SCHEMA_VERSION = 8

metadata = MetaData()

# SQLite numbers rows by itself only for a column of type INTEGER.
BigId = BigInteger().with_variant(Integer, "sqlite")

meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

urls = Table(
    "urls",
    metadata,
    Column("url_id", BigId, primary_key=True, autoincrement=True),
    Column("url", Text, nullable=False, unique=True),  # canonical; at most 2,000 characters
    Column("host", String(300), nullable=False),
    Column("queue", Integer, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("priority", Float, nullable=False),
    Column("due_at", Float),  # epoch seconds; 0 never asked yet; NULL never again
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
    Column("detail", Text, nullable=False, default=""),
    Column("input", String(64), nullable=False, default=""),  # digest of what the stage was given
    Column("at", Float, nullable=False),
    Index("outcomes_by_reason", "stage", "reason"),
)

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
    Column("blocks", Text, nullable=False, server_default="[]"),  # JSON, see docstore/articles/rows.py
    Column("signature", LargeBinary),  # little-endian 32-bit numbers; NULL: a text too short for one
    Column("text_key", BigInteger),  # line_hash of title and body; NULL until extracted again after an upgrade
    Column("duplicate_of", String(32), nullable=False, server_default=""),  # doc_id
    Column("series", String(32), nullable=False, server_default=""),  # "": not told yet, or too short a text
    Column("page_type", String(16), nullable=False, server_default=""),  # "": not told yet
    Column("format", String(16), nullable=False, server_default="html"),
    Column("citations", Integer, nullable=False, server_default="0"),  # by how many others it is cited
    Column("story", String(16), nullable=False, server_default=""),  # see docstore/grouping/stories.py
    Index("articles_by_text", "text_key"),
    Index("articles_by_digest", "digest"),
    Index("articles_by_duplicate", "duplicate_of"),
    Index("articles_by_series", "series"),
)

parts = Table(
    "parts",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("whole_id", BigInteger, nullable=False),  # the page that stands for this one; itself: the first of several
    Column("article", Text, nullable=False),  # JSON
    Index("parts_by_whole", "whole_id"),
)

ties = Table(
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
    Column("vector", LargeBinary, nullable=False),  # a byte a dimension, see text/embedding/contract.py; empty: no text
)

teasers = Table(
    "teasers",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("target", Text, nullable=False),  # a URL of the same site, without its scheme
    Column("lines", Text, nullable=False),  # JSON list of strings
    Index("teasers_by_target", "target"),
)

page_kinds = Table(
    "page_kinds",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("pattern", BigInteger, nullable=False),  # line_hash, see docstore/grouping/url_patterns.py
    Column(
        "evidence", Integer, nullable=False
    ),  # of the page by itself: 0 a list, 1 an article, 2 one that is vouched for
    Column("is_list", Integer, nullable=False),  # 1 where it is, by itself or because its text is another page's
    Index("page_kinds_by_pattern", "pattern", "evidence"),
)

url_patterns = Table(
    "url_patterns",
    metadata,
    Column("pattern", BigInteger, primary_key=True, autoincrement=False),
    Column("lists", Integer, nullable=False),
    Column("others", Integer, nullable=False),
)

bands = Table(
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

sites = Table(
    "sites",
    metadata,
    Column("host", String(300), primary_key=True),
    Column("pages", Integer, nullable=False),
)

site_pages = Table(
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

site_tails = Table(
    "site_tails",
    metadata,
    Column("host", String(300), primary_key=True),
    Column("tail", String(200), primary_key=True),
    Column("pages", Integer, nullable=False),
)

changes = Table(
    "changes",
    metadata,
    Column("seq", BigId, primary_key=True, autoincrement=True),
    Column("url_id", BigInteger, nullable=False),
    Column("op", String(16), nullable=False),
    Column("at", Float, nullable=False),
    Index("changes_by_url", "url_id", "seq"),
    sqlite_autoincrement=True,  # a sequence number is never given twice, even after rows are deleted
)

indexed = Table(
    "indexed",
    metadata,
    Column("url_id", BigInteger, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False),
    Column("lexicon_version", Integer, nullable=False),
    Column("indexed_at", Float, nullable=False),
)

terms = Table(
    "terms",
    metadata,
    Column("text", String(200), primary_key=True),
    Column("score", Float, nullable=False),
    Column("frequency", Integer, nullable=False),
    Column("documents", Integer, nullable=False),
    Column("tags", String(200), nullable=False),
    Column("contexts", Text, nullable=False),  # JSON list of strings
    Column("status", String(16), nullable=False),
    Column("decided_at", Float),
    Column("mined_at", Float),  # NULL: added by hand
    Column("synonyms", Text, nullable=False, server_default="[]"),  # JSON list of strings
    Column("parts", Text, nullable=False, server_default="[]"),  # JSON list of [name, value]
    Column("category", String(16), nullable=False, server_default=""),
    Column("broader", Text, nullable=False, server_default="[]"),  # JSON list of strings
    Column("weight", Integer, nullable=False, server_default="0"),  # frequency in the dictionary; 0: let it be chosen
    Column("tag", String(16), nullable=False, server_default=""),
    Column("place", Float, nullable=False, server_default="0"),  # the order of review, highest first
    Column("version", Integer, nullable=False, server_default="0"),  # changes made by people
    Column("first_seen", Float),
    Column("decided_by", String(64), nullable=False, server_default=""),
    Column("decided_on", Integer, nullable=False, server_default="0"),  # the frequency it was decided on
    Index("terms_by_score", "status", "score"),
    Index("terms_by_place", "status", "place"),
    Index("terms_by_decision", "decided_at"),
)

term_acts = Table(
    "term_acts",
    metadata,
    Column("act_id", BigId, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("by_whom", String(64), nullable=False),  # account; "" is the miner
    Column("kind", String(16), nullable=False),
    Column("undoes", BigInteger),  # an earlier act
    Column("undone_by", BigInteger),  # a later act
)

term_changes = Table(
    "term_changes",
    metadata,
    Column("act_id", BigInteger, ForeignKey("term_acts.act_id"), primary_key=True, autoincrement=False),
    Column("text", String(200), primary_key=True),
    Column("before", Text, nullable=False),  # JSON, see docstore/terms/rows.py; "": there was no such term
    Column("after", Text, nullable=False),
    Column("version", Integer, nullable=False),  # of the term after the act
    Index("term_changes_by_text", "text"),
)

lexicons = Table(
    "lexicons",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("published_at", Float, nullable=False),
    Column("applied_at", Float),  # when the documents to re-segment were put into the change log
    Column("note", Text, nullable=False, default=""),
    Column("by_whom", String(64), nullable=False, server_default=""),
)

lexicon_entries = Table(
    "lexicon_entries",
    metadata,
    Column("version", Integer, ForeignKey("lexicons.version"), primary_key=True, autoincrement=False),
    Column("text", String(200), primary_key=True),
    Column("frequency", Integer, nullable=False),
    Column("tag", String(16), nullable=False),
    Column("synonyms", Text, nullable=False, server_default="[]"),  # JSON list of strings
    Column("category", String(16), nullable=False, server_default=""),
    Column("broader", Text, nullable=False, server_default="[]"),  # JSON list of strings
)

robots = Table(
    "robots",
    metadata,
    Column("origin", String(400), primary_key=True),
    Column("status", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("fetched_at", Float, nullable=False),
)

judged = Table(
    "judged",
    metadata,
    Column("url_id", BigInteger, ForeignKey("urls.url_id"), primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),  # the order of judging
    Column("strategy", String(32), nullable=False),
    Column("topic", String(100), nullable=False),
    Column("score", Float, nullable=False),
    Column("kept", Integer, nullable=False),  # 1 where it was
    Column("words", LargeBinary, nullable=False),  # see crawler/guide.py
    Index("judged_by_seq", "seq"),
)

left_out = Table(
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
    Column("place", Integer, nullable=False),  # in the order of asking
    Column("score", Float, nullable=False),  # probability of the topic when it was asked
    Column("answer", Integer),  # 1 for yes, 0 for no, null where it waits
    Column("answered_by", String(64), nullable=False),
    Column("answered_at", Float),
)

runs = Table(
    "runs",
    metadata,
    Column("run_id", BigId, primary_key=True, autoincrement=True),
    Column("command", String(64), nullable=False),
    Column("started_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("report", Text, nullable=False, default=""),  # JSON: one entry a stage
)

site_runs = Table(
    "site_runs",
    metadata,
    Column("run_id", BigInteger, primary_key=True, autoincrement=False),
    Column("host", String(300), primary_key=True),
    Column("stage", String(16), primary_key=True),
    Column("reason", String(32), primary_key=True),
    Column("urls", Integer, nullable=False),
    Column("started_at", Float, nullable=False),  # of the run
    Index("site_runs_by_host", "host"),
)

alerts = Table(
    "alerts",
    metadata,
    Column("kind", String(32), primary_key=True),
    Column("subject", String(300), primary_key=True),  # a host, or ""
    Column("details", Text, nullable=False),  # JSON: what its message says
    Column("since", Float, nullable=False),
)

alert_notices = Table(
    "alert_notices",
    metadata,
    Column("channel", String(32), primary_key=True),
    Column("kind", String(32), primary_key=True),
    Column("subject", String(300), primary_key=True),
    Column("details", Text, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("name", String(64), primary_key=True),  # folded, see docstore/accounts.py
    Column("password_hash", Text, nullable=False),
    Column("roles", String(100), nullable=False),  # names in order, with commas between
    Column("created_at", Float, nullable=False),
    Column("disabled_at", Float),
)

ended_sessions = Table(
    "ended_sessions",
    metadata,
    Column("session", String(32), primary_key=True),  # hex digits
    Column("until", Float, nullable=False),  # it would have ended then by itself
)

searches = Table(
    "searches",
    metadata,
    Column("search_id", String(32), primary_key=True),  # random; no cookie holds it
    Column("minute", Integer, nullable=False),  # since 1970-01-01 UTC: no more of the time is kept
    Column("query", Text, nullable=False),  # folded, personal data masked
    Column("masked", Integer, nullable=False),  # 1 where something was
    Column("hits", BigInteger, nullable=False),
    Column("page", Integer, nullable=False),
    Column("filters", String(200), nullable=False),  # their names, with blanks between
    Column("latency_ms", Integer, nullable=False),
    Index("searches_by_minute", "minute"),
)

row_sums = Table(
    "row_sums",
    metadata,
    Column("name", String(32), primary_key=True),  # of a table
    Column("key", String(200), primary_key=True),  # the first column of its primary key, as text
    Column("sum", BigInteger, nullable=False),  # CRC-32
)

clicks = Table(
    "clicks",
    metadata,
    Column("search_id", String(32), primary_key=True),  # of a row that may still be on its way
    Column("doc_id", String(64), primary_key=True),
    Column("rank", Integer, nullable=False),  # from 1
)
