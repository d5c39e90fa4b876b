"""Extraction over processes: whatever a page does, it becomes an outcome and the others are extracted."""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from docstore.articles import Extraction, LostPageError, PendingPage
from docstore.model import Article, Outcome, Reason, WarcPointer
from extractor.extract import ArticleExtractor
from extractor.settings import ExtractSettings
from pipeline import extraction
from pipeline.extraction import extract_pages

HTML = "<html><head><title>题目_网</title></head><body><h1>题目</h1>" + "<p>正文有句号，也有逗号，够长了。</p>" * 9


def pages(count: int, prefix: str = "http://a.test/") -> Iterator[PendingPage]:
    return (
        PendingPage(n, f"{prefix}{n}", "text/html; charset=utf-8", "d", WarcPointer("f", 0, 1)) for n in range(count)
    )


def read(page: PendingPage) -> bytes:
    if page.url.endswith("/7"):
        raise LostPageError("f at 0: gone")
    return HTML.encode()


class Misbehaving(ArticleExtractor):
    """Page 3 kills its process, page 5 never ends, page 6 raises."""

    def extract(
        self, html: bytes | str, url: str, content_type: str = "", fetched_at: float = 0.0
    ) -> Article | Outcome:
        if url.endswith("/3"):
            os.kill(os.getpid(), signal.SIGKILL)
        if url.endswith("/5"):
            time.sleep(600)
        if url.endswith("/6"):
            raise RuntimeError("surprise")
        return super().extract(html, url, content_type, fetched_at)


def misbehave(settings: ExtractSettings) -> None:
    extraction.PAGE_SECONDS = 2
    extraction.worker_extractor = Misbehaving(settings)


@pytest.mark.parametrize("count", [5, 60], ids=["here", "in a pool"])
def test_every_page_has_one_result(count: int) -> None:
    results = list(extract_pages(pages(count), read, ExtractSettings(), expected=count, workers=2))
    assert sorted(result.page.url_id for result in results) == list(range(count))
    good = [r for r in results if isinstance(r.result, Article)]
    assert len(good) == count - (count > 7)


def test_pages_that_kill_hang_or_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "set_up_worker", misbehave)
    results = list(extract_pages(pages(40), read, ExtractSettings(), expected=40, workers=2))
    reasons = {r.page.url_id: r.result.reason for r in results if isinstance(r.result, Outcome)}
    assert len(results) == 40
    assert reasons == {3: Reason.FAILED, 5: Reason.TIMED_OUT, 6: Reason.FAILED, 7: Reason.LOST_PAGE}


def test_the_unexpected_is_caught_here_too() -> None:
    page = next(pages(1))
    result = extraction.extract_one(
        Misbehaving(ExtractSettings()), extraction.Job(PendingPage(6, "http://a.test/6", "", "", page.pointer), b"")
    )
    assert result == Outcome(Reason.FAILED, "RuntimeError: surprise")
    assert isinstance(Extraction(page, result).result, Outcome)
