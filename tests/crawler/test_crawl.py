"""The whole loop on real local servers, with a working table in memory."""

import itertools
import pickle
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import crawler.workers.fetch_pool
from crawler.crawl import CrawlProgress, crawl
from crawler.crawl_plan import build_crawl_plan, check_addresses
from crawler.focused_policy import PageWords, TokenizedPage
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.schedule.queues import QUEUE_POLICIES
from crawler.settings import CrawlSettings
from crawler.site import Sites
from domain.errors import PlumblineError, SettingsError, StoreError
from domain.focused_decision import FocusedDecision
from domain.frontier import UrlKind
from domain.outcome import Reason, StageReport
from domain.page import Page
from tests.crawler_fakes import MemoryTable, settings, sites
from tests.web_fixture import PATIENCE, Answer, Request, Site, page

REPEATED = {"revisit_shortest": 0.0, "revisit_longest": 1e-9}  # every page is due again in the next run


def run(table: MemoryTable, made: CrawlSettings, folder: Path, **options: object) -> StageReport:
    fetcher = Fetcher(made, PublicOnlyPolicy(made.inside_hosts))
    return crawl(table, fetcher, made, folder / "seen", **options)  # type: ignore[arg-type]


def tree(levels: int, width: int, path: str = "") -> dict[str, Answer]:
    """A site in which every page links to `width` deeper ones and back home."""
    deeper = [f"{path}/{n}" for n in range(width)] if levels else []
    pages = {path or "/": page("/", *deeper, ETag=f'"{path}"')}
    for child in deeper:
        pages.update(tree(levels - 1, width, child))
    return pages


def test_a_site_is_crawled_once_and_then_answers_304(tmp_path: Path) -> None:
    pages = tree(levels=3, width=3)
    table = MemoryTable()
    with Site(pages) as site:
        made = settings(site.url(), **REPEATED)
        report = run(table, made, tmp_path)
        asked = Counter(site.asked())
        assert Counter({path: asked[path] for path in pages}) == Counter(pages.keys())
        assert len(asked) - len(pages) <= 4  # probes test whether its folders are finite
        assert report.outcome_counts[Reason.FETCHED] == len(pages) == len(table.pages)
        site.requests.clear()
        again = run(table, made, tmp_path)
        assert Counter(site.asked()) == Counter(pages.keys())
        assert again.outcome_counts == {Reason.UNCHANGED: len(pages)}
        assert {visit.outcome.detail for visit in table.visits[-len(pages) :]} == {"304"}


def shifted_time(seconds: float) -> float:
    return time.time() + seconds


def test_unchanged_list_pages_are_requested_rarely_and_changing_ones_every_night(tmp_path: Path) -> None:
    """Of 21 list pages, one brings a new article each night, and twenty never change."""
    nights, day = 22, 86_400.0
    archives = [f"/archive/{n}" for n in range(20)]
    found_at: dict[str, int] = {}
    unchanged_requests: list[int] = []
    table = MemoryTable()
    with Site({"/": page("/news", *archives), **{path: page(ETag='"1"') for path in archives}}) as site:
        made = settings(site.url())
        start = time.time()
        for night in range(nights):
            site.pages["/news"] = page(*(f"/article/{n}" for n in range(night + 1)))
            site.pages[f"/article/{night}"] = page()
            site.requests.clear()
            began = time.time()
            clock = partial(shifted_time, start + night * day - began)
            crawl(table, Fetcher(made, PublicOnlyPolicy(made.inside_hosts), clock), made, tmp_path / "seen", clock)
            asked = site.asked()
            found_at.update((path, night) for path in asked if path.startswith("/article/") and path not in found_at)
            unchanged_requests.append(sum(path in archives for path in asked) if night else 0)
            for path in ("/news", *archives):  # as the extraction does for a new list page
                row = table.rows[table.ids[site.url(path)]]
                if row.kind is not UrlKind.HUB:
                    table.rows[row.url_id] = replace(row, kind=UrlKind.HUB, gap=0.0)
                    table.due_at[row.url_id] = 0.0
    assert found_at == {f"/article/{night}": night for night in range(nights)}
    assert unchanged_requests[1:3] == [20, 20]
    assert sum(unchanged_requests[8:]) / (len(archives) * len(unchanged_requests[8:])) <= 0.1
    assert sum(unchanged_requests[8:]) > 0


