"""Writes simple PDF files: a title, and pages of headings and paragraphs, in Chinese or English.

The fonts are not embedded: Helvetica is one of the standard fonts, and every reader has a Chinese font.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

PAGE_WIDTH, PAGE_HEIGHT, MARGIN = 595, 842, 72  # points: A4
TITLE_POINTS, HEADING_POINTS, BODY_POINTS = 20, 14, 11
LINE_HEIGHT = 1.7  # relative to the size of the font
LATIN_WIDTH = 0.5  # mean width of a Latin letter, relative to the size of the font
_FONTS = {
    "en": "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    "zh": (
        "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [ "
        "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /W [1 95 500] /DW 1000 "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> "
        "/FontDescriptor << /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] "
        "/ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >> >> ] >>"
    ),
}


@dataclass(frozen=True)
class PdfPage:
    """One page: its heading and its paragraphs. The text must fit on the page."""

    heading: str
    paragraphs: tuple[str, ...]


def render_pdf(title: str, author: str, day: date, language: str, pages: Sequence[PdfPage]) -> bytes:
    """Return a PDF file. Equal arguments give equal bytes. `language` is "zh" or "en"."""
    page_ids = [4 + 2 * index for index in range(len(pages))]
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [ {' '.join(f'{number} 0 R' for number in page_ids)} ] >>",
        _FONTS[language],
    ]
    for index, page in enumerate(pages):
        content = "\n".join(_iter_text_operators(title if index == 0 else "", page, language))
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PAGE_WIDTH} {PAGE_HEIGHT}] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {page_ids[index] + 1} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    objects.append(
        f"<< /Title {_hex_text(title, 'zh', bom=True)} /Author {_hex_text(author, 'zh', bom=True)} "
        f"/CreationDate (D:{day:%Y%m%d}080000Z) >>"
    )
    file, offsets = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n{text}\nendobj\n".encode("ascii")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{len(file)}\n%%EOF\n"
    return file + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode("ascii")


def _iter_text_operators(title: str, page: PdfPage, language: str) -> Iterator[str]:
    y = float(PAGE_HEIGHT - MARGIN)
    blocks = [(title, TITLE_POINTS)] * bool(title) + [(page.heading, HEADING_POINTS)]
    blocks += [(paragraph, BODY_POINTS) for paragraph in page.paragraphs]
    for text, points in blocks:
        for line in _wrap_lines(text, points, language):
            y -= points * LINE_HEIGHT
            yield f"BT /F1 {points} Tf {MARGIN} {y:.1f} Td {_hex_text(line, language)} Tj ET"
        y -= points * LINE_HEIGHT / 2


def _wrap_lines(text: str, points: int, language: str) -> list[str]:
    width = (PAGE_WIDTH - 2 * MARGIN) / points
    if language == "en":
        return textwrap.wrap(text, int(width / LATIN_WIDTH))
    line_length = int(width)
    return [text[start : start + line_length] for start in range(0, len(text), line_length)]


def _hex_text(text: str, language: str, bom: bool = False) -> str:
    content = text.encode("cp1252") if language == "en" else b"\xfe\xff" * bom + text.encode("utf-16-be")
    return f"<{content.hex()}>"
