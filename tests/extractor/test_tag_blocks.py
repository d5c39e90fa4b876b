"""Wu Yueting's tag blocks (WY-F1 to WY-F6): the blocks of pages, and impact and weight computed by hand."""

from dataclasses import replace

import pytest

from domain.paper_settings import WuYuetingSettings
from extractor.body_methods import BODY_METHODS
from extractor.body_methods.explanation import with_tag_block_features
from extractor.body_methods.tag_blocks import (
    TagBlock,
    TagBlockType,
    assign_weights,
    build_tag_blocks,
    term_weights,
)
from extractor.page.parsed_page import ParsedPage, parse_text
from extractor.settings import ExtractSettings

TITLE, CONTENT, NAVIGATION = TagBlockType.TITLE, TagBlockType.CONTENT, TagBlockType.NAVIGATION
ANCHOR, OTHER = TagBlockType.ANCHOR, TagBlockType.OTHER

CHINESE = """<title>大庆油田产量创新高_某某网</title><body>
<ul class="nav"><li><a href="/">首页</a><li><a href="/2">要闻</a></ul>
<h1 id="T">大庆油田产量创新高</h1><div class="article">
<p><b>本报讯</b> 大庆油田今天宣布，产量<a href="/3">五年</a>来最高。</p>
<p>公司表示将继续推进<strong>技术创新</strong>。</p><blockquote>努力降低成本。</blockquote>
<p><a class="More" href="/4">相关报道</a></p></div><div class="foot"><a href="/5">关于我们</a> 版权所有</div>"""
ENGLISH = """<title>Oil output rises</title><body><nav><a href="/">Home</a> <a href="/2">World</a></nav>
<article><h1>Oil output <em>rises</em></h1><p>Output rose by five percent, the <a href="/m">ministry</a> said.</p>
<ul><li>First, prices fell.<ul><li>Then they <b>rose</b>.</li></ul></li></ul>
<table><tr><td>April</td><td>120</td></tr></table></article>
<div class="related"><h3><a href="/3">Gas prices</a></h3><a href="/4">Coal prices</a></div>"""


def document(html: str) -> ParsedPage:
    found = parse_text(html, "http://news.test/a.html")
    assert found is not None
    return found


def inventory(html: str) -> list[tuple[str, str, tuple[str, ...], str]]:
    """Return type, content, key tags and content of the enclosing block."""
    blocks = build_tag_blocks(document(html))
    return [
        (block.type, block.text, block.key_tags, blocks[block.parent_index].text if block.parent_index >= 0 else "")
        for block in blocks
    ]


class TestInventory:
    def test_of_a_chinese_page(self) -> None:
        lead = "本报讯 大庆油田今天宣布，产量 来最高。"
        assert inventory(CHINESE) == [
            (TITLE, "大庆油田产量创新高_某某网", (), ""),
            (NAVIGATION, "首页", (), ""),
            (NAVIGATION, "要闻", (), ""),
            (TITLE, "大庆油田产量创新高", ("h1",), ""),
            (CONTENT, lead, ("strong",), ""),
            (ANCHOR, "五年", (), lead),
            (CONTENT, "公司表示将继续推进技术创新。", ("strong",), ""),
            (OTHER, "努力降低成本。", (), ""),
            (ANCHOR, "相关报道", (), ""),
            (CONTENT, "版权所有", (), ""),
            (ANCHOR, "关于我们", (), "版权所有"),
        ]

    def test_of_an_english_page(self) -> None:
        said = "Output rose by five percent, the said."
        assert inventory(ENGLISH) == [
            (TITLE, "Oil output rises", (), ""),
            (NAVIGATION, "Home World", (), ""),
            (TITLE, "Oil output rises", ("h1",), ""),
            (CONTENT, said, (), ""),
            (ANCHOR, "ministry", (), said),
            (OTHER, "First, prices fell.", (), ""),
            (OTHER, "Then they rose.", ("strong",), "First, prices fell."),
            (CONTENT, "April 120", (), ""),
            (NAVIGATION, "Coal prices", (), ""),
            (TITLE, "Gas prices", (), "Coal prices"),
        ]

    def test_names_and_attributes(self) -> None:
        blocks = {block.text: block for block in build_tag_blocks(document(CHINESE))}
        heading, more = blocks["大庆油田产量创新高"], blocks["相关报道"]
        assert (heading.name, heading.identifiers, heading.attributes) == ("h1", "t", {"id": "T"})
        assert (more.name, more.identifiers, more.attributes) == ("a", "more", {"class": "More", "href": "/4"})

    @pytest.mark.parametrize("html", [CHINESE, ENGLISH], ids=["zh", "en"])
    def test_every_character_is_in_one_block(self, html: str) -> None:
        page = document(html)
        blocks = [block for block in build_tag_blocks(page) if block.span_index >= 0]
        assert sorted("".join("".join(block.text for block in blocks).split())) == sorted(
            "".join("".join(line.text for line in page.layout.lines).split())
        )
        assert len({block.id for block in blocks}) == len(blocks)

    @pytest.mark.parametrize(
        ("html", "kinds"),
        [
            ("<div><p><a href='/1'>链接链接</a></p><p>正文正文正文</p></div>", [ANCHOR, CONTENT]),
            ("<div><p><a href='/1'>链接链接链接链接</a></p><p>正文</p></div>", [NAVIGATION, NAVIGATION]),
            ("<div><div>正文</div><ul><li><a href='/1'>甲乙</a><li>甲</ul></div>", [CONTENT, NAVIGATION, NAVIGATION]),
            ("<h2><div>标题</div></h2>", [TITLE]),
            ("<section>正文</section><pre>x = 1</pre>", [CONTENT, OTHER]),
            ("<p> </p><p><a href='/1'> </a></p>", []),
        ],
        ids=["link in text", "text among links", "list in text", "in a heading", "by tag", "no text"],
    )  # fmt: skip
    def test_types(self, html: str, kinds: list[TagBlockType]) -> None:
        assert [block.type for block in build_tag_blocks(document(html))] == kinds

    def test_strong_text_in_a_line_of_links_belongs_to_the_link(self) -> None:
        html = "<div><p><b><a href='/1'>链接</a></b></p><p>正文正文正文</p></div>"
        assert [(block.type, block.key_tags) for block in build_tag_blocks(document(html))] == [
            (ANCHOR, ("strong",)), (CONTENT, ()),
        ]  # fmt: skip


