"""All that is known of one URL, from the store, the topic's crawl and Solr; and its rows as JSON can hold them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from docstore.reports.url_report import UrlReport
from pipeline.local_time import local_time

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)

MAX_SHOWN = 160  # characters of a text
TopicRows = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class CopyVerdict:
    """Why another article is a copy of this one or not, and the differences that this rests on."""

    verdict: str
    differences: str


@dataclass(frozen=True)
class UrlExplanation:
    """`store` is None for a URL that was never seen; `topic` is empty where no crawl looked for one; `solr` is None
    where Solr has no document. `verdicts` are those on near-duplicates and similar articles, by `url_id`.
    """

    store: UrlReport | None
    topic: TopicRows = field(default_factory=dict)
    solr: Mapping[str, Any] | None = None
    verdicts: Mapping[int, CopyVerdict] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Part -> its rows, with readable times and cut texts. Parts of the store are named as its tables."""
        answer: dict[str, Any] = {}
        if self.store is not None:
            answer |= {name: [shown_row(row) for row in rows] for name, rows in self._store_rows(self.store).items()}
        answer |= {name: [shown_row(row) for row in rows] for name, rows in self.topic.items()}
        if self.store is not None and self.store.indexed is not None:
            answer["solr"] = [shown_row(self.solr)] if self.solr else []
        return answer

    def _store_rows(self, told: UrlReport) -> dict[str, list[dict[str, Any]]]:
        return {
            "urls": as_rows([told.row]),
            "pages": as_rows([told.page]),
            "outcomes": as_rows(told.outcomes),
            "articles": as_rows([told.article]),
            "ties": as_rows(told.ties),
            "changes": as_rows(told.changes),
            "indexed": as_rows([told.indexed]),
            "found_on": [{"url": told.found_on}] if told.found_on else [],
            "parts": as_rows(told.parts),
            "near_duplicates": [asdict(one) | self._verdict_row(one.url_id) for one in told.near_duplicates],
            "similar": [asdict(one) | self._verdict_row(one.url_id) for one in told.similar],
        }

    def _verdict_row(self, url_id: int) -> dict[str, str]:
        return asdict(self.verdicts[url_id]) if url_id in self.verdicts else {}


def as_rows(parts: "Iterable[DataclassInstance | None]") -> list[dict[str, Any]]:
    """Dataclasses as dictionaries, without those that are None."""
    return [asdict(one) for one in parts if one is not None]


def shown_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its times readable and its long texts cut."""
    return {key: shown_value(key, value) for key, value in row.items()}


def shown_value(key: str, value: Any) -> Any:
    """A value as a person reads it."""
    if value and (key.endswith("_at") or key == "at") and isinstance(value, int | float):
        return local_time(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return shown_text(value) if isinstance(value, str) else value


def shown_text(text: str) -> str:
    """A text in one line, cut where it is long."""
    flat = " ".join(text.replace("\u200b", "|").split())
    return flat if len(flat) <= MAX_SHOWN else f"{flat[:MAX_SHOWN]}... ({len(text)} characters)"


def legible(row: "Row") -> "Row":
    """A dataclass with its texts in one line each, cut where they are long."""
    return replace(row, **{name: shown_text(value) for name, value in vars(row).items() if isinstance(value, str)})
