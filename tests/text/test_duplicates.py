"""Copies, versions, series: what two texts are to each other, told by their differences; in Chinese and in English."""

from dataclasses import replace
from itertools import combinations

import pytest

from text.similarity.alignment import MAX_ALIGNED_TOKENS, tokenize_text
from text.similarity.duplicates import MAX_COMPARED_CHARS, ComparedArticle, DifferenceKind, compare_articles

TOPICS_ZH = """
会议设置了钻井工艺、钻井装备、钻井液与完井液、固井与完井、测量与控制、安全与环保等专题，邀请国内外知名专家作了主题报告。
与会代表普遍反映，这样的研讨会主题鲜明、内容丰富、组织严密，为科研人员和现场工程技术人员搭建了良好的交流平台，对于推动技术创新、促进成果转化和培养青年人才都有重要的意义。
大家建议进一步加强产学研用的结合，围绕制约勘探开发的关键技术难题联合攻关，形成具有自主知识产权的技术系列，不断提高钻井速度，降低钻井成本，保证井身质量和施工安全。
会议的论文经过专家评审，评出一批优秀论文，由学会颁发证书，并推荐到有关的学术期刊上发表。会务组对承办单位和协办单位的大力支持表示衷心的感谢。"""
TOPICS_EN = """
The sessions dealt with the planning of wells, with rigs and their equipment, with measurement while drilling,
with the completion of wells, and with safety and the environment; well known experts from industry and from
universities had been invited to give the main lectures. Delegates said that the meeting had been well
prepared, that its subjects were those with which engineers in the field have to deal every day, and that it
had given younger colleagues an opportunity to meet people whose work they had known only from print. It was
proposed that companies, institutes and universities should work together more closely on the questions that
hold back exploration, so that wells are drilled faster, at lower cost and without harm to people. The best
papers were chosen by a committee of referees and will be printed in the journal of the society, where they
can be read by those who were not able to attend."""


def conference_zh(year: int, month: int, day: int, city: str, people: int, papers: int, count: str) -> ComparedArticle:
    body = f"""{year}年{month}月{day}日，第{count}届全国石油钻井技术研讨会在{city}隆重召开。
来自全国各油田、高等院校和科研院所的{people}名代表参加了会议，会议共收到论文{papers}篇。
中国石油学会有关领导出席开幕式并讲话。会议围绕深井钻井、水平井、钻井液和固井技术进行了深入的交流和讨论，与会专家一致认为，钻井技术的进步为油气勘探开发提供了有力的支撑。
会议期间还举办了新技术新产品展览，代表们参观了{city}钻井设备制造基地，并就下一步的合作达成了多项共识。{TOPICS_ZH}"""
    return ComparedArticle("全国石油钻井技术研讨会召开", body, f"{year}-{month:02}-{day:02}")


def conference_en(year: int, place: str, people: int, papers: int, dates: str) -> ComparedArticle:
    body = f"""The annual conference on drilling technology was held in {place} on {dates} {year}.
It brought together {people} engineers and researchers from all over the world, and {papers} papers were presented.
The opening address was followed by sessions on deep wells, horizontal wells, drilling fluids and cementing. The
participants agreed that progress in drilling has become the backbone of exploration, and that closer cooperation
between companies and universities is needed. Next to the sessions there was an exhibition of new products.
The organisers thanked the local committee in {place} for its hospitality.{TOPICS_EN}"""
    return ComparedArticle("Report of the annual conference on drilling technology", body, f"{year}-06-20")


def prices_zh(month: int, day: int, crude: float, petrol: int, diesel: int) -> ComparedArticle:
    body = f"""据市场监测，今日国内成品油批发价格总体平稳，各地库存充足，供应正常。
大庆原油现货价格为每桶{crude}美元，92号汽油批发均价为每吨{petrol}元，0号柴油批发均价为每吨{diesel}元。
市场人士认为，供应和需求两方面的因素都在影响价格的走势，投资者应当注意风险，谨慎操作。以上数据仅供参考，不构成任何投资建议。"""
    return ComparedArticle("每日油价", body, f"2019-{month:02}-{day:02}")


