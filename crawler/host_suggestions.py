"""Suggest hosts outside the scope that saved pages often link to. The crawl does not fetch them.

A host ranks by the number of its linked URLs and of linking hosts. A footer link repeats one URL on every page and
therefore counts little. `sites.json` contains the hosts that the administrator added.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

from crawler.rendered_sites import with_rendered_hosts
from crawler.settings import CrawlSettings
from crawler.state_files import parse_state, read_state, write_state, write_state_or_raise
from crawler.urls.canonical import canonicalize_url, host_of, url_origin
from domain.errors import SettingsError
from domain.outcome import Reason
from domain.page import Link

MAX_EXTERNAL_HOSTS_PER_PAGE = 50  # hosts counted per page
_MAX_HOSTS = 5000
_MAX_LINKING_HOSTS = 20
_MAX_LINKED_URLS = 100
ADDED_SITES_FILE = "sites.json"


@dataclass(frozen=True)
class HostSuggestion:
    """A suggested host with its link counts and one example link.

    Attributes:
        linking_pages: saved pages that link to the host.
        linked_urls: different URLs of the host that are linked, at most 100.
        linking_hosts: different hosts that link to it, at most 20.
    """

    host: str
    linking_pages: int
    linked_urls: int
    linking_hosts: int
    example_url: str
    example_anchor: str


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
    """Merge the suggestions in `folder`, one file for each process of earlier programs, without the added hosts."""
    merged = HostSuggestionStats({})
    for path in sorted(folder.glob("proposed*.json")):
        merged.merge(HostSuggestionStats.load(path))
    added = {host_of(seed) for seed in load_added_seeds(folder)}
    return [suggestion for suggestion in merged.rank_suggestions() if suggestion.host not in added]


def load_added_seeds(folder: Path) -> tuple[str, ...]:
    """Return the seed URLs of the added hosts."""
    return tuple(str(seed) for seed in read_state(folder / ADDED_SITES_FILE).get("added", ()))


def add_site(folder: Path, text: str) -> str:
    """Add a host, given by name or URL. Returns its seed URL.

    Raises SettingsError for other text, and if the list of added hosts is damaged or cannot be written.
    """
    url = canonicalize_url(text if "://" in text else f"http://{text}")
    if isinstance(url, Reason):
        raise SettingsError(f"{text[:200]!r} is neither a host nor an http or https URL")
    seed = url_origin(url) + "/"
    _save_added_seeds(folder, dict.fromkeys((*load_added_seeds(folder), seed)))
    return seed


def remove_site(folder: Path, text: str) -> bool:
    """Remove an added host. Returns False if it was not added. Its URLs stay in the frontier.

    Raises SettingsError if the list of added hosts is damaged or cannot be written.
    """
    added = load_added_seeds(folder)
    remaining = [seed for seed in added if text not in (host_of(seed), seed)]
    _save_added_seeds(folder, remaining)
    return len(remaining) < len(added)


def with_added_sites(settings: CrawlSettings, folder: Path) -> CrawlSettings:
    """Return the settings with the added hosts in the seeds and the scope, and the hosts to render in `rendered`."""
    settings, added = with_rendered_hosts(settings, folder), load_added_seeds(folder)
    scope = settings.scope and (*settings.scope, *(host_of(seed) for seed in added))
    return replace(settings, seeds=(*settings.seeds, *added), scope=scope)


def _save_added_seeds(folder: Path, seeds: Iterable[str]) -> None:
    """Replace the list of added hosts, which no crawl collects again. A damaged list is not overwritten."""
    path = folder / ADDED_SITES_FILE
    try:
        if path.exists():
            parse_state(path.read_bytes())
        write_state_or_raise(path, {"added": list(seeds)})
    except (OSError, ValueError) as error:
        raise SettingsError(
            "The list of added hosts (sites.json) cannot be changed: {error}. `plumb check --repair` "
            "restores a damaged file.",
            error=str(error),
        ) from error


def _append_bounded(values: list[Any], value: Any, max_length: int) -> None:
    if len(values) < max_length and value not in values:
        values.append(value)


def _is_valid_entry(entry: Any) -> bool:
    field_types: Sequence[tuple[str, type]] = (
        *(("pages", int), ("addresses", list), ("sites", list)),
        *(("example", str), ("anchor", str)),
    )
    return isinstance(entry, dict) and all(isinstance(entry.get(name), kind) for name, kind in field_types)
