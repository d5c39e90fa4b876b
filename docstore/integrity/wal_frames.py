"""The write-ahead log of a SQLite store, read without SQLite: are there pages in it that it will pass over?

SQLite takes a log up to the first frame whose sum is wrong and forgets the rest without a word. After kill -9 only the
last frame can be wrong, cut off while it was written. So a frame of this log behind a wrong one is damage.
Format: https://www.sqlite.org/fileformat2.html#walformat
"""

import struct
from pathlib import Path

HEADER, FRAME = 32, 24
MAGIC_LITTLE, MAGIC_BIG = 0x377F0682, 0x377F0683


def damaged_frames(wal: Path) -> int:
    """How many frames of the log in use SQLite would pass over; 0 where all is well or there is no log."""
    try:
        data = wal.read_bytes()
    except OSError:
        return 0
    if len(data) < HEADER + FRAME:
        return 0
    magic, _, page_size, _, *salts = struct.unpack(">IIIIII", data[:24])
    order = {MAGIC_LITTLE: "<", MAGIC_BIG: ">"}.get(magic, "")
    if not order or page_size < 512 or summed(data[:24], order, (0, 0)) != struct.unpack(">II", data[24:32]):
        return (len(data) - HEADER) // (FRAME + max(page_size, 512) if page_size <= 65_536 else 4096 + FRAME)
    size, state = FRAME + page_size, struct.unpack(">II", data[24:32])
    ours = good = 0
    is_good = True
    for at in range(HEADER, len(data) - size + 1, size):
        frame = data[at : at + size]
        is_ours = list(struct.unpack(">II", frame[8:16])) == salts
        state = summed(frame[FRAME:], order, summed(frame[:8], order, state)) if is_good else state
        is_good = is_good and is_ours and state == struct.unpack(">II", frame[16:24])
        good += is_good
        ours = (at - HEADER) // size + 1 if is_ours else ours
    return ours - good if ours > good + 1 else 0


def summed(data: bytes, order: str, state: tuple[int, int]) -> tuple[int, int]:
    """SQLite's sum of the log, over 32-bit words two at a time."""
    first, second = state
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second
