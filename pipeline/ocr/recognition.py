"""Functions that the worker process of the stage `ocr` runs: find the pages without readable text, and read them.

The engine is RapidOCR (PP-OCR models for Chinese and English, shipped in its package) with ONNX Runtime on the CPU.
Only the worker imports the engine.
"""

import io
import logging
from collections.abc import Sequence
from functools import cache
from statistics import median
from typing import Any

import numpy as np

from domain.file_formats import OFD_FORMAT, PDF_FORMAT
from domain.recognized_page import RecognizedLine, RecognizedPage
from extractor.documents import ofd, pdf
from extractor.documents.content import UnreadableError, clean_text
from extractor.documents.garbled_text import is_garbled
from extractor.documents.reader import detect_format

log = logging.getLogger(__name__)

ZIP_MAGIC = b"PK\x03\x04"
POINTS_PER_INCH = 72.0
DOTS_PER_INCH = 150.0
MAX_SIDE_PIXELS = 3_000  # of the picture of a page; larger pages are drawn smaller
MIN_LINE_CONFIDENCE = 0.5
COLUMN_GAP_SHARES = (0.5, 0.48, 0.52, 0.46, 0.54)  # of the page width
MIN_COLUMN_LINES = 6
MIN_COLUMN_LINE_SHARE = 0.28  # median width of the lines of a column, relative to the page width
MIN_SAME_LINE_OVERLAP = 0.6  # of two boxes in one line, relative to the lower one
ENGINE_PARAMETERS = {
    "Global.log_level": "critical",
    "Global.text_score": MIN_LINE_CONFIDENCE,
    "Global.use_cls": False,  # it turns some long upright lines
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


def list_unreadable_pages(data: bytes, url: str, content_type: str) -> list[int]:
    """Return the numbers of the pages of a PDF or OFD without readable text; [] for other and unreadable files."""
    readers = {PDF_FORMAT: pdf.find_unreadable_pages, OFD_FORMAT: ofd.find_unreadable_pages}
    find_unreadable_pages = readers.get(detect_format(data, url, content_type))
    try:
        return find_unreadable_pages(data) if find_unreadable_pages else []
    except UnreadableError:
        return []


def recognize_page(data: bytes, number: int, min_confidence: float) -> RecognizedPage:
    """Read one page of a PDF or OFD from its picture; a page below `min_confidence` and garbled text have no lines."""
    is_ofd = data.startswith(ZIP_MAGIC)
    picture, width, height = draw_ofd_page(data, number) if is_ofd else draw_pdf_page(data, number)
    page = read_picture(picture, number, width, height)
    if page.confidence < min_confidence:  # perhaps upside down
        page = read_picture(np.rot90(picture, 2).copy(), number, width, height)
    is_readable = page.confidence >= min_confidence and not is_garbled("\n".join(line.text for line in page.lines))
    return page if is_readable else RecognizedPage(number, width, height)


def draw_pdf_page(data: bytes, number: int) -> tuple[Any, float, float]:
    """Return the picture of a page (array of rows, columns and colours), and its width and height in points."""
    document = pdf.open_pdf(data)
    try:
        page = document[number - 1]
        width, height = page.get_size()
        return page.render(scale=picture_scale(width, height)).to_numpy(), width, height
    finally:
        document.close()


def draw_ofd_page(data: bytes, number: int) -> tuple[Any, float, float]:
    """Return the same for a page of an OFD: its images on white. Images that Pillow cannot read are left out."""
    from PIL import Image  # only needed for this format

    width, height, images = ofd.read_images(data, number)
    scale = picture_scale(width, height)
    picture = Image.new("RGB", (max(1, round(width * scale)), max(1, round(height * scale))), "white")
    for image in images:
        try:
            with Image.open(io.BytesIO(image.data)) as source:
                size = (min(image.width, width) * scale, min(image.height, height) * scale)
                page_image = source.convert("RGB").resize((max(1, round(size[0])), max(1, round(size[1]))))
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            log.warning("an image of page %d cannot be read: %s", number, error)
            continue
        picture.paste(page_image, (round(image.x * scale), round(image.y * scale)))
    return np.asarray(picture), width, height


def picture_scale(width: float, height: float) -> float:
    """Return the pixels per point of the picture of a page of this size."""
    return min(DOTS_PER_INCH / POINTS_PER_INCH, MAX_SIDE_PIXELS / max(width, height, 1.0))


def read_picture(picture: Any, number: int, width: float, height: float) -> RecognizedPage:
    """Read the picture of a page: array of rows, columns and colours; `width` and `height` of the page in points."""
    result = load_engine()(picture)
    if result.boxes is None:
        return RecognizedPage(number, width, height)
    scale = picture.shape[0] / height
    readings = zip(result.boxes, result.txts, result.scores, strict=True)
    lines = [build_line(text, box, float(score), scale, height) for box, text, score in readings]
    return RecognizedPage(
        number, width, height, tuple(sort_by_reading_order([line for line in lines if line.text], width))
    )


@cache
def load_engine() -> Any:
    """Load the models. Takes about a second of CPU time and 100 MB."""
    from rapidocr import RapidOCR

    return RapidOCR(params=ENGINE_PARAMETERS)


def build_line(text: str, box: Any, confidence: float, scale: float, page_height: float) -> RecognizedLine:
    """Return a line with its position in points, from a box of four corners in pixels from the upper left corner."""
    horizontal, vertical = [float(x) / scale for x, _ in box], [page_height - float(y) / scale for _, y in box]
    return RecognizedLine(clean_text(text), min(horizontal), max(horizontal), max(vertical), min(vertical), confidence)


def sort_by_reading_order(lines: Sequence[RecognizedLine], page_width: float) -> list[RecognizedLine]:
    """Return the lines in reading order: column by column between lines across both columns, else by rows.

    Two columns are long lines on both sides of a gap. Short lines on both sides are a table, which is read by rows.
    """
    gap = find_column_gap(lines, page_width)
    if gap is None:
        return sort_by_rows(lines)
    finished_lines: list[RecognizedLine] = []  # above the current pair of columns
    columns: tuple[list[RecognizedLine], list[RecognizedLine]] = ([], [])
    for line in sort_by_rows(lines):
        if line.left < gap < line.right:
            finished_lines += [*columns[0], *columns[1], line]
            columns = ([], [])
        else:
            columns[line.left > gap].append(line)
    return [*finished_lines, *columns[0], *columns[1]]


def find_column_gap(lines: Sequence[RecognizedLine], page_width: float) -> float | None:
    """Return the horizontal position between two columns of text, or None."""
    for share in COLUMN_GAP_SHARES:
        gap = share * page_width
        left_widths = [line.right - line.left for line in lines if line.right <= gap]
        right_widths = [line.right - line.left for line in lines if line.left >= gap]
        crossing_count = len(lines) - len(left_widths) - len(right_widths)
        if min(len(left_widths), len(right_widths)) < MIN_COLUMN_LINES or crossing_count > len(lines) / 4:
            continue
        if min(median(left_widths), median(right_widths)) >= MIN_COLUMN_LINE_SHARE * page_width:
            return gap
    return None


def sort_by_rows(lines: Sequence[RecognizedLine]) -> list[RecognizedLine]:
    """Return the lines from top to bottom, and from left to right within a row."""
    rows: list[list[RecognizedLine]] = []
    for line in sorted(lines, key=lambda line: -line.top):
        if rows and is_same_row(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.left)]


def is_same_row(first: RecognizedLine, second: RecognizedLine) -> bool:
    """Return True if two lines overlap vertically."""
    overlap = min(first.top, second.top) - max(first.bottom, second.bottom)
    return overlap > MIN_SAME_LINE_OVERLAP * min(first.top - first.bottom, second.top - second.bottom)
