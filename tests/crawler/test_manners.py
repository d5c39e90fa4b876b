"""Politeness and revisits: pure decisions, as tables."""

import math
import time

import pytest

from crawler.schedule.crawl_window import quiet_hours, seconds_of_quiet
from crawler.schedule.revisit import HOUR, RevisitPolicy, policy_of
from crawler.schedule.throttle import FAILURES_TO_REST, LONGEST_BACK_OFF, LONGEST_RETRY_AFTER, NEVER, HostThrottle
from docstore.model import Kind, Reason
from tests.crawler_fakes import entry, settings

H = "site.test"


def test_starts_are_spaced_per_host() -> None:
    gate = HostThrottle(delay=2.0, per_host=2)
    gate.started(H, 10.0)
    assert gate.next_start(H, 10.5) == 12.0
    assert gate.next_start("other.test", 10.5) == 10.5


def test_no_more_under_way_than_allowed() -> None:
    gate = HostThrottle(delay=0.0, per_host=2)
    gate.started(H, 1.0)
    gate.started(H, 1.0)
    assert gate.next_start(H, 5.0) == NEVER
    gate.finished(H, 5.0)
    assert gate.next_start(H, 5.0) == 5.0


def test_without_an_answer_the_gap_counts_from_the_end() -> None:
    gate = HostThrottle(delay=2.0, per_host=1)
    gate.started(H, 10.0)
    gate.finished(H, 13.0)
    assert gate.next_start(H, 13.0) == 15.0


def test_after_a_fetch_that_was_given_up_the_host_is_left_alone_for_as_long() -> None:
    """It may still be at it: on a busy host it has perhaps not even begun."""
    gate = HostThrottle(delay=2.0, per_host=1)
    gate.started(H, 10.0)
    gate.finished(H, 18.0, given_up=True)
    assert gate.next_start(H, 18.0) == 26.0
    gate.started(H, 30.0)
    gate.finished(H, 30.5, given_up=True)
    assert gate.next_start(H, 30.5) == 32.5
    gate.started(H, 40.0)
    gate.finished(H, 140.0, given_up=True)
    assert gate.next_start(H, 140.0) == 170.0


def test_the_gap_counts_from_when_the_answer_began() -> None:
    gate = HostThrottle(delay=2.0, per_host=1)
    gate.started(H, 10.0)
    gate.finished(H, 13.0, answered_at=12.5)
    assert gate.next_start(H, 13.0) == 14.5


def test_a_withdrawn_request_costs_nothing() -> None:
    gate = HostThrottle(delay=2.0, per_host=1)
    gate.started(H, 10.0)
    gate.finished(H, 10.0)
    gate.started(H, 12.0)
    gate.withdrawn(H)
    assert gate.next_start(H, 12.0) == 12.0


def test_crawl_delay_only_slows_down() -> None:
    gate = HostThrottle(delay=2.0, per_host=1)
    gate.slow_down(H, 5.0)
    gate.slow_down(H, 1.0)
    gate.started(H, 0.0)
    gate.finished(H, 0.5)
    assert gate.next_start(H, 1.0) == 5.5


@pytest.mark.parametrize(("asked", "start"), [(30.0, 130.0), (0.0, 102.0), (1e9, 100.0 + LONGEST_RETRY_AFTER)])
def test_retry_after_is_granted_within_bounds(asked: float, start: float) -> None:
    gate = HostThrottle(delay=1.0, per_host=1)
    gate.started(H, 99.0)
    gate.finished(H, 100.0, answered_at=99.0, failed=True, retry_after=asked)
    assert gate.next_start(H, 100.0) == start


def test_the_gap_follows_how_long_the_host_takes_to_answer() -> None:
    gate = HostThrottle(delay=1.0, per_host=1, delay_factor=2.0)
    gate.started(H, 0.0)
    gate.finished(H, 3.5, answered_at=3.0)
    assert gate.next_start(H, 3.5) == 9.0
    assert gate.manners()[H].gap == 6.0


def test_a_host_that_has_too_much_to_do_is_asked_half_as_often_from_then_on() -> None:
    gate = HostThrottle(delay=1.0, per_host=1)
    gate.started(H, 0.0)
    gate.finished(H, 0.0, answered_at=0.0, failed=True)
    gate.started(H, 10.0)
    gate.finished(H, 10.0, answered_at=10.0)
    assert gate.next_start(H, 10.0) == 12.0


