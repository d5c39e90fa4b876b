"""Decisions of a focused crawl: saved with their visits in one transaction."""

from docstore.store import Store
from domain.focused_decision import (
    DecisionSample,
    FocusedDecision,
    HostHarvest,
    RejectedLink,
    RevisedDecision,
    RevisionResult,
    StoredFocusedDecision,
    StoredFocusedScore,
    TopicCoverage,
    TopicQuestion,
)
from domain.frontier import NewUrl, UrlKind
from domain.outcome import Outcome, Reason
from tests.builders import fetched, new_url

SEED = "http://a.test/1"


def guidance(seq: int = 0, **changes: object) -> FocusedDecision:
    plain: dict[str, object] = {
        "strategy": "fused",
        "topic": "油",
        "score": 0.25,
        "is_retained": True,
        "packed_words": b"w",
    }
    return FocusedDecision(seq, **{**plain, **changes})  # type: ignore[arg-type]


def record(store: Store, url: str, given: FocusedDecision, *links: NewUrl, kept: bool = True) -> None:
    store.frontier.add_urls([new_url(url)])
    entry = store.frontier.find_entries([url])[url]
    if kept:
        store.frontier.record_visits([fetched(entry, discovered_urls=links, focused_decision=given)])
    else:
        outcome = Outcome(Reason.OFF_TOPIC, "fused gives it 0.1")
        store.frontier.record_visits(
            [fetched(entry, page=None, outcome=outcome, discovered_urls=links, focused_decision=given)]
        )


def priorities(store: Store) -> dict[str, float]:
    return {row.url: row.priority for row in store.frontier.admin.iter_urls("*")}


def test_a_judgement_comes_back_in_order_and_is_renewed_in_its_place(store: Store) -> None:
    record(store, SEED, guidance(1))
    record(store, "http://a.test/2", guidance(0, is_retained=False, score=0.1), kept=False)
    record(store, SEED, guidance(7, score=0.5, packed_words=b"new"))
    assert list(store.focused_decisions.iter_decisions()) == [
        StoredFocusedDecision("http://a.test/2", 0, "fused", "油", 0.1, False, b"w"),
        StoredFocusedDecision(SEED, 1, "fused", "油", 0.5, True, b"new"),
    ]
    assert store.focused_decisions.find(SEED) == StoredFocusedDecision(SEED, 1, "fused", "油", 0.5, True, b"new")
    assert store.focused_decisions.find("http://never.test/") is None
    assert store.focused_decisions.count() == 2
    assert store.focused_decisions.harvest_by_host() == [HostHarvest("a.test", "fused", 2, 1)]
    assert store.focused_decisions.harvest_by_host()[0].harvest_rate == 0.5


def test_more_than_are_read_at_once_come_in_order(store: Store) -> None:
    store.frontier.add_urls([new_url(f"http://a.test/{n}") for n in range(450)])
    known = store.frontier.find_entries([f"http://a.test/{n}" for n in range(450)])
    store.focused_decisions.save([(known[f"http://a.test/{n}"].url_id, guidance(449 - n)) for n in range(450)])
    assert [one.url for one in store.focused_decisions.iter_decisions()] == [
        f"http://a.test/{n}" for n in reversed(range(450))
    ]


def test_priorities_are_of_what_waits_alone(store: Store) -> None:
    link = new_url("http://a.test/new", kind=UrlKind.UNKNOWN, priority=0.3)
    store.frontier.add_urls([new_url("http://a.test/waits")])
    record(store, SEED, guidance(priorities={"http://a.test/waits": 0.7, SEED: 9.0, "http://a.test/new": 0.4}), link)
    assert priorities(store) == {SEED: 0.0, "http://a.test/waits": 0.7, "http://a.test/new": 0.4}
    store.focused_decisions.update_priorities({"http://a.test/new": -1.5, SEED: 5.0})
    assert priorities(store) == {SEED: 0.0, "http://a.test/waits": 0.7, "http://a.test/new": -1.5}


def test_a_link_that_is_left_out_keeps_its_last_reason(store: Store) -> None:
    out = RejectedLink("http://a.test/out", "anchor\x00", "too weak")
    record(store, SEED, guidance(rejected_links=(out,)))
    record(store, "http://a.test/2", guidance(1, rejected_links=(RejectedLink(out.url, "b", "again"),)))
    assert store.focused_decisions.find_rejected_link(out.url) == (
        RejectedLink(out.url, "b", "again"),
        "http://a.test/2",
    )
    assert store.focused_decisions.find_rejected_link(SEED) is None
    assert out.url not in priorities(store)


