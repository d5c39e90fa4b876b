"""The search log: masking, queueing without delays, and signed click reports."""

import re
import threading
from collections.abc import Sequence
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup

from domain.errors import StoreError
from domain.search_log import Click, LoggedSearch
from search_ui.search_log import MASK, SearchLogWriter, mask_personal_data
from search_ui.settings import SearchSettings
from tests.site_fixture import FakeSearch, KeptLog, document, site_app

PATIENCE = 60.0


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("zhang.san@example.com 简历", f"{MASK} 简历"),
        ("ｚｈａｎｇ＠ｅｘａｍｐｌｅ．ｃｎ", MASK),
        ("13812345678", MASK),
        ("138 1234 5678", MASK),
        ("+86 138-1234-5678 是谁", f"{MASK} 是谁"),
        ("１３８１２３４５６７８", MASK),
        ("010-62345678", MASK),
        ("(0755) 8765-4321", MASK),
        ("+44 20 7946 0958", MASK),
        ("555-123-4567", MASK),
        ("11010519491231002X", MASK),
        ("110105 19491231 002X", MASK),
        ("6222 0200 0000 0000 123", MASK),
        ("护照E12345678", f"护照{MASK}"),
        ("QQ 123456789", f"QQ {MASK}"),
        ("a@b.cn和13912345678", MASK),
    ],
)
def test_personal_data_is_masked(typed: str, kept: str) -> None:
    assert mask_personal_data(typed) == (kept, True)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  页岩气　压裂 ", "页岩气 压裂"),
        ("ＰＤＣ Drill  Bits", "ＰＤＣ Drill Bits"),
        ("2016-05-09", "2016-05-09"),
        ("2016 2017 2018", "2016 2017 2018"),
        ("GB/T 19001-2016", "GB/T 19001-2016"),
        ("产量 1500000 吨", "产量 1500000 吨"),
        ("20160509", "20160509"),
        ("site:news.example @ 5", "site:news.example @ 5"),
        ("site:x 油田", "site:x 油田"),
        ("2026年 投产 “頁岩氣”－新闻", "2026年 投产 “頁岩氣”－新闻"),
        ("", ""),
        ("x" * 500, "x" * 160),
    ],
)
def test_what_a_domain_is_searched_for_is_kept(typed: str, kept: str) -> None:
    assert mask_personal_data(typed) == (kept, False)


# -- nobody waits


