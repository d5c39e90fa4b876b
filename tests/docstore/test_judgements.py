"""What a focused crawl thought: kept with its visits, in their transaction."""

from docstore.frontier.focused_decisions import (
    Harvest,
    NewVerdict,
    PageDecision,
    RejectedLink,
    Revised,
    Sample,
    StoredDecision,
    StoredScore,
)
from docstore.frontier.table import NewUrl
from docstore.frontier.topic_questions import TopicQuestion
from docstore.model import Kind, Outcome, Reason
from docstore.store import Store
from tests.docstore.test_store import fetched, new_url

SEED = "http://a.test/1"


def guidance(seq: int = 0, **changes: object) -> PageDecision:
    plain: dict[str, object] = {"strategy": "fused", "topic": "油", "score": 0.25, "kept": True, "words": b"w"}
    return PageDecision(seq, **{**plain, **changes})  # type: ignore[arg-type]


def record(store: Store, url: str, given: PageDecision, *links: NewUrl, kept: bool = True) -> None:
    store.frontier.add([new_url(url)])
    entry = store.frontier.entries([url])[url]
    if kept:
        store.frontier.record([fetched(entry, links=links, guidance=given)])
    else:
        outcome = Outcome(Reason.OFF_TOPIC, "fused gives it 0.1")
        store.frontier.record([fetched(entry, page=None, outcome=outcome, links=links, guidance=given)])


def priorities(store: Store) -> dict[str, float]:
    return {row.url: row.priority for row in store.frontier.desk.rows("*")}


def test_a_judgement_comes_back_in_order_and_is_renewed_in_its_place(store: Store) -> None:
    record(store, SEED, guidance(1))
    record(store, "http://a.test/2", guidance(0, kept=False, score=0.1), kept=False)
    record(store, SEED, guidance(7, score=0.5, words=b"new"))
    assert list(store.judgements.all()) == [
        StoredDecision("http://a.test/2", 0, "fused", "油", 0.1, False, b"w"),
        StoredDecision(SEED, 1, "fused", "油", 0.5, True, b"new"),
    ]
    assert store.judgements.find(SEED) == StoredDecision(SEED, 1, "fused", "油", 0.5, True, b"new")
    assert store.judgements.find("http://never.test/") is None
    assert store.judgements.count() == 2
    assert store.judgements.harvest() == [Harvest("a.test", "fused", 2, 1, 0.5)]
    assert store.judgements.harvest()[0].rate == 0.5


def test_more_than_are_read_at_once_come_in_order(store: Store) -> None:
    store.frontier.add([new_url(f"http://a.test/{n}") for n in range(450)])
    known = store.frontier.entries([f"http://a.test/{n}" for n in range(450)])
    store.judgements.record([(known[f"http://a.test/{n}"].url_id, guidance(449 - n)) for n in range(450)])
    assert [one.url for one in store.judgements.all()] == [f"http://a.test/{n}" for n in reversed(range(450))]


def test_priorities_are_of_what_waits_alone(store: Store) -> None:
    link = new_url("http://a.test/new", kind=Kind.UNKNOWN, priority=0.3)
    store.frontier.add([new_url("http://a.test/waits")])
    record(store, SEED, guidance(priorities={"http://a.test/waits": 0.7, SEED: 9.0, "http://a.test/new": 0.4}), link)
    assert priorities(store) == {SEED: 0.0, "http://a.test/waits": 0.7, "http://a.test/new": 0.4}
    store.judgements.reprioritise({"http://a.test/new": -1.5, SEED: 5.0})
    assert priorities(store) == {SEED: 0.0, "http://a.test/waits": 0.7, "http://a.test/new": -1.5}


def test_a_link_that_is_left_out_keeps_its_last_reason(store: Store) -> None:
    out = RejectedLink("http://a.test/out", "anchor\x00", "too weak")
    record(store, SEED, guidance(left_out=(out,)))
    record(store, "http://a.test/2", guidance(1, left_out=(RejectedLink(out.url, "b", "again"),)))
    assert store.judgements.left_out(out.url) == (RejectedLink(out.url, "b", "again"), "http://a.test/2")
    assert store.judgements.left_out(SEED) is None
    assert out.url not in priorities(store)


