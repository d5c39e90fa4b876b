"""robots.txt by RFC 9309: rules, failures, keeping, and what the suites in ../shared say."""

import time

import pytest

from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.robots.robots_cache import (
    CACHE_SECONDS,
    FAILURE_CACHE_SECONDS,
    MAX_ROBOTS_BYTES,
    RobotsCache,
    RobotsFetch,
    fetch_robots,
    parse_stored_robots,
)
from crawler.robots.robots_txt import product_token
from domain.frontier import StoredRobots
from domain.outcome import Outcome, Reason
from tests.crawler_fakes import MemoryTable, settings
from tests.web_fixture import Answer, Site

FORBID = b"User-agent: *\nDisallow: /"


def allowed(robots: bytes, url: str, agent: str = "Plumbline", status: int = 200) -> bool:
    return parse_stored_robots(StoredRobots("http://h", status, robots, 0.0), agent).rejection_outcome(url) is None


@pytest.mark.parametrize(
    ("robots", "path", "want"),
    [
        (b"", "/x", True),
        (FORBID, "/x", False),
        (b"\xef\xbb\xbfUser-agent: *\nDisallow: /a", "/a", False),
        (b"User-agent: other\nDisallow: /", "/x", True),
        (b"User-agent: plumbline\nDisallow: /a\n\nUser-agent: *\nDisallow: /", "/b", True),
        (b"User-Agent: PLUMBLINE/2.0\nDisallow: /", "/b", False),
        (b"User-agent: plumbline-images\nDisallow: /", "/b", True),
        (b"User-agent: a\nUser-agent: plumbline\nUser-agent: b\nDisallow: /", "/b", False),
        (b"User-agent: *\nDisallow: /\nAllow: /news$", "/news", True),
        ("User-agent: *\nDisallow: /新闻".encode(), "/%E6%96%B0%E9%97%BB", False),
        (b"User-agent: *\nDisallow: /" + "新闻".encode("gbk"), "/%D0%C2%CE%C5", False),
        (b"\x00\xff" * 50 + b"\n" + FORBID, "/x", False),
        (FORBID.replace(b"\n", b"\r"), "/x", False),
        (b"user agent plumbline\ndisalow /x", "/x", False),
        (b"User-agent: *\nDisallow: /%7ea\nAllow: /%7ea/b", "/~a/c", False),
        (b"User-agent: *\nDisallow: /%7ea\nAllow: /%7ea/b", "/~a/b/c", True),
        (b"User-agent: *\nDisallow: /a%24b\nDisallow: /c$", "/a$b", False),
        (b"User-agent: *\nDisallow: /a%24b\nDisallow: /c$", "/c$", True),
        (b"User-agent: *\nDisallow: /a*b*c$", "/axbxbc", False),
        (b"User-agent: *\nDisallow: /a*b*c$", "/axbc?", True),
        (b"User-agent: *\nDisallow: /a*c$", "/ac", False),
        (b"User-agent: *\nDisallow: /ab*b$", "/ab", True),
        (b"User-agent: *\nDisallow: /\nAllow: /index.html", "/", True),
        (b"User-agent: *\nDisallow: /x\nAllow: /x", "/x", True),
        (b"User-agent: *\nDisallow: /long*\nAllow: /l", "/longer", False),
        (b"User-agent: *\nCrawl-delay: 1\nUser-agent: plumbline\nDisallow: /x", "/x", False),
        (b"Disallow: /x", "/x", True),
        (b"User-agent: plumb\nDisallow: /x", "/x", True),
        (b"#" * MAX_ROBOTS_BYTES + b"\n" + FORBID, "/x", True),  # only the first 500 KiB count
    ],
    ids=lambda value: str(value)[:40],
)
def test_rules(robots: bytes, path: str, want: bool) -> None:
    assert allowed(robots, f"http://h{path}") is want


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (404, None),
        (401, None),
        (429, Reason.ROBOTS_UNAVAILABLE),
        (500, Reason.ROBOTS_UNAVAILABLE),
        (0, Reason.ROBOTS_UNAVAILABLE),
    ],
)
def test_status(status: int, reason: Reason | None) -> None:
    outcome = parse_stored_robots(StoredRobots("http://h", status, FORBID, 0.0), "Plumbline").rejection_outcome(
        "http://h/x"
    )
    assert (outcome.reason if outcome else None) is reason


