"""PDF files of scanned pages: text drawn as pictures, without a text layer."""

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

DOTS_PER_INCH = 150
PAGE_PIXELS = (1240, 1754)  # A4
MARGIN_PIXELS = 120
LINE_PIXELS = 54


def scanned_pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """Return a PDF whose pages are pictures of lines of text."""
    pictures = [draw_page(lines) for lines in pages]
    buffer = io.BytesIO()
    pictures[0].save(buffer, "PDF", resolution=DOTS_PER_INCH, save_all=True, append_images=pictures[1:])
    return buffer.getvalue()


def draw_page(lines: Sequence[str], font: ImageFont.FreeTypeFont | ImageFont.ImageFont | None = None) -> Image.Image:
    """Draw lines of text on a white page."""
    picture = Image.new("RGB", PAGE_PIXELS, "white")
    draw = ImageDraw.Draw(picture)
    for index, line in enumerate(lines):
        position = (MARGIN_PIXELS, MARGIN_PIXELS + index * LINE_PIXELS)
        draw.text(position, line, "black", font or ImageFont.load_default(30))
    return picture
