"""Body methods of the paper: counts and scores of WD-F3 by hand, the flow of WD-A2, the caption-or-footer page."""

import math

import pytest

from extractor.body_methods import BODY_METHODS
from extractor.body_methods.element_counts import ElementCounts, count_elements
from extractor.body_methods.two_pass import (
    TwoPass,
    body_candidates,
    code_score1,
    code_score2,
    descend_to_text,
    fallback_score,
    paper_score1,
    paper_score2,
    rank_elements,
)
from extractor.page.parsed_page import ParsedPage, parse_text
from extractor.settings import ExtractSettings

# A navigation, a side list, a heading, a source line, one picture with a caption of 21 characters and 3 marks, and a
# footer of three paragraphs that is longer.
CAPTION = "暴雪中，钻工们坚守井场，确保冬季生产安全。"
PICTURE_PAGE = f"""<html><head><title>大庆油田钻井队迎战暴雪-中国石油新闻中心</title></head><body>
<div id="nav"><a href="/a">首页</a><a href="/b">要闻</a><a href="/c">图片</a><a href="/d">专题</a></div>
<div id="side"><ul><li><a href="/1">炼化企业检修进入冲刺阶段</a></li>
<li><a href="/2">西气东输管道全线贯通</a></li></ul></div>
<div id="wrap"><h1>大庆油田钻井队迎战暴雪</h1><div class="src">来源：中国石油报</div>
<div id="pic"><img src="/x.jpg"><p>{CAPTION}</p></div></div>
<div id="foot"><p><a href="/about">关于我们</a> <a href="/contact">联系我们</a>
<a href="/law">法律声明与网站使用条款</a></p>
<p>版权所有 中国石油天然气集团公司 中国石油新闻中心主办 京备案号一〇〇一四六七八号</p>
<p>地址：北京市东城区东直门北大街九号石油大厦中国石油报社新闻中心网络编辑部</p></div></body></html>"""


def page(html: str) -> ParsedPage:
    found = parse_text(html, "http://news.test/1.html")
    assert found is not None
    return found


def block(html: str, wanted: str) -> ElementCounts:
    return next(block for block in count_elements(page(html).root) if block.element.get("id") == wanted)


def test_every_count_of_the_paper_is_taken_over_the_whole_subtree() -> None:
    found = block(
        '<div id="x">中国石油，报<a href="/">详 细</a><p>好。<strong>要闻！</strong><img></p><br>尾</div>', "x"
    )
    assert (found.text_chars, found.link_chars, found.element_count, found.anchor_count) == (6 + 2 + 2 + 3 + 1, 2, 5, 1)
    assert (found.paragraph_count, found.strong_count, found.image_count, found.punctuation_count) == (1, 1, 1, 3)
    assert (found.leaf_count, found.leaf_length_sum, found.leaf_length_square_sum) == (5, 14, 36 + 4 + 4 + 9 + 1)


@pytest.mark.parametrize(
    ("html", "variance"),
    [("<p></p>", 0.0), ("<p>四个字啊</p>", 2.0), ("<p>四个字啊<b>两字</b></p>", 1.0), ("<p>两字<b>两字</b></p>", 0.0)],
    ids=["no leaf", "one leaf: half its length", "two leaves", "equal leaves"],
)
def test_spread_is_the_root_of_the_leaf_variance_plus_one(html: str, variance: float) -> None:
    assert block(f'<div id="x">{html}</div>', "x").leaf_length_deviation == pytest.approx(math.sqrt(variance + 1))


def test_density_is_text_outside_links_per_element_that_is_no_link() -> None:
    assert block('<div id="x"><p>十个字的段落就是这样</p><a href="/">链接</a></div>', "x").density == 10 / 2
    assert block('<div><a id="x" href="/">链接</a></div>', "x").density == 0.0


