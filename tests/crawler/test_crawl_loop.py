"""By default every page that a site has is reached: sitemaps wherever they are, links of every kind, any depth."""

import random
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.crawl import crawl
from crawler.crawl_context import CrawlContext, begin_crawl
from crawler.crawl_loop import CrawlLoop
from crawler.crawl_plan import build_crawl_plan
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.settings import CrawlSettings
from crawler.workers.host_leases import LeaseCoordinator
from docstore.locking.leases import LeaseHeartbeat
from docstore.store import Store, open_sqlite_store
from domain.frontier import HostBacklog, NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason, StageReport
from tests.crawler.test_trap_detector import sentence
from tests.crawler_fakes import settings
from tests.web_fixture import Answer, Site, page


def run(store: Store, made: CrawlSettings, folder: Path, **options: object) -> StageReport:
    fetcher = Fetcher(made, PublicOnlyPolicy(made.inside_hosts))
    return crawl(store.frontier, fetcher, made, folder / "seen", **options)  # type: ignore[arg-type]


def sitemap(*urls: str, kind: str = "url") -> Answer:
    rows = "".join(f"<{kind}><loc>{url}</loc></{kind}>" for url in urls)
    root = "urlset" if kind == "url" else "sitemapindex"
    body = f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</{root}>'
    return Answer(200, body.encode(), {"Content-Type": "application/xml"})


def moved(to: str) -> Answer:
    return Answer(301, b"", {"Location": to})


def reached(site: Site, folder: Path, start: str = "/", **changes: object) -> set[str]:
    with open_sqlite_store(folder) as store:
        run(store, settings(site.url(start), **changes), folder)
    return set(site.asked())


@pytest.mark.parametrize(
    "files",
    [
        {"/sitemap.xml": sitemap("/far")},
        {"/robots.txt": Answer(200, b"User-agent: *\nAllow: /", {}), "/sitemap.xml": sitemap("/far")},
        {"/robots.txt": Answer(200, b"Sitemap: /gone.xml", {}), "/sitemap.xml": sitemap("/far")},
        {"/sitemap_index.xml": sitemap("/part.xml", kind="sitemap"), "/part.xml": sitemap("/far")},
        {"/sitemap.xml": moved("/wp-sitemap.xml"), "/wp-sitemap.xml": sitemap("/far")},
        {"/sitemap.txt": Answer(200, b"http://{host}/far\n", {"Content-Type": "text/plain"})},
        {"/": page(text='<link rel="sitemap" href="maps/all.xml">'), "/maps/all.xml": sitemap("/far")},
        {
            "/": page(text='<link rel="alternate" type="application/atom+xml" href="feeds/all">'),
            "/feeds/all": Answer(200, b"<feed><entry><link href='../far'/></entry></feed>", {}),
        },
        {
            "/": page(text='<link rel="alternate" title="News" href="/news.php?feed=1">'),
            "/news.php?feed=1": Answer(
                200, b"<rss><channel><item><link>/far</link></item></channel></rss>", {"Content-Type": "text/html"}
            ),
        },
    ],
    ids=[
        *("no robots.txt", "robots.txt without it", "the named one is gone", "index", "moved", "text"),
        *("named by a page", "relative feed of the only page", "feed without a type"),
    ],
)
def test_sitemaps_and_feeds_are_found(tmp_path: Path, files: Mapping[str, Answer]) -> None:
    with Site({"/": page(), "/far": page(), **files}) as site:
        for path, answer in files.items():
            site.pages[path] = Answer(answer.status, answer.body.replace(b"{host}", site.host.encode()), answer.headers)
        assert "/far" in reached(site, tmp_path)


def test_a_manual_in_a_folder_has_its_own_sitemap(tmp_path: Path) -> None:
    with Site({"/docs/": page(), "/docs/sitemap.xml": sitemap("/docs/far.html"), "/docs/far.html": page()}) as site:
        assert "/docs/far.html" in reached(site, tmp_path, "/docs/")


