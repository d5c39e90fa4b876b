"""Clusters of near-duplicates: each article leads a cluster (often alone) or follows a cluster leader.

A leader stores keys in a table: bands of its signature, and keys of its text. A new article is compared only with
leaders that share a key. The cost of finding its cluster therefore depends on the number of similar articles, not on
the size of the store (locality-sensitive hashing: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3.4.1). With
21 bands of 6 values, two texts with Jaccard index s share a band with probability 1 - (1 - s^6)^21: .998 at .8, .93 at
.7, .28 at .5, .02 at .3.

Similar signatures only make a candidate. The texts decide whether it is a copy (`CopyDetection.make_text`). Members of
a series (such as daily price notes) are similar but not copies, and each leads its own cluster. A key that
MAX_LEADERS_PER_KEY leaders have stored is too common, and no further leader stores it. The keys of the text distinguish
copies from other members of a series.

In large stores, keys of past months are moved to compact segments (docstore/near_duplicates/key_segments.py).

A leader remains a leader until it changes or is removed. Then its followers are assigned again, oldest first.

Similar articles that are not copies form a series: an article joins the series of the most similar leader, or starts a
new series.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from struct import pack
from typing import Any, Protocol

from sqlalchemy import Connection, Row, delete, select, update

from docstore.articles.row_mapping import signature_from_bytes
from docstore.database import Database
from docstore.near_duplicates.key_segments import KeySegment, iter_sealed_matches, ready_segments
from docstore.schema.article_tables import articles, near_duplicate_keys, sealed_leaders
from domain.batches import batched
from domain.pagination import estimate_jaccard

MIN_JACCARD = 0.6  # of the shingles of two texts, as estimated by their signatures
BAND_SIZE = 6  # signature values per band
MAX_LEADERS_PER_KEY = 16  # cluster leaders that store the same key
MAX_SIGNATURES_READ = 16  # leaders with common keys whose signatures are compared
MAX_TEXT_COMPARISONS = 4  # candidates whose texts are compared
MAX_SQL_PARAMETERS = 10_000  # per statement


class ComparedText(Protocol):
    """The text of an article, prepared for the detection of copies."""

    @property
    def duplicate_keys(self) -> Sequence[int]:
        """Signed 64-bit keys. Copies share some of them; texts that are only similar share few or none."""

    def is_duplicate_of(self, other: Any) -> bool:
        """True if one of the two texts is a republication of the other."""


@dataclass(frozen=True)
class ExactText:
    """A text whose copies have the same title and body."""

    title: str
    body: str
    published: str = ""

    @property
    def duplicate_keys(self) -> Sequence[int]:
        """No keys: equal texts have equal signatures."""
        return ()

    def is_duplicate_of(self, other: "ExactText") -> bool:
        return (self.title, self.body) == (other.title, other.body)


@dataclass(frozen=True)
class CopyDetection:
    """Rules for the detection of copies.

    Attributes:
        min_jaccard: Minimum estimated Jaccard index of the shingles of two articles (0 to 1) before their texts are
            compared.
        make_text: Creates a text for comparison from title, body and date.
    """

    min_jaccard: float = MIN_JACCARD
    make_text: Callable[[str, str, str], ComparedText] = ExactText

    def text_from_row(self, row: Row[Any]) -> ComparedText:
        """Create the text for comparison from a row with the columns `title`, `body` and `published`."""
        return self.make_text(row.title, row.body, row.published)


@dataclass(frozen=True)
class ClusterRole:
    """The role of an article in its cluster.

    `leader_doc_id` is "" for a leader and for an article without signature.
    """

    leader_doc_id: str = ""
    series_id: str = ""


@dataclass(frozen=True)
class LeaderCandidate:
    """A cluster leader of which an article may be a copy.

    Attributes:
        shared_key_count: Number of common keys of the texts.
        jaccard: Estimated Jaccard index, 0 to 1.
    """

    url_id: int
    doc_id: str
    series_id: str
    shared_key_count: int
    jaccard: float

    @property
    def sort_key(self) -> tuple[float, ...]:
        """Order of candidates: the most probable first, then the oldest."""
        return -self.shared_key_count, -self.jaccard, self.url_id


def signature_bands(signature: Sequence[int]) -> list[int]:
    """Return the bands of a signature as signed 64-bit keys. Values after the last complete band are ignored."""
    starts = range(0, len(signature) - BAND_SIZE + 1, BAND_SIZE)
    return [band_key(start, signature[start : start + BAND_SIZE]) for start in starts]


def band_key(start: int, values: Sequence[int]) -> int:
    """Return the key of the band at index `start`. Equal values at another index have another key."""
    packed_values = pack(f"<{len(values) + 1}I", start, *values)
    return int.from_bytes(hashlib.blake2b(packed_values, digest_size=8).digest(), "big", signed=True)


def reassign_clusters(
    connection: Connection,
    database: Database,
    changed_ids: Iterable[int],
    removed_doc_ids: Sequence[str],
    copy_detection: CopyDetection,
) -> list[int]:
    """Assign new or changed articles to clusters, and the followers of changed or removed leaders again.

    Args:
        connection: Transaction to write in.
        database: The store.
        changed_ids: url_ids of new or changed articles.
        removed_doc_ids: doc_ids of removed articles.
        copy_detection: Rules for the detection of copies.

    Returns:
        url_ids of the articles whose role changed.
    """
    ids, segments = list(changed_ids), ready_segments(connection)
    leader_ids = select(near_duplicate_keys.c.url_id).where(near_duplicate_keys.c.url_id.in_(ids))
    query = select(articles.c.url_id, articles.c.doc_id).where(articles.c.url_id.in_(leader_ids))
    former_leaders = {row.url_id: row.doc_id for row in connection.execute(query)}
    if segments:
        former_leaders |= leaders_with_sealed_keys(connection, ids)
    follows_former_leader = articles.c.duplicate_of.in_([*removed_doc_ids, *former_leaders.values()])
    orphaned_followers = connection.scalars(select(articles.c.url_id).where(follows_former_leader)).all()
    former_leader_ids = [
        url_id for url_id in ids if url_id in former_leaders
    ]  # former leaders come first, so that they lead again
    ids_in_order = dict.fromkeys([*sorted(former_leader_ids), *sorted({*ids, *orphaned_followers})])
    previous_roles = current_roles(connection, list(ids_in_order))
    connection.execute(delete(near_duplicate_keys).where(near_duplicate_keys.c.url_id.in_(ids)))
    if segments:
        connection.execute(delete(sealed_leaders).where(sealed_leaders.c.url_id.in_(ids)))
    changed_role_ids = []
    for url_id in ids_in_order:
        new_role = assign_role(connection, database, url_id, copy_detection, segments)
        if new_role != previous_roles[url_id]:
            values = {"duplicate_of": new_role.leader_doc_id, "series": new_role.series_id}
            connection.execute(update(articles).where(articles.c.url_id == url_id).values(values))
            changed_role_ids.append(url_id)
    return changed_role_ids


def assign_role(
    connection: Connection,
    database: Database,
    url_id: int,
    copy_detection: CopyDetection,
    segments: Sequence[KeySegment],
) -> ClusterRole:
    """Determine the role of an article. A new leader stores its keys.

    `segments` are the compact segments with keys of past months.
    """
    row = comparison_rows(connection, [url_id])[url_id]
    signature, text = signature_from_bytes(row.signature), copy_detection.text_from_row(row)
    if not signature:
        return ClusterRole()
    keys = {*signature_bands(signature), *text.duplicate_keys}
    keys_by_leader = leaders_by_shared_keys(connection, url_id, keys, segments)
    candidates = rank_candidates(connection, signature, keys_by_leader, text, copy_detection.min_jaccard)[
        :MAX_TEXT_COMPARISONS
    ]
    for candidate in candidates:  # one text at a time: bodies may be long
        candidate_row = comparison_rows(connection, [candidate.url_id])[candidate.url_id]
        if text.is_duplicate_of(copy_detection.text_from_row(candidate_row)):
            return ClusterRole(candidate.doc_id, candidate.series_id)
    leader_count_by_key = Counter(key for keys_shared in keys_by_leader.values() for key in keys_shared)
    available_keys = sorted(key for key in keys if leader_count_by_key[key] < MAX_LEADERS_PER_KEY)
    database.insert_missing(
        connection, near_duplicate_keys, [{"band": key, "url_id": url_id} for key in available_keys]
    )
    return ClusterRole(series_id=candidates[0].series_id if candidates else new_series_id(row))


def new_series_id(row: Row[Any]) -> str:
    """Return the id of the series that an article starts. It depends on the document and its text."""
    return hashlib.blake2b(row.doc_id.encode() + row.signature, digest_size=16).hexdigest()


def leaders_by_shared_keys(
    connection: Connection, url_id: int, keys: Collection[int], segments: Sequence[KeySegment]
) -> dict[int, list[int]]:
    """Return the other cluster leaders that share keys with the article `url_id`, and the shared keys of each.

    A leader is the article that represents its near-duplicate cluster; its keys are stored.

    Args:
        keys: MinHash band keys of the article.
        segments: Files of keys that the table no longer contains.

    Returns:
        Leader's `url_id` -> keys that it shares with the article.
    """
    keys_by_leader: dict[int, list[int]] = {}
    for row in connection.execute(
        select(near_duplicate_keys).where(near_duplicate_keys.c.band.in_(keys), near_duplicate_keys.c.url_id != url_id)
    ):
        keys_by_leader.setdefault(row.url_id, []).append(row.band)
    if segments:
        for key, leader in iter_sealed_matches(connection, segments, keys):
            if leader != url_id:
                keys_by_leader.setdefault(leader, []).append(key)
    return keys_by_leader


def rank_candidates(
    connection: Connection,
    signature: Sequence[int],
    keys_by_leader: Mapping[int, Sequence[int]],
    text: ComparedText,
    min_jaccard: float,
) -> list[LeaderCandidate]:
    """Return the leaders with common keys and at least `min_jaccard` similarity, the most probable copy first."""
    text_key_matches = {
        url_id: len(set(text.duplicate_keys).intersection(keys)) for url_id, keys in keys_by_leader.items()
    }
    candidates = sorted(
        keys_by_leader, key=lambda url_id: (-text_key_matches[url_id], -len(keys_by_leader[url_id]), url_id)
    )[:MAX_SIGNATURES_READ]
    columns = [articles.c[name] for name in ("url_id", "doc_id", "series", "signature")]
    query = select(*columns).where(articles.c.url_id.in_(candidates))
    leader_candidates = [
        LeaderCandidate(row.url_id, row.doc_id, row.series or new_series_id(row), text_key_matches[row.url_id], jaccard)
        for row in (connection.execute(query) if candidates else ())
        if (jaccard := estimate_jaccard(signature, signature_from_bytes(row.signature))) >= min_jaccard
    ]
    return sorted(leader_candidates, key=lambda candidate: candidate.sort_key)


def comparison_rows(connection: Connection, url_ids: Sequence[int]) -> dict[int, Row[Any]]:
    """Return the columns of articles that are needed for comparison, by url_id."""
    columns = [articles.c[name] for name in ("url_id", "doc_id", "title", "body", "published", "signature")]
    query = select(*columns).where(articles.c.url_id.in_(url_ids))
    return {row.url_id: row for row in connection.execute(query)} if url_ids else {}


def leaders_with_sealed_keys(connection: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """Return the doc_ids of the articles among `url_ids` that lead a cluster and have keys in segments, by url_id.

    Segments contain the near-duplicate keys of past months (docstore/near_duplicates/key_segments.py). The leader of a
    cluster is the article that search shows for all its near-duplicates; only leaders have keys.
    """
    leader_ids = select(sealed_leaders.c.url_id).where(sealed_leaders.c.url_id.in_(url_ids))
    query = select(articles.c.url_id, articles.c.doc_id).where(articles.c.url_id.in_(leader_ids))
    return {row.url_id: row.doc_id for row in connection.execute(query)}


def current_roles(connection: Connection, url_ids: Sequence[int]) -> dict[int, ClusterRole]:
    """Return the stored roles of articles, by url_id."""
    role_by_id: dict[int, ClusterRole] = {}
    for batch in batched(url_ids, MAX_SQL_PARAMETERS):
        query = select(articles.c.url_id, articles.c.duplicate_of, articles.c.series)
        rows = connection.execute(query.where(articles.c.url_id.in_(batch)))
        role_by_id.update((row.url_id, ClusterRole(row.duplicate_of, row.series)) for row in rows)
    return role_by_id


def followers_without_leader(connection: Connection) -> list[int]:
    """Return the url_ids of the followers of removed leaders, in ascending order."""
    leader = articles.alias("leader")
    query = (
        select(articles.c.url_id)
        .outerjoin(leader, leader.c.doc_id == articles.c.duplicate_of)
        .where(articles.c.duplicate_of > "", leader.c.doc_id.is_(None))
    )
    return list(connection.scalars(query.order_by(articles.c.url_id)))
