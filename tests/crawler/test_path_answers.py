"""A word, a year, an extension or a parameter alone keeps no page out: what the site shows decides."""

from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import update

from crawler.crawl_plan import build_crawl_plan
from crawler.urls.path_answers import MISSING_FILE_SECONDS, PathAnswers, file_pattern
from docstore.articles.extraction_writer import update_url_kind
from docstore.schema.crawl_tables import urls
from docstore.store import open_sqlite_store
from domain.frontier import NewUrl, UrlKind
from domain.outcome import Reason
from tests.crawler.test_run import run
from tests.crawler_fakes import MemoryTable, settings
from tests.web_fixture import Answer, Request, Site, page

FILE = Answer(200, b"var x = 1", {"Content-Type": "text/javascript"})
PAGES = ("/wiki/Node.js", "/wiki/Vue.js", "/wiki/Index.dat", "/questions/tagged/d3.js", "/releases/v1.2.gz", "/f/a.jpg")


def heads(site: Site) -> list[str]:
    return [request.path for request in site.requests if request.method == "HEAD"]


def gets(site: Site) -> list[str]:
    return [request.path for request in site.requests if request.method == "GET"]


def test_an_extension_is_asked_once_for_each_pattern(tmp_path: Path) -> None:
    files = ("/static/app.js", "/static/b.js", "/pics/1.png", "/pics/2.png")
    pages = {"/": page(*PAGES, *files), **dict.fromkeys(PAGES, page("/")), **dict.fromkeys(files, FILE)}
    with Site(pages) as site, open_sqlite_store(tmp_path) as store:
        run(store.frontier, settings(site.url(), per_host=1), tmp_path)
        assert set(PAGES) <= set(gets(site)) and not set(files) & set(gets(site))
        assert sorted(map(file_pattern, map(site.url, heads(site)))) == sorted(
            {file_pattern(site.url(path)) for path in (*PAGES, *files)}
        )
        site.requests.clear()
        site.pages["/"] = page(*PAGES, *files, "/wiki/Next.js", "/static/c.js")
        site.pages["/wiki/Next.js"] = page()
        report = run(store.frontier, settings(site.url()), tmp_path)
        assert heads(site) == [] and "/wiki/Next.js" in gets(site) and "/static/c.js" not in gets(site)
        assert "Links not followed: 5 not_text" in report.notes


@pytest.mark.parametrize("status", [405, 501])
def test_a_server_without_head_is_asked_with_get(tmp_path: Path, status: int) -> None:
    def answer(request: Request) -> Answer:
        return Answer(status) if request.method == "HEAD" else page()

    table = MemoryTable()
    with Site({"/": page("/wiki/Node.js"), "/wiki/Node.js": answer}) as site:
        run(table, settings(site.url()), tmp_path)
    assert table.reasons()["/wiki/Node.js"] == Reason.FETCHED


@pytest.mark.parametrize("answer", [Answer(503), Answer(429), Answer(403)], ids=lambda answer: str(answer.status))
def test_an_answer_that_shows_nothing_loses_no_link(tmp_path: Path, answer: Answer) -> None:
    def only_get(request: Request) -> Answer:
        return answer if request.method == "HEAD" else page()

    table, files = MemoryTable(), {"/b/1.png": answer, "/b/2.png": FILE, "/b/3.png": FILE, "/b/4.png": FILE}
    with Site({"/": page("/a/x.js", *files), "/a/x.js": only_get, **files}) as site:
        run(table, settings(site.url(), per_host=1), tmp_path)
    assert table.reasons()["/a/x.js"] == Reason.FETCHED
    reasons = Counter(table.reasons()[path] for path in files)
    assert reasons["not_html"] == 1 and reasons["not_text"] >= 2 and reasons.total() == 4


