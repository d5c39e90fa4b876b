"""The tables of the domain's words: candidates, what reviewers said of them, and what was published.

terms     candidate words with their evidence and what reviewers said of them
term_acts, term_changes   who said what of which terms and when, with what there was before: nothing is ever lost
lexicons, lexicon_entries   published versions; never changed once written
"""

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, String, Table, Text

from docstore.schema.base import BigIntegerId, metadata

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

review_decisions = Table(
    "term_acts",
    metadata,
    Column("act_id", BigIntegerId, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("by_whom", String(64), nullable=False),  # account; "" is the miner
    Column("kind", String(16), nullable=False),
    Column("undoes", BigInteger),  # an earlier act
    Column("undone_by", BigInteger),  # a later act
)

review_changes = Table(
    "term_changes",
    metadata,
    Column("act_id", BigInteger, ForeignKey("term_acts.act_id"), primary_key=True, autoincrement=False),
    Column("text", String(200), primary_key=True),
    Column("before", Text, nullable=False),  # JSON, see docstore/terms/row_mapping.py; "": there was no such term
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
