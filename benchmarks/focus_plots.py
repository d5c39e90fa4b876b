"""Line plots as SVG files in benchmarks/out/; the search pages draw only bars."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 50, 190, 34, 44  # room for labels and the key
STEPS = 5  # lines across
COLOURS = ("#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#117a65", "#7f8c8d", "#d35400", "#2c3e50", "#a93226")

Points = Sequence[tuple[float, float]]


def write_lines(path: Path, title: str, below: str, lines: Mapping[str, Points]) -> Path:
    """Write a plot with a line per name; x from 0 to the maximum, y from 0 to 1."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(drawn(title, below, lines)) + "\n", encoding="utf-8")
    return path


def drawn(title: str, below: str, lines: Mapping[str, Points]) -> Iterator[str]:
    """Return the SVG elements of the lines."""
    most = max((x for points in lines.values() for x, _ in points), default=1.0) or 1.0
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">'
    yield f'<title>{escape(title)}</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    yield f'<text x="{LEFT}" y="20" font-size="15">{escape(title)}</text>'
    for step in range(STEPS + 1):
        x, y = place(most * step / STEPS, step / STEPS, most)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{step / STEPS:.1f}</text>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{most * step / STEPS:.3g}</text>'
    yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(below)}</text>'
    for number, (name, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        way = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*point, most) for point in points))
        dash = ' stroke-dasharray="5 3"' if number >= len(COLOURS) else ""
        yield f'<path d="M{way}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
        at = TOP + 10 + 20 * number
        yield f'<path d="M{WIDTH - RIGHT + 12} {at - 4}h20" stroke="{colour}" stroke-width="3"{dash}/>'
        yield f'<text x="{WIDTH - RIGHT + 38}" y="{at}">{escape(name)}</text>'
    yield "</svg>"


def place(x: float, y: float, most: float) -> tuple[float, float]:
    """Return the SVG coordinates of a point; y grows downwards."""
    return LEFT + (WIDTH - LEFT - RIGHT) * x / most, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(y, 1.0)
