"""What a model of meaning promises, and how its vectors are kept and compared. Pure but for numpy.

Texts that mean alike have vectors that point alike: how alike is the cosine of the angle between them, which for unit
vectors is their inner product. Only vectors of the same `model_id` may be compared.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""(n, d) float32: n unit vectors of d dimensions, one a row."""
QuantizedVectors = NDArray[np.int8]
"""(n, d) int8: the same, each row by a scale of its own; see `quantised`."""

INT8_MAX = 127.0


class EmbeddingError(Exception):
    """A model cannot be used: the text is one line that says why, and names the file."""


class EmbeddingUnavailableError(EmbeddingError):
    """The packages that compute a model are not installed."""


class Embedder(Protocol):
    """A model of meaning. Safe to use from several threads.

    A model whose weights are bytes rounds by what is computed together: the vectors of one text in different company
    have a cosine of .98 or more, not 1.
    """

    @property
    def model_id(self) -> str:
        """Names the weights and how they are used: at most 64 characters."""

    @property
    def dimensions(self) -> int:
        """d: how many numbers a vector has."""

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that are to be found, in their order. What is longer than the model reads is cut."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """The vectors of what somebody looks for."""


def quantize(vectors: Vectors) -> QuantizedVectors:
    """Each row by the scale that makes its largest number 127, rounded: the cosine to any vector stays as it was but
    for the rounding (below .005 at 384 dimensions). A row of zeros stays one.

    >>> quantised(np.array([[0.6, -0.8]], dtype=np.float32)).tolist()
    [[95, -127]]
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scale = INT8_MAX / np.where(largest > 0, largest, 1.0)
    quantized_vectors: QuantizedVectors = np.rint(vectors * scale).astype(np.int8)
    return quantized_vectors


def pack_vectors(vectors: Vectors) -> list[bytes]:
    """Each row `quantize`, as the store keeps it: d bytes."""
    return [row.tobytes() for row in quantize(vectors)]


def unpack_vectors(packed_rows: Sequence[bytes]) -> QuantizedVectors:
    """(n, d) int8 of n kept vectors, all of the same size; (0, 0) of none."""
    return (
        np.frombuffer(b"".join(packed_rows), np.int8).reshape(len(packed_rows), -1)
        if packed_rows
        else np.zeros((0, 0), np.int8)
    )


def cosine_similarities(query: NDArray[np.float32], quantized_vectors: QuantizedVectors) -> NDArray[np.float32]:
    """The cosine, (n,) float32, of one vector (d,) to each of (n, d) quantised ones."""
    rows = quantized_vectors.astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    similarities: NDArray[np.float32] = (rows @ query / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return similarities
