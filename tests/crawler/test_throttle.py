"""Politeness and revisits: pure decisions, as tables."""

import itertools
import math
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.http.fetch import Fetcher, FetchError
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.http.throttled_fetcher import ThrottledFetcher
from crawler.robots.robots_cache import fetch_robots
from crawler.schedule.quiet_hours import parse_quiet_hours, quiet_seconds_left
from crawler.schedule.revisit_policy import SECONDS_PER_HOUR, RevisitPolicy
from crawler.schedule.throttle import (
    FAILURES_BEFORE_SUSPEND,
    MAX_ADAPTIVE_DELAY_SECONDS,
    MAX_BACKOFF_SECONDS,
    MAX_RETRY_AFTER_SECONDS,
    NO_KNOWN_START,
    HostThrottle,
)
from docstore.store import open_sqlite_store
from domain.frontier import StoredRobots, UrlKind
from domain.outcome import Reason
from tests.crawler.test_run import run
from tests.crawler_fakes import ended, entry, make_throttle, settings
from tests.web_fixture import Answer, Site, page

H = "site.test"


def test_a_site_delay_is_a_minimum_without_speed_up() -> None:
    tables = [{"host": "site.test", "delay": 3}, {"host": "*.site.test", "delay": 2}]
    throttle = HostThrottle(settings(delay=1.0, delay_factor=0.0, tables=tables))
    throttle.update_backlog(H, 1_000_000, 60.0)
    for start in (10.0, 20.0):
        throttle.start_request(H, start)
        throttle.finish_request(H, start, ended(responded_at=start))
    assert throttle.earliest_start(H, 20.0) == 23.0
    throttle.start_request("www.site.test", 10.0)
    throttle.finish_request("www.site.test", 10.0, ended(responded_at=10.0))
    assert throttle.earliest_start("www.site.test", 10.0) == 12.0
    assert throttle.earliest_start("other.test", 10.0) == 10.0


def test_a_site_gets_no_request_in_its_quiet_hours() -> None:
    noon = time.mktime((2024, 5, 1, 12, 0, 0, 0, 0, -1))
    tables = [
        {"host": "site.test", "quiet_hours": "11:00-13:00, 12:30-14:00"},
        {"host": "late.test", "quiet_hours": "18:00-19:00"},
    ]
    throttle = HostThrottle(settings(tables=tables), lambda: noon)
    assert not throttle.has_quiet_host() and throttle.earliest_start("late.test", 5.0) == 5.0
    assert throttle.earliest_start(H, 5.0) == 5.0 + SECONDS_PER_HOUR and throttle.has_quiet_host()


def test_without_an_answer_the_gap_counts_from_the_end() -> None:
    gate = make_throttle(delay=2.0, per_host=1)
    gate.start_request(H, 10.0)
    gate.finish_request(H, 11.0, ended())
    assert gate.earliest_start(H, 11.0) == 13.0


def test_after_a_fetch_that_was_given_up_the_host_is_left_alone_for_as_long() -> None:
    """It may still be at it: on a busy host it has perhaps not even begun."""
    gate = make_throttle(delay=2.0, per_host=1)
    gate.start_request(H, 10.0)
    gate.finish_request(H, 18.0, ended())
    assert gate.earliest_start(H, 18.0) == 26.0
    gate.start_request(H, 30.0)
    gate.finish_request(H, 30.5, ended())
    assert gate.earliest_start(H, 30.5) == 32.5
    gate.start_request(H, 40.0)
    gate.finish_request(H, 140.0, ended())
    assert gate.earliest_start(H, 140.0) == 170.0


def test_the_gap_counts_from_when_the_answer_began() -> None:
    gate = make_throttle(delay=2.0, per_host=1)
    gate.start_request(H, 10.0)
    gate.finish_request(H, 13.0, ended(responded_at=12.5))
    assert gate.earliest_start(H, 13.0) == 14.5


def test_a_withdrawn_request_costs_nothing() -> None:
    gate = make_throttle(delay=2.0, per_host=1)
    gate.start_request(H, 10.0)
    gate.finish_request(H, 10.0, ended())
    gate.start_request(H, 12.0)
    gate.cancel_request(H)
    assert gate.earliest_start(H, 12.0) == 12.0


@pytest.mark.parametrize(("asked", "start"), [(30.0, 130.0), (0.0, 102.0), (1e9, 100.0 + MAX_RETRY_AFTER_SECONDS)])
def test_retry_after_is_granted_within_bounds(asked: float, start: float) -> None:
    gate = make_throttle(delay=1.0, per_host=1)
    gate.start_request(H, 99.0)
    gate.finish_request(H, 100.0, ended(responded_at=99.0, is_host_failure=True, retry_after=asked))
    assert gate.earliest_start(H, 100.0) == start


