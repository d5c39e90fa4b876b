"""The tables of the lexicon.

terms                       candidate terms with their evidence and review state
term_acts, term_changes     review decisions, with the state of each term before and after
lexicons, lexicon_entries   published versions; immutable once written
definitions                 sentences of articles that define published terms
relation_proposals          relations between published terms, with sentences that show them
term_comments               what reviewers wrote about terms
term_assignments            who reviews which terms
"""

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, String, Table, Text

from docstore.schema.base import BigIntegerId, LongInteger, metadata

terms = Table(
    "terms",
    metadata,
    Column("text", String(200), primary_key=True),
    Column("score", Float, nullable=False),
    Column("frequency", LongInteger, nullable=False),
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
    Column("weight", LongInteger, nullable=False, server_default="0"),  # frequency in the dictionary; 0: automatic
    Column("tag", String(16), nullable=False, server_default=""),
    Column("definition", Text, nullable=False, server_default=""),  # JSON of a DefinitionChoice; "": no choice
    Column("definition_source", String(16), nullable=False, server_default=""),  # see DefinitionSource
    Column("place", Float, nullable=False, server_default="0"),  # sort key of the review queue, highest first
    Column("version", Integer, nullable=False, server_default="0"),  # number of edits by people
    Column("first_seen", Float),
    Column("decided_by", String(64), nullable=False, server_default=""),
    Column("decided_on", LongInteger, nullable=False, server_default="0"),  # frequency at the time of the decision
    Column("concept_id", String(32), nullable=False, server_default=""),
    Column("source_ids", Text, nullable=False, server_default="[]"),  # JSON list of strings
    Column("concept_terms", Text, nullable=False, server_default="[]"),  # JSON list of the fields of ConceptTerm
    Index("terms_by_score", "status", "score"),
    Index("terms_by_place", "status", "place"),
    Index("terms_by_decision", "decided_at"),
)

review_decisions = Table(
    "term_acts",
    metadata,
    Column("act_id", BigIntegerId, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("by_whom", String(64), nullable=False),  # account; "" for the term miner
    Column("kind", String(16), nullable=False),
    Column("undoes", BigInteger),  # an earlier decision
    Column("undone_by", BigInteger),  # a later decision
)

review_changes = Table(
    "term_changes",
    metadata,
    Column("act_id", BigInteger, ForeignKey("term_acts.act_id"), primary_key=True, autoincrement=False),
    Column("text", String(200), primary_key=True),
    Column("before", Text, nullable=False),  # JSON, see docstore/terms/row_mapping.py; "": the term did not exist
    Column("after", Text, nullable=False),
    Column("version", Integer, nullable=False),  # of the term after the decision
    Index("term_changes_by_text", "text"),
)

lexicons = Table(
    "lexicons",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("published_at", Float, nullable=False),
    Column("applied_at", Float),  # when documents to segment again were added to the change log
    Column("note", Text, nullable=False, default=""),
    Column("by_whom", String(64), nullable=False, server_default=""),
)

lexicon_entries = Table(
    "lexicon_entries",
    metadata,
    Column("version", Integer, ForeignKey("lexicons.version"), primary_key=True, autoincrement=False),
    Column("text", String(200), primary_key=True),
    Column("frequency", LongInteger, nullable=False),
    Column("tag", String(16), nullable=False),
    Column("synonyms", Text, nullable=False, server_default="[]"),  # JSON list of strings
    Column("category", String(16), nullable=False, server_default=""),
    Column("broader", Text, nullable=False, server_default="[]"),  # JSON list of strings
)

definitions = Table(
    "definitions",
    metadata,
    Column("term", String(200), primary_key=True),
    Column(
        "url_id", BigInteger, primary_key=True, autoincrement=False
    ),  # not a foreign key: the definition outlives the article
    Column("language", String(16), nullable=False),
    Column("sentence", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("published", Text, nullable=False),
    Column("score", Float, nullable=False),
    Column("found_at", Float, nullable=False),
    Column("needs_recheck", Integer, nullable=False),  # 1: the article changed and does not contain the sentence
    Index("definitions_by_article", "url_id"),
)

relation_proposals = Table(
    "relation_proposals",
    metadata,
    Column("term", String(200), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("other", String(200), primary_key=True),
    Column("pattern", String(16), nullable=False),
    Column("score", Float, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("url_id", BigInteger, nullable=False),  # not a foreign key: a rejected proposal outlives the article
    Column("url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("found_at", Float, nullable=False),
    Column("state", String(16), nullable=False),  # see ProposalState
    Column("decided_by", String(64), nullable=False),
    Index("relation_proposals_by_article", "url_id"),
    Index("relation_proposals_by_score", "state", "score"),
)

term_comments = Table(
    "term_comments",
    metadata,
    Column("comment_id", BigIntegerId, primary_key=True, autoincrement=True),
    Column("term", String(200), nullable=False),
    Column("account", String(64), nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Float, nullable=False),  # epoch seconds
    Index("term_comments_by_term", "term"),
    sqlite_autoincrement=True,
)

term_assignments = Table(
    "term_assignments",
    metadata,
    Column("term", String(200), primary_key=True),
    Column("account", String(64), nullable=False),  # the reviewer
    Column("assigned_by", String(64), nullable=False),
    Column("at", Float, nullable=False),  # epoch seconds
    Index("term_assignments_by_account", "account"),
)