def test_a_sitemap_on_another_host_is_asked_in_a_turn_of_its_own(tmp_path: Path) -> None:
    """By the other host's robots.txt; the pages that it names must be in scope."""
    with Site({}) as files, Site({"/": page(), "/far": page(), "/near": page()}) as site:
        files.pages |= {
            "/maps/all.xml": sitemap(files.url("/maps/part.xml"), site.url("/one.xml"), kind="sitemap"),
            "/maps/part.xml": sitemap(site.url("/far"), files.url("/not-in-scope")),
            "/private/no.xml": sitemap(),
            "/robots.txt": Answer(200, b"User-agent: *\nDisallow: /private/", {}),
        }
        lines = f"Sitemap: {files.url('/maps/all.xml')}\nSitemap: {files.url('/private/no.xml')}"
        site.pages |= {"/robots.txt": Answer(200, lines.encode(), {}), "/one.xml": sitemap("/near")}
        inside = (site.host, files.host)
        assert {"/", "/far", "/near", "/one.xml"} <= reached(site, tmp_path, inside_hosts=inside)
        assert sorted(files.asked()) == ["/maps/all.xml", "/maps/part.xml"]
        assert site.asked().count("/one.xml") == 1


def test_a_crawler_with_leases_probes_sites_and_reads_sitemaps_on_other_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.workers.host_leases.HOST_POLL_SECONDS", 0.01)
    paths = [f"/list/{number}.html" for number in range(42)]
    pages = {path: page(*paths, text=sentence(random.Random(path))) for path in paths}
    with Site({}) as files, Site({"/": page(*paths), "/far": page()}) as site, open_sqlite_store(tmp_path) as store:
        files.pages["/all.xml"] = sitemap(site.url("/far"))
        lines = f"Sitemap: {files.url('/all.xml')}\nSitemap: https://{site.host}/sitemap.xml"
        site.pages |= {"/robots.txt": Answer(200, lines.encode(), {}), **pages}
        crawl_settings = settings(site.url(), inside_hosts=(site.host, files.host), queue_policy="host", minutes=1.0)
        plan = build_crawl_plan(crawl_settings)
        policy, table = PublicOnlyPolicy(crawl_settings.inside_hosts), store.frontier
        with (
            closing(LeaseHeartbeat(store.leases.with_holder("machine host 1"), 300.0, 60.0)) as heartbeat,
            closing(LeaseCoordinator(heartbeat, table, time.time(), 60.0, policy)) as coordinator,
        ):
            seen_path = tmp_path / "seen"
            begin_crawl(table, plan)
            context = CrawlContext(table, Fetcher(crawl_settings, policy), plan, seen_path, coordinator)
            CrawlLoop.from_context(context).run()
        assert files.asked() == ["/all.xml"]
        assert {"/", "/far", *paths} <= set(site.asked())
        assert [path for path in site.asked() if path not in site.pages and "sitemap" not in path]  # probes
        assert not context.tally.notes


@pytest.mark.parametrize(
    "html",
    [
        '<link rel="next" href="far">',
        '<map><area href="far"></map>',
        '<iframe src="far"></iframe>',
        '<frameset><frame src="far"></frameset>',
        '<meta http-equiv="refresh" content="0; url=far">',
        '<a href="sub/far">x</a><base target="_blank"><base href="/sub/../">',
        '<noscript><a href="far">x</a></noscript>',
        "".join(f'<a href="#{n}">x</a><a href="/x{n % 100}.zip">x</a>' for n in range(3000)) + '<a href="far">x</a>',
        "<p>" + "x" * 3_000_000 + '<a href="far">x</a>',
    ],
    ids=["next", "area", "iframe", "frame", "refresh", "base", "noscript", "many links", "long page"],
)
def test_links_of_every_kind_are_followed(tmp_path: Path, html: str) -> None:
    with Site({"/": page(text=html), "/far": page(), "/sub/far": page()}) as site:
        assert {"/far", "/sub/far"} & reached(site, tmp_path, sitemaps=False)


