"""The fast tests before a pattern must not reject a text that the pattern matches."""

import pytest

from extractor.page.boilerplate_phrases import is_copyright, is_republication_note
from extractor.page.layout import PUNCTUATION_RE


@pytest.mark.parametrize(
    "text",
    [
        "Copyright 2019 Example Ltd", "© 2020 Example", "(C) 1999 Example", "All Rights Reserved.", "某某网 版权所有",
        "版權所有", "著作權聲明", "保留所有权利", "京ICP备05001号", "ICP證 1", "京公网安备 1100号", "经营许可证编号",
        "許可證", "许可证号 5", "违法和不良信息举报电话", "未经书面授权，不得转载", "网站标识码 1", "备案序号 3",
    ],
    ids=str,
)  # fmt: skip
def test_every_copyright_notice_is_detected(text: str) -> None:
    assert is_copyright(f"甲 {text}")


@pytest.mark.parametrize("text", ["He owns the copyrighted songs", "许可证发放", "备案工作", "未经证实"], ids=str)
def test_single_words_of_notices_are_not_notices(text: str) -> None:
    assert not is_copyright(text)


@pytest.mark.parametrize(
    ("text", "is_note"), [("【原标题：油价】", True), ("本文转载自某网", True), ("original", False)], ids=str
)
def test_republication_notes(text: str, is_note: bool) -> None:
    assert is_republication_note(text) is is_note


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("中国，石油。", 2),
        ("1,000 and 2.5", 0),
        ("One, two. Three", 2),
        ("He said: “no.”", 2),
        ("a.b", 0),
        ("等…等", 1),
    ],
    ids=str,
)
def test_punctuation_marks(text: str, marks: int) -> None:
    assert len(PUNCTUATION_RE.findall(text)) == marks
