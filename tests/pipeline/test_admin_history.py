"""Undo of entries of the history through their areas."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.administration import HistoryFilter, HistorySource
from domain.alert import AlertKey
from domain.errors import ConcurrentEditError
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import Term, TermStatus
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings
from pipeline.site_admin.history import StoreHistory
from pipeline.site_admin.undo import UNDO_BY_ACTION
from search_ui.i18n import has_message

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


def test_what_has_changed_meanwhile_is_not_undone(engine: Engine) -> None:
    history, mutes = StoreHistory(engine), engine.store.alert_mutes
    action_id = mutes.mute(KEY, "ann", None)
    mutes.unmute(KEY, "ann")
    assert not history.undo(HistorySource.ACTION, action_id, "bob")
    assert not history.undo(HistorySource.ACTION, 99, "bob") and not history.undo(HistorySource.TOPIC, 1, "bob")


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


def test_each_action_that_can_be_undone_has_a_name() -> None:
    assert [code for code in UNDO_BY_ACTION if not has_message(f"history.action_{code}")] == []
