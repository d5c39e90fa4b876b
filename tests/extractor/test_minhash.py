"""Signatures of texts: similar texts have similar signatures, in Chinese and in English."""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

from domain.pagination import estimate_jaccard
from extractor.minhash import MIN_SHINGLES, NUM_PERMUTATIONS, SHINGLE_SIZE, minhash_signature

HAN = "".join(map(chr, range(0x4E00, 0x4E00 + 1500)))
WORDS = [
    f"{a}{b}{c}" for a in ("dr", "pe", "oi", "ga", "we") for b in "aeiou" for c in ("ll", "n", "ts", "x", "m", "r")
]


def chinese(chance: random.Random, size: int) -> list[str]:
    return [chance.choice(HAN) for _ in range(size)]


def english(chance: random.Random, size: int) -> list[str]:
    return [chance.choice(WORDS) for _ in range(size)]


LANGUAGES = pytest.mark.parametrize(("made", "joint"), [(chinese, ""), (english, " ")], ids=["Chinese", "English"])
Make = Callable[[random.Random, int], list[str]]


def edited(chance: random.Random, tokens: Sequence[str], edits: int) -> list[str]:
    """Return a copy with words replaced, removed and added."""
    copy = list(tokens)
    for _ in range(edits):
        at = chance.randrange(len(copy))
        copy[at : at + chance.randint(0, 2)] = chance.choices(copy, k=chance.randint(0, 2))
    return copy


def shingles(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(tokens[n : n + SHINGLE_SIZE]) for n in range(len(tokens) - SHINGLE_SIZE + 1)}


def jaccard(one: Sequence[str], other: Sequence[str]) -> float:
    return len(shingles(one) & shingles(other)) / len(shingles(one) | shingles(other))


@LANGUAGES
def test_the_estimate_is_near_the_truth(made: Make, joint: str) -> None:
    chance = random.Random(3)
    errors = []
    for _ in range(300):
        text = made(chance, chance.randint(100, 600))
        copy = edited(chance, text, chance.randint(0, 40))
        estimate = estimate_jaccard(minhash_signature(joint.join(text)), minhash_signature(joint.join(copy)))
        errors.append(estimate - jaccard(text, copy))
    assert abs(sum(errors) / len(errors)) < 0.01
    assert max(map(abs, errors)) < 0.16  # 4 standard deviations


@LANGUAGES
def test_precision_and_recall_of_copies_among_thousands(made: Make, joint: str) -> None:
    """500 texts, each with a lightly and a heavily edited copy: only the lightly edited ones are found."""
    chance = random.Random(4)
    found = wrong = light = 0
    previous: tuple[int, ...] = ()
    for _ in range(500):
        text = made(chance, 300)
        mine = minhash_signature(joint.join(text))
        light_copy, heavy_copy = edited(chance, text, 3), edited(chance, text, 60)
        if jaccard(text, light_copy) > 0.9:
            light += 1
            found += estimate_jaccard(mine, minhash_signature(joint.join(light_copy))) >= 0.8
        if jaccard(text, heavy_copy) < 0.65:
            wrong += estimate_jaccard(mine, minhash_signature(joint.join(heavy_copy))) >= 0.8
        wrong += estimate_jaccard(mine, previous) >= 0.2
        previous = mine
    assert light > 330
    assert found / light > 0.995
    assert wrong / 500 < 0.003


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            "石油大学的ＰＤＣ钻头在大庆油田用了。" * 3, "石油大学的 pdc 钻头，在大庆油田用了" * 3, id="Chinese"
        ),
        pytest.param(
            "The Drill Bits, made in Texas, sold - again! " * 3,
            "the drill bits made in texas sold again " * 3,
            id="English",
        ),
    ],
)
def test_what_does_not_count(one: str, other: str) -> None:
    assert minhash_signature(one) == minhash_signature(other) != ()


@LANGUAGES
def test_a_text_too_short_to_tell_has_none(made: Make, joint: str) -> None:
    tokens = made(random.Random(1), MIN_SHINGLES + SHINGLE_SIZE - 1)
    assert minhash_signature(joint.join(tokens[:-1])) == ()
    assert len(minhash_signature(joint.join(tokens))) == NUM_PERMUTATIONS


@pytest.mark.parametrize(
    "text", ["", "，。！" * 500, "\x00\ud800" * 500, "\U0010ffff" * 99, "a" * 100_000, " \n" * 1000]
)
def test_odd_texts(text: str) -> None:
    assert minhash_signature(text) in ((), minhash_signature(text))


def test_the_order_of_words_counts() -> None:
    words = chinese(random.Random(2), 300)
    assert estimate_jaccard(minhash_signature("".join(words)), minhash_signature("".join(reversed(words)))) < 0.1


def test_the_same_in_every_process() -> None:
    text = "".join(chinese(random.Random(5), 200))
    code = f"from extractor.minhash import minhash_signature; print(*minhash_signature({text!r}))"
    said = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert tuple(map(int, said.stdout.split())) == minhash_signature(text)
    assert all(0 <= place < 2**32 for place in minhash_signature(text))
    assert minhash_signature("石油天然气勘探开发与油气田地面工程技术规范汇编")[:3] == (
        210493419,
        94396104,
        159540766,
    )  # stores keep them