def test_new_only_asks_seeds_again_and_articles_never(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site({"/": page("/1"), "/1": page(), "/2": page()}) as site:
        made = settings(site.url(), incremental="new_only")
        run(table, made, tmp_path)
        site.pages["/"] = page("/1", "/2")
        site.requests.clear()
        run(table, made, tmp_path)
        assert sorted(site.asked()) == ["/", "/2"]


def test_depth(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site(tree(levels=4, width=1)) as site:
        run(table, settings(site.url(), depth=2), tmp_path)
        assert sorted(site.asked()) == ["/", "/0", "/0/0"]


def test_links_are_filtered_counted_and_kept_with_their_words(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site({"/": page("/a", "http://other.test/", "/x.zip", "ftp://x/y", "mailto:x@y"), "/a": page()}) as site:
        site.pages["/x.zip"] = Answer(200, b"PK", {"Content-Type": "application/zip"})
        report = run(table, settings(site.url()), tmp_path)
    assert report.outcome_counts == {Reason.FETCHED: 2, Reason.NOT_HTML: 1}
    [note] = report.notes
    assert note.startswith("Links not followed: ")
    assert set(note.removeprefix("Links not followed: ").split("; ")) == {"1 off_scope", "1 bad_url"}
    link = next(visit for visit in table.visits if visit.discovered_urls).discovered_urls[0]
    assert (link.anchor, link.context, link.depth, link.parent_id) == ("见0", "行业 新闻", 1, 1)
    assert (link.kind, link.priority, link.host) == (UrlKind.UNKNOWN, -1.0, site.host)


def test_politeness_as_the_server_sees_it(tmp_path: Path) -> None:
    delay = 0.05
    moved = Answer(301, b"", {"Location": "/robots2.txt"})
    with Site({**tree(levels=1, width=5), "/robots.txt": moved}) as site:
        run(MemoryTable(), settings(site.url(), delay=delay, per_host=1), tmp_path)
        starts = [request.at for request in site.requests]  # robots.txt included
    gaps = [later - earlier for earlier, later in itertools.pairwise(starts)]
    assert len(gaps) == 7
    assert min(gaps) >= delay


def test_the_limit_per_ip_address_holds_from_the_first_request_to_a_host(tmp_path: Path) -> None:
    lock, in_flight, max_in_flight = threading.Lock(), 0, 0

    def answer(request: Request) -> Answer:
        nonlocal in_flight, max_in_flight
        with lock:
            in_flight += 1
            max_in_flight = max(max_in_flight, in_flight)
        time.sleep(0.05)
        with lock:
            in_flight -= 1
        return page()

    paths = {"/": answer, "/robots.txt": answer}
    with Site(paths) as first, Site(paths) as second, Site(paths) as third:
        table, crawl = MemoryTable(), settings(first.url(), second.url(), third.url(), per_ip=1, **REPEATED)
        run(table, crawl, tmp_path)
        run(table, crawl, tmp_path)  # without robots.txt, which is stored
    assert max_in_flight == 1


def test_crawl_delay_of_robots_is_kept(tmp_path: Path) -> None:
    robots = Answer(200, b"User-agent: plumbline\nCrawl-delay: 0.05", {"Content-Type": "text/plain"})
    with Site({**tree(levels=1, width=3), "/robots.txt": robots}) as site:
        table, made = MemoryTable(), settings(site.url(), per_host=1, **REPEATED)
        run(table, made, tmp_path)
        starts = [request.at for request in site.requests]
        site.requests.clear()
        run(table, made, tmp_path)  # by the stored robots.txt
        again = [request.at for request in site.requests]
    assert (len(starts), len(again)) == (5, 4)
    assert min(b - a for a, b in itertools.pairwise(starts)) >= 0.05
    assert min(b - a for a, b in itertools.pairwise(again)) >= 0.05


def test_no_more_requests_at_once_than_allowed_and_robots_asked_once(tmp_path: Path) -> None:
    """The first two pages are not answered before both have been requested."""
    lock, at_once, most, first_two = threading.Lock(), [0], [0], threading.Barrier(2)

    def slow(request: Request) -> Answer:
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        if request.path in ("/0", "/1"):
            first_two.wait(PATIENCE)
        time.sleep(0.005)
        with lock:
            at_once[0] -= 1
        return page()

    paths = [f"/{n}" for n in range(30)]
    with Site({"/": page(*paths), **dict.fromkeys(paths, slow)}) as site:
        report = run(MemoryTable(), settings(site.url(), site.url("/0"), site.url("/1"), per_host=3), tmp_path)
        assert [request.path for request in site.requests].count("/robots.txt") == 1
    assert report.outcome_counts[Reason.FETCHED] == 31
    assert 2 <= most[0] <= 3


def test_robots_rules_are_obeyed(tmp_path: Path) -> None:
    table = MemoryTable()
    robots = Answer(200, b"User-agent: *\nDisallow: /private", {})
    with Site({"/": page("/private/1", "/open"), "/open": page(), "/robots.txt": robots}) as site:
        run(table, settings(site.url()), tmp_path)
        assert sorted(site.asked()) == ["/", "/open"]
    assert table.reasons()["/private/1"] == "robots_forbidden"


def test_redirects_make_the_target_an_address_of_its_own(tmp_path: Path) -> None:
    table = MemoryTable()
    moved = {
        "/": Answer(302, b"", {"Location": "/home"}),
        "/home": page("/old", "/off", "/loop", "/endless", "/file.zip-alias"),
        "/old": Answer(301, b"", {"Location": "/home"}),
        "/off": Answer(302, b"", {"Location": "http://other.test/"}),
        "/loop": Answer(302, b"", {"Location": "/loop"}),
        "/endless": Answer(302, b"", {"Location": "/e1"}),
        "/file.zip-alias": Answer(302, b"", {"Location": "/file.zip"}),
        **{f"/e{n}": Answer(302, b"", {"Location": f"/e{n + 1}"}) for n in range(1, 30)},
    }
    with Site(moved) as site:
        run(table, settings(site.url(), max_redirects=5), tmp_path)
        assert site.asked().count("/home") == 1
        assert sorted(path for path in site.asked() if path.startswith("/e")) == [
            "/e1", "/e2", "/e3", "/e4", "/e5", "/endless",
        ]  # fmt: skip
    reasons = table.reasons()
    assert [reasons[path] for path in ("/", "/home", "/old", "/off", "/loop", "/e4", "/e5", "/file.zip-alias")] == [
        *("duplicate", "fetched", "duplicate", "redirected_off_scope", "too_many_redirects"),
        *("duplicate", "too_many_redirects", "duplicate"),
    ]
    assert table.rows[table.ids[f"http://{site.host}/home"]].kind is UrlKind.SEED


def test_a_page_that_is_gone_or_moved_for_good_leaves_the_index(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site({"/": page("/a", "/b", "/c"), "/a": page(), "/b": page(), "/c": page()}) as site:
        made = settings(site.url(), **REPEATED)
        run(table, made, tmp_path)
        site.pages.update(
            {"/a": Answer(410), "/b": Answer(301, b"", {"Location": "/"}), "/c": Answer(302, b"", {"Location": "/"})}
        )
        run(table, made, tmp_path)
    gone = {visit.entry.url.rpartition("/")[2] for visit in table.visits if visit.is_gone}
    assert gone == {"a", "b"}


def test_max_pages_is_never_exceeded_and_the_rest_comes_later(tmp_path: Path) -> None:
    pages = tree(levels=2, width=6)
    table = MemoryTable()
    with Site(pages) as site:
        made = settings(site.url(), max_pages=10, per_host=8)
        first = run(table, made, tmp_path)
        assert first.outcome_counts[Reason.FETCHED] == len(site.asked()) == 10
        assert first.notes == ("Stopped after 10 pages",)
        for _ in range(5):
            run(table, made, tmp_path)
        assert set(site.asked()) == set(pages)


def test_minutes_end_a_run(tmp_path: Path) -> None:
    def endless(request: Request) -> Answer:
        number = int(request.path.rpartition("/")[2] or 0)
        return page(f"/{number + 1}")

    class Endless(dict[str, Callable[[Request], Answer]]):
        def get(self, path: str, default: object = None) -> Callable[[Request], Answer]:  # type: ignore[override]
            return endless if path != "/robots.txt" else lambda request: Answer(404)

    with Site({}) as site:
        site.pages = Endless()
        report = run(MemoryTable(), settings(site.url(), minutes=2 / 60, depth=10**9), tmp_path)
    assert report.outcome_counts[Reason.FETCHED] >= 1  # how many depends on the machine
    # The second note: the last response was so slow that the delay of its host exceeds the time left.
    early = "Stopped early: crawl delays or retry delays of all remaining URLs exceed the time left"
    assert report.notes in (("Stopped after 0.0333333 minutes",), (early,))


def test_a_host_that_asks_for_a_long_pause_does_not_keep_the_run_waiting(tmp_path: Path) -> None:
    busy = Answer(503, b"", {"Retry-After": "3000"})
    with Site({"/": page("/a", "/b"), "/a": busy, "/b": busy}) as site:
        report = run(MemoryTable(), settings(site.url(), minutes=30, per_host=1), tmp_path)
        assert len(site.asked()) == 2
    assert "Stopped early" in report.notes[0]


def test_one_dead_seed_is_a_note_and_all_dead_are_an_error(tmp_path: Path) -> None:
    with Site({}) as gone:
        pass
    with Site({"/": page()}) as site:
        table = MemoryTable()
        report = run(table, settings(site.url(), gone.url()), tmp_path)
        assert [note.startswith(f"Seed not fetched: {gone.url()}: unreachable") for note in report.notes] == [True]
        with pytest.raises(PlumblineError, match=r"None of the seeds could be fetched \(http://127.*unreachable"):
            run(MemoryTable(), settings(gone.url()), tmp_path)


def test_a_forbidden_seed_and_an_inside_seed_are_named(tmp_path: Path) -> None:
    robots = Answer(200, b"User-agent: *\nDisallow: /", {})
    with Site({"/": page(), "/robots.txt": robots}) as site:
        with pytest.raises(PlumblineError, match="robots_forbidden"):
            run(MemoryTable(), settings(site.url()), tmp_path)
        with pytest.raises(PlumblineError, match="inside_address"):
            run(MemoryTable(), settings(site.url(), inside_hosts=()), tmp_path)
        assert site.asked() == []


def test_failing_robots_forbids_everything(tmp_path: Path) -> None:
    with Site({"/": page(), "/robots.txt": Answer(500)}) as site:
        with pytest.raises(PlumblineError, match="robots_unavailable"):
            run(MemoryTable(), settings(site.url()), tmp_path)
        assert site.asked() == []


def test_a_host_that_keeps_failing_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.schedule.throttle.FAILURES_BEFORE_SUSPEND", 2)
    monkeypatch.setattr("crawler.schedule.throttle.MAX_BACKOFF_SECONDS", 0.01)
    table = MemoryTable()
    paths = [f"/{n}" for n in range(9)]
    with Site({"/": page(*paths), **dict.fromkeys(paths, Answer(503))}) as site:
        report = run(table, settings(site.url(), per_host=1), tmp_path)
        assert len(site.asked()) == 3
    assert report.outcome_counts[Reason.FETCHED] == 1
    assert (
        report.outcome_counts[Reason.UNREACHABLE] >= 7
    )  # eight if the first failed page was fetched again before the second
    assert report.outcome_counts[Reason.HTTP_ERROR] == 9 - report.outcome_counts[Reason.UNREACHABLE]
    assert report.notes == (f"Host suspended after repeated failures: {site.host}",)


def test_a_bug_on_one_page_is_an_outcome_and_many_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(found: Page, agent: str) -> object:
        raise RuntimeError("a bug")

    paths = [f"/{n}" for n in range(30)]
    with Site({"/": page(*paths), **{path: page("/x") for path in paths}}) as site:
        table = MemoryTable()
        real = crawler.workers.fetch_pool.parse_page
        monkeypatch.setattr(
            crawler.workers.fetch_pool,
            "parse_page",
            lambda found, agent: (broken if found.url.endswith("/7") else real)(found, agent),
        )
        report = run(table, settings(site.url()), tmp_path)
        assert report.outcome_counts[Reason.UNEXPECTED_ERROR] == 1
        assert report.outcome_counts[Reason.FETCHED] == 30
        monkeypatch.setattr(
            crawler.workers.fetch_pool,
            "parse_page",
            lambda found, agent: (real if found.url.endswith("/") else broken)(found, agent),
        )
        with pytest.raises(PlumblineError, match="20 pages failed unexpectedly"):
            run(MemoryTable(), settings(site.url()), tmp_path)


def test_ctrl_c_keeps_what_was_fetched(tmp_path: Path) -> None:
    table = MemoryTable()

    def interrupt(progress: CrawlProgress) -> None:
        if progress.counts.get(Reason.FETCHED, 0) >= 5:
            raise KeyboardInterrupt

    pages = tree(levels=2, width=5)
    with Site(pages) as site:
        made = settings(site.url(), incremental="new_only")
        with pytest.raises(KeyboardInterrupt):
            run(table, made, tmp_path, progress=interrupt)
        assert 5 <= len(table.pages) < len(pages)
        stopped_with = set(table.pages)
        site.requests.clear()
        run(table, made, tmp_path)
        repeated = {site.url(path) for path in site.asked()} & stopped_with
        assert repeated == {site.url("/")}
        assert set(table.pages) == {site.url(path) for path in pages}


def test_a_failing_table_ends_the_run_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = MemoryTable()

    def full(visits: object) -> None:
        raise StoreError("no space left")

    monkeypatch.setattr(table, "record_visits", full)
    with Site({"/": page()}) as site, pytest.raises(StoreError, match="no space left"):
        run(table, settings(site.url()), tmp_path)


def test_another_queue_policy_moves_what_is_known(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site(tree(levels=1, width=5)) as site:
        run(table, settings(site.url(), queue_policy="host"), tmp_path)
        assert len({row.queue for row in table.rows.values()}) == 1
        run(table, settings(site.url(), queue_policy="hflp"), tmp_path)
        assert len({row.queue for row in table.rows.values()}) > 1


def test_a_guide_decides_what_is_kept_and_followed(tmp_path: Path) -> None:
    class Picky:
        def tokenize_page(self, found: Page, links: object) -> TokenizedPage:
            return TokenizedPage(PageWords(found.url, ("oil",) if b"oil" in found.body else ()))

        def decide(self, tokenized_page: TokenizedPage, anchors: object) -> FocusedDecision:
            return FocusedDecision(0, "picky", "oil", 0.5, bool(tokenized_page.words.title), b"")

        def link_priority(self, url: str) -> float | None:
            return None if url.endswith("no") else 0.7

    table = MemoryTable()
    with Site({"/": page("/no", "/yes"), "/yes": page(text="oil"), "/no": page()}) as site:
        report = run(table, settings(site.url()), tmp_path, focused_policy=Picky())
        assert sorted(site.asked()) == ["/", "/yes"]
    assert list(table.pages) == [site.url("/yes")]
    assert report.outcome_counts == {Reason.OFF_TOPIC: 1, Reason.FETCHED: 1}
    [off, kept] = table.visits
    assert (
        off.outcome.detail == "Topic “oil”, picky, score 0.500"
        and off.focused_decision is not None
        and kept.focused_decision
    )


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"sites": Sites()}, "No site has a start URL"),
        ({"sites": sites("http://h/ads.txt")}, "is not a page"),
        ({"sites": sites("http://h/", tables=[{"host": "h", "scope": []}])}, "http://h/ is outside the scope"),
        ({"user_agent": "x\r\ny: z"}, "crawl.user_agent"),
        ({"contact": "名"}, "crawl.contact"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_settings_that_cannot_be_followed(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        build_crawl_plan(settings("http://h/", **changes))


@pytest.mark.parametrize(
    ("seed", "inside", "contact", "is_refused"),
    [
        ("http://news.test/", (), "", True),
        ("http://news.test/", (), "anna@oil.test", False),
        ("http://news.test/", (), "https://oil.test/example/", False),
        ("http://news.test/", (), "me@example.org", True),
        ("http://news.test/", (), "https://www.example.com/bot", True),
        ("http://127.0.0.1/", (), "me@example.org", False),
        ("http://news.test:8080/", ("news.test",), "", False),
        ("http://127.0.0.1:8080/", (), "", False),  # refused for what it is, if it is not named
        ("http://[::1]/", (), "", False),
        ("http://8.8.8.8/", (), "", True),
        ("http://[2001:4860:4860::8888]/", (), "me@example.org", True),
    ],
)
def test_real_sites_are_told_who_asks(seed: str, inside: tuple[str, ...], contact: str, is_refused: bool) -> None:
    made = CrawlSettings(sites=sites(seed), inside_hosts=inside, contact=contact)
    with (
        pytest.raises(SettingsError, match=r"crawl.contact (is empty|.* is an example): write your own e-mail address")
        if is_refused
        else nullcontext()
    ):
        check_addresses(build_crawl_plan(made))


@pytest.mark.parametrize("seed", ["https://www.example.org/", "example.com"])
def test_the_seed_of_the_template_is_refused_by_name(seed: str) -> None:
    made = CrawlSettings(sites=sites("https://news.test/", seed), contact="anna@oil.test")
    with pytest.raises(SettingsError, match=r"the start URL .*example.* is an example: write the URL"):
        check_addresses(build_crawl_plan(made))


def test_a_plan() -> None:
    plan = build_crawl_plan(CrawlSettings(sites=sites("news.test", "HTTP://News.test/#top", "http://b.test/x/")))
    assert plan.seeds == ("http://news.test/", "http://b.test/x/")
    assert [scope.host for scope in plan.url_rules.scopes] == ["news.test", "www.news.test", "b.test", "www.b.test"]
    assert plan.queue_policy_name == "hflp/100"


@pytest.mark.parametrize("policy", QUEUE_POLICIES)
def test_a_plan_goes_to_other_machines_as_it_is(policy: str) -> None:
    plan = build_crawl_plan(settings("http://a.test/", queue_policy=policy, quiet_hours="08:00-9:30"))
    assert (plan.quiet_minutes, plan.product_token) == ((480, 570), "Plumbline")
    urls = [f"http://host{number % 7}.test/{number}" for number in range(50)]
    queues = [plan.queue_of(url) for url in urls]
    there = pickle.loads(pickle.dumps(plan))
    assert [there.queue_of(url) for url in urls] == queues


@pytest.mark.parametrize(
    ("seed", "hosts"),
    [
        ("https://www.news.test/", ["www.news.test", "news.test"]),
        ("http://news.test:8080/", ["news.test:8080", "www.news.test:8080"]),
        ("http://127.0.0.1:8080/", ["127.0.0.1:8080"]),
        ("http://[::1]/", ["[::1]"]),
        ("http://intranet/", ["intranet"]),
    ],
)
def test_a_site_is_the_host_of_a_seed_with_www_and_without(seed: str, hosts: list[str]) -> None:
    assert [scope.host for scope in build_crawl_plan(CrawlSettings(sites=sites(seed))).url_rules.scopes] == hosts


def test_a_seed_may_redirect_to_www(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site({}) as site:
        home = f"http://site.localhost:{site.port}/"
        www = f"http://www.site.localhost:{site.port}/home"
        site.pages.update({"/": Answer(301, b"", {"Location": www}), "/home": page("/a"), "/a": page()})
        inside = (f"site.localhost:{site.port}", f"www.site.localhost:{site.port}")
        run(table, settings(home, inside_hosts=inside), tmp_path)
        assert {"/home", "/a"} <= set(site.asked())
    assert table.rows[table.ids[www]].kind is UrlKind.SEED


def test_entries_outside_changed_rules_are_not_fetched(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site({"/": page("/a"), "/a": page()}) as site:
        run(table, settings(site.url(), **REPEATED), tmp_path)
        site.requests.clear()
        run(
            table,
            settings(site.url("/a"), tables=[{"host": site.host, "scope": [f"{site.host}/a"]}], **REPEATED),
            tmp_path,
        )
        assert site.asked() == ["/a"]
    assert table.reasons()["/"] == "off_scope"
