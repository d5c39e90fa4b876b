"""Feeds and the OpenSearch description, parsed as feed readers and browsers do."""

from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup

from search_ui.pages.feeds import parse_timestamp
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from tests.site_fixture import FakeSearch, document, site_app

ATOM = "{http://www.w3.org/2005/Atom}"
OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
DOCUMENTS = [
    document(1, "页岩气 <b>&", "页岩气\x0b产量\uffff", "2016-05-09"),
    document(2, "页岩气二", "正文", "2016-05"),
    document(3, "页岩气三", "正文", "") | {solr_fields.URL: "javascript:alert(1)"},
]


def test_atom_has_what_its_readers_need() -> None:
    client = site_app(FakeSearch(DOCUMENTS)).test_client()
    response = client.get("/feed.atom?q=页岩气&site=news.example")
    assert response.mimetype == "application/atom+xml"
    feed = ElementTree.fromstring(response.data)
    entries = feed.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}title") for entry in entries] == ["页岩气 <b>&", "页岩气二", "页岩气三"]
    assert [entry.findtext(f"{ATOM}updated") for entry in entries] == [
        "2016-05-09T00:00:00+00:00", "2016-05-01T00:00:00+00:00", "2024-05-01T10:20:30+00:00",
    ]  # fmt: skip
    links = [entry.find(f"{ATOM}link").get("href") for entry in entries]  # type: ignore[union-attr]
    assert links == [
        "https://news.example/1.html", "https://news.example/2.html", "http://localhost/article/doc3",
    ]  # fmt: skip
    assert feed.findtext(f"{ATOM}updated") == "2024-05-01T10:20:30+00:00"
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == 3 and all(str(one).startswith("urn:") for one in ids)


def test_rss_has_what_its_readers_need() -> None:
    response = site_app(FakeSearch(DOCUMENTS)).test_client().get("/feed.rss?q=页岩气")
    assert response.mimetype == "application/rss+xml"
    channel = ElementTree.fromstring(response.data).find("channel")
    assert channel is not None and channel.findtext("link", "").startswith("http://localhost/search?q=")
    dates = [parsedate_to_datetime(item.findtext("pubDate", "")) for item in channel.findall("item")]
    assert [date.isoformat()[:10] for date in dates] == ["2016-05-09", "2016-05-01", "2024-05-01"]


def test_what_a_page_shows_as_markup_is_text_in_a_description() -> None:
    shown = document(1, "标题", "页岩气 <script>alert(1)</script> &lt;b&gt;", "2016-05-09")
    response = site_app(FakeSearch([shown])).test_client().get("/feed.rss?q=页岩气")
    [description] = [item.findtext("description", "") for item in ElementTree.fromstring(response.data).iter("item")]
    read = BeautifulSoup(description, "html.parser")  # as programs that read RSS do
    assert read.find(True) is None and "<script>alert(1)</script>" in read.get_text()


@pytest.mark.parametrize("path", ["/feed.rss?q=页岩气", "/feed.atom?q=页岩气", "/opensearch.xml"])
def test_the_setting_says_where_the_site_is_and_no_header(path: str) -> None:
    settings = SearchSettings(base_url="https://search.example.org/")
    client = site_app(FakeSearch(DOCUMENTS), settings=settings).test_client()
    text = client.get(path, headers={"Host": "evil.example"}).text
    assert "https://search.example.org/search?q=" in text and "evil.example" not in text


def test_a_feed_is_newest_first_and_keeps_the_filters() -> None:
    search = FakeSearch(DOCUMENTS)
    site_app(search).test_client().get("/feed.atom?q=页岩气&term=压裂&sort=relevance&from=2016")
    sent = next(params for params in search.asked if "sort" in dict(params))  # requests are sent at the same time
    assert dict(sent)["sort"].startswith("published desc") and int(dict(sent)["rows"]) >= 20
    assert {"压裂"} <= {value for _, value in sent}


@pytest.mark.parametrize("kind", ["atom", "rss"])
def test_nothing_new_is_told_without_a_body(kind: str) -> None:
    client = site_app(FakeSearch(DOCUMENTS)).test_client()
    first = client.get(f"/feed.{kind}?q=页岩气")
    again = client.get(f"/feed.{kind}?q=页岩气", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_feeds_without_results_and_of_nonsense_are_well_formed() -> None:
    client = site_app(FakeSearch()).test_client()
    for query in ("", "什么都没有", "<&\"'>", "\x0b\ud800\ufffe"):
        for kind in ("atom", "rss"):
            response = client.get(f"/feed.{kind}", query_string={"q": query.encode("utf-8", "surrogatepass")})
            assert response.status_code == 200
            ElementTree.fromstring(response.data)
    assert client.get("/feed.xml?q=a").status_code == 404
    assert client.get("/feed.atom?q=a&from=x").status_code == 400


def test_a_result_page_names_its_feeds_and_the_description() -> None:
    page = BeautifulSoup(site_app(FakeSearch(DOCUMENTS)).test_client().get("/search?q=页岩气&from=2016").text, "lxml")
    named = {str(link["type"]): str(link["href"]) for link in page.select("link[rel=alternate], link[rel=search]")}
    assert set(named) == {
        "application/atom+xml", "application/rss+xml", "application/opensearchdescription+xml",
    }  # fmt: skip
    assert named["application/atom+xml"].endswith("&from=2016")


def test_browsers_learn_how_to_search_here() -> None:
    response = site_app().test_client().get("/opensearch.xml")
    assert response.mimetype == "application/opensearchdescription+xml"
    described = ElementTree.fromstring(response.data)
    templates = {url.get("type"): url.get("template") for url in described.findall(f"{OPENSEARCH}Url")}
    assert templates["text/html"] == "http://localhost/search?q={searchTerms}"
    assert templates["application/x-suggestions+json"] == "http://localhost/suggest?q={searchTerms}"
    assert len(described.findtext(f"{OPENSEARCH}ShortName", "")) <= 16


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2016-05", "2016-05-01T00:00:00+00:00"),
        ("2016-05-09", "2016-05-09T00:00:00+00:00"),
        ("2016-05-09T10:20:00Z", "2016-05-09T10:20:00+00:00"),
        ("", None),
        ("yesterday", None),
        ("2016-13", None),
    ],
)
def test_moments(text: str, iso: str | None) -> None:
    moment = parse_timestamp(text)
    assert (moment.isoformat() if moment else None) == iso


@pytest.mark.parametrize("number", [1, 6, 10])
def test_the_page_of_a_search_is_ignored(number: int) -> None:
    client = site_app(FakeSearch(DOCUMENTS), settings=SearchSettings(deepest_result=100)).test_client()
    assert client.get(f"/feed.atom?q=页岩气&page={number}").status_code == 200
