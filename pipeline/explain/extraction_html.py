"""Annotated page: the text of a page, each line coloured by its verdict, with a frame around the chosen element.

The output is one self-contained HTML file without scripts. The template, extraction.html, escapes all content of the
page and has no links to other files.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from domain.article import Article
from extractor.body_methods.base import LineVerdict
from extractor.body_methods.explanation import VERDICT_REASONS
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import CODE_TAG
from extractor.page.tag_info import Hint
from pipeline.explain.extraction_report import ExtractionReport, element_of_span, format_value

MAX_CHIP_LENGTH = 40  # characters; dropped lines up to this length share a row
ARTICLE_FIELDS = ("title", "published_at", "published", "date_source", "author", "source", "section", "language")
# Hue in degrees of each reason, in the order of VERDICT_REASONS; green means kept.
REASON_HUES = (140, 265, 0, 240, 80, 215, 330, 25, 185, 50, 290, 0, 0)
FIRST_GREY_INDEX = len(REASON_HUES) - 2  # the last two reasons are grey


class ArticleField(NamedTuple):
    """A field of the article: the numbers of the lines that show it, and the metadata elements that contain it."""

    label: str
    value: str
    lines: Sequence[int]
    sources: Sequence[str]


def render_html(report: ExtractionReport) -> str:
    """Render the report as an HTML document."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    helpers: list[Callable[..., object]] = [css_class, element_of_span, format_value, group_chips, iter_fields]
    helpers += [sort_reasons, split_at_chosen_element, text_class, tooltip]
    candidates = report.explanation.candidates
    environment.globals.update(
        {helper.__name__: helper for helper in helpers},
        report=report,
        layout=report.document.layout,
        is_article=isinstance(report.result, Article),
        reason_colours=[(hue, "0%" if n >= FIRST_GREY_INDEX else "60%") for n, hue in enumerate(REASON_HUES)],
        feature_names=list(dict.fromkeys(name for candidate in candidates for name in candidate.features)),
    )
    return environment.get_template("extraction.html").render()


def iter_fields(report: ExtractionReport) -> Iterator[ArticleField]:
    """Yield title, date, author and other fields of the article that are not empty."""
    for name in ARTICLE_FIELDS:
        if value := str(getattr(report.result, name)):
            mark = "date" if name.startswith("published") else name
            lines = [line_number for line_number, marks in report.fields_by_line.items() if mark in marks]
            sources = list(iter_title_sources(report, value)) if name == "title" else []
            yield ArticleField(name.replace("_", " "), value, lines, sources)


def iter_title_sources(report: ExtractionReport, title: str) -> Iterator[str]:
    """Yield the metadata elements of the page head that contain the title."""
    document = report.document
    if title in document.title:
        yield "<title>"
    yield from (name for name in ("og:title", "twitter:title") if title in document.metas.get(name, ""))
    if any(title in script for script in document.json_ld):
        yield "JSON-LD"


def sort_reasons(report: ExtractionReport) -> list[tuple[str, int]]:
    """Return (reason, line count): those of VERDICT_REASONS in their order, then the method's own reasons."""
    line_counts = dict(Counter(verdict.why for verdict in report.explanation.verdicts).most_common())
    reasons = [reason for reason in VERDICT_REASONS if reason in line_counts]
    return [(reason, line_counts[reason]) for reason in dict.fromkeys((*reasons, *line_counts))]


def css_class(reason: str) -> str:
    """Return the CSS class of a reason."""
    return f"r{VERDICT_REASONS.index(reason)}" if reason in VERDICT_REASONS else f"r{FIRST_GREY_INDEX}"


def split_at_chosen_element(report: ExtractionReport) -> list[tuple[str, Sequence[LineVerdict]]]:
    """Return the lines before, in and after the chosen element, in order, as (its CSS name or "", verdicts)."""
    chosen_span, layout = report.explanation.chosen_span, report.document.layout
    verdicts = report.explanation.verdicts
    if chosen_span < 0:
        return [("", verdicts)]
    start, end = layout.spans[chosen_span].start_line, layout.spans[chosen_span].end_line
    element = element_of_span(layout, chosen_span)
    return [("", verdicts[:start]), (element, verdicts[start:end]), ("", verdicts[end:])]


def group_chips(report: ExtractionReport, verdicts: Sequence[LineVerdict]) -> Iterator[tuple[bool, list[LineVerdict]]]:
    """Yield (is_chip, verdicts); short dropped lines with the same reason are one group, which shares a row.

    A line that shows an article field is not a chip.
    """
    lines = report.document.layout.lines

    def chip_key(verdict: LineVerdict) -> tuple[bool, str]:
        is_dropped = not verdict.kept and verdict.line not in report.fields_by_line
        return is_dropped and len(lines[verdict.line].text) <= MAX_CHIP_LENGTH, verdict.why

    for (is_chip, _), group in groupby(verdicts, key=chip_key):
        yield is_chip, list(group)


def text_class(tag: str) -> str:
    """Return the CSS class for the text of an element."""
    if tag in HEADING_TAGS:
        return "big" if tag == "h1" else "head"
    return {"li": "item", CODE_TAG: "code"}.get(tag, "text")


def tooltip(report: ExtractionReport, verdict: LineVerdict) -> str:
    """Return the features of a line as tooltip text."""
    layout = report.document.layout
    line = layout.lines[verdict.line]
    around = [describe_element(report, span) for span in list(layout.iter_enclosing(line.span_index))[:4]]
    return "\n".join(
        (
            f"line {verdict.line}: {verdict.why}",
            f"weight {verdict.weight:.1f}, size {line.size:.0f}, link share {line.link_share:.0%}, "
            f"marks {line.punctuation_count}",
            " < ".join(around),
        )
    )


def describe_element(report: ExtractionReport, span: int) -> str:
    """Return the CSS name of an element, and the hint from its class and id names."""
    layout = report.document.layout
    hint = layout.spans[span].tag_info.hint
    return element_of_span(layout, span) + ("" if hint is Hint.NONE else f" ({hint.name.lower()})")
