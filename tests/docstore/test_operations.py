"""Recorded operations, their undo, and muted alerts."""

from pathlib import Path

import pytest
from sqlalchemy import update

from docstore.schema.lexicon_tables import relation_proposals
from docstore.store import Store
from domain.administration import AlertMute
from domain.alert import AlertKey
from domain.errors import LexiconError
from domain.term_relation import ProposalState, RelationKind, RelationProposal, TermRelation
from tests.builders import mute, operate, undo
from tests.conftest import logic_store_url, on_both

store_url = logic_store_url

KEY = AlertKey("site_down", "a.test")


@on_both
def test_operations_are_found_newest_first_by_account_and_name(store: Store) -> None:
    ids = [
        store.operations.record(account, name, "a.test", {"hours": 2})
        for account, name in (("anna", "site_pause"), ("bert", "site_pause"), ("anna", "site_resume"))
    ]
    assert ids == sorted(set(ids))
    assert [item.operation_id for item in store.operations.find()] == ids[::-1]
    assert [item.operation_id for item in store.operations.find(account="anna", limit=1)] == ids[2:]
    assert [item.operation_id for item in store.operations.find(name="site_pause", before_id=ids[1])] == ids[:1]
    pause = store.operations.load(ids[0])
    assert pause is not None and (pause.subject, pause.after, pause.before) == ("a.test", {"hours": 2}, None)
    assert store.operations.load(99) is None
    assert store.integrity.damaged_rows() == {}


def test_an_operation_is_undone_by_the_first_one_in_the_block(store: Store) -> None:
    pause = store.operations.record("anna", "site_pause", "a.test")
    for _ in range(2):
        with store.operations.record_undo(pause):
            store.operations.record("anna", "site_resume", "a.test")
    store.operations.record("anna", "site_resume", "b.test")
    paused = store.operations.load(pause)
    assert paused is not None and paused.undone_by == pause + 1
    assert store.integrity.damaged_rows() == {}


@on_both
def test_an_operation_that_fails_or_changes_nothing_leaves_no_record(store: Store) -> None:
    assert operate(store, "alert_unmute", kind="robots", subject="") is None
    with pytest.raises(LexiconError):
        operate(store, "term_comment", term="页岩气", comment="?")
    assert store.operations.find() == [] and store.integrity.damaged_rows() == {}


@on_both
def test_the_inverse_by_hand_marks_the_operation_as_undone(store: Store) -> None:
    mute(store, KEY)
    operate(store, "alert_unmute", kind=KEY.kind, subject=KEY.subject)
    unmuted, muted = store.operations.find()
    assert (muted.undone_by, unmuted.undone_by) == (unmuted.operation_id, None)
    mute(store, KEY, period="week")  # another mute than the one before
    assert store.operations.find()[1] == unmuted
    operate(store, "alert_unmute", kind=KEY.kind, subject=KEY.subject)
    [week] = [record for record in store.operations.find() if record.after.get("until")]
    assert undo(store, week.undone_by or 0)  # with its end
    assert [item.until for item in store.alert_mutes.active()] == [week.after["until"]]
    assert store.integrity.damaged_rows() == {}


def test_a_decision_on_a_relation_is_recorded_with_a_checksum(store: Store) -> None:
    names = {"kind": RelationKind.RELATED, "term": "烃类", "other": "甲烷"}
    relation = TermRelation(*names.values(), "together", 0.5, "")  # type: ignore[arg-type]
    store.relations.add_related([RelationProposal(relation, 1, "http://a.test/1", "t", 0.0)], "")
    with pytest.raises(LexiconError):
        operate(store, "relation_accept", kind=RelationKind.RELATED, term="甲烷", other="烃类")
    assert operate(store, "relation_accept", **names) and operate(store, "relation_accept", **names) is None
    [accepted] = store.operations.find()
    assert (accepted.name, accepted.subject, accepted.account) == ("relation_accept", "烃类 – 甲烷", "anna")
    assert (
        store.relations.related_pairs(ProposalState.ACCEPTED) == [("烃类", "甲烷")]
        and store.integrity.damaged_rows() == {}
    )
    with store._database.write() as connection:
        connection.execute(update(relation_proposals).values(decided_by="eve"))
    assert store.integrity.damaged_rows() == {"relation_proposals": ["烃类"]}
    assert undo(store, accepted.operation_id) and not undo(store, accepted.operation_id)
    [reopened, undone] = store.operations.find()
    assert (reopened.name, undone.undone_by) == ("relation_reopen", reopened.operation_id)
    assert store.relations.related_pairs(ProposalState.ACCEPTED) == [] and store.integrity.damaged_rows() == {}


@on_both
def test_texts_that_the_databases_cannot_store_are_replaced(store: Store) -> None:
    record = store.operations.load(store.operations.record("anna", "x", "a\0b", {"text": "c\0d\ud800"}))
    assert record is not None and (record.subject, record.after) == ("a\ufffdb", {"text": "c\ufffdd\ufffd"})


@pytest.mark.parametrize(("period", "until"), [("ever", None), ("day", 87_400.0)])
def test_a_mute_ends_at_its_time(store_url: str, tmp_path: Path, period: str, until: float | None) -> None:
    now = [1_000.0]
    with Store(store_url, tmp_path / "warc", clock=lambda: now[0]) as store:
        mute(store, KEY, "anna", "week")
        mute(store, KEY, "bert", period)
        assert store.alert_mutes.active() == [AlertMute(KEY, "bert", until)]
        now[0] += 90_000.0
        assert store.alert_mutes.active() == [AlertMute(KEY, "bert", until)] * (until is None)
