"""Keys of near-duplicates of past months: sorted, packed, and found by one read each.

    bands          key, article                  a row each; what is new and what has changed
    sealed_keys    part, bucket -> entries       the sorted (key, article) pairs whose keys begin with the bucket's bits
    key_parts      which parts there are, and the seals that each holds
    sealed_leaders article -> seal               whose entries count

A part is never changed. The entries of an article count while it is in `sealed_leaders` with a seal that the part
holds: an article that is deleted or changes leaves that table, and what it has left in parts is ignored from then on.
So the same copies are found as in rows. docstore/grouping/sealing.py makes parts and merges them.

The entries of a bucket, in bytes: CRC-32 of what follows (4, little-endian), width of an article's number (1), the keys
without the bits that the bucket says, in order (each (64 - bits) / 8 rounded up, big-endian: they compare as bytes),
then the articles (`url_id`, each of that width, little-endian). Numbers of one width need no unpacking to be searched.
"""

import zlib
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, and_, or_, select

from docstore.batches import batched
from docstore.errors import StoreError
from docstore.schema.article_tables import key_parts, sealed_keys, sealed_leaders

SIGN = 1 << 63
KEY_BITS = 64
BUCKET_ENTRIES = 192  # at most, on average: a row of PostgreSQL that stays below the 2 kB from which it is kept apart
HEAD = 5  # bytes before the keys
AT_ONCE = 10_000  # numbers in one statement

Entry = tuple[int, int]  # key (64 bits, signed), url_id


class PartState(StrEnum):
    """What becomes of a part."""

    BUILDING = "building"  # nobody reads it yet; what a killed process was at
    READY = "ready"
    DROPPED = "dropped"  # nobody reads it any more


@dataclass(frozen=True)
class KeyPart:
    """A row of `key_parts`: the entries of the seals `first` to `last`, in two to the power of `bits` buckets."""

    part: int
    first: int
    last: int
    bits: int
    entries: int


class DamagedKeysError(StoreError):
    """A bucket that is not what was written."""

    def __init__(self) -> None:
        super().__init__("keys of near-duplicates in the store are damaged: run `plumb check --repair`")


def bits_for(entries: int) -> int:
    """How many bits of a key tell the bucket of a part of so many entries."""
    return (entries // BUCKET_ENTRIES).bit_length()


def bucket_of(key: int, bits: int) -> int:
    """The bucket of a key; keys in order have buckets in order."""
    return (key + SIGN) >> (KEY_BITS - bits)


def key_width(bits: int) -> int:
    """Bytes of a key without its bucket's bits."""
    return (KEY_BITS - bits + 7) // 8


def pack(entries: Sequence[Entry], bits: int) -> bytes:
    """The bytes of a bucket. `entries` are some of one bucket, in order."""
    rest = (1 << (KEY_BITS - bits)) - 1
    width, number_width = key_width(bits), (max(url_id for _, url_id in entries).bit_length() + 7) // 8
    keys = b"".join(((key + SIGN) & rest).to_bytes(width, "big") for key, _ in entries)
    numbers = b"".join(url_id.to_bytes(number_width, "little") for _, url_id in entries)
    packed = bytes([number_width]) + keys + numbers
    return zlib.crc32(packed).to_bytes(4, "little") + packed


@dataclass(frozen=True)
class Bucket:
    """The packed entries of a bucket of a part. Raises DamagedKeysError where they are not what was written."""

    packed: bytes
    number: int
    bits: int

    def __post_init__(self) -> None:
        if len(self.packed) <= HEAD or zlib.crc32(self.packed[4:]) != int.from_bytes(self.packed[:4], "little"):
            raise DamagedKeysError

    def __len__(self) -> int:
        return (len(self.packed) - HEAD) // (key_width(self.bits) + self.packed[4])

    def suffix(self, place: int) -> bytes:
        """The key at a place, without the bucket's bits."""
        width = key_width(self.bits)
        return self.packed[HEAD + place * width : HEAD + (place + 1) * width]

    def url_id(self, place: int) -> int:
        """The article at a place."""
        width = self.packed[4]
        start = HEAD + len(self) * key_width(self.bits) + place * width
        return int.from_bytes(self.packed[start : start + width], "little")

    def leaders(self, key: int) -> Iterator[int]:
        """The articles that have left `key`, which belongs into this bucket."""
        rest = (1 << (KEY_BITS - self.bits)) - 1
        wanted = ((key + SIGN) & rest).to_bytes(key_width(self.bits), "big")
        place = bisect_left(range(len(self)), wanted, key=self.suffix)
        while place < len(self) and self.suffix(place) == wanted:
            yield self.url_id(place)
            place += 1

    def entries(self) -> Iterator[Entry]:
        """All of it, in order."""
        first = (self.number << (KEY_BITS - self.bits)) - SIGN
        for place in range(len(self)):
            yield first + int.from_bytes(self.suffix(place), "big"), self.url_id(place)


def ready_parts(connection: Connection) -> list[KeyPart]:
    """The parts that count, in the order of their seals."""
    query = select(key_parts).where(key_parts.c.state == PartState.READY).order_by(key_parts.c.first_seal)
    rows = connection.execute(query)
    return [KeyPart(row.part, row.first_seal, row.last_seal, row.bits, row.entries) for row in rows]


def sealed_sharing(connection: Connection, parts: Sequence[KeyPart], keys: Collection[int]) -> Iterator[Entry]:
    """The entries that count and have one of `keys`."""
    known = {part.part: part for part in parts}
    wanted: dict[int, dict[int, list[int]]] = {part.part: {} for part in parts}
    for part in parts:
        for key in keys:
            wanted[part.part].setdefault(bucket_of(key, part.bits), []).append(key)
    is_one = or_(*(and_(sealed_keys.c.part == n, sealed_keys.c.bucket.in_(buckets)) for n, buckets in wanted.items()))
    found = []
    for row in connection.execute(select(sealed_keys).where(is_one)) if parts else ():
        part = known[row.part]
        bucket = Bucket(row.entries, row.bucket, part.bits)
        found += [(key, url_id, part) for key in wanted[row.part][row.bucket] for url_id in bucket.leaders(key)]
    seals = seals_of(connection, {url_id for _, url_id, _ in found})
    yield from ((key, url_id) for key, url_id, part in found if holds(part, seals.get(url_id)))


def holds(part: KeyPart, seal: int | None) -> bool:
    """Do the entries in `part` count of an article with this seal (None: it has none)?"""
    return seal is not None and part.first <= seal <= part.last


def seals_of(connection: Connection, url_ids: Collection[int]) -> dict[int, int]:
    """The seals of those articles that have one: url_id -> seal."""
    found: dict[int, int] = {}
    for batch in batched(sorted(url_ids), AT_ONCE):
        query = select(sealed_leaders.c.url_id, sealed_leaders.c.seal).where(sealed_leaders.c.url_id.in_(batch))
        found.update((row.url_id, row.seal) for row in connection.execute(query))
    return found
