"""Compact segments of near-duplicate keys of past months: sorted, packed, and looked up with one read per segment.

    bands           key, article                  one row per key; keys of new and changed articles
    sealed_keys     segment, bucket -> entries    sorted (key, article) pairs whose keys begin with the bucket's bits
    key_parts       the segments, and the range of seals that each contains
    sealed_leaders  article -> seal               the articles whose entries are valid

A segment is immutable. The entries of an article are valid while `sealed_leaders` lists it with a seal in the segment's
range. A deleted or changed article leaves that table, and its entries are then ignored. Lookups therefore give
the same result as table rows. docstore/near_duplicates/key_compaction.py creates and merges segments.

Format of a bucket, in bytes:

    CRC-32 of the rest    4, little-endian
    width of an article   1
    keys                  in order, without the bucket's bits: (64 - bits) / 8 rounded up, big-endian, so that they
                          compare as bytes
    articles              url_id, of the given width, little-endian

All elements have a fixed width, so they can be searched without unpacking.
"""

import zlib
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, and_, or_, select

from docstore.schema.article_tables import key_segment_buckets, key_segments, sealed_leaders
from domain.batches import batched
from domain.errors import StoreError

SIGN_OFFSET = 1 << 63
KEY_BITS = 64
TARGET_BUCKET_ENTRIES = 192  # maximum average: larger than 2 kB, PostgreSQL would move the value to a TOAST table
BUCKET_HEADER_BYTES = 5
MAX_IDS_PER_STATEMENT = 10_000

KeyEntry = tuple[int, int]  # key (64 bits, signed), url_id


class SegmentState(StrEnum):
    """Life cycle of a segment."""

    BUILDING = "building"  # not readable yet; remains in this state after a crash
    READY = "ready"
    DROPPED = "dropped"  # no longer read


@dataclass(frozen=True)
class KeySegment:
    """A row of `key_segments`: the entries of the seals `first_seal` to `last_seal`, in 2^`bucket_bits` buckets."""

    segment_id: int
    first_seal: int
    last_seal: int
    bucket_bits: int
    entry_count: int


class DamagedKeysError(StoreError):
    """The checksum of a bucket does not match."""

    def __init__(self) -> None:
        super().__init__("near-duplicate keys in the store are damaged: run `plumb check --repair`")


def bucket_bits_for(entry_count: int) -> int:
    """Return the number of key bits that select a bucket in a segment with `entry_count` entries."""
    return (entry_count // TARGET_BUCKET_ENTRIES).bit_length()


def bucket_for_key(key: int, bits: int) -> int:
    """Return the bucket number of a key. The order of buckets follows the order of keys."""
    return (key + SIGN_OFFSET) >> (KEY_BITS - bits)


def key_suffix_bytes(bits: int) -> int:
    """Return the bytes per key without the bits of the bucket."""
    return (KEY_BITS - bits + 7) // 8


def pack_bucket(entries: Sequence[KeyEntry], bits: int) -> bytes:
    """Pack entries of one bucket. `entries` must be sorted by key."""
    suffix_mask = (1 << (KEY_BITS - bits)) - 1
    width, number_width = key_suffix_bytes(bits), (max(url_id for _, url_id in entries).bit_length() + 7) // 8
    keys = b"".join(((key + SIGN_OFFSET) & suffix_mask).to_bytes(width, "big") for key, _ in entries)
    numbers = b"".join(url_id.to_bytes(number_width, "little") for _, url_id in entries)
    payload = bytes([number_width]) + keys + numbers
    return zlib.crc32(payload).to_bytes(4, "little") + payload


@dataclass(frozen=True)
class Bucket:
    """The packed entries of one bucket.

    Raises:
        DamagedKeysError: The checksum does not match.
    """

    packed_bytes: bytes
    bucket_number: int
    bucket_bits: int

    def __post_init__(self) -> None:
        if len(self.packed_bytes) <= BUCKET_HEADER_BYTES or zlib.crc32(self.packed_bytes[4:]) != int.from_bytes(
            self.packed_bytes[:4], "little"
        ):
            raise DamagedKeysError

    def __len__(self) -> int:
        return (len(self.packed_bytes) - BUCKET_HEADER_BYTES) // (
            key_suffix_bytes(self.bucket_bits) + self.packed_bytes[4]
        )

    def key_suffix(self, index: int) -> bytes:
        """Return the key at an index, without the bits of the bucket."""
        width = key_suffix_bytes(self.bucket_bits)
        return self.packed_bytes[BUCKET_HEADER_BYTES + index * width : BUCKET_HEADER_BYTES + (index + 1) * width]

    def url_id(self, index: int) -> int:
        """Return the article at an index."""
        width = self.packed_bytes[4]
        start = BUCKET_HEADER_BYTES + len(self) * key_suffix_bytes(self.bucket_bits) + index * width
        return int.from_bytes(self.packed_bytes[start : start + width], "little")

    def leaders_with_key(self, key: int) -> Iterator[int]:
        """Iterate over the articles with `key`, which must belong to this bucket."""
        suffix_mask = (1 << (KEY_BITS - self.bucket_bits)) - 1
        key_suffix = ((key + SIGN_OFFSET) & suffix_mask).to_bytes(key_suffix_bytes(self.bucket_bits), "big")
        index = bisect_left(range(len(self)), key_suffix, key=self.key_suffix)
        while index < len(self) and self.key_suffix(index) == key_suffix:
            yield self.url_id(index)
            index += 1

    def iter_entries(self) -> Iterator[KeyEntry]:
        """Iterate over all entries in order."""
        first_key = (self.bucket_number << (KEY_BITS - self.bucket_bits)) - SIGN_OFFSET
        for index in range(len(self)):
            yield first_key + int.from_bytes(self.key_suffix(index), "big"), self.url_id(index)


