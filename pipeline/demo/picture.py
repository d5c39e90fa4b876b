"""Small pictures drawn by code, so that the demo contains no image files.

The format is PNG with an 8-bit palette, written with the standard library only.
"""

import random
import struct
import zlib

WIDTH, HEIGHT = 480, 300
_HORIZON = 224
_SUN_INDEX, _GROUND_INDEX, _STEEL_INDEX = 16, 17, 18  # in the palette; 0 to 15 are the bands of the sky

_EARTH_COLOUR, _SEA_COLOUR = (60, 58, 50), (38, 66, 92)

Rows = list[bytearray]
Colour = tuple[int, int, int]


def draw_scene(number: int) -> bytes:
    """Draw derricks, platforms or tanks under a coloured sky. Returns PNG data; equal numbers give equal bytes."""
    rng = random.Random(number)  # noqa: S311 (no cryptography)
    rows = [bytearray([min(15, y * 16 // _HORIZON) if y < _HORIZON else _GROUND_INDEX]) * WIDTH for y in range(HEIGHT)]
    _draw_sun(rows, rng.randint(80, WIDTH - 80), rng.randint(60, 180))
    draw = (_draw_derrick, _draw_platform, _draw_tank)[number % 3]
    for x in sorted(rng.sample(range(60, WIDTH - 60, 84), 3)):
        draw(rows, x, rng.randint(80, 180))
    return _encode_png(rows, _build_palette(rng, _SEA_COLOUR if draw is _draw_platform else _EARTH_COLOUR))


def draw_icon() -> bytes:
    """Draw a 16 x 16 icon, a drop on a dark ground. Returns ICO data with one PNG."""
    rows = [bytearray(16) for _ in range(16)]
    for y in range(2, 14):
        half_width = y // 3 if y < 10 else 13 - y
        _fill_row(rows, y, 8 - half_width, 8 + half_width, 1)
    png = _encode_png(rows, [(20, 40, 70), (240, 170, 40)])
    return struct.pack("<HHHBBBBHHII", 0, 1, 1, 16, 16, 0, 0, 1, 32, len(png), 22) + png


def _draw_sun(bitmap: Rows, x: int, y: int) -> None:
    for dy in range(-28, 29):
        half_width = int((28 * 28 - dy * dy) ** 0.5)
        if y + dy < _HORIZON:
            _fill_row(bitmap, y + dy, x - half_width, x + half_width, _SUN_INDEX)


def _draw_derrick(bitmap: Rows, x: int, height: int) -> None:
    for step in range(height):
        y, half_width = _HORIZON - step, max(2, (height - step) // 5)
        for leg in (x - half_width, x + half_width):
            _fill_row(bitmap, y, leg, leg + 2, _STEEL_INDEX)
        if step % 20 < 2:
            _fill_row(bitmap, y, x - half_width, x + half_width, _STEEL_INDEX)


def _draw_platform(bitmap: Rows, x: int, height: int) -> None:
    deck = _HORIZON - height // 2
    for y in range(deck, _HORIZON + 20):
        for leg in (x - 28, x, x + 28):
            _fill_row(bitmap, y, leg, leg + 4, _STEEL_INDEX)
    for y in range(deck - 16, deck):
        _fill_row(bitmap, y, x - 38, x + 42, _STEEL_INDEX)
    for y in range(deck - 60, deck - 16):
        _fill_row(bitmap, y, x - 5, x + 8, _STEEL_INDEX)


def _draw_tank(bitmap: Rows, x: int, height: int) -> None:
    top = _HORIZON - height // 3
    for y in range(top, _HORIZON + 8):
        _fill_row(bitmap, y, x - 34, x + 34, _STEEL_INDEX)
    for dy in range(16):
        _fill_row(bitmap, top - dy, x - 34 + 2 * dy, x + 34 - 2 * dy, _STEEL_INDEX)


def _fill_row(bitmap: Rows, y: int, left: int, right: int, colour: int) -> None:
    """Colour the pixels left..right of row y, clipped to the edges of the picture."""
    if 0 <= y < len(bitmap):
        left, right = max(0, left), min(len(bitmap[y]), right + 1)
        bitmap[y][left:right] = bytes([colour]) * max(0, right - left)


def _build_palette(rng: random.Random, ground: Colour) -> list[Colour]:
    red, green, blue = rng.randint(20, 90), rng.randint(40, 90), rng.randint(110, 200)
    sky = [(red + i * 10, green + i * 6, max(60, blue - i * 4)) for i in range(16)]
    return [*sky, (255, 236, 170), ground, (30, 32, 38)]


def _encode_png(bitmap: Rows, palette: list[Colour]) -> bytes:
    header = struct.pack(">IIBBBBB", len(bitmap[0]), len(bitmap), 8, 3, 0, 0, 0)
    colours = bytes(value for colour in palette for value in colour)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in bitmap), 9)
    chunks = (b"IHDR", header), (b"PLTE", colours), (b"IDAT", pixels), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_encode_chunk(kind, data) for kind, data in chunks)


def _encode_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
