"""Documents in the crawl: what is taken for one, under which cap, and that nothing reads their bytes as a page's."""

import hashlib
from contextlib import closing
from pathlib import Path

import pytest

from crawler.crawl import crawl
from crawler.crawl_plan import build_crawl_plan
from crawler.http.document_types import DocumentRules, is_plain_text_version, parse_document_rules
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.settings import CrawlSettings
from docstore.store import open_sqlite_store
from domain.errors import SettingsError
from domain.file_formats import FORMAT_BY_EXTENSION, FORMATS_BY_NAME
from tests.crawler.test_crawl import run, settings
from tests.crawler_fakes import MemoryTable, sites
from tests.document_files import docx, pdf
from tests.web_fixture import Answer, Site, page

ALL = DocumentRules(frozenset(FORMATS_BY_NAME), 1_000_000)
PDF = pdf([["Rivers of the north", "Nineteen of them were measured."]])
DOCX = docx("Minutes", ["The council met on Monday."])


def typed(body: bytes, kind: str, **headers: str) -> Answer:
    return Answer(200, body, {"Content-Type": kind, **{k.replace("_", "-"): v for k, v in headers.items()}})


@pytest.mark.parametrize(
    ("path", "answer", "name"),
    [
        ("/a.pdf", typed(PDF, "application/pdf"), "pdf"),
        ("/show?id=7", typed(PDF, "application/pdf;charset=binary"), "pdf"),
        ("/a.PDF", typed(PDF, "application/octet-stream"), "pdf"),
        ("/b.pdf", typed(PDF, "text/html"), "pdf"),  # a server that knows one type alone
        ("/c.pdf", typed(PDF, "text/plain"), "pdf"),
        (
            "/get?n=1",
            typed(DOCX, "application/octet-stream", Content_Disposition='attachment; filename="x.docx"'),
            "docx",
        ),
        (
            "/get?n=2",
            typed(
                DOCX, "application/force-download", Content_Disposition="attachment; filename*=UTF-8''%E6%8A%A5.docx"
            ),
            "docx",
        ),
        ("/d.docx", typed(DOCX, "application/zip"), "docx"),
        ("/notes.txt", typed(b"Plain words, of which there are some.", "text/plain"), "txt"),
        ("/README.md", typed(b"<p align=center>Title</p>\n\nWords.", "text/plain"), "md"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_a_document(tmp_path: Path, path: str, answer: Answer, name: str) -> None:
    table = MemoryTable()
    with Site({"/": page(path), path: answer}) as site:
        run(table, settings(site.url()), tmp_path)
        kept = table.pages[site.url(path)]
    assert (kept.format, kept.body) == (name, answer.body)
    assert kept.digest == hashlib.sha256(answer.body).hexdigest()


@pytest.mark.parametrize(
    ("path", "answer", "reason"),
    [
        ("/robots.txt", typed(b"User-agent: *", "text/plain"), "unasked"),
        ("/llms.txt", typed(b"# For machines", "text/plain"), "unasked"),
        ("/_sources/index.rst.txt", typed(b"Title\n=====", "text/plain"), "unasked"),
        ("/program.py", typed(b"import os\nprint(os.getcwd())", "text/plain"), "not_html"),
        ("/server.log", typed(b"10:00 started\n10:01 stopped", "text/plain"), "not_html"),
        ("/sign-in.pdf", typed(b"<!doctype html><title>Who is there?</title>", "application/pdf"), "not_html"),
        ("/empty.pdf", typed(b"", "application/pdf"), "empty"),
        ("/x.zip", typed(DOCX, "application/zip"), "not_html"),
        ("/archive", typed(DOCX, "application/octet-stream"), "not_html"),
        ("/large.pdf", typed(PDF + b" " * 40_000, "application/pdf"), "too_large"),
        ("/large.txt", typed(b"words " * 4_000, "text/plain"), "too_large"),  # text alone is bounded as a page
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_none(tmp_path: Path, path: str, answer: Answer, reason: str) -> None:
    table = MemoryTable()
    with Site({"/": page(path), path: answer}) as site:
        run(table, settings(site.url(), max_document_mb=0.03, max_bytes=20_000), tmp_path)
        assert table.reasons().get(path, "unasked") == reason
        assert path in ("/robots.txt", "/x.zip") or is_got(site, path) == (reason != "unasked")
    assert list(table.pages) == [site.url()]


def test_a_page_named_as_a_document_is_a_page(tmp_path: Path) -> None:
    """The page of a viewer, or one that asks who is there; its links are followed."""
    table = MemoryTable()
    with Site({"/": page("/view/report.pdf"), "/view/report.pdf": page("/next"), "/next": page()}) as site:
        run(table, settings(site.url()), tmp_path)
    assert table.reasons() == {"/": "fetched", "/view/report.pdf": "fetched", "/next": "fetched"}
    assert {one.format for one in table.pages.values()} == {"html"}


def test_bytes_of_a_document_are_never_read_as_a_page(tmp_path: Path) -> None:
    """Neither links nor soft 404s nor directives are found in them; what the headers ask is done."""
    tempting = PDF + b'<title>404 not found</title><meta name="robots" content="noindex"><a href="/inside">x</a>'
    table = MemoryTable()
    pages = {
        "/": page("/a.pdf", "/b.pdf", "/c.pdf"),
        "/a.pdf": typed(tempting, "application/pdf"),
        "/b.pdf": typed(PDF, "application/pdf", X_Robots_Tag="noindex"),
        "/c.pdf": typed(tempting + b"\xff\xfe\x00", "application/pdf", ETag='"1"'),
    }
    with Site(pages) as site:
        run(table, settings(site.url(), revisit_shortest=0.0), tmp_path)
        assert "/inside" not in site.asked()
        assert {url.removeprefix(site.url("")) for url in table.pages} == {"/", "/a.pdf", "/c.pdf"}
        entry = table.rows[table.ids[site.url("/c.pdf")]]
        assert (entry.etag, entry.digest) == ('"1"', hashlib.sha256(pages["/c.pdf"].body).hexdigest())


def test_documents_in_sitemaps_are_found(tmp_path: Path) -> None:
    robots = typed(b"Sitemap: /sitemap.xml", "text/plain")
    pages = {"/": page(), "/a.pdf": typed(PDF, "application/pdf"), "/robots.txt": robots}
    with Site(pages) as site, open_sqlite_store(tmp_path) as store:
        urls = f"<url><loc>{site.url('/a.pdf')}</loc></url>"
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
        site.pages["/sitemap.xml"] = typed(body.encode(), "application/xml")
        made = settings(site.url())
        with closing(Fetcher(made, PublicOnlyPolicy(made.inside_hosts))) as fetcher:
            crawl(store.frontier, fetcher, made, tmp_path / "seen")
        assert {one.url: one.is_document for one in store.articles.iter_pending()} == {
            site.url(): False,
            site.url("/a.pdf"): True,
        }


def is_got(site: Site, path: str) -> bool:
    return any((request.path, request.method) == (path, "GET") for request in site.requests)


def test_documents_can_be_left_out_all_or_some(tmp_path: Path) -> None:
    pages = {
        "/": page("/a.pdf", "/b.docx"),
        "/a.pdf": typed(PDF, "application/pdf"),
        "/b.docx": typed(DOCX, FORMATS_BY_NAME["docx"].media_types[0]),
    }
    for changes, wanted in (({"documents": False}, {"/"}), ({"document_formats": ("docx",)}, {"/", "/b.docx"})):
        table = MemoryTable()
        with Site(pages) as site:
            run(table, settings(site.url(), **changes), tmp_path / str(len(wanted)))
            assert {path for path in pages if is_got(site, path)} == wanted
    with pytest.raises(SettingsError, match="expected one of pdf, docx"):
        parse_document_rules(CrawlSettings(document_formats=("djvu",)))


def test_every_ending_of_a_format_may_be_asked_for() -> None:
    plan = build_crawl_plan(CrawlSettings(sites=sites("http://a.test/")))
    assert not plan.file_extensions & set(FORMAT_BY_EXTENSION)
    off = build_crawl_plan(CrawlSettings(sites=sites("http://a.test/"), documents=False))
    refused = off.file_extensions & set(FORMAT_BY_EXTENSION)
    assert refused == set(FORMAT_BY_EXTENSION) - {"txt", "md", "markdown"}  # pages may end so, as they always could


@pytest.mark.parametrize(
    ("url", "linked_from", "is_source"),
    [
        ("http://a.test/_sources/guide/intro.rst.txt", "http://a.test/guide/intro.html", True),
        ("http://a.test/_sources/index.md.txt", "http://a.test/", True),
        ("http://a.test/guide/intro.md", "http://a.test/guide/intro/", True),
        ("http://a.test/guide/intro.md", "http://a.test/guide/intro", True),
        ("http://a.test/release-1.2.txt", "http://a.test/release-1.2.html", True),
        ("http://a.test/notes.txt", "http://a.test/guide/intro.html", False),
        ("http://a.test/README.md", "http://a.test/", False),
        ("http://a.test/guide/intro.pdf", "http://a.test/guide/intro.html", False),  # grouped as a copy, if it is one
    ],
)
def test_a_text_that_a_page_was_made_of_is_that_page(url: str, linked_from: str, is_source: bool) -> None:
    assert is_plain_text_version(url, linked_from) is is_source
