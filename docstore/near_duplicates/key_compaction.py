"""Sealing: the keys of near-duplicates of past months become parts (docstore/near_duplicates/key_segments.py), at night.

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

from docstore.articles.article_table import serialize_saves
from docstore.bookkeeping import GROUPING_VERSION_KEY, read_meta_int, write_meta_int
from docstore.database import Database
from docstore.errors import StoreError
from docstore.near_duplicates.key_segments import (
    KEY_BITS,
    SIGN_OFFSET,
    Bucket,
    DamagedKeysError,
    KeyEntry,
    KeySegment,
    SegmentState,
    bucket_bits_for,
    bucket_for_key,
    contains_seal,
    load_seals,
    pack_bucket,
    ready_segments,
)
from docstore.schema.article_tables import (
    articles,
    key_segment_buckets,
    key_segments,
    near_duplicate_keys,
    sealed_leaders,
)

MIN_ROWS_TO_SEAL = 1_000_000  # rows of the table: below, it is fast and small
ARTICLES_PER_SEAL = 500  # in one transaction: about 15,000 rows
MERGE_SLICE_BITS = 7  # two to the power of so many buckets are written in one transaction of a merge
MIN_SEGMENTS_TO_MERGE = 4  # parts: fewer are not merged
SEAL_COUNTER_KEY = "key_seals"  # how many seals there were
SEALED_BEFORE_KEY = "keys_sealed_to"  # beginning of the month (epoch seconds) before which all is sealed


class KeyCompaction:
    """`store.key_compaction`. Who calls it holds the lock of extraction."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def seal_past_months(self, min_rows: int | None = None) -> int:
        """Seal the keys of all articles that were extracted before this month (UTC), once a month, where the table has
        more than `min_rows` rows (None: SEAL_ABOVE). Returns how many articles were sealed."""
        self._delete_dropped()
        sealed_count = self._seal_before(month_start(self._clock()), MIN_ROWS_TO_SEAL if min_rows is None else min_rows)
        while self._merge_once():
            continue
        return sealed_count

    def iter_faults(self) -> Iterator[str]:
        """What of the sealed parts is not what was written, one line a part."""
        with self._database.snapshot() as connection:
            segments = ready_segments(connection)
            for segment in segments:
                if (intact_count := count_intact_entries(connection, segment)) != segment.entry_count:
                    yield f"part {segment.segment_id} of the keys of near-duplicates has {intact_count} of {segment.entry_count} entries"
            if segments or connection.scalar(select(sealed_leaders.c.seal).limit(1)) is not None:
                is_covered = select(key_segments.c.part).where(
                    key_segments.c.state == SegmentState.READY,
                    key_segments.c.first_seal <= sealed_leaders.c.seal,
                    key_segments.c.last_seal >= sealed_leaders.c.seal,
                )
                query = select(func.count()).select_from(sealed_leaders).where(~is_covered.exists())
                if lost_count := connection.scalar(query):
                    yield f"the keys of near-duplicates of {lost_count} articles are in no part"

    def drop_all(self) -> None:
        """Throw all parts away; the next extraction decides anew whose copy each article is."""
        with self._database.write() as connection:
            serialize_saves(connection)
            connection.execute(delete(sealed_leaders))
            connection.execute(update(key_segments).values(state=SegmentState.DROPPED))
            for name in (GROUPING_VERSION_KEY, SEALED_BEFORE_KEY):
                write_meta_int(self._database, connection, name, 0)
        self._delete_dropped()

    def _seal_before(self, month: int, min_rows: int) -> int:
        """Seal what was extracted before `month`, where it is time for that; returns of how many articles."""
        with self._database.read() as connection:
            if read_meta_int(connection, SEALED_BEFORE_KEY) >= month or not has_more_rows_than(connection, min_rows):
                return 0
        sealed_count, last_url_id = 0, -1
        while ids := self._next_ids_to_seal(month, last_url_id):
            sealed_count += self._seal_articles(ids)
            last_url_id = ids[-1]
        with self._database.write() as connection:
            write_meta_int(self._database, connection, SEALED_BEFORE_KEY, month)
        return sealed_count

    def _next_ids_to_seal(self, month: int, last_url_id: int) -> list[int]:
        """The next articles that were extracted before `month` and have rows, by their ids (above `last_url_id`)."""
        query = (
            select(near_duplicate_keys.c.url_id)
            .join(articles, articles.c.url_id == near_duplicate_keys.c.url_id)
            .where(near_duplicate_keys.c.url_id > last_url_id, articles.c.extracted_at < month)
            .distinct()
            .order_by(near_duplicate_keys.c.url_id)
            .limit(ARTICLES_PER_SEAL)
        )
        with self._database.read() as connection:
            return list(connection.scalars(query))

    def _seal_articles(self, ids: Sequence[int]) -> int:
        """Make a part of the rows of these articles; returns how many of them are sealed now."""
        with self._database.write() as connection:
            serialize_saves(connection)
            present_ids = select(articles.c.url_id).where(articles.c.url_id.in_(ids))
            locked_ids = list(
                connection.scalars(present_ids.with_for_update(read=True, key_share=True))
            )  # nobody deletes them now
            rows = select(near_duplicate_keys.c.band, near_duplicate_keys.c.url_id).where(
                near_duplicate_keys.c.url_id.in_(locked_ids)
            )
            entries = sorted((row.band, row.url_id) for row in connection.execute(rows))
            leaders = sorted({url_id for _, url_id in entries})
            if not leaders:
                return 0
            seal = read_meta_int(connection, SEAL_COUNTER_KEY) + 1
            write_meta_int(self._database, connection, SEAL_COUNTER_KEY, seal)
            bits = bucket_bits_for(len(entries))
            segment_id = insert_segment(connection, seal, seal, bits, SegmentState.READY, len(entries))
            write_buckets(connection, segment_id, bits, entries)
            rows_of_leaders = [{"url_id": url_id, "seal": seal} for url_id in leaders]
            self._database.upsert(connection, sealed_leaders, rows_of_leaders, update_columns=("seal",))
            connection.execute(delete(near_duplicate_keys).where(near_duplicate_keys.c.url_id.in_(leaders)))
        return len(leaders)

    def _merge_once(self) -> bool:
        """Merge the parts that it is time for; were there any?"""
        with self._database.write() as connection:
            merged_segments = choose_segments_to_merge(ready_segments(connection))
            if not merged_segments:
                return False
            bits = bucket_bits_for(sum(segment_id.entry_count for segment_id in merged_segments))
            segment_id = insert_segment(
                connection, merged_segments[0].first_seal, merged_segments[-1].last_seal, bits, SegmentState.BUILDING
            )
        entries, slice_bits = 0, max(0, bits - MERGE_SLICE_BITS)
        for slice_number in range(1 << slice_bits):
            with self._database.write() as connection:
                valid = sorted(iter_valid_entries(connection, merged_segments, slice_number, slice_bits))
                write_buckets(connection, segment_id, bits, valid)
                entries += len(valid)
        with self._database.write() as connection:
            serialize_saves(connection)  # who groups articles reads the parts that it has found at its beginning
            if activate_merged(connection, segment_id, entries, merged_segments) != 1 + len(merged_segments):
                raise StoreError("another process seals the keys of near-duplicates too: nothing was lost")
        self._delete_dropped()
        return True

    def _delete_dropped(self) -> None:
        """Delete the parts that do not count, a batch of buckets at a time."""
        is_not_ready = key_segments.c.state != SegmentState.READY
        with self._database.read() as connection:
            dropped_segments = list(
                connection.execute(select(key_segments.c.part, key_segments.c.bits).where(is_not_ready))
            )
        for row in dropped_segments:
            for start in range(0, 1 << row.bits, 1 << MERGE_SLICE_BITS):
                is_bucket_batch = (key_segment_buckets.c.part == row.part, key_segment_buckets.c.bucket >= start)
                with self._database.write() as connection:
                    connection.execute(
                        delete(key_segment_buckets).where(
                            *is_bucket_batch, key_segment_buckets.c.bucket < start + (1 << MERGE_SLICE_BITS)
                        )
                    )
            with self._database.write() as connection:
                connection.execute(delete(key_segments).where(key_segments.c.part == row.part, is_not_ready))


