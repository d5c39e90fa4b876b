"""Pages that form one article, and conversion of articles to rows: the parts that need no store."""

from dataclasses import replace

import pytest

from docstore.articles.row_mapping import (
    article_from_json,
    article_row,
    article_to_json,
    block_from_list,
    blocks_from_json,
    blocks_to_lists,
)
from domain.article import Article, Block, BlockKind, text_hash64
from domain.pagination import (
    MAX_CHAIN_PAGES,
    can_reference,
    estimate_jaccard,
    find_first_page,
    follow_next_pages,
    is_same_content,
    is_same_site,
    join_pages,
)

P, H = BlockKind.PARAGRAPH, BlockKind.HEADING
PICTURE = Block(BlockKind.PICTURE, "", url="http://a.test/1.jpg")


def page(body: str, *blocks: Block, **changes: object) -> Article:
    return replace(Article("http://a.test/1", "大庆 油田", body, blocks=blocks), **changes)  # type: ignore[arg-type]


FIRST = page("导语一句。\n第一页。", Block(H, "大庆油田", 1), PICTURE, Block(P, "导语一句。"), Block(P, "第一页。"))


class TestJoin:
    def test_title_and_lead_stand_once(self) -> None:
        later = page("大庆油田\n导语 一句。\n第二页。", Block(H, "大庆油田", 1), PICTURE, Block(P, "第二页。"))
        joined = join_pages([FIRST, later])
        assert joined.body == "导语一句。\n第一页。\n第二页。"
        assert joined.blocks == (*FIRST.blocks, Block(P, "第二页。"))

    def test_what_stands_again_further_down_stays(self) -> None:
        assert join_pages([FIRST, page("第二页。\n导语一句。")]).body.endswith("第二页。\n导语一句。")

    def test_a_page_that_only_repeats_adds_nothing(self) -> None:
        assert join_pages([FIRST, page("大庆油田\n导语一句。", PICTURE)]) == FIRST

    def test_what_the_first_page_says_of_the_article_counts(self) -> None:
        first = replace(FIRST, author="张三", published="2024-05-01", modified="2024-05-01", next_url="http://a.test/2")
        later = page("二。", author="李四", modified="2024-05-03", picture="http://a.test/2.jpg", next_url="")
        joined = join_pages([first, later])
        assert (joined.author, joined.published, joined.modified) == ("张三", "2024-05-01", "2024-05-03")
        assert (joined.picture, joined.next_url, joined.url) == ("http://a.test/2.jpg", "", first.url)

    def test_the_signature_is_that_of_both(self) -> None:
        signatures = [(5, 1, 9), (), (3, 2, 9)]
        assert join_pages([page(str(s), signature=s) for s in signatures]).signature == (3, 1, 9)
        assert join_pages([page("a"), page("b")]).signature == ()


@pytest.mark.parametrize(
    ("following", "page", "head", "chain"),
    [
        pytest.param({1: 2, 2: 3}, 3, 1, [1, 2, 3], id="chain"),
        pytest.param({}, 5, 5, [5], id="alone"),
        pytest.param({1: 2, 2: 3, 3: 1}, 3, 1, [1, 2, 3], id="ring"),
        pytest.param({4: 2, 2: 3, 3: 2}, 3, 2, [2, 3], id="a tail into a ring"),
        pytest.param({1: 3, 2: 3}, 3, 1, [1, 3], id="two before one"),
        pytest.param({1: 3, 2: 3}, 2, 2, [2], id="the other of two"),
        pytest.param({n: n + 1 for n in range(1, 99)}, MAX_CHAIN_PAGES, 1, [*range(1, MAX_CHAIN_PAGES + 1)], id="long"),
        pytest.param({n: n + 1 for n in range(1, 99)}, MAX_CHAIN_PAGES + 1, None, [], id="too long"),
    ],
)
def test_chains(following: dict[int, int], page: int, head: int | None, chain: list[int]) -> None:
    before = {after: first for first, after in sorted(following.items(), reverse=True)}
    assert find_first_page(page, before.get) == head
    if head is not None:
        assert follow_next_pages(head, following.get, before.get) == chain


def test_a_page_outside_a_cycle_does_not_lead_it() -> None:
    previous_page = {1: 2, 2: 3, 3: 2}
    assert [find_first_page(page, previous_page.get) for page in (1, 2, 3)] == [None, 2, 2]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://a.test/1", "https://a.test/2", True),
        ("http://www.a.test/1", "http://m.a.test/1", True),
        ("http://amp.news.a.test/1", "http://news.a.test/1", True),
        ("http://mp.a.test/1", "http://www.a.test/1", True),
        ("http://a.test:8001/", "http://a.test:8002/", False),
        ("http://m.a.test:8001/", "http://a.test:8001/", True),
        ("http://news.a.test/1", "http://sport.a.test/1", False),
        ("http://ba.test/1", "http://a.test/1", False),
        ("http://m.test/1", "http://a.test/1", False),
        ("http://m.test/1", "http://www.test/1", False),
        ("http://10.0.0.1/1", "http://2.10.0.0.1/1", False),
        ("http://localhost/1", "http://a.localhost/1", False),
    ],
)
def test_what_is_one_site(one: str, other: str, same: bool) -> None:
    assert is_same_site(one, other) is is_same_site(other, one) is same


