"""The operations of a vertical and their undo."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from docstore.operations import OperationTable
from domain.account import Role
from domain.administration import HistoryEntry, HistoryFilter
from domain.alert import AlertKey
from domain.errors import AccountError, SettingsError
from domain.operation import Call, Change, Field, Operation
from domain.term import Term
from domain.term_relation import ProposalState, RelationKind, RelationProposal, TermRelation
from pipeline.engine import Engine
from pipeline.operations import declare_operations
from pipeline.progress import NullProgress
from pipeline.search_site.administration import finish_settings_records
from pipeline.settings import build_settings, load_settings
from pipeline.settings_source import SettingsSource
from pipeline.site_admin.settings_editor import FileSettingsEditor
from pipeline.site_admin.sites import StoreSites
from search_ui.i18n import has_name, load_catalog
from tests.builders import mute, operate

KEY = AlertKey("robots", "news.example")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(build_settings({}, tmp_path), NullProgress()) as opened:
        yield opened


def undo(engine: Engine, record_id: int, account: str) -> bool:
    return engine.store.operations.undo(declare_operations(engine), record_id, account) is not None


def last_id(engine: Engine, account: str | None = None, name: str | None = None) -> int:
    return engine.store.operations.find(account, name, limit=1)[0].operation_id


def entries(engine: Engine) -> list[HistoryEntry]:
    finish_settings_records(engine)
    return engine.store.history.find(HistoryFilter(), 0, 9)[1]


def test_a_mute_is_undone_once_and_the_undo_is_an_entry(engine: Engine) -> None:
    mutes, store = engine.store.alert_mutes, engine.store
    mute(store, KEY, "ann")
    muted_id = last_id(engine)
    assert undo(engine, muted_id, "bob")
    assert mutes.active() == [] and not undo(engine, muted_id, "bob")
    unmuted, muted = store.operations.find()
    assert (unmuted.name, unmuted.account, muted.undone_by) == ("alert_unmute", "bob", unmuted.operation_id)
    store.alerts.replace_firing([])  # muted again, although it does not fire any more
    assert undo(engine, unmuted.operation_id, "ann") and [item.key for item in mutes.active()] == [KEY]
    assert not undo(engine, unmuted.operation_id, "ann") and not undo(engine, 99, "bob")


def test_an_undo_without_its_mark_is_rolled_back(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise SystemExit

    mute(engine.store, KEY, "ann")
    monkeypatch.setattr("docstore.operations.mark_undone", fail)
    with pytest.raises(SystemExit):
        undo(engine, last_id(engine), "bob")
    assert [item.key for item in engine.store.alert_mutes.active()] == [KEY]


def test_a_takedown_is_undone_unless_the_page_was_taken_down_again(engine: Engine) -> None:
    store, url = engine.store, "https://news.example/a"
    operate(store, "page_takedown", "ann", url=url, reason="court")
    first = last_id(engine)
    assert undo(engine, first, "bob") and store.takedowns.find(url) is None
    operate(store, "page_takedown", "ann", url=url, reason="court")
    second = last_id(engine)
    assert not undo(engine, first, "bob") and store.takedowns.find(url) is not None
    assert undo(engine, second, "bob")


def test_a_restored_page_is_taken_down_again_with_all_its_addresses(engine: Engine) -> None:
    store, url = engine.store, "https://news.example/a"
    operate(store, "page_takedown", "ann", url=url, reason="court", urls=["https://news.example/amp/a"])
    taken_down = {row.url for row in store.takedowns.list_all()}
    operate(store, "page_restore", "ann", url=url)
    restored = last_id(engine)
    assert undo(engine, restored, "bob")
    again = store.takedowns.list_all()
    assert {row.url for row in again} == taken_down and {row.reason for row in again} == {"court"}
    assert len(taken_down) == 3 and not undo(engine, restored, "bob")


def test_a_setting_gets_its_previous_value_unless_it_was_changed_again(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("# mine\n[crawl]\nthreads = 4\n")
    settings = load_settings(path)
    with Engine(settings, NullProgress()) as engine:
        editor = FileSettingsEditor(settings, engine.store.operations)

        def change(text: str | None) -> int:
            editor.save({"crawl.threads": text}, editor.load_form().digest, "ann")
            return last_id(engine)

        first = change("8")
        assert undo(engine, first, "bob") and "threads = 4" in path.read_text()
        second = change(None)
        change("9")
        assert not undo(engine, second, "bob") and "threads = 9" in path.read_text()
        editor.save({"alerts.webhook": "https://chat.example/s3cret"}, editor.load_form().digest, "ann")
        assert not undo(engine, last_id(engine), "bob")  # the value is secret
    assert path.read_text().startswith("# mine")


def test_a_killed_program_leaves_no_change_without_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[crawl]\nthreads = 4\n")
    settings = load_settings(path)
    with Engine(settings, NullProgress()) as engine:
        editor, record = FileSettingsEditor(settings, engine.store.operations), OperationTable

        @contextmanager
        def kill_during(owner: type, name: str, after: Callable[..., object] = lambda *_: None) -> Iterator[None]:
            with monkeypatch.context() as patch, pytest.raises(SystemExit):
                patch.setattr(owner, name, lambda *arguments: sys.exit(str(after(*arguments))))
                yield

        def save(threads: str) -> None:
            editor.save({"crawl.threads": threads, "crawl.depth": threads}, editor.load_form().digest, "ann")

        def recorded_values() -> list[str]:
            return sorted(str(entry.after.get("after")) for entry in entries(engine))

        with kill_during(SettingsSource, "_replace"):
            save("8")
        assert "threads = 4" in path.read_text() and recorded_values() == []
        with kill_during(record, "record_pending"):
            save("8")
        path.write_text(path.read_text() + "# edited\n")
        assert "threads = 8" in path.read_text() and recorded_values() == ["8", "8"]
        with kill_during(record, "record_pending", record.record_pending):
            save("5")
        assert "threads = 5" in path.read_text() and recorded_values() == ["5", "5", "8", "8"]
        with kill_during(record, "record_pending"):
            undo(engine, last_id(engine), "bob")
        found = entries(engine)
        assert (len(found), found[0].account, found[0].subject) == (5, "bob", found[1].subject)
        assert found[1].undone_by == found[0].entry_id
        for damaged in ("", "[]", '{"changed": [], "digest": "", "actions": [{}]}'):
            (tmp_path / ".my.toml.journal").write_text(damaged)
            assert len(entries(engine)) == 5
    assert list(tmp_path.glob(".*.journal")) == []


def test_a_paused_site_is_resumed_and_paused_again(tmp_path: Path) -> None:
    path, host = tmp_path / "my.toml", "news.example"
    path.write_text(f'[[sites]]\nurls = ["https://{host}/"]\n')
    with Engine(load_settings(path), NullProgress()) as engine:
        sites = StoreSites(engine)
        sites.pause(host, "ann")
        first = last_id(engine, "ann")
        assert undo(engine, first, "bob") and not sites.load(host).is_paused
        resumed = last_id(engine, "bob")
        assert undo(engine, resumed, "ann") and sites.load(host).is_paused
        assert not undo(engine, resumed, "ann")


def test_an_added_site_is_removed_from_the_settings_again(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text('# mine\n[[sites]]\nurls = ["https://news.example/"]\n')
    with Engine(load_settings(path), NullProgress()) as engine:
        text = path.read_text()
        StoreSites(engine).add("https://other.example/", "ann")
        assert "other.example" in path.read_text()
        added = last_id(engine, "ann")
        assert undo(engine, added, "bob") and path.read_text() == text
        assert not undo(engine, added, "bob")
        undone = last_id(engine, "bob")
        assert undo(engine, undone, "ann") and "other.example" in path.read_text()
        StoreSites(engine).add("https://other.example/news/", "ann")
        redo = last_id(engine, "ann", "site_change")
        assert not undo(engine, redo, "ann") and "other.example/news" in path.read_text()


def test_an_undo_that_the_crawl_would_refuse_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text('[[sites]]\nurls = ["https://b.example/x/"]\nscope = ["b.example/x/"]\n')
    with Engine(load_settings(path), NullProgress()) as engine:
        sites = StoreSites(engine)
        sites.change("b.example", {"scope": "b.example"}, "ann")
        first = last_id(engine)
        sites.change("b.example", {"urls": "https://b.example/y/"}, "ann")
        text = path.read_text()
        with pytest.raises(SettingsError, match="outside the scope"):
            undo(engine, first, "bob")
        assert path.read_text() == text


def test_an_account_is_enabled_and_gets_its_previous_roles(engine: Engine) -> None:
    store = engine.store
    store.accounts.create("ann", "hash", [Role.OPERATOR])
    store.accounts.create("bob", "hash", [Role.REPORTS])
    operate(store, "account_roles", "ann", name="bob", role=["reviewer", "reports"])
    operate(store, "account_disable", "ann", name="bob")
    for record in store.operations.find("ann", limit=2):
        assert undo(engine, record.operation_id, "ann") and not undo(engine, record.operation_id, "ann")
    bob = store.accounts.find("bob")
    assert bob is not None and bob.disabled_at is None and bob.roles == {Role.REPORTS}
    enabled = last_id(engine, "ann", "account_enable")
    assert undo(engine, enabled, "ann") and not undo(engine, enabled, "ann")
    bob = store.accounts.find("bob")
    assert bob is not None and bob.disabled_at is not None
    operate(store, "account_roles", "ann", name="bob", role=["reviewer"])
    second = last_id(engine)
    operate(store, "account_roles", "ann", name="bob", role=["operator"])
    with pytest.raises(AccountError):
        undo(engine, second, "ann")


def test_a_decided_relation_is_open_again_unless_it_was_decided_again(engine: Engine) -> None:
    store, pair = engine.store, (RelationKind.RELATED, "烃类", "甲烷")
    store.relations.add_related([RelationProposal(TermRelation(*pair, "together", 0.5, ""), 1, "u", "t", 0.0)], "")

    def decide(name: str) -> int:
        operate(store, name, "ann", kind="related", term="烃类", other="甲烷")
        return last_id(engine)

    accepted, rejected = decide("relation_accept"), decide("relation_reject")
    assert not undo(engine, accepted, "bob") and undo(engine, rejected, "bob")
    assert store.relations.list_decided(ProposalState.REJECTED, 9) == []
    reopened, *decided = store.operations.find()
    assert (reopened.name, reopened.account, reopened.before) == ("relation_reopen", "bob", None)
    assert all(record.undone_by == reopened.operation_id for record in decided)


def test_each_operation_has_a_name_for_people_and_an_inverse_that_exists(engine: Engine) -> None:
    declared = declare_operations(engine)
    assert [name for name in declared if not has_name("operation", name)] == []
    assert {operation.inverse for operation in declared.values() if operation.inverse} <= declared.keys()
    fields = [field for one in declared.values() for field in one.fields]
    texts = [*(field.missing_message for field in fields), *(one.message for one in declared.values())]
    texts += [one.unchanged_message for one in declared.values()]
    assert [text for text in texts if text and text not in load_catalog("zh")] == []


def test_a_new_operation_is_declared_once_and_then_recorded_listed_and_undone(engine: Engine) -> None:
    """The recipe of docs/develop/extending.md."""
    notes: dict[str, str] = {}

    def write(call: Call) -> Change | None:
        host, text = call.text("host"), call.text("text")
        before = {"host": host, "text": notes.get(host, "")}
        if text == before["text"] or (call.expected and call.expected["text"] != before["text"]):
            return None
        notes[host] = text
        return Change(host, {"host": host, "text": text}, before)

    operation = Operation(
        "site_note", Role.OPERATOR, write, (Field("host", is_required=True), Field("text")), "site_note"
    )
    store, declared = engine.store, {operation.name: operation}
    assert store.operations.run(operation, "ann", {"host": "a.test", "text": "slow"})
    assert store.operations.run(operation, "ann", {"host": "a.test", "text": "slow"}) is None
    [record] = store.operations.find()
    assert (record.name, record.subject, record.after["text"]) == ("site_note", "a.test", "slow")
    assert store.operations.undo(declared, record.operation_id, "bob") and notes == {"a.test": ""}
    assert store.operations.undo(declared, record.operation_id, "bob") is None


def test_comments_and_assignments_are_undone(engine: Engine) -> None:
    store = engine.store
    store.lexicons.replace_candidates([Term(text, 9.0, 5, 2) for text in ("页岩气", "钻井")])
    operate(store, "term_comment", "ann", term="页岩气", comment="见 GB/T 1.1")
    added, comments = last_id(engine), store.term_comments.find(["页岩气"])
    assert operate(store, "term_comment_remove", "bob", comment_id=1) is None  # that of another account
    assert undo(engine, added, "bob") and store.term_comments.find(["页岩气"]) == {}
    removed = last_id(engine)
    assert undo(engine, removed, "cho") and store.term_comments.find(["页岩气"]) == comments
    assert not undo(engine, removed, "cho") and not undo(engine, added, "cho")
    store.operations.record(
        "ann", "term_comment_remove", "页岩气", {"comment_id": 1}
    )  # as earlier versions recorded it
    assert not undo(engine, last_id(engine), "cho")
    operate(store, "term_assign", "bob", reviewers={"页岩气": "ann"})
    operate(store, "term_assign", "bob", reviewers={"页岩气": "bob", "钻井": "bob"})
    assert operate(store, "term_assign", "ann", reviewers={"钻井": "bob"}) is None
    assert undo(engine, last_id(engine), "ann")
    assert store.term_assignments.find(["页岩气", "钻井"]) == {"页岩气": "ann"}
    redo = last_id(engine)
    operate(store, "term_assign", "ann", reviewers={"钻井": "ann"})
    assert not undo(engine, redo, "ann")  # changed since
    assert store.integrity.damaged_rows() == {}
