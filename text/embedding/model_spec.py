"""Which files are a model of meaning, and how it wants to be asked. Loads nothing."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Pooling(StrEnum):
    """How the vectors of a text's tokens become one."""

    CLS = "cls"  # that of the first, which stands for all
    MEAN = "mean"


@dataclass(frozen=True)
class ModelSpec:
    """Which files are a model, and how it wants to be asked.

    `path` is a folder or a jar, `weights` and `tokenizer` the names of the files in it. `languages` are ISO 639 codes
    of what it understands, none: every language. The prefixes stand before each text. From the cosine `near_enough` on
    two texts have something in common: models differ in where that is.
    """

    model_id: str
    path: Path
    weights: str = "model.onnx"
    tokenizer: str = "tokenizer.json"
    languages: tuple[str, ...] = ()
    pooling: Pooling = Pooling.CLS
    query_prefix: str = ""
    document_prefix: str = ""
    near_enough: float = 0.5

    def supports_language(self, language: str) -> bool:
        """Does it understand texts in this language (ISO 639, maybe with a region)?"""
        return not self.languages or language.partition("-")[0] in self.languages
