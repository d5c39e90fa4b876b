"""Saved pages as the site serves them: the page around them and the HTTP headers."""

import pytest
from bs4 import BeautifulSoup

from search_ui.interfaces import OriginalDocument
from search_ui.settings import SearchSettings
from tests.site_fixture import FakeOriginals, FakeSearch, MemorySite, document, site_app

AT = 1_714_558_830.0  # 2024-05-01 10:20:30 UTC
PAGE = OriginalDocument("https://news.example/1.html?a=1", AT, "html", "ab" * 32)
FILE = OriginalDocument("https://news.example/files/%E6%8A%A5%E5%91%8A.pdf", AT, "pdf", "cd" * 32)
HTML = "<!doctype html>\n<html><head><meta charset='utf-8'></head><body><p>words of old</p></body></html>"


def actions(**faults: str) -> MemorySite:
    kept, contents = {"doc1": PAGE, "doc2": FILE}, {"doc1": HTML, "doc2": b"%PDF-1.4 bytes"}
    return MemorySite(originals=FakeOriginals(kept, contents, faults))  # type: ignore[arg-type]


def test_where_and_when_it_was_fetched_stands_above_a_locked_frame() -> None:
    client = site_app(FakeSearch(), actions()).test_client()
    answer = client.get("/article/doc1/original?lang=en")
    page = BeautifulSoup(answer.text, "lxml")
    cited = page.select_one("#cited")
    assert cited is not None
    assert "2024-05-01 10:20:30 UTC" in cited.text and PAGE.url in cited.text and PAGE.sha256 in cited.text
    [link] = cited.select("a")
    assert link["href"] == PAGE.url and set(link["rel"]) >= {"noopener", "noreferrer"}
    [frame] = page.select("iframe")
    assert (list(frame["sandbox"]), frame["src"]) == ([], "/article/doc1/original/page")
    assert page.body is not None and not {*page.body["class"]} & {*frame["class"]}  # the style of the frame is its own
    assert "noindex" in answer.headers["X-Robots-Tag"]
    assert "words of old" not in answer.text  # of the page nothing is in ours


def test_the_page_has_rules_of_its_own() -> None:
    answer = site_app(FakeSearch(), actions()).test_client().get("/article/doc1/original/page")
    rules = {rule.split()[0]: rule.split()[1:] for rule in answer.headers["Content-Security-Policy"].split("; ")}
    assert rules == {
        "default-src": ["'none'"], "base-uri": ["'none'"], "form-action": ["'none'"], "sandbox": [],
        "style-src": ["'unsafe-inline'"], "img-src": ["data:"], "frame-ancestors": ["'self'"],
    }  # fmt: skip
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN" and answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer" and "noindex" in answer.headers["X-Robots-Tag"]
    assert (answer.mimetype, answer.text) == ("text/html", HTML)
    assert "Set-Cookie" not in answer.headers


def test_a_document_is_an_attachment_of_its_type() -> None:
    client = site_app(FakeSearch(), actions()).test_client()
    answer = client.get("/article/doc2/original/file")
    assert (answer.data, answer.mimetype) == (b"%PDF-1.4 bytes", "application/pdf")
    assert answer.headers["Content-Disposition"] == "attachment; filename=.pdf; filename*=UTF-8''%E6%8A%A5%E5%91%8A.pdf"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    around = BeautifulSoup(client.get("/article/doc2/original").text, "lxml")
    assert [link["href"] for link in around.select("#file")] == ["/article/doc2/original/file"]
    assert around.select("iframe") == []


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        ("lost", 404, "no longer available"),
        ("refused", 403, "does not allow its saved copy"),
        ("busy", 503, "Try again"),
    ],
)
def test_what_cannot_be_shown_is_said(fault: str, status: int, said: str) -> None:
    client = site_app(FakeSearch(), actions(doc1=fault, doc2=fault)).test_client()
    for path in ("/article/doc1/original", "/article/doc1/original/page", "/article/doc2/original/file"):
        answer = client.get(f"{path}?lang=en")
        assert answer.status_code == status and said in answer.text
        assert "noindex" in answer.headers["X-Robots-Tag"]


@pytest.mark.parametrize("doc_id", ["doc9", "..", "{!func}x", "a" * 65])
def test_nothing_but_an_article_can_be_asked_for(doc_id: str) -> None:
    client = site_app(FakeSearch(), actions()).test_client()
    assert client.get(f"/article/{doc_id}/original?url=http://evil.test/").status_code == 404


def test_it_can_be_switched_off() -> None:
    search = FakeSearch([document(1, "页岩气", "页岩气")])
    on, off = (site_app(search, actions(), SearchSettings(originals=one)).test_client() for one in (True, False))
    assert 'id="as-fetched"' in on.get("/article/doc1").text and 'id="as-fetched"' not in off.get("/article/doc1").text
    assert [off.get(f"/article/doc1/original{end}").status_code for end in ("", "/page")] == [404, 404]