def month_start(now: float) -> int:
    """The beginning of the month of a time, both in epoch seconds."""
    today = datetime.fromtimestamp(now, UTC)
    return int(datetime(today.year, today.month, 1, tzinfo=UTC).timestamp())


def has_more_rows_than(connection: Connection, min_rows: int) -> bool:
    """Has the table of keys more than so many rows? No more than these are counted."""
    limited_ids = select(near_duplicate_keys.c.url_id).limit(min_rows + 1).subquery()
    return (connection.scalar(select(func.count()).select_from(limited_ids)) or 0) > min_rows


def choose_segments_to_merge(segments: Sequence[KeySegment]) -> list[KeySegment]:
    """The newest of `segments` (in the order of their seals) that shall become one: the most, and MIN_MERGED at least, of
    which the oldest is at most three times as large as all others together. So the number of parts grows with the
    logarithm of what is sealed, and so does how often an entry is written.
    """
    newer_entry_counts = [0, *accumulate(segment.entry_count for segment in reversed(segments))][:-1][
        ::-1
    ]  # entries of all newer parts
    for position in range(len(segments) - MIN_SEGMENTS_TO_MERGE + 1):
        if segments[position].entry_count <= 3 * newer_entry_counts[position]:
            return list(segments[position:])
    return []


def insert_segment(
    connection: Connection, first_seal: int, last_seal: int, bits: int, state: SegmentState, entries: int = 0
) -> int:
    """Make a row of `key_segments`; returns the part's number."""
    values = {"first_seal": first_seal, "last_seal": last_seal, "bits": bits, "entries": entries, "state": state}
    return int(connection.execute(insert(key_segments).values(values).returning(key_segments.c.part)).scalar_one())


