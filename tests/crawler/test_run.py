"""What a run does beside fetching: retries, sitemaps, redirect loops, several machines, batches on their way."""

import itertools
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from crawler.crawl import crawl
from crawler.crawl_context import CrawlContext, begin_crawl
from crawler.crawl_loop import CrawlLoop
from crawler.crawl_plan import build_crawl_plan
from crawler.http.fetch import Fetcher, FetchResult
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.origin_requests import OriginRequests
from crawler.result_handler import ResultHandler
from crawler.robots.robots_cache import RobotsFetch
from crawler.schedule.frontier import Frontier
from crawler.schedule.throttle import NO_KNOWN_START, HostThrottle
from crawler.settings import CrawlSettings
from crawler.sitemaps.lastmod_trust import UNCHANGED_TRUST_SECONDS, LastmodTrust, find_dropped_urls
from crawler.sitemaps.sitemap import SitemapEntry
from crawler.urls.canonical import host_of
from crawler.workers.coordinator import Coordinator
from crawler.workers.fetch_pool import Job, JobKind, PageResult, RobotsResult
from crawler.workers.host_leases import LeaseCoordinator
from crawler.workers.visit_recorder import BATCH_SIZE, MAX_QUEUED_BATCHES, VisitRecorder
from docstore.locking.leases import LeaseHeartbeat
from docstore.store import open_sqlite_store
from domain.errors import StoreError
from domain.frontier import LastVisit, StoredRobots
from domain.lease import Lease
from domain.outcome import Outcome, Reason, StageReport
from tests.crawler_fakes import MemoryTable, entry, make_throttle, settings
from tests.web_fixture import PATIENCE, Answer, Request, Site, page


def run(table: object, made: CrawlSettings, folder: Path, **options: object) -> StageReport:
    fetcher = Fetcher(made, PublicOnlyPolicy(made.inside_hosts))
    return crawl(table, fetcher, made, folder / "seen", **options)  # type: ignore[arg-type]


# -- failures that pass


@pytest.mark.parametrize(
    ("failures", "reason", "requests"), [(1, "fetched", 2), (2, "fetched", 3), (9, "http_error", 3)]
)
def test_a_passing_failure_is_asked_again_in_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, reason: str, requests: int
) -> None:
    monkeypatch.setattr("crawler.schedule.retry_queue._FIRST_WAIT_SECONDS", 0.01)
    answers = itertools.chain([Answer(502)] * failures, itertools.repeat(page()))
    table = MemoryTable()
    with Site({"/": page("/x", "/gone"), "/x": lambda request: next(answers)}) as site:
        report = run(table, settings(site.url()), tmp_path)
        assert site.asked().count("/x") == requests
        assert site.asked().count("/gone") == 1
    assert table.reasons()["/x"] == reason
    assert report.total == 3  # a failure that passed is no outcome


def test_a_loop_of_two_redirects_ends(tmp_path: Path) -> None:
    moved = {"/a": Answer(302, b"", {"Location": "/b"}), "/b": Answer(302, b"", {"Location": "/a"})}
    table = MemoryTable()
    with Site({"/": page("/a"), **moved}) as site:
        run(table, settings(site.url()), tmp_path)
        assert sorted(site.asked()) == ["/", "/a", "/b"]
    assert table.reasons()["/b"] == "too_many_redirects"


def test_a_name_server_that_hangs_ends_with_the_fetch() -> None:
    hangs = threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        hangs.wait(PATIENCE)
        raise socket.gaierror(-3, "late")

    made = settings("http://slow.test/", connect_timeout=60.0, total_timeout=0.3)
    try:
        result = Fetcher(made, PublicOnlyPolicy((), resolve)).fetch(entry("http://slow.test/"))
    finally:
        hangs.set()
    assert result.outcome.reason is Reason.TIMED_OUT


# -- sitemaps


DAY = 86400.0
NOW = 20_000 * DAY


