"""The queue policies, and the claim of Wang Du 2019 about them as a deterministic test."""

import pytest

from crawler.schedule.queues import (
    QUEUE_POLICIES,
    elf_hash,
    fold_hash,
    make_elf_queue_function,
    make_fold_hash_queue_function,
    make_host_queue_function,
)

URLS = [
    f"http://news.cnpc.com.cn/system/2016/{day // 28 + 1:02d}/{day % 28 + 1:02d}/00{1591599 + day * 131 + n}.shtml"
    for day in range(336)
    for n in range(110)
]


def load(queues: list[int], number: int) -> tuple[int, float]:
    """Queues used, and the fullest one's load over the mean."""
    counts = [0] * number
    for queue in queues:
        counts[queue] += 1
    return sum(count > 0 for count in counts), max(counts) / (len(queues) / number)


def test_elf_reaches_25_of_100_queues_and_hflp_all() -> None:
    assert len(set(URLS)) == 36_960
    elf_used, elf_load = load([make_elf_queue_function(100)(url) for url in URLS], 100)
    hflp_used, hflp_load = load([make_fold_hash_queue_function(100)(url) for url in URLS], 100)
    assert (elf_used, hflp_used) == (25, 100)
    assert elf_load > 4.0
    assert hflp_load < 1.3


@pytest.mark.parametrize("policy", [make_elf_queue_function, make_fold_hash_queue_function], ids=["elf", "hflp"])
def test_a_prime_number_of_queues_is_even_for_both(policy: object) -> None:
    used, fullest = load([policy(101)(url) for url in URLS], 101)  # type: ignore[operator]
    assert used == 101
    assert fullest < 1.3


def test_known_values() -> None:
    # ELFHash of "a": 0x61. Hflp folds "abcdX": "abcd" as little-endian bytes, X over its first byte.
    assert elf_hash("a") == 0x61
    assert fold_hash("abcdX") == int.from_bytes(b"abcd", "little") ^ ord("X")


@pytest.mark.parametrize("hashed", [elf_hash, fold_hash], ids=["elf", "hflp"])
@pytest.mark.parametrize("text", ["", "中文" * 50, "\ud800", "\xff" * 1000], ids=["empty", "cjk", "surrogate", "high"])
def test_keys_are_31_bits_and_never_negative(hashed: object, text: str) -> None:
    assert 0 <= hashed(text) < 2**31  # type: ignore[operator]


def test_a_host_has_one_queue_of_its_own() -> None:
    queue_of = make_host_queue_function(101)
    assert queue_of("http://a.test/1") == queue_of("http://a.test/2")
    assert len({queue_of(f"http://host{n}.test/") for n in range(2000)}) == 2000


def test_names() -> None:
    assert set(QUEUE_POLICIES) == {"hflp", "elf", "host"}
