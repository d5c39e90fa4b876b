"""Checksums of the pages of a SQLite store, to detect damage at rest and to repair pages from a backup.

`store.db-sums` is stored next to a database that was closed cleanly:

    magic                   8 bytes
    CRC-32 of the rest      4
    page size               4
    SQLite file header      100
    CRC-32 of each page     4 each

All integers are little-endian.

Every writer deletes the file before and after its commit. The last process to close the store creates it again. The
file therefore either matches the store or does not exist.

A process that opens the database file itself loses its SQLite locks when it closes the descriptor (POSIX releases all
locks of a process on any close). `create_checksums` therefore runs only while this process has no open `Database`,
which `register_open` and `register_close` count.
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

from locks.private_files import replace_file

FILE_MAGIC = b"PLSUMS01"
CHECKSUM_FILE_SUFFIX = "-sums"  # appended to the name of the database file
PAGE_SIZE_OFFSET = 16  # in SQLite's header; two bytes, big-endian; 1 means 65,536
SQLITE_HEADER_BYTES = 100  # may differ between the store and a backup, so it is saved with the checksums
PAGES_PER_READ = 256

_open_counts: Counter[Path] = Counter()
_open_counts_lock = threading.Lock()


class ChecksumStatus(StrEnum):
    """Result of a comparison of a store with its checksums."""

    INTACT = "sound"
    DAMAGED = "damaged"
    UNKNOWN = "unknown"  # no checksum file: the store is in use or was not closed cleanly


@dataclass(frozen=True)
class PageChecksums:
    """Page size in bytes, SQLite file header, and CRC-32 of each page."""

    page_size: int
    header: bytes
    checksums: "array[int]"


def checksum_file(database: Path) -> Path:
    """Return the path of the checksum file of a database."""
    return database.with_name(database.name + CHECKSUM_FILE_SUFFIX)


def register_open(database: Path) -> None:
    """Register one open handle of this process on the database."""
    with _open_counts_lock:
        _open_counts[database.resolve()] += 1


def register_close(database: Path) -> None:
    """Unregister one open handle. When the last handle closes, create the checksum file unless it already exists."""
    with _open_counts_lock:
        _open_counts[database.resolve()] -= 1
        if _open_counts[database.resolve()] <= 0:
            del _open_counts[database.resolve()]
            with suppress(OSError):  # on a full disk the store just has no checksums
                create_checksums(database)


def delete_checksums(database: Path) -> None:
    """Delete the checksum file, because the store is being changed."""
    with suppress(FileNotFoundError):
        checksum_file(database).unlink()


def create_checksums(database: Path) -> None:
    """Create the checksum file of an idle store if it is missing.

    Does nothing if a WAL exists. Discards the result if the store changed meanwhile.
    """
    state_before = quiescent_state(database)
    if state_before is None or checksum_file(database).exists():
        return
    write_checksums(checksum_file(database), compute_checksums(database))
    if quiescent_state(database) != state_before:  # another process wrote meanwhile
        delete_checksums(database)


def quiescent_state(database: Path) -> tuple[int, int] | None:
    """Return size and modification time (ns) of a store, or None if it is not quiescent.

    A store is not quiescent if it has a WAL with content, is empty or does not exist.
    """
    wal = database.with_name(database.name + "-wal")
    try:
        if wal.exists() and wal.stat().st_size:
            return None
        file_stat = database.stat()
    except OSError:
        return None
    return (file_stat.st_size, file_stat.st_mtime_ns) if file_stat.st_size else None


def compute_checksums(database: Path, page_size: int = 0) -> PageChecksums:
    """Compute the checksums of a database file. `page_size` 0 reads the page size from the file header."""
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
    """Return the page size in a SQLite header; 4,096 if the value is invalid."""
    size = int.from_bytes(header[PAGE_SIZE_OFFSET : PAGE_SIZE_OFFSET + 2], "big")
    if size == 1:
        return 65_536
    return size if size >= 512 and size & (size - 1) == 0 else 4096


def write_checksums(path: Path, checksums: PageChecksums) -> None:
    """Write a checksum file atomically, with the permissions of the database file."""
    payload = (
        checksums.page_size.to_bytes(4, "little")
        + checksums.header.ljust(SQLITE_HEADER_BYTES, b"\0")
        + _to_little_endian(checksums.checksums).tobytes()
    )
    store = path.with_name(path.name.removesuffix(CHECKSUM_FILE_SUFFIX))
    with replace_file(path, opener=None) as file:
        file.write(FILE_MAGIC + zlib.crc32(payload).to_bytes(4, "little") + payload)
        if store.exists():
            os.fchmod(file.fileno(), stat.S_IMODE(store.stat().st_mode))


def read_checksums(path: Path) -> PageChecksums | None:
    """Read a checksum file; None if it does not exist or is damaged."""
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
    page_size, header = int.from_bytes(payload[:4], "little"), payload[4 : 4 + SQLITE_HEADER_BYTES]
    return PageChecksums(page_size, header, _to_little_endian(checksums))


def _to_little_endian(checksums: "array[int]") -> "array[int]":
    """Convert between the byte order of this machine and little-endian. Returns a copy."""
    converted_checksums = checksums[:]
    if sys.byteorder == "big":
        converted_checksums.byteswap()
    return converted_checksums


def changed_pages(expected: PageChecksums, database: Path) -> list[int]:
    """Return the numbers (from 0) of pages that differ from `expected`, including missing and additional pages."""
    current_checksums = compute_checksums(database, expected.page_size).checksums
    page_count = max(len(expected.checksums), len(current_checksums))
    return [
        n
        for n in range(page_count)
        if n >= min(len(expected.checksums), len(current_checksums)) or expected.checksums[n] != current_checksums[n]
    ]


def iter_matching_pages(backup: Path, expected: PageChecksums, page_numbers: list[int]) -> Iterator[tuple[int, bytes]]:
    """Iterate over (number, bytes) of those `page_numbers` whose content in a backup matches the checksums."""
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
    """Replace damaged pages of a store by matching pages of a backup. Returns the numbers of pages that remain damaged.

    A backup is a page-by-page copy by SQLite, so pages that were not written since are identical.
    """
    expected_checksums = read_checksums(checksum_file(database))
    if expected_checksums is None:
        return []
    damaged_page_numbers = changed_pages(expected_checksums, database)
    pages_by_number = dict(iter_matching_pages(backup, expected_checksums, damaged_page_numbers))
    with database.open("r+b") as file:
        for number, page in pages_by_number.items():
            file.seek(number * expected_checksums.page_size)
            file.write(page)
        file.truncate(len(expected_checksums.checksums) * expected_checksums.page_size)
        os.fsync(file.fileno())
    return [
        number
        for number in damaged_page_numbers
        if number not in pages_by_number and number < len(expected_checksums.checksums)
    ]


def verify_checksums(database: Path) -> ChecksumStatus:
    """Compare a store with its checksum file.

    Returns UNKNOWN without a checksum file, which every writer deletes before it changes the store.
    """
    expected_checksums = read_checksums(checksum_file(database))
    if expected_checksums is None:
        return ChecksumStatus.UNKNOWN
    changed_page_numbers = changed_pages(expected_checksums, database)
    if not checksum_file(database).exists():
        return ChecksumStatus.UNKNOWN
    return ChecksumStatus.DAMAGED if changed_page_numbers else ChecksumStatus.INTACT


if __name__ == "__main__":
    print(verify_checksums(Path(sys.argv[1])))
