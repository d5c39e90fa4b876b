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
from crawler.urls.canonical import canonical, host_of, origin_of
from docstore.errors import SettingsError
from docstore.model import Link, Reason

MAX_ABROAD = 50  # hosts that one page speaks for
_MAX_HOSTS = 5000
_MAX_SITES = 20
_MAX_ADDRESSES = 100
_ADDED = "sites.json"


@dataclass(frozen=True)
class HostSuggestion:
    """A host, how many kept pages link to it, to how many of its URLs (up to 100), from how many hosts (up to
    20), and one such link."""

    host: str
    pages: int
    addresses: int
    sites: int
    example: str
    anchor: str


class HostSuggestions:
    """What is known of hosts out of scope. Bounded in memory."""

    def __init__(self, hosts: dict[str, dict[str, Any]]) -> None:
        self._hosts = hosts

    @classmethod
    def load(cls, path: Path) -> "HostSuggestions":
        """What earlier runs have met."""
        return cls({host: one for host, one in read_state(path).items() if _is_whole(one)})

    def save(self, path: Path) -> None:
        """Keep it."""
        write_state(path, self._hosts)

    def linked(self, source: str, links: Iterable[Link]) -> None:
        """A page of the host `source` was kept that has these links out of scope, one a host."""
        for link in links:
            host = host_of(link.url)
            new = {"pages": 0, "addresses": [], "sites": [], "example": link.url, "anchor": link.anchor}
            known = self._hosts.setdefault(host, new)
            known["pages"] += 1
            _remember(known["addresses"], crc32(link.url.encode()), _MAX_ADDRESSES)
            _remember(known["sites"], source, _MAX_SITES)
        if len(self._hosts) > _MAX_HOSTS:
            best = sorted(self._hosts.items(), key=lambda item: -item[1]["pages"])
            self._hosts = dict(best[: _MAX_HOSTS // 2])

    def best(self) -> list[HostSuggestion]:
        """The hosts, those first whose URLs are most, each counted for every host that links to it."""
        found = [
            HostSuggestion(host, one["pages"], len(one["addresses"]), len(one["sites"]), one["example"], one["anchor"])
            for host, one in self._hosts.items()
        ]
        return sorted(found, key=lambda one: (-one.addresses * one.sites, -one.pages, one.host))

    def merge(self, other: "HostSuggestions") -> None:
        """Add what another process met."""
        for host, theirs in other._hosts.items():
            mine = self._hosts.setdefault(host, {**theirs, "pages": 0})
            mine["pages"] += theirs["pages"]
            for name, most in (("addresses", _MAX_ADDRESSES), ("sites", _MAX_SITES)):
                for value in list(theirs[name]):
                    _remember(mine[name], value, most)


def proposed(folder: Path) -> list[HostSuggestion]:
    """What the crawls of a store, of whose files `folder` has them, propose; without what was added."""
    together = HostSuggestions({})
    for path in sorted(folder.glob("proposed*.json")):
        together.merge(HostSuggestions.load(path))
    added = {host_of(seed) for seed in added_sites(folder)}
    return [one for one in together.best() if one.host not in added]


def added_sites(folder: Path) -> tuple[str, ...]:
    """The URLs at which the crawl of added hosts begins."""
    return tuple(str(seed) for seed in read_state(folder / _ADDED).get("added", ()))


def add_site(folder: Path, text: str) -> str:
    """Take up a host, named so or by a URL of it; where its crawl begins. SettingsError for what is neither."""
    url = canonical(text if "://" in text else f"http://{text}")
    if isinstance(url, Reason):
        raise SettingsError(f"{text[:200]!r} is neither a host nor an http or https URL")
    seed = origin_of(url) + "/"
    _keep_added(folder, dict.fromkeys((*added_sites(folder), seed)))
    return seed


def remove_site(folder: Path, text: str) -> bool:
    """Give up an added host; False if it was not added. What is known of it stays in the frontier."""
    kept = [seed for seed in added_sites(folder) if text not in (host_of(seed), seed)]
    was_added = len(kept) < len(added_sites(folder))
    _keep_added(folder, kept)
    return was_added


def with_added(settings: CrawlSettings, folder: Path) -> CrawlSettings:
    """The settings with the added hosts among the seeds and in the scope."""
    added = added_sites(folder)
    scope = settings.scope and (*settings.scope, *(host_of(seed) for seed in added))
    return replace(settings, seeds=(*settings.seeds, *added), scope=scope)


def _keep_added(folder: Path, seeds: Iterable[str]) -> None:
    write_state(folder / _ADDED, {"added": list(seeds)})


def _remember(values: list[Any], value: Any, most: int) -> None:
    if len(values) < most and value not in values:
        values.append(value)


def _is_whole(one: Any) -> bool:
    kinds: Sequence[tuple[str, type]] = (
        *(("pages", int), ("addresses", list), ("sites", list)),
        *(("example", str), ("anchor", str)),
    )
    return isinstance(one, dict) and all(isinstance(one.get(name), kind) for name, kind in kinds)
