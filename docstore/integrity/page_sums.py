"""Sums of the pages of a SQLite store, so that damage at rest is seen wherever it falls, and mended from a backup.

`store.db-sums` stands beside a store that was closed in good order and says what each page was then:

    magic (8 bytes), CRC-32 of the rest (4), page size (4), SQLite's header (100), CRC-32 of each page (4 each), numbers
    little-endian

Whoever writes to the store takes the file away before and after the commit; whoever closes the store last makes it
anew. So it is there or not, and never of an older store. A process that reads the store's file by itself loses its
locks on it (POSIX gives back all locks of a process when it closes any descriptor): `take_sums` looks only while no
`Database` of this process is open, and the others count themselves (`opened`, `closed`).
"""

import os
import stat
import sys
import threading
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

MAGIC = b"PLSUMS01"
SUFFIX = "-sums"  # of the file beside the store
PAGE_SIZE_AT = 16  # in SQLite's header, two bytes, big-endian; 1 stands for 65,536
HEADER = 100  # bytes of the first page that say of the whole file what a copy may say otherwise
AT_ONCE = 256  # pages read at a time

_open: Counter[Path] = Counter()
_guard = threading.Lock()


class Proof(StrEnum):
    """What the sums say of a store."""

    SOUND = "sound"
    DAMAGED = "damaged"
    UNKNOWN = "unknown"  # there are none: it is in use, or was not closed


@dataclass(frozen=True)
class PageSums:
    """The size of a page in bytes, the header of the file, and the CRC-32 of each page."""

    page_size: int
    header: bytes
    sums: "array[int]"


def sums_file(database: Path) -> Path:
    """Where the sums of a store are."""
    return database.with_name(database.name + SUFFIX)


def opened(database: Path) -> None:
    """This process has the store open once more."""
    with _guard:
        _open[database.resolve()] += 1


def closed(database: Path) -> None:
    """And once less; the last one makes the sums where there are none."""
    with _guard:
        _open[database.resolve()] -= 1
        if _open[database.resolve()] <= 0:
            del _open[database.resolve()]
            with suppress(OSError):  # a full disk: there are none then, which costs nothing but certainty
                take_sums(database)


def forget_sums(database: Path) -> None:
    """The store is being changed. Costs a system call."""
    with suppress(FileNotFoundError):
        sums_file(database).unlink()


def take_sums(database: Path) -> None:
    """Make the sums of a store that rests, where there are none; of one that somebody else uses none are made."""
    before = state_at_rest(database)
    if before is None or sums_file(database).exists():
        return
    write_sums(sums_file(database), sums_of(database))
    if state_at_rest(database) != before:  # somebody wrote meanwhile
        forget_sums(database)


def state_at_rest(database: Path) -> tuple[int, int] | None:
    """Size and time of a store without a write-ahead log; None while there is one, or no store."""
    wal = database.with_name(database.name + "-wal")
    try:
        if wal.exists() and wal.stat().st_size:
            return None
        found = database.stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) if found.st_size else None


def sums_of(database: Path, page_size: int = 0) -> PageSums:
    """The sums of the file as it is; `page_size` 0: as its header says."""
    sums = array("I")
    with database.open("rb", buffering=0) as file:
        header = file.read(HEADER)
        size = page_size or size_in(header)
        file.seek(0)
        while block := file.read(size * AT_ONCE):
            sums.extend(zlib.crc32(block[at : at + size]) for at in range(0, len(block), size))
    return PageSums(size, header, sums)


def size_in(header: bytes) -> int:
    """The page size in SQLite's header; 4,096 where it says nothing sensible."""
    size = int.from_bytes(header[PAGE_SIZE_AT : PAGE_SIZE_AT + 2], "big")
    if size == 1:
        return 65_536
    return size if size >= 512 and size & (size - 1) == 0 else 4096


def write_sums(path: Path, sums: PageSums) -> None:
    """Keep sums, whole or not at all."""
    rest = sums.page_size.to_bytes(4, "little") + sums.header.ljust(HEADER, b"\0") + sums.sums.tobytes()
    half = path.with_name(path.name + ".new")
    half.write_bytes(MAGIC + zlib.crc32(rest).to_bytes(4, "little") + rest)
    store = path.with_name(path.name.removesuffix(SUFFIX))
    if store.exists():  # who reads the store reads these
        half.chmod(stat.S_IMODE(store.stat().st_mode))
    os.replace(half, path)


def read_sums(path: Path) -> PageSums | None:
    """The sums that were kept; None if there are none, or they are damaged themselves."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = len(MAGIC)
    rest = data[head + 4 :]
    if (
        data[:head] != MAGIC
        or zlib.crc32(rest) != int.from_bytes(data[head : head + 4], "little")
        or len(rest) % 4
        or len(rest) < HEADER
    ):
        return None
    sums = array("I")
    sums.frombytes(rest[4 + HEADER :])
    return PageSums(int.from_bytes(rest[:4], "little"), rest[4 : 4 + HEADER], sums)


def changed_pages(kept: PageSums, database: Path) -> list[int]:
    """The pages (from 0) of the store that are not what was kept; those missing or too many are among them."""
    found = sums_of(database, kept.page_size).sums
    longest = max(len(kept.sums), len(found))
    return [n for n in range(longest) if n >= len(kept.sums) or n >= len(found) or kept.sums[n] != found[n]]


def pages_from(backup: Path, kept: PageSums, wanted: list[int]) -> Iterator[tuple[int, bytes]]:
    """Those of the `wanted` pages that a backup has exactly as they were kept, with their bytes."""
    with backup.open("rb") as file:
        for number in wanted:
            if number >= len(kept.sums):
                continue
            file.seek(number * kept.page_size)
            page = file.read(kept.page_size)
            if number == 0:
                page = kept.header + page[HEADER:]
            if zlib.crc32(page) == kept.sums[number]:
                yield number, page


def mend_pages(database: Path, backup: Path) -> list[int]:
    """Put damaged pages of a store right from a backup that has them as they were; returns those that it has not.

    A backup is SQLite's own copy page by page, so a page that was not written since is the same there.
    """
    kept = read_sums(sums_file(database))
    if kept is None:
        return []
    damaged = changed_pages(kept, database)
    found = dict(pages_from(backup, kept, damaged))
    with database.open("r+b") as file:
        for number, page in found.items():
            file.seek(number * kept.page_size)
            file.write(page)
        file.truncate(len(kept.sums) * kept.page_size)
        os.fsync(file.fileno())
    return [number for number in damaged if number not in found and number < len(kept.sums)]


def proof_of(database: Path) -> Proof:
    """Is the store what it was when its sums were made? A writer takes them away before it changes anything."""
    kept = read_sums(sums_file(database))
    if kept is None:
        return Proof.UNKNOWN
    changed = changed_pages(kept, database)
    if not sums_file(database).exists():
        return Proof.UNKNOWN
    return Proof.DAMAGED if changed else Proof.SOUND


if __name__ == "__main__":
    print(proof_of(Path(sys.argv[1])))
