"""An embedding model of half a megabyte, for tests in which the meaning of a vector does not matter.

Its tokens are bytes; the vector of a text is the mean of random vectors of its bytes. It loads in milliseconds, where
the default models take seconds in every process.
"""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

DIMENSIONS = 512
FLOAT, INT64 = 1, 7  # data types of ONNX


def small_model_settings(folder: Path) -> dict[str, object]:
    """Settings of the section `[embed]` for the model in `folder`."""
    return {"model": str(folder), "languages": ("zh", "en"), "pooling": "mean"}


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the model."""
    folder = tmp_path_factory.mktemp("small_model")
    vocabulary = {token: number for number, token in enumerate(sorted(ByteLevel.alphabet()))}
    tokenizer = Tokenizer(BPE(vocabulary, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    vectors = np.random.default_rng(0).standard_normal((len(vocabulary), DIMENSIONS)).astype("<f4")
    (folder / "model.onnx").write_bytes(lookup_model(vectors))
    return folder


def lookup_model(vectors: np.ndarray) -> bytes:
    """Serialize an ONNX model that replaces each token id by a row of `vectors` (tokens, dimensions).

    The numbers are those of the fields in onnx.proto.
    """
    rows, columns = vectors.shape
    weights = (
        integer(1, rows)
        + integer(1, columns)
        + integer(2, FLOAT)
        + message(8, b"vectors")
        + message(9, vectors.tobytes())
    )
    node = message(1, b"vectors") + message(1, b"input_ids") + message(2, b"tokens") + message(4, b"Gather")
    shape = message(1, message(2, b"texts")) + message(1, message(2, b"length"))
    ids = message(1, b"input_ids") + message(2, message(1, integer(1, INT64) + message(2, shape)))
    output_shape = shape + message(1, integer(1, columns))
    tokens = message(1, b"tokens") + message(2, message(1, integer(1, FLOAT) + message(2, output_shape)))
    graph = message(1, node) + message(2, b"lookup") + message(5, weights) + message(11, ids) + message(12, tokens)
    return integer(1, 8) + message(8, message(1, b"") + integer(2, 13)) + message(7, graph)


def integer(field: int, value: int) -> bytes:
    """Encode an integer field of a protocol buffer."""
    return varint(field << 3) + varint(value)


def message(field: int, content: bytes) -> bytes:
    """Encode a field of bytes, text or a nested message."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    """Encode a number of 7 bits a byte, the lowest first."""
    low = value & 0x7F
    return bytes([low]) if value < 0x80 else bytes([low | 0x80]) + varint(value >> 7)