def write_buckets(connection: Connection, segment_id: int, bits: int, entries: Sequence[KeyEntry]) -> None:
    """Write the buckets of `entries`, which are in order and all of their buckets."""
    buckets = groupby(entries, key=lambda entry: bucket_for_key(entry[0], bits))
    rows = [
        {"part": segment_id, "bucket": bucket, "entries": pack_bucket(list(bucket_entries), bits)}
        for bucket, bucket_entries in buckets
    ]
    if rows:
        connection.execute(insert(key_segment_buckets), rows)


def activate_merged(
    connection: Connection, segment_id: int, entries: int, merged_segments: Sequence[KeySegment]
) -> int:
    """Have `segment_id` count from now on, and `merged_segments` no more; returns how many parts that has changed."""
    is_new_segment = (key_segments.c.part == segment_id, key_segments.c.state == SegmentState.BUILDING)
    activated_count = connection.execute(
        update(key_segments).where(*is_new_segment).values(state=SegmentState.READY, entries=entries)
    ).rowcount
    is_old_segment = (
        key_segments.c.part.in_([segment.segment_id for segment in merged_segments]),
        key_segments.c.state == SegmentState.READY,
    )
    return (
        activated_count
        + connection.execute(update(key_segments).where(*is_old_segment).values(state=SegmentState.DROPPED)).rowcount
    )


def iter_valid_entries(
    connection: Connection, segments: Sequence[KeySegment], slice_number: int, bits: int
) -> Iterator[KeyEntry]:
    """The entries of `segments` that count and whose keys begin with the `bits` of `slice_number`."""
    for segment in segments:
        valid = list(iter_slice_entries(connection, segment, slice_number, bits))
        seals = load_seals(connection, {url_id for _, url_id in valid})
        yield from (entry for entry in valid if contains_seal(segment, seals.get(entry[1])))


def iter_slice_entries(connection: Connection, segment: KeySegment, slice_number: int, bits: int) -> Iterator[KeyEntry]:
    """The entries of a part whose keys begin with the `bits` of `slice_number`, in order."""
    first_key, end_key = ((n << (KEY_BITS - bits)) - SIGN_OFFSET for n in (slice_number, slice_number + 1))
    buckets = key_segment_buckets.c.bucket.between(
        bucket_for_key(first_key, segment.bucket_bits), bucket_for_key(end_key - 1, segment.bucket_bits)
    )
    query = (
        select(key_segment_buckets)
        .where(key_segment_buckets.c.part == segment.segment_id, buckets)
        .order_by(key_segment_buckets.c.bucket)
    )
    for row in connection.execute(query):
        yield from (
            e
            for e in Bucket(row.entries, row.bucket, segment.bucket_bits).iter_entries()
            if first_key <= e[0] < end_key
        )


def count_intact_entries(connection: Connection, segment: KeySegment) -> int:
    """How many entries a part has in buckets that are what was written."""
    query = (
        select(key_segment_buckets)
        .where(key_segment_buckets.c.part == segment.segment_id)
        .execution_options(yield_per=1 << MERGE_SLICE_BITS)
    )
    entry_count = 0
    for row in connection.execute(query):
        try:
            entry_count += len(Bucket(row.entries, row.bucket, segment.bucket_bits))
        except DamagedKeysError:
            continue
    return entry_count
