"""Groups of near-duplicates: each article stands for itself, or behind the one that it is nearly the same as.

An article that stands for itself leaves pieces of its signature (bands) in a table. A new article is compared with
those alone that share a band with it, so finding its group costs what is alike, not what exists (locality-sensitive
hashing: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3.4.1). With 21 bands of 6 places two texts of which
a share s is the same are compared with probability 1 - (1 - s^6)^21: .998 at .8, .93 at .7, .28 at .5, .02 at .3.

Who stands for a group stays so until it changes or goes; then those behind it find a new place, the oldest first.
"""

import hashlib
from collections.abc import Mapping, Sequence
from struct import pack

from sqlalchemy import Connection, delete, select, update

from docstore.article_rows import signature_of
from docstore.batches import batched
from docstore.database import Database
from docstore.joining import likeness
from docstore.tables import articles, bands

BAND = 6  # places of a signature in a band
PARAMETERS = 10_000  # of one statement


def bands_of(signature: Sequence[int]) -> list[int]:
    """The bands of a signature as 64-bit numbers (signed, as databases have them); places over are left out."""
    starts = range(0, len(signature) - BAND + 1, BAND)
    return [band_key(start, signature[start : start + BAND]) for start in starts]


def band_key(start: int, places: Sequence[int]) -> int:
    """One band; equal places elsewhere are another band."""
    packed = pack(f"<{len(places) + 1}I", start, *places)
    return int.from_bytes(hashlib.blake2b(packed, digest_size=8).digest(), "big", signed=True)


def regroup(
    connection: Connection,
    database: Database,
    changed: Mapping[int, Sequence[int]],
    gone: Sequence[str],
    threshold: float,
) -> list[int]:
    """Find the groups of new or changed articles (url_id -> signature), and of those that stood behind them or behind
    articles that are gone (`doc_id`). Returns whose place is another now (url_id).
    """
    leading = leaders(connection, list(changed))
    behind = followers(connection, [*gone, *leading.values()])
    first = [url_id for url_id in changed if url_id in leading]  # what led a group has the first claim to lead it
    order = dict.fromkeys([*sorted(first), *sorted({*changed, *behind})])
    before = places(connection, list(order))
    connection.execute(delete(bands).where(bands.c.url_id.in_(list(changed))))
    signatures = {**behind, **changed}
    moved = []
    for url_id in order:
        leader = place(connection, database, url_id, signatures[url_id], threshold)
        if leader != before[url_id]:
            connection.execute(update(articles).where(articles.c.url_id == url_id).values(duplicate_of=leader))
            moved.append(url_id)
    return moved


def place(connection: Connection, database: Database, url_id: int, signature: Sequence[int], threshold: float) -> str:
    """The `doc_id` of the leader that an article stands behind; "" where it leads from now on itself."""
    keys = bands_of(signature)
    leader = most_alike(connection, url_id, signature, keys, threshold)
    if not leader:
        database.upsert(connection, bands, [{"band": key, "url_id": url_id} for key in set(keys)])
    return leader


def most_alike(
    connection: Connection, url_id: int, signature: Sequence[int], keys: Sequence[int], threshold: float
) -> str:
    """The `doc_id` of the leader that is most alike, the oldest of equals; "" where none reaches `threshold`."""
    near = select(bands.c.url_id).where(bands.c.band.in_(keys), bands.c.url_id != url_id)
    query = select(articles.c.url_id, articles.c.doc_id, articles.c.signature).where(articles.c.url_id.in_(near))
    found = [
        (likeness(signature, signature_of(row.signature)), -row.url_id, row.doc_id)
        for row in (connection.execute(query) if keys else ())
    ]
    best = max(found, default=(0.0, 0, ""))
    return best[2] if best[0] >= threshold else ""


def leaders(connection: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """Those of `url_ids` that stand for themselves and left bands: url_id -> doc_id."""
    known = select(bands.c.url_id).where(bands.c.url_id.in_(url_ids))
    query = select(articles.c.url_id, articles.c.doc_id).where(articles.c.url_id.in_(known))
    return {row.url_id: row.doc_id for row in connection.execute(query)}


def followers(connection: Connection, doc_ids: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """The signatures of the articles that stand behind `doc_ids`."""
    query = select(articles.c.url_id, articles.c.signature).where(articles.c.duplicate_of.in_(doc_ids))
    return {row.url_id: signature_of(row.signature) for row in connection.execute(query)}


def places(connection: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """Behind whom each article stands now."""
    found: dict[int, str] = {}
    for batch in batched(url_ids, PARAMETERS):
        query = select(articles.c.url_id, articles.c.duplicate_of).where(articles.c.url_id.in_(batch))
        found.update((row.url_id, row.duplicate_of) for row in connection.execute(query))
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