@pytest.mark.parametrize(
    ("lastmod", "visit", "due"),
    [
        (NOW - 1, LastVisit(NOW - DAY, NOW + DAY, 0, True), NOW),
        (NOW - 2 * DAY - 1, LastVisit(NOW - DAY, NOW - 1, 0, True), NOW - DAY + UNCHANGED_TRUST_SECONDS),
        (NOW - 2 * DAY - 1, LastVisit(NOW - DAY, NOW - 1, 0, False), None),
        (NOW - 2 * DAY - 1, LastVisit(NOW - DAY, NOW + 9, 0, True), None),
        (None, LastVisit(NOW - DAY, NOW - 1, 0, True), None),
        (NOW - 1, LastVisit(None, 0.0, 0, True), None),
        (NOW - 1, LastVisit(NOW - DAY, None, 0, True), None),
        (NOW - 1, None, None),
        (NOW - 2 * DAY, LastVisit(NOW - DAY - 1, NOW + 9, 0, True), NOW),
    ],
    ids=["moved", "still", "hub", "not due", "no lastmod", "never asked", "blocked", "unknown", "a day, no time"],
)
def test_what_lastmod_says(
    monkeypatch: pytest.MonkeyPatch, lastmod: float | None, visit: LastVisit | None, due: float | None
) -> None:
    monkeypatch.setattr("crawler.sitemaps.lastmod_trust._is_sampled", lambda url, now: False)
    entries = [SitemapEntry("http://h/x", lastmod)]
    known = {"http://h/x": visit} if visit else {}
    assert LastmodTrust().due_times("h", entries, known, NOW).get("http://h/x") == due


def test_a_site_whose_lastmod_is_wrong_is_not_believed_from_run_to_run(tmp_path: Path) -> None:
    lastmods = LastmodTrust()
    for number in range(20):
        lastmods.predictions_by_url[f"http://h/{number}"] = False
        lastmods.record_visit("h", f"http://h/{number}", changed=True)
    lastmods.save(tmp_path / "lastmod.json")
    still = [SitemapEntry("http://h/x", NOW - 9 * DAY - 1)]
    known = {"http://h/x": LastVisit(NOW - DAY, NOW - 1, 0, True)}
    loaded = LastmodTrust.load(tmp_path / "lastmod.json")
    assert loaded.due_times("h", still, known, NOW) == {}
    moved = [SitemapEntry("http://h/x", NOW)]
    not_due = {"http://h/x": LastVisit(NOW - DAY, NOW + DAY, 0, True)}
    assert loaded.due_times("h", moved, not_due, NOW) == {}
    assert LastmodTrust().due_times("h", moved, not_due, NOW) == {"http://h/x": NOW}
    (tmp_path / "lastmod.json").write_text("[1]")
    assert LastmodTrust.load(tmp_path / "lastmod.json").observations_by_host == {}


def test_what_left_the_sitemaps_is_asked_unless_it_is_very_much() -> None:
    kept = [f"http://h/{number}" for number in range(100)]
    assert find_dropped_urls(set(kept[3:]), kept) == kept[:3]
    assert find_dropped_urls(set(kept[60:]), kept) == []


def test_sitemaps_bring_new_changed_and_gone_pages(tmp_path: Path) -> None:
    robots = Answer(200, b"User-agent: *\nAllow: /\nSitemap: /sitemap.xml", {})
    start = 1_700_000_000.0

    def sitemap(**lastmods: str) -> Answer:
        rows = "".join(f"<url><loc>/{name}</loc><lastmod>{at}</lastmod></url>" for name, at in lastmods.items())
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        return Answer(200, body.encode(), {"Content-Type": "application/xml"})

    old = "2023-11-01T00:00:00Z"
    names = ("a", "b", "c", "d")
    pages = {"/": page(), "/robots.txt": robots, **{f"/{name}": page() for name in names}}
    with (
        Site({**pages, "/sitemap.xml": sitemap(**dict.fromkeys(names, old))}) as site,
        open_sqlite_store(tmp_path) as store,
    ):
        made = settings(site.url(), revisit_shortest=600.0)
        run(store.frontier, made, tmp_path, now=lambda: start)
        assert sorted(site.asked()) == ["/", "/a", "/b", "/c", "/d", "/sitemap.xml"]
        site.requests.clear()
        site.pages["/sitemap.xml"] = sitemap(a=old, b="2023-11-16T00:00:01Z", d=old, e=old)
        site.pages.update({"/b": page(text="new"), "/e": page()})
        del site.pages["/c"]
        report = run(store.frontier, made, tmp_path, now=lambda: start + 20 * DAY)
        assert sorted(site.asked()) == ["/", "/b", "/c", "/e", "/sitemap.xml"]
    assert report.outcome_counts[Reason.GONE] == 1


# -- requests for files other than pages


