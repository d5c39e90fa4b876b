"""Which URLs of a host belong together, by spelling and by position: what a trap would make without end.

    spelled    numbers and ids taken out                       /news/0/0.html     `pattern_of`
    folder     whatever stands last, in one folder             /soft404/*         `folder_of`
    general    up to a folder that hardly any page leads into  /*                 `Folders.general`

A token needs no spelling: it stands where something else stands in every link. A folder that the links of several
pages lead into is a part of the site; one that a single page leads into may be a token as well (a session id in the
path). Of a query the name counts, of a longer one nothing.
"""

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from operator import add
from typing import Any

_NUMBER = re.compile(r"[0-9]+")
_ID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{13,}|(?=[a-zA-Z]*[0-9])[0-9a-zA-Z_-]{16,}")
_PLAIN_NUMBER = re.compile(r"[0-9]+(?:[-_.][0-9]+)*(?:\.[a-z]{1,5})?")
GENERAL = " "  # ends the names of general families: no URL has one
_PARENTS = 3  # pages that lead into a folder of the site
_PAGES = 20  # or are read in it
_MAX_FOLDERS = 5000


@lru_cache(maxsize=65_536)
def pattern_of(url: str) -> str:
    """A URL with its numbers and ids taken out, in small letters; of a query the name, of a longer one nothing."""
    path, _, query = url.split("/", 3)[3].partition("?")
    return "/" + _NUMBER.sub("0", _ID.sub("0", path)).lower() + _asked(query)


@lru_cache(maxsize=65_536)
def folder_of(url: str) -> str:
    """The folder of a URL with anything in it, as `/soft404/*`; "" for the home page."""
    folders, query = _folders(url)
    return "/" + "".join(f"{one}/" for one in folders) + "*" + _asked(query) if folders is not None else ""


@dataclass
class Folders:
    """The folders of one host: which pages lead into them, and how many of their pages were read. Bounded in memory."""

    parents: OrderedDict[str, tuple[str, ...]] = field(default_factory=OrderedDict)
    read: OrderedDict[str, int] = field(default_factory=OrderedDict)

    def led_into(self, url: str, parent: str) -> None:
        """A link to a URL that nobody knew stands on `parent`."""
        for folder in _above(url):
            known = self.parents.get(folder, ())
            if len(known) < _PARENTS and parent not in known:
                self.parents[folder] = (*known, parent)
                _shorten(self.parents)

    def page(self, url: str) -> None:
        """A page was read."""
        for folder in _above(url):
            self.read[folder] = self.read.get(folder, 0) + 1
            _shorten(self.read)

    def _is_part(self, folder: str) -> bool:
        return len(self.parents.get(folder, ())) >= _PARENTS or self.read.get(folder, 0) >= _PAGES

    def general(self, url: str) -> str:
        """The folder of a URL up to a number or a part that few pages lead into; "" where all are parts of the
        site."""
        folders, query = _folders(url)
        shown: list[str] = []
        for folder, above in zip(folders or (), _above(url), strict=True):
            if folder == "0" or not self._is_part(above):
                return "/" + "/".join((*shown, "*")) + _asked(query) + GENERAL
            shown.append(folder)
        return ""

    def lies_in(self, url: str, general: str) -> bool:
        """Does a URL lie in a folder that few pages lead into, where a general family begins to vary?"""
        folders, _ = _folders(url)
        before = [part for part in general.partition("*")[0].split("/") if part]
        if folders is None or len(folders) <= len(before) or list(folders[: len(before)]) != before:
            return False
        return len(self.parents.get(_above(url)[len(before)], ())) < _PARENTS


def _shorten(known: OrderedDict[str, Any]) -> None:
    if len(known) > _MAX_FOLDERS:
        known.popitem(last=False)


@lru_cache(maxsize=65_536)
def _above(url: str) -> tuple[str, ...]:
    """The folders that a URL is in, the outermost first."""
    folders, _ = _folders(url)
    return tuple(accumulate((f"/{folder}" for folder in folders or ()), add))


@lru_cache(maxsize=65_536)
def _folders(url: str) -> tuple[tuple[str, ...] | None, str]:
    """The parts of the path but the last, numbers as 0 (None for the home page), and the query."""
    path, _, query = url.split("/", 3)[3].partition("?")
    parts = [part for part in path.lower().split("/") if part]
    if not parts and not query:
        return None, ""
    return tuple("0" if _PLAIN_NUMBER.fullmatch(part) else part for part in parts[:-1]), query


def _asked(query: str) -> str:
    if not query:
        return ""
    return "?*" if "&" in query else f"?{query.partition('=')[0].lower()}"
