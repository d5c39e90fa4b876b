"""The tables for operation: runs, alerts, accounts, searches, checksums, leases.

runs                    one row per run of the pipeline, with its report
site_runs               outcomes of the last runs by site
alerts, alert_notices   firing alerts, and the notifications sent on each channel
accounts                accounts of the search site
ended_sessions          revoked sessions
searches, clicks        queries and opened results, without personal data
row_sums                checksums of rows                    (docstore/integrity/row_checksums.py)
leases                  exclusive work across machines       (docstore/locking/leases.py)
"""

from sqlalchemy import DDL, BigInteger, Column, Float, Index, Integer, String, Table, Text, event

from docstore.schema.base import BigIntegerId, LongInteger, metadata

runs = Table(
    "runs",
    metadata,
    Column("run_id", BigIntegerId, primary_key=True, autoincrement=True),
    Column("command", String(64), nullable=False),
    Column("started_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("report", Text, nullable=False, default=""),  # JSON: one entry per stage
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
    Column("details", Text, nullable=False),  # JSON: values of the message
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
    Column("name", String(64), primary_key=True),  # canonical form, see docstore/accounts.py
    Column("password_hash", Text, nullable=False),
    Column("roles", String(100), nullable=False),  # role names, comma-separated
    Column("created_at", Float, nullable=False),
    Column("disabled_at", Float),
    Column("password_is_temporary", Integer, nullable=False, server_default="0"),  # 1: somebody else chose it
)

revoked_sessions = Table(
    "ended_sessions",
    metadata,
    Column("session", String(32), primary_key=True),  # hex digits
    Column("until", Float, nullable=False),  # regular expiry time
)

searches = Table(
    "searches",
    metadata,
    Column("search_id", String(32), primary_key=True),  # random; not in any cookie
    Column("minute", Integer, nullable=False),  # since 1970-01-01 UTC: the time is not stored more precisely
    Column("query", Text, nullable=False),  # as typed, personal data masked
    Column("masked", Integer, nullable=False),  # 1: personal data was masked
    Column("hits", BigInteger, nullable=False),
    Column("page", LongInteger, nullable=False),
    Column("filters", String(200), nullable=False),  # names and marks, see docstore/reports/search_log.py
    Column("latency_ms", Integer, nullable=False),
    Index("searches_by_minute", "minute"),
)

row_checksums = Table(
    "row_sums",
    metadata,
    Column("name", String(32), primary_key=True),  # name of a table
    Column("key", String(200), primary_key=True),  # value of the first primary key column, as text
    Column("sum", BigInteger, nullable=False),  # CRC-32
)

clicks = Table(
    "clicks",
    metadata,
    Column("search_id", String(32), primary_key=True),  # the row in `searches` may be written later
    Column("doc_id", String(64), primary_key=True),
    Column("rank", LongInteger, nullable=False),  # from 1
    Column("minute", Integer, nullable=False, server_default="0"),  # when it was saved, as in `searches`
)

leases = Table(
    "leases",
    metadata,
    Column("kind", String(16), primary_key=True),  # host, ip, stage, or a stage whose blocks are leased
    Column("key", String(320), primary_key=True),
    Column("token", BigInteger, nullable=False),  # fencing token: increases with every acquisition
    Column("holder", String(100), nullable=False),
    Column("until", Float, nullable=False),  # epoch seconds of the database clock; the lease is free after it
)
# A renewal changes no indexed column and finds space on its page (heap-only update), so it causes little vacuum work.
# A separate statement, because `postgresql_with` would load the PostgreSQL dialect in every command on SQLite.
FILL_FACTOR_50_PERCENT = DDL("ALTER TABLE %(fullname)s SET (fillfactor = 50)")  # type: ignore[no-untyped-call]
event.listen(leases, "after_create", FILL_FACTOR_50_PERCENT.execute_if(dialect="postgresql"))