def test_a_missing_file_says_nothing_about_its_pattern(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site({"/": page("/a/gone.js", "/a/x.js"), "/a/x.js": page()}) as site:
        run(table, settings(site.url(), per_host=1), tmp_path)
    assert table.reasons() == {"/": Reason.FETCHED, "/a/gone.js": Reason.GONE, "/a/x.js": Reason.FETCHED}


def test_links_without_an_answer_are_stored_at_the_end_of_a_run(tmp_path: Path) -> None:
    table = MemoryTable()
    with Site({"/": page("/a/x.js", "/a/y.js"), "/a/x.js": page(), "/a/y.js": page()}) as site:
        run(table, settings(site.url(), max_pages=1), tmp_path)
        run(table, settings(site.url()), tmp_path)
    assert table.reasons()["/a/x.js"] == table.reasons()["/a/y.js"] == Reason.FETCHED


def test_seeds_sitemaps_and_redirects_may_have_any_extension(tmp_path: Path) -> None:
    sitemap = "<urlset><url><loc>{}</loc></url><url><loc>{}</loc></url></urlset>"
    pages = {"/wiki/Seed.js": page("/go", "/file"), "/go": Answer(302, b"", {"Location": "/x/Moved.gz"})}
    pages |= {"/x/Moved.gz": page(), "/file": Answer(302, b"", {"Location": "/dl/a.zip"}), "/dl/a.zip": FILE}
    with Site(pages) as site, open_sqlite_store(tmp_path) as store:
        site.pages |= {"/y/Listed.dat": page(), "/z/listed.bin": FILE}
        urls = sitemap.format(site.url("/y/Listed.dat"), site.url("/z/listed.bin"))
        site.pages["/sitemap.xml"] = Answer(200, urls.encode(), {"Content-Type": "text/xml"})
        run(store.frontier, settings(site.url("/wiki/Seed.js")), tmp_path)
        assert {"/wiki/Seed.js", "/x/Moved.gz", "/y/Listed.dat"} <= set(gets(site))
        assert {"/dl/a.zip", "/z/listed.bin"} <= set(heads(site)) - set(gets(site))
    plan = build_crawl_plan(settings("http://a.test/wiki/Node.js"))
    assert plan.seeds == ("http://a.test/wiki/Node.js",)


def test_three_patterns_of_files_speak_for_an_extension() -> None:
    answers = PathAnswers()
    for folder in "abc":
        assert answers.is_page_pattern("a.test", "/d/*.png", 6.0) is None
        answers.record("a.test", f"/{folder}/*.png", False, 5.0)
    assert answers.is_page_pattern("a.test", "/d/*.png", 6.0) is False
    assert answers.is_page_pattern("a.test", "/a/*.png", 6.0) is False
    assert answers.is_page_pattern("a.test", "/a/*.png", 6.0 + MISSING_FILE_SECONDS) is None
    assert answers.is_page_pattern("a.test", "/d/*.gz", 6.0) is answers.is_page_pattern("b.test", "/d/*.png", 6.0)
    assert answers.is_page_pattern("a.test", "/d/*.gz", 6.0) is None
    answers.record("a.test", "/wiki/*.png", True, 5.0)  # a page of the same extension: nothing is certain
    assert answers.is_page_pattern("a.test", "/d/*.png", 6.0) is None


def test_answers_are_bounded_and_survive_a_damaged_file(tmp_path: Path) -> None:
    answers = PathAnswers()
    for number in range(2000):
        answers.record("a.test", f"/{number}/*.png", True, 5.0)
    assert len(answers.answers_by_host["a.test"]) <= 500
    answers.save(tmp_path / "answers.json")
    assert PathAnswers.load(tmp_path / "answers.json") == answers
    (tmp_path / "answers.json").write_text('{"a.test": 1}')
    assert PathAnswers.load(tmp_path / "answers.json") == PathAnswers()


@pytest.mark.slow
def test_a_missing_sitemap_is_requested_again_after_a_week(tmp_path: Path) -> None:
    soft_404 = Answer(200, b"<html><title>not here</title></html>")
    with Site({"/": page(), "/sitemap_index.xml": soft_404}) as site, open_sqlite_store(tmp_path) as store:
        site.pages["/sitemap.txt"] = Answer(503)
        for days, asked in [(0.0, 5), (1.0, 1), (6.9, 1), (7.1, 5)]:
            site.requests.clear()
            seconds = days * MISSING_FILE_SECONDS / 7
            run(store.frontier, settings(site.url()), tmp_path, now=lambda seconds=seconds: 1e9 + seconds)
            assert sum("sitemap" in path for path in site.asked()) == asked, days


def archive(first_year: int) -> dict[str, Answer]:
    days = [f"/{year}/{month}/1/" for year in range(first_year, first_year + 2) for month in range(1, 13)]
    texts = {day: "".join(chr(97 + int(d)) for d in day if d.isdigit()) for day in days}
    pages = {day: page(f"{day}story.html", text=f"<p>The paper of {texts[day] * 9}</p>") for day in days}
    return {"/": page(*days), **pages, **{f"{day}story.html": page(text=texts[day] * 30) for day in days}}


@pytest.mark.parametrize("year", [1623, 1946, 1989, 2090])
def test_an_archive_of_any_year_is_crawled(tmp_path: Path, year: int) -> None:
    table = MemoryTable()
    with Site(archive(year)) as site:
        run(table, settings(site.url()), tmp_path)
    assert set(table.reasons().values()) == {Reason.FETCHED} and len(table.reasons()) == 49


@pytest.mark.parametrize(
    "query",
    [
        *("pk_id={n}", "mtm_no={n}", "sid=20240501123456{n}", "s={n:032x}", "cfid={n}", "scm={n}", "pvid={n}"),
        *("session_id=035c4ea0-d73b-5bde-bd6f-c806b04f2e{n}", "sessionid=abcdefghijklmnopqr{n}", "ref={n}", "from={n}"),
        *("PHPSESSID=1234567890123456{n}", "matomo_x={n}", "piwik_y={n}"),
    ],
)
def test_a_parameter_that_selects_the_page_is_kept(tmp_path: Path, query: str) -> None:
    table = MemoryTable()
    urls = [f"/x?{query.format(n=n)}" for n in range(10, 22)]
    pages = {url: page(text=f"<p>{chr(97 + n) * 50}</p>") for n, url in enumerate(urls)}
    with Site({"/": page(*urls), **pages}) as site:
        run(table, settings(site.url()), tmp_path)
    assert sorted(table.pages) == sorted([site.url(), *map(site.url, urls)])


def test_a_session_id_that_no_list_names_costs_few_pages(tmp_path: Path) -> None:
    """Each visit gets links with a new id, and 20 pages are all there is."""
    ids = iter(range(10**9))

    def answer(request: Request) -> Answer:
        number = request.path.partition("?")[0][1:] or "0"
        links = [f"/{n}?token={next(ids):x}" for n in range(20)]
        return page(*links, text=f"<p>Text of {chr(97 + int(number)) * 60}</p>")

    class AnyPath(dict[str, object]):
        def get(self, path: str, default: object = None) -> object:
            return Answer(404) if "." in path else answer

    with Site({}) as site:
        site.pages = AnyPath()  # type: ignore[assignment]
        run(MemoryTable(), settings(site.url(), threads=1, per_host=1, max_pages=300), tmp_path)
        assert len(site.asked()) < 70


# -- lists


@pytest.mark.slow
@pytest.mark.parametrize(("changed_share", "asked"), [(0.0, (20, 21)), (0.5, (100, 100))])
def test_new_lists_begin_with_the_interval_of_the_others(
    tmp_path: Path, changed_share: float, asked: tuple[int, int]
) -> None:
    """Of 100 list pages in the second night, twenty show that they hardly change."""
    lists = [f"/list/{n}" for n in range(100)]
    with (
        Site({"/": page(*lists, ETag='"1"'), **{path: page(ETag='"1"') for path in lists}}) as site,
        open_sqlite_store(tmp_path) as store,
    ):
        made = settings(site.url(), threads=1, per_host=1)
        run(store.frontier, made, tmp_path, now=lambda: 1e9)
        is_list = urls.c.url != site.url()
        with store._database.write() as connection:  # as the extraction does
            connection.execute(update(urls).where(is_list).values(kind=UrlKind.HUB, gap=0.0, due_at=1e9))
        for number, path in enumerate(lists):
            if number % 10 < 10 * changed_share:
                site.pages[path] = page(f"/new/{number}")
        site.requests.clear()
        run(store.frontier, made, tmp_path, now=lambda: 1e9 + 86_400.0)
        second_night = [path for path in site.asked() if path in lists]
        assert asked[0] <= len(second_night) <= asked[1]
        site.requests.clear()
        run(store.frontier, made, tmp_path, now=lambda: 1e9 + 4 * 86_400.0)
        assert set(site.asked()) | set(second_night) >= set(lists)  # none is forgotten


def test_an_article_without_text_tonight_is_no_list(tmp_path: Path) -> None:
    with open_sqlite_store(tmp_path) as store:
        for number, kind in enumerate((UrlKind.ARTICLE, UrlKind.UNKNOWN)):
            for offset, reason in enumerate((Reason.NO_BODY, Reason.NEEDS_JAVASCRIPT, Reason.LIST_PAGE)):
                url = f"http://a.test/{number}{offset}"
                store.frontier.add_urls([NewUrl(url, "a.test", 0, 1, kind, 0.0)])
                with store._database.write() as connection:
                    update_url_kind(connection, store.frontier.find_entries([url])[url].url_id, reason)
                is_article = kind is UrlKind.ARTICLE and reason is not Reason.LIST_PAGE
                found = store.frontier.find_entries([url])[url].kind
                assert found is (UrlKind.ARTICLE if is_article else UrlKind.HUB)
