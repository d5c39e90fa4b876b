"""All information about one URL from the store, the focused crawl and Solr, with its JSON form."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from docstore.articles.article_table import ArticleTable
from docstore.reports.url_report import UrlReport
from pipeline.local_time import local_time
from text.similarity.duplicates import ComparedArticle, DifferenceKind, TextDifference
from text.similarity.duplicates import compare_articles as compare

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)

MAX_TEXT_LENGTH = 160  # characters; longer texts are cut
MAX_DIFFERENCES = 3  # per pair of articles
MAX_DIFFERENCE_CHARS = 60  # of each differing text
MINOR_KINDS = (DifferenceKind.SPELLING, DifferenceKind.BOILERPLATE)  # do not distinguish two texts
TopicRows = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class CopyVerdict:
    """The verdict on whether another article is a duplicate, and the main differences."""

    verdict: str
    differences: str


@dataclass(frozen=True)
class UrlExplanation:
    """Information about one URL.

    `report` is None if the URL is unknown. `topic_rows` is empty without a focused crawl. `solr_document` is None if
    Solr has no document. `verdicts` contains the verdicts on near-duplicates and similar articles, by `url_id`.
    `solr_error` is why Solr was not asked, or "".
    """

    report: UrlReport | None
    topic_rows: TopicRows = field(default_factory=dict)
    solr_document: Mapping[str, Any] | None = None
    verdicts: Mapping[int, CopyVerdict] = field(default_factory=dict)
    solr_error: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the rows of each part, with readable times and shortened texts.

        Parts of the store have the names of its tables.
        """
        rows_by_part: dict[str, Any] = {}
        if self.report is not None:
            rows_by_part |= {
                name: [readable_row(row) for row in rows] for name, rows in self._store_rows(self.report).items()
            }
        rows_by_part |= {name: [readable_row(row) for row in rows] for name, rows in self.topic_rows.items()}
        if self.report is not None and self.report.indexed is not None:
            rows_by_part["solr"] = [readable_row(self.solr_document)] if self.solr_document else []
        return rows_by_part

    def _store_rows(self, report: UrlReport) -> dict[str, list[dict[str, Any]]]:
        return {
            "urls": dataclass_rows([report.url_row]),
            "pages": dataclass_rows([report.page]),
            "outcomes": dataclass_rows(report.outcomes),
            "articles": dataclass_rows([report.article]),
            "ties": dataclass_rows(report.ties),
            "changes": dataclass_rows(report.changes),
            "indexed": dataclass_rows([report.indexed]),
            "found_on": [{"url": report.found_on}] if report.found_on else [],
            "parts": dataclass_rows(report.parts),
            "near_duplicates": [
                asdict(duplicate) | self._verdict_row(duplicate.url_id) for duplicate in report.near_duplicates
            ],
            "similar": [
                asdict(duplicate) | self._verdict_row(duplicate.url_id) for duplicate in report.similar_articles
            ],
        }

    def _verdict_row(self, url_id: int) -> dict[str, str]:
        return asdict(self.verdicts[url_id]) if url_id in self.verdicts else {}


def dataclass_rows(parts: "Iterable[DataclassInstance | None]") -> list[dict[str, Any]]:
    """Convert dataclasses to dictionaries, without the None entries."""
    return [asdict(part) for part in parts if part is not None]


def readable_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with readable times and shortened texts."""
    return {key: readable_value(key, value) for key, value in row.items()}


def readable_value(key: str, value: Any) -> Any:
    """Format times and bytes, and shorten long texts."""
    if value and (key.endswith("_at") or key == "at") and isinstance(value, int | float):
        return local_time(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return one_line_text(value) if isinstance(value, str) else value


def one_line_text(text: str) -> str:
    """Join a text to one line and shorten it to MAX_TEXT_LENGTH characters."""
    single_line = " ".join(text.replace("\u200b", "|").split())
    return (
        single_line
        if len(single_line) <= MAX_TEXT_LENGTH
        else f"{single_line[:MAX_TEXT_LENGTH]}... ({len(text)} characters)"
    )


def readable(row: "Row") -> "Row":
    """Return a dataclass with each text joined to one line and shortened."""
    return replace(row, **{name: one_line_text(value) for name, value in vars(row).items() if isinstance(value, str)})


def copy_verdicts(articles: ArticleTable, report: UrlReport) -> dict[int, CopyVerdict]:
    """Compare a URL's article with each near-duplicate and similar article. Returns the verdicts by `url_id`.

    Articles that the store does not have are omitted.
    """
    if report.article is None:
        return {}
    article_id = report.article.url_id
    other_ids = dict.fromkeys(other_id.url_id for other_id in (*report.near_duplicates, *report.similar_articles))
    stored_articles = articles.load_by_url_ids([*other_ids, article_id])
    texts: dict[int, ComparedArticle] = {}
    for url_id, stored_article in stored_articles.items():
        article = stored_article.article
        texts[url_id] = ComparedArticle(article.title, article.body, article.published)
    return (
        {other_id: compare_articles(texts[article_id], texts[other_id]) for other_id in other_ids if other_id in texts}
        if article_id in texts
        else {}
    )


def compare_articles(text: ComparedArticle, other: ComparedArticle) -> CopyVerdict:
    """Compare two articles. The verdict lists the most significant differences."""
    verdict = compare(text, other, MAX_DIFFERENCES)
    main_differences = sorted(verdict.differences, key=lambda difference: difference.kind in MINOR_KINDS)[
        :MAX_DIFFERENCES
    ]
    return CopyVerdict(verdict.reason, "; ".join(map(describe_difference, main_differences)))


def describe_difference(difference: TextDifference) -> str:
    """Format a difference: `numbers after “held in”: “2016”, other “2017”`."""
    after = f" after “{truncate(difference.context)}”" if difference.context else ""
    return f"{difference.kind}{after}: “{truncate(difference.left)}”, other “{truncate(difference.right)}”"


def truncate(text: str) -> str:
    """Shorten a text to MAX_DIFFERENCE_CHARS characters."""
    return text if len(text) <= MAX_DIFFERENCE_CHARS else text[:MAX_DIFFERENCE_CHARS] + "…"
