"""Small pictures drawn by program, so that the demo carries no image files.

PNG with an 8-bit palette, made with the standard library alone.
"""

import random
import struct
import zlib

WIDTH, HEIGHT = 480, 300
_HORIZON = 224
_SUN, _GROUND, _STEEL = 16, 17, 18  # palette indices; 0 to 15 are the bands of the sky

_EARTH, _SEA = (60, 58, 50), (38, 66, 92)

Rows = list[bytearray]
Colour = tuple[int, int, int]


def draw_scene(number: int) -> bytes:
    """A PNG of derricks, platforms or tanks before a coloured sky; equal numbers give equal bytes."""
    rng = random.Random(number)
    rows = [bytearray([min(15, y * 16 // _HORIZON) if y < _HORIZON else _GROUND]) * WIDTH for y in range(HEIGHT)]
    _sun(rows, rng.randint(80, WIDTH - 80), rng.randint(60, 180))
    draw = (_derrick, _platform, _tank)[number % 3]
    for x in sorted(rng.sample(range(60, WIDTH - 60, 84), 3)):
        draw(rows, x, rng.randint(80, 180))
    return _png(rows, _palette(rng, _SEA if draw is _platform else _EARTH))


def draw_icon() -> bytes:
    """A 16 x 16 icon (ICO holding one PNG): a drop on a dark ground."""
    rows = [bytearray(16) for _ in range(16)]
    for y in range(2, 14):
        half_width = y // 3 if y < 10 else 13 - y
        _fill(rows, y, 8 - half_width, 8 + half_width, 1)
    png = _png(rows, [(20, 40, 70), (240, 170, 40)])
    return struct.pack("<HHHBBBBHHII", 0, 1, 1, 16, 16, 0, 0, 1, 32, len(png), 22) + png


def _sun(bitmap: Rows, x: int, y: int) -> None:
    for dy in range(-28, 29):
        half_width = int((28 * 28 - dy * dy) ** 0.5)
        if y + dy < _HORIZON:
            _fill(bitmap, y + dy, x - half_width, x + half_width, _SUN)


def _derrick(bitmap: Rows, x: int, height: int) -> None:
    for step in range(height):
        y, half_width = _HORIZON - step, max(2, (height - step) // 5)
        for leg in (x - half_width, x + half_width):
            _fill(bitmap, y, leg, leg + 2, _STEEL)
        if step % 20 < 2:
            _fill(bitmap, y, x - half_width, x + half_width, _STEEL)


def _platform(bitmap: Rows, x: int, height: int) -> None:
    deck = _HORIZON - height // 2
    for y in range(deck, _HORIZON + 20):
        for leg in (x - 28, x, x + 28):
            _fill(bitmap, y, leg, leg + 4, _STEEL)
    for y in range(deck - 16, deck):
        _fill(bitmap, y, x - 38, x + 42, _STEEL)
    for y in range(deck - 60, deck - 16):
        _fill(bitmap, y, x - 5, x + 8, _STEEL)


def _tank(bitmap: Rows, x: int, height: int) -> None:
    top = _HORIZON - height // 3
    for y in range(top, _HORIZON + 8):
        _fill(bitmap, y, x - 34, x + 34, _STEEL)
    for dy in range(16):
        _fill(bitmap, top - dy, x - 34 + 2 * dy, x + 34 - 2 * dy, _STEEL)


def _fill(bitmap: Rows, y: int, left: int, right: int, colour: int) -> None:
    """Colour the pixels left..right of row y, cut at the edges of the picture."""
    if 0 <= y < len(bitmap):
        left, right = max(0, left), min(len(bitmap[y]), right + 1)
        bitmap[y][left:right] = bytes([colour]) * max(0, right - left)


def _palette(rng: random.Random, ground: Colour) -> list[Colour]:
    red, green, blue = rng.randint(20, 90), rng.randint(40, 90), rng.randint(110, 200)
    sky = [(red + i * 10, green + i * 6, max(60, blue - i * 4)) for i in range(16)]
    return [*sky, (255, 236, 170), ground, (30, 32, 38)]


def _png(bitmap: Rows, palette: list[Colour]) -> bytes:
    header = struct.pack(">IIBBBBB", len(bitmap[0]), len(bitmap), 8, 3, 0, 0, 0)
    colours = bytes(value for colour in palette for value in colour)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in bitmap), 9)
    chunks = (b"IHDR", header), (b"PLTE", colours), (b"IDAT", pixels), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