@pytest.mark.parametrize(
    ("target", "may"),
    [
        ("http://a.test/2", True),
        ("https://a.test/1", True),
        ("http://a.test/1", False),
        ("http://a.test/", False),
        ("http://a.test", False),
        ("", False),
        ("http://b.test/1", False),
    ],
)
def test_what_a_page_may_name(target: str, may: bool) -> None:
    assert can_reference("http://a.test/1", target) is may


@pytest.mark.parametrize(
    ("changes", "alike"),
    [
        pytest.param({}, True, id="the same"),
        pytest.param({"title": "大庆油田（2）", "body": "别的。"}, True, id="page number"),
        pytest.param({"title": "大庆油田 第2页", "body": "别的。"}, True, id="page number in words"),
        pytest.param({"title": "", "body": "正 文。"}, True, id="no title, same text"),
        pytest.param({"title": "另一个", "body": "别的。", "signature": ()}, False, id="another"),
        pytest.param({"title": "另一个", "body": "别的。", "signature": (1, 2, 3, 9)}, True, id="much the same text"),
        pytest.param({"title": "另一个", "body": "别的。", "signature": (1, 7, 8, 9)}, False, id="little of the text"),
    ],
)
def test_is_a_page_what_its_original_says(changes: dict[str, object], alike: bool) -> None:
    original = page("正文。", signature=(1, 2, 3, 4))
    assert is_same_content(replace(original, **changes), original) is alike  # type: ignore[arg-type]


def test_likeness() -> None:
    assert estimate_jaccard((1, 2, 3, 4), (1, 2, 3, 5)) == 0.75
    assert estimate_jaccard((), ()) == estimate_jaccard((1,), (1, 2)) == 0.0


FULL = Article(
    "http://a.test/1", "题\x00目", "正\ud800文", "2024-05", "meta", "zh", "blocks", "2024-05-01T10:20:00+08:00",
    "2024-05-02", "张三", "新华社", "要闻", ("石油", "天然气"), "http://a.test/p.jpg", "http://a.test/c",
    "http://a.test/2",
    (
        Block(P, "看这里", links=((0, 1, "http://a.test/x"), (1, 3, "http://a.test/y"))),
        Block(BlockKind.LIST_ITEM, "项", 2, True),
        Block(BlockKind.TABLE_ROW, "甲\t乙"),
        Block(BlockKind.CODE, "a\n  b"),
        PICTURE,
        Block(P, ""),
    ),
    (0, 2**32 - 1, 7),
)  # fmt: skip


def test_an_article_is_kept_whole_but_for_what_no_database_takes() -> None:
    kept = article_from_json(FULL.url, article_to_json(FULL))
    assert kept == replace(FULL, title="题\ufffd目", body="正\ufffd文")
    empty = Article("http://a.test/1", "", "")
    assert article_from_json(empty.url, article_to_json(empty)) == empty


def test_blocks_are_kept_without_what_is_empty() -> None:
    assert '["paragraph"]' in article_to_json(FULL)
    assert block_from_list(["item", "项", 2]) == Block(BlockKind.LIST_ITEM, "项", 2)


def test_blocks_refer_to_lines_of_the_body() -> None:
    blocks = (Block(BlockKind.HEADING, "一", 2), Block(P, "二\x00"), Block(P, "外"), Block(P, "一"), Block(P, ""))
    article = replace(FULL, body="一\n二\x00\n\n一", blocks=blocks)
    assert blocks_to_lists(article) == [
        ["heading", 0, 2],
        ["paragraph", 1],
        ["paragraph", "外"],
        ["paragraph", 0],
        ["paragraph"],
    ]
    row = article_row(1, FULL.url, article, 0.0)
    assert blocks_from_json(row["blocks"], row["body"]) == (blocks[0], Block(P, "二\ufffd"), *blocks[2:])
    assert blocks_from_json('[["heading","一",2],["item","项",1,true]]', "一")[1].ordered, "rows of older programs"


def test_line_hashes_do_not_see_white_space() -> None:
    assert text_hash64(" 版权 所有\u3000") == text_hash64("版权所有")
    assert text_hash64("版权所有") != text_hash64("版权所无")
    assert -(2**63) <= text_hash64("\ud800") < 2**63
