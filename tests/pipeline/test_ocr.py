"""The stage `ocr`: scanned and garbled pages are read, saved page by page, and found by search."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crawler.workers.worker_process import WorkerTimeoutError
from domain.article import Article
from domain.outcome import Reason, Stage
from domain.recognized_page import RecognizedLine, RecognizedPage
from pipeline import stages
from pipeline.cli.status import collect_status, format_status
from pipeline.engine import Engine
from pipeline.ocr import stage as ocr_stage
from pipeline.ocr.recognition import draw_ofd_page, recognize_page, sort_by_reading_order
from pipeline.ocr.settings import OcrSettings
from pipeline.ocr.stage import INSTALL_HINT, run_ocr_stage
from pipeline.progress import NullProgress
from pipeline.settings import Settings, build_settings, load_settings
from tests.crash_harness import Vertical, until
from tests.extractor.document_files import ofd_image, ofd_of
from tests.local_workers import local_workers
from tests.scanned_pages import draw_page, scanned_pdf
from tests.web_fixture import Answer, Site, page

PAGES = [
    ["The harbour was opened again on Monday after three weeks", "of storms on the northern coast of the country."],
    ["Forty ships had waited outside in heavy seas.", "The first of them came in at noon with grain."],
    ["The lighthouse was repaired by nine workers", "in the spring of the following year."],
]
PDF_TYPE = {"Content-Type": "application/pdf"}


def settings_for(folder: Path, site: Site) -> Settings:
    crawl = {"seeds": [site.url()], "delay": 0.001, "inside_hosts": ["127.0.0.1"], "sitemaps": False}
    return build_settings({"vertical": {"data_dir": "data"}, "crawl": crawl}, folder)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A vertical with one scanned document that was crawled and extracted."""
    answers = {"/": page("/scan.pdf"), "/scan.pdf": Answer(200, scanned_pdf(PAGES), PDF_TYPE)}
    with Site(answers) as site, Engine(settings_for(tmp_path, site), NullProgress()) as engine, local_workers():
        stages.crawl(engine)
        stages.extract(engine)
        yield engine


class FakeWorker:
    """Reads pages in the test process. A page in `failures` raises; the process dies before page `dies_at`."""

    failures: frozenset[int] = frozenset()
    dies_at = 0
    read_numbers: list[int]

    def __init__(self, *_: object) -> None:
        pass

    def call(self, function: Any, data: bytes, *arguments: Any) -> Any:
        if function is ocr_stage.list_unreadable_pages:
            return function(data, *arguments)
        number = arguments[0]
        if number == self.dies_at:
            raise KeyboardInterrupt
        type(self).read_numbers.append(number)
        if number in self.failures:
            raise WorkerTimeoutError("it took more than 120 s")
        lines = tuple(
            RecognizedLine(text, 60.0, 400.0, 760.0 - 20 * row, 746.0 - 20 * row, 0.98)
            for row, text in enumerate(PAGES[number - 1])
        )
        return RecognizedPage(number, 595.0, 842.0, lines)

    def close(self) -> None:
        pass


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> type[FakeWorker]:
    fake = type("Worker", (FakeWorker,), {"read_numbers": []})
    monkeypatch.setattr(ocr_stage, "WorkerProcess", fake)
    monkeypatch.setattr(ocr_stage, "is_ocr_installed", lambda: True)
    return fake


def outcome(engine: Engine, stage: Stage) -> tuple[str, str]:
    [host] = engine.store.status.site_totals()
    samples = [each for each in engine.store.status.outcome_samples(host.host) if each.url.endswith("scan.pdf")]
    [sample] = [each for each in samples if each.stage is stage]
    return sample.reason, str(sample.detail)


def articles(engine: Engine) -> list[Article]:
    return [stored.article for stored in engine.store.articles.iter_all()]


def test_a_scanned_document_is_read_and_extracted(engine: Engine, worker: type[FakeWorker]) -> None:
    assert outcome(engine, Stage.EXTRACT)[0] == Reason.NO_TEXT_LAYER and not articles(engine)
    assert engine.store.recognized_pages.pending_count() == 1
    report = stages.ocr(engine)
    assert report.outcome_counts == {Reason.RECOGNIZED: 1} and report.notes == ("3 pages read",)
    assert outcome(engine, Stage.OCR) == (Reason.RECOGNIZED, "3 of 3 pages without text read by OCR")
    assert engine.store.recognized_pages.pending_count() == 0 and engine.store.articles.pending_count() == 1
    stages.extract(engine)
    [article] = articles(engine)
    assert article.text_source == "ocr"
    assert article.body.startswith("The harbour was opened again on Monday after three weeks of storms")
    assert {block.page for block in article.blocks} == {1, 2, 3}
    assert outcome(engine, Stage.EXTRACT)[0] == Reason.EXTRACTED
    stages.ocr(engine)
    assert worker.read_numbers == [1, 2, 3], "no page is read twice"
    engine.store.articles.reextract_all()
    stages.extract(engine)
    assert articles(engine) == [article], "a later extraction uses the saved pages"


