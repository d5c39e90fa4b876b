"""Politeness and revisits: pure decisions, as tables."""

import math
import time

import pytest

from crawler.politeness import FAILURES_TO_REST, LONGEST_BACK_OFF, LONGEST_RETRY_AFTER, NEVER, HostGate
from crawler.quiet import quiet_hours, seconds_of_quiet
from crawler.revisit import HOUR, RevisitPolicy, policy_of
from docstore.model import Kind, Reason
from tests.crawler_fakes import entry, settings

H = "site.test"


def test_starts_are_spaced_per_host() -> None:
    gate = HostGate(delay=2.0, per_host=2)
    gate.started(H, 10.0)
    assert gate.next_start(H, 10.5) == 12.0
    assert gate.next_start("other.test", 10.5) == 10.5


def test_no_more_under_way_than_allowed() -> None:
    gate = HostGate(delay=0.0, per_host=2)
    gate.started(H, 1.0)
    gate.started(H, 1.0)
    assert gate.next_start(H, 5.0) == NEVER
    gate.finished(H, 5.0)
    assert gate.next_start(H, 5.0) == 5.0


def test_without_an_answer_the_gap_counts_from_the_end() -> None:
    gate = HostGate(delay=2.0, per_host=1)
    gate.started(H, 10.0)
    gate.finished(H, 13.0)
    assert gate.next_start(H, 13.0) == 15.0


def test_the_gap_counts_from_when_the_answer_began() -> None:
    gate = HostGate(delay=2.0, per_host=1)
    gate.started(H, 10.0)
    gate.finished(H, 13.0, answered_at=12.5)
    assert gate.next_start(H, 13.0) == 14.5


def test_a_withdrawn_request_costs_nothing() -> None:
    gate = HostGate(delay=2.0, per_host=1)
    gate.started(H, 10.0)
    gate.finished(H, 10.0)
    gate.started(H, 12.0)
    gate.withdrawn(H)
    assert gate.next_start(H, 12.0) == 12.0


def test_crawl_delay_only_slows_down() -> None:
    gate = HostGate(delay=2.0, per_host=1)
    gate.slow_down(H, 5.0)
    gate.slow_down(H, 1.0)
    gate.started(H, 0.0)
    gate.finished(H, 0.5)
    assert gate.next_start(H, 1.0) == 5.5


@pytest.mark.parametrize(("asked", "start"), [(30.0, 130.0), (0.0, 102.0), (1e9, 100.0 + LONGEST_RETRY_AFTER)])
def test_retry_after_is_granted_within_bounds(asked: float, start: float) -> None:
    gate = HostGate(delay=1.0, per_host=1)
    gate.started(H, 99.0)
    gate.finished(H, 100.0, answered_at=99.0, failed=True, retry_after=asked)
    assert gate.next_start(H, 100.0) == start


def test_the_gap_follows_how_long_the_host_takes_to_answer() -> None:
    gate = HostGate(delay=1.0, per_host=1, delay_factor=2.0)
    gate.started(H, 0.0)
    gate.finished(H, 3.5, answered_at=3.0)
    assert gate.next_start(H, 3.5) == 9.0
    assert gate.manners()[H].gap == 6.0


def test_a_host_that_has_too_much_to_do_is_asked_half_as_often_from_then_on() -> None:
    gate = HostGate(delay=1.0, per_host=1)
    gate.started(H, 0.0)
    gate.finished(H, 0.0, answered_at=0.0, failed=True)
    gate.started(H, 10.0)
    gate.finished(H, 10.0, answered_at=10.0)
    assert gate.next_start(H, 10.0) == 12.0


def test_hosts_of_one_address_share_its_limit() -> None:
    gate = HostGate(delay=0.0, per_host=4, per_ip=2)
    for host in ("a.test", "b.test", "c.test"):
        gate.lives_at(host, "192.0.2.1")
    gate.started("a.test", 0.0)
    assert gate.next_start("c.test", 0.0) == 0.0
    gate.started("b.test", 0.0)
    assert gate.next_start("c.test", 0.0) > 0.0
    assert gate.next_start("elsewhere.test", 0.0) == 0.0
    gate.finished("a.test", 1.0)
    assert gate.next_start("c.test", 1.0) == 1.0


