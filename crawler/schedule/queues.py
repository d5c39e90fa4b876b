"""Assign URLs to queues (Wang Du 2019, WD-F1 and WD-F2). Each queue has one fetch at a time.

Heritrix has one queue per host, so a crawl of one site uses one thread. The paper assigns URLs by a hash. The limit per
host must then apply across queues (`throttle.py`).
"""

from collections.abc import Callable, Mapping
from functools import partial, reduce
from operator import xor
from struct import unpack
from types import MappingProxyType

from crawler.urls.canonical import host_of

QueueOf = Callable[[str], int]
"""Function from a URL to its queue number. The functions made in this module can be pickled."""


def elf_hash(url: str) -> int:
    """ELFHash of the URL's UTF-8 bytes, 31 bits (WD-F1, the baseline)."""
    hash_value = 0
    for byte in url.encode("utf-8", "surrogatepass"):
        hash_value = (hash_value << 4) + byte
        x = hash_value & 0xF0000000
        if x:
            hash_value = (hash_value ^ (x >> 24)) & ~x
    return hash_value & 0x7FFFFFFF


def fold_hash(url: str) -> int:
    """Fold hash of the URL: XOR of its 4-byte slices, little-endian, 31 bits (WD-F2, the paper's choice)."""
    data = url.encode("utf-8", "surrogatepass")
    data += bytes(-len(data) % 4)
    hash_value = reduce(xor, unpack(f"<{len(data) // 4}I", data), 0)
    return hash_value % 0x7FFFFFFF


def make_elf_queue_function(queues: int) -> QueueOf:
    """Make a queue function: ELFHash of the URL modulo the number of queues."""
    return partial(_hash_modulo, elf_hash, queues)


def make_fold_hash_queue_function(queues: int) -> QueueOf:
    """Make a queue function: fold hash of the URL modulo the number of queues."""
    return partial(_hash_modulo, fold_hash, queues)


def make_host_queue_function(queues: int) -> QueueOf:
    """Make a queue function with one queue per host, as in Heritrix.

    `queues` is ignored: with a modulus two hosts could share a queue.
    """
    del queues
    return _queue_for_host


def _hash_modulo(hash_url: QueueOf, queues: int, url: str) -> int:
    return hash_url(url) % queues


def _queue_for_host(url: str) -> int:
    return fold_hash(host_of(url))


QUEUE_POLICIES: Mapping[str, Callable[[int], QueueOf]] = MappingProxyType(
    {"hflp": make_fold_hash_queue_function, "elf": make_elf_queue_function, "host": make_host_queue_function}
)
