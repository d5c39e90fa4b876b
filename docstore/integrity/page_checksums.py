"""Sums of the pages of a SQLite store, so that damage at rest is seen wherever it falls, and mended from a backup.

`store.db-sums` stands beside a store that was closed in good order and says what each page was then:

    magic (8 bytes), CRC-32 of the rest (4), page size (4), SQLite's header (100), CRC-32 of each page (4 each), numbers
    little-endian

Whoever writes to the store takes the file away before and after the commit; whoever closes the store last makes it
anew. So it is there or not, and never of an older store. A process that reads the store's file by itself loses its
locks on it (POSIX gives back all locks of a process when it closes any descriptor): `create_checksums` looks only while no
`Database` of this process is open, and the others count themselves (`register_open`, `register_close`).
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

FILE_MAGIC = b"PLSUMS01"
CHECKSUM_FILE_SUFFIX = "-sums"  # of the file beside the store
PAGE_SIZE_OFFSET = 16  # in SQLite's header, two bytes, big-endian; 1 stands for 65,536
SQLITE_HEADER_BYTES = 100  # bytes of the first page that say of the whole file what a copy may say otherwise
PAGES_PER_READ = 256  # pages read at a time

_open_counts: Counter[Path] = Counter()
_open_counts_lock = threading.Lock()


class ChecksumStatus(StrEnum):
    """What the sums say of a store."""

    INTACT = "sound"
    DAMAGED = "damaged"
    UNKNOWN = "unknown"  # there are none: it is in use, or was not closed


@dataclass(frozen=True)
class PageChecksums:
    """The size of a page in bytes, the header of the file, and the CRC-32 of each page."""

    page_size: int
    header: bytes
    checksums: "array[int]"


def checksum_file(database: Path) -> Path:
    """Where the sums of a store are."""
    return database.with_name(database.name + CHECKSUM_FILE_SUFFIX)


def register_open(database: Path) -> None:
    """This process has the store open once more."""
    with _open_counts_lock:
        _open_counts[database.resolve()] += 1


def register_close(database: Path) -> None:
    """And once less; the last one makes the sums where there are none."""
    with _open_counts_lock:
        _open_counts[database.resolve()] -= 1
        if _open_counts[database.resolve()] <= 0:
            del _open_counts[database.resolve()]
            with suppress(OSError):  # a full disk: there are none then, which costs nothing but certainty
                create_checksums(database)


def delete_checksums(database: Path) -> None:
    """The store is being changed. Costs a system call."""
    with suppress(FileNotFoundError):
        checksum_file(database).unlink()


def create_checksums(database: Path) -> None:
    """Make the sums of a store that rests, where there are none; of one that somebody else uses none are made."""
    state_before = quiescent_state(database)
    if state_before is None or checksum_file(database).exists():
        return
    write_checksums(checksum_file(database), compute_checksums(database))
    if quiescent_state(database) != state_before:  # somebody wrote meanwhile
        delete_checksums(database)


def quiescent_state(database: Path) -> tuple[int, int] | None:
    """Size and time of a store without a write-ahead log; None while there is one, or no store."""
    wal = database.with_name(database.name + "-wal")
    try:
        if wal.exists() and wal.stat().st_size:
            return None
        file_stat = database.stat()
    except OSError:
        return None
    return (file_stat.st_size, file_stat.st_mtime_ns) if file_stat.st_size else None


def compute_checksums(database: Path, page_size: int = 0) -> PageChecksums:
    """The sums of the file as it is; `page_size` 0: as its header says."""
    checksums = array("I")
    with database.open("rb", buffering=0) as file:
        header = file.read(SQLITE_HEADER_BYTES)
        block_size = page_size or page_size_from_header(header)
        file.seek(0)
        while block := file.read(block_size * PAGES_PER_READ):
            checksums.extend(
                zlib.crc32(block[offset : offset + block_size]) for offset in range(0, len(block), block_size)
            )
    return PageChecksums(block_size, header, checksums)


def page_size_from_header(header: bytes) -> int:
    """The page size in SQLite's header; 4,096 where it says nothing sensible."""
    size = int.from_bytes(header[PAGE_SIZE_OFFSET : PAGE_SIZE_OFFSET + 2], "big")
    if size == 1:
        return 65_536
    return size if size >= 512 and size & (size - 1) == 0 else 4096