def ready_segments(connection: Connection) -> list[KeySegment]:
    """Return the active segments in the order of their seals."""
    query = select(key_segments).where(key_segments.c.state == SegmentState.READY).order_by(key_segments.c.first_seal)
    rows = connection.execute(query)
    return [KeySegment(row.part, row.first_seal, row.last_seal, row.bits, row.entries) for row in rows]


def iter_sealed_matches(
    connection: Connection, segments: Sequence[KeySegment], keys: Collection[int]
) -> Iterator[KeyEntry]:
    """Iterate over the valid entries with one of `keys`."""
    segment_by_id = {segment.segment_id: segment for segment in segments}
    keys_by_bucket: dict[int, dict[int, list[int]]] = {segment.segment_id: {} for segment in segments}
    for segment in segments:
        for key in keys:
            keys_by_bucket[segment.segment_id].setdefault(bucket_for_key(key, segment.bucket_bits), []).append(key)
    is_requested_bucket = or_(
        *(
            and_(key_segment_buckets.c.part == n, key_segment_buckets.c.bucket.in_(buckets))
            for n, buckets in keys_by_bucket.items()
        )
    )
    matches = []
    for row in connection.execute(select(key_segment_buckets).where(is_requested_bucket)) if segments else ():
        segment = segment_by_id[row.part]
        bucket = Bucket(row.entries, row.bucket, segment.bucket_bits)
        matches += [
            (key, url_id, segment)
            for key in keys_by_bucket[row.part][row.bucket]
            for url_id in bucket.leaders_with_key(key)
        ]
    seals = load_seals(connection, {url_id for _, url_id, _ in matches})
    yield from ((key, url_id) for key, url_id, segment in matches if contains_seal(segment, seals.get(url_id)))


def contains_seal(segment: KeySegment, seal: int | None) -> bool:
    """True if the segment contains valid entries of an article with this seal (None: the article is not sealed)."""
    return seal is not None and segment.first_seal <= seal <= segment.last_seal


def load_seals(connection: Connection, url_ids: Collection[int]) -> dict[int, int]:
    """Return the seals of the sealed articles among `url_ids`, by url_id."""
    seal_by_id: dict[int, int] = {}
    for batch in batched(sorted(url_ids), MAX_IDS_PER_STATEMENT):
        query = select(sealed_leaders.c.url_id, sealed_leaders.c.seal).where(sealed_leaders.c.url_id.in_(batch))
        seal_by_id.update((row.url_id, row.seal) for row in connection.execute(query))
    return seal_by_id
