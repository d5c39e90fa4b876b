"""Spreading URLs over queues (Wang Du 2019, WD-F1 and WD-F2). One fetch at a time runs per queue.

Heritrix puts all URLs of a host into one queue, so a one-site crawl runs on one thread. The paper spreads them by
a hash of the URL; the limit per host then has to stand above the queues (`throttle.py`).
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from operator import xor
from struct import unpack
from types import MappingProxyType

from crawler.urls.canonical import host_of

QueueOf = Callable[[str], int]


def elf_hash(url: str) -> int:
    """ELFHash of the URL' UTF-8 bytes, 31 bits (WD-F1, the baseline)."""
    h = 0
    for byte in url.encode("utf-8", "surrogatepass"):
        h = (h << 4) + byte
        x = h & 0xF0000000
        if x:
            h = (h ^ (x >> 24)) & ~x
    return h & 0x7FFFFFFF


def hflp(url: str) -> int:
    """Fold hash of the URL: XOR of its 4-byte slices, little-endian, 31 bits (WD-F2, the paper's choice)."""
    data = url.encode("utf-8", "surrogatepass")
    data += bytes(-len(data) % 4)
    folded = reduce(xor, unpack(f"<{len(data) // 4}I", data), 0)
    return folded % 0x7FFFFFFF


def by_elf(queues: int) -> QueueOf:
    """Queue = ELFHash of the URL modulo the number of queues."""
    return lambda url: elf_hash(url) % queues


def by_hflp(queues: int) -> QueueOf:
    """Queue = fold hash of the URL modulo the number of queues."""
    return lambda url: hflp(url) % queues


def by_host(queues: int) -> QueueOf:
    """A queue per host, as Heritrix has it. Not reduced modulo `queues`: two hosts shall not share a queue."""
    del queues
    return lambda url: hflp(host_of(url))


def sharded(queue_of: QueueOf, shards: int) -> QueueOf:
    """The same queues, once for each of so many processes: `shard_of(queue)` is the same for all pages of a host."""
    shard_of_host = lru_cache(maxsize=65_536)(lambda host: hflp(host) % _HOST_QUEUES % shards)
    return lambda url: queue_of(url) * shards + shard_of_host(host_of(url))


def shard_of(queue: int, shards: int) -> int:
    """Whose queue it is, of `shards` processes."""
    return queue % shards


_HOST_QUEUES = 101  # Hflp spreads names of hosts badly over powers of two, evenly over a prime
QUEUE_POLICIES: Mapping[str, Callable[[int], QueueOf]] = MappingProxyType(
    {"hflp": by_hflp, "elf": by_elf, "host": by_host}
)
