"""Why an article is a copy of another, or similar to it and none: what `plumb explain URL` tells of each of them."""

from docstore.articles.table import ArticleTable
from docstore.model import Article
from docstore.reports.url_report import UrlReport
from pipeline.explain.url_explanation import CopyVerdict
from text.resemblance.copies import CopyKind, Text, TextDifference, compare

TOLD = 3  # differences of each pair
MAX_SHOWN = 60  # characters of what differs
SAID_LAST = (CopyKind.SPELLING, CopyKind.FRAME)  # they make no other text of it


def copy_verdicts(articles: ArticleTable, report: UrlReport) -> dict[int, CopyVerdict]:
    """The verdict on each near-duplicate and similar article of a URL's article, by `url_id`; none on articles that
    the store does not have.
    """
    if report.article is None:
        return {}
    mine = report.article.url_id
    others = dict.fromkeys(one.url_id for one in (*report.near_duplicates, *report.similar))
    found = articles.get([*others, mine])
    texts = {url_id: text_of(stored.article) for url_id, stored in found.items()}
    return {one: verdict_on(texts[mine], texts[one]) for one in others if one in texts} if mine in texts else {}


def text_of(article: Article) -> Text:
    """An article as copies are told by it."""
    return Text(article.title, article.body, article.published)


def verdict_on(mine: Text, other: Text) -> CopyVerdict:
    """The verdict on two articles, with the differences that tell most."""
    verdict = compare(mine, other, TOLD)
    shown = sorted(verdict.differences, key=lambda one: one.kind in SAID_LAST)[:TOLD]
    return CopyVerdict(verdict.why, "; ".join(map(as_said, shown)))


def as_said(one: TextDifference) -> str:
    """`numbers after “held in”: “2016”, there “2017”`."""
    after = f" after “{shortened(one.before)}”" if one.before else ""
    return f"{one.kind}{after}: “{shortened(one.one)}”, there “{shortened(one.other)}”"


def shortened(text: str) -> str:
    """A text as long as a line bears."""
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
