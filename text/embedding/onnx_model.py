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

from text.embedding.contract import EmbeddingError, EmbeddingUnavailableError, Vectors
from text.embedding.spec import ModelSpec, Pooling

MAX_TOKENS = 320  # read of a text: a title and the 256 tokens behind it
MAX_LETTERS = 16  # a token; what stands behind so many times MAX_TOKENS is not even cut into tokens
BATCH_TOKENS = (
    1024  # computed at once, those that fill shorter texts up counted: larger batches take memory, not less time
)
_CAPITAL = re.compile("[A-Z]")
_SPECIAL = re.compile(r"\[.*\]|<.*>")


class OnnxEmbedder:
    """See `text.embedding.contract.Embedder`. EmbeddingError where the files are not there or no model of meaning."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self._tokenizer = _tokenizer(spec)
        self._lowers = _knows_no_capitals(self._tokenizer)
        self._session = _session(spec)
        self._inputs = {one.name for one in self._session.get_inputs()}
        self.model_id = spec.model_id
        self.dimensions = self._probe()

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._encode([self.spec.document_prefix + text for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._encode([self.spec.query_prefix + text for text in texts])

    def _encode(self, texts: Sequence[str]) -> Vectors:
        tokens = [self._tokens(text) for text in texts]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for places in batches([len(one) for one in tokens]):
            vectors[places] = self._computed([tokens[place] for place in places])
        return vectors

    def _tokens(self, text: str) -> list[int]:
        """The numbers of the first `MAX_TOKENS` tokens of a text; the last one is the token that ends a text."""
        text = text[: MAX_LETTERS * MAX_TOKENS].encode("utf-8", "replace").decode()  # no lone surrogates
        ids: list[int] = self._tokenizer.encode(text.lower() if self._lowers else text).ids
        return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]

    def _computed(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        """The unit vectors of some texts, which the longest makes as long as itself."""
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(tokens):
            ids[row, : len(one)], mask[row, : len(one)] = one, 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        [found, *_] = self._session.run(None, {name: given[name] for name in self._inputs})
        return unit(pooled(found, mask, self.spec.pooling))

    def _probe(self) -> int:
        """How many dimensions a vector has."""
        self.dimensions = 0
        try:
            [found] = self._computed([self._tokens("1")])
        except Exception as error:  # whatever onnxruntime raises, it has no class of its own for it
            raise EmbeddingError(
                f"{self.spec.path}: {self.spec.weights} is no model of meaning ({_line(error)})"
            ) from error
        if not np.isfinite(found).all() or not found.any():
            raise EmbeddingError(f"{self.spec.path}: {self.spec.weights} makes no vector of a text")
        return len(found)


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of texts of these lengths, those of like length together, so many as fill `BATCH_TOKENS`."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[place] * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def pooled(found: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> NDArray[np.float32]:
    """(n, d) of the vectors (n, tokens, d) of texts whose tokens `mask` (n, tokens) marks; what is pooled stays."""
    if found.ndim == 2:
        return found
    if pooling is Pooling.CLS:
        first: NDArray[np.float32] = found[:, 0]
        return first
    weights = mask[:, :, None].astype(np.float32)
    mean: NDArray[np.float32] = (found * weights).sum(axis=1) / weights.sum(axis=1)
    return mean


def unit(vectors: NDArray[np.float32]) -> Vectors:
    """Each row at the length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: Vectors = (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return rows


def _tokenizer(spec: ModelSpec) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _unavailable(error) from error
    try:
        made = Tokenizer.from_buffer(_read(spec, spec.tokenizer))
    except Exception as error:  # tokenizers raises Exception itself
        if isinstance(error, EmbeddingError):
            raise
        raise EmbeddingError(f"{spec.path}: {spec.tokenizer} is no tokenizer ({_line(error)})") from error
    made.no_truncation()
    made.no_padding()
    return made


def _knows_no_capitals(tokenizer: Any) -> bool:
    """Was the model taught without capital letters? Some tokenizers do not lower them, and know none of such words."""
    words = tokenizer.get_vocab(with_added_tokens=True)
    return not any(_CAPITAL.search(word) and not _SPECIAL.fullmatch(word) for word in words)


def _session(spec: ModelSpec) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise _unavailable(error) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(_read(spec, spec.weights), options, providers=["CPUExecutionProvider"])
    except EmbeddingError:
        raise
    except Exception as error:
        raise EmbeddingError(f"{spec.path}: {spec.weights} cannot be read ({_line(error)})") from error


def _read(spec: ModelSpec, name: str) -> bytes:
    """A file of the model."""
    try:
        if spec.path.is_dir():
            return (spec.path / name).read_bytes()
        with zipfile.ZipFile(spec.path) as jar:
            return jar.read(name)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise EmbeddingError(f"{spec.path}: {name} cannot be read ({_line(error)})") from error


def _unavailable(error: ImportError) -> EmbeddingUnavailableError:
    return EmbeddingUnavailableError(f"{error.name} is not installed")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
