"""Vectors that are mappings from words to weights."""

import math
from collections.abc import Mapping


def cosine(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """Cosine of two vectors (ZJ-F4, ZK-F1); 0 where one of them is zero."""
    if len(right) < len(left):
        left, right = right, left
    dot = sum(weight * right[word] for word, weight in left.items() if word in right)
    lengths = math.hypot(*left.values()) * math.hypot(*right.values())
    return dot / lengths if lengths else 0.0


def unit(vector: Mapping[str, float]) -> dict[str, float]:
    """The vector at length 1; {} for one of length 0."""
    length = math.hypot(*vector.values())
    return {word: value / length for word, value in vector.items()} if length else {}