def test_the_gap_follows_how_long_the_host_takes_to_answer() -> None:
    gate = make_throttle(delay=1.0, per_host=1, delay_factor=2.0)
    gate.start_request(H, 0.0)
    gate.finish_request(H, 3.5, ended(responded_at=3.0))
    assert gate.earliest_start(H, 3.5) == 9.0
    assert gate.status_by_host()[H].crawl_delay == 6.0


def test_a_host_that_has_too_much_to_do_is_asked_half_as_often_from_then_on() -> None:
    gate = make_throttle(delay=1.0, per_host=1)
    gate.start_request(H, 0.0)
    gate.finish_request(H, 0.0, ended(responded_at=0.0, is_host_failure=True))
    gate.start_request(H, 10.0)
    gate.finish_request(H, 10.0, ended(responded_at=10.0))
    assert gate.earliest_start(H, 10.0) == 12.0


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
    assert quiet_seconds_left(parse_quiet_hours(text), now) == quiet * SECONDS_PER_HOUR


def test_failures_in_a_row_back_off_and_then_rest_until_a_success() -> None:
    gate = make_throttle(delay=1.0, per_host=1)
    waits = []
    for number in range(12):
        gate.start_request(H, 0.0)
        gate.finish_request(H, 0.0, ended(is_host_failure=True))
        waits.append(gate.earliest_start(H, 0.0))
        assert gate.is_suspended(H) == (number + 1 >= FAILURES_BEFORE_SUSPEND)
    assert waits[:4] == [2.0, 4.0, 8.0, 16.0]
    assert waits[-1] == MAX_BACKOFF_SECONDS
    gate.start_request(H, 0.0)
    gate.finish_request(H, 0.0, ended())
    assert not gate.is_suspended(H)


DAY = 24 * SECONDS_PER_HOUR
POLICY = RevisitPolicy(min_revisit_seconds=DAY, max_revisit_seconds=30 * DAY, hub_revisit_seconds=0.0)
NEW_ONLY = RevisitPolicy(
    min_revisit_seconds=DAY, max_revisit_seconds=30 * DAY, hub_revisit_seconds=0.0, is_new_only=True
)
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
    known = entry("http://h/x", gap=gap, kind=UrlKind.ARTICLE, attempts=3)
    due = POLICY.next_visit(known, reason, NOW)
    assert (due.due_at, due.revisit_seconds) == (pytest.approx(NOW + want), pytest.approx(want))
    assert due.failed_attempts == 0


@pytest.mark.parametrize(
    ("gap_days", "pages", "want_days"), [(1, 1000, 1.0), (30, 1000, 30.0), (1, 10, 1.75), (7, 500, 7.0), (1, 0, 7.0)]
)
def test_a_new_article_is_asked_again_as_its_site_changes(gap_days: float, pages: int, want_days: float) -> None:
    policy = RevisitPolicy(DAY, 30 * DAY, 0.0, change_rates_by_host={"h": (pages / (gap_days * DAY), pages)})
    due = policy.next_visit(entry("http://h/new"), Reason.FETCHED, NOW)
    assert due.revisit_seconds == pytest.approx(want_days * DAY, rel=0.05)
    assert policy.next_visit(entry("http://other/new"), Reason.FETCHED, NOW).revisit_seconds == 7 * DAY
    assert RevisitPolicy(0.0, DAY, 0.0).next_visit(entry("http://h/new"), Reason.FETCHED, NOW).revisit_seconds == 0.0


def answered(gate: HostThrottle, times: int, at: float, seconds: float = 0.01, good: bool = True) -> float:
    """Send `times` requests to a host, each as soon as allowed. Returns the time after the last one."""
    for _ in range(times):
        at = gate.earliest_start(H, at)
        gate.start_request(H, at)
        gate.finish_request(H, at + seconds, ended(responded_at=at + seconds, is_clean=good))
        gate.update_backlog(H, 100_000, 3600.0)
    return at


def gap_of(gate: HostThrottle) -> float:
    return gate.status_by_host()[H].crawl_delay


def test_a_large_site_that_answers_fast_is_asked_faster_up_to_the_limit() -> None:
    gate = make_throttle(1.0, 1, 2.0, speed_up=4.0)
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
    gate = make_throttle(1.0, 1, 2.0, speed_up=4.0)
    at = answered(gate, 300, 0.0)
    assert gap_of(gate) == 0.25
    if trouble == "failed":
        answered(gate, 1, at, good=False)
    elif trouble == "busy":
        gate.start_request(H, at)
        gate.finish_request(H, at, ended(responded_at=at, is_host_failure=True))
    elif trouble == "slower":
        answered(gate, 4, at, seconds=0.12)
    elif trouble == "crawl-delay":
        gate.raise_crawl_delay(H, 0.5)
        answered(gate, 1, at)
    else:
        gate.update_backlog(H, 100, 3600.0)
    assert gap_of(gate) >= 1.0
    if trouble in ("failed", "busy", "crawl-delay"):
        answered(gate, 300, at + 100.0)
        assert gap_of(gate) >= 1.0


