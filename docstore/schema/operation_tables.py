"""The tables of running it: runs, alerts, accounts, searches, sums, leases.

runs      one row a run of the pipeline, with its report
site_runs what each of the last runs did at each site, by outcome
alerts, alert_notices   what the operator shall know, and what each channel has been told
accounts  who may sign in to the search site, and for what
searches, clicks   what was searched for and opened; nothing that says by whom
row_sums  sums of rows that nothing can make again          (docstore/integrity/row_checksums.py)
leases    who does which work, where several machines share a store      (docstore/leases.py)
"""

from sqlalchemy import DDL, BigInteger, Column, Float, Index, Integer, String, Table, Text, event

from docstore.schema.base import BigIntegerId, metadata

runs = Table(
    "runs",
    metadata,
    Column("run_id", BigIntegerId, primary_key=True, autoincrement=True),
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

revoked_sessions = Table(
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

row_checksums = Table(
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

leases = Table(
    "leases",
    metadata,
    Column("kind", String(16), primary_key=True),  # host, ip, stage, or the stage whose blocks they are
    Column("key", String(320), primary_key=True),
    Column("token", BigInteger, nullable=False),  # one more whenever somebody takes it: the fencing token
    Column("holder", String(100), nullable=False),
    Column("until", Float, nullable=False),  # epoch seconds by the database's clock; past: it is free
)
# A renewal changes no indexed column and finds room on its page, so that it leaves no work for a vacuum. A statement of
# its own: with `postgresql_with` every command on SQLite would load that dialect.
FILL_HALF = DDL("ALTER TABLE %(fullname)s SET (fillfactor = 50)")  # type: ignore[no-untyped-call]
event.listen(leases, "after_create", FILL_HALF.execute_if(dialect="postgresql"))
