"""Pages whose siblings under one pattern of URLs are lists.

    /tags/oil/  /tags/gas/page/2/  /archives/2018/02/      /tags/*/  /tags/*/page/#/  /archives/#/#/

Of each page it is kept what speaks for it by itself, and of each pattern how many of its pages are lists. A page that
nothing vouches for is a list where nearly all pages of its pattern are; it is an article again as soon as they are not.
Counts are kept up to date page by page, so that the answer is a matter of the pages known, never of their order.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, Select, delete, select

from docstore.database import Database
from docstore.model import line_hash
from docstore.schema.article_tables import page_kinds, url_patterns

MIN_LISTS = 8  # fewer pages of a pattern are no habit
MAX_OTHERS = 0.2  # of the lists of a pattern may be as many pages that are none
LONGEST = 6  # steps of a path that make a pattern; of a deeper one the last
NUMBER = re.compile(r"\d+")
PAGE_STEP = re.compile(r"(?:page|p|seite|index)[-_/]?\d+", re.IGNORECASE)
ENDING = re.compile(r"\.\w{1,5}$")


Counts = tuple[int, int]  # pages of a pattern that are lists, pages that are not


class ListEvidence(IntEnum):
    """What a page is by itself."""

    LIST = 0
    UNVOUCHED = 1  # an article, by nothing but the text on it
    VOUCHED = 2


@dataclass(frozen=True)
class Sibling:
    """A page among those of its pattern. `is_list`: by itself, or because its text is another page's."""

    url_id: int
    pattern: int
    evidence: ListEvidence
    is_list: bool


def pattern_of(url: str) -> str:
    """What the URL of a page has in common with those of its siblings: `host/tags/*/`.

    A number is `#`; the step before a page's number, or else the last one, is `*`, but for the days of an archive.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path, query = unquote(parts.path), re.sub(r"=[^&]*", "=*", parts.query)
    steps = [step for step in path.split("/") if step]
    name = place_of_name(steps)
    shown = [general(step, place == name) for place, step in enumerate(steps)]
    tail = "/" if path.endswith("/") else ""
    return "/".join([parts.netloc, *shown[-LONGEST:]]) + tail + (f"?{query}" if query else "")


def place_of_name(steps: Sequence[str]) -> int:
    """Which step of a path is a page's own; -1 for none."""
    last = len(steps) - 1
    if PAGE_STEP.fullmatch("/".join(steps[-2:])):
        return last - 2
    if PAGE_STEP.fullmatch("".join(steps[-1:])):
        return last - 1
    return -1 if last > 0 and steps[last].isdecimal() and steps[last - 1].isdecimal() else last


def general(step: str, is_name: bool) -> str:
    """A step of a path without what tells siblings apart."""
    if not is_name:
        return NUMBER.sub("#", step)
    ending = ENDING.search(step)
    return "*" + (ending[0] if ending else "")


def is_list_pattern(lists: int, others: int) -> bool:
    """Are the pages of a pattern lists?"""
    return lists >= MIN_LISTS and others <= MAX_OTHERS * lists


def known_siblings(connection: Connection, url_ids: Iterable[int]) -> dict[int, Sibling]:
    """What was kept of pages."""
    query = select(page_kinds).where(page_kinds.c.url_id.in_(list(url_ids)))
    return {
        row.url_id: Sibling(row.url_id, row.pattern, ListEvidence(row.evidence), bool(row.is_list))
        for row in connection.execute(query)
    }


def sibling_of(url_id: int, url: str, evidence: ListEvidence) -> Sibling:
    """A page as it is by itself."""
    return Sibling(url_id, line_hash(pattern_of(url)), evidence, evidence is ListEvidence.LIST)


def replace_siblings(
    database: Database, connection: Connection, old: Mapping[int, Sibling], new: Mapping[int, Sibling]
) -> list[int]:
    """Keep the siblings `new` in place of `old`; returns the patterns that turned to lists or back."""
    gone = {url_id: one for url_id, one in old.items() if new.get(url_id) != one}
    come = {url_id: one for url_id, one in new.items() if old.get(url_id) != one}
    changes: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for siblings, one in ((gone, -1), (come, 1)):
        for sibling in siblings.values():
            changes[sibling.pattern][not sibling.is_list] += one
    connection.execute(delete(page_kinds).where(page_kinds.c.url_id.in_(old.keys() - new.keys())))
    rows = [{**vars(sibling), "is_list": int(sibling.is_list)} for sibling in come.values()]
    database.upsert(connection, page_kinds, rows, update=("pattern", "evidence", "is_list"))
    before = counts_of(connection, changes)
    after = {key: (before[key][0] + lists, before[key][1] + others) for key, (lists, others) in changes.items()}
    counted = [{"pattern": key, "lists": lists, "others": others} for key, (lists, others) in after.items()]
    database.upsert(connection, url_patterns, counted, update=("lists", "others"))
    return [key for key in changes if is_list_pattern(*before[key]) != is_list_pattern(*after[key])]


def counts_of(connection: Connection, patterns: Iterable[int]) -> dict[int, Counts]:
    """How many pages of patterns are lists, and how many are not."""
    keys = list(patterns)
    query = select(url_patterns).where(url_patterns.c.pattern.in_(keys))
    counted = {row.pattern: (row.lists, row.others) for row in connection.execute(query)}
    return dict.fromkeys(keys, (0, 0)) | counted


def is_among_lists(connection: Connection, url_id: int) -> bool:
    """Does nothing vouch for a page, and are its siblings lists?"""
    query = (
        select(url_patterns.c.lists, url_patterns.c.others)
        .join(page_kinds, page_kinds.c.pattern == url_patterns.c.pattern)
        .where(page_kinds.c.url_id == url_id, page_kinds.c.evidence == ListEvidence.UNVOUCHED)
    )
    row = connection.execute(query).first()
    return row is not None and is_list_pattern(row.lists, row.others)


def unvouched(patterns: Iterable[int]) -> Select[int]:
    """The pages of patterns that are what their siblings are."""
    return (
        select(page_kinds.c.url_id)
        .where(page_kinds.c.pattern.in_(list(patterns)), page_kinds.c.evidence == ListEvidence.UNVOUCHED)
        .order_by(page_kinds.c.url_id)
    )
