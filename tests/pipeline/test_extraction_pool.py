"""Extraction over processes: whatever a page does, it becomes an outcome and the others are extracted."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from crawler.workers.worker_process import Limits, WorkerProcess
from docstore.articles.extraction_writer import PageExtraction
from docstore.articles.source_pages import ArchivedPage
from docstore.warc_archive import WarcRecordLostError, WarcRecordNotUploadedError
from domain.article import Article, SiteTemplate, text_hash64
from domain.outcome import Outcome, Reason
from domain.page import WarcPointer
from extractor.settings import ExtractSettings
from pipeline.compute.extraction_jobs import SAVE_BATCH_CHARS, SAVE_BATCH_SIZE, iter_save_batches
from pipeline.workers.extraction_pool import PageJob, estimate_bytes, extract_in_worker, iter_jobs
from pipeline.workers.page_reading import finalize_article
from tests.local_workers import extract_pages

HTML = "<html><head><title>题目_网</title></head><body><h1>题目</h1>" + "<p>正文有句号，也有逗号，够长了。</p>" * 9
ENDLESS = HTML + f"<p>{'正文有句号，也有逗号，够长了。' * 9}" * 120_000  # more elements than are read


def pages(count: int, prefix: str = "http://a.test/") -> Iterator[ArchivedPage]:
    return (
        ArchivedPage(n, f"{prefix}{n}", "text/html; charset=utf-8", "d", WarcPointer("f", 0, 1), host="a.test")
        for n in range(count)
    )


def read(page: ArchivedPage) -> bytes:
    if page.url.endswith("/7"):
        raise WarcRecordLostError("f at 0: gone")
    return HTML.encode()


def read_nothing(page: ArchivedPage) -> bytes:
    raise WarcRecordLostError("f at 0: gone")


def read_elsewhere(page: ArchivedPage) -> bytes:
    if page.url.endswith("/1"):
        raise WarcRecordNotUploadedError("f is still on the machine other")
    return read(page)


def test_a_page_that_is_still_on_another_machine_has_no_outcome_and_waits() -> None:
    jobs = list(iter_jobs(pages(3), read_elsewhere, lambda host: SiteTemplate()))
    assert [job.page.url for job in jobs] == ["http://a.test/0", "http://a.test/2"]


def read_endless(page: ArchivedPage) -> bytes:
    """Every third page is too much."""
    return (ENDLESS if page.url_id % 3 == 0 else HTML).encode()


@pytest.mark.parametrize("count", [0, 60])
def test_every_page_has_one_result_in_its_place(count: int) -> None:
    """What is saved, such as the series of similar articles, does not depend on which worker was faster."""
    results = list(extract_pages(pages(count), read, ExtractSettings(), workers=2))
    assert [result.page.url_id for result in results] == list(range(count))
    good = [r for r in results if isinstance(r.result, Article)]
    assert len(good) == count - (count > 7)
    assert all(r.page_traits.line_hashes for r in good)


def test_every_page_that_is_lost_is_said() -> None:
    """Also where there are more of them in a row than workers take at once."""
    results = list(extract_pages(pages(60), read_nothing, ExtractSettings(), workers=2))
    assert [r.result.reason for r in results if isinstance(r.result, Outcome)] == [Reason.WARC_RECORD_LOST] * 60


@pytest.mark.parametrize(
    ("limits", "outcome"),
    [
        (Limits(seconds=2.5, megabytes=16_384), Outcome(Reason.TIMED_OUT, "Extraction: it took more than 2.5 s")),
        (Limits(megabytes=200), Outcome(Reason.TOO_LARGE, "Extraction: it needs more than 200 MB of memory")),
    ],
    ids=["time", "memory"],
)
@pytest.mark.parametrize(
    "count", [pytest.param(1, id="alone", marks=pytest.mark.exhaustive), pytest.param(4, id="among others")]
)
def test_a_page_that_takes_too_much_is_ended(count: int, limits: Limits, outcome: Outcome) -> None:
    """However few there are: each has a process of its own while it is read."""
    results = list(extract_pages(pages(count), read_endless, ExtractSettings(), workers=2, limits=limits))
    ends = {r.page.url_id: r.result for r in results}
    assert {n for n, result in ends.items() if isinstance(result, Outcome)} == {n for n in range(count) if n % 3 == 0}
    assert {result for result in ends.values() if isinstance(result, Outcome)} == {outcome}


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")
def test_workers_that_are_killed_cost_their_pages_alone() -> None:
    """Somebody kills workers that are at work, as a kernel does that is out of memory."""
    done, killed = threading.Event(), list[int]()
    killer = threading.Thread(target=kill_three, args=(done, killed))
    killer.start()
    try:
        long = (HTML + "<p>正文有句号，也有逗号，够长了。</p>" * 1_500).encode()
        supply = Supply(killed)
        results = list(extract_pages(supply, lambda page: long, ExtractSettings(), 2))
    finally:
        done.set()
        killer.join()
    assert sorted(result.page.url_id for result in results) == list(range(supply.count))
    failed = [r.result for r in results if isinstance(r.result, Outcome)]
    assert len(killed) == 3
    assert len(failed) <= 3
    died = (Reason.UNEXPECTED_ERROR, "The worker process died: SIGKILL")
    assert {(one.reason, one.detail) for one in failed} <= {died}


class Supply:
    """Pages without end while fewer than three workers are killed, and some after that."""

    def __init__(self, killed: list[int]) -> None:
        self._killed = killed
        self.count = 0

    def __iter__(self) -> Iterator[ArchivedPage]:
        last = 5_000
        for page in pages(last, "http://b.test/x"):
            if len(self._killed) == 3:
                last = min(last, self.count + 4)
            if self.count == last:
                return
            self.count += 1
            yield page


def kill_three(done: threading.Event, killed: list[int]) -> None:
    """Kill three of our workers, each when it has computed for longer than it needs to start."""
    while len(killed) < 3 and not done.wait(0.02):
        for pid in workers_of(os.getpid()) - set(killed):
            if len(killed) < 3 and cpu_seconds(pid) > 1.0:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)


def cpu_seconds(pid: int) -> float:
    """What a process has computed so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def workers_of(parent: int) -> set[int]:
    """The worker processes that a process has started."""
    found = set()
    for children in Path(f"/proc/{parent}/task").glob("*/children"):
        for pid in map(int, children.read_text().split()):
            with suppress(OSError):
                if b"crawler.workers.worker_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.add(pid)
    return found