def test_pages_of_the_archive_that_nobody_has_judged(store: Store) -> None:
    for number in (1, 2, 3):
        url = f"http://a.test/{number}"
        store.frontier.add_urls([new_url(url)])
        store.frontier.record_visits([fetched(store.frontier.find_entries([url])[url], body=b"%d" % number)])
    [second, third] = store.focused_decisions.undecided_pages(2)
    assert [second.url, third.url] == ["http://a.test/2", "http://a.test/3"]
    assert store.articles.read_page_body(second) == b"2"
    store.focused_decisions.save([(second.url_id, guidance())])
    assert [page.url for page in store.focused_decisions.undecided_pages(9)] == ["http://a.test/1", "http://a.test/3"]


def test_new_verdicts_let_pages_go_and_name_those_to_ask_again(store: Store) -> None:
    """Pages that are no longer relevant leave the store.

    Pages that become relevant must be fetched again. Pages of another strategy do not change.
    """
    record(store, SEED, guidance(0))
    record(store, "http://a.test/2", guidance(1, is_retained=False, score=0.1), kept=False)
    record(store, "http://a.test/3", guidance(2))
    record(store, "http://a.test/4", guidance(3, strategy="breadth_first"))
    off, on = RevisedDecision(False, 0.2), RevisedDecision(True, 0.9)
    new = {SEED: off, "http://a.test/2": on, "http://a.test/3": on, "http://a.test/4": off, "http://b.test/": on}
    assert store.focused_decisions.apply_revisions(new, "fused") == RevisionResult(1, ("http://a.test/2",))
    rows = {one.url: (one.is_retained, one.score) for one in store.focused_decisions.iter_decisions()}
    assert rows == {SEED: (False, 0.2), "http://a.test/2": (True, 0.9), "http://a.test/3": (True, 0.9)} | {
        "http://a.test/4": (True, 0.25)
    }
    reasons = {row.url: row.reason for row in store.frontier.admin.iter_urls("*")}
    assert reasons[SEED] == Reason.OFF_TOPIC and reasons["http://a.test/3"] == Reason.FETCHED
    assert {page.url for page in store.articles.iter_pending()} == {"http://a.test/3", "http://a.test/4"}
    assert store.focused_decisions.coverage("油", "fused") == TopicCoverage(3, 2, 2.0, 1.8, 0, 3)
    assert store.focused_decisions.apply_revisions(new, "fused") == RevisionResult()


def test_answers_count_once_the_scores_know_them(store: Store) -> None:
    record(store, SEED, guidance(0, score=1.0))
    record(store, "http://a.test/2", guidance(1, is_retained=False, score=0.0), kept=False)
    record(store, "http://a.test/3", guidance(2, score=0.9))
    record(store, "http://a.test/4", guidance(3, strategy="breadth_first"))
    store.topic_questions.save_answers("油", {SEED: True, "http://a.test/4": False}, "zhang")
    assert store.focused_decisions.coverage("油", "fused") == TopicCoverage(3, 2, 1.9, 1.9, 0, 1)
    store.focused_decisions.record_applied_labels("油", 2)
    assert store.focused_decisions.coverage("油", "fused") == TopicCoverage(3, 2, 1.9, 1.9, 2, 1)
    assert store.focused_decisions.coverage("气", "fused") == TopicCoverage(0, 0, 0.0, 0.0, 0, 0)


def test_questions_wait_until_they_are_answered(store: Store) -> None:
    asked = [TopicQuestion(SEED, "玄武岩", 0.5), TopicQuestion("http://a.test/2", "", 0.4)]
    store.topic_questions.replace_pending("油", asked)
    assert store.topic_questions.pending("油") == asked and store.topic_questions.pending("气") == []
    store.topic_questions.save_answers("油", {SEED: False, "http://a.test/9": True}, "zhang")
    assert store.topic_questions.answers("油") == {SEED: False, "http://a.test/9": True}
    assert store.topic_questions.pending("油") == asked[1:]
    store.topic_questions.save_answers("油", {SEED: True}, "zhang")
    store.topic_questions.replace_pending(
        "油", asked[:1]
    )  # is answered: it does not come again, and the other one went
    assert store.topic_questions.pending("油") == []
    assert store.topic_questions.answers("油") == {SEED: True, "http://a.test/9": True}


def test_a_sample_and_what_is_not_in_it_are_all(store: Store) -> None:
    store.frontier.add_urls([new_url(f"http://a.test/{n}") for n in range(40)])
    known = store.frontier.find_entries([f"http://a.test/{n}" for n in range(40)])
    store.focused_decisions.save([(known[f"http://a.test/{n}"].url_id, guidance(n, score=n / 100)) for n in range(40)])
    sample = DecisionSample(8, frozenset({"http://a.test/3", "http://a.test/8"}))
    some = [one.seq for one in store.focused_decisions.iter_decisions(2, sample)]
    others = list(store.focused_decisions.iter_unsampled_scores(2, sample))
    assert some == [3, 8, 16, 24, 32]
    assert [one.seq for one in others] == [seq for seq in range(2, 40) if seq not in some]
    assert others[0] == StoredFocusedScore("http://a.test/2", 2, 0.02)
