"""How evenly queue policies spread addresses (Wang Du 2019, WD-E1, WD-F1, WD-F2), and what Bloom filters cost."""

import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import pstdev
from zlib import crc32

from benchmarks.results import Figure
from crawler.filters import FILTERS
from crawler.queues import elf_hash, hflp
from crawler.seen import fingerprint
from crawler.urls import host_of

HASHES: Mapping[str, Callable[[str], int]] = {
    "elf": elf_hash,
    "hflp": hflp,
    "crc32": lambda url: crc32(url.encode()),
    "host": lambda url: hflp(host_of(url)),
}
QUEUES = (100, 101, 128)
_SHTML = 37_000
_ADDRESSES = 1_000_000


def sharding_figures(urls: Sequence[str]) -> Iterator[Figure]:
    """Queues used, and load of the fullest by the mean, over addresses of crawlbench and dated `.shtml` ones."""
    dated = [
        f"http://news.cnpc.com.cn/system/2016/{n % 12 + 1:02}/{n % 28 + 1:02}/{1_591_599 + n:09}.shtml"
        for n in range(_SHTML)
    ]
    for name, addresses in (("crawlbench", urls), ("shtml", dated)):
        for policy, value_of in HASHES.items():
            values = [value_of(url) for url in addresses]
            for queues in QUEUES:
                load = Counter(value % queues for value in values)
                loads = [load[queue] for queue in range(queues)]
                mean = len(addresses) / queues
                where = f"queues {name} {queues}"
                yield Figure(where, policy, "queues used", len(load))
                yield Figure(where, policy, "max/mean", max(loads) / mean)
                yield Figure(where, policy, "sd/mean", pstdev(loads) / mean)


def bloom_figures(addresses: int = _ADDRESSES) -> Iterator[Figure]:
    """Operations a second, bytes an address, seconds to load, and share of wrong answers."""
    known = [fingerprint(f"http://site.test/{number}") for number in range(addresses)]
    others = [fingerprint(f"http://other.test/{number}") for number in range(addresses // 10)]
    name = f"bloom {addresses}"
    for kind, make in FILTERS.items():
        made = make(0, b"")
        started = time.process_time()
        made.update(known)
        yield Figure(name, kind, "adds_per_s", addresses / (time.process_time() - started))
        started = time.process_time()
        wrong = sum(one in made for one in others)
        yield Figure(name, kind, "tests_per_s", len(others) / (time.process_time() - started))
        data = made.dump()
        started = time.process_time()
        make(0, data)
        yield Figure(name, kind, "load_s", time.process_time() - started)
        yield Figure(name, kind, "bytes_per_url", len(data) / addresses)
        yield Figure(name, kind, "false_positives", wrong / len(others))
    yield Figure(name, "both", "peak_mb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