def test_the_unexpected_is_an_outcome_and_told_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    process = WorkerProcess()
    bad = PageJob(next(pages(1)), b"", SiteTemplate(template_line_hashes=7))  # type: ignore[arg-type]
    try:
        found = extract_in_worker(PageJob(bad.page, HTML.encode(), bad.site), ExtractSettings(), process)
    finally:
        process.close()
    assert isinstance(found.result, Outcome)
    assert found.result.reason is Reason.UNEXPECTED_ERROR
    assert found.result.detail.startswith("TypeError: ")
    assert "http://a.test/0" in caplog.text
    assert "line_scoring.py" in caplog.text


def test_an_end_before_the_last_page_ends_all_workers() -> None:
    results = extract_pages(pages(60), read, ExtractSettings(), workers=2)
    next(results), next(results)  # the first may be a page that is lost, for which nobody works
    assert workers_of(os.getpid())
    results.close()  # type: ignore[attr-defined]
    assert not workers_of(os.getpid())


def test_an_article_gets_its_signature_and_addresses_as_the_store_has_them() -> None:
    body = "正文有句号，也有逗号，够长了，可以比较。" * 3
    found = Article("http://a.test/1", "题目", body, canonical_url="HTTP://A.test:80/c#top", next_url="javascript:x()")
    article = finalize_article(found, "http://a.test/1")
    assert isinstance(article, Article)
    assert (article.canonical_url, article.next_url) == ("http://a.test/c", "")
    assert len(article.signature) == 128
    assert finalize_article(Outcome(Reason.NO_BODY), "http://a.test/1") == Outcome(Reason.NO_BODY)


def test_what_is_known_of_a_site_goes_with_its_pages() -> None:
    """It is read once: the article of a page does not hang on how many of its site were saved meanwhile."""
    asked: list[str] = []

    def ask(host: str) -> SiteTemplate:
        asked.append(host)
        return SiteTemplate(9, template_line_hashes=frozenset({text_hash64("正文有句号，也有逗号，够长了。")}))

    results = list(extract_pages(pages(6), read, ExtractSettings(), 1, ask))
    assert asked == ["a.test"]
    assert {r.result.reason for r in results if isinstance(r.result, Outcome)} == {Reason.NO_BODY}
    assert len(results) == 6


HOSTILE = {
    "attributes": "<div " + " ".join(f"a{n}" for n in range(200_000)) + ">x</div>",
    "attributes behind a quote": "<title><a b='</title><div " + " ".join(f"a{n}='>'" for n in range(200_000)) + ">",
    "ends without start": "<div>x<b>y</i>" * 140_000,
    "empty lines of code": "<pre>" + "\n" * 1_500_000 + "x</pre>",
    "code in code": "<pre>\nx\n" * 200_000,
    "rows": "<table>" + "<tr><td>1</td><td>2</td></tr>" * 100_000,
    "lists": ("<ul><li>x" * 200 + "</li></ul>" * 200) * 400,
}


@pytest.mark.exhaustive
def test_no_shape_takes_time_that_grows_with_its_square() -> None:
    """Two megabytes of each took more than a minute, which is what a page has: time is not asserted, the result is."""
    shapes = dict(enumerate(HOSTILE))
    found = extract_pages(
        pages(len(shapes)), lambda page: (HTML + HOSTILE[shapes[page.url_id]]).encode(), ExtractSettings(), 2
    )
    results = {shapes[extraction.page.url_id]: extraction.result for extraction in found}
    assert results.keys() == HOSTILE.keys()
    assert {name: result for name, result in results.items() if not isinstance(result, Article)} == {}


def test_a_large_page_is_done_before_the_next_one_is_read() -> None:
    read_ids: list[int] = []

    def read_large(page: ArchivedPage) -> bytes:
        read_ids.append(page.url_id)
        return b"<p>" + b"oil " * 2_500_000

    for done_count, _ in enumerate(extract_pages(pages(3), read_large, ExtractSettings(), workers=2), 1):
        assert len(read_ids) == done_count


def test_the_memory_of_a_page_is_estimated_by_its_bytes_and_tags() -> None:
    [page] = pages(1)
    text, tags = PageJob(page, b"<p>" + b"oil " * 1000), PageJob(page, b"<p></p>" * 572)
    assert len(tags.data) == len(text.data) + 1
    assert estimate_bytes(tags) > 10 * estimate_bytes(text) > 10 * len(text.data)


def test_articles_with_much_text_are_saved_in_smaller_batches() -> None:
    page = ArchivedPage(1, "http://a.test/", "text/html", "", WarcPointer("", 0, 0), 0.0)
    short = PageExtraction(page, Article("http://a.test/", "石油", "产量"))
    long = PageExtraction(page, Article("http://a.test/", "石油", "油" * SAVE_BATCH_CHARS))
    batches = iter_save_batches([*[short] * (SAVE_BATCH_SIZE + 1), long, long, short])
    assert [len(batch) for batch in batches] == [SAVE_BATCH_SIZE, 1, 1, 1, 1]