@pytest.mark.parametrize(("waiting", "speed_up"), [(1000, 4.0), (100_000, 1.0)], ids=["fits", "never"])
def test_sites_that_fit_into_the_run_are_not_asked_faster(waiting: int, speed_up: float) -> None:
    gate = make_throttle(1.0, 1, 2.0, speed_up=speed_up)
    at = 0.0
    for _ in range(200):
        at = gate.earliest_start(H, at)
        gate.start_request(H, at)
        gate.finish_request(H, at, ended(responded_at=at))
        gate.update_backlog(H, waiting, 3600.0)
    assert gap_of(gate) == 1.0


@pytest.mark.parametrize("kind", [UrlKind.SEED, UrlKind.HUB])
@pytest.mark.parametrize("reason", [Reason.FETCHED, Reason.UNCHANGED, Reason.GONE, Reason.UNREACHABLE])
@pytest.mark.parametrize("policy", [POLICY, NEW_ONLY], ids=["revisit", "new_only"])
def test_seeds_and_hubs_are_asked_in_every_run(kind: UrlKind, reason: Reason, policy: RevisitPolicy) -> None:
    assert policy.next_visit(entry("http://h/", kind=kind), reason, NOW).due_at == NOW


@pytest.mark.parametrize("policy", [POLICY, NEW_ONLY], ids=["revisit", "new_only"])
def test_the_interval_of_an_unchanged_list_page_grows_until_it_changes(policy: RevisitPolicy) -> None:
    gap, days = 0.0, []
    for _ in range(8):
        visit = policy.next_visit(entry("http://h/list", gap=gap, kind=UrlKind.HUB), Reason.UNCHANGED, NOW)
        gap = visit.revisit_seconds
        assert visit.due_at == NOW + gap
        days.append(gap / DAY)
    assert days == [0.5, 1.5, 4.5, 13.5, 14, 14, 14, 14]
    failed = policy.next_visit(entry("http://h/list", gap=gap, kind=UrlKind.HUB), Reason.TIMED_OUT, NOW)
    assert (failed.due_at, failed.revisit_seconds, failed.failed_attempts) == (NOW, gap, 1)
    changed = policy.next_visit(entry("http://h/list", gap=gap, kind=UrlKind.HUB), Reason.FETCHED, NOW)
    assert (changed.due_at, changed.revisit_seconds) == (NOW, 0.0)


def test_intervals_of_list_pages_keep_the_settings() -> None:
    unchanged = entry("http://h/list", gap=8 * DAY, kind=UrlKind.HUB)
    assert RevisitPolicy(DAY, 3 * DAY, 0.0).next_visit(unchanged, Reason.UNCHANGED, NOW).revisit_seconds == 3 * DAY
    assert RevisitPolicy(0.0, DAY, 0.0).next_visit(unchanged, Reason.UNCHANGED, NOW).revisit_seconds == 0.0
    assert RevisitPolicy(0.0, DAY, 2.0).next_visit(unchanged, Reason.UNCHANGED, NOW).revisit_seconds == 2.0


def test_failures_are_retried_with_growing_gaps_and_then_rarely() -> None:
    waits = []
    known = entry("http://h/x", gap=5.0)
    for attempts in range(8):
        due = NEW_ONLY.next_visit(entry("http://h/x", gap=5.0, attempts=attempts), Reason.TIMED_OUT, NOW)
        assert (due.revisit_seconds, due.failed_attempts) == (known.gap, attempts + 1)
        waits.append((due.due_at - NOW) / SECONDS_PER_HOUR)
    assert waits == [1, 2, 4, 8, 16, 720, 720, 720]


@pytest.mark.parametrize("reason", [Reason.GONE, Reason.ROBOTS_FORBIDDEN, Reason.NOT_HTML, Reason.OUT_OF_SCOPE])
def test_lasting_refusals_are_asked_after_the_longest_gap(reason: Reason) -> None:
    assert POLICY.next_visit(entry("http://h/x"), reason, NOW).due_at == NOW + 30 * DAY


# -- One rule on every path: a host that asks for a pause gets it, whatever kind of file was requested.


BUSY = {"Retry-After": "1.5"}
FEED = page("/1", text="<link rel=alternate type='application/rss+xml' href=/feed>")


