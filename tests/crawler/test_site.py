"""Headers, cookies and proxies of some sites: to whom they go, what is refused, and that no value is ever shown."""

from pathlib import Path

import pytest

from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.site import Sites
from domain.errors import SettingsError, SiteError
from domain.outcome import Reason
from tests.crawler.test_crawl import run
from tests.crawler_fakes import MemoryTable, entry, settings, sites
from tests.web_fixture import Answer, Site, page

SECRET = "s3cr3t"


def test_who_gets_what() -> None:
    found = sites(
        tables=[
            {"host": "a.test", "headers": ["X-Token: one"], "cookies": ["sid=1", "lang=zh; x=y"]},
            {"host": "*.b.test", "headers": ["X-Token: two"], "proxy": "http://127.0.0.1:3128", "delay": 3},
            {"host": "www.b.test", "headers": ["X-Token: three"], "delay": 2},
            {"host": "A.test:8080", "proxy": "http://proxy.test:1/"},
        ]
    )
    assert found.for_url("http://a.test/x").request_headers == {"X-Token": "one", "Cookie": "sid=1; lang=zh; x=y"}
    assert found.for_host("c.b.test").request_headers == {"X-Token": "two"}
    assert (found.for_host("www.b.test").request_headers, found.for_host("www.b.test").delay) == (
        {"X-Token": "three"},
        3,
    )
    assert found.for_host("a.test:8080").request_headers == found.for_host("aa.test").request_headers == {}
    assert found.for_host("b.test").proxy == "http://127.0.0.1:3128"
    assert found.for_host("a.test:8080").proxy == "http://proxy.test:1/"
    assert found.for_host("a.test").proxy == ""


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"headers": [SECRET]}, "headers"),
        ({"headers": [f"X-Token: {SECRET}\r\nHost: b"]}, "headers"),
        ({"headers": [f"Host: {SECRET}"]}, "headers"),
        ({"headers": [f"Cookie: {SECRET}"]}, "headers"),
        ({"headers": SECRET}, "headers"),
        ({"cookies": [SECRET]}, "cookies"),
        ({"cookies": [f"sid={SECRET}\n"]}, "cookies"),
        ({"proxy": f"socks5://{SECRET}@p:1"}, "proxy"),
        ({"proxy": f"http://u:{SECRET}@p:1/path"}, "proxy"),
        ({"proxy": f"http://[{SECRET}"}, "proxy"),
        ({"host": "a.test/path"}, "host"),
        ({"host": ""}, "host"),
        ({"delay": -5}, "delay"),
        ({"delay": 99999999}, "delay"),
        ({"delay": float("nan")}, "delay"),
        ({"delay": "soon"}, "delay"),
        ({"quiet_hours": "25:00-99:99"}, "quiet_hours"),
        ({"urls": ["ftp://a.test/"]}, "urls"),
        ({"urls": ["http://b.test/"]}, "urls"),
        ({"scope": ["a b"]}, "scope"),
        ({"scope": ["b.test"]}, "scope"),
        ({"host": "*.a.test", "paused": True}, "paused"),
        ({"keep_days": -1}, "keep_days"),
        ({"render": 1}, "render"),
        ({"dealy": 3}, "dealy"),
    ],
    ids=str,
)
def test_what_is_refused_is_named_and_not_shown(values: dict[str, object], key: str) -> None:
    with pytest.raises(SiteError) as caught:
        Sites.parse([{"host": "a.test", **values}])
    assert list(caught.value.problems) == [key]
    assert SECRET not in str(caught.value)


def test_a_site_has_one_table() -> None:
    with pytest.raises(SettingsError, match=r"a\.test has two tables"):
        Sites.parse([{"urls": ["https://a.test/"]}, {"host": "A.test", "delay": 3}])


def test_the_site_is_sent_them_and_where_it_redirects_to_is_not(tmp_path: Path) -> None:
    with Site({"/": page()}) as other:
        with Site({"/": page("/a"), "/a": Answer(302, b"", {"Location": other.url("/")})}) as site:
            own = {"host": site.host, "headers": [f"X-Token: {SECRET}"], "cookies": [f"sid={SECRET}"]}
            tables = [own, {"host": other.host, "scope": [other.host]}]
            made = settings(site.url(), tables=tables, inside_hosts=(site.host, other.host))
            run(MemoryTable(), made, tmp_path)
            sent = [(request.headers.get("X-Token"), request.headers.get("Cookie")) for request in site.requests]
        assert sent == [(SECRET, f"sid={SECRET}")] * 3  # robots.txt too
        assert other.requests
        assert not any(SECRET in str(dict(request.headers)) for request in other.requests)


def test_a_proxy_is_asked_for_the_address(tmp_path: Path) -> None:
    asked = "http://news.test/1?a=b"
    with Site({asked: page(), "http://127.0.0.1:1/": page()}) as proxy:
        tables = [
            {"host": "news.test", "proxy": f"http://user:{SECRET}@{proxy.host}"},
            {"host": "127.0.0.1:1", "proxy": f"http://{proxy.host}"},
        ]
        fetcher = Fetcher(settings(asked, tables=tables), PublicOnlyPolicy())
        result = fetcher.fetch(entry(asked))
        assert result.outcome.reason is Reason.FETCHED
        [request] = proxy.requests
        assert (request.path, request.headers["Host"]) == (asked, "news.test")
        assert request.headers["proxy-authorization"].startswith("Basic ")
        assert fetcher.fetch(entry("http://127.0.0.1:1/")).outcome.reason is Reason.PRIVATE_ADDRESS
        assert len(proxy.requests) == 1
        fetcher.close()


def test_a_proxy_that_is_not_there_is_an_outcome_without_its_secret() -> None:
    with Site({}) as gone:
        table = {"host": "news.test", "proxy": f"http://user:{SECRET}@{gone.host}"}
    fetcher = Fetcher(settings("http://news.test/", tables=[table]), PublicOnlyPolicy())
    outcome = fetcher.fetch(entry("http://news.test/")).outcome
    assert outcome.reason is Reason.UNREACHABLE
    assert SECRET not in outcome.detail