def block(kind: TagBlockType, *key_tags: str, parent: int = -1) -> TagBlock:
    return TagBlock("", "", "", "", kind, key_tags=key_tags, parent_index=parent)


class TestImpactAndWeight:
    def test_by_hand(self) -> None:
        """At most two key tags. impact0: 1, .5, 0, 0; impact1: 1, .8, .5, .1; the anchor lifts its block by .125."""
        found = assign_weights(
            [block(TITLE, "h1", "strong"), block(CONTENT, "strong"), block(ANCHOR, parent=1), block(NAVIGATION)]
        )
        impacts = [1.0, 0.5 * 0.5 + 0.5 * 0.8 + 0.5 * 0.25, 0.25, 0.05]
        assert [one.impact for one in found] == pytest.approx(impacts)
        assert [one.weight for one in found] == pytest.approx([value / 2.075 for value in impacts])

    def test_impact_rises_through_all_blocks_around_and_only_by_the_largest(self) -> None:
        """Innermost out: .25; .15 + .125 = .275; .4 + .1375 = .5375. The second anchor's sibling adds nothing."""
        found = assign_weights(
            [block(CONTENT), block(OTHER, parent=0), block(ANCHOR, parent=1), block(NAVIGATION, parent=1)]
        )
        assert [one.impact for one in found] == pytest.approx([0.5375, 0.275, 0.25, 0.05])

    def test_parameters(self) -> None:
        settings = WuYuetingSettings(k0=1.0, k1=2.0, impact1={CONTENT: 0.25, ANCHOR: 0.0}, inherited_share=0.0)
        found = assign_weights([block(CONTENT, "strong"), block(ANCHOR, parent=0)], settings)
        assert [(one.impact, one.weight) for one in found] == [(1.5, 1.0), (0.0, 0.0)]

    def test_equal_weights_where_there_is_no_impact(self) -> None:
        nothing = WuYuetingSettings(k0=0.0, k1=0.0)
        assert [one.weight for one in assign_weights([block(TITLE)] * 4, nothing)] == [0.25] * 4
        assert assign_weights([]) == ()

    @pytest.mark.parametrize("html", [CHINESE, ENGLISH], ids=["zh", "en"])
    def test_on_a_page_weights_sum_to_1_and_titles_stand_above_navigation(self, html: str) -> None:
        blocks = build_tag_blocks(document(html))
        assert sum(one.weight for one in blocks) == pytest.approx(1.0)
        lowest = min(one.weight for one in blocks if one.type is TITLE)
        assert lowest > max(one.weight for one in blocks if one.type in (ANCHOR, NAVIGATION))

    def test_more_key_tags_more_impact(self) -> None:
        one, two, three = assign_weights([block(CONTENT), block(CONTENT, "strong"), block(CONTENT, "strong", "strong")])
        assert one.impact < two.impact < three.impact


class TestTermWeights:
    BLOCKS = (replace(block(TITLE), weight=0.75), replace(block(CONTENT), weight=0.25))

    def test_by_hand(self) -> None:
        """油田: .75 * 1 + .25 * 2 = 1.25, 产量: .25 * 3 = .75, of 2 in all."""
        found = term_weights(self.BLOCKS, [{"油田": 1}, {"油田": 2, "产量": 3}])
        assert found == pytest.approx({"油田": 0.625, "产量": 0.375})

    @pytest.mark.parametrize(
        ("counts", "expected"),
        [([{}, {}], {}), ([{"油田": 0}, {}], {"油田": 0.0}), ([{}, {"产量": 7}], {"产量": 1.0})],
        ids=["no terms", "a term that occurs nowhere", "one term"],
    )
    def test_edges(self, counts: list[dict[str, float]], expected: dict[str, float]) -> None:
        assert term_weights(self.BLOCKS, counts) == expected

    def test_counts_must_match_the_blocks(self) -> None:
        with pytest.raises(ValueError):
            term_weights(self.BLOCKS, [{}])


def test_candidates_of_an_explanation_show_their_blocks() -> None:
    page = document(CHINESE)
    blocks = build_tag_blocks(page)
    explanation = with_tag_block_features(page, BODY_METHODS["blocks"](ExtractSettings()).explain(page))
    spans = page.layout.spans
    shown = {spans[one.span].tag_info.identifiers.strip(): one.features for one in explanation.candidates}
    inside = [
        one
        for one in blocks
        if any(spans[at].tag_info.identifiers.strip() == "article" for at in page.layout.iter_enclosing(one.span_index))
    ]
    assert shown["article"]["type"] == "content"
    assert shown["article"]["weight"] == pytest.approx(sum(one.weight for one in inside))
    assert shown["article"]["impact"] == max(one.impact for one in inside)