@pytest.mark.parametrize(
    ("line", "delay"), [("2.5", 2.5), ("1e9", 60.0), ("-1", 0.0), ("nan", 0.0), ("x", 0.0), ("", 0.0)]
)
def test_crawl_delay_is_honoured_up_to_a_minute(line: str, delay: float) -> None:
    robots = f"User-agent: *\nCrawl-delay: {line}".encode()
    assert parse_stored_robots(StoredRobots("http://h", 200, robots, 0.0), "Plumbline").crawl_delay == delay


SLOW = {
    "agents times rules": b"".join(b"User-agent: a%d\n" % n for n in range(15_000))
    + b"".join(b"Disallow: /%d\n" % n for n in range(15_000)),
    "wildcards": b"User-agent: *\n" + (b"Disallow: /" + b"*a" * 30 + b"$\n") * 7000,
    "one wildcard rule": b"User-agent: *\nDisallow: /" + b"*a" * 250_000,
    "no newlines": b"User-agent: * " * 36_000,
}


@pytest.mark.parametrize("robots", SLOW.values(), ids=SLOW.keys())
def test_costly_files_are_read_quickly(robots: bytes) -> None:
    # CPU time, two orders of magnitude above what it takes: quadratic reading took minutes.
    before = time.thread_time()
    allowed(robots, "http://h/" + "a" * 1900)
    assert time.thread_time() - before < 20


def test_rules_by_the_thousand_cost_no_more_than_a_few() -> None:
    rules = parse_stored_robots(
        StoredRobots("", 200, SLOW["agents times rules"].replace(b"a1\n", b"*\n", 1), 0.0), "Plumbline"
    )
    before = time.thread_time()
    for number in range(1000):
        rules.rejection_outcome(f"http://h/x{number}")
    assert time.thread_time() - before < 2


def test_sitemaps_are_for_everybody() -> None:
    robots = b"Sitemap: http://h/a.xml\nUser-agent: x\nSitemap: /b.xml # mine\nsite-map: http://h/a.xml"
    assert parse_stored_robots(StoredRobots("http://h", 200, robots, 0.0), "Plumbline").sitemaps == (
        "http://h/a.xml",
        "/b.xml",
    )


def test_product_token() -> None:
    assert product_token("Plumbline/0.1 (+http://x)") == "Plumbline"
    assert product_token("360Spider") == "360Spider"
    assert product_token("(x)") == "(x)"


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def answer(status: int, body: bytes = b"", failure: Outcome | None = None) -> RobotsFetch:
    return RobotsFetch(StoredRobots("http://h", status, body, Clock.now), failure)


def test_kept_for_a_day_also_across_runs(clock: Clock) -> None:
    table = MemoryTable()
    robots = RobotsCache(table, "Plumbline", clock)
    assert robots.cached_rules("http://h") is None
    robots.store(answer(200, FORBID))
    for known in (robots, RobotsCache(table, "Plumbline", clock)):
        assert known.cached_rules("http://h").rejection_outcome("http://h/x") == Outcome(Reason.ROBOTS_FORBIDDEN)
    clock.now += CACHE_SECONDS
    assert robots.cached_rules("http://h") is None


def test_a_clock_set_back_does_not_keep_it_for_longer(clock: Clock) -> None:
    robots = RobotsCache(MemoryTable(), "Plumbline", clock)
    robots.store(answer(200, FORBID))
    clock.now -= 10 * CACHE_SECONDS
    assert robots.cached_rules("http://h") is None


def test_a_failure_lasts_minutes_and_is_not_stored(clock: Clock) -> None:
    table = MemoryTable()
    robots = RobotsCache(table, "Plumbline", clock)
    robots.store(answer(0, failure=Outcome(Reason.UNREACHABLE, "refused")))
    assert robots.cached_rules("http://h").rejection_outcome("http://h/x") == Outcome(Reason.UNREACHABLE, "refused")
    assert table.stored_robots == {}
    clock.now += FAILURE_CACHE_SECONDS
    assert robots.cached_rules("http://h") is None


