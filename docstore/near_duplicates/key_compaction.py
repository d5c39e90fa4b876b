"""Compaction of near-duplicate keys: keys of past months move from table rows to segments.

    seal    read the keys of up to 500 articles, pack them to a segment, delete the rows; one transaction
    merge   combine segments of similar size, some buckets per transaction; activated when complete
    drop    delete the buckets of inactive segments

At any time each key is either in the table or in exactly one active segment, also after a crash: a seal is one
transaction, and a merged segment is activated in one transaction. The next compaction deletes remains of an interrupted
one. Transactions are short, so that concurrent saves of articles hardly wait. Segments: key_segments.py.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate, groupby

from sqlalchemy import Connection, delete, func, insert, select, update

from docstore.articles.article_table import serialize_saves
from docstore.bookkeeping import GROUPING_VERSION_KEY, read_meta_int, write_meta
from docstore.database import StorePart
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
from domain.errors import StoreError

MIN_ROWS_TO_SEAL = 1_000_000  # a smaller table is fast enough without compaction
ARTICLES_PER_SEAL = 500  # per transaction: about 15,000 rows
MERGE_SLICE_BITS = 7  # a merge writes 2^7 buckets per transaction
MIN_SEGMENTS_TO_MERGE = 4
SEAL_COUNTER_KEY = "key_seals"  # number of seals so far
SEALED_BEFORE_KEY = "keys_sealed_to"  # start of a month (epoch seconds): all earlier keys are sealed


class KeyCompaction(StorePart):
    """Move near-duplicate keys of past months to segments (`store.key_compaction`).

    The caller must own the lock of the extract stage.
    """

    def seal_past_months(self, min_rows: int | None = None) -> int:
        """Seal the keys of all articles that were extracted before the current month (UTC), then merge segments.

        Does nothing if these months are already sealed, or if the table has at most `min_rows` rows (None:
        MIN_ROWS_TO_SEAL). Returns the number of sealed articles.
        """
        self._delete_dropped()
        sealed_count = self._seal_before(month_start(self._clock()), MIN_ROWS_TO_SEAL if min_rows is None else min_rows)
        while self._merge_once():
            continue
        return sealed_count

    def iter_faults(self) -> Iterator[str]:
        """Yield one message per damaged segment, and one for articles whose segment is missing."""
        with self._database.snapshot() as connection:
            segments = ready_segments(connection)
            for segment in segments:
                if (intact_count := count_intact_entries(connection, segment)) != segment.entry_count:
                    yield (
                        f"segment {segment.segment_id} of the near-duplicate keys has {intact_count} of "
                        f"{segment.entry_count} entries"
                    )
            if segments or connection.scalar(select(sealed_leaders.c.seal).limit(1)) is not None:
                is_covered = select(key_segments.c.part).where(
                    key_segments.c.state == SegmentState.READY,
                    key_segments.c.first_seal <= sealed_leaders.c.seal,
                    key_segments.c.last_seal >= sealed_leaders.c.seal,
                )
                query = select(func.count()).select_from(sealed_leaders).where(~is_covered.exists())
                if lost_count := connection.scalar(query):
                    yield f"the near-duplicate keys of {lost_count} articles are in no segment"

    def drop_all(self) -> None:
        """Delete all segments. The next extraction assigns all articles to clusters again."""
        with self._database.write() as connection:
            serialize_saves(connection)
            connection.execute(delete(sealed_leaders))
            connection.execute(update(key_segments).values(state=SegmentState.DROPPED))
            for name in (GROUPING_VERSION_KEY, SEALED_BEFORE_KEY):
                write_meta(self._database, connection, name, 0)
        self._delete_dropped()

    def _seal_before(self, month: int, min_rows: int) -> int:
        """Seal the keys of articles extracted before `month`, if due. Returns the number of articles."""
        with self._database.read() as connection:
            if read_meta_int(connection, SEALED_BEFORE_KEY) >= month or not has_more_rows_than(connection, min_rows):
                return 0
        sealed_count, last_url_id = 0, -1
        while ids := self._next_ids_to_seal(month, last_url_id):
            sealed_count += self._seal_articles(ids)
            last_url_id = ids[-1]
        with self._database.write() as connection:
            write_meta(self._database, connection, SEALED_BEFORE_KEY, month)
        return sealed_count

    def _next_ids_to_seal(self, month: int, last_url_id: int) -> list[int]:
        """Return the next articles with keys in the table that were extracted before `month`, ordered by url_id."""
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
        """Move the keys of these articles from the table to a new segment. Returns the number of sealed articles."""
        with self._database.write() as connection:
            serialize_saves(connection)
            present_ids = select(articles.c.url_id).where(articles.c.url_id.in_(ids))
            locked_ids = list(
                connection.scalars(present_ids.with_for_update(read=True, key_share=True))
            )  # prevents their deletion until the commit
            rows = select(near_duplicate_keys.c.band, near_duplicate_keys.c.url_id).where(
                near_duplicate_keys.c.url_id.in_(locked_ids)
            )
            entries = sorted((row.band, row.url_id) for row in connection.execute(rows))
            leaders = sorted({url_id for _, url_id in entries})
            if not leaders:
                return 0
            seal = read_meta_int(connection, SEAL_COUNTER_KEY) + 1
            write_meta(self._database, connection, SEAL_COUNTER_KEY, seal)
            bits = bucket_bits_for(len(entries))
            segment_id = insert_segment(connection, seal, seal, bits, SegmentState.READY, len(entries))
            write_buckets(connection, segment_id, bits, entries)
            rows_of_leaders = [{"url_id": url_id, "seal": seal} for url_id in leaders]
            self._database.upsert(connection, sealed_leaders, rows_of_leaders)
            connection.execute(delete(near_duplicate_keys).where(near_duplicate_keys.c.url_id.in_(leaders)))
        return len(leaders)

    def _merge_once(self) -> bool:
        """Merge one group of segments of similar size. Returns False if there was nothing to merge."""
        with self._database.write() as connection:
            merged_segments = choose_segments_to_merge(ready_segments(connection))
            if not merged_segments:
                return False
            bits = bucket_bits_for(sum(segment.entry_count for segment in merged_segments))
            segment_id = insert_segment(
                connection, merged_segments[0].first_seal, merged_segments[-1].last_seal, bits, SegmentState.BUILDING
            )
        entry_count, slice_bits = 0, max(0, bits - MERGE_SLICE_BITS)
        for slice_number in range(1 << slice_bits):
            with self._database.write() as connection:
                valid_entries = sorted(iter_valid_entries(connection, merged_segments, slice_number, slice_bits))
                write_buckets(connection, segment_id, bits, valid_entries)
                entry_count += len(valid_entries)
        with self._database.write() as connection:
            serialize_saves(connection)  # a concurrent save uses the segments that it loaded at its beginning
            if activate_merged(connection, segment_id, entry_count, merged_segments) != 1 + len(merged_segments):
                raise StoreError("another process compacts the near-duplicate keys too: nothing was lost")
        self._delete_dropped()
        return True

    def _delete_dropped(self) -> None:
        """Delete the inactive segments, a batch of buckets per transaction."""
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
    """Return the start of the month (UTC) that contains `now`, both in epoch seconds."""
    today = datetime.fromtimestamp(now, UTC)
    return int(datetime(today.year, today.month, 1, tzinfo=UTC).timestamp())


def has_more_rows_than(connection: Connection, min_rows: int) -> bool:
    """True if the key table has more than `min_rows` rows. Counts at most `min_rows` + 1 rows."""
    limited_ids = select(near_duplicate_keys.c.url_id).limit(min_rows + 1).subquery()
    return (connection.scalar(select(func.count()).select_from(limited_ids)) or 0) > min_rows


def choose_segments_to_merge(segments: Sequence[KeySegment]) -> list[KeySegment]:
    """Return the newest segments to merge; empty if there are none. `segments` are in the order of their seals.

    Chooses as many as possible, at least MIN_SEGMENTS_TO_MERGE, such that the oldest is at most three times as large as
    all others together. The number of segments, and the number of times an entry is written, are therefore logarithmic
    in the number of sealed entries.
    """
    newer_entry_counts = [0, *accumulate(segment.entry_count for segment in reversed(segments))][:-1][
        ::-1
    ]  # number of entries in all newer segments
    for position in range(len(segments) - MIN_SEGMENTS_TO_MERGE + 1):
        if segments[position].entry_count <= 3 * newer_entry_counts[position]:
            return list(segments[position:])
    return []


def insert_segment(
    connection: Connection, first_seal: int, last_seal: int, bits: int, state: SegmentState, entry_count: int = 0
) -> int:
    """Insert a row of `key_segments`. Returns the id of the segment."""
    values = {"first_seal": first_seal, "last_seal": last_seal, "bits": bits, "entries": entry_count, "state": state}
    return int(connection.execute(insert(key_segments).values(values).returning(key_segments.c.part)).scalar_one())


def write_buckets(connection: Connection, segment_id: int, bits: int, entries: Sequence[KeyEntry]) -> None:
    """Write the buckets of `entries`, which must be sorted and complete for each bucket."""
    buckets = groupby(entries, key=lambda entry: bucket_for_key(entry[0], bits))
    rows = [
        {"part": segment_id, "bucket": bucket, "entries": pack_bucket(list(bucket_entries), bits)}
        for bucket, bucket_entries in buckets
    ]
    if rows:
        connection.execute(insert(key_segment_buckets), rows)


def activate_merged(
    connection: Connection, segment_id: int, entry_count: int, merged_segments: Sequence[KeySegment]
) -> int:
    """Activate the segment `segment_id` in place of `merged_segments`.

    Returns the number of segments whose state changed.
    """
    is_new_segment = (key_segments.c.part == segment_id, key_segments.c.state == SegmentState.BUILDING)
    activated_count = connection.execute(
        update(key_segments).where(*is_new_segment).values(state=SegmentState.READY, entries=entry_count)
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
    """Iterate over the valid entries of `segments` whose keys begin with `slice_number`, a number of `bits` bits."""
    for segment in segments:
        entries = list(iter_slice_entries(connection, segment, slice_number, bits))
        seals = load_seals(connection, {url_id for _, url_id in entries})
        yield from (entry for entry in entries if contains_seal(segment, seals.get(entry[1])))


def iter_slice_entries(connection: Connection, segment: KeySegment, slice_number: int, bits: int) -> Iterator[KeyEntry]:
    """Iterate over the entries of a segment whose keys begin with `slice_number`, a number of `bits` bits, in order."""
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
    """Return the number of entries of a segment in undamaged buckets."""
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
