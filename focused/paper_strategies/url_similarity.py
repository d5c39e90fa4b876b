"""Do two URLs look as if they lay in the same place? (Zhou 2019: ZK-F4, ZK-A2, ZK-A3)"""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from urllib.parse import urlsplit

SAMPLE_SIZE = 50
CACHE_SIZE = 100_000  # URLs taken apart, parts, pairs of hosts


@dataclass(frozen=True)
class UrlSimilaritySettings:
    """The constants of ZK-A2, METHODS' [D], the threshold by ZK-E2 (docs/review/topics.md). `require_proper_subdomain`: a host that is contained
    must be shorter (reading b)."""

    first_label_weight: float = 0.4  # a
    label_weight_step: float = 0.1  # b
    www_divisor: float = 2.0  # d
    first_segment_weight: float = 0.5  # a'
    host_weight: float = 0.4  # alpha
    path_weight: float = 0.6  # beta
    threshold: float = 0.55
    require_proper_subdomain: bool = True


DEFAULT_SETTINGS = UrlSimilaritySettings()
SplitUrl = tuple[str, tuple[int, ...]]  # of a URL: host, letters of the parts of its path

_bit_by_character: dict[str, int] = defaultdict(
    lambda: 1 << len(_bit_by_character)
)  # character -> a bit of its own; URLs are ASCII


@lru_cache(CACHE_SIZE)
def character_bitmask(part: str) -> int:
    """The characters of a part, as bits: sets of them are compared a million times in a crawl."""
    return reduce(or_, map(_bit_by_character.__getitem__, part), 0)


def jaccard(left: int, right: int) -> float:
    """ZK-F4 over the `character_bitmask` of two parts; 0 for two empty ones."""
    union = left | right
    return (left & right).bit_count() / union.bit_count() if union else 0.0


def url_similarity(first: str, second: str, settings: UrlSimilaritySettings = DEFAULT_SETTINGS) -> float:
    """The weighted sum of ZK-A2, steps 3 to 7; 1 where one host contains the other (step 2)."""
    (host, path), (other_host, other_path) = split_url(first), split_url(second)
    host_score = host_contribution(host, other_host, settings)
    return (
        1.0 if host_score is None else host_score + settings.path_weight * path_similarity(path, other_path, settings)
    )


@lru_cache(CACHE_SIZE)
def host_contribution(host: str, second: str, settings: UrlSimilaritySettings) -> float | None:
    """What two hosts add to the sum; None where one contains the other."""
    if is_subdomain(host, second, settings.require_proper_subdomain):
        return None
    return settings.host_weight * host_similarity(host, second, settings)


def has_same_structure(first: str, second: str, settings: UrlSimilaritySettings = DEFAULT_SETTINGS) -> bool:
    """ZK-A2."""
    return url_similarity(first, second, settings) > settings.threshold


def is_subdomain(host: str, second: str, require_proper: bool) -> bool:
    """Is one of them the other with labels in front; or, read literally, a part of it or the same?"""
    if require_proper:
        return host.endswith("." + second) or second.endswith("." + host)
    return host in second or second in host


def host_similarity(host: str, second: str, settings: UrlSimilaritySettings) -> float:
    """Steps 3 and 4: labels from the left, weights a, a - b, a - 2b ..., none below 0."""
    total, weight = 0.0, settings.first_label_weight
    for first_label, second_label in zip(host.split("."), second.split("."), strict=False):
        value = jaccard(character_bitmask(first_label), character_bitmask(second_label)) / (
            settings.www_divisor if first_label == second_label == "www" else 1.0
        )
        total += max(weight, 0.0) * value
        weight -= settings.label_weight_step
    return total


def path_similarity(path: Sequence[int], second: Sequence[int], settings: UrlSimilaritySettings) -> float:
    """Steps 5 and 6: parts, as `character_bitmask`, from the left, weights a', a' / 2, a' / 4 ..."""
    total, weight = 0.0, settings.first_segment_weight
    for first_segment, second_segment in zip(path, second, strict=False):
        total += weight * jaccard(first_segment, second_segment)
        weight /= 2
    return total


@lru_cache(CACHE_SIZE)
def split_url(url: str) -> SplitUrl:
    """Host, and the `character_bitmask` of the parts of the path that are not empty."""
    parts = urlsplit(url)
    return parts.netloc, tuple(character_bitmask(part) for part in parts.path.split("/") if part)


class RelevantUrls:
    """URLs whose pages were kept. `structure_score` compares with a sample of them (ZK-A3); repeats for the same seed."""

    def __init__(
        self, seed: int = 0, sample: int = SAMPLE_SIZE, settings: UrlSimilaritySettings = DEFAULT_SETTINGS
    ) -> None:
        self._urls: list[str] = []
        self._random = random.Random(seed)
        self._sample_size = sample
        self._settings = settings

    def add(self, url: str) -> None:
        """A page was kept."""
        self._urls.append(url)

    def sample(self) -> list[SplitUrl]:
        """So many URLs at random, all of them if there are fewer."""
        take_all = len(self._urls) <= self._sample_size
        return list(map(split_url, self._urls if take_all else self._random.sample(self._urls, self._sample_size)))

    def structure_score(self, url: str, url_sample: Sequence[SplitUrl]) -> float:
        """1 if more than half of those drawn are alike, else 0; 0 for none."""
        similar_count, remaining, settings = 0, len(url_sample), self._settings
        host, path = split_url(url)
        hosts: dict[str, float | None] = {}
        for other_host, other_path in url_sample:
            if other_host not in hosts:
                hosts[other_host] = host_contribution(host, other_host, settings)
            host_score = hosts[other_host]
            similar_count += (
                host_score is None
                or host_score + settings.path_weight * path_similarity(path, other_path, settings) > settings.threshold
            )
            remaining -= 1
            if 2 * similar_count > len(url_sample):
                return 1.0
            if 2 * (similar_count + remaining) <= len(url_sample):
                break
        return 0.0
