"""All histories in one list."""

from docstore.store import Store
from domain.administration import HistoryEntry, HistoryFilter, HistorySource
from domain.alert import AlertKey
from domain.focused_decision import TopicQuestion
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import Lexicon, LexiconEntry, Term, TermStatus


def fill(store: Store) -> None:
    """Write one entry or more of each source."""
    store.lexicons.replace_candidates([Term(text, 9.0, 5, 2) for text in ("页岩气", "钻井")])
    edits = [TermEdit(text, TermStatus.ACCEPTED) for text in ("页岩气", "钻井")]
    decision = store.review_history.apply(ReviewDecisionKind.DECIDE, edits, "ann")
    store.review_history.undo("bob", decision.act_id)
    store.lexicons.publish(Lexicon(1, (LexiconEntry("页岩气", 5),), published_by="ann"))
    store.topic_questions.replace_pending("gas", [TopicQuestion("https://a.example/", "a", 0.5)])
    store.topic_questions.save_answers("gas", {"https://a.example/": True}, "bob")
    store.alert_mutes.mute(AlertKey("robots", "a.example"), "ann", 9e9)
    store.alert_mutes.mute(AlertKey("run_failed"), "bob", None)


def test_all_sources_newest_first(store: Store) -> None:
    fill(store)
    total, entries = store.administration_history.find(HistoryFilter(), 0, 50)
    assert total == len(entries) == 6
    assert [entry.at for entry in entries] == sorted((entry.at for entry in entries), reverse=True)
    by_kind = {(entry.source, entry.kind): entry for entry in entries}
    decided = by_kind[HistorySource.REVIEW, "decide"]
    assert (decided.subject, decided.account, decided.is_undone) == ("钻井, 页岩气", "ann", True)
    assert not by_kind[HistorySource.REVIEW, "undo"].is_undone
    assert by_kind[HistorySource.LEXICON, "publish"].subject == "1"
    assert by_kind[HistorySource.TOPIC, "answer"].subject == "https://a.example/"
    assert {entry.subject for entry in entries if entry.kind == "alert_mute"} == {"a.example", "run_failed"}
    assert set(store.administration_history.kinds()) == set(by_kind)
    assert store.administration_history.accounts() == ["ann", "bob"]


def test_filters_and_pages(store: Store) -> None:
    fill(store)
    find = store.administration_history.find

    def found(**wanted: object) -> set[tuple[str, str]]:
        return {(one.account, one.kind) for one in find(HistoryFilter(**wanted), 0, 50)[1]}  # type: ignore[arg-type]

    assert found(account="bob") == {("bob", "undo"), ("bob", "answer"), ("bob", "alert_mute")}
    assert found(source=HistorySource.ACTION, kind="alert_mute", account="ann") == {("ann", "alert_mute")}
    newest = find(HistoryFilter(), 0, 1)[1][0]
    assert len(find(HistoryFilter(until=newest.at), 0, 50)[1]) < 6 and found(since=newest.at + 1) == set()
    pages: list[HistoryEntry] = [one for offset in range(0, 6, 2) for one in find(HistoryFilter(), offset, 2)[1]]
    assert pages == find(HistoryFilter(), 0, 50)[1]
