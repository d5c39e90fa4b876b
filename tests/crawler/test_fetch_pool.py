"""Pages, sitemaps and feeds are parsed in processes that are killed when they take too long."""

from collections import Counter
from pathlib import Path

import pytest

import crawler.workers.fetch_pool
from crawler.crawl_plan import build_crawl_plan
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.workers.fetch_pool import Job, JobKind, JobRunner, PageResult, SitemapResult
from crawler.workers.worker_process import Limits
from domain.frontier import FrontierEntry, UrlKind
from domain.outcome import Reason
from tests.crawler.test_crawl import REPEATED, run
from tests.crawler_fakes import MemoryTable, settings
from tests.hanging import hang
from tests.web_fixture import Answer, Site, page

ROOT = Path(__file__).parents[2]
SITEMAP = Answer(200, b"<urlset><url><loc>/a</loc></url></urlset>", {"Content-Type": "application/xml"})

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _local_workers() -> None:
    """Parse in real worker processes here."""


def let_parsers_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(crawler.workers.fetch_pool, "PARSING_LIMITS", Limits(seconds=0.1))
    for name in ("parse_page", "parse_sitemap", "parse_feed"):
        monkeypatch.setattr(crawler.workers.fetch_pool, name, hang)


@pytest.mark.parametrize("has_time", [True, False])
def test_a_page_or_sitemap_that_takes_too_long_has_its_own_result(
    has_time: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_time:
        let_parsers_hang(monkeypatch)
    with Site({"/": page("/a"), "/sitemap.xml": SITEMAP}) as site:
        made = settings(site.url())
        fetcher = Fetcher(made, PublicOnlyPolicy(made.inside_hosts))
        runner = JobRunner(fetcher, build_crawl_plan(made), lambda: 0.0)
        entry = FrontierEntry(1, site.url(), site.host, 0, 0, UrlKind.SEED, 0.0)
        try:
            found = runner.run(Job(entry))
            listed = runner.run(Job(entry, JobKind.SITEMAP, site.url("/sitemap.xml")))
        finally:
            runner.close()
            fetcher.close()
    assert isinstance(found, PageResult) and isinstance(listed, SitemapResult)
    assert found.fetch_result.outcome.reason is (Reason.FETCHED if has_time else Reason.PARSING_TIMED_OUT)
    assert len(found.links) == len(listed.sitemap.entries) == has_time


def test_a_crawl_in_which_parsing_fails_records_it_and_keeps_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = MemoryTable()
    with Site({"/": page("/a", "/b"), "/a": page("/"), "/b": page("/", "/a")}) as site:
        made = settings(site.url(), **REPEATED)
        run(table, made, tmp_path)
        pages, visits = dict(table.pages), len(table.visits)
        let_parsers_hang(monkeypatch)
        site.pages |= {"/a": page("/", text="more"), "/b": page("/", text="more")}
        run(table, made, tmp_path)
    outcomes = Counter(visit.outcome.reason for visit in table.visits[visits:])
    assert outcomes == {Reason.PARSING_TIMED_OUT: 2, Reason.UNCHANGED: 1}
    assert table.pages == pages and len(pages) == 3
    assert all(table.due_at.values())  # they are tried again