def test_an_interrupted_run_continues_with_the_next_page(engine: Engine, worker: type[FakeWorker]) -> None:
    worker.dies_at = 3
    with pytest.raises(KeyboardInterrupt):
        stages.ocr(engine)
    assert engine.store.articles.pending_count() == 0, "an incomplete document is not extracted"
    worker.dies_at = 0
    stages.ocr(engine)
    assert worker.read_numbers == [1, 2, 3]
    assert stages.extract(engine).outcome_counts == {Reason.EXTRACTED: 1}


def test_the_time_limit_leaves_the_rest_to_the_next_run(engine: Engine, worker: type[FakeWorker]) -> None:
    report = stages.ocr(engine, seconds=-1.0)
    assert not report.outcome_counts and report.notes == ("1 document left to read",)
    assert worker.read_numbers == []
    assert stages.ocr(engine, seconds=3_600.0).outcome_counts == {Reason.RECOGNIZED: 1}


def test_a_page_that_fails_is_named_and_not_read_again(engine: Engine, worker: type[FakeWorker]) -> None:
    worker.failures = frozenset({2})
    stages.ocr(engine)
    assert outcome(engine, Stage.OCR) == (Reason.RECOGNIZED, "2 of 3 pages without text read by OCR")
    stages.extract(engine)
    assert outcome(engine, Stage.EXTRACT) == (Reason.NO_TEXT_LAYER, "Missing pages: 2 of 3 (images without text)")
    stages.ocr(engine)
    assert worker.read_numbers == [1, 2, 3]


def test_a_document_without_legible_text_stays_without_an_article(engine: Engine, worker: type[FakeWorker]) -> None:
    worker.failures = frozenset({1, 2, 3})
    assert stages.ocr(engine).outcome_counts == {Reason.NOTHING_RECOGNIZED: 1}
    assert engine.store.articles.pending_count() == 0 and engine.store.recognized_pages.pending_count() == 0


def test_settings_limit_the_pages_and_turn_the_stage_off(engine: Engine, worker: type[FakeWorker]) -> None:
    engine.settings = replace(engine.settings, ocr=OcrSettings(enabled="off"))
    assert run_ocr_stage(engine).notes == ("ocr.enabled is off: scanned and garbled pages are not read",)
    engine.settings = replace(engine.settings, ocr=OcrSettings(pages=2))
    stages.ocr(engine)
    assert worker.read_numbers == [1, 2]


def test_without_the_extra_the_documents_are_listed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr_stage, "is_ocr_installed", lambda: False)
    head, url = stages.ocr(engine).notes
    assert head == f"1 document with scanned or garbled pages; to read it: {INSTALL_HINT}"
    assert url.endswith("/scan.pdf")
    [line] = [line for line in format_status(collect_status(engine)) if line.startswith("ocr ")]
    assert line.endswith(f"scanned or garbled pages to read: 1 ({INSTALL_HINT}, then plumb ocr)")
    engine.settings = replace(engine.settings, ocr=OcrSettings(enabled="on"))
    assert INSTALL_HINT in stages.ocr_if_possible(engine).notes[0]


def test_pages_belong_to_one_version_of_a_document(engine: Engine, worker: type[FakeWorker]) -> None:
    stages.ocr(engine)
    stages.extract(engine)
    [stored] = engine.store.articles.iter_all()
    table, other_digest = engine.store.recognized_pages, "0" * 64
    assert table.saved_numbers(stored.url_id, other_digest) == set()
    table.save_page(stored.url_id, other_digest, RecognizedPage(1))
    assert table.saved_numbers(stored.url_id, other_digest) == {1}
    engine.store.articles.reextract_all()
    assert stages.extract(engine).outcome_counts == {Reason.NO_TEXT_LAYER: 1, Reason.LIST_PAGE: 1}


@pytest.mark.process
@pytest.mark.slow
def test_the_engine_reads_a_page_in_a_limited_process(engine: Engine) -> None:
    pytest.importorskip("rapidocr")
    assert stages.ocr(engine).outcome_counts == {Reason.RECOGNIZED: 1}
    stages.extract(engine)
    [article] = articles(engine)
    words = article.body.replace("\n", " ")
    for lines in PAGES:
        assert " ".join(lines) in words