def test_a_chain_of_lists_is_followed_to_its_end(tmp_path: Path) -> None:
    """A blog's /page/2 ... /page/80, each with an article of its own."""
    pages = {f"/page/{n}": page(f"/page/{n + 1}", f"/post-{n}", text=f"list {n}") for n in range(1, 80)}
    pages |= {f"/post-{n}": page(text=f"article {n} " + "words of it " * n) for n in range(1, 80)}
    with Site({"/": page("/page/1"), "/page/80": page(), **pages}) as site:
        assert {path for path in reached(site, tmp_path) if path.startswith("/post-")} == {
            f"/post-{n}" for n in range(1, 80)
        }


DAY = 86400.0


def visit(store: Store, url: str, at: float, gap: float, due: float) -> None:
    entry = store.frontier.find_entries([url])[url]
    store.frontier.record_visits([Visit(entry, Outcome(Reason.FETCHED), at, due, gap)])


def test_lists_come_first_then_what_is_new_then_what_is_due_by_its_worth(tmp_path: Path) -> None:
    with open_sqlite_store(tmp_path) as store:
        now = 100 * DAY

        def new(name: str, kind: UrlKind = UrlKind.UNKNOWN, priority: float = 0.0) -> NewUrl:
            return NewUrl(f"http://h/{name}", "h", 1, 1, kind, priority)

        names = ("late", "later", "changed", "new", "better", "list")
        kinds = {"list": UrlKind.HUB}
        store.frontier.add_urls(
            [new(name, kinds.get(name, UrlKind.UNKNOWN), float(name == "better")) for name in names]
        )
        visit(store, "http://h/late", now - 10 * DAY, 9 * DAY, now - DAY)
        visit(store, "http://h/later", now - 4 * DAY, DAY, now - 3 * DAY)
        visit(store, "http://h/changed", now - DAY, 9 * DAY, now)  # by the sitemap: before its interval is over
        visit(store, "http://h/list", now - DAY, 0.0, now - DAY)
        found = [entry.url.rpartition("/")[2] for entry in store.frontier.due_entries(1, now, 10)]
        assert found == ["list", "better", "new", "changed", "later", "late"]
        assert store.status.backlog_by_host(now) == [HostBacklog("h", 6, 2, 1, 3)]


def test_a_night_goes_to_new_pages_first(tmp_path: Path) -> None:
    """A site of 60 pages, 25 a night: three nights bring all of them, though those of the first are due again."""
    pages = {f"/{n}": page(text=f"article {n} " + "text " * n) for n in range(60)}
    with Site({"/": page(*pages), **pages}) as site, open_sqlite_store(tmp_path) as store:
        made = settings(site.url(), max_pages=25, sitemaps=False, per_host=1)
        for night in range(3):
            run(store, made, tmp_path, now=lambda at=1e9 + 10 * DAY * night: at)  # type: ignore[misc]
        assert {path for path in site.asked() if path != "/"} == set(pages)


def test_where_links_may_be_followed_further_the_deepest_pages_are_read_anew(tmp_path: Path) -> None:
    """As after an upgrade: their links were not kept, and pages that have not changed are not read."""
    pages = {f"/{n}": page(f"/{n + 1}", text=f"page {n}", ETag=f'"{n}"') for n in range(1, 6)}
    with Site({"/": page("/1"), **pages}) as site, open_sqlite_store(tmp_path) as store:
        made = settings(site.url(), sitemaps=False, depth=3)
        run(store, made, tmp_path, now=lambda: 1e9)
        assert store.frontier.admin.requeue_deepest_pages(3) == 0
        run(store, replace(made, depth=1000), tmp_path, now=lambda: 1e9 + 1)
        assert "/4" not in site.asked()
        assert store.frontier.admin.requeue_deepest_pages(1000) == 1
        assert store.frontier.admin.requeue_deepest_pages(1000) == 0
        run(store, replace(made, depth=1000), tmp_path, now=lambda: 1e9 + 2)
        assert {"/4", "/5", "/6"} <= set(site.asked())
