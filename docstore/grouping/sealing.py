"""Sealing: the keys of near-duplicates of past months become parts (docstore/grouping/sealed_keys.py), at night.

    seal    keys of some thousand articles at a time: read, packed into a part, deleted from the table; one transaction
    merge   parts that are of a size become one, some buckets a transaction; the old ones count until it is whole
    drop    the buckets of parts that count no more

Whatever is killed, each key is in the table or in a part that counts, and in one of them only: a seal is all or
nothing, a merge is seen when it is whole. What a kill has left is dropped at the next sealing. Transactions are short,
so that whoever saves articles meanwhile hardly waits.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate, groupby

from sqlalchemy import Connection, delete, func, insert, select, update

from docstore.articles.records import GROUPING_VERSION, number, write_number
from docstore.articles.table import take_turns
from docstore.database import Database
from docstore.errors import StoreError
from docstore.grouping.sealed_keys import (
    KEY_BITS,
    SIGN,
    Bucket,
    DamagedKeysError,
    Entry,
    KeyPart,
    PartState,
    bits_for,
    bucket_of,
    holds,
    pack,
    ready_parts,
    seals_of,
)
from docstore.schema.article_tables import articles, bands, key_parts, sealed_keys, sealed_leaders

SEAL_ABOVE = 1_000_000  # rows of the table: below, it is fast and small
SEAL_ARTICLES = 500  # in one transaction: about 15,000 rows
MERGE_BITS = 7  # two to the power of so many buckets are written in one transaction of a merge
MIN_MERGED = 4  # parts: fewer are not merged
SEALS = "key_seals"  # how many seals there were
SEALED_TO = "keys_sealed_to"  # beginning of the month (epoch seconds) before which all is sealed


class KeySealing:
    """`store.sealing`. Who calls it holds the lock of extraction."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def seal_past(self, above: int | None = None) -> int:
        """Seal the keys of all articles that were extracted before this month (UTC), once a month, where the table has
        more than `above` rows (None: SEAL_ABOVE). Returns how many articles were sealed."""
        self._drop()
        sealed = self._seal_before(month_start(self._clock()), SEAL_ABOVE if above is None else above)
        while self._merge():
            continue
        return sealed

    def faults(self) -> Iterator[str]:
        """What of the sealed parts is not what was written, one line a part."""
        with self._database.snapshot() as connection:
            parts = ready_parts(connection)
            for part in parts:
                if (found := entries_in(connection, part)) != part.entries:
                    yield f"part {part.part} of the keys of near-duplicates has {found} of {part.entries} entries"
            if parts or connection.scalar(select(sealed_leaders.c.seal).limit(1)) is not None:
                held = select(key_parts.c.part).where(
                    key_parts.c.state == PartState.READY,
                    key_parts.c.first_seal <= sealed_leaders.c.seal,
                    key_parts.c.last_seal >= sealed_leaders.c.seal,
                )
                query = select(func.count()).select_from(sealed_leaders).where(~held.exists())
                if lost := connection.scalar(query):
                    yield f"the keys of near-duplicates of {lost} articles are in no part"

    def forget(self) -> None:
        """Throw all parts away; the next extraction decides anew whose copy each article is."""
        with self._database.write() as connection:
            take_turns(connection)
            connection.execute(delete(sealed_leaders))
            connection.execute(update(key_parts).values(state=PartState.DROPPED))
            for name in (GROUPING_VERSION, SEALED_TO):
                write_number(self._database, connection, name, 0)
        self._drop()

    def _seal_before(self, month: int, above: int) -> int:
        """Seal what was extracted before `month`, where it is time for that; returns of how many articles."""
        with self._database.read() as connection:
            if number(connection, SEALED_TO) >= month or not has_more_rows(connection, above):
                return 0
        sealed, last = 0, -1
        while ids := self._past(month, last):
            sealed += self._seal(ids)
            last = ids[-1]
        with self._database.write() as connection:
            write_number(self._database, connection, SEALED_TO, month)
        return sealed

    def _past(self, month: int, last: int) -> list[int]:
        """The next articles that were extracted before `month` and have rows, by their ids (above `last`)."""
        query = (
            select(bands.c.url_id)
            .join(articles, articles.c.url_id == bands.c.url_id)
            .where(bands.c.url_id > last, articles.c.extracted_at < month)
            .distinct()
            .order_by(bands.c.url_id)
            .limit(SEAL_ARTICLES)
        )
        with self._database.read() as connection:
            return list(connection.scalars(query))

    def _seal(self, ids: Sequence[int]) -> int:
        """Make a part of the rows of these articles; returns how many of them are sealed now."""
        with self._database.write() as connection:
            take_turns(connection)
            there = select(articles.c.url_id).where(articles.c.url_id.in_(ids))
            kept = list(connection.scalars(there.with_for_update(read=True, key_share=True)))  # nobody deletes them now
            rows = select(bands.c.band, bands.c.url_id).where(bands.c.url_id.in_(kept))
            entries = sorted((row.band, row.url_id) for row in connection.execute(rows))
            leaders = sorted({url_id for _, url_id in entries})
            if not leaders:
                return 0
            seal = number(connection, SEALS) + 1
            write_number(self._database, connection, SEALS, seal)
            bits = bits_for(len(entries))
            part = new_part(connection, seal, seal, bits, PartState.READY, len(entries))
            write_buckets(connection, part, bits, entries)
            rows_of_leaders = [{"url_id": url_id, "seal": seal} for url_id in leaders]
            self._database.upsert(connection, sealed_leaders, rows_of_leaders, update=("seal",))
            connection.execute(delete(bands).where(bands.c.url_id.in_(leaders)))
        return len(leaders)

    def _merge(self) -> bool:
        """Merge the parts that it is time for; were there any?"""
        with self._database.write() as connection:
            old = to_merge(ready_parts(connection))
            if not old:
                return False
            bits = bits_for(sum(part.entries for part in old))
            part = new_part(connection, old[0].first, old[-1].last, bits, PartState.BUILDING)
        entries, slice_bits = 0, max(0, bits - MERGE_BITS)
        for piece in range(1 << slice_bits):
            with self._database.write() as connection:
                found = sorted(valid_entries(connection, old, piece, slice_bits))
                write_buckets(connection, part, bits, found)
                entries += len(found)
        with self._database.write() as connection:
            take_turns(connection)  # who groups articles reads the parts that it has found at its beginning
            if switched(connection, part, entries, old) != 1 + len(old):
                raise StoreError("another process seals the keys of near-duplicates too: nothing was lost")
        self._drop()
        return True

    def _drop(self) -> None:
        """Delete the parts that do not count, a batch of buckets at a time."""
        is_over = key_parts.c.state != PartState.READY
        with self._database.read() as connection:
            over = list(connection.execute(select(key_parts.c.part, key_parts.c.bits).where(is_over)))
        for row in over:
            for start in range(0, 1 << row.bits, 1 << MERGE_BITS):
                mine = (sealed_keys.c.part == row.part, sealed_keys.c.bucket >= start)
                with self._database.write() as connection:
                    connection.execute(
                        delete(sealed_keys).where(*mine, sealed_keys.c.bucket < start + (1 << MERGE_BITS))
                    )
            with self._database.write() as connection:
                connection.execute(delete(key_parts).where(key_parts.c.part == row.part, is_over))


