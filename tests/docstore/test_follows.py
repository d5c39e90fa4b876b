"""Follows: what is new for whom, on SQLite and PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from docstore.follows import MAX_REQUESTS_PER_ADDRESS, MAX_REQUESTS_PER_NETWORK, FollowTable
from domain.follow import Delivery, Follow, FollowChannel, Interval, is_mail_address
from tests.conftest import logic_store_url

store_url = logic_store_url
MAIL = Follow("", FollowChannel.MAIL, "reader@x.example", "q=页岩气", Interval.DAILY, "zh")
HOUR, DAY = 3600.0, 86_400.0


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def table(store_url: str, tmp_path: Path, clock: Clock) -> Iterator[FollowTable]:
    opened = FollowTable(store_url, clock)
    yield opened
    opened.close()


def deliver(table: FollowTable, follow: Follow, batch: int, *keys: str) -> None:
    table.add_delivery(Delivery(f"{follow.follow_id[:8]}-{batch}", follow, "1 new", "text"), batch, keys)


def test_an_article_is_seen_first_once(table: FollowTable) -> None:
    assert table.mark_seen(["a", "b"]) == 1
    assert table.mark_seen(["b", "c", "c"]) == 2
    assert table.list_seen(0, 2) == ["a", "b", "c"] and table.list_seen(1, 2) == ["c"]
    assert table.mark_seen(str(number) for number in range(1200)) == 3 and len(table.list_seen(2, 3)) == 1200


def test_what_was_sent_or_seen_before_is_known(table: FollowTable) -> None:
    follow = table.save(replace(MAIL, batch=table.mark_seen(["old"])))
    table.mark_seen(["new", "other"])
    deliver(table, follow, 2, "new", "cluster1")
    assert table.find_known(follow, ["old", "new", "cluster1", "other"]) == {"old", "new", "cluster1"}


def test_a_search_is_followed_once_by_an_address(table: FollowTable, clock: Clock) -> None:
    first = table.save(MAIL)
    clock.now += 1
    again = table.save(replace(MAIL, interval=Interval.WEEKLY, language="en", batch=9))
    assert (again.follow_id, again.interval, again.batch) == (first.follow_id, Interval.WEEKLY, 0)
    other = table.save(replace(MAIL, query="q=LNG"))
    assert table.list_by_address(MAIL.address) == [again, other] and table.counts().follows == 2
    assert table.stop("other@x.example", first.follow_id) == 0, "the id alone stops nothing"
    assert table.stop(MAIL.address, first.follow_id) == 1 and table.stop(MAIL.address) == 1
    assert table.list_all() == []


def test_a_message_waits_until_it_is_sent(table: FollowTable) -> None:
    follow = table.save(MAIL)
    deliver(table, follow, 1, "a")
    deliver(table, follow, 1, "a")  # the same pass again: it was killed after the transaction
    [waiting] = table.list_deliveries("", 10)
    assert (waiting.subject, waiting.follow.batch, waiting.attempts) == ("1 new", 1, 0)
    table.record_failure(waiting, "")
    assert table.list_deliveries("", 10)[0].attempts == 1 and table.list_deliveries(waiting.delivery_id, 10) == []
    table.record_failure(waiting, "550 unknown")
    assert table.list_deliveries("", 10) == [] and table.list_all() == []
    assert [one.problem for one in table.list_problems(10)] == ["550 unknown"]
    assert (table.counts().waiting, table.counts().problems) == (1, 1)
    table.retry(follow.follow_id)
    [waiting] = table.list_deliveries("", 10)
    assert waiting.attempts == 0
    table.record_sent(waiting.delivery_id)
    assert table.counts().waiting == 0


def test_who_stops_gets_nothing_that_was_being_matched(table: FollowTable) -> None:
    follow = table.save(MAIL)
    table.stop(MAIL.address)
    deliver(table, follow, 1, "a")
    assert table.list_deliveries("", 10) == []


def test_an_address_and_a_network_have_limits(table: FollowTable, clock: Clock) -> None:
    allowed = [table.allow_request("Reader@x.example", "10.0.0.1") for _ in range(MAX_REQUESTS_PER_ADDRESS + 1)]
    assert allowed == [True] * MAX_REQUESTS_PER_ADDRESS + [False]
    assert not table.allow_request("reader@X.example", "10.0.0.2"), "case does not matter"
    others = [table.allow_request(f"r{number}@x.example", "10.0.0.1") for number in range(MAX_REQUESTS_PER_NETWORK)]
    assert others.count(True) == MAX_REQUESTS_PER_NETWORK - MAX_REQUESTS_PER_ADDRESS
    clock.now -= 10 * DAY  # set back: times in the future do not block for ever
    assert table.allow_request("reader@x.example", "10.0.0.1")
    clock.now += HOUR + 1
    assert table.allow_request("reader@x.example", "10.0.0.1")


@pytest.mark.parametrize(
    ("interval", "delivered_at", "now", "is_due"),
    [
        (Interval.DAILY, None, 0.0, True),
        (Interval.WEEKLY, None, 1 * DAY, False),
        (Interval.WEEKLY, None, 7 * DAY, True),
        (Interval.DAILY, 10 * DAY, 10 * DAY + 19 * HOUR, False),
        (Interval.DAILY, 10 * DAY, 11 * DAY - HOUR, True),
        (Interval.WEEKLY, 10 * DAY, 16 * DAY, False),
        (Interval.WEEKLY, 10 * DAY, 17 * DAY - HOUR, True),
        (Interval.WEEKLY, 400 * DAY, 10 * DAY, True),  # the clock was a year ahead
    ],
)
def test_a_changed_clock_delays_nothing(
    interval: Interval, delivered_at: float | None, now: float, is_due: bool
) -> None:
    assert replace(MAIL, interval=interval, delivered_at=delivered_at).is_due(now) is is_due


@pytest.mark.parametrize(
    ("text", "is_address"),
    [
        ("a@x.example", True),
        ("读者@例子.cn", True),
        ("a@x.example\nBcc: b@x.example", False),
        ("a@x.example, b@x.example", False),
        ("Name <a@x.example>", False),
        ("a\0@x.example", False),
        ("@x.example", False),
        ("a@", False),
        ("", False),
        (f"{'a' * 260}@x.example", False),
    ],
)
def test_an_address_is_one_address(text: str, is_address: bool) -> None:
    assert is_mail_address(text) is is_address
