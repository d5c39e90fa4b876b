"""Upgrades of older stores to the current tables, in one transaction: an interruption leaves the old store.

`metadata.create_all` creates new tables. This module changes existing tables: columns and indexes. The statements are
literal, because they must not change with docstore/schema.
"""

import re

from sqlalchemy import Connection, inspect

TO_VERSION_2 = (
    "ALTER TABLE articles ADD COLUMN published_at TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE articles ADD COLUMN modified TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE articles ADD COLUMN author TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE articles ADD COLUMN source TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE articles ADD COLUMN section TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE articles ADD COLUMN keywords TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE articles ADD COLUMN picture TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE articles ADD COLUMN canonical_url TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE articles ADD COLUMN next_url TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE articles ADD COLUMN blocks TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE articles ADD COLUMN signature {bytes}",
    "ALTER TABLE articles ADD COLUMN text_key BIGINT",
    "ALTER TABLE articles ADD COLUMN duplicate_of VARCHAR(32) NOT NULL DEFAULT ''",
    "CREATE INDEX articles_by_text ON articles (text_key)",
    "CREATE INDEX articles_by_duplicate ON articles (duplicate_of)",
)
TO_VERSION_3 = (
    "ALTER TABLE terms ADD COLUMN synonyms TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE lexicon_entries ADD COLUMN synonyms TEXT NOT NULL DEFAULT '[]'",
)
TO_VERSION_4 = (
    "ALTER TABLE terms ADD COLUMN parts TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE terms ADD COLUMN category VARCHAR(16) NOT NULL DEFAULT ''",
    "ALTER TABLE terms ADD COLUMN broader TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE terms ADD COLUMN weight INTEGER NOT NULL DEFAULT '0'",
    "ALTER TABLE terms ADD COLUMN tag VARCHAR(16) NOT NULL DEFAULT ''",
    "ALTER TABLE terms ADD COLUMN place FLOAT NOT NULL DEFAULT '0'",
    "ALTER TABLE terms ADD COLUMN version INTEGER NOT NULL DEFAULT '0'",
    "ALTER TABLE terms ADD COLUMN first_seen FLOAT",
    "ALTER TABLE terms ADD COLUMN decided_by VARCHAR(64) NOT NULL DEFAULT ''",
    "ALTER TABLE terms ADD COLUMN decided_on INTEGER NOT NULL DEFAULT '0'",
    "CREATE INDEX terms_by_place ON terms (status, place)",
    "CREATE INDEX terms_by_decision ON terms (decided_at)",
    "UPDATE terms SET place = score, decided_on = frequency, first_seen = mined_at",
    "ALTER TABLE lexicons ADD COLUMN by_whom VARCHAR(64) NOT NULL DEFAULT ''",
    "ALTER TABLE lexicon_entries ADD COLUMN category VARCHAR(16) NOT NULL DEFAULT ''",
    "ALTER TABLE lexicon_entries ADD COLUMN broader TEXT NOT NULL DEFAULT '[]'",
)
TO_VERSION_5 = (
    "ALTER TABLE articles ADD COLUMN series VARCHAR(32) NOT NULL DEFAULT ''",
    "CREATE INDEX articles_by_series ON articles (series)",
)
TO_VERSION_6 = (
    "ALTER TABLE articles ADD COLUMN page_type VARCHAR(16) NOT NULL DEFAULT ''",
    "ALTER TABLE articles ADD COLUMN format VARCHAR(16) NOT NULL DEFAULT 'html'",
)
TO_VERSION_7 = (
    "CREATE INDEX articles_by_digest ON articles (digest)",
    "CREATE INDEX changes_by_url ON changes (url_id, seq)",
    "ALTER TABLE articles ADD COLUMN citations INTEGER NOT NULL DEFAULT '0'",
    "ALTER TABLE articles ADD COLUMN story VARCHAR(16) NOT NULL DEFAULT ''",
)
# Only new tables (topic_questions, leases, learned), created by `create_all`. The version keeps programs from writing
# that do not respect leases.
TO_VERSION_8: tuple[str, ...] = ()
# Only new tables (key_parts, sealed_keys, sealed_leaders). Older programs would miss copies of articles in segments.
TO_VERSION_9: tuple[str, ...] = ()
TO_VERSION_10: tuple[str, ...] = ()
# SQLite compares bytes by default.
TO_VERSION_10_ON_POSTGRESQL = ('ALTER TABLE urls ALTER COLUMN url TYPE TEXT COLLATE "C"',)
# Also a new table (recognized_pages), created by `create_all`.
TO_VERSION_11 = ("ALTER TABLE articles ADD COLUMN text_source VARCHAR(16) NOT NULL DEFAULT ''",)
TO_VERSION_12 = (
    "ALTER TABLE terms ADD COLUMN definition TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE terms ADD COLUMN definition_source VARCHAR(16) NOT NULL DEFAULT ''",
)
# A random id for each term: {random_hex} is an SQL expression of 16 hexadecimal digits.
TO_VERSION_13 = (
    "ALTER TABLE terms ADD COLUMN concept_id VARCHAR(32) NOT NULL DEFAULT ''",
    "ALTER TABLE terms ADD COLUMN source_ids TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE terms ADD COLUMN concept_terms TEXT NOT NULL DEFAULT '[]'",
    "UPDATE terms SET concept_id = 'c' || {random_hex}",
)
# Also new tables (takedowns, alert_mutes). Older programs would crawl pages that were taken down. Version 18 has no
# table `actions`.
TO_VERSION_14 = (
    "CREATE TABLE actions (action_id BIGINT, at FLOAT, account TEXT, action TEXT, subject TEXT, details TEXT, "
    "undone_by BIGINT)",
)
# Also new tables (api_tokens, term_comments, term_assignments), and a new status of terms.
TO_VERSION_15 = ("ALTER TABLE accounts ADD COLUMN password_is_temporary INTEGER NOT NULL DEFAULT '0'",)
# Old rows stay plain until docstore/articles/text_compression.py has compressed them. Older programs cannot read
# compressed texts, and blocks that refer to lines of the body.
TO_VERSION_16 = (
    "DELETE FROM meta WHERE key = 'plain_texts'",
    "INSERT INTO meta (key, value) SELECT 'plain_texts', CAST(coalesce(max(url_id), 0) AS VARCHAR(32)) FROM articles",
)
# Until version 16, `due_at` was NULL without a reason. The reason is derived from the other rows of a URL. A saved page
# that is never due was blocked, unless the store has no article that is visited again.
TO_VERSION_17 = (
    "ALTER TABLE urls ADD COLUMN exclusion VARCHAR(16) NOT NULL DEFAULT ''",
    "UPDATE urls SET exclusion = CASE WHEN visited_at IS NULL OR EXISTS (SELECT 1 FROM urls AS revisited "
    "WHERE revisited.kind = 'article' AND revisited.attempts = 0 AND revisited.due_at > revisited.visited_at) "
    "THEN 'blocked' ELSE 'finished' END WHERE due_at IS NULL",
    "UPDATE urls SET exclusion = 'imported' WHERE due_at IS NULL AND url_id IN "
    "(SELECT url_id FROM outcomes WHERE stage = 'crawl' AND detail = 'imported')",
    "UPDATE urls SET exclusion = 'expired' WHERE due_at IS NULL AND digest = '' AND url_id IN (SELECT url_id FROM "
    "outcomes WHERE stage = 'crawl' AND reason IN ('fetched', 'unchanged') AND substr(detail, 1, 7) <> 'noindex')",
    "UPDATE urls SET exclusion = 'removed' WHERE due_at IS NULL AND host IN "
    "(SELECT subject FROM actions WHERE action = 'site_remove')",
    "UPDATE urls SET exclusion = 'taken_down' WHERE due_at IS NULL AND url IN (SELECT url FROM takedowns)",
    "UPDATE urls SET exclusion = '', due_at = 0 WHERE kind IN ('seed', 'hub') AND exclusion = 'expired'",
    "ALTER TABLE clicks ADD COLUMN minute INTEGER NOT NULL DEFAULT '0'",
    "UPDATE clicks SET minute = coalesce((SELECT minute FROM searches WHERE searches.search_id = clicks.search_id), 0)",
    # Notes on newer editions of the documents of definitions are not kept any more.
    "UPDATE terms SET definition_source = '' WHERE definition_source = 'superseded'",
    "DELETE FROM meta WHERE key = 'definition_successors'",
)
# The types of `make_types_portable` and `LongInteger`.
TO_VERSION_17_ON_POSTGRESQL = (
    "DO $$ DECLARE item record; BEGIN FOR item IN SELECT table_name AS name, column_name, "
    "CASE data_type WHEN 'integer' THEN 'BIGINT' ELSE 'TEXT COLLATE \"C\"' END AS data_type "
    "FROM information_schema.columns WHERE table_schema = current_schema() AND "
    "(data_type IN ('character varying', 'text') OR data_type = 'integer' AND "
    "column_name IN ('queue', 'frequency', 'weight', 'decided_on', 'page', 'rank')) LOOP EXECUTE "
    "'ALTER TABLE ' || quote_ident(item.name) || ' ALTER COLUMN ' || quote_ident(item.column_name) || ' TYPE ' || "
    "item.data_type; END LOOP; END $$",
)
# The reasons of pages that are not saved were words of the detail. The table `operations` replaces `actions`, and
# records published versions and answers about pages too. Without values before, those rows cannot be undone.
TO_VERSION_18 = (
    "UPDATE outcomes SET reason = 'same_content', detail = substr(detail, 17) WHERE stage = 'crawl' AND "
    "reason = 'duplicate' AND substr(detail, 1, 16) = 'same content as '",
    "UPDATE outcomes SET reason = 'noindex', detail = '' WHERE stage = 'crawl' AND reason = 'fetched' AND "
    "substr(detail, 1, 7) = 'noindex'",
    """UPDATE outcomes SET detail = replace(detail, '"code": "redirected_to"', '"template": "Redirected to {{url}}", """
    """"plural": ""') WHERE stage = 'crawl' AND substr(detail, 1, 14) = 'redirected to '""",
    'INSERT INTO operations (operation_id, at, account, name, subject, "after", undone_by) '
    "SELECT action_id, at, account, action, subject, details, undone_by FROM actions",
    'INSERT INTO operations (operation_id, at, account, name, subject, "after") SELECT version + '
    "(SELECT coalesce(max(operation_id), 0) FROM operations), published_at, by_whom, 'lexicon_publish', "
    "CAST(version AS VARCHAR(20)), '{{}}' FROM lexicons",
    'INSERT INTO operations (operation_id, at, account, name, subject, "after") SELECT '
    "row_number() OVER (ORDER BY answered_at) + (SELECT coalesce(max(operation_id), 0) FROM operations), answered_at, "
    "answered_by, 'topic_answer', url, '{{}}' FROM topic_questions WHERE answered_at IS NOT NULL",
    "DROP TABLE actions",
)
TO_VERSION_18_ON_POSTGRESQL = (
    "SELECT setval(pg_get_serial_sequence('operations', 'operation_id'), "
    "(SELECT max(operation_id) + 1 FROM operations), false) WHERE EXISTS (SELECT 1 FROM operations)",
)
MIGRATIONS_BY_VERSION = {
    1: TO_VERSION_2,
    2: TO_VERSION_3,
    3: TO_VERSION_4,
    4: TO_VERSION_5,
    5: TO_VERSION_6,
    6: TO_VERSION_7,
    7: TO_VERSION_8,
    8: TO_VERSION_9,
    9: TO_VERSION_10,
    10: TO_VERSION_11,
    11: TO_VERSION_12,
    12: TO_VERSION_13,
    13: TO_VERSION_14,
    14: TO_VERSION_15,
    15: TO_VERSION_16,
    16: TO_VERSION_17,
    17: TO_VERSION_18,
}
SCHEMA_VERSION = max(MIGRATIONS_BY_VERSION) + 1
POSTGRESQL_MIGRATIONS_BY_VERSION = {
    9: TO_VERSION_10_ON_POSTGRESQL,
    16: TO_VERSION_17_ON_POSTGRESQL,
    17: TO_VERSION_18_ON_POSTGRESQL,
}


def upgrade_schema(connection: Connection, from_version: int) -> None:
    """Upgrade the tables of a store from `from_version` to SCHEMA_VERSION."""
    is_postgresql = connection.dialect.name == "postgresql"
    values = {
        "bytes": "BYTEA" if is_postgresql else "BLOB",
        "random_hex": "substr(md5(random()::text || text), 1, 16)" if is_postgresql else "lower(hex(randomblob(8)))",
    }
    for version in sorted(MIGRATIONS_BY_VERSION):
        if version < from_version:
            continue
        extra_statements = POSTGRESQL_MIGRATIONS_BY_VERSION.get(version, ()) if is_postgresql else ()
        for statement in (*MIGRATIONS_BY_VERSION[version], *extra_statements):
            if not adds_existing_column(connection, statement):
                connection.exec_driver_sql(statement.format_map(values))


def adds_existing_column(connection: Connection, statement: str) -> bool:
    """True if a statement adds a column that the table has: the store is older than the table."""
    match = re.match(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", statement)
    return match is not None and any(item["name"] == match[2] for item in inspect(connection).get_columns(match[1]))
