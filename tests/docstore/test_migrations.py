"""A store made by version 1 of the program is opened by this one."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, text

from docstore.articles.extraction_writer import PageExtraction
from docstore.integrity.rebuild import rebuild_store
from docstore.schema import metadata, migrations
from docstore.store import Store
from domain.article import Article, Block, BlockKind, StoredArticle
from domain.errors import StoreError
from domain.outcome import Reason
from domain.packed_text import pack_text, unpack_text
from domain.page import Origin
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import DefinitionSource, Lexicon, LexiconEntry, TermStatus
from lexicon.concepts.concept_groups import group_terms
from tests.builders import ARTICLE, add, keep_page, operate, undo
from tests.docstore.test_rebuild import new_url

# As version 1 had it.
ARTICLES_1 = """
    CREATE TABLE articles (
        url_id BIGINT NOT NULL PRIMARY KEY REFERENCES urls (url_id), doc_id VARCHAR(32) NOT NULL UNIQUE,
        title TEXT NOT NULL, body TEXT NOT NULL, published VARCHAR(10) NOT NULL, date_source VARCHAR(16) NOT NULL,
        language VARCHAR(16) NOT NULL, method VARCHAR(32) NOT NULL, digest VARCHAR(64) NOT NULL,
        extracted_at FLOAT NOT NULL
    )
