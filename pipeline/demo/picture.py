"""Small pictures drawn by code, so that the demo contains no image files."""

import io
import random

from PIL import Image, ImageDraw

WIDTH, HEIGHT = 480, 300
_HORIZON = 224
_SUN_INDEX, _GROUND_INDEX, _STEEL_INDEX = 16, 17, 18  # in the palette; 0 to 15 are the bands of the sky

_EARTH_COLOUR, _SEA_COLOUR = (60, 58, 50), (38, 66, 92)


def draw_scene(number: int) -> bytes:
    """Draw derricks, platforms or tanks under a coloured sky. Returns PNG data; equal numbers give equal bytes."""
    rng = random.Random(number)  # noqa: S311 (no cryptography)
    image = Image.new("P", (WIDTH, HEIGHT), _GROUND_INDEX)
    canvas = ImageDraw.Draw(image)
    for y in range(_HORIZON):
        canvas.line((0, y, WIDTH, y), min(15, y * 16 // _HORIZON))
    x, y = rng.randint(80, WIDTH - 80), rng.randint(60, 180)
    canvas.circle((x, y), 28, _SUN_INDEX)
    canvas.rectangle((0, _HORIZON, WIDTH, HEIGHT), _GROUND_INDEX)  # over the part of the sun below the horizon
    draw = (_draw_derrick, _draw_platform, _draw_tank)[number % 3]
    for x in sorted(rng.sample(range(60, WIDTH - 60, 84), 3)):
        draw(canvas, x, rng.randint(80, 180))
    red, green, blue = rng.randint(20, 90), rng.randint(40, 90), rng.randint(110, 200)
    sky = [(red + i * 10, green + i * 6, max(60, blue - i * 4)) for i in range(16)]
    ground = _SEA_COLOUR if draw is _draw_platform else _EARTH_COLOUR
    palette = [*sky, (255, 236, 170), ground, (30, 32, 38)]
    image.putpalette([value for colour in palette for value in colour])
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def draw_icon() -> bytes:
    """Draw a 16 x 16 icon, a drop on a dark ground. Returns ICO data."""
    image = Image.new("RGB", (16, 16), (20, 40, 70))
    ImageDraw.Draw(image).polygon(((8, 2), (11, 9), (8, 13), (5, 9)), (240, 170, 40))
    buffer = io.BytesIO()
    image.save(buffer, "ICO")
    return buffer.getvalue()


def _draw_derrick(canvas: ImageDraw.ImageDraw, x: int, height: int) -> None:
    for step in range(height):
        y, half_width = _HORIZON - step, max(2, (height - step) // 5)
        for leg in (x - half_width, x + half_width):
            canvas.line((leg, y, leg + 2, y), _STEEL_INDEX)
        if step % 20 < 2:
            canvas.line((x - half_width, y, x + half_width, y), _STEEL_INDEX)


def _draw_platform(canvas: ImageDraw.ImageDraw, x: int, height: int) -> None:
    deck = _HORIZON - height // 2
    for leg in (x - 28, x, x + 28):
        canvas.rectangle((leg, deck, leg + 4, _HORIZON + 19), _STEEL_INDEX)
    canvas.rectangle((x - 38, deck - 16, x + 42, deck - 1), _STEEL_INDEX)
    canvas.rectangle((x - 5, deck - 60, x + 8, deck - 17), _STEEL_INDEX)


def _draw_tank(canvas: ImageDraw.ImageDraw, x: int, height: int) -> None:
    top = _HORIZON - height // 3
    canvas.rectangle((x - 34, top, x + 34, _HORIZON + 7), _STEEL_INDEX)
    canvas.polygon(((x - 34, top), (x + 34, top), (x + 4, top - 15), (x - 4, top - 15)), _STEEL_INDEX)
