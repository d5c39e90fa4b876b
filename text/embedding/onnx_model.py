"""Embedding models as an ONNX file and a tokenizer.json, run by onnxruntime on one core.

Both files are in a folder or a jar (a zip file). onnxruntime and tokenizers are imported with the first model only.
"""

import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from text.embedding.embedder import EmbeddingUnavailableError, ModelFileError, Vectors
from text.embedding.model_spec import ModelSpec, Pooling

MAX_TOKENS = 320  # tokens per text: a title and the 256 tokens after it
MAX_CHARS_PER_TOKEN = 16  # text beyond this times MAX_TOKENS is not tokenized
# Per batch, padding included. Larger batches need more memory, not less time.
MAX_BATCH_TOKENS = 1024
_CAPITAL = re.compile("[A-Z]")
_SPECIAL = re.compile(r"\[.*\]|<.*>")


class OnnxEmbedder:
    """An `Embedder` with an ONNX model. Raises ModelFileError if the files are missing or not an embedding model."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self._tokenizer = _load_tokenizer(spec)
        self._lowercases = _is_uncased(self._tokenizer)
        self._session = _create_session(spec)
        self._input_names = {model_input.name for model_input in self._session.get_inputs()}
        self.model_id = spec.model_id
        self.dimensions = self._measure_dimensions()

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed documents; see `Embedder`."""
        return self._encode([self.spec.document_prefix + text for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries; see `Embedder`."""
        return self._encode([self.spec.query_prefix + text for text in texts])

    def _encode(self, texts: Sequence[str]) -> Vectors:
        tokens = [self._token_ids(text) for text in texts]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for indices in iter_batches([len(token_ids) for token_ids in tokens]):
            vectors[indices] = self._compute_vectors([tokens[index] for index in indices])
        return vectors

    def _token_ids(self, text: str) -> list[int]:
        """Return the ids of the first `MAX_TOKENS` tokens of a text. The last one is the end token."""
        text = text[: MAX_CHARS_PER_TOKEN * MAX_TOKENS].encode("utf-8", "replace").decode()  # no lone surrogates
        ids: list[int] = self._tokenizer.encode(text.lower() if self._lowercases else text).ids
        return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]

    def _compute_vectors(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        """Compute the unit vectors of a batch. Shorter texts are padded to the longest."""
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, token_ids in enumerate(tokens):
            ids[row, : len(token_ids)], mask[row, : len(token_ids)] = token_ids, 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        [outputs, *_] = self._session.run(None, {name: inputs[name] for name in self._input_names})
        return normalize_rows(pool_tokens(outputs, mask, self.spec.pooling))

    def _measure_dimensions(self) -> int:
        """Return the number of dimensions, measured with a short text."""
        self.dimensions = 0
        try:
            [vector] = self._compute_vectors([self._token_ids("1")])
        except Exception as error:  # onnxruntime has no base class for its errors
            raise ModelFileError(
                f"{self.spec.path}: its file {self.spec.weights} is not an embedding model ({_one_line(error)})"
            ) from error
        if not np.isfinite(vector).all() or not vector.any():
            raise ModelFileError(f"{self.spec.path}: its file {self.spec.weights} computes no vector for a text")
        return len(vector)


def iter_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield batches of text indices. Texts of similar length share a batch, up to `MAX_BATCH_TOKENS`."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[index] * (len(batch) + 1) > MAX_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def pool_tokens(token_vectors: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> NDArray[np.float32]:
    """Pool token vectors (n, tokens, d) to (n, d).

    `mask` (n, tokens) marks the tokens. Pooled input is returned unchanged.
    """
    if token_vectors.ndim == 2:
        return token_vectors
    if pooling is Pooling.CLS:
        first: NDArray[np.float32] = token_vectors[:, 0]
        return first
    weights = mask[:, :, None].astype(np.float32)
    mean: NDArray[np.float32] = (token_vectors * weights).sum(axis=1) / weights.sum(axis=1)
    return mean


def normalize_rows(vectors: NDArray[np.float32]) -> Vectors:
    """Scale each row to length 1. A row of zeros stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: Vectors = (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return rows


def _load_tokenizer(spec: ModelSpec) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _unavailable_error(error) from error
    try:
        tokenizer = Tokenizer.from_buffer(_read_model_file(spec, spec.tokenizer))
    except Exception as error:  # tokenizers raises the class Exception itself
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"embedding model {spec.path}: {spec.tokenizer} cannot be read as a tokenizer ({_one_line(error)}); "
            "download the model again"
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _is_uncased(tokenizer: Any) -> bool:
    """True if the model was trained on lower-case text.

    Some tokenizers of such models do not lower-case their input.
    """
    words = tokenizer.get_vocab(with_added_tokens=True)
    return not any(_CAPITAL.search(word) and not _SPECIAL.fullmatch(word) for word in words)


def _create_session(spec: ModelSpec) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise _unavailable_error(error) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False  # the arena never returns memory: 50 MB after a batch of documents
    weights = _read_model_file(spec, spec.weights)
    create = partial(onnxruntime.InferenceSession, sess_options=options, providers=["CPUExecutionProvider"])
    try:
        # A session keeps the bytes that it is created from, but not those of a file. This file is in memory only.
        with suppress(AttributeError, OSError), open(os.memfd_create(spec.weights), "wb") as file:
            file.write(weights)
            file.flush()
            return create(f"/proc/self/fd/{file.fileno()}")
        return create(weights)  # not Linux, or the size of files is limited
    except Exception as error:
        raise ModelFileError(f"{spec.path}: its file {spec.weights} cannot be read ({_one_line(error)})") from error


def _read_model_file(spec: ModelSpec, name: str) -> bytes:
    """Read a file of the model. Raises ModelFileError if this fails."""
    try:
        if spec.path.is_dir():
            return (spec.path / name).read_bytes()
        with zipfile.ZipFile(spec.path) as archive:
            return archive.read(name)
    except Exception as error:  # damaged bytes raise errors of zipfile, zlib and others
        raise ModelFileError(f"{spec.path}: its file {name} cannot be read ({_one_line(error)})") from error


def _unavailable_error(error: ImportError) -> EmbeddingUnavailableError:
    return EmbeddingUnavailableError(f"{error.name} is not installed")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
