"""The memory of page bodies in a crawl is bounded, and no thread waits for ever."""

import threading
from collections.abc import Callable

import pytest

from crawler.memory_budget import UNCOUNTED_BYTES, MemoryBudget, Reservation
from crawler.workers.visit_recorder import BATCH_BYTES, VisitRecorder
from tests.web_fixture import PATIENCE

MB = 1_000_000


def start(target: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def ended(thread: threading.Thread) -> bool:
    thread.join(PATIENCE)
    return not thread.is_alive()


def test_threads_that_grow_step_by_step_all_end_within_the_limit_and_one_body() -> None:
    budget, peaks = MemoryBudget(10 * MB), list[int]()

    def read_bodies() -> None:
        for _ in range(20):
            with Reservation(budget) as reservation:
                for size in range(MB, 9 * MB, MB):
                    reservation.resize(size)
                    peaks.append(budget.reserved_bytes)
                reservation.resize(2 * MB)

    assert all(map(ended, [start(read_bodies) for _ in range(8)]))
    assert budget.reserved_bytes == 0
    assert 8 * MB <= max(peaks) <= 10 * MB + 8 * MB


def test_a_body_above_the_limit_is_processed_alone() -> None:
    budget = MemoryBudget(MB)
    large, small, order = Reservation(budget), Reservation(budget), list[str]()
    assert large.resize(30 * MB) < PATIENCE
    thread = start(lambda: (small.resize(MB // 2), order.append("small")))
    large.resize(40 * MB)  # the body above the limit never waits, even though another one is in the queue
    order.append("large")
    large.release()
    assert ended(thread)
    assert order == ["large", "small"] and budget.reserved_bytes == MB // 2


def test_small_bodies_are_not_counted() -> None:
    budget = MemoryBudget(0)
    first, second = Reservation(budget), Reservation(budget)
    first.resize(MB)
    assert second.resize(UNCOUNTED_BYTES) == 0.0
    assert budget.reserved_bytes == MB


def test_the_end_of_a_crawl_ends_all_waits() -> None:
    budget = MemoryBudget(MB)
    Reservation(budget).resize(2 * MB)
    thread = start(lambda: Reservation(budget).resize(2 * MB))
    budget.close()
    assert ended(thread)


def test_a_failed_body_gives_its_memory_back() -> None:
    budget = MemoryBudget(MB)
    with pytest.raises(ValueError), Reservation(budget) as reservation:
        reservation.resize(MB)
        raise ValueError
    assert budget.reserved_bytes == 0


def test_a_batch_of_visits_has_a_size() -> None:
    recorder = VisitRecorder(lambda batch: None)
    for number in range(5):
        recorder.add(number, BATCH_BYTES // 2)  # type: ignore[arg-type]
    recorder.flush()
    assert [list(batch) for batch in recorder.take_recorded(wait=True)] == [[0, 1], [2, 3], [4]]
    recorder.close()
