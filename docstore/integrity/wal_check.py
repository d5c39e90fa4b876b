"""Check of the write-ahead log (WAL) of a SQLite store, without SQLite: frames that SQLite would silently ignore.

SQLite reads a WAL up to the first frame with a wrong checksum and ignores the rest. After kill -9 only the last frame
can be incomplete. A frame of the same WAL after a wrong frame is therefore damage. Format:
https://www.sqlite.org/fileformat2.html#walformat
"""

import struct
from pathlib import Path

WAL_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24
LITTLE_ENDIAN_MAGIC, BIG_ENDIAN_MAGIC = 0x377F0682, 0x377F0683


def count_damaged_frames(wal: Path) -> int:
    """Return the number of frames of the current WAL that SQLite would ignore; 0 if it is intact or does not exist."""
    try:
        data = wal.read_bytes()
    except OSError:
        return 0
    if len(data) < WAL_HEADER_BYTES + FRAME_HEADER_BYTES:
        return 0
    magic, _, page_size, _, *salts = struct.unpack(">IIIIII", data[:24])
    byte_order = {LITTLE_ENDIAN_MAGIC: "<", BIG_ENDIAN_MAGIC: ">"}.get(magic, "")
    if (
        not byte_order
        or page_size < 512
        or wal_checksum(data[:24], byte_order, (0, 0)) != struct.unpack(">II", data[24:32])
    ):
        return (len(data) - WAL_HEADER_BYTES) // (
            FRAME_HEADER_BYTES + max(page_size, 512) if page_size <= 65_536 else 4096 + FRAME_HEADER_BYTES
        )
    size, state = FRAME_HEADER_BYTES + page_size, struct.unpack(">II", data[24:32])
    last_current_frame = valid_frames = 0
    is_valid = True
    for offset in range(WAL_HEADER_BYTES, len(data) - size + 1, size):
        frame = data[offset : offset + size]
        is_current_log = list(struct.unpack(">II", frame[8:16])) == salts
        state = (
            wal_checksum(frame[FRAME_HEADER_BYTES:], byte_order, wal_checksum(frame[:8], byte_order, state))
            if is_valid
            else state
        )
        is_valid = is_valid and is_current_log and state == struct.unpack(">II", frame[16:24])
        valid_frames += is_valid
        last_current_frame = (offset - WAL_HEADER_BYTES) // size + 1 if is_current_log else last_current_frame
    return last_current_frame - valid_frames if last_current_frame > valid_frames + 1 else 0


def wal_checksum(data: bytes, byte_order: str, state: tuple[int, int]) -> tuple[int, int]:
    """Return SQLite's WAL checksum of `data`, continued from `state`."""
    first, second = state
    words = struct.unpack(f"{byte_order}{len(data) // 4}I", data)
    for word_a, word_b in zip(words[::2], words[1::2], strict=True):
        first = (first + word_a + second) & 0xFFFFFFFF
        second = (second + word_b + first) & 0xFFFFFFFF
    return first, second
