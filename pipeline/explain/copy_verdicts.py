"""Why an article is a copy of another, or similar to it and none: what `plumb explain URL` tells of each of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from docstore.articles.table import ArticleTable
from docstore.model import Article
from text.copies import CopyKind, Text, TextDifference, compare

TOLD = 3  # differences of each pair
MAX_SHOWN = 60  # characters of what differs
SAID_LAST = (CopyKind.SPELLING, CopyKind.FRAME)  # they make no other text of it

Row = dict[str, Any]


def with_verdicts(articles: ArticleTable, rows: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
    """The parts `near_duplicates` and `similar` of what the store tells of a URL, each row with its `verdict` and the
    `differences` that it rests on. Articles that the store does not have are left as they are.
    """
    parts = {name: list(rows.get(name, ())) for name in ("near_duplicates", "similar")}
    mine = next((row["url_id"] for row in rows.get("articles", ())), None)
    wanted = {row["url_id"] for part in parts.values() for row in part} - {None}
    found = articles.get([*wanted, mine]) if mine is not None else {}
    if mine not in found:
        return parts
    texts = {url_id: text_of(stored.article) for url_id, stored in found.items()}
    return {name: [told(texts, mine, row) for row in part] for name, part in parts.items()}


def text_of(article: Article) -> Text:
    """An article as copies are told by it."""
    return Text(article.title, article.body, article.published)


def told(texts: Mapping[int, Text], mine: int, row: Row) -> Row:
    """A row with the verdict on its article and `mine`."""
    if row["url_id"] not in texts:
        return row
    verdict = compare(texts[mine], texts[row["url_id"]], TOLD)
    shown = sorted(verdict.differences, key=lambda one: one.kind in SAID_LAST)[:TOLD]
    return {**row, "verdict": verdict.why, "differences": "; ".join(map(as_said, shown))}


def as_said(one: TextDifference) -> str:
    """`numbers after “held in”: “2016”, there “2017”`."""
    after = f" after “{shortened(one.before)}”" if one.before else ""
    return f"{one.kind}{after}: “{shortened(one.one)}”, there “{shortened(one.other)}”"


def shortened(text: str) -> str:
    """A text as long as a line bears."""
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
