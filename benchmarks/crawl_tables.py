"""Distribution of URLs over queues by queue policies (Wang Du 2019, WD-E1, WD-F1, WD-F2), and cost of Bloom filters."""

import io
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import pstdev
from zlib import crc32

from pybloom_live import ScalableBloomFilter

from benchmarks.results import Figure
from crawler.schedule.queues import elf_hash, fold_hash
from crawler.schedule.url_seen import ERROR_RATE, INITIAL_CAPACITY, url_fingerprint
from crawler.urls.canonical import host_of
from domain.batches import batched

HASHES: Mapping[str, Callable[[str], int]] = {
    "elf": elf_hash,
    "hflp": fold_hash,
    "crc32": lambda url: crc32(url.encode()),
    "host": lambda url: fold_hash(host_of(url)),
}
QUEUES = (100, 101, 128)
TURNS = (0.5, 1.0, 2.0)  # as many as a queue has URLs in the mean, times this
_SHTML = 37_000
_ADDRESSES = 1_000_000
_BATCH = 100_000


def sharding_figures(urls: Sequence[str]) -> Iterator[Figure]:
    """Measure queue policies on URLs of crawlbench and dated `.shtml` URLs.

    Figures: queues in use, load of the fullest queue relative to the mean, and the share of URLs dispatched after some
    rounds (each queue sends one URL per round).
    """
    for name, addresses in (("crawlbench", urls), ("shtml", dated_urls())):
        yield from queue_figures(name, addresses)


def dated_urls() -> list[str]:
    """Return URLs as the paper's site has them, which all end in `.shtml`."""
    return [
        f"http://news.cnpc.com.cn/system/2016/{n % 12 + 1:02}/{n % 28 + 1:02}/{1_591_599 + n:09}.shtml"
        for n in range(_SHTML)
    ]


def queue_figures(name: str, addresses: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of `sharding_figures` for some URLs."""
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
            for turns in TURNS:
                sent = sum(min(count, round(turns * mean)) for count in loads)
                yield Figure(where, policy, f"dispatched after {turns:g} x mean turns", sent / len(addresses))


def bloom_figures(addresses: int = _ADDRESSES) -> Iterator[Figure]:
    """Measure operations per second, bytes per URL, seconds to load, and the error rate of the filter of known URLs."""
    others = fingerprints("other", range(addresses // 10))
    name, kind = f"bloom {addresses}", "pybloom"
    seen = ScalableBloomFilter(INITIAL_CAPACITY, ERROR_RATE, ScalableBloomFilter.LARGE_SET_GROWTH)
    yield Figure(name, kind, "adds_per_s", addresses / added_in(seen, addresses))
    started = time.process_time()
    wrong = sum(one in seen for one in others)
    yield Figure(name, kind, "tests_per_s", len(others) / (time.process_time() - started))
    file = io.BytesIO()
    seen.tofile(file)
    file.seek(0)
    started = time.process_time()
    ScalableBloomFilter.fromfile(file)
    yield Figure(name, kind, "load_s", time.process_time() - started)
    yield Figure(name, kind, "bytes_per_url", file.tell() / addresses)
    yield Figure(name, kind, "false_positives", wrong / len(others))
    yield Figure(name, kind, "peak_mb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def added_in(seen: ScalableBloomFilter, addresses: int) -> float:
    """Return the CPU seconds to add `addresses` URLs; creating their fingerprints in batches is not counted."""
    seconds = 0.0
    for numbers in batched(range(addresses), _BATCH):
        known = fingerprints("site", numbers)
        started = time.process_time()
        for fingerprint in known:
            seen.add(fingerprint)
        seconds += time.process_time() - started
    return seconds


def fingerprints(site: str, numbers: Iterable[int]) -> list[str]:
    """Return the fingerprints of some URLs of a site."""
    return [url_fingerprint(f"http://{site}.test/{number}") for number in numbers]
