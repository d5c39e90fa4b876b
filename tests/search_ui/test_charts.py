"""The layout of bar charts."""

import re
from importlib.resources import files
from itertools import pairwise

import pytest

from search_ui.charts import (
    CHART_HEIGHT,
    CHART_WIDTH,
    MARGIN_BOTTOM,
    MARGIN_LEFT,
    MARGIN_TOP,
    MAX_BAR_WIDTH,
    MAX_LABELS,
    ChartPoint,
    bar_chart,
    round_axis_maximum,
)

FLOOR = CHART_HEIGHT - MARGIN_BOTTOM


@pytest.mark.parametrize(
    ("largest", "top"),
    [(0, 4), (1, 4), (4, 4), (5, 8), (8, 8), (9, 20), (21, 40), (41, 80), (81, 200), (1000, 2000), (10**9, 2 * 10**9)],
)
def test_scales_end_at_a_round_number_that_four_steps_divide(largest: int, top: int) -> None:
    assert round_axis_maximum(largest) == top and top % 4 == 0


def test_bars_stand_on_the_floor_and_are_as_high_as_their_values() -> None:
    half, full, none = bar_chart([ChartPoint("a", 4, 2), ChartPoint("b", 8, 0), ChartPoint("c", 0)]).bars
    assert (full.y, full.height) == (MARGIN_TOP, FLOOR - MARGIN_TOP)
    assert half.y + half.height == FLOOR and half.height == full.height / 2
    assert half.part_y + half.part_height == FLOOR and half.part_height == half.height / 2
    assert (none.height, none.part_height, full.part_height) == (0, 0, 0)


@pytest.mark.parametrize("count", [1, 2, 7, 30, 90, 400])
def test_bars_fit_side_by_side_and_labels_stay_few(count: int) -> None:
    chart = bar_chart([ChartPoint(f"day {n}", n) for n in range(count)])
    assert len(chart.bars) == count and 1 <= len(chart.labels) <= MAX_LABELS
    assert chart.bars[0].x >= MARGIN_LEFT and chart.bars[-1].x + chart.bars[-1].width <= CHART_WIDTH
    ends = [(bar.x, bar.x + bar.width) for bar in chart.bars]
    assert all(end <= start + 0.2 for (_, end), (start, _) in pairwise(ends))
    assert all(0 < bar.width <= MAX_BAR_WIDTH for bar in chart.bars)


def test_lines_say_the_value_at_which_they_stand() -> None:
    assert [value for _, value in bar_chart([ChartPoint("a", 30)]).grid_lines] == [0, 10, 20, 30, 40]
    assert bar_chart([ChartPoint("a", 30)]).grid_lines[0][0] == FLOOR


def test_nothing_can_be_drawn_too() -> None:
    chart = bar_chart([])
    assert (chart.bars, chart.labels, len(chart.grid_lines)) == ((), (), 5)


def test_every_kind_of_bar_has_a_colour_on_every_page() -> None:
    templates = (files("search_ui") / "templates").iterdir()
    kinds = {
        kind for file in templates for kind in re.findall(r'charts\.bars\(.*?"(part|good)"', file.read_text("utf-8"))
    }
    style = (files("search_ui") / "static" / "style.css").read_text("utf-8")
    for kind in ("whole", *kinds):
        assert re.search(rf"\.chart \.{kind}\b[^{{]*{{ fill: ", style), kind
    assert kinds == {"part", "good"}