def test_scores_by_hand() -> None:
    found = block(
        '<div id="x"><p>十个字的段落就是这样</p><p>六个字<strong>的段落</strong></p><a href="/">链接</a></div>', "x"
    )
    # leaves 10, 3, 3, 2; DS = D(p) + D(p) + D(a) = 10/1 + 6/2 + 0
    spread = math.sqrt((100 + 9 + 9 + 4) / 4 - (18 / 4) ** 2 + 1)
    first = math.log(spread) * 13 * math.log(18 - 2 + 1)
    assert found.density_sum == 13
    assert paper_score1(found) == pytest.approx(first)
    assert paper_score2(found) == pytest.approx(first * math.log10(2 + 2) * (1 + 1))
    assert code_score1(found) == pytest.approx(first * math.log10(4))
    assert code_score2(found) == pytest.approx(first * math.log10(4) * (0 + 1) * 0 * 2)


def test_where_all_leaves_are_equal_the_guard_score_ranks() -> None:
    blocks = count_elements(page("<div id='a'><p>两字</p></div><div id='b'><p>三个字</p><p>三个字</p></div>").root)
    only = [found for found in body_candidates(blocks) if found.element.get("id") == "b"]
    assert paper_score1(only[0]) == 0
    assert fallback_score(only[0]) == pytest.approx(6 * math.log(7))
    assert rank_elements(only, "paper", second_pass=False) == only


def test_root_body_and_links_are_no_candidates() -> None:
    tags = [found.element.tag for found in body_candidates(count_elements(page("<div><a href='/'>x</a></div>").root))]
    assert not {"html", "body", "a"} & set(tags)
    assert "div" in tags


def test_the_first_pass_is_taken_where_it_reads_like_a_body() -> None:
    html = "<div id='x'><p>一，二，三，四字以上的正文。</p><p>第二段更长一些，也有标点，确实如此。</p></div>"
    chosen = TwoPass(ExtractSettings()).choose_element(count_elements(page(html).root))
    assert chosen is not None
    assert chosen.element.get("id") == "x"


@pytest.mark.parametrize(
    ("changed", "found"),
    [({}, True), ({"alpha": 3}, False), ({"beta": 0}, False)],
    ids=["default", "alpha: more marks asked for", "beta: no link text allowed"],
)
def test_alpha_and_beta_decide_what_reads_like_a_body(changed: dict[str, int], found: bool) -> None:
    blocks = count_elements(page(PICTURE_PAGE).root)
    assert (TwoPass(ExtractSettings(**changed)).choose_element(blocks) is not None) is found


def test_the_second_pass_looks_at_no_more_than_its_candidates() -> None:
    blocks = count_elements(page(PICTURE_PAGE).root)
    assert TwoPass(ExtractSettings(candidates=1)).choose_element(blocks) is None


def choose(method: str, **changed: object) -> tuple[str | None, str]:
    document = page(PICTURE_PAGE)
    settings = ExtractSettings(method=method, **changed)  # type: ignore[arg-type]
    body = BODY_METHODS[method](settings).choose_body(document)
    assert body is not None
    return document.layout.spans[body.span_index].tag_info.attributes.get("id"), body.text


def test_the_baseline_takes_the_copyright_footer_for_the_caption() -> None:
    assert choose("tag_path_ratio")[0] == "foot"


@pytest.mark.parametrize("terms", ["paper", "code"])
def test_two_passes_reject_the_footer_and_return_the_wrapper(terms: str) -> None:
    where, text = choose("two_pass", score_terms=terms)
    assert where == "wrap"
    assert text.split("\n") == ["大庆油田钻井队迎战暴雪", "来源：中国石油报", CAPTION]


def test_unknown_score_terms_are_refused() -> None:
    with pytest.raises(KeyError, match="nope"):
        TwoPass(ExtractSettings(score_terms="nope"))


def test_tighten_descends_to_the_caption() -> None:
    assert choose("two_pass", tighten=True) == ("pic", CAPTION)


def test_tighten_stops_above_a_paragraph() -> None:
    assert descend_to_text(block("<div id='x'><div><p>一，二。</p></div></div>", "x")).element.tag == "div"


def test_our_method_gets_the_caption_alone() -> None:
    assert choose("blocks")[1] == CAPTION
