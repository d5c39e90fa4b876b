"""Groups of copies: each article stands for itself, or behind the one that it is a copy of.

An article that stands for itself leaves keys in a table: pieces of its signature (bands), and keys of its text. A new
article is compared with those alone that share a key with it, so finding its group costs what is alike, not what exists
(locality-sensitive hashing: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3.4.1). With 21 bands of 6 places
two texts of which a share s is the same are compared with probability 1 - (1 - s^6)^21: .998 at .8, .93 at .7, .28 at
.5, .02 at .3.

What is alike is not yet a copy: the texts themselves decide, as `Grouping.read` reads them. The members of a series (a
price note a day, for years) are all alike, and each stands for itself; so a key that MAX_LEADERS articles have left
already is a mark of a series, and takes no more of them. The keys of the text tell copies from the rest of a series.

Who stands for a group stays so until it changes or goes; then those behind it find a new place, the oldest first.

What is alike and no copy is of one series: an article takes the series of the one that it is most like, or begins one.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from struct import pack
from typing import Any, Protocol

from sqlalchemy import Connection, Row, delete, select, update

from docstore.articles.rows import signature_of
from docstore.batches import batched
from docstore.database import Database
from docstore.grouping.pagination import likeness
from docstore.tables import articles, bands

LIKENESS = 0.6
BAND = 6  # places of a signature in a band
MAX_LEADERS = 16  # that leave the same key
MAX_READ = 16  # candidates whose signatures are read
MAX_COMPARED = 4  # candidates whose texts are
PARAMETERS = 10_000  # of one statement


class Text(Protocol):
    """An article's text as copies are told by it."""

    @property
    def keys(self) -> Sequence[int]:
        """64-bit numbers (signed) of which copies share some, and what is merely alike few or none."""

    def is_copy_of(self, other: Any) -> bool:
        """Is one of the two the other one, published again?"""


@dataclass(frozen=True)
class SameText:
    """A text whose copies have the same title and the same body."""

    title: str
    body: str
    published: str = ""

    @property
    def keys(self) -> Sequence[int]:
        """None: the same text has the same signature."""
        return ()

    def is_copy_of(self, other: "SameText") -> bool:
        """Are title and body the same?"""
        return (self.title, self.body) == (other.title, other.body)


@dataclass(frozen=True)
class Grouping:
    """How copies are told: texts are compared from the `least` likeness on (the estimated Jaccard index of their
    shingles); `read` makes one of title, body and date of publication.
    """

    least: float = LIKENESS
    read: Callable[[str, str, str], Text] = SameText

    def text(self, row: Row[Any]) -> Text:
        """The text of a row with these columns."""
        return self.read(row.title, row.body, row.published)


@dataclass(frozen=True)
class ClusterRole:
    """Where an article stands: behind the `leader` (a `doc_id`; "": it leads itself), in which `series`."""

    leader: str = ""
    series: str = ""


@dataclass(frozen=True)
class Candidate:
    """An article that may be a copy of another: how many keys of the text they share, and how alike they are."""

    url_id: int
    doc_id: str
    series: str
    shared: int
    likeness: float

    @property
    def rank(self) -> tuple[float, ...]:
        """The likeliest comes first; of equals, the oldest."""
        return -self.shared, -self.likeness, self.url_id


def bands_of(signature: Sequence[int]) -> list[int]:
    """The bands of a signature as 64-bit numbers (signed, as databases have them); places over are left out."""
    starts = range(0, len(signature) - BAND + 1, BAND)
    return [band_key(start, signature[start : start + BAND]) for start in starts]


def band_key(start: int, places: Sequence[int]) -> int:
    """One band; equal places elsewhere are another band."""
    packed = pack(f"<{len(places) + 1}I", start, *places)
    return int.from_bytes(hashlib.blake2b(packed, digest_size=8).digest(), "big", signed=True)


def regroup(
    connection: Connection, database: Database, changed: Iterable[int], gone: Sequence[str], grouping: Grouping
) -> list[int]:
    """Find the groups of new or changed articles (url_id), and of those that stood behind them or behind articles that
    are gone (`doc_id`). Returns whose place is another now (url_id).
    """
    ids = list(changed)
    leading = leaders(connection, ids)
    behind = followers(connection, [*gone, *leading.values()])
    first = [url_id for url_id in ids if url_id in leading]  # what led a group has the first claim to lead it
    order = dict.fromkeys([*sorted(first), *sorted({*ids, *behind})])
    before = places(connection, list(order))
    connection.execute(delete(bands).where(bands.c.url_id.in_(ids)))
    moved = []
    for url_id in order:
        now = place(connection, database, url_id, grouping)
        if now != before[url_id]:
            values = {"duplicate_of": now.leader, "series": now.series}
            connection.execute(update(articles).where(articles.c.url_id == url_id).values(values))
            moved.append(url_id)
    return moved


