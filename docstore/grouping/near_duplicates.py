"""Clusters of near-duplicates: each article leads a cluster, often of itself alone, or follows a cluster leader.

A leader leaves keys in a table: pieces of its signature (bands), and keys of its text. A new article is compared only
with leaders that share a key with it, so finding its cluster costs what is similar, not what exists (locality-sensitive
hashing: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3.4.1). With 21 bands of 6 places two texts of which a
share s is the same are compared with probability 1 - (1 - s^6)^21: .998 at .8, .93 at .7, .28 at .5, .02 at .3.

Similar signatures only make a candidate: the texts decide whether it is a copy, as `Grouping.read` reads them. The
members of a series (a price note a day, for years) are all similar, and each leads its own cluster; so a key that
MAX_LEADERS leaders have left marks a series, and takes no more of them. The keys of the text tell copies from the rest
of a series.

Where there is much of it, what leaders of past months have left lies in parts (docstore/grouping/sealed_keys.py).

A leader stays one until it changes or goes; then its followers are assigned anew, the oldest first.

Articles that are similar and no copies are of one series: an article takes the series of the most similar leader, or
begins one.
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
from docstore.grouping.pagination import jaccard_estimate
from docstore.grouping.sealed_keys import KeyPart, ready_parts, sealed_sharing
from docstore.schema.article_tables import articles, bands, sealed_leaders

MIN_JACCARD = 0.6  # of the shingles of two texts, as estimated by their signatures
BAND_PLACES = 6  # places of a signature in a band
MAX_LEADERS = 16  # cluster leaders that leave the same key
MAX_READ = 16  # leaders that share keys with an article, whose signatures are read
MAX_COMPARED = 4  # candidates whose texts are compared
PARAMETERS = 10_000  # of one statement


class ComparedText(Protocol):
    """An article's text as copies are told by it."""

    @property
    def keys(self) -> Sequence[int]:
        """64-bit numbers (signed). Copies share some of them; texts that are only similar share few or none."""

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
    """How copies are told. The texts of two articles are compared if the Jaccard index of their shingles, as their
    signatures estimate it (0 to 1), is at least `min_jaccard`. `read` makes a text of title, body and date.
    """

    min_jaccard: float = MIN_JACCARD
    read: Callable[[str, str, str], ComparedText] = SameText

    def text(self, row: Row[Any]) -> ComparedText:
        """The text of a row that has the columns `title`, `body` and `published`."""
        return self.read(row.title, row.body, row.published)


@dataclass(frozen=True)
class ClusterRole:
    """The role of an article in its cluster: it follows `leader` (a `doc_id`), or leads (""); and its `series`."""

    leader: str = ""
    series: str = ""


@dataclass(frozen=True)
class LeaderCandidate:
    """A cluster leader whose copy an article may be: how many keys of the text they share, and their estimated Jaccard
    index (0 to 1).
    """

    url_id: int
    doc_id: str
    series: str
    shared_keys: int
    jaccard: float

    @property
    def rank(self) -> tuple[float, ...]:
        """Sort key: the likeliest comes first; of equals, the oldest."""
        return -self.shared_keys, -self.jaccard, self.url_id


def bands_of(signature: Sequence[int]) -> list[int]:
    """The bands of a signature as 64-bit numbers (signed, as databases have them); places over are left out."""
    starts = range(0, len(signature) - BAND_PLACES + 1, BAND_PLACES)
    return [band_key(start, signature[start : start + BAND_PLACES]) for start in starts]


def band_key(start: int, places: Sequence[int]) -> int:
    """The key of the band that begins at place `start`; equal places elsewhere make another key."""
    packed = pack(f"<{len(places) + 1}I", start, *places)
    return int.from_bytes(hashlib.blake2b(packed, digest_size=8).digest(), "big", signed=True)


def regroup(
    connection: Connection, database: Database, changed: Iterable[int], gone: Sequence[str], grouping: Grouping
) -> list[int]:
    """Assign new or changed articles (`url_id`) to clusters, and those that followed them or followed articles that
    are gone (`doc_id`). Returns the articles whose role has changed (`url_id`).
    """
    ids, parts = list(changed), ready_parts(connection)
    led_before = leaders_among(connection, ids)
    if parts:
        led_before |= sealed_among(connection, ids)
    orphans = followers_of(connection, [*gone, *led_before.values()])
    first = [url_id for url_id in ids if url_id in led_before]  # a former leader has the first claim to lead again
    order = dict.fromkeys([*sorted(first), *sorted({*ids, *orphans})])
    before = roles_of(connection, list(order))
    connection.execute(delete(bands).where(bands.c.url_id.in_(ids)))
    if parts:
        connection.execute(delete(sealed_leaders).where(sealed_leaders.c.url_id.in_(ids)))
    moved = []
    for url_id in order:
        now = find_role(connection, database, url_id, grouping, parts)
        if now != before[url_id]:
            values = {"duplicate_of": now.leader, "series": now.series}
            connection.execute(update(articles).where(articles.c.url_id == url_id).values(values))
            moved.append(url_id)
    return moved


