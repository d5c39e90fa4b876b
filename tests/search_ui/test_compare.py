"""The comparison search (Wang Du 2019, WD-S3)."""

import pytest

from search_ui.services.compare import WholeTermMeasures, compare_lexicons, measure_whole_term
from tests.site_fixture import BASE, FakeSearch, document
from text.segment import RjiebaSegmenter

TERM = "世界石油大会"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param([TERM, "x", TERM], WholeTermMeasures(1, 1.0, 0.2, 2), id="leads"),
        pytest.param(["世界", "石油", "大会", f"第21届{TERM}。"], WholeTermMeasures(4, 0.25, 0.1, 1), id="fourth"),
        pytest.param(["x"] * 10 + [TERM], WholeTermMeasures(11, 1 / 11, 0.0, 1), id="below-ten"),
        pytest.param(["世界 石油 大会"], WholeTermMeasures(None, 0.0, 0.0, 0), id="parts-only"),
        pytest.param([], WholeTermMeasures(None, 0.0, 0.0, 0), id="nothing"),
    ],
)
def test_whole_term_measures(texts: list[str], expected: WholeTermMeasures) -> None:
    assert measure_whole_term(texts, TERM) == expected


def test_width_and_case_do_not_count() -> None:
    assert measure_whole_term(["ＰＤＣ钻头"], "pdc钻头").whole_term_count == 1
    assert measure_whole_term(["anything"], "").whole_term_count == 0


def test_each_side_is_asked_with_its_own_words() -> None:
    search = FakeSearch([document(1, TERM, "在莫斯科开幕"), document(2, "世界石油产量", "大会")])
    base, domain = compare_lexicons(search, {"base": BASE, "domain": RjiebaSegmenter([(TERM, 0, "n")])}, TERM)
    assert (base.name, base.words) == ("base", ("世界", "石油", "大会"))
    assert (domain.name, domain.words) == ("domain", (TERM,))
    assert domain.measures.first_rank == 1 and domain.hits[0].has_whole_term
    sent = [dict(params) for params in search.asked]
    assert "title_base" in sent[0]["clause0"] and "title_domain" in sent[1]["clause0"]


def test_a_term_of_marks_asks_nothing() -> None:
    search = FakeSearch()
    assert [side.total for side in compare_lexicons(search, {"base": BASE, "domain": BASE}, "《》")] == [0, 0]
    assert search.asked == []
