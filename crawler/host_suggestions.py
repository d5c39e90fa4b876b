"""Suggest hosts outside the scope that saved pages often link to. The crawl does not fetch them.

A host ranks by the number of its linked URLs and of linking hosts. A footer link repeats one URL on every page and
therefore counts little.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from crawler.state_files import read_state, write_state
from crawler.urls.canonical import host_of
from domain.administration import HostSuggestion
from domain.page import Link

MAX_EXTERNAL_HOSTS_PER_PAGE = 50  # hosts counted per page
_MAX_HOSTS = 5000
_MAX_LINKING_HOSTS = 20
_MAX_LINKED_URLS = 100


class HostSuggestionStats:
    """Link counts of hosts out of scope. Memory is bounded."""

    def __init__(self, hosts: dict[str, dict[str, Any]]) -> None:
        self._hosts = hosts

    @classmethod
    def load(cls, path: Path) -> "HostSuggestionStats":
        """Load the counts of earlier runs."""
        return cls({host: stats for host, stats in read_state(path).items() if _is_valid_entry(stats)})

    def save(self, path: Path) -> None:
        """Save the counts to the file `path`."""
        write_state(path, self._hosts)

    def record_links(self, source: str, links: Iterable[Link]) -> None:
        """Count the links out of scope of a saved page. `source` is its host; `links` has at most one link per host."""
        for link in links:
            host = host_of(link.url)
            empty_entry = {"pages": 0, "addresses": [], "sites": [], "example": link.url, "anchor": link.anchor}
            entry = self._hosts.setdefault(host, empty_entry)
            entry["pages"] += 1
            _append_bounded(entry["addresses"], crc32(link.url.encode()), _MAX_LINKED_URLS)
            _append_bounded(entry["sites"], source, _MAX_LINKING_HOSTS)
        if len(self._hosts) > _MAX_HOSTS:
            best = sorted(self._hosts.items(), key=lambda item: -item[1]["pages"])
            self._hosts = dict(best[: _MAX_HOSTS // 2])

    def rank_suggestions(self) -> list[HostSuggestion]:
        """Return all hosts, ranked by linked URLs times linking hosts, then by linking pages."""
        suggestions = [
            HostSuggestion(
                host, stats["pages"], len(stats["addresses"]), len(stats["sites"]), stats["example"], stats["anchor"]
            )
            for host, stats in self._hosts.items()
        ]
        return sorted(
            suggestions, key=lambda stats: (-stats.linked_urls * stats.linking_hosts, -stats.linking_pages, stats.host)
        )

    def merge(self, other: "HostSuggestionStats") -> None:
        """Add the counts of another process."""
        for host, other_entry in other._hosts.items():
            own_entry = self._hosts.setdefault(host, {**other_entry, "pages": 0})
            own_entry["pages"] += other_entry["pages"]
            for name, max_length in (("addresses", _MAX_LINKED_URLS), ("sites", _MAX_LINKING_HOSTS)):
                for value in list(other_entry[name]):
                    _append_bounded(own_entry[name], value, max_length)


def load_host_suggestions(folder: Path) -> list[HostSuggestion]:
    """Merge the suggestions in `folder`, one file for each process of earlier programs, best first."""
    merged = HostSuggestionStats({})
    for path in sorted(folder.glob("proposed*.json")):
        merged.merge(HostSuggestionStats.load(path))
    return merged.rank_suggestions()


def _append_bounded(values: list[Any], value: Any, max_length: int) -> None:
    if len(values) < max_length and value not in values:
        values.append(value)


def _is_valid_entry(entry: Any) -> bool:
    field_types: Sequence[tuple[str, type]] = (
        *(("pages", int), ("addresses", list), ("sites", list)),
        *(("example", str), ("anchor", str)),
    )
    return isinstance(entry, dict) and all(isinstance(entry.get(name), kind) for name, kind in field_types)
