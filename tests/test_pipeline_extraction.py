"""Extraction over processes: whatever a page does, it becomes an outcome and the others are extracted."""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from docstore.articles import Extraction, LostPageError, PendingPage
from docstore.model import Article, Outcome, Reading, Reason, SiteKnowledge, WarcPointer
from extractor.extract import ArticleExtractor
from extractor.settings import ExtractSettings
from pipeline import extraction
from pipeline.extraction import completed, extract_pages

HTML = "<html><head><title>题目_网</title></head><body><h1>题目</h1>" + "<p>正文有句号，也有逗号，够长了。</p>" * 9


def pages(count: int, prefix: str = "http://a.test/") -> Iterator[PendingPage]:
    return (
        PendingPage(n, f"{prefix}{n}", "text/html; charset=utf-8", "d", WarcPointer("f", 0, 1), host="a.test")
        for n in range(count)
    )


def read(page: PendingPage) -> bytes:
    if page.url.endswith("/7"):
        raise LostPageError("f at 0: gone")
    return HTML.encode()


class Misbehaving(ArticleExtractor):
    """Page 3 kills its process, page 5 never ends, page 6 raises."""

    def read(
        self,
        html: bytes | str,
        url: str,
        content_type: str = "",
        fetched_at: float = 0.0,
        site: SiteKnowledge | None = None,
    ) -> Reading:
        if url.endswith("/3"):
            os.kill(os.getpid(), signal.SIGKILL)
        if url.endswith("/5"):
            time.sleep(600)
        if url.endswith("/6"):
            raise RuntimeError("surprise")
        return super().read(html, url, content_type, fetched_at, site)


def misbehave(settings: ExtractSettings) -> None:
    extraction.PAGE_SECONDS = 2
    extraction.worker_extractor = Misbehaving(settings)


@pytest.mark.parametrize("count", [5, 60], ids=["here", "in a pool"])
def test_every_page_has_one_result(count: int) -> None:
    results = list(extract_pages(pages(count), read, ExtractSettings(), expected=count, workers=2))
    assert sorted(result.page.url_id for result in results) == list(range(count))
    good = [r for r in results if isinstance(r.result, Article)]
    assert len(good) == count - (count > 7)
    assert all(r.learned.lines for r in good)


def test_pages_that_kill_hang_or_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "set_up_worker", misbehave)
    results = list(extract_pages(pages(40), read, ExtractSettings(), expected=40, workers=2))
    reasons = {r.page.url_id: r.result.reason for r in results if isinstance(r.result, Outcome)}
    assert len(results) == 40
    assert reasons == {3: Reason.FAILED, 5: Reason.TIMED_OUT, 6: Reason.FAILED, 7: Reason.LOST_PAGE}


def test_the_unexpected_is_caught_here_too() -> None:
    page = next(pages(1))
    reading = extraction.extract_one(
        Misbehaving(ExtractSettings()), extraction.Job(PendingPage(6, "http://a.test/6", "", "", page.pointer), b"")
    )
    assert reading.result == Outcome(Reason.FAILED, "RuntimeError: surprise")
    assert isinstance(Extraction(page, reading.result).result, Outcome)


def test_an_article_gets_its_signature_and_addresses_as_the_store_has_them() -> None:
    body = "正文有句号，也有逗号，够长了，可以比较。" * 3
    found = Article("http://a.test/1", "题目", body, canonical_url="HTTP://A.test:80/c#top", next_url="javascript:x()")
    article = completed(found, "http://a.test/1")
    assert isinstance(article, Article)
    assert (article.canonical_url, article.next_url) == ("http://a.test/c", "")
    assert len(article.signature) == 128
    assert completed(Outcome(Reason.NO_BODY), "http://a.test/1") == Outcome(Reason.NO_BODY)


def test_what_is_known_of_a_site_goes_with_its_pages() -> None:
    """It is asked for once: what a page becomes does not hang on how many of its site were saved meanwhile."""
    asked: list[str] = []

    def ask(host: str) -> SiteKnowledge:
        asked.append(host)
        return SiteKnowledge(pages=len(asked))

    class Telling(ArticleExtractor):
        def read(self, *args: object) -> Reading:  # type: ignore[override]
            return Reading(Outcome(Reason.NO_BODY, str(args[-1])))

    results = list(extract_pages(pages(6), read, ExtractSettings(), 6, ask_site=ask))
    assert asked == ["a.test"]
    assert len(results) == 6
    job = extraction.Job(next(pages(1)), b"", SiteKnowledge(pages=7))
    assert extraction.extract_one(Telling(), job).result == Outcome(Reason.NO_BODY, str(SiteKnowledge(pages=7)))