class Stuck(KeptLog):
    """A store that is locked until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.let_go = threading.Event(), threading.Event()

    def keep(self, searches: Sequence[LoggedSearch], clicks: Sequence[Click], dropped: int) -> None:
        self.asked.set()
        assert self.let_go.wait(PATIENCE)
        super().keep(searches, clicks, dropped)


def entry(n: int) -> LoggedSearch:
    return LoggedSearch(f"s{n}", "页岩气", 1, 1)


def test_entries_arrive_in_order_and_none_is_lost_at_the_end() -> None:
    kept = KeptLog()
    log = SearchLogWriter(kept.keep)
    for n in range(100):
        log.enqueue(entry(n))
        log.enqueue(Click(f"s{n}", "doc", n))
    log.close(PATIENCE)
    assert [one.search_id for one in kept.searches] == [f"s{n}" for n in range(100)]
    assert [one.rank for one in kept.clicks] == list(range(100))
    log.enqueue(entry(100))
    assert log.dropped_count == 1


def test_a_locked_store_makes_nobody_wait_and_what_is_dropped_is_counted() -> None:
    stuck = Stuck()
    log = SearchLogWriter(stuck.keep, max_pending=10)
    log.enqueue(entry(0))
    assert stuck.asked.wait(PATIENCE)
    for n in range(1, 31):
        log.enqueue(entry(n))  # would hang here
    assert log.dropped_count == 20
    stuck.let_go.set()
    log.close(PATIENCE)
    assert len(stuck.searches) == 11 and stuck.dropped == 20 and log.dropped_count == 0


@pytest.mark.parametrize("error", [StoreError("the disk is full"), RuntimeError("a bug")], ids=["store", "bug"])
def test_what_the_store_refuses_is_counted_and_the_log_goes_on(error: Exception) -> None:
    kept, refused = KeptLog(), threading.Event()

    def keep(searches: Sequence[LoggedSearch], clicks: Sequence[Click], dropped: int) -> None:
        if not refused.is_set():
            refused.set()
            raise error
        kept.keep(searches, clicks, dropped)

    log = SearchLogWriter(keep)
    log.enqueue(entry(0))
    assert refused.wait(PATIENCE)
    log.enqueue(entry(1))
    log.close(PATIENCE)
    assert [one.search_id for one in kept.searches] == ["s1"] and kept.dropped == 1


# -- from a page


def log_of(*addresses: str, settings: SearchSettings | None = None) -> tuple[KeptLog, list[str]]:
    """Request URLs and return the log and the responses."""
    kept = KeptLog()
    log = SearchLogWriter(kept.keep)
    documents = [document(n, f"页岩气 {n}", "页岩气压裂") for n in range(25)]
    app = site_app(FakeSearch(documents), log=log, settings=settings, clock=lambda: 90.0)
    client = app.test_client()
    pages = [client.get(address).text for address in addresses]
    for page in pages:
        for link in BeautifulSoup(page, "lxml").select("#hits h2 a[ping]")[:1]:
            assert client.post(str(link["ping"]), data="PING", content_type="text/ping").status_code == 204
    log.close(PATIENCE)
    return kept, pages


def test_a_search_is_logged_with_what_was_found_and_opened() -> None:
    kept, pages = log_of("/search?q=%20页岩气&page=2&site=news.example")
    [search], [click] = kept.searches, kept.clicks
    assert (search.query, search.hit_count, search.page, search.filters, search.searched_at) == (
        "页岩气",
        25,
        2,
        "site",
        90.0,
    )
    assert 0 <= search.latency_ms < 60_000
    assert click == Click(search.search_id, "doc10", 11)
    links = BeautifulSoup(pages[0], "lxml").select("#hits h2 a")
    assert all(str(link["href"]).startswith("https://news.example/") for link in links)  # the true URL


def test_every_search_has_an_id_of_its_own_that_no_cookie_holds() -> None:
    kept = KeptLog()
    log = SearchLogWriter(kept.keep)
    client = site_app(FakeSearch([document(1, "页岩气", "")]), log=log).test_client()
    answers = [client.get("/search?q=页岩气") for _ in range(3)]
    log.close(PATIENCE)
    ids = {one.search_id for one in kept.searches}
    assert len(ids) == 3
    assert not [answer.headers["Set-Cookie"] for answer in answers if "Set-Cookie" in answer.headers]


def test_nothing_that_tells_who_is_logged() -> None:
    kept, _ = log_of("/search?q=zhang@example.com")
    assert "127.0.0.1" not in repr(kept) and "example" not in repr(kept) and "Werkzeug" not in repr(kept)
    assert (kept.searches[0].query, kept.searches[0].is_masked) == (MASK, True)


@pytest.mark.parametrize("address", ["/search?", "/search?format=json&"])
def test_searches_with_only_partial_matches_are_told_from_those_with_none(address: str) -> None:
    queries = ["页岩气", "页岩气 价格", "价格"]
    kept, _ = log_of(*(f"{address}q={query}" for query in queries))
    assert [(one.query, one.hit_count, one.is_partial) for one in kept.searches] == [
        ("页岩气", 25, False),
        ("页岩气 价格", 0, True),
        ("价格", 0, False),
    ]


@pytest.mark.parametrize("address", ["/", "/search", "/search?q=", "/compare?q=页岩气", "/search?q=页岩气&page=999999"])
def test_what_is_no_search_is_not_logged(address: str) -> None:
    assert log_of(address)[0].searches == []


def test_the_log_can_be_switched_off() -> None:
    kept, pages = log_of("/search?q=页岩气", settings=SearchSettings(log_days=0))
    assert kept == KeptLog()
    assert "ping=" not in pages[0]


def test_a_click_that_no_page_of_ours_showed_is_refused() -> None:
    _, pages = log_of("/search?q=页岩气")
    signed = urlsplit(str(BeautifulSoup(pages[0], "lxml").select("#hits h2 a")[0]["ping"])).query
    client = site_app().test_client()
    for query in ("", "t=", "t=x", signed[:-2], re.sub("t=.", "t=x", signed), "t=" + "é" * 9):
        assert client.post(f"/click?{query}").status_code == 400, query
    assert client.get(f"/click?{signed}").status_code == 405
    other = site_app()
    other.secret_key = b"another"
    assert other.test_client().post(f"/click?{signed}").status_code == 400