def month_start(now: float) -> int:
    """The beginning of the month of a time, both in epoch seconds."""
    today = datetime.fromtimestamp(now, UTC)
    return int(datetime(today.year, today.month, 1, tzinfo=UTC).timestamp())


def has_more_rows(connection: Connection, above: int) -> bool:
    """Has the table of keys more than so many rows? No more than these are counted."""
    some = select(bands.c.url_id).limit(above + 1).subquery()
    return (connection.scalar(select(func.count()).select_from(some)) or 0) > above


def to_merge(parts: Sequence[KeyPart]) -> list[KeyPart]:
    """The newest of `parts` (in the order of their seals) that shall become one: the most, and MIN_MERGED at least, of
    which the oldest is at most three times as large as all others together. So the number of parts grows with the
    logarithm of what is sealed, and so does how often an entry is written.
    """
    newer = [0, *accumulate(part.entries for part in reversed(parts))][:-1][::-1]  # entries of all newer parts
    for place in range(len(parts) - MIN_MERGED + 1):
        if parts[place].entries <= 3 * newer[place]:
            return list(parts[place:])
    return []


def new_part(connection: Connection, first: int, last: int, bits: int, state: PartState, entries: int = 0) -> int:
    """Make a row of `key_parts`; returns the part's number."""
    values = {"first_seal": first, "last_seal": last, "bits": bits, "entries": entries, "state": state}
    return int(connection.execute(insert(key_parts).values(values).returning(key_parts.c.part)).scalar_one())


def write_buckets(connection: Connection, part: int, bits: int, entries: Sequence[Entry]) -> None:
    """Write the buckets of `entries`, which are in order and all of their buckets."""
    buckets = groupby(entries, key=lambda entry: bucket_of(entry[0], bits))
    rows = [{"part": part, "bucket": bucket, "entries": pack(list(own), bits)} for bucket, own in buckets]
    if rows:
        connection.execute(insert(sealed_keys), rows)


def switched(connection: Connection, part: int, entries: int, old: Sequence[KeyPart]) -> int:
    """Have `part` count from now on, and `old` no more; returns how many parts that has changed."""
    mine = (key_parts.c.part == part, key_parts.c.state == PartState.BUILDING)
    done = connection.execute(update(key_parts).where(*mine).values(state=PartState.READY, entries=entries)).rowcount
    theirs = (key_parts.c.part.in_([one.part for one in old]), key_parts.c.state == PartState.READY)
    return done + connection.execute(update(key_parts).where(*theirs).values(state=PartState.DROPPED)).rowcount


def valid_entries(connection: Connection, parts: Sequence[KeyPart], piece: int, bits: int) -> Iterator[Entry]:
    """The entries of `parts` that count and whose keys begin with the `bits` of `piece`."""
    for part in parts:
        found = list(entries_of(connection, part, piece, bits))
        seals = seals_of(connection, {url_id for _, url_id in found})
        yield from (entry for entry in found if holds(part, seals.get(entry[1])))


def entries_of(connection: Connection, part: KeyPart, piece: int, bits: int) -> Iterator[Entry]:
    """The entries of a part whose keys begin with the `bits` of `piece`, in order."""
    first, end = ((n << (KEY_BITS - bits)) - SIGN for n in (piece, piece + 1))
    buckets = sealed_keys.c.bucket.between(bucket_of(first, part.bits), bucket_of(end - 1, part.bits))
    query = select(sealed_keys).where(sealed_keys.c.part == part.part, buckets).order_by(sealed_keys.c.bucket)
    for row in connection.execute(query):
        yield from (e for e in Bucket(row.entries, row.bucket, part.bits).entries() if first <= e[0] < end)


def entries_in(connection: Connection, part: KeyPart) -> int:
    """How many entries a part has in buckets that are what was written."""
    query = select(sealed_keys).where(sealed_keys.c.part == part.part).execution_options(yield_per=1 << MERGE_BITS)
    found = 0
    for row in connection.execute(query):
        try:
            found += len(Bucket(row.entries, row.bucket, part.bits))
        except DamagedKeysError:
            continue
    return found
