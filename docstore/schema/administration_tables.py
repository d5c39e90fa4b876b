"""The tables of the administration.

operations      what accounts changed; an undo is an operation too
takedowns       addresses that are never crawled, extracted or indexed
alert_mutes     alerts about which nobody is notified
api_tokens      hashes of tokens with which programs use the API
curation_rules  which articles editors place, raise, lower or hide in the results of a query
"""

from sqlalchemy import BigInteger, Column, Float, Index, Integer, String, Table, Text, UniqueConstraint

from docstore.schema.base import BigIntegerId, metadata

operations = Table(
    "operations",
    metadata,
    Column("operation_id", BigIntegerId, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),  # epoch seconds
    Column("account", String(64), nullable=False),
    Column("name", String(64), nullable=False),
    Column("subject", Text, nullable=False),
    Column("before", Text),  # JSON object; NULL: it cannot be undone
    Column("after", Text, nullable=False),  # JSON object
    Column("undone_by", BigInteger),  # operation_id
    Index("operations_by_account", "account", "operation_id"),
    Index("operations_by_name", "name", "operation_id"),
    sqlite_autoincrement=True,
)

takedowns = Table(
    "takedowns",
    metadata,
    Column("doc_id", String(32), primary_key=True),  # `domain.article.document_id` of the URL
    Column("url", Text, nullable=False, unique=True),  # canonical
    Column("action_id", BigInteger, nullable=False),
    Column("account", String(64), nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Float, nullable=False),  # epoch seconds
    Index("takedowns_by_action", "action_id"),
)

alert_mutes = Table(
    "alert_mutes",
    metadata,
    Column("kind", String(32), primary_key=True),
    Column("subject", String(300), primary_key=True),
    Column("account", String(64), nullable=False),
    Column("until", Float),  # epoch seconds; NULL: until it is unmuted
)

api_tokens = Table(
    "api_tokens",
    metadata,
    Column("token_id", BigIntegerId, primary_key=True, autoincrement=True),
    Column("account", String(64), nullable=False),
    Column("name", String(64), nullable=False),
    Column("token_hash", String(128), nullable=False, unique=True),
    Column("scopes", String(100), nullable=False),  # comma-separated
    Column("created_at", Float, nullable=False),  # epoch seconds
    Column("last_used_at", Float),
    Column("revoked_at", Float),
    sqlite_autoincrement=True,
)

curation_rules = Table(
    "curation_rules",
    metadata,
    Column("rule_id", BigIntegerId, primary_key=True, autoincrement=True),
    Column("query", Text, nullable=False),  # as typed
    Column("query_key", Text, nullable=False),  # `text.folding.query_key`
    Column("with_synonyms", Integer, nullable=False),  # 1: also for the synonyms of the query
    Column("doc_id", String(64), nullable=False),
    Column("title", Text, nullable=False),  # of the article when the rule was made
    Column("action", String(16), nullable=False),  # `domain.curation.CurationAction`
    Column("reason", Text, nullable=False),
    Column("account", String(64), nullable=False),  # that saved it last
    Column("created_at", Float, nullable=False),  # epoch seconds
    Column("expires_at", Float),
    Column("version", BigInteger, nullable=False),  # operation_id of the last change
    UniqueConstraint("query_key", "doc_id"),
    sqlite_autoincrement=True,
)
