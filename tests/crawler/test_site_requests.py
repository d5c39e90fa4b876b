"""Headers, cookies and proxies of some sites: to whom they go, what is refused, and that no value is ever shown."""

from pathlib import Path

import pytest

from crawler.crawl_plan import build_crawl_plan
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.http.site_options import parse_site_options
from crawler.settings import CrawlSettings
from domain.errors import SettingsError
from domain.outcome import Reason
from tests.crawler.test_crawl import run
from tests.crawler_fakes import MemoryTable, entry, settings
from tests.web_fixture import Answer, Site, page

SECRET = "s3cr3t"


def test_who_gets_what() -> None:
    made = CrawlSettings(
        headers=("a.test X-Token: one", "*.b.test X-Token: two"),
        cookies=("a.test sid=1", "a.test lang=zh; x=y"),
        proxies=("*.b.test http://127.0.0.1:3128", "a.test:8080 http://proxy.test:1/"),
    )
    found = parse_site_options(made)
    assert found.headers_for("a.test") == {"X-Token": "one", "Cookie": "sid=1; lang=zh; x=y"}
    assert found.headers_for("www.b.test") == {"X-Token": "two"}
    assert found.headers_for("a.test:8080") == found.headers_for("aa.test") == {}
    assert found.proxy_for("b.test") == "http://127.0.0.1:3128"
    assert found.proxy_for("a.test:8080") == "http://proxy.test:1"
    assert found.proxy_for("a.test") == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"headers": (SECRET,)},
        {"headers": (f"a.test {SECRET}",)},
        {"headers": (f"a.test X-Token: {SECRET}\r\nHost: b",)},
        {"headers": (f"a.test Host: {SECRET}",)},
        {"headers": (f"a.test Cookie: {SECRET}",)},
        {"headers": (f"a.test/path X-Token: {SECRET}",)},
        {"cookies": (f"a.test {SECRET}",)},
        {"cookies": (f"a.test sid={SECRET}\n",)},
        {"proxies": (f"a.test socks5://{SECRET}@p:1",)},
        {"proxies": (f"a.test http://u:{SECRET}@p:1/path",)},
        {"proxies": (f"a.test http://[{SECRET}",)},
    ],
    ids=str,
)
def test_what_is_refused_is_named_and_not_shown(changes: dict[str, tuple[str, ...]]) -> None:
    made = CrawlSettings(seeds=("http://a.test/",), **changes)  # type: ignore[arg-type]
    if "\n" in changes.get("cookies", ("",))[0]:
        assert (
            parse_site_options(made).headers_for("a.test")["Cookie"] == f"sid={SECRET}"
        )  # blanks around it are dropped
        return
    with pytest.raises(SettingsError, match=f"crawl.{next(iter(changes))}, line 1") as caught:
        build_crawl_plan(made)
    assert SECRET not in str(caught.value)


def test_the_site_is_sent_them_and_where_it_redirects_to_is_not(tmp_path: Path) -> None:
    with Site({"/": page()}) as other:
        with Site({"/": page("/a"), "/a": Answer(302, b"", {"Location": other.url("/")})}) as site:
            own = {"headers": (f"{site.host} X-Token: {SECRET}",), "cookies": (f"{site.host} sid={SECRET}",)}
            made = settings(site.url(), scope=(site.host, other.host), inside_hosts=(site.host, other.host), **own)
            run(MemoryTable(), made, tmp_path)
            sent = [(request.headers.get("X-Token"), request.headers.get("Cookie")) for request in site.requests]
        assert sent == [(SECRET, f"sid={SECRET}")] * 3  # robots.txt too
        assert other.requests
        assert not any(SECRET in str(dict(request.headers)) for request in other.requests)


def test_a_proxy_is_asked_for_the_address(tmp_path: Path) -> None:
    asked = "http://news.test/1?a=b"
    with Site({asked: page(), "http://127.0.0.1:1/": page()}) as proxy:
        lines = (f"news.test http://user:{SECRET}@{proxy.host}", f"127.0.0.1:1 http://{proxy.host}")
        fetcher = Fetcher(settings(asked, proxies=lines), PublicOnlyPolicy())
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
        line = f"news.test http://user:{SECRET}@{gone.host}"
    fetcher = Fetcher(settings("http://news.test/", proxies=(line,)), PublicOnlyPolicy())
    outcome = fetcher.fetch(entry("http://news.test/")).outcome
    assert outcome.reason is Reason.UNREACHABLE
    assert SECRET not in outcome.detail