def test_pages_of_the_archive_that_nobody_has_judged(store: Store) -> None:
    for number in (1, 2, 3):
        url = f"http://a.test/{number}"
        store.frontier.add([new_url(url)])
        store.frontier.record([fetched(store.frontier.entries([url])[url], body=b"%d" % number)])
    [second, third] = store.judgements.unread(2)
    assert [second.url, third.url] == ["http://a.test/2", "http://a.test/3"]
    assert store.articles.read_page(second) == b"2"
    store.judgements.record([(second.url_id, guidance())])
    assert [page.url for page in store.judgements.unread(9)] == ["http://a.test/1", "http://a.test/3"]


def test_new_verdicts_let_pages_go_and_name_those_to_ask_again(store: Store) -> None:
    """One that was kept and is not any more leaves; one that was not and would be has to be fetched again; what another
    strategy fetched stays."""
    record(store, SEED, guidance(0))
    record(store, "http://a.test/2", guidance(1, kept=False, score=0.1), kept=False)
    record(store, "http://a.test/3", guidance(2))
    record(store, "http://a.test/4", guidance(3, strategy="breadth_first"))
    off, on = NewVerdict(False, 0.2), NewVerdict(True, 0.9)
    new = {SEED: off, "http://a.test/2": on, "http://a.test/3": on, "http://a.test/4": off, "http://b.test/": on}
    assert store.judgements.revise(new, "fused") == Revised(1, ("http://a.test/2",))
    rows = {one.url: (one.kept, one.score) for one in store.judgements.all()}
    assert rows == {SEED: (False, 0.2), "http://a.test/2": (True, 0.9), "http://a.test/3": (True, 0.9)} | {
        "http://a.test/4": (True, 0.25)
    }
    reasons = {row.url: row.reason for row in store.frontier.desk.rows("*")}
    assert reasons[SEED] == Reason.OFF_TOPIC and reasons["http://a.test/3"] == Reason.FETCHED
    assert {page.url for page in store.articles.pending()} == {"http://a.test/3", "http://a.test/4"}
    assert store.judgements.expected("油", "fused") == (2, 1.8, 2.0)
    assert store.judgements.revise(new, "fused") == Revised()


def test_questions_wait_until_they_are_answered(store: Store) -> None:
    asked = [TopicQuestion(SEED, "玄武岩", 0.5), TopicQuestion("http://a.test/2", "", 0.4)]
    store.topic_questions.ask("油", asked)
    assert store.topic_questions.waiting("油") == asked and store.topic_questions.waiting("气") == []
    store.topic_questions.answer("油", {SEED: False, "http://a.test/9": True}, "zhang")
    assert store.topic_questions.answers("油") == {SEED: False, "http://a.test/9": True}
    assert store.topic_questions.waiting("油") == asked[1:]
    store.topic_questions.answer("油", {SEED: True}, "zhang")
    store.topic_questions.ask("油", asked[:1])  # is answered: it does not come again, and the other one went
    assert store.topic_questions.waiting("油") == []
    assert store.topic_questions.answers("油") == {SEED: True, "http://a.test/9": True}


def test_a_sample_and_what_is_not_in_it_are_all(store: Store) -> None:
    store.frontier.add([new_url(f"http://a.test/{n}") for n in range(40)])
    known = store.frontier.entries([f"http://a.test/{n}" for n in range(40)])
    store.judgements.record([(known[f"http://a.test/{n}"].url_id, guidance(n, score=n / 100)) for n in range(40)])
    sample = Sample(8, frozenset({"http://a.test/3", "http://a.test/8"}))
    some = [one.seq for one in store.judgements.all(2, sample)]
    others = list(store.judgements.scores(2, sample))
    assert some == [3, 8, 16, 24, 32]
    assert [one.seq for one in others] == [seq for seq in range(2, 40) if seq not in some]
    assert others[0] == StoredScore("http://a.test/2", 2, 0.02)
