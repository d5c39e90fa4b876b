"""Documents through the whole chain: crawled, kept, read in processes with limits, indexed, found on their page."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from docstore.articles.source_pages import ArchivedPage
from domain.article import Article, document_id
from domain.frontier import UrlKind
from domain.outcome import Outcome, Reason, Stage
from domain.page import Page, WarcPointer
from domain.page_offsets import find_page_offsets, format_page_offsets, page_number_at, parse_page_offsets
from extractor.settings import ExtractSettings
from indexer.settings import IndexSettings
from pipeline import stages
from pipeline.cli.main import cli
from pipeline.cli.status import collect_status, format_status
from pipeline.crawl_stage.document_backfill import backfill_documents
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import Settings, build_settings
from pipeline.topic.page_reader import PageReader
from pipeline.warc_import.importer import import_warc_files
from pipeline.warc_import.sources import WarcSource
from tests.builders import urls_with_outcome
from tests.document_files import docx, pdf, pdf_bomb
from tests.local_workers import extract_pages, local_workers
from tests.solr_fixture import RunningSolr
from tests.web_fixture import PATIENCE, Answer, Site, page

REPORT = [
    ["Annual report on rivers", "The ministry measured the water of nineteen rivers last year."],
    ["Works at the upper dam", "The sluices of Norwich were repaired by forty workers in the spring of the year."],
    ["Fisheries", "Herring was scarce along the whole coast, and nobody could say why that was so."],
]
MINUTES = ["The council met on Monday and spoke about lighthouses for two hours.", "Nothing at all was decided."]
TEXT = "<p>" + "The harbour was closed for a week because of ice, said the master. " * 6 + "</p>"
PDF_TYPE = {"Content-Type": "application/pdf"}


def site_pages() -> dict[str, Answer]:
    return {
        "/": page("/report.pdf", "/minutes.docx", "/broken.pdf", "/harbour.html", "/locked"),
        "/harbour.html": page(text=TEXT),
        "/report.pdf": Answer(200, pdf(REPORT, "Microsoft Word - doc1"), PDF_TYPE),
        "/minutes.docx": Answer(
            200, docx("Minutes of the council", MINUTES), {"Content-Type": "application/octet-stream"}
        ),
        "/broken.pdf": Answer(200, b"%PDF-1.7\n" + b"\x00\xff garbage " * 50, PDF_TYPE),
        "/locked": page(text=TEXT.replace("harbour", "locked harbour")),
    }


def settings_for(folder: Path, site: Site, **crawl: object) -> Settings:
    made = {"seeds": [site.url()], "delay": 0.001, "inside_hosts": ["127.0.0.1"], "sitemaps": False, **crawl}
    return build_settings({"vertical": {"data_dir": "data"}, "crawl": made, "embed": {"model": "off"}}, folder)


@dataclass
class Chain:
    """An engine that has run once, and its site."""

    engine: Engine
    site: Site
    client: FlaskClient


@pytest.fixture(scope="module")
def chain(solr_node: RunningSolr, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    folder = tmp_path_factory.mktemp("documents")
    with Site(site_pages()) as site:
        settings = settings_for(folder, site)
        settings = replace(
            settings, index=IndexSettings(solr_url=solr_node.url, collection="documents", request_timeout=PATIENCE)
        )
        with Engine(settings, NullProgress()) as engine:
            with local_workers():
                stages.run(engine)
            index = engine.index
            client = create_search_app(engine).test_client()
            yield Chain(engine, site, client)
            index.delete_all()


@pytest.mark.solr
def test_a_pdf_is_found_on_the_page_where_the_passage_stands(chain: Chain) -> None:
    url = chain.site.url("/report.pdf")
    found = chain.client.get("/api/v1/search?q=herring").json
    [hit] = found["hits"]
    assert (hit["url"], hit["format"], hit["page"], hit["title"]) == (url, "pdf", 3, "Annual report on rivers")
    assert chain.client.get("/api/v1/search?q=sluices").json["hits"][0]["page"] == 2
    english = chain.client.get("/search?q=herring&lang=en").text
    assert "PDF · page 3" in english and f'href="{url}#page=3"' in english
    assert "PDF · 第 3 页" in chain.client.get("/search?q=herring&lang=zh").text


@pytest.mark.solr
def test_a_word_document_is_found_and_has_no_page(chain: Chain) -> None:
    [hit] = chain.client.get("/api/v1/search?q=lighthouses").json["hits"]
    assert (hit["url"], hit["format"], hit["page"]) == (chain.site.url("/minutes.docx"), "docx", None)
    assert 'data-format="docx"' in chain.client.get("/search?q=lighthouses").text


@pytest.mark.solr
def test_the_facet_of_formats_is_there_where_there_is_more_than_html(chain: Chain) -> None:
    every = chain.client.get("/api/v1/search?q=the").json
    assert {one["value"]: one["count"] for one in every["facets"]["formats"]} == {"html": 2, "pdf": 1, "docx": 1}
    chosen = chain.client.get("/api/v1/search?q=the&filetype=pdf").json
    assert [hit["format"] for hit in chosen["hits"]] == ["pdf"]
    assert chain.client.get("/api/v1/search?q=harbour").json["facets"]["formats"] == []
    assert ">Word<" in chain.client.get("/search?q=the&lang=en").text.replace("<bdi>", "").replace("</bdi>", "<")


@pytest.mark.solr
def test_the_kept_text_stands_by_pages_with_links_into_the_original(chain: Chain) -> None:
    url = chain.site.url("/report.pdf")
    text = chain.client.get(f"/article/{document_id(url)}?q=herring&lang=en").text
    for number in (1, 2, 3):
        assert f'id="page-{number}"' in text and f'href="{url}#page={number}"' in text
    assert text.index('id="page-2"') < text.index("sluices") < text.index('id="page-3"') < text.index("scarce along")
    assert "<mark>Herring</mark>" in text
    kept = chain.client.get(f"/api/v1/articles/{document_id(url)}").json
    assert kept["format"] == "pdf" and [one["page"] for one in kept["pages"]] == [1, 2, 3]
    assert sum(one["paragraphs"] for one in kept["pages"]) == len(kept["paragraphs"])


@pytest.mark.solr
def test_outcomes_and_formats_are_counted(chain: Chain) -> None:
    told = collect_status(chain.engine)
    assert told["formats"] == {"html": 2, "pdf": 1, "docx": 1}
    assert any(
        line == "formats   html 2, docx 1, pdf 1" or line == "formats   html 2, pdf 1, docx 1"
        for line in format_status(told)
    )
    assert told["outcomes"]["extract"]["unparsable"] == 1
    broken = chain.engine.store.status.url_report(chain.site.url("/broken.pdf"))
    assert (
        broken is not None and broken.url_row.kind != UrlKind.HUB
    )  # it has no links that are worth a visit in every run


@pytest.mark.solr
def test_a_document_is_kept_as_a_file_and_offered_as_one(chain: Chain) -> None:
    doc_id = document_id(chain.site.url("/report.pdf"))
    around = chain.client.get(f"/article/{doc_id}/original?lang=en")
    assert chain.site.url("/report.pdf") in around.text and "Download saved file (PDF)" in around.text
    kept = chain.client.get(f"/article/{doc_id}/original/file")
    assert kept.data == site_pages()["/report.pdf"].body
    assert kept.headers["Content-Disposition"] == "attachment; filename=report.pdf"
    assert (kept.headers["Content-Type"], kept.headers["X-Content-Type-Options"]) == ("application/pdf", "nosniff")
    assert "sandbox" in kept.headers["Content-Security-Policy"] and "noindex" in kept.headers["X-Robots-Tag"]
    assert chain.client.get(f"/article/{doc_id}/original/page").status_code == 404
    page_id = document_id(chain.site.url("/harbour.html"))
    assert chain.client.get(f"/article/{page_id}/original/file").status_code == 404


def pending(number: int, kind: str) -> ArchivedPage:
    return ArchivedPage(number, f"http://a.test/{number}", kind, "d", WarcPointer("f", 0, 1), host="a.test")


def test_a_document_that_takes_too_long_or_too_much_is_an_outcome_and_no_page_notices() -> None:
    """A PDF of very many pages, with half a second for it; and a small one that unpacks to more than it may have."""
    endless = pdf([["Words of a page that is like all the others."] * 40] * 3000)
    html = f"<h1>Harbour</h1>{TEXT}".encode()
    waiting = [pending(1, "application/pdf"), *(pending(n, "text/html") for n in range(2, 6))]
    for data, limits, reasons in (
        (endless, {"document_seconds": 0.5}, {Reason.TIMED_OUT}),
        (pdf_bomb(60), {"document_mb": 100}, {Reason.TOO_LARGE, Reason.UNPARSABLE}),
    ):
        settings = ExtractSettings(**limits)  # type: ignore[arg-type]
        read = {1: data}
        done = extract_pages(waiting, lambda one, read=read: read.get(one.url_id, html), settings, workers=1)  # type: ignore[misc]
        ends = {one.page.url_id: one.result for one in done}
        assert isinstance(ends[1], Outcome) and ends[1].reason in reasons, ends[1]
        assert all(isinstance(ends[n], Article) for n in range(2, 6))


def test_a_store_of_before_finds_the_documents_that_its_pages_link_to(tmp_path: Path) -> None:
    """Without asking for these pages again: they have not changed, and are not due."""
    pages = site_pages()
    pages["/"] = page("/report.pdf", "/minutes.docx", "/harbour.html", "/show")
    pages["/show"] = Answer(200, pdf(REPORT), PDF_TYPE)
    with Site(pages) as site:
        with Engine(settings_for(tmp_path, site, documents=False), NullProgress()) as engine:
            stages.crawl(engine)
            assert set(site.asked()) == {"/", "/harbour.html", "/minutes.docx", "/report.pdf", "/show"}
            refused = {url for url, *_ in urls_with_outcome(engine.store, Stage.CRAWL, Reason.NOT_HTML)}
            assert refused == {site.url(path) for path in ("/minutes.docx", "/report.pdf", "/show")}
        with Engine(settings_for(tmp_path, site, hub_gap=1000.0), NullProgress()) as engine:
            engine.store.frontier.reschedule({site.url(): 4e9})  # as a page that is not due
            site.requests.clear()
            stages.crawl(engine)
            assert sorted(site.asked()) == ["/minutes.docx", "/report.pdf", "/show"]
            assert backfill_documents(engine, engine.settings.crawl) == 0
            site.requests.clear()
            stages.crawl(engine)
            assert site.asked() == []


def test_an_interrupted_search_for_documents_starts_again_for_other_formats(tmp_path: Path) -> None:
    with (
        Site({"/": page("/harbour.html"), "/harbour.html": page()}) as site,
        Engine(settings_for(tmp_path, site, documents=False), NullProgress()) as engine,
    ):
        stages.crawl(engine)
        backfill = engine.store.document_backfill
        first, second = backfill.next_batch(["pdf"])
        backfill.advance_to(first.url_id, ["pdf"])
        assert backfill.next_batch(["pdf"]) == [second]
        assert backfill.next_batch(["docx", "pdf"]) == [first, second]
        backfill.finish(["pdf"])
        assert backfill.next_batch(["pdf"]) == [first, second]


def test_a_document_and_the_page_with_its_text_are_copies_of_each_other(tmp_path: Path) -> None:
    lines = [
        f"Paragraph {n} of the ordinance on harbours speaks of {word} and of who answers for it."
        for n, word in enumerate(
            ("ropes", "ice", "pilots", "fees", "lights", "fire", "cranes", "salvage", "customs", "anchors")
        )
    ]
    html = "<h1>Ordinance on harbours</h1>" + "".join(f"<p>{line}</p>" for line in lines)
    pages = {
        "/": page("/ordinance.html", "/ordinance.docx"),
        "/ordinance.html": page(text=html),
        "/ordinance.docx": Answer(
            200, docx("Ordinance on harbours", lines), {"Content-Type": "application/octet-stream"}
        ),
    }
    with Site(pages) as site, Engine(settings_for(tmp_path, site), NullProgress()) as engine:
        stages.crawl(engine)
        with local_workers():
            stages.extract(engine)
        found = {one.article.format: one for one in engine.store.articles.iter_all()}
        assert set(found) == {"html", "docx"}
        assert {one.duplicate_of for one in found.values()} == {
            "",
            min(found.values(), key=lambda one: one.duplicate_of).doc_id,
        }


def test_documents_of_another_crawl_are_imported(tmp_path: Path) -> None:
    written = io.BytesIO()
    writer = WARCWriter(written, gzip=True)
    for path, kind, body in (
        ("/a.pdf", "application/pdf", pdf(REPORT)),
        ("/b", "application/octet-stream", docx("Minutes of the council", MINUTES)),
        ("/c.zip", "application/zip", b"PK\x03\x04"),
    ):
        headers = [("Content-Type", kind)] + (
            [("Content-Disposition", "attachment; filename=b.docx")] if path == "/b" else []
        )
        head = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
        record = writer.create_warc_record(f"http://a.test{path}", "response", io.BytesIO(body), http_headers=head)
        writer.write_record(record)
    file = tmp_path / "x.warc.gz"
    file.write_bytes(written.getvalue())
    with Site({}) as site, Engine(settings_for(tmp_path, site), NullProgress()) as engine:
        counts = import_warc_files(engine, [WarcSource(str(file))]).outcome_counts
        assert counts == {Reason.FETCHED: 2, Reason.NOT_HTML: 1}
        with local_workers():
            assert stages.extract(engine).outcome_counts == {Reason.EXTRACTED: 2}
        assert {one.article.url: one.article.format for one in engine.store.articles.iter_all()} == {
            "http://a.test/a.pdf": "pdf",
            "http://a.test/b": "docx",
        }


@pytest.mark.parametrize("form", ["text", "json", "html", "markdown"])
def test_extract_prints_a_document_of_the_disk_and_of_the_web(tmp_path: Path, form: str) -> None:
    file = tmp_path / "report.pdf"
    file.write_bytes(pdf(REPORT))
    said = CliRunner().invoke(cli, ["extract", "--file", str(file), "--format", form])
    assert said.exit_code == 0 and "Annual report on rivers" in said.output and "Herring was scarce" in said.output
    assert ('"page": 3' in said.output) == (form == "json")


def test_extract_fetches_a_document_as_the_crawl_would() -> None:
    """By a URL that says nothing of its format, over the caps of documents."""
    with Site({"/get?id=7": Answer(200, pdf(REPORT), PDF_TYPE)}) as site:
        inside = ["-s", f"crawl.inside_hosts={site.host}", "-s", "crawl.delay=0"]
        said = CliRunner().invoke(cli, [*inside, "extract", "--url", site.url("/get?id=7"), "--format", "json"])
        assert said.exit_code == 0 and '"format": "pdf"' in said.output and "Herring was scarce" in said.output
        small = CliRunner().invoke(
            cli, [*inside, "-s", "crawl.max_document_mb=0.0005", "extract", "--url", site.url("/get?id=7")]
        )
        assert small.exit_code != 0 and "too_large" in f"{small.output} {small.exception}"


def test_extract_says_why_a_document_has_no_text(tmp_path: Path) -> None:
    file = tmp_path / "broken.docx"
    file.write_bytes(b"PK\x03\x04 nothing")
    said = CliRunner().invoke(cli, ["extract", "--file", str(file)])
    assert said.exit_code != 0 and "unparsable" in str(said.output) + str(said.exception)


def test_a_crawl_for_a_topic_reads_a_document_and_never_its_bytes() -> None:
    reader = PageReader(ExtractSettings(document_seconds=20.0))
    try:
        whole = reader.read(
            Page(
                1,
                "http://a.test/a.pdf",
                "http://a.test/a.pdf",
                200,
                "application/pdf",
                pdf(REPORT),
                "d",
                0.0,
                format="pdf",
            )
        )
        assert whole.title == "Annual report on rivers" and "sluices of Norwich" in whole.blocks[1][2]
        bytes_of_none = b"%PDF-1.7\n\xff\x00 stream garbage"
        none = reader.read(
            Page(
                2,
                "http://a.test/b.pdf",
                "http://a.test/b.pdf",
                200,
                "application/pdf",
                bytes_of_none,
                "d",
                0.0,
                format="pdf",
            )
        )
        assert (none.title, none.blocks) == ("", ())
    finally:
        reader.close()


def test_pages_of_a_text_are_told_by_offset() -> None:
    from domain.article import Block, BlockKind

    blocks = [
        Block(BlockKind.PARAGRAPH, "same line", page=1),
        Block(BlockKind.TABLE_ROW, "a\tb", page=2),
        Block(BlockKind.PARAGRAPH, "same line", page=3),
        Block(BlockKind.PARAGRAPH, "end", page=3),
    ]
    starts = find_page_offsets("same line\na b\nsame line\nend", blocks)
    assert starts == ((1, 0), (2, 10), (3, 14))
    assert parse_page_offsets(format_page_offsets(starts)) == starts and parse_page_offsets("x 1:") == ()
    assert [page_number_at(starts, n) for n in (0, 9, 10, 13, 14, 99)] == [1, 1, 2, 2, 3, 3]
    assert page_number_at((), 5) == 0 and page_number_at(((4, 10),), 5) == 0
