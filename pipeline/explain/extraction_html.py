"""Annotated page: the text of a page, each line coloured by its verdict, with a frame around the chosen element.

The output is one self-contained HTML file without scripts. All content of the page is escaped, and links are disabled.
"""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import groupby

from domain.article import Article
from domain.outcome import Outcome
from extractor.body_methods.base import BodyCandidate, LineVerdict
from extractor.body_methods.explanation import VERDICT_REASONS
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import CODE_TAG
from extractor.page.tag_info import Hint
from pipeline.explain.extraction_report import ExtractionReport, count_verdicts, element_of_span, format_value

MAX_CHIP_LENGTH = 40  # characters; dropped lines up to this length share a row
ARTICLE_FIELDS = ("title", "published_at", "published", "date_source", "author", "source", "section", "language")
# Hue in degrees of each reason, in the order of VERDICT_REASONS; green means kept.
REASON_HUES = (140, 265, 0, 240, 80, 215, 330, 25, 185, 50, 290, 0, 0)
FIRST_GREY_INDEX = len(REASON_HUES) - 2  # the last two reasons are grey

CSS = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #59636e; --rule: #d1d9e0; --tint: 92%;
  --tone: 26%; --frame: #1f6f3f; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e6e9ec; --soft: #9aa5b1; --rule: #3a424c;
  --tint: 17%; --tone: 80%; --frame: #5fc98a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, "Noto Sans CJK SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif; }