def prices_en(day: str, date: str, crude: str, gas: str) -> ComparedArticle:
    body = f"""Crude oil for delivery next month settled at {crude} dollars a barrel on {day} on the New York exchange.
Natural gas was at {gas} dollars per million British thermal units. Traders said that supply and demand were both
weighing on the market, and that stocks at the main terminal were close to their average of the season.
The figures are for information only and are no advice to buy or to sell. They are collected by telephone from brokers
and from companies at the close of trade, and are corrected on the following day where that should be necessary. Readers
who wish to have them by electronic mail may write to the editors, who will also be glad to hear of errors or omissions.
Contracts are for delivery at the usual terminals, and quality, taxes and the cost of transport are not allowed for."""
    return ComparedArticle("Energy prices of the day", body, date)


def yearly_zh(year: int, income: str, rise: str) -> ComparedArticle:
    body = f"""{year}年，公司全面落实发展战略，生产经营保持平稳，主要指标完成情况良好。
全年实现营业收入{income}亿元，同比增长{rise}%。公司坚持稳健经营，持续优化资产结构，不断提高发展的质量和效益。
公司高度重视安全环保工作，健全各级责任体系，开展隐患排查治理，全年没有发生较大以上安全环保事故。
公司积极履行社会责任，支持地方经济建设，参与教育、医疗和扶贫等公益事业，得到社会各界的肯定。"""
    return ComparedArticle(f"{year}年年度报告", body, f"{year + 1}-03-20")


def yearly_en(year: int, revenue: str, rise: str) -> ComparedArticle:
    body = f"""In {year} the company carried out its strategy, and its operations remained stable throughout the year.
Revenue reached {revenue} million dollars, a rise of {rise} per cent over the year before. The board recommends the
dividend that is set out in the notes. Safety and the environment remained the first concern of the management, and no
serious accident was recorded. The company supported schools and hospitals in the regions where it works."""
    return ComparedArticle("Annual report", body, f"{year + 1}-03-20")


LAW_ZH = ComparedArticle(
    "石油天然气管道保护法",
    """第一条 为了保护石油、天然气管道，保障石油、天然气输送安全，维护国家能源安全和公共安全，制定本法。
第二条 中华人民共和国境内输送石油、天然气的管道的保护，适用本法。城镇燃气管道的保护，不适用本法。
第三条 国务院能源主管部门依照本法规定主管全国管道保护工作，负责组织编制并实施全国管道发展规划。
第四条 违反本法规定的，由县级以上地方人民政府主管管道保护工作的部门责令改正，处一万元以上十万元以下的罚款。
第五条 管道企业应当建立、健全管道巡护制度，配备专门人员对管道线路进行日常巡护。
第六条 本法自公布之日起施行。""",
)
LAW_EN = ComparedArticle(
    "Pipeline Protection Act",
    """1. The purpose of this Act is to protect pipelines, and to secure the supply of oil and of natural gas.
2. This Act applies to every pipeline that carries oil or natural gas within the territory of the State.
3. The Minister shall draw up and publish a plan for the development of the network of pipelines.
4. A person who contravenes section 3 commits an offence and is liable to a fine not exceeding 5000 pounds.
5. The operator of a pipeline shall inspect the whole of its line, and shall keep a record of each inspection.
6. This Act comes into force on the day on which it is published.""",
)


def changed(text: ComparedArticle, old: str, new: str, **more: str) -> ComparedArticle:
    assert old in text.body
    return replace(text, body=text.body.replace(old, new), **more)