@pytest.mark.parametrize(
    ("text", "hour", "quiet"),
    [
        ("", 12, 0.0),
        ("08:00-18:30", 12, 6.5),
        ("08:00-18:30", 19, 0.0),
        ("22:00-6:00", 23, 7.0),
        ("22:00-6:00", 5, 1.0),
    ],
)
def test_quiet_hours(text: str, hour: int, quiet: float) -> None:
    now = time.mktime((2024, 5, 1, hour, 0, 0, 0, 0, -1))
    assert seconds_of_quiet(quiet_hours(text), now) == quiet * HOUR


def test_failures_in_a_row_back_off_and_then_rest_until_a_success() -> None:
    gate = HostGate(delay=1.0, per_host=1)
    waits = []
    for number in range(12):
        gate.started(H, 0.0)
        gate.finished(H, 0.0, failed=True)
        waits.append(gate.next_start(H, 0.0))
        assert gate.is_resting(H) == (number + 1 >= FAILURES_TO_REST)
    assert waits[:4] == [2.0, 4.0, 8.0, 16.0]
    assert waits[-1] == LONGEST_BACK_OFF
    gate.started(H, 0.0)
    gate.finished(H, 0.0)
    assert not gate.is_resting(H)


DAY = 24 * HOUR
POLICY = RevisitPolicy(shortest=DAY, longest=30 * DAY, hub_gap=0.0)
NEW_ONLY = RevisitPolicy(shortest=DAY, longest=30 * DAY, hub_gap=0.0, new_only=True)
NOW = 1e9


@pytest.mark.parametrize(
    ("gap", "reason", "want"),
    [
        (0.0, Reason.FETCHED, DAY),
        (8 * DAY, Reason.FETCHED, 8 * DAY * 2 / (1 + 1 / (1 - math.exp(-1)))),
        (DAY, Reason.FETCHED, DAY),
        (8 * DAY, Reason.UNCHANGED, 16 * DAY),
        (20 * DAY, Reason.UNCHANGED, 30 * DAY),
        (0.0, Reason.UNCHANGED, DAY),
    ],
)
def test_articles_by_the_estimated_rate_of_change(gap: float, reason: Reason, want: float) -> None:
    known = entry("http://h/x", gap=gap, kind=Kind.ARTICLE, attempts=3)
    due = POLICY.after(known, reason, NOW)
    assert (due.next_visit, due.gap) == (pytest.approx(NOW + want), pytest.approx(want))
    assert due.attempts == 0


@pytest.mark.parametrize("kind", [Kind.SEED, Kind.HUB])
@pytest.mark.parametrize("reason", [Reason.FETCHED, Reason.UNCHANGED, Reason.GONE, Reason.UNREACHABLE])
@pytest.mark.parametrize("policy", [POLICY, NEW_ONLY], ids=["revisit", "new_only"])
def test_seeds_and_hubs_are_asked_in_every_run(kind: Kind, reason: Reason, policy: RevisitPolicy) -> None:
    assert policy.after(entry("http://h/", kind=kind), reason, NOW).next_visit == NOW


@pytest.mark.parametrize("kind", [Kind.ARTICLE, Kind.UNKNOWN])
@pytest.mark.parametrize("reason", [Reason.FETCHED, Reason.UNCHANGED, Reason.GONE, Reason.NOT_HTML, Reason.DUPLICATE])
def test_new_only_never_asks_an_article_again(kind: Kind, reason: Reason) -> None:
    assert NEW_ONLY.after(entry("http://h/x", kind=kind), reason, NOW).next_visit is None


def test_failures_are_retried_with_growing_gaps_and_then_rarely() -> None:
    waits = []
    known = entry("http://h/x", gap=5.0)
    for attempts in range(8):
        due = NEW_ONLY.after(entry("http://h/x", gap=5.0, attempts=attempts), Reason.TIMED_OUT, NOW)
        assert (due.gap, due.attempts) == (known.gap, attempts + 1)
        waits.append((due.next_visit - NOW) / HOUR)
    assert waits == [1, 2, 4, 8, 16, 720, 720, 720]


@pytest.mark.parametrize("reason", [Reason.GONE, Reason.ROBOTS_FORBIDDEN, Reason.NOT_HTML, Reason.OFF_SCOPE])
def test_lasting_refusals_are_asked_after_the_longest_gap(reason: Reason) -> None:
    assert POLICY.after(entry("http://h/x"), reason, NOW).next_visit == NOW + 30 * DAY


def test_policy_of_settings_is_in_seconds() -> None:
    made = policy_of(
        settings("http://h/", revisit_shortest=1.0, revisit_longest=2.0, hub_gap=3.0, incremental="new_only")
    )
    assert made == RevisitPolicy(HOUR, 2 * HOUR, 3 * HOUR, True)
