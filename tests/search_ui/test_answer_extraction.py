"""Question detection, quotations, and the threshold for showing them."""

from collections.abc import Sequence
from dataclasses import fields

import pytest

from pipeline.demo.articles import load_toml
from search_ui.query.query_words import drop_question_words, split_content_words
from search_ui.query.semantic.answer_extraction import (
    EVIDENCE_WEIGHTS,
    MAX_EMBEDDED_SENTENCES,
    MAX_LATIN_QUOTE_CHARS,
    MAX_QUOTES,
    SHOWN_FROM,
    QuestionTerms,
    QuoteEvidence,
    SourceQuote,
    SourceText,
    answer_confidence,
    find_quotes,
    iter_sentence_spans,
    parse_question_terms,
)
from search_ui.query.semantic.answer_types import AnswerKind, expected_answer, is_question
from text.segment import base_segmenter

LAW = SourceText(
    "law",
    "民法典",
    "第八百九十七条\n保管期内，因保管人保管不善造成保管物毁损的，保管人应当承担赔偿责任。但是另有约定的除外。",
)
LIST = SourceText(
    "list", "处罚", "有下列情形之一的，予以警告：\n（一）饲养动物干扰他人生活的；\n（二）放任动物恐吓他人的。\n另一段。"
)
OTHER = SourceText("other", "<b>天气</b>", "明天有雨，<script>alert(1)</script>请带伞出门。")


def terms_of(question: str) -> QuestionTerms:
    cut = base_segmenter().cut
    text = drop_question_words(question, cut(question))
    return parse_question_terms(expected_answer(question), text, split_content_words(text, cut(text))[0])


def extract(question: str, hits: Sequence[SourceText], cosine: float = 0.8) -> tuple[SourceQuote, ...]:
    """Quotes of the hits, all of which have the same cosine."""
    cosines = {hit.doc_id: cosine for hit in hits}
    return find_quotes(
        terms_of(question), expected_answer(question), hits, cosines, lambda texts: [cosine] * len(texts)
    )


@pytest.mark.parametrize(
    "text",
    [
        "保管物毁损可以要求赔偿吗",
        "如何变更劳动合同？",
        "没有签劳动合同怎么办",
        "试用期最长是多久",
        "业主拒付物业费合不合法",
        "what is the magnitude of lift over a cone .",
        "is shale gas cheaper than coal?",
        "Can increasing the load change the buckling mode",
        "LNG是什么",
        "what's LNG",
    ],
)
def test_a_question(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "物业费 拒付",
        "页岩气",
        "如何",
        "谁",
        "石油大会在莫斯科开幕",
        "How I Met Your Mother",
        "What's Up",
        "这是什么",
        "shale gas",
        "?",
        "",
        "what now",
    ],
)
def test_no_question(text: str) -> None:
    assert not is_question(text)


def test_a_quote_stands_in_the_text_to_the_letter() -> None:
    found = extract("保管不善造成毁损，放任动物的，承担赔偿责任吗？", [LAW, LIST, OTHER])
    assert [quote.doc_id for quote in found] == ["law", "list"]
    bodies = {source.doc_id: source.body for source in (LAW, LIST)}
    assert all(bodies[quote.doc_id][quote.start : quote.end] == quote.text for quote in found)
    assert found[0].text == "保管期内，因保管人保管不善造成保管物毁损的，保管人应当承担赔偿责任。"
    assert found[0].paragraph == 2
    assert found[1].text.endswith("恐吓他人的。") and "：\n（一）" in found[1].text  # a list is not cut off its head


