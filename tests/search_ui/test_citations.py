"""References in the formats of reference managers, as files and on the pages."""

import csv
import io
import json
import time
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import pytest
from bs4 import BeautifulSoup

from search_ui.citations.formats import (
    CITATION_FORMATS,
    format_bibtex,
    format_csl_json,
    format_csv,
    format_gb7714,
    format_ris,
)
from search_ui.citations.reference import AuthorName, Reference, ReferenceKind, build_reference, parse_authors
from search_ui.query.display_text import Segment
from search_ui.query.results import Hit
from search_ui.services.citations import MAX_EXPORTED_RESULTS
from solr_client import solr_fields
from tests.site_fixture import FakeSearch, document, site_app

CHINESE = Reference(
    "doc1",
    ReferenceKind.NEWSPAPER,
    "页岩气 100% {开发}_提速",
    (AuthorName("张三"), AuthorName("李四")),
    "中国石油报",
    "news.example",
    "2016-05-09",
    "2026-11-28",
    "https://news.example/a_{1}.html?x=1&y=%20",
    "zh",
)
ENGLISH = Reference(
    "doc2",
    ReferenceKind.WEB_PAGE,
    "Shale & gas",
    (AuthorName("van der Berg", "Jan Piet"), AuthorName("World Bank")),
    "Oil site",
    "oil.example",
    "2016-05",
    "2026-11-28",
    "https://oil.example/2",
    "en",
)
UNKNOWN = replace(ENGLISH, doc_id="doc3", authors=(), published="", language="")


def test_bibtex_escapes_syntax_and_keeps_chinese_names_whole() -> None:
    assert format_bibtex([CHINESE]) == (
        "@article{news-example-2016-doc1,\n"
        "  author = {张三 and 李四},\n"
        "  title = {{页岩气 100\\% \\textbraceleft{}开发\\textbraceright{}\\_提速}},\n"
        "  journal = {中国石油报},\n"
        "  year = {2016},\n"
        "  month = may,\n"
        "  day = {9},\n"
        "  language = {zh},\n"
        "  url = {https://news.example/a_%7B1%7D.html?x=1&y=%20},\n"
        "  urldate = {2026-11-28},\n"
        "}\n"
    )
    english, unknown = format_bibtex([ENGLISH, UNKNOWN]).split("\n\n")
    assert "author = {van der Berg, Jan Piet and {World Bank}}" in english and r"Shale \& gas" in english
    assert unknown.startswith("@misc{oil-example-nd-doc3,") and "author" not in unknown and "year" not in unknown


def test_ris_has_one_value_on_a_line() -> None:
    lines = format_ris([replace(CHINESE, title="一\r\nER  - 二"), UNKNOWN]).split("\r\n")
    assert lines[:9] == [
        "TY  - NEWS", "AU  - 张三", "AU  - 李四", "TI  - 一 ER - 二", "T2  - 中国石油报", "PY  - 2016",
        "DA  - 2016/05/09/", "LA  - zh", "UR  - https://news.example/a_{1}.html?x=1&y=%20",
    ]  # fmt: skip
    assert lines.count("ER  - ") == 2 and not any(line.startswith(("AU", "PY")) for line in lines[11:])
    assert "AU  - van der Berg, Jan Piet" in format_ris([ENGLISH])


def test_csl_json_has_the_fields_of_the_schema() -> None:
    chinese, english, unknown = json.loads(format_csl_json([CHINESE, ENGLISH, UNKNOWN]))
    assert chinese["author"] == [{"literal": "张三"}, {"literal": "李四"}] and chinese["type"] == "article-newspaper"
    assert english["author"] == [{"family": "van der Berg", "given": "Jan Piet"}, {"literal": "World Bank"}]
    assert english["issued"] == {"date-parts": [[2016, 5]]} and english["accessed"] == {"date-parts": [[2026, 11, 28]]}
    assert set(unknown) == {"id", "type", "title", "container-title", "accessed", "URL"}


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        (
            CHINESE,
            "张三, 李四. 页岩气 100% {开发}_提速[N/OL]. 中国石油报, 2016-05-09[2026-11-28]. "
            "https://news.example/a_{1}.html?x=1&y=%20.",
        ),
        (
            ENGLISH,
            "VAN DER BERG J P, World Bank. Shale & gas[EB/OL]. (2016-05)[2026-11-28]. https://oil.example/2.",
        ),
        (UNKNOWN, "Shale & gas[EB/OL]. [2026-11-28]. https://oil.example/2."),
        (
            replace(UNKNOWN, kind=ReferenceKind.REPORT, authors=tuple(map(AuthorName, "甲乙丙丁"))),
            "甲, 乙, 丙, 等. Shale & gas[R/OL]. [2026-11-28]. https://oil.example/2.",
        ),
    ],
)
def test_gb7714_text(reference: Reference, text: str) -> None:
    assert format_gb7714(reference) == text