"""
NEW_TABLES = (
    "bands", "sealed_leaders", "sealed_keys", "key_parts", "parts", "ties", "sites", "site_pages", "site_lines",
    "site_tails", "citing", "citations", "cited_names", "uncounted", "news", "news_keys", "glosses", "accounts",
    "searches", "clicks", "term_changes", "term_acts", "vectors", "recognized_pages", "definitions",
    "relation_proposals", "operations", "takedowns", "alert_mutes", "api_tokens", "term_comments", "term_assignments",
)  # fmt: skip
CONCEPT_COLUMNS = ("concept_id", "source_ids", "concept_terms")
NEW_COLUMNS = {
    "terms": (
        *("synonyms", "parts", "category", "broader", "weight", "tag", "place", "version"),
        *("first_seen", "decided_by", "decided_on", "definition", "definition_source", *CONCEPT_COLUMNS),
    ),
    "lexicon_entries": ("synonyms", "category", "broader"),
    "lexicons": ("by_whom",),
}
NEW_INDEXES = ("terms_by_place", "terms_by_decision", "changes_by_url")
INDEXES = {str(index.name) for table in metadata.tables.values() for index in table.indexes}
SIDES = ("before", "after")
OLD_COLUMNS = "url_id, doc_id, title, body, published, date_source, language, method, digest, extracted_at"


@pytest.fixture
def old_url(store_url: str, tmp_path: Path) -> Iterator[str]:
    """A store of version 1 with one article in it."""
    with Store(store_url, tmp_path / "warc") as store:
        keep_page(store)
        store.articles.save([PageExtraction(p, ARTICLE) for p in store.articles.iter_pending()])
    engine = create_engine(store_url)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE kept AS SELECT {OLD_COLUMNS} FROM articles"))
        for name in (*NEW_TABLES, "articles"):
            connection.execute(text(f"DROP TABLE {name}"))
        for index in NEW_INDEXES:
            connection.execute(text(f"DROP INDEX {index}"))
        for name, columns in NEW_COLUMNS.items():
            for column in columns:
                connection.execute(text(f"ALTER TABLE {name} DROP COLUMN {column}"))
        connection.execute(text(ARTICLES_1))
        connection.execute(text(f"INSERT INTO articles ({OLD_COLUMNS}) SELECT {OLD_COLUMNS} FROM kept"))
        connection.execute(text("DROP TABLE kept"))
        connection.execute(text("UPDATE meta SET value = '1' WHERE key = 'schema_version'"))
    yield store_url
    engine.dispose()


def restore_actions(connection: Connection) -> None:
    """Undo the upgrade to version 18, which replaced `actions`."""
    columns = "action_id BIGINT, at FLOAT, account TEXT, action TEXT, subject TEXT, details TEXT, undone_by BIGINT"
    connection.execute(text(f"CREATE TABLE actions ({columns})"))
    old = 'SELECT operation_id, at, account, name, subject, "after", undone_by FROM operations'
    connection.execute(text(f"INSERT INTO actions {old} WHERE name NOT IN ('lexicon_publish', 'topic_answer')"))
    connection.execute(text("DROP TABLE operations"))
    connection.execute(text("DELETE FROM row_sums WHERE name = 'operations'"))
    connection.execute(text("DELETE FROM meta WHERE key = 'row_sums_form'"))


def drop_concepts(connection: Connection) -> None:
    """Undo the upgrade of `terms` to version 13."""
    for column in CONCEPT_COLUMNS:
        connection.execute(text(f"ALTER TABLE terms DROP COLUMN {column}"))


def drop_definition_columns(connection: Connection) -> None:
    """Undo the upgrades of `terms` to versions 13 and 12."""
    drop_concepts(connection)
    for column in ("definition", "definition_source"):
        connection.execute(text(f"ALTER TABLE terms DROP COLUMN {column}"))


def shape(url: str) -> dict[str, dict[str, tuple[str, bool]]]:
    """Tables -> columns -> type and whether they may be NULL; indexes as columns of their own."""
    engine = create_engine(url)
    found = inspect(engine)
    shapes = {
        name: {column["name"]: (str(column["type"]), column["nullable"]) for column in found.get_columns(name)}
        | {
            str(index["name"]): (str(index["column_names"]), False)
            for index in found.get_indexes(name)
            if index["name"] in INDEXES
        }
        for name in found.get_table_names()
    }
    engine.dispose()
    return shapes


def test_it_becomes_what_a_fresh_store_is(old_url: str, tmp_path: Path) -> None:
    Store(old_url, tmp_path / "warc").close()
    Store(f"sqlite:///{tmp_path / 'fresh.db'}", tmp_path / "warc").close()
    upgraded, fresh = shape(old_url), shape(f"sqlite:///{tmp_path / 'fresh.db'}")
    assert {name: set(parts) for name, parts in upgraded.items()} == {name: set(p) for name, p in fresh.items()}
    if old_url.startswith("sqlite"):
        assert upgraded == fresh


def test_nothing_is_lost_and_all_is_extracted_again(old_url: str, tmp_path: Path) -> None:
    for _ in range(2):
        with Store(old_url, tmp_path / "warc") as store:
            [stored] = store.articles.iter_all()
            assert stored.article == ARTICLE
            assert (stored.duplicate_of, store.articles.pending_count()) == ("", 0)
    with Store(old_url, tmp_path / "warc") as store:
        assert [store.articles.require_extractor_version(2) for _ in range(2)] == [1, 0]
        [pending] = store.articles.iter_pending()
        richer = Article(**{**vars(ARTICLE), "author": "张三", "blocks": (Block(BlockKind.PARAGRAPH, "正文"),)})
        assert store.articles.save([PageExtraction(pending, richer)]) == [Reason.EXTRACTED]
        assert [stored.article for stored in store.articles.iter_all()] == [richer]


def test_a_newer_extractor_asks_for_every_page_once(store: Store) -> None:
    keep_page(store)
    assert store.articles.require_extractor_version(2) == 0
    store.articles.save([PageExtraction(p, ARTICLE) for p in store.articles.iter_pending()])
    assert [store.articles.require_extractor_version(n) for n in (2, 3, 3, 2)] == [0, 1, 0, 0]
    assert store.articles.pending_count() == 1


def test_an_upgrade_that_is_broken_off_leaves_the_old_store(
    old_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shape(old_url)
    with monkeypatch.context() as patch, pytest.raises(StoreError):
        patch.setitem(migrations.MIGRATIONS_BY_VERSION, 2, ("ALTER TABLE no_such_table ADD COLUMN x TEXT",))
        Store(old_url, tmp_path / "warc")
    assert shape(old_url) == before
    with Store(old_url, tmp_path / "warc") as store:
        assert store.articles.count() == 1


def test_two_programs_open_an_old_store_at_once(old_url: str, tmp_path: Path) -> None:
    counts: list[int] = []

    def open_it() -> None:
        with Store(old_url, tmp_path / "warc") as store:
            counts.append(store.articles.count())

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [1] * 4


def test_tables_are_created_only_when_they_are_missing(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store of an earlier program with this schema version may lack the newest tables."""
    Store(store_url, tmp_path / "warc").close()
    engine = create_engine(store_url)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE glosses"))
        connection.execute(text("DELETE FROM meta WHERE key = 'tables'"))
    Store(store_url, tmp_path / "warc").close()
    assert "glosses" in inspect(engine).get_table_names()
    engine.dispose()
    monkeypatch.setattr(metadata, "create_all", None)
    Store(store_url, tmp_path / "warc").close()


URL_COLLATION = text(
    "SELECT collname FROM pg_attribute JOIN pg_collation c ON c.oid = attcollation "
    "WHERE attrelid = 'urls'::regclass AND attname = 'url'"
)