@pytest.mark.parametrize("status", [429, 503])
def test_an_older_copy_stays_in_force_while_no_new_one_can_be_had(clock: Clock, status: int) -> None:
    robots = RobotsCache(MemoryTable(), "Plumbline", clock)
    robots.store(answer(200, b"User-agent: *\nDisallow: /a"))
    clock.now += 2 * CACHE_SECONDS
    robots.store(answer(status))
    assert robots.cached_rules("http://h").rejection_outcome("http://h/b") is None
    assert robots.cached_rules("http://h").rejection_outcome("http://h/a") == Outcome(Reason.ROBOTS_FORBIDDEN)


def test_a_stored_429_of_an_older_version_is_asked_again(clock: Clock) -> None:
    table = MemoryTable()
    table.save_robots(StoredRobots("http://h", 429, b"", clock.now))
    assert RobotsCache(table, "Plumbline", clock).cached_rules("http://h") is None


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_file_that_is_cut_loses_the_cut_line(end: bytes) -> None:
    start = b"User-agent: *" + end + b"Disallow: /old/" + end
    for size in range(MAX_ROBOTS_BYTES - 20, MAX_ROBOTS_BYTES):
        robots = (start + b"#" * (size - len(start) - len(end)) + end + b"Disallow: /private/" + end)[
            : MAX_ROBOTS_BYTES + 1
        ]
        assert allowed(robots, "http://h/public") and not allowed(robots, "http://h/old/1")
    complete = start.ljust(MAX_ROBOTS_BYTES - 11, b"#") + end[:1] + b"Disallow: /"[: 11 - len(end[:1])]
    assert len(complete) == MAX_ROBOTS_BYTES and allowed(complete, "http://h/public")


def test_a_site_that_asks_for_more_than_a_day_between_requests_is_not_crawled() -> None:
    for value in ("1e308", "1e999", "inf", "86401"):
        robots = f"User-agent: *\nCrawl-delay: {value}".encode()
        outcome = parse_stored_robots(StoredRobots("http://h", 200, robots, 0.0), "Plumbline").rejection_outcome("/x")
        assert outcome is not None and outcome.reason is Reason.ROBOTS_FORBIDDEN and "Crawl-delay" in outcome.detail


def ask(site: Site, **changes: object) -> RobotsFetch:
    made = settings(site.url(), **changes)
    return fetch_robots(Fetcher(made, PublicOnlyPolicy(made.inside_hosts)), f"http://{site.host}", lambda: 5.0)


def moved(to: str) -> Answer:
    return Answer(301, b"", {"Location": to})


@pytest.mark.parametrize("hops", [0, 5])
def test_fetched_over_five_redirects(hops: int) -> None:
    pages = {"/robots.txt": moved("/r1")} if hops else {}
    pages.update({f"/r{n}": moved(f"/r{n + 1}") for n in range(1, hops)})
    pages[f"/r{hops}" if hops else "/robots.txt"] = Answer(200, FORBID, {"Content-Type": "text/plain"})
    with Site(pages) as site:
        assert ask(site).robots_file == StoredRobots(f"http://{site.host}", 200, FORBID, 5.0)
        assert len(site.requests) == hops + 1


@pytest.mark.parametrize("to", ["/robots.txt", "file:///etc/passwd"], ids=["loop", "nowhere"])
def test_redirects_that_lead_nowhere_count_as_absent(to: str) -> None:
    with Site({"/robots.txt": moved(to)}) as site:
        assert ask(site).robots_file.status == 404


def test_a_redirect_to_the_inside_is_refused() -> None:
    with Site({"/robots.txt": moved("http://10.0.0.1/")}) as site:
        assert ask(site).failure.reason is Reason.PRIVATE_ADDRESS


def test_a_huge_file_is_cut() -> None:
    with Site({"/robots.txt": Answer(200, FORBID + b"\n" + b"#" * 2_000_000, {})}) as site:
        fetched = ask(site).robots_file
    assert len(fetched.body) == MAX_ROBOTS_BYTES + 1
    assert fetched.status == 200


def test_no_answer_is_a_failure() -> None:
    with Site({}) as site:
        pass
    fetched = ask(site)
    assert fetched.fetch_result.host_failed
    assert fetched.failure.reason is Reason.UNREACHABLE
