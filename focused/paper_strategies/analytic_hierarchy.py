"""Analytic hierarchy process: weights from pairwise comparisons of importance (Zhou 2019)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RANDOM_INDEX = {1: 0.0, 2: 0.0, 3: 0.58, 4: 0.90, 5: 1.12, 6: 1.24, 7: 1.32, 8: 1.41, 9: 1.45}
MAX_CONSISTENCY_RATIO = 0.1


@dataclass(frozen=True)
class AhpWeights:
    """Weights that sum to 1, and the consistency ratio CI / RI of the matrix."""

    values: tuple[float, ...]
    consistency_ratio: float


def compute_ahp_weights(matrix: Sequence[Sequence[float]]) -> AhpWeights:
    """Return the principal eigenvector of a comparison matrix as weights.

    Args:
        matrix: a_ij is the importance of i relative to j, a_ji = 1 / a_ij.

    Raises:
        ValueError: the matrix does not have this form, or its consistency ratio is MAX_CONSISTENCY_RATIO or more.
    """
    comparisons = np.array(matrix, dtype=np.float64)
    if comparisons.ndim != 2 or comparisons.shape[0] != comparisons.shape[1] or len(comparisons) not in RANDOM_INDEX:
        raise ValueError("comparisons must be a square matrix with 1 to 9 rows")
    if (comparisons <= 0).any() or not np.allclose(comparisons * comparisons.T, 1.0):
        raise ValueError("comparisons must be above 0, and a_ji must equal 1 / a_ij")
    values, vectors = np.linalg.eig(comparisons)
    principal = int(np.argmax(values.real))
    vector = np.abs(vectors[:, principal].real)
    size = len(comparisons)
    consistency_index = (float(values[principal].real) - size) / max(size - 1, 1)
    consistency_ratio = consistency_index / RANDOM_INDEX[size] if RANDOM_INDEX[size] else 0.0
    if consistency_ratio >= MAX_CONSISTENCY_RATIO:
        raise ValueError(
            f"comparisons are inconsistent: ratio {consistency_ratio:.2f}, must be below {MAX_CONSISTENCY_RATIO}"
        )
    return AhpWeights(tuple((vector / vector.sum()).tolist()), consistency_ratio)
