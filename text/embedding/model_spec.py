"""Files and parameters of an embedding model. Loads nothing."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Pooling(StrEnum):
    """How token vectors are combined into one vector of the text."""

    CLS = "cls"  # the vector of the first token, which represents the text
    MEAN = "mean"


@dataclass(frozen=True)
class ModelSpec:
    """Files and parameters of an embedding model.

    Attributes:
        path: folder or jar with the files.
        weights: file name of the ONNX model.
        tokenizer: file name of the tokenizer.
        languages: ISO 639 codes of supported languages; empty: all.
        query_prefix: text before each query.
        document_prefix: text before each document.
        min_cosine: minimum cosine similarity for a semantic match. It depends on the model.
    """

    model_id: str
    path: Path
    weights: str = "model.onnx"
    tokenizer: str = "tokenizer.json"
    languages: tuple[str, ...] = ()
    pooling: Pooling = Pooling.CLS
    query_prefix: str = ""
    document_prefix: str = ""
    min_cosine: float = 0.5

    def supports_language(self, language: str) -> bool:
        """True if the model supports the language (ISO 639, optionally with a region)."""
        return not self.languages or language.partition("-")[0] in self.languages
