"""Bringing an older store up to this program's tables: one transaction, so a kill leaves the old store or the new.

New tables are made by `metadata.create_all`; here is what it cannot do, columns and indexes of tables that exist.
Statements are literal: they describe the past, whatever docstore/schema says by now.
"""

from sqlalchemy import Connection

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
# New tables (topic_questions, leases, learned), which are made with those of a new store; who does not know the leases
# may not write.
TO_VERSION_8: tuple[str, ...] = ()
# New tables (key_parts, sealed_keys, sealed_leaders): who does not know them would miss copies of what is sealed.
TO_VERSION_9: tuple[str, ...] = ()
MIGRATIONS_BY_VERSION = {
    1: TO_VERSION_2,
    2: TO_VERSION_3,
    3: TO_VERSION_4,
    4: TO_VERSION_5,
    5: TO_VERSION_6,
    6: TO_VERSION_7,
    7: TO_VERSION_8,
    8: TO_VERSION_9,
}


def upgrade_schema(connection: Connection, from_version: int) -> None:
    """Take the tables of an existing store from `from_version` to the present one."""
    types = {"bytes": "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"}
    for step in (MIGRATIONS_BY_VERSION[n] for n in sorted(MIGRATIONS_BY_VERSION) if n >= from_version):
        for statement in step:
            connection.exec_driver_sql(statement.format_map(types))
