"""Pages that are lists because nearly all pages of their URL pattern are lists.

    /tags/oil/  /tags/gas/page/2/  /archives/2018/02/      /tags/*/  /tags/*/page/#/  /archives/#/#/

The store contains the evidence of each page, and the number of lists and other pages of each pattern. A page that is
not a declared article is a list if nearly all pages of its pattern are lists. It becomes an article again when they no
longer are. Counts are updated per page, so the result depends on the known pages only, never on their order.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, Select, delete, select

from docstore.database import Database
from docstore.schema.article_tables import pattern_members, url_pattern_counts
from domain.article import text_hash64

MIN_LIST_PAGES = 8  # lists in a pattern before it decides about other pages
MAX_NON_LIST_RATIO = 0.2  # other pages of a pattern per list
MAX_PATTERN_SEGMENTS = 6  # a longer path is represented by its last segments
DIGITS = re.compile(r"\d+")
PAGE_NUMBER_SEGMENT = re.compile(r"(?:page|p|seite|index)[-_/]?\d+", re.IGNORECASE)
FILE_EXTENSION = re.compile(r"\.\w{1,5}$")


class ListEvidence(IntEnum):
    """Evidence of a page itself about its role."""

    LIST = 0
    UNDECLARED_ARTICLE = 1  # has article text, but no markup that declares an article
    DECLARED_ARTICLE = 2


@dataclass(frozen=True)
class PatternMember:
    """A page as a member of its URL pattern.

    `is_list`: a list by its own evidence, or because its text is another page's.
    """

    url_id: int
    pattern: int
    evidence: ListEvidence
    is_list: bool


def url_pattern(url: str) -> str:
    """Return the pattern of a URL, such as `host/tags/*/`, which the page shares with its siblings.

    Numbers become `#`. The segment that names the page (the last one, or the one before a page number) becomes `*`,
    except for the days of an archive.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path, query = unquote(parts.path), re.sub(r"=[^&]*", "=*", parts.query)
    segments = [segment for segment in path.split("/") if segment]
    own_index = own_segment_index(segments)
    pattern_segments = [generalize_segment(segment, index == own_index) for index, segment in enumerate(segments)]
    tail = "/" if path.endswith("/") else ""
    return "/".join([parts.netloc, *pattern_segments[-MAX_PATTERN_SEGMENTS:]]) + tail + (f"?{query}" if query else "")


def own_segment_index(segments: Sequence[str]) -> int:
    """Return the index of the path segment that names the page; -1 if there is none."""
    last_index = len(segments) - 1
    if PAGE_NUMBER_SEGMENT.fullmatch("/".join(segments[-2:])):
        return last_index - 2
    if PAGE_NUMBER_SEGMENT.fullmatch("".join(segments[-1:])):
        return last_index - 1
    return (
        -1
        if last_index > 0 and segments[last_index].isdecimal() and segments[last_index - 1].isdecimal()
        else last_index
    )


def generalize_segment(segment: str, is_name: bool) -> str:
    """Replace the variable part of a path segment: the whole name if `is_name`, otherwise the digits."""
    if not is_name:
        return DIGITS.sub("#", segment)
    extension = FILE_EXTENSION.search(segment)
    return "*" + (extension[0] if extension else "")


def is_list_pattern(list_count: int, other_count: int) -> bool:
    """True if a pattern with these counts is a pattern of lists."""
    return list_count >= MIN_LIST_PAGES and other_count <= MAX_NON_LIST_RATIO * list_count


def new_member(url_id: int, url: str, evidence: ListEvidence) -> PatternMember:
    """Return the pattern member of a page by its own evidence."""
    return PatternMember(url_id, text_hash64(url_pattern(url)), evidence, evidence is ListEvidence.LIST)


def replace_members(
    database: Database,
    connection: Connection,
    old_members: Mapping[int, PatternMember],
    new_members: Mapping[int, PatternMember],
) -> list[int]:
    """Replace the stored pattern members `old_members` by `new_members`, and update the counts of their patterns.

    Returns:
        Patterns (hashes) that became list patterns or stopped being list patterns.
    """
    removed_members = {url_id: member for url_id, member in old_members.items() if new_members.get(url_id) != member}
    added_members = {url_id: member for url_id, member in new_members.items() if old_members.get(url_id) != member}
    count_changes: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for members, change in ((removed_members, -1), (added_members, 1)):
        for member in members.values():
            count_changes[member.pattern][not member.is_list] += change
    connection.execute(
        delete(pattern_members).where(pattern_members.c.url_id.in_(old_members.keys() - new_members.keys()))
    )
    rows = [{**vars(member), "is_list": int(member.is_list)} for member in added_members.values()]
    database.upsert(connection, pattern_members, rows)
    query = select(url_pattern_counts).where(url_pattern_counts.c.pattern.in_(list(count_changes)))
    stored_counts = {row.pattern: (row.lists, row.others) for row in connection.execute(query)}
    counts_before = dict.fromkeys(count_changes, (0, 0)) | stored_counts
    counts_after = {
        key: (counts_before[key][0] + list_count, counts_before[key][1] + other_count)
        for key, (list_count, other_count) in count_changes.items()
    }
    count_rows = [
        {"pattern": key, "lists": list_count, "others": other_count}
        for key, (list_count, other_count) in counts_after.items()
    ]
    database.upsert(connection, url_pattern_counts, count_rows)
    return [key for key in count_changes if is_list_pattern(*counts_before[key]) != is_list_pattern(*counts_after[key])]


def is_in_list_pattern(connection: Connection, url_id: int) -> bool:
    """True if a page is not a declared article and its URL pattern is a pattern of lists."""
    query = (
        select(url_pattern_counts.c.lists, url_pattern_counts.c.others)
        .join(pattern_members, pattern_members.c.pattern == url_pattern_counts.c.pattern)
        .where(pattern_members.c.url_id == url_id, pattern_members.c.evidence == ListEvidence.UNDECLARED_ARTICLE)
    )
    row = connection.execute(query).first()
    return row is not None and is_list_pattern(row.lists, row.others)


def undeclared_pages_query(patterns: Iterable[int]) -> Select[int]:
    """Query for the url_ids of the undeclared articles of these patterns; their role follows the pattern."""
    return (
        select(pattern_members.c.url_id)
        .where(
            pattern_members.c.pattern.in_(list(patterns)), pattern_members.c.evidence == ListEvidence.UNDECLARED_ARTICLE
        )
        .order_by(pattern_members.c.url_id)
    )
