"""Editions of standards and statutes that a text names."""

import pytest

from lexicon.editions import iter_editions


@pytest.mark.parametrize(
    ("text", "work", "year"),
    [
        ("GB/T 19492-2020 油气矿产资源储量分类", "GB 19492", 2020),
        ("符合GB19492—2004的规定", "GB 19492", 2004),
        ("ISO/IEC 27001:2022", "ISO/IEC 27001", 2022),
        ("DB11/T 1234.2-2015", "DB11 1234.2", 2015),
        ("T/CAEPI 12-2019", "T/CAEPI 12", 2019),
        ("中华人民共和国环境保护法（2014年修订）", "环境保护法", 2014),
        ("按照《环境保护法》（1989）", "环境保护法", 1989),
    ],
)
def test_an_edition_has_its_work_and_year(text: str, work: str, year: int) -> None:
    [edition] = iter_editions(text)
    assert (edition.work, edition.year) == (work, year) and str(year) in edition.name


@pytest.mark.parametrize(
    "text", ["COVID 19-2020", "GB 2013-20145", "2014年的环境保护法", "电话 010-2014", "SIGBOVIK 2019"]
)
def test_other_numbers_are_no_editions(text: str) -> None:
    assert list(iter_editions(text)) == []