class RecordingPool:
    """A fetch pool that starts nothing."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def submit(self, job: Job) -> None:
        self.jobs.append(job)


def make_origin_requests(folder: Path, throttle: HostThrottle, pool: RecordingPool) -> OriginRequests:
    table, plan = MemoryTable(), build_crawl_plan(settings("http://a.test/"))
    context = CrawlContext(table, Fetcher(settings(), PublicOnlyPolicy()), plan, folder / "seen", Coordinator())
    frontier, handler = Frontier(table, throttle, context.due_before), ResultHandler(context, plan.revisit_policy)
    return OriginRequests(context, frontier, throttle, pool, handler)  # type: ignore[arg-type]


def test_a_probe_whose_robots_request_fails_is_dropped(tmp_path: Path) -> None:
    pool = RecordingPool()
    origin_requests = make_origin_requests(tmp_path, make_throttle(delay=0.0, per_host=1), pool)
    origin_requests.add_probes(["http://a.test/no-such-page"])
    assert origin_requests.start_standalone_job()
    [job] = pool.jobs
    assert job.kind is JobKind.ROBOTS
    assert origin_requests.handle_result(PageResult(job, FetchResult(Outcome(Reason.UNEXPECTED_ERROR)))) == (None, [])
    assert not origin_requests.start_standalone_job()
    assert origin_requests.seconds_until_standalone_job() == NO_KNOWN_START


def test_pages_that_wait_for_robots_txt_do_not_reset_the_failures_of_their_host(tmp_path: Path) -> None:
    throttle, pool = make_throttle(delay=0.0, per_host=2), RecordingPool()
    origin_requests = make_origin_requests(tmp_path, throttle, pool)
    for page_entry in (entry("http://a.test/1", 1), entry("http://a.test/2", 2)):
        throttle.start_request(page_entry.host, 0.0)
        assert origin_requests.submit_prerequisite(page_entry)
    [job] = pool.jobs
    outcome = Outcome(Reason.UNREACHABLE)
    unreachable = RobotsFetch(
        StoredRobots("http://a.test", 0, b"", 0.0), outcome, FetchResult(outcome, host_failed=True)
    )
    origin_requests.handle_result(RobotsResult(job, unreachable))
    status = throttle.status_by_host()["a.test"]
    assert (status.failures, status.in_flight) == (1, 0)


# -- several machines


def test_a_crawler_leaves_a_host_to_the_crawler_that_has_taken_it_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.workers.host_leases.HOST_POLL_SECONDS", 0.01)
    with Site({}) as site, open_sqlite_store(tmp_path) as store, ExitStack() as stack:
        made = settings(site.url(), queue_policy="host", per_host=1, sitemaps=False)
        plan, policy = build_crawl_plan(made), PublicOnlyPolicy(made.inside_hosts)
        other, seconds = store.leases.with_holder("other"), PATIENCE
        heartbeat = stack.enter_context(closing(LeaseHeartbeat(store.leases.with_holder("one"), seconds, 0.005)))

        class Coordinator(LeaseCoordinator):
            def check_finished(self) -> bool:
                other.release(taken_leases)
                return super().check_finished()

        coordinator = stack.enter_context(closing(Coordinator(heartbeat, store.frontier, time.time(), 0.0, policy)))
        taken_leases: list[Lease] = []

        def take_over(_request: Request) -> Answer:
            (lease,) = coordinator.lease_by_queue.values()
            if not taken_leases:
                taken_leases.extend(filter(None, [other.take_over(lease.kind, lease.key, seconds, "one")]))
                while heartbeat.seconds_left(lease) > 0:
                    time.sleep(0.001)
            return page()

        later_paths = [f"/{n}" for n in range(30)]
        site.pages.update({"/": page("/first"), "/first": page("/taken", *later_paths), "/taken": take_over})
        site.pages.update(dict.fromkeys(later_paths, page()))
        store.frontier.use_leases(coordinator.lease_for_queue)
        fetcher = stack.enter_context(closing(Fetcher(made, policy)))
        begin_crawl(store.frontier, plan)
        context = CrawlContext(store.frontier, fetcher, plan, tmp_path / "seen", coordinator)
        CrawlLoop.from_context(context).run()
        assert context.tally.visits_by_reason[Reason.UNEXPECTED_ERROR] == 0
        assert store.frontier.due_counts_by_queue(context.due_before) == {}
        asked = site.asked()
        assert [asked.count(path) for path in later_paths] == [1] * 30
        assert asked.count("/taken") == 2  # its first visit was rejected


# -- the recorder


def test_batches_are_recorded_in_order_and_an_error_stops_them() -> None:
    seen: list[object] = []

    def record(batch: object) -> None:
        time.sleep(0.01)
        if batch == [2]:
            raise StoreError("full")
        seen.append(batch)

    recorder = VisitRecorder(record)  # type: ignore[arg-type]
    for number in (0, 1):
        recorder.submit([number])  # type: ignore[list-item]
    assert recorder.take_recorded(wait=True) == [[0], [1]]
    for number in (2, 3):
        recorder.submit([number])  # type: ignore[list-item]
    with pytest.raises(StoreError, match="full"):
        recorder.take_recorded(wait=True)
    recorder.close()
    assert seen == [[0], [1]]


def test_visits_are_recorded_when_there_are_enough_or_the_first_is_old_enough() -> None:
    seen: list[list[int]] = []
    recorder = VisitRecorder(lambda batch: seen.append(list(batch)))  # type: ignore[arg-type]
    for number in range(BATCH_SIZE + 1):
        recorder.add(number)  # type: ignore[arg-type]
    recorder.flush(min_age_seconds=60.0)
    assert [len(batch) for batch in recorder.take_recorded(wait=True)] == [BATCH_SIZE]
    assert recorder.has_unrecorded
    recorder.flush()
    recorder.take_recorded(wait=True)
    assert not recorder.has_unrecorded
    recorder.close()
    assert seen == [list(range(BATCH_SIZE)), [BATCH_SIZE]]


@pytest.fixture
def interrupting() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also where it was ignored when the tests were started."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def test_a_batch_whose_handing_in_was_interrupted_is_recorded_once(interrupting: None) -> None:
    """Ctrl-C while the recorder is behind."""
    seen: list[object] = []
    go = threading.Event()

    def record(batch: object) -> None:
        go.wait()
        seen.append(batch)

    recorder = VisitRecorder(record)  # type: ignore[arg-type]
    batches = [[number] for number in range(9)]
    handed_in = 0

    def interrupt_when_full() -> None:
        while handed_in <= MAX_QUEUED_BATCHES:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    interrupt = threading.Thread(target=interrupt_when_full)
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        for batch in batches:
            recorder.submit(batch)  # type: ignore[arg-type]
            handed_in += 1
    go.set()
    recorder.submit(batches[handed_in - 1])  # type: ignore[arg-type]
    recorder.submit(batches[handed_in])  # type: ignore[arg-type]
    recorder.close()
    interrupt.join()
    assert seen == batches[: handed_in + 1]


def test_a_stop_between_a_recorded_batch_and_its_count_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever then waits for the count waits for ever."""
    calls: list[bool] = []

    def recorded(recorder: VisitRecorder, wait: bool = False) -> list[object]:
        assert not calls, "asked again after the stop"
        if not recorder.batches_in_flight:
            return []
        recorder._recorded_queue.get()
        calls.append(wait)
        raise KeyboardInterrupt

    monkeypatch.setattr(VisitRecorder, "take_recorded", recorded)
    table = MemoryTable()
    with Site({"/": page()}) as site, pytest.raises(KeyboardInterrupt):
        run(table, settings(site.url()), tmp_path)
    assert calls and list(table.pages) == [site.url("/")]