def test_csv_has_no_formulas() -> None:
    rows = list(csv.reader(io.StringIO(format_csv([replace(ENGLISH, title='=HYPERLINK("x")', container=" ＠a")]))))
    assert rows[0][0] == "\ufefftype" and rows[1][1:4] == [
        "'=HYPERLINK(\"x\")", "van der Berg, Jan Piet; World Bank", "' ＠a",
    ]  # fmt: skip


def test_names_are_split_only_in_latin_script() -> None:
    assert parse_authors("张三, 约翰·史密斯, John A. Smith, Jr., Ludwig van Beethoven, Reuters, Oil & Gas Team") == (
        AuthorName("张三"),
        AuthorName("约翰·史密斯"),
        AuthorName("Smith", "John A.", "Jr."),
        AuthorName("van Beethoven", "Ludwig"),
        AuthorName("Reuters"),
        AuthorName("Oil & Gas Team"),
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("John Smith Jr.", ["Smith, John, Jr."]),
        ("John Smith, Jr., Mary Brown, Ph.D.", ["Smith, John, Jr.", "Brown, Mary"]),
        ("Henry Ford III", ["Ford, Henry, III"]),
        ("Smith, John", ["Smith, John"]),
        ("Smith, J.", ["Smith, J."]),
        ("van der Berg, Jan", ["van der Berg, Jan"]),
        ("Smith, John, Jr.", ["Smith, John, Jr."]),
        ("Smith, John A.; Brown, Mary", ["Smith, John A.", "Brown, Mary"]),
        ("John Smith; Mary Brown", ["Smith, John", "Brown, Mary"]),
        ("John Smith, Mary Brown", ["Smith, John", "Brown, Mary"]),
        ("By John Smith, Staff Writer", ["Smith, John"]),
        ("John Smith, Senior Correspondent for Energy", ["Smith, John"]),
        ("Editor: Mary Brown", ["Brown, Mary"]),
        ("记者 张三, 编辑：李四", ["张三", "李四"]),
        ("Staff Writer", ["Staff Writer"]),
        ("Reuters, Bloomberg", ["Reuters", "Bloomberg"]),
        ("Xinhua, AFP", ["Xinhua", "AFP"]),
        ("Byron Adams", ["Adams, Byron"]),
        ("文森特·梵高", ["文森特·梵高"]),
    ],
)
def test_suffixes_stay_with_their_names_and_roles_are_no_names(text: str, names: list[str]) -> None:
    assert [name.inverted_name for name in parse_authors(text)] == names


@pytest.mark.parametrize("title", ["{", "}", "a } b { c", "\\{", "\\"])
def test_the_braces_of_a_bibtex_entry_are_balanced(title: str) -> None:
    entry, depth = format_bibtex([replace(ENGLISH, title=title)]), 0
    for character in entry:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    suffixed = format_bibtex([replace(ENGLISH, authors=(AuthorName("Smith", "John", "Jr."),))])
    assert "author = {Smith, Jr., John}" in suffixed


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"source": "人民日报"}, ReferenceKind.NEWSPAPER),
        ({"site_name": "The New York Times"}, ReferenceKind.NEWSPAPER),
        ({"source": "人民日报", "published": ""}, ReferenceKind.WEB_PAGE),
        ({"source": "国务院公报"}, ReferenceKind.WEB_PAGE),
        ({"format": "pdf", "title": (Segment("2016年度报告"),)}, ReferenceKind.REPORT),
        ({"title": (Segment("2016年度报告"),)}, ReferenceKind.WEB_PAGE),
        ({"title": (Segment("GB/T 7714-2015 参考文献著录规则"),)}, ReferenceKind.STANDARD),
    ],
)
def test_kind_of_document(changes: dict[str, Any], kind: ReferenceKind) -> None:
    hit = Hit(doc_id="doc1", title=(Segment("标题"),), site="a.example:80", site_name="某站", published="2016-05-09")
    reference = build_reference(replace(hit, **changes), "2026-11-28", "https://search.example/article/doc1")
    assert reference.kind is kind
    assert (reference.url, reference.host) == ("https://search.example/article/doc1", "a.example")


