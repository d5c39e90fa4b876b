"""Group the URLs of a host into families by spelling and by position, to detect infinite URL spaces.

    spelled    numbers and ids replaced                        /news/0/0.html     `url_pattern`
    folder     everything in one folder                        /soft404/*         `folder_pattern`
    general    from the first folder that few pages link to    /*                 `FolderStats.general_pattern`

A token has no typical spelling, but it stands where every link has a different part. A folder that several pages link
to is a part of the site. A folder that one page links to may be a token, such as a session id in the path. A query with
one parameter counts by its name; a longer query is ignored.
"""

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from operator import add
from typing import Any

_NUMBER = re.compile(r"[0-9]+")
_TOKEN_OR_UUID = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{13,}|(?<![a-zA-Z])(?=[a-zA-Z]*+[0-9])[0-9a-zA-Z_-]{16,}"
)
_PLAIN_NUMBER = re.compile(r"[0-9]+(?:[-_.][0-9]+)*(?:\.[a-z]{1,5})?")
GENERAL_SUFFIX = " "  # ends the names of general families; no URL contains a space
_MIN_PARENT_PAGES = 3  # pages that link to an established folder
_MIN_PAGES_READ = 20  # or pages read in it
_MAX_FOLDERS = 5000


@lru_cache(maxsize=65_536)
def url_pattern(url: str) -> str:
    """Replace numbers and ids in a URL, in lower case.

    Keeps the name of a single query parameter, drops longer queries.
    """
    path, _, query = url.split("/", 3)[3].partition("?")
    return "/" + _NUMBER.sub("0", _TOKEN_OR_UUID.sub("0", path)).lower() + _query_suffix(query)


@lru_cache(maxsize=65_536)
def folder_pattern(url: str) -> str:
    """Return the folder of a URL as a pattern, such as `/soft404/*`, or "" for the home page."""
    folders, query = _split_path(url)
    return "/" + "".join(f"{folder}/" for folder in folders) + "*" + _query_suffix(query) if folders is not None else ""


@dataclass
class FolderStats:
    """The folders of one host: which pages link to them, and how many of their pages were read. Memory is bounded."""

    parents_by_folder: OrderedDict[str, tuple[str, ...]] = field(default_factory=OrderedDict)
    pages_read_by_folder: OrderedDict[str, int] = field(default_factory=OrderedDict)

    def record_link(self, url: str, parent: str) -> None:
        """Record a link to an unknown URL, found on `parent`."""
        for folder in _ancestor_folders(url):
            existing = self.parents_by_folder.get(folder, ())
            if len(existing) < _MIN_PARENT_PAGES and parent not in existing:
                self.parents_by_folder[folder] = (*existing, parent)
                _evict_oldest(self.parents_by_folder)

    def record_page(self, url: str) -> None:
        """Record a page that was read."""
        for folder in _ancestor_folders(url):
            self.pages_read_by_folder[folder] = self.pages_read_by_folder.get(folder, 0) + 1
            _evict_oldest(self.pages_read_by_folder)

    def _is_established(self, folder: str) -> bool:
        return (
            len(self.parents_by_folder.get(folder, ())) >= _MIN_PARENT_PAGES
            or self.pages_read_by_folder.get(folder, 0) >= _MIN_PAGES_READ
        )

    def general_pattern(self, url: str) -> str:
        """Return the pattern up to a numeric folder or one that few pages link to, or "" if all are established."""
        folders, query = _split_path(url)
        established_folders: list[str] = []
        for folder, folder_path in zip(folders or (), _ancestor_folders(url), strict=True):
            if folder == "0" or not self._is_established(folder_path):
                return "/" + "/".join((*established_folders, "*")) + _query_suffix(query) + GENERAL_SUFFIX
            established_folders.append(folder)
        return ""

    def is_inside(self, url: str, general_pattern: str) -> bool:
        """True if the URL lies in a rarely linked folder at the position where the general pattern varies."""
        folders, _ = _split_path(url)
        prefix_folders = [part for part in general_pattern.partition("*")[0].split("/") if part]
        if (
            folders is None
            or len(folders) <= len(prefix_folders)
            or list(folders[: len(prefix_folders)]) != prefix_folders
        ):
            return False
        return len(self.parents_by_folder.get(_ancestor_folders(url)[len(prefix_folders)], ())) < _MIN_PARENT_PAGES


def _evict_oldest(entries: OrderedDict[str, Any]) -> None:
    if len(entries) > _MAX_FOLDERS:
        entries.popitem(last=False)


@lru_cache(maxsize=65_536)
def _ancestor_folders(url: str) -> tuple[str, ...]:
    """Return the folders of a URL, outermost first."""
    folders, _ = _split_path(url)
    return tuple(accumulate((f"/{folder}" for folder in folders or ()), add))


@lru_cache(maxsize=65_536)
def _split_path(url: str) -> tuple[tuple[str, ...] | None, str]:
    """Split a URL into folders (numbers as 0; None for the home page) and query."""
    path, _, query = url.split("/", 3)[3].partition("?")
    parts = [part for part in path.lower().split("/") if part]
    if not parts and not query:
        return None, ""
    return tuple("0" if _PLAIN_NUMBER.fullmatch(part) else part for part in parts[:-1]), query


def _query_suffix(query: str) -> str:
    if not query:
        return ""
    return "?*" if "&" in query else f"?{query.partition('=')[0].lower()}"
