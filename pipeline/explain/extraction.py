"""Why the extractor made of a page what it did: every line with its verdict, every candidate with its features.

For the operator whose page went wrong: as tables (here) or as the page itself in colours (page.py).
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from docstore.errors import PlumblineError
from docstore.model import Article, Outcome
from extractor import ExtractSettings
from extractor.article_extractor import ArticleExtractor
from extractor.fields.dates.date_text import date_in_text
from extractor.methods.contract import Explanation, LineVerdict
from extractor.methods.explanation import with_tag_blocks
from extractor.page.document import Document
from extractor.page.layout import Layout, Line
from extractor.page.markup_hints import TagInfo
from pipeline.page_source import SourcePage, no_page
from pipeline.workers.page_reading import is_document
from text.decoding.encoding import decode

LONGEST_CELL = 60  # characters of a line in a table
LONGEST_ELEMENT = 60
LONGEST_MARKED = 300  # characters of a line that may show title, date or author


@dataclass(frozen=True)
class Explained:
    """A page, what the extractor made of it, and how it chose. `marks` say what a line shows: title, date, author;
    `kind` says what kind of page it is and why, `warning` what the article may lack.
    """

    page: SourcePage
    method: str
    encoding: str
    document: Document
    explanation: Explanation
    result: Article | Outcome
    marks: Mapping[int, tuple[str, ...]]
    kind: str = ""
    warning: Outcome | None = None

    @property
    def summary(self) -> str:
        """What became of the page, in a line."""
        kept = sum(verdict.kept for verdict in self.explanation.verdicts)
        told = f"{kept} of {len(self.explanation.verdicts)} lines kept by {self.method}, {self.encoding}"
        if isinstance(self.result, Outcome):
            day = f", of {self.result.published}" if self.result.published else ""
            return f"no article{day}: {self.result.reason}: {self.result.detail} ({told})"
        doubt = f"; {self.warning.reason}: {self.warning.detail}" if self.warning else ""
        return f"an article of {len(self.result.body)} characters ({told}); {self.kind}{doubt}"


def explain_page(page: SourcePage, settings: ExtractSettings) -> Explained:
    """How the extractor reads a page. PlumblineError with the reason where there is nothing to read."""
    if is_document(page.html, page.url, page.content_type):
        raise PlumblineError(f"{page.name} is a document, no page of lines: `plumb extract` prints what is read of it")
    decoded = decode(page.html, page.content_type)
    extractor = ArticleExtractor(settings)
    document = extractor.document(page.html, page.url, page.content_type, page.site)
    if isinstance(document, Outcome):
        raise no_page(page.name, document)
    reading = extractor.reading(document, page.fetched_at)
    result = reading.result
    explanation = with_tag_blocks(document, extractor.method.explain(document))
    marks = marks_of(document.layout, result, explanation.chosen) if isinstance(result, Article) else {}
    encoding = decoded.encoding if decoded is not None else ""
    kind = extractor.kind(document, page.fetched_at)
    return Explained(page, settings.method, encoding, document, explanation, result, marks, kind, reading.warning)


# -- what a line shows


def marks_of(layout: Layout, article: Article, chosen: int) -> dict[int, tuple[str, ...]]:
    """The lines that show title, date, author and source of the article: for each the line nearest to the body."""
    start = layout.spans[chosen].start if chosen >= 0 else 0
    tests: dict[str, Callable[[Line], bool]] = {
        "title": lambda line: is_like(article.title, line.text),
        "date": lambda line: bool(article.published) and date_in_text(line.text).startswith(article.published),
        "author": lambda line: bool(article.author) and article.author in line.text,
        "source": lambda line: bool(article.source) and article.source in line.text,
    }
    found: dict[int, tuple[str, ...]] = {}
    for name, shows in tests.items():
        short = (place for place, line in enumerate(layout.lines) if len(line.text) <= LONGEST_MARKED)
        places = [place for place in short if shows(layout.lines[place])]
        if places:
            nearest = min(places, key=lambda place: (layout.lines[place].link_share > 0.5, abs(place - start)))
            found[nearest] = (*found.get(nearest, ()), name)
    return found


def is_like(title: str, text: str) -> bool:
    """A line that is the title, white space and case apart."""
    return bool(title) and "".join(text.split()).lower() == "".join(title.split()).lower()


# -- tables


def element_of(facts: TagInfo) -> str:
    """An element as CSS names it: `div#main.article`."""
    names = facts.attributes.get("class", "").split()
    identity = facts.attributes.get("id", "")
    whole = facts.tag + (f"#{identity}" if identity else "") + "".join(f".{name}" for name in names)
    return whole if len(whole) <= LONGEST_ELEMENT else f"{whole[: LONGEST_ELEMENT - 1]}…"


def element_at(layout: Layout, span: int) -> str:
    """The element of a span, "page" for none."""
    return element_of(layout.spans[span].facts) if span >= 0 else "page"


def shown(value: float | str) -> str:
    """A feature for a person."""
    if isinstance(value, str):
        return value
    return f"{value:.2f}" if isinstance(value, float) and abs(value) < 10 else f"{value:,.0f}"


def candidate_table(explained: Explained) -> Table:
    """The candidate elements, best first; a mark says which was chosen."""
    explanation, layout = explained.explanation, explained.document.layout
    title = f"candidates, ● chosen by {explained.method}"
    table = Table(title=title, title_justify="left", box=SIMPLE, collapse_padding=True, pad_edge=False)
    table.add_column("")
    table.add_column("element", no_wrap=True, min_width=12, max_width=36)
    table.add_column("from-to", no_wrap=True, min_width=7)
    features = list(dict.fromkeys(name for one in explanation.candidates for name in one.features))
    for name in ("score", *features):
        table.add_column(name, justify="right", no_wrap=True, min_width=5)
    for one in explanation.candidates:
        span = layout.spans[one.span]
        cells = [shown(one.score), *(shown(one.features.get(name, "")) for name in features)]
        mark = "●" if one.span == explanation.chosen else ""
        place = f"{span.start}-{span.end - 1}" if span.end > span.start else "none"
        table.add_row(mark, Text(element_of(span.facts)), place, *map(Text, cells))
    return table


def line_table(explained: Explained) -> Table:
    """Every line of the page, and why it was kept or dropped."""
    layout = explained.document.layout
    table = Table(title="lines, ● kept", title_justify="left", box=SIMPLE)
    table.add_column("line", justify="right", no_wrap=True, min_width=4)
    table.add_column("", no_wrap=True, min_width=1)
    table.add_column("weight", justify="right", no_wrap=True, min_width=6)
    for name, least, most in (("why", 12, 34), ("element", 8, 30), ("text", 16, 70)):
        table.add_column(name, no_wrap=True, min_width=least, max_width=most)
    for verdict in explained.explanation.verdicts:
        line = layout.lines[verdict.line]
        text = line.text if len(line.text) <= LONGEST_CELL else f"{line.text[: LONGEST_CELL - 1]}…"
        why = ", ".join((*explained.marks.get(verdict.line, ()), verdict.why))
        cells = (f"{verdict.weight:.1f}", why, element_at(layout, line.span), text)
        table.add_row(str(verdict.line), "●" if verdict.kept else "", *map(Text, cells))
    return table


def counts(explained: Explained) -> list[tuple[str, int]]:
    """How many lines were kept or dropped for each reason."""
    return Counter(verdict.why for verdict in explained.explanation.verdicts).most_common()


def as_json(explained: Explained) -> dict[str, Any]:
    """The same for a program."""
    explanation, layout = explained.explanation, explained.document.layout
    return {
        "page": explained.page.name,
        "method": explained.method,
        "encoding": explained.encoding,
        "result": asdict(explained.result),
        "chosen": explanation.chosen,
        "candidates": [
            {**asdict(one), "element": element_at(layout, one.span), "features": dict(one.features)}
            for one in explanation.candidates
        ],
        "lines": [line_row(explained, verdict) for verdict in explanation.verdicts],
    }


def line_row(explained: Explained, verdict: LineVerdict) -> dict[str, Any]:
    """One line with its verdict and features."""
    line = explained.document.layout.lines[verdict.line]
    return {
        **asdict(verdict),
        "marks": list(explained.marks.get(verdict.line, ())),
        "element": element_at(explained.document.layout, line.span),
        "size": line.size,
        "link_share": line.link_share,
        "punctuation": line.marks,
        "text": line.text,
    }
