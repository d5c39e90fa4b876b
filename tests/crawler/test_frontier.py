"""Whose turn it is: queues, hosts, windows. On a fake table, with a clock that stands still."""

from dataclasses import replace

import pytest

from crawler.schedule import frontier as frontier_module
from crawler.schedule.backlog import Backlog
from crawler.schedule.frontier import Frontier, Wait
from crawler.schedule.throttle import NO_KNOWN_START, HostThrottle
from domain.frontier import FrontierEntry, NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from tests.crawler_fakes import MemoryTable, ended, make_throttle


def table_of(*rows: tuple[str, int, float]) -> MemoryTable:
    """(host/path, queue, priority) each."""
    table = MemoryTable()
    table.add_urls(
        [NewUrl(f"http://{name}", name.split("/")[0], queue, 0, UrlKind.UNKNOWN, score) for name, queue, score in rows]
    )
    return table


def frontier_of(table: MemoryTable, delay: float = 0.0, per_host: int = 9) -> tuple[Frontier, HostThrottle]:
    gate = make_throttle(delay, per_host)
    return Frontier(table, gate, due_before=100.0), gate


def take(frontier: Frontier, now: float = 0.0) -> FrontierEntry:
    taken = frontier.take_next(now)
    assert isinstance(taken, FrontierEntry), taken
    return taken


def end(frontier: Frontier, gate: HostThrottle, entry: FrontierEntry, *links: NewUrl, now: float = 0.0) -> Visit:
    gate.finish_request(entry.host, now, ended())
    frontier.finish(entry)
    return Visit(entry, Outcome(Reason.FETCHED), 200.0, 300.0, 0.0, discovered_urls=links)


def test_best_first_within_a_queue_and_one_at_a_time() -> None:
    table = table_of(("a/low", 1, 0.1), ("a/high", 1, 0.9))
    frontier, gate = frontier_of(table)
    first = take(frontier)
    assert first.url == "http://a/high"
    assert frontier.take_next(0.0) == Wait(NO_KNOWN_START)
    end(frontier, gate, first)
    assert take(frontier).url == "http://a/low"


def test_queues_take_turns() -> None:
    table = table_of(*((f"a/{queue}{n}", queue, 0.0) for queue in (1, 2, 3) for n in range(3)))
    frontier, gate = frontier_of(table)
    order = []
    for _ in range(9):
        entry = take(frontier)
        order.append(entry.queue)
        end(frontier, gate, entry)
    assert [sorted(order[start : start + 3]) for start in (0, 3, 6)] == [[1, 2, 3]] * 3


def test_hosts_take_turns() -> None:
    table = table_of(*((f"{host}/{n}", 10 * number + n, 0.0) for number, host in enumerate("abc") for n in range(3)))
    frontier, _ = frontier_of(table)
    assert sorted(take(frontier).host for _ in range(3)) == ["a", "b", "c"]


def test_a_host_keeps_its_distance_however_many_queues_it_has() -> None:
    table = table_of(*((f"a/{n}", n, 0.0) for n in range(20)))
    frontier, gate = frontier_of(table, delay=2.0, per_host=1)
    first = take(frontier, 10.0)
    assert frontier.take_next(10.0) == Wait(NO_KNOWN_START)
    end(frontier, gate, first, now=10.5)
    assert frontier.take_next(10.5) == Wait(2.0)
    assert take(frontier, 12.5).host == "a"


def test_a_slow_host_does_not_hold_up_the_others_in_its_queue() -> None:
    slow = [(f"slow/{n}", 1, 0.9) for n in range(frontier_module.WINDOW_SIZE * 2)]
    frontier, gate = frontier_of(table_of(*slow, ("quick/1", 1, 0.1), ("quick/2", 1, 0.1)), delay=60.0, per_host=1)
    entry = take(frontier, 1.0)
    assert entry.host == "slow"
    end(frontier, gate, entry, now=1.0)
    assert take(frontier, 2.0).host == "quick"