CONFERENCES_ZH = (
    conference_zh(2014, 5, 12, "青岛", 320, 186, "十二"),
    conference_zh(2015, 6, 3, "成都", 280, 203, "十三"),
    conference_zh(2015, 10, 22, "西安", 150, 97, "五"),
    conference_zh(2016, 5, 18, "大庆", 350, 221, "十四"),
    conference_zh(2016, 9, 8, "东营", 410, 265, "六"),
)
CONFERENCES_EN = (
    conference_en(2014, "Houston", 420, 96, "12 and 13 June"),
    conference_en(2015, "Calgary", 380, 104, "9 and 10 June"),
    conference_en(2015, "Aberdeen", 140, 31, "2 and 3 November"),
    conference_en(2016, "Abu Dhabi", 510, 133, "14 and 15 June"),
    conference_en(2016, "Stavanger", 200, 58, "20 and 21 September"),
)
PRICES_ZH = (
    prices_zh(3, 4, 62.15, 7150, 6890),
    prices_zh(3, 5, 62.48, 7150, 6890),
    prices_zh(3, 6, 61.97, 7160, 6900),
)
PRICES_EN = (
    prices_en("Monday", "2019-03-04", "56.59", "2.86"),
    prices_en("Tuesday", "2019-03-05", "56.56", "2.88"),
    prices_en("Wednesday", "2019-03-06", "56.22", "2.88"),
)
YEARS_ZH = (yearly_zh(2015, "1725.4", "3.2"), yearly_zh(2016, "1616.9", "4.1"), yearly_zh(2017, "2015.9", "24.7"))
YEARS_EN = (yearly_en(2015, "318.2", "2.1"), yearly_en(2016, "324.9", "2.1"), yearly_en(2017, "377.0", "16.0"))
LAWS_ZH = (
    LAW_ZH,
    changed(LAW_ZH, "处一万元以上十万元以下的罚款", "处五万元以上二十万元以下的罚款"),
    changed(LAW_ZH, "城镇燃气管道的保护，不适用本法。", "海上石油、天然气管道的保护，同时适用有关法律。"),
    changed(LAW_ZH, "第六条 本法自公布之日起施行。", "第六条 本法自2010年10月1日起施行。"),
)
LAWS_EN = (
    LAW_EN,
    changed(LAW_EN, "5000 pounds", "20000 pounds"),
    changed(LAW_EN, "The Minister shall draw up", "The Pipeline Authority shall draw up"),
    changed(LAW_EN, "on the day on which it is published", "on 1 October 2010"),
)
SERIES = {
    "conferences zh": CONFERENCES_ZH,
    "conferences en": CONFERENCES_EN,
    "daily prices zh": PRICES_ZH,
    "daily prices en": PRICES_EN,
    "yearly reports zh": YEARS_ZH,
    "yearly reports en": YEARS_EN,
    "amended laws zh": LAWS_ZH,
    "amended laws en": LAWS_EN,
}
PAIRS = [
    pytest.param(one, other, id=f"{name} {n}")
    for name, texts in SERIES.items()
    for n, (one, other) in enumerate(combinations(texts, 2))
]
TEXTS = [pytest.param(texts[0], id=name) for name, texts in SERIES.items()]
CHINESE = [pytest.param(texts[0], id=name) for name, texts in SERIES.items() if name.endswith("zh")]
ENGLISH = [pytest.param(texts[0], id=name) for name, texts in SERIES.items() if name.endswith("en")]


def framed(text: ComparedArticle, head: str, tail: str) -> ComparedArticle:
    return replace(text, body=f"{head}\n{text.body}\n{tail}")


NOTICES = {
    "zh": (
        "发布时间：2019-03-06 来源：能源观察网",
        "（责任编辑：王小明）\n本文系转载，版权归原作者所有，如有侵权请联系我们删除。",
    ),
    "en": (
        "By Staff Writer",
        "This article was first published elsewhere.\nCopyright by the authors. All rights reserved.",
    ),
}
OTHER_NOTICES = {
    "zh": ("记者 李青 摄影报道", "打印本页　关闭窗口\n上一篇：没有了　下一篇：返回列表"),
    "en": ("Home > News > Full text", "Leave a reply. Your email address will not be published."),
}


