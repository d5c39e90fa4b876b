"""Structural similarity of two URLs (Zhou 2019: ZK-F4, ZK-A2, ZK-A3)."""

import random
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import or_
from urllib.parse import urlsplit

from domain.paper_settings import DEFAULT_PAPERS, ZhouKunSettings

CACHE_SIZE = 100_000  # entries of each cache: split URLs, path segments, pairs of hosts


SplitUrl = tuple[str, tuple[int, ...]]  # host, character bitmasks of the path segments

# Character -> its bit. URLs are ASCII, so masks stay small.
_bit_by_character: dict[str, int] = defaultdict(lambda: 1 << len(_bit_by_character))


@lru_cache(CACHE_SIZE)
def character_bitmask(segment: str) -> int:
    """Return the set of characters of a path segment or host label as a bitmask. Masks make comparisons fast."""
    return reduce(or_, map(_bit_by_character.__getitem__, segment), 0)


def jaccard(first: int, second: int) -> float:
    """Return ZK-F4 of two bitmasks, the Jaccard index; 0 if both are empty."""
    union = first | second
    return (first & second).bit_count() / union.bit_count() if union else 0.0


def url_similarity(first: str, second: str, settings: ZhouKunSettings = DEFAULT_PAPERS.zhou_kun) -> float:
    """Return the weighted sum of ZK-A2, steps 3 to 7, or 1 if one host contains the other (step 2)."""
    (host, path), (other_host, other_path) = split_url(first), split_url(second)
    host_score = host_contribution(host, other_host, settings)
    return (
        1.0 if host_score is None else host_score + settings.path_weight * path_similarity(path, other_path, settings)
    )


@lru_cache(CACHE_SIZE)
def host_contribution(host: str, second: str, settings: ZhouKunSettings) -> float | None:
    """Return the hosts' part of the sum, or None if one host contains the other."""
    if is_subdomain(host, second, settings.host_containment == "proper"):
        return None
    return settings.host_weight * host_similarity(host, second, settings)


def is_subdomain(host: str, second: str, require_proper: bool) -> bool:
    """Return True if one host is a proper subdomain of the other; without `require_proper`, if it is a substring."""
    if require_proper:
        return host.endswith("." + second) or second.endswith("." + host)
    return host in second or second in host


def host_similarity(host: str, second: str, settings: ZhouKunSettings) -> float:
    """Return the weighted similarity of two hosts (steps 3 and 4).

    Labels are compared from the left with weights a, a - b, a - 2b ..., at least 0.
    """
    total, weight = 0.0, settings.first_label_weight
    for first_label, second_label in zip(host.split("."), second.split("."), strict=False):
        value = jaccard(character_bitmask(first_label), character_bitmask(second_label)) / (
            settings.www_divisor if first_label == second_label == "www" else 1.0
        )
        total += max(weight, 0.0) * value
        weight -= settings.label_weight_step
    return total


def path_similarity(path: Sequence[int], second: Sequence[int], settings: ZhouKunSettings) -> float:
    """Return the weighted similarity of two paths (steps 5 and 6).

    Segment bitmasks are compared from the left with weights a', a' / 2, a' / 4 ...
    """
    total, weight = 0.0, settings.first_segment_weight
    for first_segment, second_segment in zip(path, second, strict=False):
        total += weight * jaccard(first_segment, second_segment)
        weight /= 2
    return total


@lru_cache(CACHE_SIZE)
def split_url(url: str) -> SplitUrl:
    """Return the host, and the bitmasks of the path segments that are not empty."""
    parts = urlsplit(url)
    return parts.netloc, tuple(character_bitmask(part) for part in parts.path.split("/") if part)


class RelevantUrls:
    """URLs of retained pages. A random sample of them is compared with a link's URL (ZK-A3). Equal seeds repeat."""

    def __init__(self, settings: ZhouKunSettings = DEFAULT_PAPERS.zhou_kun) -> None:
        self._urls: list[str] = []
        self._random = random.Random(settings.random_seed)  # noqa: S311 (no cryptography)
        self._settings = settings

    def add(self, url: str) -> None:
        """Add the URL of a retained page."""
        self._urls.append(url)

    def sample(self) -> list[SplitUrl]:
        """Return a random sample of the URLs, or all of them if there are fewer than the sample size."""
        size = self._settings.sample_size
        return list(map(split_url, self._urls if len(self._urls) <= size else self._random.sample(self._urls, size)))

    def structure_score(self, url: str, url_sample: Sequence[SplitUrl]) -> float:
        """Return 1.0 if more than half of the sampled URLs have a similar structure, else 0.0."""
        similar_count, remaining, settings = 0, len(url_sample), self._settings
        host, path = split_url(url)
        hosts: dict[str, float | None] = {}
        for other_host, other_path in url_sample:
            if other_host not in hosts:
                hosts[other_host] = host_contribution(host, other_host, settings)
            host_score = hosts[other_host]
            similar_count += (
                host_score is None
                or host_score + settings.path_weight * path_similarity(path, other_path, settings)
                > settings.url_threshold
            )
            remaining -= 1
            if 2 * similar_count > len(url_sample):
                return 1.0
            if 2 * (similar_count + remaining) <= len(url_sample):
                break
        return 0.0
