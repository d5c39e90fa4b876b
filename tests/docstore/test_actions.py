"""Recorded actions and muted alerts."""

from pathlib import Path

import pytest
from sqlalchemy import update

from docstore.schema.lexicon_tables import relation_proposals
from docstore.store import Store
from domain.administration import AlertMute
from domain.alert import AlertKey
from domain.term_relation import ProposalState, RelationKind, RelationProposal, TermRelation
from tests.conftest import logic_store_url, on_both

store_url = logic_store_url

KEY = AlertKey("site_down", "a.test")


@on_both
def test_actions_are_found_newest_first_by_account_and_code(store: Store) -> None:
    ids = [
        store.actions.record(account, action, "a.test", {"hours": 2})
        for account, action in (("anna", "site_pause"), ("bert", "site_pause"), ("anna", "site_resume"))
    ]
    assert ids == sorted(set(ids))
    assert [item.action_id for item in store.actions.find()] == ids[::-1]
    assert [item.action_id for item in store.actions.find(account="anna", limit=1)] == ids[2:]
    assert [item.action_id for item in store.actions.find(action="site_pause", before_id=ids[1])] == ids[:1]
    pause = store.actions.load(ids[0])
    assert pause is not None and (pause.subject, pause.details) == ("a.test", {"hours": 2})
    assert store.actions.load(99) is None
    assert store.integrity.damaged_rows() == {}


def test_an_action_is_undone_by_the_first_action_in_the_block(store: Store) -> None:
    pause = store.actions.record("anna", "site_pause", "a.test")
    for _ in range(2):
        with store.actions.record_undo(pause):
            store.actions.record("anna", "site_resume", "a.test")
    store.actions.record("anna", "site_resume", "b.test")
    paused = store.actions.load(pause)
    assert paused is not None and paused.undone_by == pause + 1
    assert store.integrity.damaged_rows() == {}


def test_a_decision_on_a_relation_is_recorded_with_a_checksum(store: Store) -> None:
    pair = (RelationKind.RELATED, "烃类", "甲烷")
    proposal = RelationProposal(TermRelation(*pair, "together", 0.5, ""), 1, "http://a.test/1", "t", 0.0)
    store.relations.add_related([proposal], "")
    assert not store.relations.set_state(RelationKind.RELATED, "甲烷", "烃类", ProposalState.ACCEPTED, "anna")
    for _ in range(2):
        assert store.relations.set_state(*pair, ProposalState.ACCEPTED, "anna")
    [accepted] = store.actions.find()
    assert (accepted.action, accepted.subject, accepted.account) == ("relation_accept", "烃类 – 甲烷", "anna")
    assert store.relations.accepted_pairs() == [("烃类", "甲烷")] and store.integrity.damaged_rows() == {}
    with store._database.write() as connection:
        connection.execute(update(relation_proposals).values(decided_by="eve"))
    assert store.integrity.damaged_rows() == {"relation_proposals": ["烃类"]}
    assert not store.relations.set_state(*pair, ProposalState.PROPOSED, "bert", ProposalState.REJECTED)
    assert store.relations.set_state(*pair, ProposalState.PROPOSED, "bert", ProposalState.ACCEPTED)
    [reopened, undone] = store.actions.find()
    assert (reopened.action, undone.undone_by) == ("relation_reopen", reopened.action_id)
    assert store.relations.accepted_pairs() == [] and store.integrity.damaged_rows() == {}


@on_both
def test_texts_that_the_databases_cannot_store_are_replaced(store: Store) -> None:
    action_id = store.actions.record("anna", "settings_change", "a\0b", {"text": "c\0d\ud800"})
    action = store.actions.load(action_id)
    assert action is not None and (action.subject, action.details) == ("a\ufffdb", {"text": "c\ufffdd\ufffd"})


@pytest.mark.parametrize(("until", "is_active"), [(None, True), (2_000.0, True), (500.0, False)])
def test_a_mute_ends_at_its_time(store_url: str, tmp_path: Path, until: float | None, is_active: bool) -> None:
    with Store(store_url, tmp_path / "warc", clock=lambda: 1_000.0) as store:
        store.alert_mutes.mute(KEY, "anna", 9_000.0)
        store.alert_mutes.mute(KEY, "bert", until)
        assert store.alert_mutes.active() == [AlertMute(KEY, "bert", until)] * is_active


def test_an_alert_is_unmuted(store: Store) -> None:
    mute_id = store.alert_mutes.mute(KEY, "anna", None)
    unmute_id = store.alert_mutes.unmute(KEY, "bert")
    assert unmute_id is not None and store.alert_mutes.unmute(KEY, "bert") is None
    assert store.alert_mutes.active() == []
    assert [(item.action_id, item.action, item.account) for item in store.actions.find()] == [
        (unmute_id, "alert_unmute", "bert"),
        (mute_id, "alert_mute", "anna"),
    ]
    assert store.integrity.damaged_rows() == {}