def test_there_are_three_at_most_and_none_twice() -> None:
    copy = SourceText("copy", "别处", LAW.body)
    assert [quote.doc_id for quote in extract("保管吗", [LAW, copy, OTHER, LIST])] in (["law"], ["copy"])
    hits = [SourceText(str(n), "", f"第{n}篇文章的句子。") for n in range(5)]
    assert len(extract("文章的句子吗", hits)) == MAX_QUOTES
    assert extract("文章吗", [SourceText("empty", "", ""), SourceText("marks", "", "。。。！？")]) == ()
    heading_and_question = "第四篇文章的标题\n第四篇文章是什么时候写的？"
    assert extract("文章的标题", [SourceText("heading", "第四篇文章的标题", heading_and_question)]) == ()


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        pytest.param("第二章 压裂液的回收\n\n压裂液返排后处理。", "压裂液返排后处理。", id="chapter"),
        pytest.param(
            "第二章 压裂液的回收\n第三条\n处理压裂液的规定。", "处理压裂液的规定。", id="chapter before article"
        ),
        pytest.param("压裂液回收方法\n压裂液返排后处理。", "压裂液返排后处理。", id="section"),
        pytest.param("2.1 压裂液回收\n图一\n处理压裂液的设备。", "处理压裂液的设备。", id="number"),
        pytest.param("设备清单：\n压裂液回收装置\n压裂液泵\n运输车", "设备清单：\n压裂液回收装置", id="list"),
        pytest.param("前言。\n压裂液回收装置", "压裂液回收装置", id="last line"),
        pytest.param("第二条 压裂液应当回收。\n其他规定。", "第二条 压裂液应当回收。", id="article"),
        pytest.param("第二章 压裂液的回收\n第一节 压裂液", "", id="headings only"),
    ],
)
def test_a_heading_is_no_answer(body: str, quote: str) -> None:
    quotes = extract("压裂液回收吗", [SourceText("doc", "手册", body)])
    assert [one.text for one in quotes] == ([quote] if quote else [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 3.5 bar. It flows on!", ["It is 3.5 bar.", "It flows on!"]),
        (
            "“他昨天来这里了。”她说没有这回事。\n\n 下一段没有句号 ",
            ["“他昨天来这里了。”", "她说没有这回事。", "下一段没有句号"],
        ),
        ("", []),
        (
            "Nixon named William E. Simon. At St. Paul the U.S. Army won.",
            ["Nixon named William E. Simon.", "At St. Paul the U.S. Army won."],
        ),
        ("He said it rises... but slowly. Then it fell.", ["He said it rises... but slowly.", "Then it fell."]),
        ("《激斗忍者大战！2》有三种模式。它确实很好玩。", ["《激斗忍者大战！2》有三种模式。", "它确实很好玩。"]),
        (f"{'A long sentence ' * 20}ends here.", [f"{'A long sentence ' * 20}ends here."]),
        (f"{'A longer sentence ' * 50}ends here. A short one.", ["A short one."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in iter_sentence_spans(text)] == expected


@pytest.mark.parametrize(
    "text",
    ["长" * 60_000, "。" * 60_000, "a." * 30_000, "：\n" * 30_000, "，字" * 30_000, "A. " * 20_000, "《！" * 30_000],
)
def test_a_sentence_without_end_is_cut(text: str) -> None:
    assert all(end - start <= MAX_LATIN_QUOTE_CHARS for start, end in iter_sentence_spans(text))


def test_confidence_is_a_weighted_mean() -> None:
    names = [field.name for field in fields(QuoteEvidence)]
    assert answer_confidence(QuoteEvidence(**dict.fromkeys(names, 1.0))) == pytest.approx(1)
    assert answer_confidence(QuoteEvidence(**dict.fromkeys(names, 0.5))) == pytest.approx(0.5)
    assert 0.5 < SHOWN_FROM < 1 and all(getattr(EVIDENCE_WEIGHTS, name) > 0 for name in names)


def test_words_and_cosines_are_evidence() -> None:
    question = "保管人保管不善造成保管物毁损的，承担赔偿责任吗？"
    (quote,) = extract(question, [LAW])
    assert quote.confidence > SHOWN_FROM and quote.evidence.words == pytest.approx(1)
    (distant,) = extract(question, [LAW], cosine=0.1)
    assert distant.confidence < SHOWN_FROM
    without_sentence = SourceText("law", LAW.title, LAW.body.replace(quote.text, ""))
    assert all(near.confidence < SHOWN_FROM for near in extract(question, [without_sentence]))


def test_a_sentence_nearer_to_the_question_than_its_document_is_more_certain() -> None:
    question = "保管人保管不善造成保管物毁损的，承担赔偿责任吗？"

    def confidence(document_cosine: float) -> float:
        terms, expected = terms_of(question), expected_answer(question)
        (quote,) = find_quotes(terms, expected, [LAW], {LAW.doc_id: document_cosine}, lambda texts: [0.7] * len(texts))
        return quote.confidence

    assert confidence(0.6) > confidence(0.7) > confidence(0.8)
    assert confidence(0.2) < confidence(0.6), "the text of a long document is no contrast"


def test_few_sentences_are_embedded() -> None:
    embedded: list[str] = []

    def cosines(texts: Sequence[str]) -> list[float]:
        embedded.extend(texts)
        return [0.5] * len(texts)

    question, body = "压裂液怎么回收", "压裂液回收装置有很多种。" * 50
    find_quotes(terms_of(question), expected_answer(question), [SourceText("doc", "手册", body)], {}, cosines)
    assert len(embedded) == MAX_EMBEDDED_SENTENCES and embedded[0].startswith("手册\n")


@pytest.mark.parametrize(
    ("question", "kind", "answer", "other"),
    [
        ("什么是页岩气？", "definition", "页岩气（shale gas）是指页岩中的天然气。", "页岩气井产量递减快。"),
        ("什么是压裂", "definition", "水力压裂是用高压液体造缝的工艺。", "压裂期间应监测微地震。"),
        ("蒸发气是什么意思", "definition", "所谓“蒸发气”，是储罐中气化的气体。", "蒸发气是去年回收的。"),
        ("What is shale gas?", "definition", "Shale gas is natural gas in shale.", "Shale gas is now produced here."),
        (
            "what are horizontal wells",
            "definition",
            "A horizontal well is a well that turns.",
            "Horizontal wells cost more.",
        ),
        (
            "What does boil-off gas mean?",
            "definition",
            "By boil-off gas we mean vapour.",
            "Boil-off gas was collected.",
        ),
        ("有多少人参加会议？", "quantity", "会议有三百多名代表参加。", "会议于3月举行，人们参加了会议。"),
        ("接收站有几座储罐", "quantity", "接收站储罐增至8座。", "接收站储罐是新的。"),
        ("水平段有多长", "quantity", "水平段长2000米。", "水平段很长。"),
        ("How many wells were drilled?", "quantity", "They drilled 12 new wells.", "They drilled wells in 2019."),
        ("How much does it cost?", "quantity", "It costs $5 million.", "It costs a lot."),
        ("二期工程何时投产？", "date", "二期工程于11月3日投产。", "二期工程投产了。"),
        ("二期工程哪年开工", "date", "二期工程于2023年开工。", "二期工程4月开工。"),
        ("When did the plant open?", "date", "The plant opened in May 2019.", "The plant opened with 20 workers."),
        ("接收站在哪里？", "place", "接收站位于澜湾港。", "接收站很大。"),
        ("为什么产量递减快", "reason", "产量递减快，是因为游离气先产出。", "因此产量递减快。"),
        ("Who runs the plant?", "name", "The plant is run by Mary Jones.", "The plant is run by its owner."),
        ("2024年产量怎么样", "other", "2024年产量增加。", "2023年产量增加。"),
    ],
)
def test_an_answer_is_of_the_kind_of_the_question(question: str, kind: str, answer: str, other: str) -> None:
    expected = expected_answer(question)
    assert expected.kind == kind
    assert expected.fits(answer) and not expected.fits(other)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("LNG是什么", "液化天然气（liquefied natural gas，简称LNG）是一种液体。"),
        ("what is LNG", "液化天然气（LNG）是一种液体。"),
        ("什么是LNG", "液化天然气，简称LNG，是一种液体。"),
        ("LNG是什么", "LNG即液化天然气。"),
        ("LNG是什么", "Liquefied natural gas (LNG) is natural gas cooled to a liquid."),
        ("什么是CCUS", "Carbon capture, utilization and storage (CCS, or CCUS) is a set of processes."),
        ("碳捕集是什么", "CCS（碳捕集）是指分离二氧化碳。"),
        ("PDC钻头是什么", "聚晶金刚石钻头（简称PDC钻头）是一种钻头。"),
    ],
)
def test_a_name_in_brackets_is_defined(question: str, sentence: str) -> None:
    assert expected_answer(question).fits(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "进口的LNG价格是每吨四千元。",
        "液化天然气（简称LNGC）是船。",
        "接收站（有LNG储罐三座）是大型的。",
        "某公司（LNG的进口商）是上市公司。",
        "液化天然气（LNG）不是油。",
        "The price of gas (LNG) is high.",
    ],
)
def test_a_sentence_about_something_else_does_not_define(sentence: str) -> None:
    assert not expected_answer("LNG是什么").fits(sentence)