def place(connection: Connection, database: Database, url_id: int, grouping: Grouping) -> ClusterRole:
    """Where an article stands from now on."""
    row = rows_of(connection, [url_id])[url_id]
    signature, text = signature_of(row.signature), grouping.text(row)
    if not signature:
        return ClusterRole()
    keys = {*bands_of(signature), *text.keys}
    shared = sharing(connection, url_id, keys)
    near = candidates(connection, signature, shared, text, grouping.least)[:MAX_COMPARED]
    others = rows_of(connection, [candidate.url_id for candidate in near])
    for candidate in near:
        if text.is_copy_of(grouping.text(others[candidate.url_id])):
            return ClusterRole(candidate.doc_id, candidate.series)
    leaders_of = Counter(key for keys_shared in shared.values() for key in keys_shared)
    free = sorted(key for key in keys if leaders_of[key] < MAX_LEADERS)
    database.upsert(connection, bands, [{"band": key, "url_id": url_id} for key in free])
    return ClusterRole(series=near[0].series if near else series_of(row))


def series_of(row: Row[Any]) -> str:
    """The series that an article begins: another one when its text is another."""
    return hashlib.blake2b(row.doc_id.encode() + row.signature, digest_size=16).hexdigest()


def sharing(connection: Connection, url_id: int, keys: Collection[int]) -> dict[int, list[int]]:
    """The leaders, but for `url_id`, that have left some of `keys`: url_id -> which."""
    found: dict[int, list[int]] = {}
    for row in connection.execute(select(bands).where(bands.c.band.in_(keys), bands.c.url_id != url_id)):
        found.setdefault(row.url_id, []).append(row.band)
    return found


def candidates(
    connection: Connection, signature: Sequence[int], shared: Mapping[int, Sequence[int]], text: Text, least: float
) -> list[Candidate]:
    """Those of the leaders that share keys that are alike, the likeliest first."""
    in_text = {url_id: len(set(text.keys).intersection(keys)) for url_id, keys in shared.items()}
    near = sorted(shared, key=lambda url_id: (-in_text[url_id], -len(shared[url_id]), url_id))[:MAX_READ]
    columns = [articles.c[name] for name in ("url_id", "doc_id", "series", "signature")]
    query = select(*columns).where(articles.c.url_id.in_(near))
    found = [
        Candidate(row.url_id, row.doc_id, row.series or series_of(row), in_text[row.url_id], alike)
        for row in (connection.execute(query) if near else ())
        if (alike := likeness(signature, signature_of(row.signature))) >= least
    ]
    return sorted(found, key=lambda one: one.rank)


def rows_of(connection: Connection, url_ids: Sequence[int]) -> dict[int, Row[Any]]:
    """What articles are compared by."""
    columns = [articles.c[name] for name in ("url_id", "doc_id", "title", "body", "published", "signature")]
    query = select(*columns).where(articles.c.url_id.in_(url_ids))
    return {row.url_id: row for row in connection.execute(query)} if url_ids else {}


def leaders(connection: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """Those of `url_ids` that stand for themselves and left keys: url_id -> doc_id."""
    known = select(bands.c.url_id).where(bands.c.url_id.in_(url_ids))
    query = select(articles.c.url_id, articles.c.doc_id).where(articles.c.url_id.in_(known))
    return {row.url_id: row.doc_id for row in connection.execute(query)}


def followers(connection: Connection, doc_ids: Sequence[str]) -> list[int]:
    """The articles that stand behind `doc_ids`."""
    return list(connection.scalars(select(articles.c.url_id).where(articles.c.duplicate_of.in_(doc_ids))))


def places(connection: Connection, url_ids: Sequence[int]) -> dict[int, ClusterRole]:
    """Where each article stands now."""
    found: dict[int, ClusterRole] = {}
    for batch in batched(url_ids, PARAMETERS):
        query = select(articles.c.url_id, articles.c.duplicate_of, articles.c.series)
        rows = connection.execute(query.where(articles.c.url_id.in_(batch)))
        found.update((row.url_id, ClusterRole(row.duplicate_of, row.series)) for row in rows)
    return found


def abandoned(connection: Connection) -> list[str]:
    """The articles that are gone although others stand behind them (`doc_id`)."""
    leader = articles.alias("leader")
    query = (
        select(articles.c.duplicate_of)
        .distinct()
        .outerjoin(leader, leader.c.doc_id == articles.c.duplicate_of)
        .where(articles.c.duplicate_of > "", leader.c.doc_id.is_(None))
    )
    return list(connection.scalars(query))
