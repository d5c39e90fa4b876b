"""One rule on every path: a host that asks for a pause gets it, whatever kind of file was requested."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.http.fetch import Fetcher, FetchError
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.http.throttled_fetcher import ThrottledFetcher
from crawler.robots.robots_cache import fetch_robots
from crawler.schedule.throttle import MAX_ADAPTIVE_DELAY_SECONDS, NO_KNOWN_START, HostThrottle
from docstore.store import open_sqlite_store
from domain.frontier import StoredRobots
from domain.outcome import Reason
from tests.crawler.test_run import run
from tests.crawler_fakes import ended, make_throttle, settings
from tests.web_fixture import Answer, Site, page

H = "site.test"
BUSY = {"Retry-After": "1.5"}
FEED = page("/1", text="<link rel=alternate type='application/rss+xml' href=/feed>")


def gap_after(site: Site, path: str) -> float:
    """Return the seconds between the first request for `path` and the next request."""
    position = next(number for number, request in enumerate(site.requests) if request.path == path)
    return site.requests[position + 1].at - site.requests[position].at


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("path", ["/robots.txt", "/sitemap.xml", "/feed", "/"])
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
        made = settings(site.url(), site_delays=(f"{site.host} 0.3",), delay_factor=0.0)
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
    made = HostThrottle(settings(delay=1.0, delay_factor=0.0, per_host=1, site_delays=(f"{H} 120",)))
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
