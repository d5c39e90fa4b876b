"""All histories in one list."""

from docstore.store import Store
from domain.administration import HistoryEntry, HistoryFilter
from domain.alert import AlertKey
from domain.focused_decision import TopicQuestion
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import Lexicon, LexiconEntry, Term, TermStatus
from tests.builders import mute, operate


def fill(store: Store) -> None:
    """Write one entry or more of each source."""
    store.lexicons.replace_candidates([Term(text, 9.0, 5, 2) for text in ("页岩气", "钻井")])
    edits = [TermEdit(text, TermStatus.ACCEPTED) for text in ("页岩气", "钻井")]
    decision = store.review_history.apply(ReviewDecisionKind.DECIDE, edits, "ann")
    store.review_history.undo("bob", decision.act_id)
    store.lexicons.publish(Lexicon(1, (LexiconEntry("页岩气", 5),), published_by="ann"))
    store.topic_questions.replace_pending("gas", [TopicQuestion("https://a.example/", "a", 0.5)])
    store.topic_questions.save_answers("gas", {"https://a.example/": True}, "bob")
    mute(store, AlertKey("robots", "a.example"), "ann", "day")
    mute(store, AlertKey("run_failed"), "bob")
    assert operate(store, "alert_unmute", "bob", kind="run_failed", subject="") is not None


def test_all_sources_newest_first(store: Store) -> None:
    fill(store)
    total, entries = store.history.find(HistoryFilter(), 0, 50)
    assert total == len(entries) == 7
    assert [entry.at for entry in entries] == sorted((entry.at for entry in entries), reverse=True)
    by_name = {(entry.is_review, entry.name): entry for entry in entries}
    decided = by_name[True, "decide"]
    assert (decided.subject, decided.account, decided.undone_by) == ("钻井, 页岩气", "ann", 2)
    assert by_name[True, "undo"].undone_by is None
    assert by_name[False, "lexicon_publish"].subject == "1"
    assert by_name[False, "topic_answer"].subject == "https://a.example/"
    assert {entry.subject for entry in entries if entry.name == "alert_mute"} == {"a.example", "run_failed"}
    assert set(store.history.names()) == set(by_name)
    assert store.history.accounts() == ["ann", "bob"]


def test_an_operation_without_subject_has_none_of_a_decision_with_its_number(store: Store) -> None:
    store.lexicons.replace_candidates([Term("页岩气", 9.0, 5, 2)])
    edit = TermEdit("页岩气", TermStatus.ACCEPTED)
    assert store.review_history.apply(ReviewDecisionKind.DECIDE, [edit], "ann").act_id == 1
    assert store.operations.record("bob", "run_start", "") == 1
    assert {entry.name: entry.subject for entry in store.history.find(HistoryFilter(), 0, 9)[1]} == {
        "decide": "页岩气", "run_start": "",
    }  # fmt: skip


def test_filters_and_pages(store: Store) -> None:
    fill(store)
    find = store.history.find

    def found(**wanted: object) -> set[tuple[str, str]]:
        return {(one.account, one.name) for one in find(HistoryFilter(**wanted), 0, 50)[1]}  # type: ignore[arg-type]

    assert found(account="bob") == {
        ("bob", "undo"),
        ("bob", "topic_answer"),
        ("bob", "alert_mute"),
        ("bob", "alert_unmute"),
    }
    assert found(is_review=False, name="alert_mute", account="ann") == {("ann", "alert_mute")}
    newest = find(HistoryFilter(), 0, 1)[1][0]
    assert len(find(HistoryFilter(until=newest.at), 0, 50)[1]) < 7 and found(since=newest.at + 1) == set()
    pages: list[HistoryEntry] = [one for offset in range(0, 8, 2) for one in find(HistoryFilter(), offset, 2)[1]]
    assert pages == find(HistoryFilter(), 0, 50)[1]