def language_of(text: ComparedArticle) -> str:
    return "en" if text.body.isascii() else "zh"


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_different_events_are_no_copies(one: ComparedArticle, other: ComparedArticle) -> None:
    verdict = compare_articles(one, other)
    assert not verdict.is_duplicate
    assert verdict.reason in {"numbers or dates differ", "names differ", "words differ"}
    assert verdict.differences


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_another_site_around_it_makes_no_copy_of_another_event(one: ComparedArticle, other: ComparedArticle) -> None:
    assert not compare_articles(one, framed(other, *NOTICES[language_of(one)])).is_duplicate


@pytest.mark.parametrize("text", TEXTS)
def test_what_another_site_puts_around_a_text_leaves_it_a_copy(text: ComparedArticle) -> None:
    language = language_of(text)
    here, there = framed(text, *NOTICES[language]), framed(text, *OTHER_NOTICES[language])
    assert compare_articles(text, text).is_duplicate
    assert [
        compare_articles(text, here).is_duplicate,
        compare_articles(text, there).is_duplicate,
        compare_articles(here, there).is_duplicate,
    ] == [True] * 3
    assert {difference.kind for difference in compare_articles(text, here).differences} == {DifferenceKind.BOILERPLATE}


@pytest.mark.parametrize("text", TEXTS)
def test_typesetting_and_the_name_of_a_site_in_the_title_do_not_count(text: ComparedArticle) -> None:
    body = text.body.replace("，", ",").replace("。\n", "。\n\n").upper()
    assert compare_articles(text, replace(text, title=f"{text.title} - 能源观察网", body=body)).is_duplicate


@pytest.mark.parametrize("text", CHINESE)
def test_traditional_characters_do_not_count(text: ComparedArticle) -> None:
    body = text.body.translate(str.maketrans("术会设开发环为与国东", "術會設開發環為與國東"))
    assert body != text.body
    assert compare_articles(text, replace(text, body=body)).is_duplicate


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_ends_early_is_a_copy_of_the_same_days_alone(text: ComparedArticle) -> None:
    kept = text.body[: text.body.rindex("\n")]
    dated = replace(text, published_on="2019-03-05")
    assert compare_articles(dated, replace(dated, body=kept, published_on="2019-03-06")).is_duplicate


def test_a_short_text_of_other_days_may_be_said_again() -> None:
    closed = ComparedArticle(
        "休市公告",
        "因假期休市，今日没有成交，各品种价格与上一交易日持平，请投资者留意后续公告，注意防范风险。",
        "2019-05-01",
    )
    assert compare_articles(closed, replace(closed, published_on="2019-05-02")).is_duplicate
    assert not compare_articles(closed, replace(closed, published_on="2019-10-01")).is_duplicate


def test_another_day_on_an_equal_text_is_another_edition() -> None:
    rows = "\n".join(
        f"{city}\t5.32\t6.59\t7.01" for city in ("北京", "天津", "河北", "山西", "河南", "山东", "湖北", "江西", "广西")
    )
    one, other = (ComparedArticle("各地油价", f"更新日期：2021年3月{day}日\n{rows}") for day in (8, 10))
    verdict = compare_articles(one, other)
    assert (verdict.is_duplicate, verdict.reason) == (False, "the date lines differ")
    assert [difference.kind for difference in verdict.differences] == [DifferenceKind.DATE_LINE]


def test_numbers_in_titles_tell_texts_apart() -> None:
    body = CONFERENCES_EN[0].body
    verdict = compare_articles(
        ComparedArticle("Release notes 1.8.15", body), ComparedArticle("Release notes 1.9.10", body)
    )
    assert (verdict.is_duplicate, verdict.reason) == (False, "numbers or dates differ")


@pytest.mark.parametrize(
    ("one", "other"),
    [("2,000", "2000"), ("9 May", "May 9"), ("January", "Jan"), ("third", "3rd"), ("十二", "12"), ("一九九八", "1998")],
)
def test_the_same_number_written_otherwise_is_the_same(one: str, other: str) -> None:
    """But for 十二, which is 10 and 2 to us: then it is said to be another one, and both are shown."""
    text = CONFERENCES_EN[0]
    first, second = (changed(text, "deep wells", f"deep wells of {number} metres") for number in (one, other))
    assert compare_articles(first, second).is_duplicate is (one != "十二")