def gap_after(site: Site, path: str) -> float:
    """Return the seconds between the first request for `path` and the next request."""
    position = next(number for number, request in enumerate(site.requests) if request.path == path)
    return site.requests[position + 1].at - site.requests[position].at


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "status"), [("/robots.txt", 429), ("/sitemap.xml", 503), ("/feed", 429), ("/", 429), ("/", 503)]
)
def test_a_busy_host_gets_its_pause(tmp_path: Path, path: str, status: int) -> None:
    rules = b"User-agent: *\nDisallow: /private/"
    pages = {"/robots.txt": Answer(200, rules), "/": FEED, "/1": FEED, path: Answer(status, b"", BUSY)}
    with Site(pages) as site, open_sqlite_store(tmp_path) as store:
        store.frontier.save_robots(StoredRobots(f"http://{site.host}", 200, rules, 0.0))
        site.pages |= dict.fromkeys(("/2", "/3", "/4"), FEED)  # something is left to request
        seeds = [site.url(path) for path in ("/", "/1", "/private/1", "/2", "/3", "/4")]
        run(store.frontier, settings(*seeds, threads=1, per_host=1), tmp_path)
        assert gap_after(site, path) >= 1.5
        assert "/1" in site.asked() and "/private/1" not in site.asked()


def test_the_redirects_of_robots_txt_keep_the_delay_of_each_host() -> None:
    moved = Answer(301, b"", {"Location": "/r1"})
    with Site({"/robots.txt": moved, "/r1": Answer(503, b"", BUSY)}) as site:
        made = settings(site.url(), tables=[{"host": site.host, "delay": 0.3}], delay_factor=0.0)
        fetcher, throttle = Fetcher(made, PublicOnlyPolicy(made.inside_hosts)), HostThrottle(made)
        throttle.start_request(site.host, 0.0)
        fetch_robots(fetcher, f"http://{site.host}", lambda: 0.0, ThrottledFetcher(fetcher, throttle))
        starts = [request.at for request in site.requests]
        assert len(starts) == 2 and min(b - a for a, b in itertools.pairwise(starts)) >= 0.3
        assert throttle.status_by_host()[site.host].failures == 1
        assert throttle.remaining_delays(0.0)[site.host] > 1.0


def test_a_request_inside_a_job_is_given_up_if_the_host_asks_to_wait_for_long() -> None:
    with Site({"/robots.txt": Answer(429, b"", {"Retry-After": "3000"})}) as site:
        made = settings(site.url())
        fetcher = ThrottledFetcher(Fetcher(made, PublicOnlyPolicy(made.inside_hosts)), HostThrottle(made))
        assert fetch_robots(fetcher, f"http://{site.host}", lambda: 0.0).fetch_result.retry_after == 3000.0
        with pytest.raises(FetchError) as error:
            fetcher.get(site.url(), {}, lambda *_: True)
        assert error.value.outcome.reason is Reason.TIMED_OUT
        assert len(site.requests) == 1


@pytest.fixture(params=["requests in turn", "requests inside a job"])
def throttle(request: pytest.FixtureRequest) -> Iterator[HostThrottle]:
    made = HostThrottle(settings(delay=1.0, delay_factor=0.0, per_host=1, tables=[{"host": H, "delay": 120}]))
    if request.param == "requests in turn":
        made.start_request(H, 0.0)
    else:
        assert made.start_inner_request(H, 0.0, 200.0) == 0.0
    yield made


def test_a_failure_never_shortens_the_delay(throttle: HostThrottle) -> None:
    """A configured delay may be longer than the longest that failures lead to."""
    assert MAX_ADAPTIVE_DELAY_SECONDS < 120.0
    throttle.finish_request(H, 0.0, ended(responded_at=0.0, is_host_failure=True))
    assert throttle.status_by_host()[H].crawl_delay == 120.0
    throttle.finish_request(H, 300.0, ended(responded_at=300.0))
    assert throttle.earliest_start(H, 300.0) == 420.0


def test_requests_inside_a_job_wait_like_all_others(throttle: HostThrottle) -> None:
    throttle.finish_request(H, 10.0, ended(responded_at=10.0))
    assert throttle.start_inner_request(H, 20.0, 200.0) == 110.0
    assert throttle.earliest_start(H, 20.0) == NO_KNOWN_START  # it counts as in flight
    assert throttle.start_inner_request(H, 20.0, 200.0) == NO_KNOWN_START  # its turn would be in 230 s
    throttle.finish_request(H, 131.0, ended(responded_at=131.0))
    assert throttle.earliest_start(H, 131.0) == 251.0


def test_a_crawl_delay_holds_from_the_request_before() -> None:
    throttle = make_throttle(delay=1.0, per_host=1)
    throttle.start_request(H, 10.0)
    throttle.finish_request(H, 11.0, ended(responded_at=10.5))  # robots.txt
    throttle.raise_crawl_delay(H, 5.0)
    throttle.raise_crawl_delay(H, 5.0)
    assert throttle.earliest_start(H, 11.0) == 15.5