def write_checksums(path: Path, checksums: PageChecksums) -> None:
    """Keep sums, whole or not at all."""
    payload = (
        checksums.page_size.to_bytes(4, "little")
        + checksums.header.ljust(SQLITE_HEADER_BYTES, b"\0")
        + checksums.checksums.tobytes()
    )
    temporary_file = path.with_name(path.name + ".new")
    temporary_file.write_bytes(FILE_MAGIC + zlib.crc32(payload).to_bytes(4, "little") + payload)
    store = path.with_name(path.name.removesuffix(CHECKSUM_FILE_SUFFIX))
    if store.exists():  # who reads the store reads these
        temporary_file.chmod(stat.S_IMODE(store.stat().st_mode))
    os.replace(temporary_file, path)


def read_checksums(path: Path) -> PageChecksums | None:
    """The sums that were kept; None if there are none, or they are damaged themselves."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    magic_bytes = len(FILE_MAGIC)
    payload = data[magic_bytes + 4 :]
    if (
        data[:magic_bytes] != FILE_MAGIC
        or zlib.crc32(payload) != int.from_bytes(data[magic_bytes : magic_bytes + 4], "little")
        or len(payload) % 4
        or len(payload) < SQLITE_HEADER_BYTES
    ):
        return None
    checksums = array("I")
    checksums.frombytes(payload[4 + SQLITE_HEADER_BYTES :])
    return PageChecksums(int.from_bytes(payload[:4], "little"), payload[4 : 4 + SQLITE_HEADER_BYTES], checksums)


def changed_pages(expected: PageChecksums, database: Path) -> list[int]:
    """The pages (from 0) of the store that are not what was kept; those missing or too many are among them."""
    actual = compute_checksums(database, expected.page_size).checksums
    page_count = max(len(expected.checksums), len(actual))
    return [
        n
        for n in range(page_count)
        if n >= len(expected.checksums) or n >= len(actual) or expected.checksums[n] != actual[n]
    ]


def iter_matching_pages(backup: Path, expected: PageChecksums, page_numbers: list[int]) -> Iterator[tuple[int, bytes]]:
    """Those of the `page_numbers` pages that a backup has exactly as they were kept, with their bytes."""
    with backup.open("rb") as file:
        for number in page_numbers:
            if number >= len(expected.checksums):
                continue
            file.seek(number * expected.page_size)
            page = file.read(expected.page_size)
            if number == 0:
                page = expected.header + page[SQLITE_HEADER_BYTES:]
            if zlib.crc32(page) == expected.checksums[number]:
                yield number, page


def repair_pages(database: Path, backup: Path) -> list[int]:
    """Put damaged pages of a store right from a backup that has them as they were; returns those that it has not.

    A backup is SQLite's own copy page by page, so a page that was not written since is the same there.
    """
    expected = read_checksums(checksum_file(database))
    if expected is None:
        return []
    damaged_page_numbers = changed_pages(expected, database)
    pages_by_number = dict(iter_matching_pages(backup, expected, damaged_page_numbers))
    with database.open("r+b") as file:
        for number, page in pages_by_number.items():
            file.seek(number * expected.page_size)
            file.write(page)
        file.truncate(len(expected.checksums) * expected.page_size)
        os.fsync(file.fileno())
    return [
        number for number in damaged_page_numbers if number not in pages_by_number and number < len(expected.checksums)
    ]


def verify_checksums(database: Path) -> ChecksumStatus:
    """Is the store what it was when its sums were made? A writer takes them away before it changes anything."""
    expected = read_checksums(checksum_file(database))
    if expected is None:
        return ChecksumStatus.UNKNOWN
    changed = changed_pages(expected, database)
    if not checksum_file(database).exists():
        return ChecksumStatus.UNKNOWN
    return ChecksumStatus.DAMAGED if changed else ChecksumStatus.INTACT


if __name__ == "__main__":
    print(verify_checksums(Path(sys.argv[1])))