DOCUMENTS = [
    document(1, "页岩气一", "正文", "2016-05-09") | {solr_fields.AUTHOR: "张三, John Smith"},
    document(2, "页岩气二", "正文", ""),
]


@pytest.mark.parametrize("name", CITATION_FORMATS)
def test_article_and_results_are_exported_as_files(name: str) -> None:
    client = site_app(FakeSearch(DOCUMENTS)).test_client()
    article = client.get(f"/api/v1/articles/doc1?format={name}")
    results = client.get(f"/api/v1/search?q=页岩气&format={name}&page=7")
    for response, file_name in ((article, "doc1"), (results, "search-results")):
        assert response.mimetype == CITATION_FORMATS[name].media_type
        assert response.headers["Content-Disposition"] == (
            f"attachment; filename={file_name}.{CITATION_FORMATS[name].extension}"
        )
    assert "页岩气一" in article.text and "Smith" in article.text.title() and "页岩气二" not in article.text
    assert "页岩气一" in results.text and "页岩气二" in results.text


def test_pages_have_tags_for_reference_managers() -> None:
    client = site_app(FakeSearch(DOCUMENTS)).test_client()
    page = BeautifulSoup(client.get("/article/doc1").text, "html.parser")
    tags = [(tag["name"], tag["content"]) for tag in page.select("meta[name^=citation_], meta[name^=DC]")]
    assert tags == [
        ("citation_title", "页岩气一"), ("citation_author", "张三"), ("citation_author", "Smith, John"),
        ("citation_publication_date", "2016/05/09"), ("DC.source", "news.example"),
        ("citation_language", "zh"), ("citation_public_url", "https://news.example/1.html"), ("DC.type", "webpage"),
    ]  # fmt: skip
    results = BeautifulSoup(client.get("/search?q=页岩气").text, "html.parser")
    article_coins, first_coins, second_coins = (
        parse_qs(str(span["title"])) for span in (*page.select("span.Z3988"), *results.select("span.Z3988"))
    )
    assert article_coins == first_coins and first_coins["rft.au"] == ["张三", "Smith, John"]
    assert first_coins["rft.date"] == ["2016-05-09"] and "rft.date" not in second_coins
    assert second_coins["rft.identifier"] == ["https://news.example/2.html"]


def test_number_of_exported_results_is_limited() -> None:
    search = FakeSearch([document(n, f"页岩气{n}", "正文") for n in range(MAX_EXPORTED_RESULTS + 5)])
    response = site_app(search).test_client().get("/api/v1/search?q=页岩气&format=csl")
    assert len(json.loads(response.text)) == MAX_EXPORTED_RESULTS
    assert not any("hl" in dict(params) for params in search.asked)


def test_the_access_date_is_the_day_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        client = site_app(FakeSearch(DOCUMENTS), clock=lambda: 1_714_600_800.0).test_client()  # 2024-05-01 22:00 UTC
        assert "[2024-05-02]" in client.get("/api/v1/articles/doc1?format=gbt7714").text
    finally:
        monkeypatch.undo()
        time.tzset()


def test_unknown_format_and_article() -> None:
    client = site_app(FakeSearch(DOCUMENTS)).test_client()
    response = client.get("/api/v1/search?q=页岩气&format=endnote")
    assert response.status_code == 400 and response.get_json()["error"]["code"] == "format"
    assert client.get("/api/v1/articles/doc9?format=ris").status_code == 404
