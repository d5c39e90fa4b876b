"""Charts as the server draws them: numbers in, places on an SVG out. Pure; the template adds the words and a table."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 720, 200  # units of the drawing, which grows and shrinks with the page
LEFT, RIGHT, TOP, BOTTOM = 62, 4, 12, 26  # room for the labels
STEPS = 4  # lines across
MAX_LABELS = 7


@dataclass(frozen=True)
class Point:
    """What one bar shows: `value`, and `part` of it (0 to `value`) in another colour."""

    label: str
    value: int
    part: int = 0


@dataclass(frozen=True)
class Bar:
    """A bar and its lower part. `y` counts downwards, as in SVG."""

    point: Point
    x: float
    width: float
    y: float
    height: float
    part_y: float
    part_height: float


@dataclass(frozen=True)
class Chart:
    """Bars, lines across as (y, value), and labels below as (x, text)."""

    bars: tuple[Bar, ...]
    lines: tuple[tuple[float, int], ...]
    labels: tuple[tuple[float, str], ...]
    width: int = WIDTH
    height: int = HEIGHT


def bar_chart(points: Sequence[Point]) -> Chart:
    """A bar for each of `points`, from left to right, on a scale that begins at 0 and ends at a round number."""
    top = round_top(max((point.value for point in points), default=0))
    room = (WIDTH - LEFT - RIGHT) / max(1, len(points))
    bars = tuple(_bar(point, LEFT + n * room, room, top) for n, point in enumerate(points))
    lines = tuple((_y(top * step // STEPS, top), top * step // STEPS) for step in range(STEPS + 1))
    every = -(-len(bars) // MAX_LABELS) or 1
    labels = tuple((round(bar.x + bar.width / 2, 1), bar.point.label) for bar in bars[every // 2 :: every])
    return Chart(bars, lines, labels)


def round_top(largest: int) -> int:
    """The end of a scale for values up to `largest`: the least of 4, 8, 20, 40, 80, 200 ... that holds it."""
    top = STEPS
    while top < largest:
        top = top * 5 // 2 if str(top)[0] == "8" else top * 2
    return top


def _bar(point: Point, x: float, room: float, top: int) -> Bar:
    gap = min(4.0, room / 5)
    y, part_y, floor = _y(point.value, top), _y(point.part, top), _y(0, top)
    return Bar(
        point, round(x + gap / 2, 1), round(room - gap, 1), y, round(floor - y, 1), part_y, round(floor - part_y, 1)
    )


def _y(value: int, top: int) -> float:
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top), 1)
