"""The embedder interface, and quantization and comparison of vectors. Pure, uses numpy only.

Similar texts have vectors with a high cosine. For unit vectors the cosine is the inner product. Compare only vectors of
the same `model_id`.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""(n, d) float32: n unit vectors of d dimensions, one per row."""
QuantizedVectors = NDArray[np.int8]
"""(n, d) int8: quantized vectors, each row with its own scale; see `quantize`."""

INT8_MAX = 127.0


class ModelFileError(Exception):
    """A model cannot be used. The message is one line with the file and the reason."""


class EmbeddingUnavailableError(ModelFileError):
    """The packages that run a model are not installed."""


class Embedder(Protocol):
    """An embedding model. Thread-safe.

    A model with 8-bit weights rounds by batch. Vectors of one text in different batches have a cosine of at least 0.98,
    not exactly 1.
    """

    @property
    def model_id(self) -> str:
        """Identifies the weights and their use, at most 64 characters."""

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector (d)."""

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found, in order. Text beyond the model's limit is cut."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries, in order."""


def quantize(vectors: Vectors) -> QuantizedVectors:
    """Quantize each row with the scale that maps its largest absolute value to 127.

    The cosine to any vector changes by rounding only (below 0.005 at 384 dimensions). A row of zeros stays zero.

    >>> quantize(np.array([[0.6, -0.8]], dtype=np.float32)).tolist()
    [[95, -127]]
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scale = INT8_MAX / np.where(largest > 0, largest, 1.0)
    quantized_vectors: QuantizedVectors = np.rint(vectors * scale).astype(np.int8)
    return quantized_vectors


def pack_vectors(vectors: Vectors) -> list[bytes]:
    """Quantize the rows and serialize each to d bytes for the store."""
    return [row.tobytes() for row in quantize(vectors)]


def unpack_vectors(packed_rows: Sequence[bytes]) -> QuantizedVectors:
    """Deserialize n stored vectors of equal size to (n, d) int8. Returns (0, 0) for no vectors."""
    return (
        np.frombuffer(b"".join(packed_rows), np.int8).reshape(len(packed_rows), -1)
        if packed_rows
        else np.zeros((0, 0), np.int8)
    )


def cosine_similarities(query: NDArray[np.float32], quantized_vectors: QuantizedVectors) -> NDArray[np.float32]:
    """Cosine of one vector (d,) to each row of (n, d) quantized vectors, as (n,) float32."""
    rows = quantized_vectors.astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    similarities: NDArray[np.float32] = (rows @ query / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return similarities
