"""Hosts that nobody has named, and that pages worth keeping often link to: proposed to the operator, never asked.

A footer leads from every page to the same URL; a source is linked at many of its own. So what counts is how many
URLs of a host are linked, and from how many sites. Which hosts the operator took up is kept in `sites.json`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

from crawler.settings import CrawlSettings
from crawler.state_files import read_state, write_state
from crawler.urls.canonical import canonicalize_url, host_of, origin_of
from docstore.errors import SettingsError
from docstore.model import Link, Reason

MAX_EXTERNAL_HOSTS_PER_PAGE = 50  # hosts that one page speaks for
_MAX_HOSTS = 5000
_MAX_LINKING_HOSTS = 20
_MAX_LINKED_URLS = 100
_ADDED_SITES_FILE = "sites.json"


@dataclass(frozen=True)
class HostSuggestion:
    """A host, how many kept pages link to it, to how many of its URLs (up to 100), from how many hosts (up to
    20), and one such link."""

    host: str
    linking_pages: int
    linked_urls: int
    linking_hosts: int
    example_url: str
    example_anchor: str


class HostSuggestionStats:
    """What is known of hosts out of scope. Bounded in memory."""

    def __init__(self, hosts: dict[str, dict[str, Any]]) -> None:
        self._hosts = hosts

    @classmethod
    def load(cls, path: Path) -> "HostSuggestionStats":
        """What earlier runs have met."""
        return cls({host: stats for host, stats in read_state(path).items() if _is_valid_entry(stats)})

    def save(self, path: Path) -> None:
        """Keep it."""
        write_state(path, self._hosts)

    def record_links(self, source: str, links: Iterable[Link]) -> None:
        """A page of the host `source` was kept that has these links out of scope, one a host."""
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
        """The hosts, those first whose URLs are most, each counted for every host that links to it."""
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
        """Add what another process met."""
        for host, other_entry in other._hosts.items():
            own_entry = self._hosts.setdefault(host, {**other_entry, "pages": 0})
            own_entry["pages"] += other_entry["pages"]
            for name, max_length in (("addresses", _MAX_LINKED_URLS), ("sites", _MAX_LINKING_HOSTS)):
                for value in list(other_entry[name]):
                    _append_bounded(own_entry[name], value, max_length)


def load_host_suggestions(folder: Path) -> list[HostSuggestion]:
    """What the crawls of a store, of whose files `folder` has them, propose; without what was added."""
    merged = HostSuggestionStats({})
    for path in sorted(folder.glob("proposed*.json")):
        merged.merge(HostSuggestionStats.load(path))
    added = {host_of(seed) for seed in load_added_seeds(folder)}
    return [suggestion for suggestion in merged.rank_suggestions() if suggestion.host not in added]


def load_added_seeds(folder: Path) -> tuple[str, ...]:
    """The URLs at which the crawl of added hosts begins."""
    return tuple(str(seed) for seed in read_state(folder / _ADDED_SITES_FILE).get("added", ()))


def add_site(folder: Path, text: str) -> str:
    """Take up a host, named so or by a URL of it; where its crawl begins. SettingsError for what is neither."""
    url = canonicalize_url(text if "://" in text else f"http://{text}")
    if isinstance(url, Reason):
        raise SettingsError(f"{text[:200]!r} is neither a host nor an http or https URL")
    seed = origin_of(url) + "/"
    _save_added_seeds(folder, dict.fromkeys((*load_added_seeds(folder), seed)))
    return seed


def remove_site(folder: Path, text: str) -> bool:
    """Give up an added host; False if it was not added. What is known of it stays in the frontier."""
    remaining = [seed for seed in load_added_seeds(folder) if text not in (host_of(seed), seed)]
    was_added = len(remaining) < len(load_added_seeds(folder))
    _save_added_seeds(folder, remaining)
    return was_added


def with_added_sites(settings: CrawlSettings, folder: Path) -> CrawlSettings:
    """The settings with the added hosts among the seeds and in the scope."""
    added = load_added_seeds(folder)
    scope = settings.scope and (*settings.scope, *(host_of(seed) for seed in added))
    return replace(settings, seeds=(*settings.seeds, *added), scope=scope)


def _save_added_seeds(folder: Path, seeds: Iterable[str]) -> None:
    write_state(folder / _ADDED_SITES_FILE, {"added": list(seeds)})


def _append_bounded(values: list[Any], value: Any, max_length: int) -> None:
    if len(values) < max_length and value not in values:
        values.append(value)


def _is_valid_entry(entry: Any) -> bool:
    field_types: Sequence[tuple[str, type]] = (
        *(("pages", int), ("addresses", list), ("sites", list)),
        *(("example", str), ("anchor", str)),
    )
    return isinstance(entry, dict) and all(isinstance(entry.get(name), kind) for name, kind in field_types)