@pytest.mark.postgres
def test_urls_are_compared_by_bytes_whatever_the_locale(postgres_store: str, tmp_path: Path) -> None:
    """Also in a store that an earlier program created: most locales ignore punctuation."""
    origin, urls = Origin("http://a.test"), [f"http://a.test{path}" for path in ("/", "/-b", "/Z", "/z")]
    engine = create_engine(postgres_store)
    with Store(postgres_store, tmp_path / "warc") as store:
        for address in (*urls, "http://a.test.b.test/", "http://a.test:81/x", "http://a-test/"):
            keep_page(store, address)
    for _ in ("new", "upgraded"):
        with Store(postgres_store, tmp_path / "warc") as store, engine.begin() as connection:
            assert sorted(store.frontier.archived_urls_not_due(origin, 4_000.0)) == urls
            assert connection.scalar(URL_COLLATION) == "C"
            connection.execute(text('ALTER TABLE urls ALTER COLUMN url TYPE TEXT COLLATE "default"'))
            connection.execute(text("ALTER TABLE articles DROP COLUMN text_source"))
            drop_definition_columns(connection)
            connection.execute(text("UPDATE meta SET value = '9' WHERE key = 'schema_version'"))
    engine.dispose()


def test_terms_from_before_concepts_keep_their_words_and_their_history(store_url: str, tmp_path: Path) -> None:
    with Store(store_url, tmp_path / "warc") as store:
        for term, synonyms in (("页岩气", ("shale gas", "SG")), ("钻井", ()), ("页岩瓦斯", ())):
            edit = TermEdit(term, TermStatus.ACCEPTED, synonyms=synonyms, create_if_missing=True)
            store.review_history.apply(ReviewDecisionKind.ADD, [edit], "anna")
        merge_id = store.review_history.merge("页岩瓦斯", "页岩气", "anna").act_id
    engine = create_engine(store_url)
    with engine.begin() as connection:
        drop_concepts(connection)
        rows = connection.execute(text("SELECT act_id, text, before, after FROM term_changes")).all()
        for row in rows:  # states of that time lack the columns
            states = {name: json.loads(value) if value else {} for name, value in row._mapping.items() if name in SIDES}
            for state in states.values():
                for column in CONCEPT_COLUMNS:
                    state.pop(column, None)
            values = {name: json.dumps(state, ensure_ascii=False) if state else "" for name, state in states.items()}
            connection.execute(
                text("UPDATE term_changes SET before = :before, after = :after WHERE act_id = :act AND text = :text"),
                {**values, "act": row.act_id, "text": row.text},
            )
        connection.execute(text("UPDATE meta SET value = '12' WHERE key = 'schema_version'"))
        connection.execute(text("DELETE FROM row_sums WHERE name = 'term_changes'"))
    engine.dispose()
    with Store(store_url, tmp_path / "warc") as store:
        groups = group_terms(store.lexicons.accepted_terms())
        words = {tuple(item.text for item in group.concept.terms) for group in groups}
        assert words == {("SG", "shale gas", "页岩气", "页岩瓦斯"), ("钻井",)}
        ids = {group.concept.concept_id for group in groups}
        assert len(ids) == 2 and all(len(concept_id) == 17 for concept_id in ids)
        store.review_history.undo("anna", merge_id)
        words = {tuple(term.text for term in one.concept.terms) for one in group_terms(store.lexicons.accepted_terms())}
        assert words == {("SG", "shale gas", "页岩气"), ("钻井",), ("页岩瓦斯",)}
    with Store(store_url, tmp_path / "warc") as store:
        assert ids < {group.concept.concept_id for group in group_terms(store.lexicons.accepted_terms())}


def test_actions_published_versions_and_answers_become_operations(store_url: str, tmp_path: Path) -> None:
    with Store(store_url, tmp_path / "warc") as store:
        operate(store, "page_takedown", url="http://a.test/1", reason="court")
        store.lexicons.publish(Lexicon(1, (LexiconEntry("页岩气", 5),), published_by="bert"))
        store.topic_questions.save_answers("gas", {"http://a.test/2": True}, "cho")
        expected = [(item.account, item.name, item.subject, item.after) for item in store.operations.find()]
    engine = create_engine(store_url)
    with engine.begin() as connection:
        restore_actions(connection)
        connection.execute(text("UPDATE meta SET value = '17' WHERE key = 'schema_version'"))
    with Store(store_url, tmp_path / "warc") as store:
        assert store.integrity.ensure_row_checksums()
        records = store.operations.find()
        assert [(item.account, item.name, item.subject, item.after) for item in records] == expected
        assert not undo(store, records[-1].operation_id)  # not from the history, but by its form
        assert operate(store, "page_restore", url="http://a.test/1") is not None
        restored, *_, taken_down = store.operations.find()
        assert taken_down.undone_by == restored.operation_id == 4 and store.takedowns.list_all() == []
        assert store.integrity.damaged_rows() == {}
    engine.dispose()


