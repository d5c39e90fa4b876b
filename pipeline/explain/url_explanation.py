"""All information about one URL from the store, the focused crawl and Solr, with its JSON form."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from docstore.reports.url_report import UrlReport
from pipeline.local_time import local_time

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)

MAX_TEXT_LENGTH = 160  # characters; longer texts are cut
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
    """

    report: UrlReport | None
    topic_rows: TopicRows = field(default_factory=dict)
    solr_document: Mapping[str, Any] | None = None
    verdicts: Mapping[int, CopyVerdict] = field(default_factory=dict)

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
