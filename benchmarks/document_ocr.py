"""Accuracy of OCR on drawn pages whose text is known: the set `ocr` of `make bench-documents`.

The texts are pages of our own documentation in Chinese and English. Each page is drawn with noise, blur and a slight
rotation, and read in a worker process with the limits of the stage `ocr`.
"""

import io
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from rapidfuzz.distance import Levenshtein

from benchmarks.extract_pages import ROOT
from benchmarks.results import OURS, Figure
from crawler.workers.worker_process import Limits, WorkerProcess
from pipeline.ocr.recognition import recognize_page
from pipeline.ocr.settings import OcrSettings
from pipeline.ocr.stage import PAGE_SECONDS, WORKER_PRELOAD

TEXT_FILES = {"zh": ROOT / "docs/start/first-site.zh.md", "en": ROOT / "docs/start/first-site.md"}
PAGES_PER_LANGUAGE = 4
LINES_PER_PAGE = 34
DOTS_PER_INCH = 150
PAGE_PIXELS = (1240, 1754)  # A4
MARGIN_PIXELS, LINE_PIXELS, FONT_PIXELS = 110, 45, 25  # 12 points
MAX_DEGREES = 0.8
NOISE_DEVIATION = 12.0  # of 255 grey levels
MARKUP_RE = re.compile(r"[`*#|<>\[\]]|\(\S+?\)|-{3,}")
BLANKS_RE = re.compile(r"\s+")


def ocr_figures() -> Iterator[Figure]:
    """Yield the share of correct characters by language, and the seconds for a page. Needs a Chinese font."""
    fonts = {"zh": find_chinese_font(), "en": ImageFont.load_default(FONT_PIXELS)}
    random = np.random.default_rng(7)
    seconds: list[float] = []
    with closing(WorkerProcess(Limits(PAGE_SECONDS, OcrSettings().memory_mb), WORKER_PRELOAD)) as worker:
        for language, font in fonts.items():
            if font is None:
                continue
            accuracies = []
            for lines in split_pages(TEXT_FILES[language], font):
                data = to_pdf(distort(draw(lines, font), random))
                started = time.perf_counter()
                page = worker.call(recognize_page, data, 1, 0.0)
                seconds.append(time.perf_counter() - started)
                accuracies.append(measure_accuracy("".join(lines), "".join(line.text for line in page.lines)))
            yield Figure("ocr", OURS, f"accuracy_{language}", sum(accuracies) / len(accuracies))
    yield Figure("ocr", OURS, "seconds_per_page", sum(seconds) / len(seconds))


def find_chinese_font() -> ImageFont.FreeTypeFont | None:
    """Return a Chinese font of the system, or None if there is none."""
    found = subprocess.run(["fc-match", "-f", "%{file}", ":lang=zh-cn"], capture_output=True, text=True, check=False)
    path = Path(found.stdout)
    return ImageFont.truetype(path, FONT_PIXELS) if path.is_file() and "CJK" in path.name else None


def split_pages(path: Path, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> list[list[str]]:
    """Return the lines of the first pages of a text, without markup and wrapped to the width of a page."""
    lines: list[str] = []
    for paragraph in MARKUP_RE.sub("", path.read_text(encoding="utf-8")).splitlines():
        line = ""
        for char in " ".join(paragraph.split()):
            if font.getlength(line + char) > PAGE_PIXELS[0] - 2 * MARGIN_PIXELS:
                lines.append(line)
                line = ""
            line += char
        lines += [line] * bool(line.strip())
    pages = [lines[start : start + LINES_PER_PAGE] for start in range(0, len(lines), LINES_PER_PAGE)]
    return pages[:PAGES_PER_LANGUAGE]


def draw(lines: list[str], font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> Image.Image:
    """Draw lines of text on a white page."""
    picture = Image.new("L", PAGE_PIXELS, 255)
    canvas = ImageDraw.Draw(picture)
    for index, line in enumerate(lines):
        canvas.text((MARGIN_PIXELS, MARGIN_PIXELS + index * LINE_PIXELS), line, 20, font)
    return picture


def distort(picture: Image.Image, random: np.random.Generator) -> Image.Image:
    """Return the picture as from a scanner: slightly rotated, blurred and noisy."""
    degrees = float(random.uniform(-MAX_DEGREES, MAX_DEGREES))
    rotated = picture.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255).filter(ImageFilter.GaussianBlur(0.6))
    noisy = np.asarray(rotated, float) + random.normal(0.0, NOISE_DEVIATION, (rotated.height, rotated.width))
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def to_pdf(picture: Image.Image) -> bytes:
    """Return a PDF with the picture as its page."""
    buffer = io.BytesIO()
    picture.save(buffer, "PDF", resolution=DOTS_PER_INCH, quality=80)
    return buffer.getvalue()


def measure_accuracy(expected: str, actual: str) -> float:
    """Return 1 minus the edit distance per expected character, without white space, 0 to 1."""
    expected, actual = BLANKS_RE.sub("", expected), BLANKS_RE.sub("", actual)
    return max(0.0, 1 - Levenshtein.distance(expected, actual) / len(expected))
