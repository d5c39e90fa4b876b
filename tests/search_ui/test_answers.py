"""Question detection, quotations, and the threshold for showing them."""

import json
import math
from dataclasses import asdict, fields

import pytest

from search_ui.query.semantic.answer_extraction import (
    MAX_QUOTE_CHARS,
    MAX_QUOTES,
    AnswerEvidence,
    AnswerModel,
    SourceText,
    answer_confidence,
    collect_evidence,
    extract_quotes,
    find_answer_model,
    iter_sentence_spans,
    load_answer_models,
    rarity_weights,
)
from search_ui.query.semantic.questions import is_question

LAW = SourceText(
    "law",
    "民法典",
    "第八百九十七条\n保管期内，因保管人保管不善造成保管物毁损的，保管人应当承担赔偿责任。但是另有约定的除外。",
)
LIST = SourceText(
    "list", "处罚", "有下列情形之一的，予以警告：\n（一）饲养动物干扰他人生活的；\n（二）放任动物恐吓他人的。\n另一段。"
)
OTHER = SourceText("other", "<b>天气</b>", "明天有雨，<script>alert(1)</script>请带伞出门。")


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
        "shale gas",
        "?",
        "",
        "what now",
    ],
)
def test_no_question(text: str) -> None:
    assert not is_question(text)


def test_a_quote_stands_in_the_text_to_the_letter() -> None:
    weights = rarity_weights(["保管", "毁损", "赔偿"])
    found = extract_quotes(weights, [LAW, LIST, OTHER])
    assert [quote.doc_id for quote in found] == ["law", "list", "other"]
    bodies = {source.doc_id: source.body for source in (LAW, LIST, OTHER)}
    assert all(bodies[quote.doc_id][quote.start : quote.end] == quote.text for quote in found)
    assert found[0].text == "保管期内，因保管人保管不善造成保管物毁损的，保管人应当承担赔偿责任。"
    assert found[0].paragraph == 2
    assert found[1].text.endswith("恐吓他人的。") and "：\n（一）" in found[1].text  # a list is not cut off its head


def test_there_are_three_at_most_and_none_twice() -> None:
    weights = rarity_weights(["保管"])
    copy = SourceText("copy", "别处", LAW.body)
    found = extract_quotes(weights, [LAW, copy, OTHER, LIST])
    assert [quote.doc_id for quote in found] == ["law", "other"]
    assert len(extract_quotes(weights, [LAW, LIST, OTHER, SourceText("more", "", "第四篇文章的句子。")])) == MAX_QUOTES
    assert extract_quotes(weights, [SourceText("empty", "", ""), SourceText("marks", "", "。。。！？")]) == ()
    heading_and_question = "第四篇文章的标题\n第四篇文章是什么时候写的？"
    assert extract_quotes(weights, [SourceText("heading", "第四篇文章的标题", heading_and_question)]) == ()


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
    quotes = extract_quotes(rarity_weights(["压裂液", "回收"]), [SourceText("doc", "手册", body)])
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
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in iter_sentence_spans(text)] == expected


@pytest.mark.parametrize("text", ["长" * 60_000, "。" * 60_000, "a." * 30_000, "：\n" * 30_000, "，字" * 30_000])
def test_a_sentence_without_end_is_cut(text: str) -> None:
    assert all(end - start <= MAX_QUOTE_CHARS for start, end in iter_sentence_spans(text))


def test_evidence_of_words_and_meaning() -> None:
    near = [("law", 0.8), ("x", 0.6), ("list", 0.5)]
    found = collect_evidence(rarity_weights(["保管", "赔偿"]), [LAW, OTHER, LIST], ["law", "y"], near)
    assert found.nearest == 0.8 and found.margin == pytest.approx(0.25) and found.coverage == 1.0
    assert found.of_hits == pytest.approx((0.8 + 0.5 + 0.5) / 3) and found.agreement == pytest.approx(1 / 3)
    nothing = collect_evidence({}, [OTHER], [], [("z", 0.1)])
    assert nothing.coverage == 0 and nothing.agreement == 0 and nothing.margin == 0


def test_the_shipped_models_say_of_every_part_what_it_weighs() -> None:
    assert load_answer_models()
    for model in load_answer_models().values():
        assert set(model.weights) == {field.name for field in fields(AnswerEvidence)} and 0.5 < model.shown_from < 1
        assert answer_confidence(AnswerEvidence(0.85, 0.8, 0.12, 0.9, 1.0), model) > model.shown_from
        assert answer_confidence(AnswerEvidence(0.45, 0.4, 0.02, 0.2, 0.0), model) < 0.1
    assert find_answer_model("bge-small-zh-v1.5-q.0123abcd") and find_answer_model("somebody's own") is None


def test_confidence_is_a_logistic_model() -> None:
    found = AnswerEvidence(0.5, 0.5, 0.1, 1.0, 0.0)
    model = AnswerModel(dict.fromkeys(asdict(found), 1.0), -1.0, 0.5)
    assert answer_confidence(found, model) == pytest.approx(1 / (1 + math.exp(-1.1)))
    assert json.loads(json.dumps(asdict(found)))["margin"] == 0.1
