"""Extraction report of a page: every line with its verdict, every candidate element with its features.

For an administrator who debugs the extraction: as tables (this module) or as an annotated page (extraction_html.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from domain.article import Article
from domain.errors import PlumblineError
from domain.outcome import Outcome
from extractor import ExtractSettings
from extractor.article_extractor import ArticleExtractor
from extractor.body_methods.base import Explanation, LineVerdict
from extractor.body_methods.explanation import with_tag_block_features
from extractor.fields.dates.date_parsing import find_date_in_text
from extractor.page.layout import Layout, Line
from extractor.page.parsed_page import ParsedPage, with_complete_layout
from extractor.page.tag_info import TagInfo
from pipeline.page_source import LoadedPage, unreadable_url_error
from pipeline.workers.page_reading import is_document
from text.decoding.decode import decode_page

MAX_CELL_LENGTH = 60  # characters of a line in a table
MAX_ELEMENT_LENGTH = 60  # characters of a CSS selector
MAX_MARKED_LINE_LENGTH = 300  # characters; a longer line is not marked as title, date, author or source


@dataclass(frozen=True)
class ExtractionReport:
    """A page, its extraction result, and the reasons.

    `fields_by_line` lists the article fields that a line shows: title, date, author, source. `page_kind` is the page
    type with its reason, `warning` describes a possible fault of the article.
    """

    page: LoadedPage
    method: str
    encoding: str
    document: ParsedPage
    explanation: Explanation
    result: Article | Outcome
    fields_by_line: Mapping[int, tuple[str, ...]]
    page_kind: str = ""
    warning: Outcome | None = None

    @property
    def summary(self) -> str:
        """One-line summary of the result."""
        kept_count = sum(verdict.kept for verdict in self.explanation.verdicts)
        line_summary = f"{kept_count} of {len(self.explanation.verdicts)} lines kept by {self.method}, {self.encoding}"
        if isinstance(self.result, Outcome):
            day = f", of {self.result.published_date}" if self.result.published_date else ""
            return f"no article{day}: {self.result.reason}: {self.result.detail} ({line_summary})"
        warning_text = f"; {self.warning.reason}: {self.warning.detail}" if self.warning else ""
        return f"an article of {len(self.result.body)} characters ({line_summary}); {self.page_kind}{warning_text}"


def explain_extraction(page: LoadedPage, settings: ExtractSettings) -> ExtractionReport:
    """Extract a page as the stage does and explain the result.

    The explanation omits the navigation of a page whose result would differ with it. Raises PlumblineError if the page
    is a document or cannot be parsed.
    """
    if is_document(page.body, page.url, page.content_type):
        raise PlumblineError(f"{page.label} is a file, not an HTML page: run `plumb extract` to see its text")
    decoded_page = decode_page(page.body, page.content_type)
    extractor = ArticleExtractor(settings)
    is_complete = extractor.method.needs_complete_layout
    document = extractor.parse_page(page.body, page.url, page.content_type, page.site, is_complete)
    if isinstance(document, Outcome):
        raise unreadable_url_error(page.label, document)
    reading = extractor.analyze_page(document, page.fetched_at)
    result = reading.result
    complete_document = with_complete_layout(document)
    if extractor.analyze_page(complete_document, page.fetched_at).result == result:
        document = complete_document  # to show the navigation too
    explanation = with_tag_block_features(document, extractor.method.explain(document))
    marks = locate_fields(document.layout, result, explanation.chosen_span) if isinstance(result, Article) else {}
    encoding = decoded_page.encoding if decoded_page is not None else ""
    kind = extractor.describe_page_type(document, page.fetched_at)
    return ExtractionReport(
        page, settings.method, encoding, document, explanation, result, marks, kind, reading.warning
    )


# -- article fields of a line


def locate_fields(layout: Layout, article: Article, chosen_span: int) -> dict[int, tuple[str, ...]]:
    """Find the lines that show title, date, author and source: for each field the line nearest to the body."""
    start = layout.spans[chosen_span].start_line if chosen_span >= 0 else 0
    matchers: dict[str, Callable[[Line], bool]] = {
        "title": lambda line: is_same_title(article.title, line.text),
        "date": lambda line: bool(article.published) and find_date_in_text(line.text).startswith(article.published),
        "author": lambda line: bool(article.author) and article.author in line.text,
        "source": lambda line: bool(article.source) and article.source in line.text,
    }
    fields_by_line: dict[int, tuple[str, ...]] = {}
    for name, matches in matchers.items():
        candidate_lines = (
            line_number for line_number, line in enumerate(layout.lines) if len(line.text) <= MAX_MARKED_LINE_LENGTH
        )
        matching_lines = [line_number for line_number in candidate_lines if matches(layout.lines[line_number])]
        if matching_lines:
            nearest = min(
                matching_lines,
                key=lambda line_number: (layout.lines[line_number].link_share > 0.5, abs(line_number - start)),
            )
            fields_by_line[nearest] = (*fields_by_line.get(nearest, ()), name)
    return fields_by_line


def is_same_title(title: str, text: str) -> bool:
    """True if the line is the title, ignoring white space and case."""
    return bool(title) and "".join(text.split()).lower() == "".join(title.split()).lower()


# -- tables


def css_path(tag: TagInfo) -> str:
    """Return the CSS selector of an element: `div#main.article`."""
    names = tag.attributes.get("class", "").split()
    identity = tag.attributes.get("id", "")
    selector = tag.tag + (f"#{identity}" if identity else "") + "".join(f".{name}" for name in names)
    return selector if len(selector) <= MAX_ELEMENT_LENGTH else f"{selector[: MAX_ELEMENT_LENGTH - 1]}…"


def element_of_span(layout: Layout, span: int) -> str:
    """Return the CSS selector of the element of a span; "page" if the span is negative."""
    return css_path(layout.spans[span].tag_info) if span >= 0 else "page"


def format_value(value: float | str) -> str:
    """Format a feature value for display."""
    if isinstance(value, str):
        return value
    return f"{value:.2f}" if isinstance(value, float) and abs(value) < 10 else f"{value:,.0f}"


def candidate_table(report: ExtractionReport) -> Table:
    """Build a table of the candidate elements, best first, with a mark at the chosen candidate."""
    explanation, layout = report.explanation, report.document.layout
    title = f"candidates, ● chosen by {report.method}"
    table = Table(title=title, title_justify="left", box=SIMPLE, collapse_padding=True, pad_edge=False)
    table.add_column("")
    table.add_column("element", no_wrap=True, min_width=12, max_width=36)
    table.add_column("from-to", no_wrap=True, min_width=7)
    features = list(dict.fromkeys(name for candidate in explanation.candidates for name in candidate.features))
    for name in ("score", *features):
        table.add_column(name, justify="right", no_wrap=True, min_width=5)
    for candidate in explanation.candidates:
        span = layout.spans[candidate.span]
        cells = [format_value(candidate.score), *(format_value(candidate.features.get(name, "")) for name in features)]
        chosen_mark = "●" if candidate.span == explanation.chosen_span else ""
        line_range = f"{span.start_line}-{span.end_line - 1}" if span.end_line > span.start_line else "none"
        table.add_row(chosen_mark, Text(css_path(span.tag_info)), line_range, *map(Text, cells))
    return table


def line_table(report: ExtractionReport) -> Table:
    """Build a table of all lines with the reason why each was kept or dropped."""
    layout = report.document.layout
    table = Table(title="lines, ● kept", title_justify="left", box=SIMPLE)
    table.add_column("line", justify="right", no_wrap=True, min_width=4)
    table.add_column("", no_wrap=True, min_width=1)
    table.add_column("weight", justify="right", no_wrap=True, min_width=6)
    for name, min_width, max_width in (("why", 12, 34), ("element", 8, 30), ("text", 16, 70)):
        table.add_column(name, no_wrap=True, min_width=min_width, max_width=max_width)
    for verdict in report.explanation.verdicts:
        line = layout.lines[verdict.line]
        text = line.text if len(line.text) <= MAX_CELL_LENGTH else f"{line.text[: MAX_CELL_LENGTH - 1]}…"
        reason_text = ", ".join((*report.fields_by_line.get(verdict.line, ()), verdict.why))
        cells = (f"{verdict.weight:.1f}", reason_text, element_of_span(layout, line.span_index), text)
        table.add_row(str(verdict.line), "●" if verdict.kept else "", *map(Text, cells))
    return table


def report_json(report: ExtractionReport) -> dict[str, Any]:
    """Return the report as JSON-compatible data."""
    explanation, layout = report.explanation, report.document.layout
    return {
        "page": report.page.label,
        "method": report.method,
        "encoding": report.encoding,
        "result": asdict(report.result),
        "chosen": explanation.chosen_span,
        "candidates": [
            {
                **asdict(candidate),
                "element": element_of_span(layout, candidate.span),
                "features": dict(candidate.features),
            }
            for candidate in explanation.candidates
        ],
        "lines": [line_json(report, verdict) for verdict in explanation.verdicts],
    }


def line_json(report: ExtractionReport, verdict: LineVerdict) -> dict[str, Any]:
    """Return a line with its verdict and features as JSON-compatible data."""
    line = report.document.layout.lines[verdict.line]
    return {
        **asdict(verdict),
        "marks": list(report.fields_by_line.get(verdict.line, ())),
        "element": element_of_span(report.document.layout, line.span_index),
        "size": line.size,
        "link_share": line.link_share,
        "punctuation": line.punctuation_count,
        "text": line.text,
    }