def test_a_definition_that_was_superseded_is_current(store_url: str, tmp_path: Path) -> None:
    with Store(store_url, tmp_path / "warc") as store:
        add(store, ["页岩气"])
    engine = create_engine(store_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE terms SET definition_source = 'superseded'"))
        connection.execute(text("INSERT INTO meta (key, value) VALUES ('definition_successors', '[]')"))
        restore_actions(connection)
        connection.execute(text("UPDATE meta SET value = '16' WHERE key = 'schema_version'"))
    with Store(store_url, tmp_path / "warc") as store:
        assert store.review_queue.find_terms(["页岩气"])["页岩气"].definition_source is DefinitionSource.CURRENT
    with engine.begin() as connection:
        assert connection.scalar(text("SELECT value FROM meta WHERE key = 'definition_successors'")) is None
    engine.dispose()


LONG_ARTICLE = replace(ARTICLE, body="储层改造提高页岩气产量，钻井液的密度也很重要。" * 20)
LONG_ARTICLE = replace(LONG_ARTICLE, blocks=(Block(BlockKind.PARAGRAPH, LONG_ARTICLE.body),))


def keep_long_article(store: Store) -> StoredArticle:
    keep_page(store)
    store.articles.save([PageExtraction(p, LONG_ARTICLE) for p in store.articles.iter_pending()])
    [article] = store.articles.iter_all()
    return article


def test_rows_of_older_programs_are_read_and_compressed(store_url: str, tmp_path: Path) -> None:
    body, engine = LONG_ARTICLE.body, create_engine(store_url)
    with Store(store_url, tmp_path / "warc") as store:
        new = keep_long_article(store)
        assert store.text_compression.compress_texts() == 0, "a new store has compressed rows only"
    with engine.begin() as connection:
        values = {"body": body, "blocks": f'[["paragraph","{body}"]]'}
        connection.execute(text("UPDATE articles SET body = :body, blocks = :blocks"), values)
        restore_actions(connection)
        connection.execute(text("UPDATE meta SET value = '15' WHERE key = 'schema_version'"))
        connection.execute(text("DELETE FROM meta WHERE key = 'row_sums_form'"))
    is_sqlite = engine.dialect.name == "sqlite"
    with Store(store_url, tmp_path / "warc") as store:
        store.integrity.ensure_row_checksums()
        for count in (int(is_sqlite), 0):
            assert list(store.articles.iter_all()) == [new] and new.article.blocks == LONG_ARTICLE.blocks
            assert store.text_compression.compress_texts() == count
        assert list(store.articles.iter_all()) == [new] and store.integrity.damaged_rows() == {}
    with engine.begin() as connection:
        stored_texts = connection.execute(text("SELECT body, blocks FROM articles")).one()
        assert all(isinstance(stored_text, bytes) is is_sqlite for stored_text in stored_texts)
    engine.dispose()


def test_damage_of_a_compressed_text_is_detected(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with Store(f"sqlite:///{file}", tmp_path / "warc") as store:
        keep_long_article(store)
        assert store.integrity.damaged_rows() == {}
        assert rebuild_store(file, [], tmp_path / "intact.db", new_url).unverified_keys == {}
        with closing(sqlite3.connect(file)) as connection, connection:
            [stored_body] = connection.execute("SELECT body FROM articles").fetchone()
            assert isinstance(stored_body, bytes) and len(stored_body) < len(LONG_ARTICLE.body) / 4
            connection.execute("UPDATE articles SET body = ?", (stored_body[:40] + b"x" + stored_body[41:],))
        assert store.integrity.damaged_rows() == {"articles": ["1"]}
        assert rebuild_store(file, [], tmp_path / "new.db", new_url).unverified_keys == {"articles": {"1"}}


@pytest.mark.parametrize("content", ["页岩气" * 99, "shale gas", "\ue5e5\u9fb4\ufe10\U00020087页岩😀é", ""])
def test_packed_texts_are_unpacked(content: str) -> None:
    packed = pack_text(content)
    assert unpack_text(packed) == content
    assert packed[:1] == (b"u" if "\ue5e5" in content else b"g")
