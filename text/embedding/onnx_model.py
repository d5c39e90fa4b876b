"""A model of meaning as an ONNX file and a tokenizer.json, computed by onnxruntime on one core.

Both stand in a folder or in a jar (a zip file). onnxruntime and tokenizers are loaded with the first model: who needs
none does without them.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from text.embedding.embedder import EmbeddingError, EmbeddingUnavailableError, Vectors
from text.embedding.model_spec import ModelSpec, Pooling

MAX_TOKENS = 320  # read of a text: a title and the 256 tokens behind it
MAX_CHARS_PER_TOKEN = 16  # a token; what stands behind so many times MAX_TOKENS is not even cut into tokens
MAX_BATCH_TOKENS = (
    1024  # computed at once, those that fill shorter texts up counted: larger batches take memory, not less time
)
_CAPITAL = re.compile("[A-Z]")
_SPECIAL = re.compile(r"\[.*\]|<.*>")


class OnnxEmbedder:
    """See `text.embedding.embedder.Embedder`. EmbeddingError where the files are not there or no model of meaning."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self._tokenizer = _load_tokenizer(spec)
        self._lowercases = _is_uncased(self._tokenizer)
        self._session = _create_session(spec)
        self._input_names = {model_input.name for model_input in self._session.get_inputs()}
        self.model_id = spec.model_id
        self.dimensions = self._measure_dimensions()

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._encode([self.spec.document_prefix + text for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._encode([self.spec.query_prefix + text for text in texts])

    def _encode(self, texts: Sequence[str]) -> Vectors:
        tokens = [self._token_ids(text) for text in texts]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for indices in iter_batches([len(token_ids) for token_ids in tokens]):
            vectors[indices] = self._compute_vectors([tokens[index] for index in indices])
        return vectors

    def _token_ids(self, text: str) -> list[int]:
        """The numbers of the first `MAX_TOKENS` tokens of a text; the last one is the token that ends a text."""
        text = text[: MAX_CHARS_PER_TOKEN * MAX_TOKENS].encode("utf-8", "replace").decode()  # no lone surrogates
        ids: list[int] = self._tokenizer.encode(text.lower() if self._lowercases else text).ids
        return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]

    def _compute_vectors(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        """The unit vectors of some texts, which the longest makes as long as itself."""
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, token_ids in enumerate(tokens):
            ids[row, : len(token_ids)], mask[row, : len(token_ids)] = token_ids, 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        [outputs, *_] = self._session.run(None, {name: inputs[name] for name in self._input_names})
        return normalize_rows(pool_tokens(outputs, mask, self.spec.pooling))

    def _measure_dimensions(self) -> int:
        """How many dimensions a vector has."""
        self.dimensions = 0
        try:
            [vector] = self._compute_vectors([self._token_ids("1")])
        except Exception as error:  # whatever onnxruntime raises, it has no class of its own for it
            raise EmbeddingError(
                f"{self.spec.path}: {self.spec.weights} is no model of meaning ({_one_line(error)})"
            ) from error
        if not np.isfinite(vector).all() or not vector.any():
            raise EmbeddingError(f"{self.spec.path}: {self.spec.weights} makes no vector of a text")
        return len(vector)


def iter_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of texts of these lengths, those of like length together, so many as fill `MAX_BATCH_TOKENS`."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[index] * (len(batch) + 1) > MAX_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def pool_tokens(token_vectors: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> NDArray[np.float32]:
    """(n, d) of the vectors (n, tokens, d) of texts whose tokens `mask` (n, tokens) marks; what is pooled stays."""
    if token_vectors.ndim == 2:
        return token_vectors
    if pooling is Pooling.CLS:
        first: NDArray[np.float32] = token_vectors[:, 0]
        return first
    weights = mask[:, :, None].astype(np.float32)
    mean: NDArray[np.float32] = (token_vectors * weights).sum(axis=1) / weights.sum(axis=1)
    return mean


def normalize_rows(vectors: NDArray[np.float32]) -> Vectors:
    """Each row at the length 1; a row of zeros stays one."""
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
    except Exception as error:  # tokenizers raises Exception itself
        if isinstance(error, EmbeddingError):
            raise
        raise EmbeddingError(f"{spec.path}: {spec.tokenizer} is no tokenizer ({_one_line(error)})") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _is_uncased(tokenizer: Any) -> bool:
    """Was the model taught without capital letters? Some tokenizers do not lower them, and know none of such words."""
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
    try:
        return onnxruntime.InferenceSession(
            _read_model_file(spec, spec.weights), options, providers=["CPUExecutionProvider"]
        )
    except EmbeddingError:
        raise
    except Exception as error:
        raise EmbeddingError(f"{spec.path}: {spec.weights} cannot be read ({_one_line(error)})") from error


def _read_model_file(spec: ModelSpec, name: str) -> bytes:
    """A file of the model."""
    try:
        if spec.path.is_dir():
            return (spec.path / name).read_bytes()
        with zipfile.ZipFile(spec.path) as archive:
            return archive.read(name)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise EmbeddingError(f"{spec.path}: {name} cannot be read ({_one_line(error)})") from error


def _unavailable_error(error: ImportError) -> EmbeddingUnavailableError:
    return EmbeddingUnavailableError(f"{error.name} is not installed")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
