"""The analytic hierarchy process: weights from how much more one thing counts than another (Zhou 2019, METHODS 2.5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RANDOM_INDEX = {1: 0.0, 2: 0.0, 3: 0.58, 4: 0.90, 5: 1.12, 6: 1.24, 7: 1.32, 8: 1.41, 9: 1.45}
MAX_INCONSISTENT = 0.1


@dataclass(frozen=True)
class Weights:
    """Weights that sum to 1, and the consistency ratio CI / RI of the matrix."""

    values: tuple[float, ...]
    inconsistency: float


def weights_of(matrix: Sequence[Sequence[float]]) -> Weights:
    """The principal eigenvector of a matrix whose a_ij says how many times as much i counts as j; a_ji = 1 / a_ij.

    Raises ValueError for a matrix that is not like that, or that contradicts itself (ratio above MAX_INCONSISTENT).
    """
    rows = np.array(matrix, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[0] != rows.shape[1] or len(rows) not in RANDOM_INDEX:
        raise ValueError("the comparisons must be a square matrix of 1 to 9 rows")
    if (rows <= 0).any() or not np.allclose(rows * rows.T, 1.0):
        raise ValueError("each comparison must be above 0, and the inverse of the one the other way round")
    values, vectors = np.linalg.eig(rows)
    place = int(np.argmax(values.real))
    vector = np.abs(vectors[:, place].real)
    size = len(rows)
    index = (float(values[place].real) - size) / max(size - 1, 1)
    ratio = index / RANDOM_INDEX[size] if RANDOM_INDEX[size] else 0.0
    if ratio >= MAX_INCONSISTENT:
        raise ValueError(f"the comparisons contradict each other (ratio {ratio:.2f}, must be below {MAX_INCONSISTENT})")
    return Weights(tuple((vector / vector.sum()).tolist()), ratio)