def scanned_ofd() -> bytes:
    """An OFD file of the same pages as the PDF."""
    pictures = []
    for lines in PAGES:
        buffer = io.BytesIO()
        draw_page(lines).save(buffer, "PNG")
        pictures.append(buffer.getvalue())
    return ofd_of([ofd_image(number) for number in range(len(pictures))], [*pictures, b"no image"])


def test_a_scanned_ofd_is_read_and_extracted(tmp_path: Path, worker: type[FakeWorker]) -> None:
    answers = {"/": page("/scan.ofd"), "/scan.ofd": Answer(200, scanned_ofd(), {"Content-Type": "application/ofd"})}
    with Site(answers) as site, Engine(settings_for(tmp_path, site), NullProgress()) as engine, local_workers():
        stages.crawl(engine)
        assert stages.extract(engine).outcome_counts[Reason.NO_TEXT_LAYER] == 1
        assert stages.ocr(engine).outcome_counts == {Reason.RECOGNIZED: 1}
        stages.extract(engine)
        [article] = articles(engine)
        assert (article.format, article.text_source) == ("ofd", "ocr")
        assert article.body.startswith("The harbour was opened again on Monday")


def test_the_picture_of_an_ofd_page_shows_its_images() -> None:
    picture, width, height = draw_ofd_page(scanned_ofd(), 1)
    drawn = np.asarray(draw_page(PAGES[0]))
    assert picture.shape == drawn.shape and (round(width), round(height)) == (595, 842)
    assert np.abs(picture.astype(int) - drawn).mean() < 2
    blank, _, _ = draw_ofd_page(ofd_of([ofd_image(0)], [b"no image"]), 1)
    assert blank.min() == 255, "an image that cannot be read is left out"


@pytest.mark.process
@pytest.mark.slow
def test_the_engine_reads_a_page_of_an_ofd() -> None:
    pytest.importorskip("rapidocr")
    text = " ".join(line.text for line in recognize_page(scanned_ofd(), 1, 0.5).lines)
    assert text == " ".join(PAGES[0])


def column_line(text: str, left: float, top: float, width: float) -> RecognizedLine:
    return RecognizedLine(text, left, left + width, top, top - 12.0, 0.98)


def test_columns_are_read_one_after_the_other_and_tables_by_rows() -> None:
    rows = range(8)
    title = column_line("title", 150, 800, 300)
    left = [column_line(f"left {row}", 60, 760 - 15 * row, 220) for row in rows]
    right = [column_line(f"right {row}", 315, 761 - 15 * row, 220) for row in rows]
    foot = column_line("foot", 100, 500, 400)
    page = [title, *(line for pair in zip(left, right, strict=True) for line in pair), foot]
    assert sort_by_reading_order(page, 595.0) == [title, *left, *right, foot]
    cells = [
        column_line(f"cell {row} {column}", 60 + 255 * column, 760 - 15 * row, 90) for row in rows for column in (0, 1)
    ]
    assert sort_by_reading_order(cells, 595.0) == cells
    assert sort_by_reading_order([], 595.0) == []


SAVED_PAGES = "SELECT number, at FROM recognized_pages"


@pytest.mark.exhaustive
@pytest.mark.process
@pytest.mark.slow
def test_killed_it_continues_with_the_next_page(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    answers = {"/": page("/scan.pdf"), "/scan.pdf": Answer(200, scanned_pdf(PAGES), PDF_TYPE)}
    with Site(answers) as site:
        crawl = {"seeds": [site.url()], "delay": 0.001, "inside_hosts": ["127.0.0.1"], "sitemaps": False}
        vertical = Vertical(tmp_path / "vertical").write({"crawl": crawl})
        with Engine(load_settings(vertical.config), NullProgress()) as engine, local_workers():
            stages.crawl(engine)
            stages.extract(engine)
    try:
        vertical.start("ocr")
        until(lambda: bool(vertical.ask(SAVED_PAGES)))
        vertical.kill()
        first_pages = vertical.ask(SAVED_PAGES)
        said = vertical.done("ocr")
        assert set(first_pages) <= set(vertical.ask(SAVED_PAGES)), "saved pages are not read again"
        assert sorted(number for number, _ in vertical.ask(SAVED_PAGES)) == [1, 2, 3]
        assert "recognized 1" in said.out or len(first_pages) == 3
        assert vertical.number("SELECT COUNT(*) FROM articles WHERE text_source = 'ocr'") == 1
        explanation = vertical.call("explain", site.url("/scan.pdf")).out
        assert "recognized (3 of 3 pages without text read by OCR)" in explanation
    finally:
        vertical.end()
