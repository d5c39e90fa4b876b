"""What a text cites by name, number or link, and by what a document is cited."""

import pytest

from indexer.citation_keys import (
    MAX_CITATION_KEYS,
    document_keys,
    extract_citation_keys,
    extract_link_keys,
    iter_standard_keys,
)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("依照《中华人民共和国刑法》的规定", "刑法 第九条"),
        ("依照《刑法》第九条", "中华人民共和国刑法 第九条"),
        (
            "《最高人民法院关于适用〈中华人民共和国民事诉讼法〉的解释》",
            "最高人民法院关于适用《民事诉讼法》的解释 第一条",
        ),
        ("按《公司登记条例》办理", "公司登记条例（2016年修订）"),
        ("詳見「页岩气开发指南」一文", "页岩气开发指南"),
        ("符合GB/T 1234的要求", "GB/T 1234—2008 钢管"),
        ("certified to ISO 9001:2015", "ISO 9001 Quality management"),
        ("按SY/T 5435-2012设计", "SY/T 5435 定向井轨道设计"),
    ],
)
def test_a_citation_meets_what_it_means(text: str, title: str) -> None:
    assert set(extract_citation_keys(text)) & set(document_keys(title, ()))


@pytest.mark.parametrize(
    "text", ["HTTP/2 404 in May 2019", "COVID-19 in 2020", "第 12 号", "A 320 und 《》《。》", "page 1999"]
)
def test_what_is_no_citation(text: str) -> None:
    assert list(extract_citation_keys(text)) == []


def test_of_a_part_the_whole_and_the_part_are_cited() -> None:
    assert list(extract_citation_keys("《刑法》第九条、《刑法》")) == ["name 刑法", "name 刑法第九条"]
    assert document_keys("刑法 第九条", ["https://law.test/9#top", ""]) == [
        "name 刑法",
        "name 刑法第九条",
        "url law.test/9",
    ]


def test_links_count_where_they_stand_in_a_sentence() -> None:
    sentence = ("See the guide before you begin.", [(8, 13, "http://a.test/guide#one")])
    listed = ("guide, news", [(0, 5, "http://a.test/x"), (7, 11, "http://a.test/y")])
    assert list(extract_link_keys([sentence, listed, ("no link", [])])) == ["url a.test/guide"]


def test_however_much_a_text_cites_it_is_bounded() -> None:
    assert (
        len(list(extract_citation_keys("".join(f"《书名{n}》" for n in range(3 * MAX_CITATION_KEYS)))))
        == MAX_CITATION_KEYS
    )
    assert list(extract_citation_keys("《" * 100_000)) == [] and list(iter_standard_keys("GB " * 100_000)) == []