@pytest.mark.parametrize("text", ENGLISH)
def test_a_slip_of_the_pen_is_none_of_its_own(text: ComparedArticle) -> None:
    word = next(word for word in text.body.split() if len(word) > 8 and word.isalpha())
    slipped = changed(text, word, word[:4] + word[5] + word[4] + word[6:])
    assert compare_articles(text, slipped).is_duplicate


def test_an_article_is_no_copy_of_a_list_that_holds_it_and_others() -> None:
    listed = replace(CONFERENCES_EN[0], body="\n".join(text.body for text in (*CONFERENCES_EN[:2], *YEARS_EN)))
    assert not any(compare_articles(text, listed).is_duplicate for text in CONFERENCES_EN)


def test_a_teaser_is_no_copy_of_its_article() -> None:
    article = replace(CONFERENCES_EN[0], body="\n".join(text.body for text in (CONFERENCES_EN[0], *YEARS_EN)))
    assert not compare_articles(article, CONFERENCES_EN[0]).is_duplicate


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_whoever_asks_the_verdict_is_the_same(one: ComparedArticle, other: ComparedArticle) -> None:
    there, back = compare_articles(one, other, 3), compare_articles(other, one, 3)
    assert (there.is_duplicate, there.reason) == (back.is_duplicate, back.reason)
    assert [(d.left, d.right) for d in there.differences] == [(d.right, d.left) for d in back.differences]


@pytest.mark.parametrize("body", ["", "\n\n", "。", "a " * 3, "\x00\ud800", "１２３" * 9])
def test_odd_texts(body: str) -> None:
    assert (
        compare_articles(ComparedArticle("", body), ComparedArticle("", CONFERENCES_EN[0].body)).is_duplicate is False
    )
    assert ComparedArticle("", body).duplicate_keys == ComparedArticle("", body).duplicate_keys


def test_two_dumps_that_differ_all_over_are_not_aligned() -> None:
    """What aligning costs is bounded: 4 times as long as what is aligned at most."""
    words = [f"w{n}" for n in range(4 * MAX_ALIGNED_TOKENS)]
    assert not compare_articles(
        ComparedArticle("", " ".join(words)),
        ComparedArticle("", " ".join(word + "x" * (n % 2) for n, word in enumerate(words))),
    ).is_duplicate
    assert compare_articles(ComparedArticle("", " ".join(words)), ComparedArticle("", " ".join(words))).is_duplicate


@pytest.mark.parametrize("text", TEXTS)
def test_copies_share_keys_and_other_events_few(text: ComparedArticle) -> None:
    language = language_of(text)
    here, there = framed(text, *NOTICES[language]), framed(text, *OTHER_NOTICES[language])
    assert len({*here.duplicate_keys} & {*there.duplicate_keys}) >= 2


def test_the_rest_of_a_long_text_is_compared_as_a_whole() -> None:
    """Its tokens would need hundreds of megabytes."""
    beginning = "\n".join(f"第{number}段：油田今天宣布新的产量。" for number in range(MAX_COMPARED_CHARS // 12))
    text = ComparedArticle("石油年鉴", f"{beginning}\n第一版", "2024-05-01")
    assert compare_articles(text, replace(text)).is_duplicate
    assert not compare_articles(text, replace(text, body=f"{beginning}\n第二版")).is_duplicate
    assert len(text.tokenized_body.tokens) < MAX_COMPARED_CHARS < len(text.body)


def test_equal_tokens_of_a_text_share_memory() -> None:
    text = tokenize_text("大庆油田\n油田大庆\nOil oil Oil")
    assert len({id(token) for token in text.original_tokens}) == len({*text.original_tokens}) == 6