def test_a_host_that_was_asked_for_something_else_has_its_turn_again() -> None:
    frontier, gate = frontier_of(table_of(("a/1", 1, 0.0)), per_host=1)
    gate.start_request("a", 0.0)  # a page that cannot exist, a sitemap: no entry's turn
    assert frontier.take_next(0.0) == Wait(NO_KNOWN_START)
    gate.finish_request("a", 0.0, ended())
    frontier.wake_host("a")
    assert take(frontier).url == "http://a/1"


def test_what_is_held_is_not_handed_out_twice_until_recorded() -> None:
    table = table_of(("a/1", 1, 0.0))
    frontier, gate = frontier_of(table)
    visit = end(frontier, gate, take(frontier))
    assert frontier.take_next(0.0) is None  # still due in the table
    table.record_visits([visit])
    frontier.mark_recorded([visit])
    assert frontier.take_next(0.0) is None  # due again, but after this run began


def test_links_of_recorded_visits_are_found_in_new_queues_too() -> None:
    table = table_of(("a/1", 1, 0.0))
    frontier, gate = frontier_of(table)
    entry = take(frontier)
    links = [NewUrl(f"http://a/new{queue}", "a", queue, 1, UrlKind.UNKNOWN, -1.0) for queue in (1, 2)]
    visit = end(frontier, gate, entry, *links)
    table.record_visits([visit])
    frontier.mark_recorded([visit])
    assert {take(frontier).queue, take(frontier).queue} == {1, 2}


@pytest.mark.parametrize("queue", [1, 2], ids=["of its queue", "of another queue"])
def test_what_is_new_does_not_wait_for_what_is_due_again(queue: int) -> None:
    """Found while pages that were fetched before wait in memory, it comes before them; a list comes before both."""
    table = table_of(*((f"a/old{n}", 1, 0.0) for n in range(9)), ("a/list", 1, 0.0))
    table.rows = {number: replace(row, gap=9.0) for number, row in table.rows.items()}
    table.rows[10] = replace(table.rows[10], kind=UrlKind.HUB)
    frontier, gate = frontier_of(table)
    entry = take(frontier)
    assert entry.url == "http://a/list"
    visit = end(frontier, gate, entry, NewUrl("http://a/new", "a", queue, 1, UrlKind.UNKNOWN, -1.0))
    table.record_visits([visit])
    frontier.mark_recorded([visit])
    order = []
    while isinstance(entry := frontier.take_next(0.0), FrontierEntry):
        order.append(entry.url)
        done = end(frontier, gate, entry)
        table.record_visits([done])
        frontier.mark_recorded([done])
    assert order[0] == "http://a/new"
    assert len(order) == 10


def test_the_backlog_counts_only_urls_of_its_own_queues() -> None:
    backlog = Backlog.from_table(MemoryTable(), 0.0, lambda queue: queue == 1)
    backlog.add_new_urls(
        NewUrl(f"http://{queue}.test/", f"{queue}.test", queue, 0, UrlKind.UNKNOWN, 0.0) for queue in (1, 2)
    )
    assert backlog.due_by_host.total() == 1


def test_put_back_is_next_again() -> None:
    frontier, gate = frontier_of(table_of(("a/1", 1, 0.9), ("a/2", 1, 0.1)))
    entry = take(frontier)
    gate.finish_request("a", 0.0, ended())
    frontier.put_back(entry)
    assert take(frontier) == entry


def test_memory_is_bounded_and_everything_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier_module, "WINDOW_SIZE", 4)
    monkeypatch.setattr(frontier_module, "MAX_URLS_IN_MEMORY", 20)
    table = table_of(*((f"h{n % 7}/{n}", n % 11, 0.0) for n in range(500)))
    frontier, gate = frontier_of(table)
    met = set()
    while isinstance(entry := frontier.take_next(0.0), FrontierEntry):
        assert frontier._window_size < 20 + 4
        met.add(entry.url)
        visit = end(frontier, gate, entry)
        table.record_visits([visit])
        frontier.mark_recorded([visit])
    assert len(met) == 500
    assert entry is None
