"""Undo of entries of the history through their areas."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from docstore.actions import ActionTable
from domain.account import Role
from domain.administration import HistoryFilter, HistorySource
from domain.alert import AlertKey
from domain.errors import AccountError, ConcurrentEditError, SettingsError
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import Term, TermStatus
from domain.term_relation import ProposalState, RelationKind, RelationProposal, TermRelation
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings, load_settings
from pipeline.settings_source import SettingsSource
from pipeline.site_admin.history import StoreHistory
from pipeline.site_admin.settings_editor import FileSettingsEditor
from pipeline.site_admin.sites import StoreSites
from pipeline.site_admin.undo import UNDO_BY_ACTION, is_reversible
from search_ui.i18n import has_name

KEY = AlertKey("robots", "news.example")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(build_settings({}, tmp_path), NullProgress()) as opened:
        yield opened


def test_a_mute_is_undone_once_and_the_undo_is_an_entry(engine: Engine) -> None:
    history, mutes = StoreHistory(engine), engine.store.alert_mutes
    action_id = mutes.mute(KEY, "ann", None)
    assert history.undo(HistorySource.ACTION, action_id, "bob")
    assert mutes.active() == [] and not history.undo(HistorySource.ACTION, action_id, "bob")
    _, [undo, muted] = history.find(HistoryFilter(), 0, 9)
    assert (undo.kind, undo.account, undo.can_undo) == ("alert_unmute", "bob", True)
    assert muted.is_undone and not muted.can_undo
    assert history.undo(HistorySource.ACTION, undo.entry_id, "ann")  # muted again
    assert [mute.key for mute in mutes.active()] == [KEY]
    assert not history.undo(HistorySource.ACTION, undo.entry_id, "ann")


def test_an_undo_without_its_mark_is_rolled_back(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise SystemExit

    action_id = engine.store.alert_mutes.mute(KEY, "ann", None)
    monkeypatch.setattr("docstore.actions.mark_undone", fail)
    with pytest.raises(SystemExit):
        StoreHistory(engine).undo(HistorySource.ACTION, action_id, "bob")
    assert [mute.key for mute in engine.store.alert_mutes.active()] == [KEY]


def test_what_has_changed_meanwhile_is_not_undone(engine: Engine) -> None:
    history, mutes = StoreHistory(engine), engine.store.alert_mutes
    action_id = mutes.mute(KEY, "ann", None)
    mutes.unmute(KEY, "ann")
    assert not history.undo(HistorySource.ACTION, action_id, "bob")
    assert not history.undo(HistorySource.ACTION, 99, "bob") and not history.undo(HistorySource.TOPIC, 1, "bob")


def test_a_takedown_is_undone_unless_the_page_was_taken_down_again(engine: Engine) -> None:
    store, history, url = engine.store, StoreHistory(engine), "https://news.example/a"
    first = store.takedowns.take_down(url, "ann", "court")[0].action_id
    assert history.undo(HistorySource.ACTION, first, "bob") and store.takedowns.find(url) is None
    assert store.actions.load(first).undone_by == store.actions.find(limit=1)[0].action_id  # type: ignore[union-attr]
    second = store.takedowns.take_down(url, "ann", "court")[0].action_id
    assert not history.undo(HistorySource.ACTION, first, "bob") and store.takedowns.find(url) is not None
    assert history.undo(HistorySource.ACTION, second, "bob")


def test_a_restored_page_is_taken_down_again_with_all_its_addresses(engine: Engine) -> None:
    store, history, url = engine.store, StoreHistory(engine), "https://news.example/a"
    taken_down = {row.url for row in store.takedowns.take_down(url, "ann", "court", ["https://news.example/amp/a"])}
    store.takedowns.restore(url, "ann")
    restored = store.actions.find(limit=1)[0].action_id
    assert history.undo(HistorySource.ACTION, restored, "bob")
    again = store.takedowns.list_all()
    assert {row.url for row in again} == taken_down and {row.reason for row in again} == {"court"}
    assert not history.undo(HistorySource.ACTION, restored, "bob")


def test_a_setting_gets_its_previous_value_unless_it_was_changed_again(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("# mine\n[crawl]\nthreads = 4\n")
    settings = load_settings(path)
    with Engine(settings, NullProgress()) as engine:
        editor, history = FileSettingsEditor(settings, engine.store.actions), StoreHistory(engine)

        def change(text: str | None) -> int:
            editor.save({"crawl.threads": text}, editor.load_form().digest, "ann")
            return engine.store.actions.find(limit=1)[0].action_id

        first = change("8")
        assert history.undo(HistorySource.ACTION, first, "bob") and "threads = 4" in path.read_text()
        second = change(None)
        change("9")
        assert not history.undo(HistorySource.ACTION, second, "bob") and "threads = 9" in path.read_text()
        editor.save({"alerts.webhook": "https://chat.example/s3cret"}, editor.load_form().digest, "ann")
        _, [hidden, *_] = history.find(HistoryFilter(), 0, 1)
        assert not hidden.can_undo and not history.undo(HistorySource.ACTION, hidden.entry_id, "bob")
    assert path.read_text().startswith("# mine")


def test_a_killed_program_leaves_no_change_without_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[crawl]\nthreads = 4\n")
    settings = load_settings(path)
    with Engine(settings, NullProgress()) as engine:
        editor, history, record = FileSettingsEditor(settings, engine.store.actions), StoreHistory(engine), ActionTable

        @contextmanager
        def kill_during(owner: type, name: str, after: Callable[..., object] = lambda *_: None) -> Iterator[None]:
            with monkeypatch.context() as patch, pytest.raises(SystemExit):
                patch.setattr(owner, name, lambda *arguments: sys.exit(str(after(*arguments))))
                yield

        def save(threads: str) -> None:
            editor.save({"crawl.threads": threads, "crawl.depth": threads}, editor.load_form().digest, "ann")

        def recorded_values() -> list[str]:
            return sorted(str(entry.details.get("after")) for entry in history.find(HistoryFilter(), 0, 9)[1])

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
            history.undo(HistorySource.ACTION, engine.store.actions.find(limit=1)[0].action_id, "bob")
        total, [undo, undone, *_] = history.find(HistoryFilter(), 0, 9)
        assert (total, undo.account, undo.subject, undone.is_undone) == (5, "bob", undone.subject, True)
    assert list(tmp_path.glob(".*.journal")) == []


def test_a_paused_site_is_resumed_and_paused_again(tmp_path: Path) -> None:
    path, host = tmp_path / "my.toml", "news.example"
    path.write_text(f'[[sites]]\nurls = ["https://{host}/"]\n')
    with Engine(load_settings(path), NullProgress()) as engine:
        sites, history = StoreSites(engine), StoreHistory(engine)
        sites.pause(host, "ann")
        first = engine.store.actions.find("ann", limit=1)[0].action_id
        assert history.undo(HistorySource.ACTION, first, "bob") and not sites.load(host).is_paused
        resumed = engine.store.actions.find("bob", limit=1)[0].action_id
        assert history.undo(HistorySource.ACTION, resumed, "ann") and sites.load(host).is_paused
        assert not history.undo(HistorySource.ACTION, resumed, "ann")


def test_an_added_site_is_removed_from_the_settings_again(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text('# mine\n[[sites]]\nurls = ["https://news.example/"]\n')
    with Engine(load_settings(path), NullProgress()) as engine:
        history, text = StoreHistory(engine), path.read_text()
        StoreSites(engine).add("https://other.example/", "ann")
        assert "other.example" in path.read_text()
        added = engine.store.actions.find("ann", limit=1)[0].action_id
        assert history.undo(HistorySource.ACTION, added, "bob") and path.read_text() == text
        assert not history.undo(HistorySource.ACTION, added, "bob")
        undo = engine.store.actions.find("bob", limit=1)[0].action_id
        assert history.undo(HistorySource.ACTION, undo, "ann") and "other.example" in path.read_text()
        StoreSites(engine).add("https://other.example/news/", "ann")
        redo = engine.store.actions.find("ann", "site_change", limit=1)[0].action_id
        assert not history.undo(HistorySource.ACTION, redo, "ann") and "other.example/news" in path.read_text()


def test_an_undo_that_the_crawl_would_refuse_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text('[[sites]]\nurls = ["https://b.example/x/"]\nscope = ["b.example/x/"]\n')
    with Engine(load_settings(path), NullProgress()) as engine:
        sites, history = StoreSites(engine), StoreHistory(engine)
        sites.change("b.example", {"scope": "b.example"}, "ann")
        sites.change("b.example", {"urls": "https://b.example/y/"}, "ann")
        first = engine.store.actions.find("ann")[1].action_id
        text = path.read_text()
        with pytest.raises(SettingsError, match="out of scope"):
            history.undo(HistorySource.ACTION, first, "bob")
        assert path.read_text() == text


def test_an_account_is_enabled_and_gets_its_previous_roles(engine: Engine) -> None:
    store, history = engine.store, StoreHistory(engine)
    store.accounts.create("ann", "hash", [Role.OPERATOR])
    store.accounts.create("bob", "hash", [Role.REPORTS])
    administration = store.account_administration
    administration.set_roles("bob", [Role.REVIEWER, Role.REPORTS], [Role.REPORTS], "ann")
    administration.disable("bob", 1.0, "ann")
    disabled, changed = store.actions.find("ann", limit=2)
    for action in (disabled, changed):
        assert history.undo(HistorySource.ACTION, action.action_id, "ann")
        assert not history.undo(HistorySource.ACTION, action.action_id, "ann")
    bob = store.accounts.find("bob")
    assert bob is not None and bob.disabled_at is None and bob.roles == {Role.REPORTS}
    [enabled] = store.actions.find("ann", "account_enable")
    for is_undone in (True, False):
        assert history.undo(HistorySource.ACTION, enabled.action_id, "ann") == is_undone
    bob = store.accounts.find("bob")
    assert bob is not None and bob.disabled_at is not None
    administration.set_roles("bob", [Role.REVIEWER], [Role.REPORTS], "ann")
    second = store.actions.find("ann", limit=1)[0].action_id
    administration.set_roles("bob", [Role.OPERATOR], [Role.REVIEWER], "ann")
    with pytest.raises(AccountError):
        history.undo(HistorySource.ACTION, second, "ann")


def test_a_review_decision_is_undone_by_the_review(engine: Engine) -> None:
    store, history = engine.store, StoreHistory(engine)
    store.lexicons.replace_candidates([Term("页岩气", 9.0, 5, 2)])
    first = store.review_history.apply(ReviewDecisionKind.DECIDE, [TermEdit("页岩气", TermStatus.ACCEPTED)], "ann")
    assert history.undo(HistorySource.REVIEW, first.act_id, "bob")
    assert store.lexicons.find_terms(TermStatus.CANDIDATE, "页岩气")[0] == 1
    second = store.review_history.apply(ReviewDecisionKind.DECIDE, [TermEdit("页岩气", TermStatus.ACCEPTED)], "ann")
    store.review_history.apply(ReviewDecisionKind.DECIDE, [TermEdit("页岩气", TermStatus.REJECTED)], "ann")
    with pytest.raises(ConcurrentEditError):
        history.undo(HistorySource.REVIEW, second.act_id, "bob")


def test_a_decided_relation_is_open_again_unless_it_was_decided_again(engine: Engine) -> None:
    relations, history, pair = engine.store.relations, StoreHistory(engine), (RelationKind.RELATED, "烃类", "甲烷")
    relations.add_related([RelationProposal(TermRelation(*pair, "together", 0.5, ""), 1, "u", "t", 0.0)], "")

    def decide(state: ProposalState) -> int:
        relations.set_state(*pair, state, "ann")
        return engine.store.actions.find(limit=1)[0].action_id

    accepted, rejected = decide(ProposalState.ACCEPTED), decide(ProposalState.REJECTED)
    assert not history.undo(HistorySource.ACTION, accepted, "bob")
    assert history.undo(HistorySource.ACTION, rejected, "bob")
    assert relations.list_decided(ProposalState.REJECTED, 9) == []
    _, [reopened, *decided] = history.find(HistoryFilter(), 0, 9)
    assert (reopened.kind, reopened.account, reopened.can_undo) == ("relation_reopen", "bob", False)
    assert all(entry.is_undone for entry in decided)


def test_each_action_that_can_be_undone_has_a_name() -> None:
    assert [code for code in UNDO_BY_ACTION if not has_name("history", f"action_{code}")] == []


def test_comments_and_assignments_are_undone(engine: Engine) -> None:
    store, history = engine.store, StoreHistory(engine)
    store.lexicons.replace_candidates([Term(text, 9.0, 5, 2) for text in ("页岩气", "钻井")])
    comment_id = store.term_comments.add("页岩气", "ann", "见 GB/T 1.1")
    comments = store.term_comments.find(["页岩气"])
    assert history.undo(HistorySource.ACTION, comment_id, "bob") and store.term_comments.find(["页岩气"]) == {}
    assert not history.undo(HistorySource.ACTION, comment_id, "bob")
    removal_id = store.actions.find(limit=1)[0].action_id
    assert history.undo(HistorySource.ACTION, removal_id, "cho") and store.term_comments.find(["页岩气"]) == comments
    assert not history.undo(HistorySource.ACTION, removal_id, "cho")
    assert not is_reversible("term_comment_remove", {"comment_id": 1})  # as earlier versions recorded it
    store.term_assignments.assign(["页岩气"], "ann", "bob")
    second_id = store.term_assignments.assign(["页岩气", "钻井"], "bob", "bob")
    assert second_id is not None and store.term_assignments.assign(["钻井"], "bob", "ann") is None
    assert history.undo(HistorySource.ACTION, second_id, "ann")
    assert store.term_assignments.find(["页岩气", "钻井"]) == {"页岩气": "ann"}
    redo_id = store.actions.find(limit=1)[0].action_id
    store.term_assignments.assign(["钻井"], "ann", "ann")
    assert not history.undo(HistorySource.ACTION, redo_id, "ann")  # changed since
    assert store.integrity.damaged_rows() == {}
