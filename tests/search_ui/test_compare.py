"""The comparison search (Wang Du 2019, WD-S3)."""

import pytest

from search_ui.pages.compare import Measures, compare, whole_term_measures
from tests.search_ui_fakes import BASE, FakeSearch, document
from text.segment import RjiebaSegmenter

TERM = "世界石油大会"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param([TERM, "x", TERM], Measures(1, 1.0, 0.2, 2), id="leads"),
        pytest.param(["世界", "石油", "大会", f"第21届{TERM}。"], Measures(4, 0.25, 0.1, 1), id="fourth"),
        pytest.param(["x"] * 10 + [TERM], Measures(11, 1 / 11, 0.0, 1), id="below-ten"),
        pytest.param(["世界 石油 大会"], Measures(None, 0.0, 0.0, 0), id="parts-only"),
        pytest.param([], Measures(None, 0.0, 0.0, 0), id="nothing"),
    ],
)
def test_whole_term_measures(texts: list[str], expected: Measures) -> None:
    assert whole_term_measures(texts, TERM) == expected


def test_width_and_case_do_not_count() -> None:
    assert whole_term_measures(["ＰＤＣ钻头"], "pdc钻头").whole == 1
    assert whole_term_measures(["anything"], "").whole == 0


def test_each_side_is_asked_with_its_own_words() -> None:
    search = FakeSearch([document(1, TERM, "在莫斯科开幕"), document(2, "世界石油产量", "大会")])
    base, domain = compare(search, {"base": BASE, "domain": RjiebaSegmenter([(TERM, 0, "n")])}, TERM)
    assert (base.name, base.words) == ("base", ("世界", "石油", "大会"))
    assert (domain.name, domain.words) == ("domain", (TERM,))
    assert domain.measures.first_rank == 1 and domain.hits[0].is_whole
    sent = [dict(params) for params in search.asked]
    assert "title_base" in sent[0]["part0"] and "title_domain" in sent[1]["part0"]


def test_a_term_of_marks_asks_nothing() -> None:
    search = FakeSearch()
    assert [side.total for side in compare(search, {"base": BASE, "domain": BASE}, "《》")] == [0, 0]
    assert search.asked == []
