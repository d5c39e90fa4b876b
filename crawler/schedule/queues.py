"""Spreading URLs over queues (Wang Du 2019, WD-F1 and WD-F2). One fetch at a time runs per queue.

Heritrix puts all URLs of a host into one queue, so a one-site crawl runs on one thread. The paper spreads them by
a hash of the URL; the limit per host then has to stand above the queues (`throttle.py`).
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial, reduce
from operator import xor
from struct import unpack
from types import MappingProxyType

from crawler.urls.canonical import host_of

QueueOf = Callable[[str], int]
"""The queue of a URL. Those made here can be pickled."""


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
    return partial(_modulo, elf_hash, queues)


def by_hflp(queues: int) -> QueueOf:
    """Queue = fold hash of the URL modulo the number of queues."""
    return partial(_modulo, hflp, queues)


def by_host(queues: int) -> QueueOf:
    """A queue per host, as Heritrix has it. Not reduced modulo `queues`: two hosts shall not share a queue."""
    del queues
    return _host_queue


def sharded(queue_of: QueueOf, shards: int) -> QueueOf:
    """The same queues, once for each of so many processes: `shard_of(queue)` is the same for all pages of a host."""
    return partial(_sharded, queue_of, shards)


def shard_of(queue: int, shards: int) -> int:
    """Whose queue it is, of `shards` processes."""
    return queue % shards


def _modulo(hashed: QueueOf, queues: int, url: str) -> int:
    return hashed(url) % queues


def _host_queue(url: str) -> int:
    return hflp(host_of(url))


def _sharded(queue_of: QueueOf, shards: int, url: str) -> int:
    return queue_of(url) * shards + _shard_of_host(host_of(url), shards)


@lru_cache(maxsize=65_536)
def _shard_of_host(host: str, shards: int) -> int:
    return hflp(host) % _HOST_QUEUES % shards


_HOST_QUEUES = 101  # Hflp spreads names of hosts badly over powers of two, evenly over a prime
QUEUE_POLICIES: Mapping[str, Callable[[int], QueueOf]] = MappingProxyType(
    {"hflp": by_hflp, "elf": by_elf, "host": by_host}
)
