"""Sparse vectors: mappings from words to weights."""

import math
from collections.abc import Mapping


def cosine(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """Cosine of two vectors (ZJ-F4, ZK-F1), 0 if one of them is zero."""
    length = math.hypot(*left.values())
    return cosine_with_unit(left, right) / length if length else 0.0


def cosine_with_unit(unit_vector: Mapping[str, float], vector: Mapping[str, float]) -> float:
    """Cosine of a unit vector and another vector. Does not compute the length of the first one."""
    smaller, larger = (vector, unit_vector) if len(vector) < len(unit_vector) else (unit_vector, vector)
    dot = sum(weight * larger[word] for word, weight in smaller.items() if word in larger)
    length = math.hypot(*vector.values())
    return dot / length if length else 0.0


def normalize(vector: Mapping[str, float]) -> dict[str, float]:
    """Scale a vector to length 1. Returns {} for the zero vector."""
    length = math.hypot(*vector.values())
    return {word: value / length for word, value in vector.items()} if length else {}