def test_nothing_is_asked_in_quiet_hours(tmp_path: Path) -> None:
    def never(request: Request) -> Answer:
        raise AssertionError(request.path)

    now = time.mktime((2024, 5, 1, 12, 0, 0, 0, 0, -1))
    with Site({"/": never, "/robots.txt": never}) as site:
        report = run(MemoryTable(), settings(site.url(), quiet_hours="11:00-13:00"), tmp_path, now=lambda: now)
        assert site.requests == []
    assert report.notes == ("Stopped for the quiet hours 11:00-13:00",)


def test_a_run_continues_with_other_sites_in_the_quiet_hours_of_one(tmp_path: Path) -> None:
    now = time.mktime((2024, 5, 1, 12, 0, 0, 0, 0, -1))
    with Site({"/": page()}) as quiet, Site({"/": page()}) as site:
        seeds, table = (quiet.url(), site.url()), MemoryTable()
        hours = [{"host": host_of(quiet.url()), "quiet_hours": "8:00-18:30"}]
        report = run(table, settings(*seeds, tables=hours), tmp_path, now=lambda: now)
        assert quiet.requests == [] and list(table.pages) == [site.url("/")]
    assert report.notes == ("Stopped early: all remaining sites have quiet hours",)


def test_a_page_that_is_taken_down_during_the_run_is_not_requested(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site({"/": page("/1.html", "/2.html"), "/1.html": page(), "/2.html": page()}) as site:
        table.taken_down.add(site.url("/1.html"))  # after the frontier could have loaded it
        run(table, settings(site.url()), tmp_path)
        assert "/1.html" not in site.asked() and "/2.html" in site.asked()
    assert site.url("/1.html") not in table.pages