def test_hosts_of_one_address_share_its_limit() -> None:
    gate = HostThrottle(delay=0.0, per_host=4, per_ip=2)
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
    gate = HostThrottle(delay=1.0, per_host=1)
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
        (0.0, Reason.FETCHED, 7 * DAY),
        (8 * DAY, Reason.FETCHED, 8 * DAY * 2 / (1 + 1 / (1 - math.exp(-1)))),
        (DAY, Reason.FETCHED, DAY),
        (8 * DAY, Reason.UNCHANGED, 16 * DAY),
        (20 * DAY, Reason.UNCHANGED, 30 * DAY),
        (0.0, Reason.UNCHANGED, 7 * DAY),
    ],
)
def test_articles_by_the_estimated_rate_of_change(gap: float, reason: Reason, want: float) -> None:
    known = entry("http://h/x", gap=gap, kind=Kind.ARTICLE, attempts=3)
    due = POLICY.after(known, reason, NOW)
    assert (due.next_visit, due.gap) == (pytest.approx(NOW + want), pytest.approx(want))
    assert due.attempts == 0


@pytest.mark.parametrize(
    ("gap_days", "pages", "want_days"), [(1, 1000, 1.0), (30, 1000, 30.0), (1, 10, 1.75), (7, 500, 7.0), (1, 0, 7.0)]
)
def test_a_new_article_is_asked_again_as_its_site_changes(gap_days: float, pages: int, want_days: float) -> None:
    policy = RevisitPolicy(DAY, 30 * DAY, 0.0, rates={"h": (pages / (gap_days * DAY), pages)})
    due = policy.after(entry("http://h/new"), Reason.FETCHED, NOW)
    assert due.gap == pytest.approx(want_days * DAY, rel=0.05)
    assert policy.after(entry("http://other/new"), Reason.FETCHED, NOW).gap == 7 * DAY
    assert RevisitPolicy(0.0, DAY, 0.0).after(entry("http://h/new"), Reason.FETCHED, NOW).gap == 0.0


def answered(gate: HostThrottle, times: int, at: float, seconds: float = 0.01, good: bool = True) -> float:
    """Ask a host so many times as soon as it may be; the time after."""
    for _ in range(times):
        at = gate.next_start(H, at)
        gate.started(H, at)
        gate.finished(H, at + seconds, answered_at=at + seconds, good=good)
        gate.is_large(H, 100_000, 3600.0)
    return at


def gap_of(gate: HostThrottle) -> float:
    return gate.manners()[H].gap


def test_a_large_site_that_answers_fast_is_asked_faster_up_to_the_limit() -> None:
    gate = HostThrottle(1.0, 1, 2.0, speed_up=4.0)
    at = answered(gate, 10, 0.0)
    assert gap_of(gate) == 1.0
    at = answered(gate, 5, at)
    assert gap_of(gate) == 0.8
    before = answered(gate, 200, at)
    assert gap_of(gate) == 0.25
    after = answered(gate, 1, before)
    assert after - before == pytest.approx(0.26)


@pytest.mark.parametrize("trouble", ["failed", "busy", "slower", "crawl-delay", "small"])
def test_it_is_asked_at_the_ordinary_gap_again(trouble: str) -> None:
    gate = HostThrottle(1.0, 1, 2.0, speed_up=4.0)
    at = answered(gate, 300, 0.0)
    assert gap_of(gate) == 0.25
    if trouble == "failed":
        answered(gate, 1, at, good=False)
    elif trouble == "busy":
        gate.started(H, at)
        gate.finished(H, at, answered_at=at, failed=True)
    elif trouble == "slower":
        answered(gate, 4, at, seconds=0.12)
    elif trouble == "crawl-delay":
        gate.slow_down(H, 0.5)
        answered(gate, 1, at)
    else:
        gate.is_large(H, 100, 3600.0)
    assert gap_of(gate) >= 1.0
    if trouble in ("failed", "busy", "crawl-delay"):
        answered(gate, 300, at + 100.0)
        assert gap_of(gate) >= 1.0


@pytest.mark.parametrize(("waiting", "speed_up"), [(1000, 4.0), (100_000, 1.0)], ids=["fits", "never"])
def test_sites_that_fit_into_the_run_are_not_asked_faster(waiting: int, speed_up: float) -> None:
    gate = HostThrottle(1.0, 1, 2.0, speed_up=speed_up)
    at = 0.0
    for _ in range(200):
        at = gate.next_start(H, at)
        gate.started(H, at)
        gate.finished(H, at, answered_at=at)
        gate.is_large(H, waiting, 3600.0)
    assert gap_of(gate) == 1.0


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
