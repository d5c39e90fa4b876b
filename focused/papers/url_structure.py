"""Do two URLs look as if they lay in the same place? (Zhou 2019: ZK-F4, ZK-A2, ZK-A3)"""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from urllib.parse import urlsplit

SAMPLE = 50
REMEMBERED = 100_000  # URLs taken apart, parts, pairs of hosts


@dataclass(frozen=True)
class StructureSettings:
    """The constants of ZK-A2 [D]; the threshold by ZK-E2 (docs/background/focused-crawling.md). `proper`: a contained
    host must be shorter (reading b)."""

    first_host: float = 0.4  # a
    host_step: float = 0.1  # b
    www: float = 2.0  # d
    first_path: float = 0.5  # a'
    host: float = 0.4  # alpha
    path: float = 0.6  # beta
    threshold: float = 0.55
    proper: bool = True


DEFAULT = StructureSettings()
Split = tuple[str, tuple[int, ...]]  # of a URL: host, letters of the parts of its path

_bits: dict[str, int] = defaultdict(lambda: 1 << len(_bits))  # character -> a bit of its own; URLs are ASCII


@lru_cache(REMEMBERED)
def letters(part: str) -> int:
    """The characters of a part, as bits: sets of them are compared a million times in a crawl."""
    return reduce(or_, map(_bits.__getitem__, part), 0)


def jaccard(left: int, right: int) -> float:
    """ZK-F4 over the `letters` of two parts; 0 for two empty ones."""
    either = left | right
    return (left & right).bit_count() / either.bit_count() if either else 0.0


def likeness(one: str, other: str, settings: StructureSettings = DEFAULT) -> float:
    """The weighted sum of ZK-A2, steps 3 to 7; 1 where one host contains the other (step 2)."""
    (host, path), (other_host, other_path) = split(one), split(other)
    of_hosts = compared_hosts(host, other_host, settings)
    return 1.0 if of_hosts is None else of_hosts + settings.path * path_likeness(path, other_path, settings)


@lru_cache(REMEMBERED)
def compared_hosts(host: str, other: str, settings: StructureSettings) -> float | None:
    """What two hosts add to the sum; None where one contains the other."""
    if contained(host, other, settings.proper):
        return None
    return settings.host * host_likeness(host, other, settings)


def same_structure(one: str, other: str, settings: StructureSettings = DEFAULT) -> bool:
    """ZK-A2."""
    return likeness(one, other, settings) > settings.threshold


def contained(host: str, other: str, proper: bool) -> bool:
    """Is one of them the other with labels in front; or, read literally, a part of it or the same?"""
    if proper:
        return host.endswith("." + other) or other.endswith("." + host)
    return host in other or other in host


def host_likeness(host: str, other: str, settings: StructureSettings) -> float:
    """Steps 3 and 4: labels from the left, weights a, a - b, a - 2b ..., none below 0."""
    total, weight = 0.0, settings.first_host
    for one, two in zip(host.split("."), other.split("."), strict=False):
        value = jaccard(letters(one), letters(two)) / (settings.www if one == two == "www" else 1.0)
        total += max(weight, 0.0) * value
        weight -= settings.host_step
    return total


def path_likeness(path: Sequence[int], other: Sequence[int], settings: StructureSettings) -> float:
    """Steps 5 and 6: parts, as `letters`, from the left, weights a', a' / 2, a' / 4 ..."""
    total, weight = 0.0, settings.first_path
    for one, two in zip(path, other, strict=False):
        total += weight * jaccard(one, two)
        weight /= 2
    return total


@lru_cache(REMEMBERED)
def split(url: str) -> Split:
    """Host, and the `letters` of the parts of the path that are not empty."""
    parts = urlsplit(url)
    return parts.netloc, tuple(letters(part) for part in parts.path.split("/") if part)


class History:
    """URLs whose pages were kept. `struct` compares with a sample of them (ZK-A3); repeats for the same seed."""

    def __init__(self, seed: int = 0, sample: int = SAMPLE, settings: StructureSettings = DEFAULT) -> None:
        self._urls: list[str] = []
        self._random = random.Random(seed)
        self._sample = sample
        self._settings = settings

    def add(self, url: str) -> None:
        """A page was kept."""
        self._urls.append(url)

    def drawn(self) -> list[Split]:
        """So many URLs at random, all of them if there are fewer."""
        few = len(self._urls) <= self._sample
        return list(map(split, self._urls if few else self._random.sample(self._urls, self._sample)))

    def struct(self, url: str, drawn: Sequence[Split]) -> float:
        """1 if more than half of those drawn are alike, else 0; 0 for none."""
        alike, left, settings = 0, len(drawn), self._settings
        host, path = split(url)
        hosts: dict[str, float | None] = {}
        for other_host, other_path in drawn:
            if other_host not in hosts:
                hosts[other_host] = compared_hosts(host, other_host, settings)
            of_hosts = hosts[other_host]
            alike += (
                of_hosts is None
                or of_hosts + settings.path * path_likeness(path, other_path, settings) > settings.threshold
            )
            left -= 1
            if 2 * alike > len(drawn):
                return 1.0
            if 2 * (alike + left) <= len(drawn):
                break
        return 0.0