def find_role(
    connection: Connection, database: Database, url_id: int, grouping: Grouping, parts: Sequence[KeyPart]
) -> ClusterRole:
    """The role of an article from now on. One that leads leaves its keys in the table. `parts` are those of past
    months."""
    row = compared_rows(connection, [url_id])[url_id]
    signature, text = signature_of(row.signature), grouping.text(row)
    if not signature:
        return ClusterRole()
    keys = {*bands_of(signature), *text.keys}
    shared_keys = leaders_sharing(connection, url_id, keys, parts)
    near = ranked_candidates(connection, signature, shared_keys, text, grouping.min_jaccard)[:MAX_COMPARED]
    others = compared_rows(connection, [candidate.url_id for candidate in near])
    for candidate in near:
        if text.is_copy_of(grouping.text(others[candidate.url_id])):
            return ClusterRole(candidate.doc_id, candidate.series)
    leaders_of = Counter(key for keys_shared in shared_keys.values() for key in keys_shared)
    free = sorted(key for key in keys if leaders_of[key] < MAX_LEADERS)
    database.upsert(connection, bands, [{"band": key, "url_id": url_id} for key in free])
    return ClusterRole(series=near[0].series if near else new_series(row))


def new_series(row: Row[Any]) -> str:
    """The series that an article begins; with another text it begins another one."""
    return hashlib.blake2b(row.doc_id.encode() + row.signature, digest_size=16).hexdigest()


def leaders_sharing(
    connection: Connection, url_id: int, keys: Collection[int], parts: Sequence[KeyPart]
) -> dict[int, list[int]]:
    """The cluster leaders, without `url_id`, that have left some of `keys`: url_id -> the keys they share."""
    found: dict[int, list[int]] = {}
    for row in connection.execute(select(bands).where(bands.c.band.in_(keys), bands.c.url_id != url_id)):
        found.setdefault(row.url_id, []).append(row.band)
    if parts:
        for key, leader in sealed_sharing(connection, parts, keys):
            if leader != url_id:
                found.setdefault(leader, []).append(key)
    return found


def ranked_candidates(
    connection: Connection,
    signature: Sequence[int],
    shared_keys: Mapping[int, Sequence[int]],
    text: ComparedText,
    min_jaccard: float,
) -> list[LeaderCandidate]:
    """The leaders that share keys and have at least `min_jaccard` in common with the article, the likeliest first."""
    in_text = {url_id: len(set(text.keys).intersection(keys)) for url_id, keys in shared_keys.items()}
    near = sorted(shared_keys, key=lambda url_id: (-in_text[url_id], -len(shared_keys[url_id]), url_id))[:MAX_READ]
    columns = [articles.c[name] for name in ("url_id", "doc_id", "series", "signature")]
    query = select(*columns).where(articles.c.url_id.in_(near))
    found = [
        LeaderCandidate(row.url_id, row.doc_id, row.series or new_series(row), in_text[row.url_id], alike)
        for row in (connection.execute(query) if near else ())
        if (alike := jaccard_estimate(signature, signature_of(row.signature))) >= min_jaccard
    ]
    return sorted(found, key=lambda one: one.rank)


def compared_rows(connection: Connection, url_ids: Sequence[int]) -> dict[int, Row[Any]]:
    """The columns that articles are compared by: url_id -> row."""
    columns = [articles.c[name] for name in ("url_id", "doc_id", "title", "body", "published", "signature")]
    query = select(*columns).where(articles.c.url_id.in_(url_ids))
    return {row.url_id: row for row in connection.execute(query)} if url_ids else {}


def leaders_among(connection: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """Those of `url_ids` that lead a cluster and left keys: url_id -> doc_id."""
    known = select(bands.c.url_id).where(bands.c.url_id.in_(url_ids))
    query = select(articles.c.url_id, articles.c.doc_id).where(articles.c.url_id.in_(known))
    return {row.url_id: row.doc_id for row in connection.execute(query)}


def sealed_among(connection: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """As `leaders_among`, of those whose keys are in sealed parts."""
    known = select(sealed_leaders.c.url_id).where(sealed_leaders.c.url_id.in_(url_ids))
    query = select(articles.c.url_id, articles.c.doc_id).where(articles.c.url_id.in_(known))
    return {row.url_id: row.doc_id for row in connection.execute(query)}


def followers_of(connection: Connection, doc_ids: Sequence[str]) -> list[int]:
    """The articles (`url_id`) that follow the leaders `doc_ids`."""
    return list(connection.scalars(select(articles.c.url_id).where(articles.c.duplicate_of.in_(doc_ids))))


def roles_of(connection: Connection, url_ids: Sequence[int]) -> dict[int, ClusterRole]:
    """The present roles of articles: url_id -> role."""
    found: dict[int, ClusterRole] = {}
    for batch in batched(url_ids, PARAMETERS):
        query = select(articles.c.url_id, articles.c.duplicate_of, articles.c.series)
        rows = connection.execute(query.where(articles.c.url_id.in_(batch)))
        found.update((row.url_id, ClusterRole(row.duplicate_of, row.series)) for row in rows)
    return found


def lost_leaders(connection: Connection) -> list[str]:
    """Cluster leaders (`doc_id`) that are gone although others still follow them."""
    leader = articles.alias("leader")
    query = (
        select(articles.c.duplicate_of)
        .distinct()
        .outerjoin(leader, leader.c.doc_id == articles.c.duplicate_of)
        .where(articles.c.duplicate_of > "", leader.c.doc_id.is_(None))
    )
    return list(connection.scalars(query))
