"""What a guide makes of pages, by hand: priorities, discarded links, words that kept pages share; the window."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from crawler.focused_policy import (
    BLOCK_CONTENT,
    FocusedStrategy,
    LinkWords,
    PageWords,
    RelevanceScore,
    TokenizedPage,
    TopicWords,
    WordBlock,
    deserialize_page,
    serialize_page,
)
from crawler.schedule.best_first_frontier import BestFirstFrontier
from crawler.schedule.frontier import Wait
from crawler.schedule.queues import make_host_queue_function
from crawler.schedule.throttle import HostThrottle
from domain.errors import StoreError
from domain.focused_decision import FocusedDecision, StoredFocusedDecision
from domain.frontier import NewUrl, UrlKind
from focused.paper_strategies.semantic import SemanticStrategy
from focused.topic_policy import TopicPolicy, TopicPolicyConfig
from tests.crawler_fakes import MemoryTable, ended, make_throttle


@dataclass
class Scripted:
    """A strategy with fixed link priorities by URL; None discards a link."""

    promises: Mapping[str, float | None] = field(default_factory=dict)
    keeps: Callable[[PageWords], bool] = lambda page: True
    changes: dict[str, float] = field(default_factory=dict)
    learned: list[str] = field(default_factory=list)

    def score_page(self, page: PageWords) -> RelevanceScore:
        return RelevanceScore(self.keeps(page), 0.5)

    def link_priorities(
        self, page: PageWords, relevance: RelevanceScore, links: Sequence[LinkWords]
    ) -> Sequence[float | None]:
        return [self.promises[link.url] for link in links]

    def observe_page(self, page: PageWords, relevance: RelevanceScore) -> None:
        self.learned.append(page.url)

    def take_changed_priorities(self) -> Mapping[str, float]:
        changed, self.changes = self.changes, {}
        return changed


def page(url: str, *words: str) -> PageWords:
    return PageWords(url, blocks=(WordBlock(BLOCK_CONTENT, words, 1.0),) if words else ())


def reading(url: str, *links: str, words: tuple[str, ...] = ()) -> TokenizedPage:
    return TokenizedPage(page(url, *words), tuple(LinkWords(link) for link in links))


def guide_of(focus: FocusedStrategy, **more: object) -> TopicPolicy:
    means = TopicPolicyConfig(
        "scripted", "t", focus, lambda page: PageWords(page.url), lambda text: tuple(text.split())
    )
    return TopicPolicy(TopicPolicyConfig(**{**means.__dict__, **more}))


def test_a_reading_is_unpacked_as_it_was_packed() -> None:
    whole = TokenizedPage(
        PageWords("http://a/", ("题",), ("述", "\ud800"), (WordBlock(BLOCK_CONTENT, ("油", "井"), 0.25),)),
        (LinkWords("http://a/1", ("锚",), ()),),
    )
    assert deserialize_page(serialize_page(whole)) == whole
    for damaged in (b"", b"x", serialize_page(whole)[:-9]):
        with pytest.raises(StoreError, match="damaged"):
            deserialize_page(damaged)


def test_the_best_promise_counts_and_what_is_thought_again_counts_either_way() -> None:
    focus = Scripted({"/a": 0.5, "/b": None, "/c": 0.1})
    guide = guide_of(focus)
    first = guide.decide(reading("/1", "/a", "/b", "/c"), {"/b": "some words"})
    assert first.priorities == {"/a": 0.5, "/c": 0.1}
    assert [(one.url, one.anchor) for one in first.rejected_links] == [("/b", "some words")]
    focus.promises = {"/a": 0.4, "/b": 0.2}  # no better for /a; another page makes good for /b
    focus.changes = {"/c": 0.05, "/never": 1.0, "/1": 1.0}
    second = guide.decide(reading("/2", "/a", "/b"), {})
    assert second.priorities == {"/b": 0.2, "/c": 0.05}
    assert guide.priority_by_url == {"/a": 0.5, "/b": 0.2, "/c": 0.05}
    assert (first.seq, second.seq) == (0, 1)


def test_what_was_fetched_or_comes_first_has_no_promise() -> None:
    focus = Scripted({"/seed": 0.1, "/1": 0.1, "/a": 0.3})
    guide = guide_of(focus, seed_urls=frozenset({"/seed"}))
    guide.decide(reading("/1", "/a"), {})
    given = guide.decide(reading("/a", "/seed", "/1"), {})
    assert given.priorities == {} and guide.priority_by_url == {}


def test_a_seed_that_says_nothing_of_the_topic_leads_on() -> None:
    focus = Scripted({"/a": None, "/b": None, "/c": 0.3})
    guide = guide_of(focus, seed_urls=frozenset({"/", "/other"}))
    given = guide.decide(reading("/", "/a", "/b"), {})
    assert given.priorities == {"/a": 0.0, "/b": 0.0} and not given.rejected_links
    given = guide.decide(reading("/other", "/c", "/b"), {})  # promises something: the rest is left out, as of any page
    assert given.priorities == {"/c": 0.3}


def test_semantic_leaves_a_home_page_that_it_knows_nothing_of() -> None:
    """The first page weighs no word (ZK-F2): a topic of a name alone would end there."""
    guide = guide_of(SemanticStrategy(TopicWords(name=("页岩气",))), seed_urls=frozenset({"http://a.test/"}))
    home = TokenizedPage(page("http://a.test/", "首页", "新闻"), (LinkWords("http://a.test/1", ("页岩气", "产量")),))
    assert guide.decide(home, {}).priorities == {"http://a.test/1": 0.0}


def test_a_page_that_is_read_again_shows_only_what_is_new_on_it() -> None:
    focus = Scripted({"/a": 0.1, "/b": 0.2})
    guide = guide_of(focus)
    guide.decide(reading("/1", "/a"), {})
    guide.decide(reading("/1", "/a"), {})
    assert focus.learned == ["/1"]
    assert guide.decide(reading("/1", "/a", "/b"), {}).priorities == {"/b": 0.2}
    assert focus.learned == ["/1", "/1"]


def test_a_guide_is_restored_from_what_was_kept() -> None:
    def judged(url: str, given: FocusedDecision, kept: bool) -> StoredFocusedDecision:
        return StoredFocusedDecision(url, given.seq, given.strategy, given.topic, given.score, kept, given.packed_words)

    focus = Scripted({"/a": 0.5, "/2": 0.1}, keeps=lambda page: page.url != "/1")
    guide = guide_of(focus)
    rows = [("/1", guide.decide(reading("/1", "/a", "/2"), {})), ("/2", guide.decide(reading("/2", "/a"), {}))]
    again = guide_of(Scripted({"/a": 0.5, "/2": 0.1}))
    wanted = again.replay(judged(url, given, given.is_retained) for url, given in rows)
    assert again.priority_by_url == guide.priority_by_url == {"/a": 0.5}
    assert again.next_seq == 2
    assert wanted == ["/1"]  # it would be retained now, so it may be fetched again


def test_words_that_fifty_kept_pages_share_are_proposed_once() -> None:
    proposed: list[tuple[str, ...]] = []
    guide = guide_of(
        Scripted(), known_words=frozenset({"油"}), propose_terms=lambda words: proposed.append(tuple(words))
    )
    for number in range(150):
        shared = ("油", "钻机", "报道") if number % 3 else ("油", "管道")
        guide.decide(reading(f"/{number}", words=(*shared, f"rare{number}")), {})
    assert len(proposed) == 1
    assert set(proposed[0]) == {"钻机", "报道", "管道"}


def test_words_of_pages_off_topic_are_not_proposed() -> None:
    proposed: list[str] = []
    guide = guide_of(Scripted(keeps=lambda page: "off" not in page.url), propose_terms=proposed.extend)
    for number in range(60):
        guide.decide(reading(f"/off{number}", words=("报道",)), {})
        guide.decide(reading(f"/{number}", words=("钻机", "报道")), {})
    assert proposed == ["钻机"]


# -- the frontier


def window(*rows: tuple[str, float], delay: float = 0.0) -> tuple[BestFirstFrontier, MemoryTable, HostThrottle]:
    table, queue_of = MemoryTable(), make_host_queue_function(1)
    table.add_urls(
        [NewUrl(url, url.split("/")[2], queue_of(url), 0, UrlKind.UNKNOWN, priority) for url, priority in rows]
    )
    gate = make_throttle(delay, 1)
    return BestFirstFrontier(table, gate, 1.0, queue_of), table, gate


def taken(frontier: BestFirstFrontier, now: float) -> str:
    entry = frontier.take_next(now)
    assert entry is not None and not isinstance(entry, Wait)
    return entry.url


def test_the_best_of_all_hosts_that_may_be_asked_comes_first() -> None:
    frontier, _, gate = window(("http://a/1", 0.9), ("http://a/2", 0.8), ("http://b/1", 0.1), delay=10.0)
    assert taken(frontier, 0.0) == "http://a/1"
    assert taken(frontier, 0.0) == "http://b/1"  # a is busy
    gate.finish_request("a", 1.0, ended())
    gate.finish_request("b", 1.0, ended())
    for url in ("http://a/1", "http://b/1"):
        row = next(
            row for row in frontier._table.due_entries(make_host_queue_function(1)(url), 1.0, 9) if row.url == url
        )
        frontier.finish(row)
    waiting = frontier.take_next(1.0)
    assert isinstance(waiting, Wait) and 0 < waiting.seconds <= 10.0
    assert taken(frontier, 20.0) == "http://a/2"


def test_what_was_off_topic_is_asked_again_behind_all_others() -> None:
    """Whatever it once promised, and at whichever host."""
    frontier, table, _ = window(("http://a/off", 0.9), ("http://b/new", 0.1), ("http://b/list", 0.1))
    number = table.ids["http://a/off"]
    table.rows[number] = replace(table.rows[number], gap=1.0)
    frontier.mark_changed({make_host_queue_function(1)("http://a/off")})
    assert taken(frontier, 0.0) == "http://b/new"
    assert taken(frontier, 0.0) == "http://a/off"  # b is busy


def test_of_equals_the_first_found_comes_first_and_more_than_a_window_is_read() -> None:
    rows = [(f"http://a/{number}", 0.5) for number in range(150)]
    frontier, table, gate = window(*rows)
    order = []
    for now in range(150):
        url = taken(frontier, float(now))
        order.append(url)
        gate.finish_request("a", float(now), ended())
        frontier.finish(table.rows[table.ids[url]])
    assert order == [url for url, _ in rows]
