"""Authors in bylines: dates, suffixes, roles, several names, names with small or quoted parts."""

import pytest

from tests.extractor.test_metadata import TITLE, metadata


@pytest.mark.parametrize("date", ["April 11, 2026", "11 April 2026", "Apr. 11, 2026", "11. April 2026", "2026-04-11"])
@pytest.mark.parametrize("between", [" | ", ", ", " · ", " - ", " — ", " ", " / ", " on "])
def test_a_date_behind_the_name_is_no_part_of_it(between: str, date: str) -> None:
    byline = f"By Jane Moss{between}{date}"
    assert metadata(f"<p>{byline}</p>").author == "Jane Moss"
    assert metadata(f"<p class=author>{byline}</p>").author == "Jane Moss"
    assert metadata(head=f"<meta name=author content='{byline}'>").author == "Jane Moss"


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("By Jane Moss | April 11, 2026 10:30 am EST", "Jane Moss"),
        ("By Jane Moss | Apr. 11, 2026 at 4:05 p.m. ET", "Jane Moss"),
        ("By Jane Moss — Monday, 11 April 2026 10:22 GMT", "Jane Moss"),
        ("By Jane Moss and John Roe | Published: 11th April, 2026", "Jane Moss, John Roe"),
        ("By Jane Sun | Last updated on April 11, 2026", "Jane Sun"),
        ("April 11, 2026 | By Jane Moss", "Jane Moss"),
        ("April 11, 2026 by Jane Moss", "Jane Moss"),
        ("By Jane Moss | April 11", "Jane Moss"),
        ("Par Jeanne Mousse, 11 avril 2026", "Jeanne Mousse"),
        ("Von Hanna Moos, 11. März 2026", "Hanna Moos"),
        ("By April Summer | May 11, 2026", "April Summer"),
        ("By Jane Moss, John Roe and Anna Lee", "Jane Moss, John Roe, Anna Lee"),
        ("By Jane Moss, John Roe, and Anna Lee | April 11, 2026", "Jane Moss, John Roe, Anna Lee"),
        ("By Ludwig van der Berg", "Ludwig van der Berg"),
        ("By Maria de la Cruz and Juan del Rio", "Maria de la Cruz, Juan del Rio"),
        ("By Robert “Bob” Miller", "Robert “Bob” Miller"),
        ("By Robert 'Bob' Miller", "Robert 'Bob' Miller"),
        ('By Robert "Bob" Miller', 'Robert "Bob" Miller'),
        ("By Robert (Bob) Miller", "Robert (Bob) Miller"),
        ("By Robert Downey Jr.", "Robert Downey Jr."),
        ("By Robert Downey, Jr. | April 11, 2026", "Robert Downey Jr."),
        ("By Jane Moss, PhD", "Jane Moss"),
        ("By Jane Moss, M.D., and John Roe, CFA", "Jane Moss, John Roe"),
        ("By Jane Moss, Staff Writer", "Jane Moss"),
        ("2026-04-11 - Jane Moss (@jane_moss)", "Jane Moss"),
        ("April 11, 2026 - Jane Moss (@jane) and John Roe (@roe)", "Jane Moss, John Roe"),
        ("11 Apr 2026 – Jean-Luc de la Tour (@jl)", "Jean-Luc de la Tour"),
        ("2026-04-11 - 张三 (@zhangsan)", "张三"),
        ("作者：张三 教授", "张三"),
        ("作者：张三（特约记者）", "张三"),
        ("作者：张三教授 2026-04-11", "张三"),
        ("文/张三 图/李四", "张三"),
        ("记者 张三 通讯员 李四", "张三"),
    ],
)
def test_names_in_a_byline(text: str, author: str) -> None:
    assert metadata(f"<p>{text}</p>").author == author


@pytest.mark.parametrize(
    ("above", "author"),
    [
        ("<p>By <a href=/author/a rel=author>Jane Moss</a> and <a href=/author/b rel=author>John Roe</a></p>",
         "Jane Moss, John Roe"),
        ("<p><a href=/author/a>Jane Moss</a>, <a href=/author/b>John Roe</a></p>", "Jane Moss, John Roe"),
        ("<span class=author>Jane Moss</span> <span class=author>John Roe</span>", "Jane Moss, John Roe"),
        ("<div class=author>Jane Moss</div><div class=author>John Roe</div>", "Jane Moss, John Roe"),
    ],
)  # fmt: skip
def test_all_authors_are_named(above: str, author: str) -> None:
    assert metadata(above).author == author


def test_several_metas_of_one_name_are_several_authors() -> None:
    head = "".join(f"<meta name=citation_author content='{name}'>" for name in ("Moss, Jane", "Roe, John", "Ann Lee"))
    assert metadata(head=head.replace("Moss, Jane", "Jane Moss").replace("Roe, John", "John Roe")).author == (
        "Jane Moss, John Roe, Ann Lee"
    )


@pytest.mark.parametrize("headline", ["小说 作者莫言谈写作", "专访作者：莫言谈获奖之后的写作", "诺奖作者 莫言的故乡"])
def test_a_headline_names_no_author(headline: str) -> None:
    assert metadata(f"<h2>{headline}</h2>").author == ""
    assert metadata(f"<p>作者：张三</p><h2>{headline}</h2>").author == "张三"
    assert TITLE not in metadata(f"<h2>{headline}</h2>").author


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("Łukasz Żak 2024-05-01", "Łukasz Żak"),
        ("Иван Петров 2024-05-01", "Иван Петров"),
        ("Özlem Çelik | 01.05.2024", "Özlem Çelik"),
        ("Émile Émond on 2024-05-01", "Émile Émond"),
        ("张三 李四 2024-05-01", "张三, 李四"),
        ("김철수 이영희 2024-05-01", "김철수 이영희"),
    ],
)
def test_only_small_words_before_the_date_are_dropped(text: str, author: str) -> None:
    assert metadata(f"<div class=author>{text}</div>").author == author