@pytest.mark.parametrize(
    "question",
    [
        "硼砂的外观是什么",
        "公司的前身是什么？",
        "What is the capital of the province?",
        "这几年产量怎么样",
        "多伦多大学好吗",
    ],
)
def test_a_question_without_a_rule(question: str) -> None:
    assert expected_answer(question).kind is AnswerKind.OTHER


def test_what_the_question_says_is_no_answer() -> None:
    assert not expected_answer("2023年开工的工程何时投产").fits("工程于2023年开工。")
    assert not expected_answer("Who is Mary Jones?").fits("Mary Jones is here.")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("什么是页岩气", "页岩气（shale gas）是指"),
        ("什么是压裂", "水力压裂（hydraulic fracturing）是用"),
        ("什么是水平井", "水平井（horizontal well）是指"),
        ("What is shale gas?", "Shale gas is natural gas"),
        ("蒸发气是什么", "蒸发气（boil-off gas）是指"),
        ("澜湾港接收站二期总投资多少亿元", "二期工程总投资86亿元"),
    ],
)
def test_the_demo_answers(question: str, answer: str) -> None:
    hits = [
        SourceText(row["title"], row["title"], "\n".join(row["paragraphs"]))
        for row in load_toml("featured.toml")["article"]
    ]
    relevant = [hit for hit in hits if answer in hit.body]
    others = [hit for hit in hits if hit not in relevant][: MAX_QUOTES - 1]
    quotes = extract(question, [*relevant, *others], cosine=0.7)
    assert answer in quotes[0].text and quotes[0].confidence >= SHOWN_FROM