h1 { font-size: 1.3rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
p { margin: .3rem 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.bad { color: hsl(0 70% calc(var(--tone) + 8%)); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .7rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.legend { display: flex; flex-wrap: wrap; gap: .4rem; padding: .5rem 0; position: sticky; top: 0; z-index: 1;
  background: var(--paper); border-bottom: 1px solid var(--rule); font-size: .85rem; }
.legend span { padding: .1rem .6rem; border-radius: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th:nth-child(2), td:nth-child(2) { text-align: left; }
tr.chosen { font-weight: 600; outline: 2px solid var(--frame); outline-offset: -1px; }
a { color: inherit; }
.line { display: grid; grid-template-columns: 3.2rem minmax(0, 1fr) auto; gap: .8rem; margin: 2px 0;
  padding: .1rem .6rem; border-left: 4px solid; border-radius: 3px; overflow-wrap: anywhere; }
.line > b, .chip > b { font: .72rem/1.9 ui-monospace, monospace; }
.line > i { font-size: .75rem; font-style: normal; white-space: nowrap; align-self: center; }
.chips { display: flex; flex-wrap: wrap; gap: 2px; margin: 2px 0; }
.chip { padding: 0 .5rem; border-left: 4px solid; border-radius: 3px; font-size: .85rem; }
.big { font-size: 1.25rem; font-weight: 700; } .head { font-weight: 700; } .item { padding-left: 1rem; }
.code { font-family: ui-monospace, monospace; font-size: .9rem; white-space: pre-wrap; }
.mark { display: inline-block; margin-right: .4rem; padding: 0 .5rem; border-radius: 3px; font-size: .72rem;
  background: var(--ink); color: var(--paper); font-weight: 600; }
section { border: 3px solid var(--frame); border-radius: 6px; margin: .6rem 0; padding: 0 .4rem .4rem; }
section > header { display: inline-block; background: var(--frame); color: var(--paper); font-size: .8rem;
  padding: 0 .6rem; margin: 0 0 .3rem -.4rem; border-radius: 0 0 6px 0; font-weight: 600; }
"""


def render_html(report: ExtractionReport) -> str:
    """Render the report as an HTML document."""
    name = escape(report.page.label)
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{name}: why</title>\n<style>{CSS}{reason_css()}</style>",
            f"<h1>{name}</h1>",
            render_result(report),
            "<h2>The page</h2>",
            render_legend(report),
            *iter_line_html(report),
            "<h2>Candidate elements</h2>",
            render_candidates(report),
            "</html>\n",
        )
    )


def reason_css() -> str:
    """Return the CSS rules for the reasons: a light tint as background, a dark tone of the same hue as text colour."""
    rules = []
    for number, hue in enumerate(REASON_HUES):
        saturation = "0%" if number >= FIRST_GREY_INDEX else "60%"
        rules.append(
            f".r{number} {{ background: hsl({hue} {saturation} var(--tint));"
            f" color: hsl({hue} {saturation} var(--tone)); border-color: hsl({hue} {saturation} 50%); }}"
        )
    return "\n".join(rules)


def render_result(report: ExtractionReport) -> str:
    """Render the fields of the article, or the reason why there is no article."""
    result = report.result
    if isinstance(result, Outcome):
        return f'<p class="bad">{escape(report.summary)}</p>'
    return f'<p class="soft">{escape(report.summary)}</p>{render_fields(report, result)}'


def render_fields(report: ExtractionReport, article: Article) -> str:
    """Render title, date, author and other fields, each with its locations on the page."""
    rows = []
    for name in ARTICLE_FIELDS:
        value = str(getattr(article, name))
        if value:
            locations = render_field_locations(report, name, value)
            rows.append(f"<dt>{name.replace('_', ' ')}</dt><dd>{escape(value)}{locations}</dd>")
    return f"<dl>{''.join(rows)}</dl>"


def render_field_locations(report: ExtractionReport, name: str, value: str) -> str:
    """Render the locations of a field value: links to lines, and metadata names for values that are not visible."""
    field = "date" if name.startswith("published") else name
    lines = [line_number for line_number, marks in report.fields_by_line.items() if field in marks]
    locations = [f'<a href="#l{line_number}">line {line_number}</a>' for line_number in lines]
    if name == "title":
        locations += [escape(line_number) for line_number in iter_title_sources(report, value)]
    return f' <span class="soft">({", ".join(locations)})</span>' if locations else ""


def iter_title_sources(report: ExtractionReport, title: str) -> Iterator[str]:
    """Yield the metadata elements of the page head that contain the title."""
    document = report.document
    if title in document.title:
        yield "<title>"
    yield from (name for name in ("og:title", "twitter:title") if title in document.metas.get(name, ""))
    if any(title in script for script in document.json_ld):
        yield "JSON-LD"


def render_legend(report: ExtractionReport) -> str:
    """Render the reasons that occur, with their number of lines."""
    line_counts = dict(count_verdicts(report))
    spans = (
        f'<span class="{css_class(reason)}">{escape(reason)} {line_counts[reason]}</span>'
        for reason in sort_reasons(line_counts)
    )
    return f'<div class="legend">{"".join(spans)}</div>'


def sort_reasons(line_counts: Mapping[str, int]) -> list[str]:
    """Sort the reasons: those of VERDICT_REASONS in their order, then the method's own reasons."""
    return [reason for reason in VERDICT_REASONS if reason in line_counts] + [
        reason for reason in line_counts if reason not in VERDICT_REASONS
    ]


def css_class(reason: str) -> str:
    """Return the CSS class of a reason."""
    return f"r{VERDICT_REASONS.index(reason)}" if reason in VERDICT_REASONS else f"r{FIRST_GREY_INDEX}"


def iter_line_html(report: ExtractionReport) -> Iterator[str]:
    """Yield the HTML of all lines in order, with a frame around the lines of the chosen element."""
    chosen_span, layout = report.explanation.chosen_span, report.document.layout
    span = layout.spans[chosen_span] if chosen_span >= 0 else None
    verdicts = report.explanation.verdicts
    if span is None:
        yield from iter_row_html(report, verdicts)
        return
    yield from iter_row_html(report, verdicts[: span.start_line])
    yield f"<section><header>chosen: {escape(element_of_span(layout, chosen_span))}</header>"
    yield from iter_row_html(report, verdicts[span.start_line : span.end_line])
    yield "</section>"
    yield from iter_row_html(report, verdicts[span.end_line :])


def iter_row_html(report: ExtractionReport, verdicts: Iterable[LineVerdict]) -> Iterator[str]:
    """Yield the HTML of lines as rows; short dropped lines with the same reason share a row."""
    for (group_is_chip, _), group in groupby(verdicts, key=lambda verdict: (is_chip(report, verdict), verdict.why)):
        if group_is_chip:
            yield f'<div class="chips">{"".join(render_chip(report, verdict) for verdict in group)}</div>'
        else:
            yield from (render_row(report, verdict) for verdict in group)


def is_chip(report: ExtractionReport, verdict: LineVerdict) -> bool:
    """True for a short dropped line that shows no article field."""
    highlights = verdict.line in report.fields_by_line
    return (
        not verdict.kept and not highlights and len(report.document.layout.lines[verdict.line].text) <= MAX_CHIP_LENGTH
    )


def render_row(report: ExtractionReport, verdict: LineVerdict) -> str:
    """Render a line as a row: number, text and reason."""
    line = report.document.layout.lines[verdict.line]
    marks = "".join(
        f'<span class="mark">{escape(field)}</span>' for field in report.fields_by_line.get(verdict.line, ())
    )
    reason = "" if verdict.kept else f"<i>{escape(verdict.why)}</i>"
    return (
        f'<div class="line {css_class(verdict.why)}" id="l{verdict.line}" title="{escape(tooltip(report, verdict))}">'
        f'<b>{verdict.line}</b><span class="{text_class(line.tag)}">{marks}{escape(line.text)}</span>{reason}</div>'
    )


def render_chip(report: ExtractionReport, verdict: LineVerdict) -> str:
    """Render a short dropped line as an inline element."""
    text = escape(report.document.layout.lines[verdict.line].text)
    attributes = f'id="l{verdict.line}" title="{escape(tooltip(report, verdict))}"'
    return f'<span class="chip {css_class(verdict.why)}" {attributes}>{text}</span>'


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


def render_candidates(report: ExtractionReport) -> str:
    """Render the candidate elements as a table with their features, best first."""
    candidates = report.explanation.candidates
    if not candidates:
        return '<p class="soft">none</p>'
    features = list(dict.fromkeys(name for candidate in candidates for name in candidate.features))
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", "element", "score", *features))
    body = "".join(render_candidate(report, candidate, features) for candidate in candidates)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def render_candidate(report: ExtractionReport, candidate: BodyCandidate, features: Iterable[str]) -> str:
    """Render a candidate as a table row; its name links to its first line."""
    layout, is_chosen = report.document.layout, candidate.span == report.explanation.chosen_span
    element = (
        f'<a href="#l{layout.spans[candidate.span].start_line}">{escape(element_of_span(layout, candidate.span))}</a>'
    )
    cells = [
        element,
        format_value(candidate.score),
        *(escape(format_value(candidate.features.get(name, ""))) for name in features),
    ]
    row_class = ' class="chosen"' if is_chosen else ""
    return f"<tr{row_class}><td>{'●' if is_chosen else ''}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
