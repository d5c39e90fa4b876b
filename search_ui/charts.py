"""Computes the layout of SVG bar charts. The template adds texts and a table. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass

CHART_WIDTH, CHART_HEIGHT = 720, 200  # SVG units; the chart scales with the page
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 62, 4, 12, 26  # room for the labels
GRID_STEPS = 4  # horizontal lines
MAX_LABELS = 7
MAX_BAR_WIDTH = 48.0


@dataclass(frozen=True)
class ChartPoint:
    """The data of one bar: `value`, and `part_value` of it (0 to `value`) in another colour."""

    label: str
    value: int
    part_value: int = 0


@dataclass(frozen=True)
class Bar:
    """The layout of a bar and of its part. `y` counts downwards, as in SVG."""

    point: ChartPoint
    x: float
    width: float
    y: float
    height: float
    part_y: float
    part_height: float


@dataclass(frozen=True)
class Chart:
    """Bars, grid lines as (y, value), and axis labels as (x, text)."""

    bars: tuple[Bar, ...]
    grid_lines: tuple[tuple[float, int], ...]
    labels: tuple[tuple[float, str], ...]
    width: int = CHART_WIDTH
    height: int = CHART_HEIGHT


def bar_chart(points: Sequence[ChartPoint]) -> Chart:
    """Lay out one bar per point, from left to right. The axis runs from 0 to a round number."""
    axis_maximum = round_axis_maximum(max((point.value for point in points), default=0))
    slot_width = (CHART_WIDTH - MARGIN_LEFT - MARGIN_RIGHT) / max(1, len(points))
    bars = tuple(
        _layout_bar(point, MARGIN_LEFT + n * slot_width, slot_width, axis_maximum) for n, point in enumerate(points)
    )
    lines = tuple(
        (_to_y(axis_maximum * step // GRID_STEPS, axis_maximum), axis_maximum * step // GRID_STEPS)
        for step in range(GRID_STEPS + 1)
    )
    label_step = -(-len(bars) // MAX_LABELS) or 1
    labels = tuple((round(bar.x + bar.width / 2, 1), bar.point.label) for bar in bars[label_step // 2 :: label_step])
    return Chart(bars, lines, labels)


def round_axis_maximum(largest: int) -> int:
    """Return the end of an axis for values up to `largest`: the smallest of 4, 8, 20, 40, 80, 200 ... that fits."""
    top = GRID_STEPS
    while top < largest:
        top = top * 5 // 2 if str(top)[0] == "8" else top * 2
    return top


def _layout_bar(point: ChartPoint, x: float, room: float, axis_maximum: int) -> Bar:
    width = min(room - min(4.0, room / 5), MAX_BAR_WIDTH)
    y, part_y, base_y = _to_y(point.value, axis_maximum), _to_y(point.part_value, axis_maximum), _to_y(0, axis_maximum)
    return Bar(
        point,
        round(x + (room - width) / 2, 1),
        round(width, 1),
        y,
        round(base_y - y, 1),
        part_y,
        round(base_y - part_y, 1),
    )


def _to_y(value: int, axis_maximum: int) -> float:
    return round(MARGIN_TOP + (CHART_HEIGHT - MARGIN_TOP - MARGIN_BOTTOM) * (1 - value / axis_maximum), 1)
