"""Vectors that are mappings from words to weights."""

import math
from collections.abc import Mapping


def cosine(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """Cosine of two vectors (ZJ-F4, ZK-F1); 0 where one of them is zero."""
    length = math.hypot(*left.values())
    return cosine_with_unit(left, right) / length if length else 0.0


def cosine_with_unit(unit_vector: Mapping[str, float], vector: Mapping[str, float]) -> float:
    """The same where the first has length 1, which is not computed anew for every vector."""
    smaller, larger = (vector, unit_vector) if len(vector) < len(unit_vector) else (unit_vector, vector)
    dot = sum(weight * larger[word] for word, weight in smaller.items() if word in larger)
    length = math.hypot(*vector.values())
    return dot / length if length else 0.0


def normalize(vector: Mapping[str, float]) -> dict[str, float]:
    """The vector at length 1; {} for one of length 0."""
    length = math.hypot(*vector.values())
    return {word: value / length for word, value in vector.items()} if length else {}
