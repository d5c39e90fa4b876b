"""The embedding model of each language: the default models, which are downloaded as jars, or the administrator's own.

    python -m pipeline.embedding.models [FOLDER]      fetch the default models now, as `make install` does

`models.lock` lists the jars (maven_jars/jar_cache.py). NOTICE describes their contents and licences. A search never
fetches models: a site without the files ranks by keywords only.
"""

import hashlib
import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import EmbeddingError, PlumblineError
from maven_jars.jar_cache import (
    Jar,
    JarSet,
    ProgressCallback,
    default_cache_folder,
    ensure_jars,
    matches_lock,
    parse_lock,
)
from pipeline.embedding.settings import DEFAULT_MODEL, MODEL_OFF, EmbedSettings
from solr_client.solr_fields import VECTOR_DIMENSIONS
from text.embedding.model_spec import ModelSpec, Pooling
from text.scripts import LANGUAGE_PATTERNS

if TYPE_CHECKING:
    from text.embedding.embedder import Embedder
    from text.embedding.onnx_model import OnnxEmbedder

log = logging.getLogger(__name__)

LOCK_FILE = Path(__file__).with_name("models.lock")
REQUIRED_PACKAGES = ("onnxruntime", "tokenizers")
INSTALL_ADVICE = "install them (pip install 'plumbline-search[meaning]', or make install), or set embed.model = 'off'"
FAILURE_PREFIX = "models not fetched: "
ENGLISH_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "  # the model was trained with it
FIELD_BY_EARLIER_NAME = {"near_enough": "min_cosine"}  # in stores of 2026-11-23


def configured_models(settings: EmbedSettings, folder: Path) -> tuple[ModelSpec, ...]:
    """Return the models of the settings, even if their files are missing.

    Args:
        folder: folder of the config file; `embed.model` is relative to it
    """
    if settings.model == MODEL_OFF:
        return ()
    if settings.model != DEFAULT_MODEL:
        return (spec_from_folder(settings, folder / settings.model),)
    chinese, english = locked_jars()
    jar_dir = jar_folder(settings)
    return (
        spec_from_jar(chinese, jar_dir, "bge-small-zh-v1.5-q", ("zh",), min_cosine=0.5),
        spec_from_jar(
            english, jar_dir, "bge-small-en-v1.5-q", ("en",), min_cosine=0.6, query_prefix=ENGLISH_QUERY_PREFIX
        ),
    )


def locked_jars() -> tuple[Jar, ...]:
    """Return the jars of the lock file: the Chinese model, the English model."""
    return parse_lock(LOCK_FILE.read_text("utf-8"))


def jar_folder(settings: EmbedSettings) -> Path:
    """Return the folder of the default models' jars."""
    return Path(settings.jars) if settings.jars else default_cache_folder("models", LOCK_FILE)


def spec_from_jar(
    jar: Jar, folder: Path, name: str, languages: tuple[str, ...], min_cosine: float, query_prefix: str = ""
) -> ModelSpec:
    """Describe the model in a jar of the lock file. `min_cosine` is the minimum similarity of a semantic match."""
    return ModelSpec(
        f"{name}.{jar.sha256[:8]}",
        folder / jar.file_name,
        f"{name}.onnx",
        f"{name}-tokenizer.json",
        languages,
        query_prefix=query_prefix,
        min_cosine=min_cosine,
    )


def spec_from_folder(settings: EmbedSettings, folder: Path) -> ModelSpec:
    """Describe the administrator's own model. Raises EmbeddingError if its files cannot be read.

    The model id contains a digest of the files and of pooling and prefixes, so any change makes it another model.
    """
    digest = hashlib.sha256(repr((settings.pooling, settings.query_prefix, settings.document_prefix)).encode())
    try:
        for name in ("model.onnx", "tokenizer.json"):
            with (folder / name).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        raise EmbeddingError(
            f"embed.model is {folder}, which has no readable {name} ({error.strerror}): "
            "choose a folder with model.onnx and tokenizer.json, or set it to 'default' or 'off'"
        ) from error
    return ModelSpec(
        f"{folder.name[:40]}.{digest.hexdigest()[:8]}",
        folder,
        languages=settings.languages,
        pooling=Pooling(settings.pooling),
        query_prefix=settings.query_prefix,
        document_prefix=settings.document_prefix,
        min_cosine=settings.near_enough,
    )


def serialize_models(models: Sequence[ModelSpec]) -> str:
    """Serialize models to JSON for the store."""
    return json.dumps([{**asdict(spec), "path": str(spec.path)} for spec in models])


def deserialize_models(text: str) -> tuple[ModelSpec, ...]:
    """Parse models from `serialize_models`; returns an empty tuple if any of their files is missing."""
    rows = [{FIELD_BY_EARLIER_NAME.get(name, name): row[name] for name in row} for row in json.loads(text or "[]")]
    for row in rows:
        row |= {"path": Path(row["path"]), "languages": tuple(row["languages"]), "pooling": Pooling(row["pooling"])}
    specs = tuple(ModelSpec(**row) for row in rows)
    return specs if all(spec.path.exists() for spec in specs) else ()


def fetch_models(settings: EmbedSettings, report_progress: ProgressCallback) -> None:
    """Fetch the files of the default models if the settings use them. Raises JarError."""
    if settings.model == DEFAULT_MODEL:
        fallback_advice = "check the network, or set embed.model to a folder of your own or to 'off'"
        jar_set = JarSet("the model", "models for semantic search", 40, locked_jars(), "embed.jars", fallback_advice)
        ensure_jars(jar_set, jar_folder(settings), report_progress)


def missing_packages_message() -> str:
    """Return a message that names the missing Python packages; "" if none is missing."""
    names = [name for name in REQUIRED_PACKAGES if find_spec(name) is None]
    return f"semantic search needs {' and '.join(names)}: {INSTALL_ADVICE}" if names else ""


def ensure_models_available(settings: EmbedSettings, report_progress: ProgressCallback) -> None:
    """Fetch missing model files.

    Raises EmbeddingError for a missing package, JarError for a file that cannot be fetched.
    """
    if missing := missing_packages_message():
        raise EmbeddingError(missing)
    fetch_models(settings, report_progress)


def load_model(spec: ModelSpec) -> "OnnxEmbedder":
    """Load the model of `spec`. Raises EmbeddingError with a one-line message that includes advice."""
    from text.embedding.embedder import EmbeddingUnavailableError, ModelFileError
    from text.embedding.onnx_model import OnnxEmbedder  # imports numpy, which callers without vectors do not need

    try:
        jar = next((jar for jar in locked_jars() if jar.file_name == spec.path.name), None)
        if jar and not matches_lock(spec.path, jar):
            advice = f"delete {spec.path.parent}, then run plumb embed"
            raise EmbeddingError(f"{spec.path} is missing or does not match the lock file: {advice}")
        embedder = OnnxEmbedder(spec)
    except EmbeddingUnavailableError as error:
        raise EmbeddingError(f"semantic search is not installed ({error}): {INSTALL_ADVICE}") from error
    except ModelFileError as error:
        raise EmbeddingError(f"{error}: put the right file there, or set embed.model = 'default' or 'off'") from error
    if embedder.dimensions not in VECTOR_DIMENSIONS:
        sizes = ", ".join(map(str, VECTOR_DIMENSIONS))
        raise EmbeddingError(
            f"{spec.path} computes vectors of {embedder.dimensions} dimensions, the index has fields for {sizes}: "
            "set embed.model to another model"
        )
    return embedder


def detect_query_language(text: str) -> str:
    """Return the language whose model embeds a query: "zh" if it contains a Chinese character, else "en"."""
    return next((code for code, pattern in LANGUAGE_PATTERNS.items() if re.search(pattern, text)), "en")


@dataclass
class ModelSlot:
    """One model, loaded on first use; `load_error` is the message of a failed load."""

    spec: ModelSpec
    embedder: "Embedder | None" = None
    load_error: str = ""


class Embedders:
    """The models of a vertical. Each is loaded once, on first use.

    Args:
        warn: called once for each model that cannot be loaded, with a message for a person
    """

    def __init__(self, specs: Sequence[ModelSpec], warn: Callable[[str], None] = log.warning) -> None:
        self._slots = [ModelSlot(spec) for spec in specs]
        self._warn = warn
        self._lock = threading.Lock()

    @property
    def specs(self) -> tuple[ModelSpec, ...]:
        """All models, loaded or not."""
        return tuple(slot.spec for slot in self._slots)

    def spec_for(self, language: str) -> ModelSpec | None:
        """Return the model that supports a language; None if there is no such model."""
        return next((slot.spec for slot in self._slots if slot.spec.supports_language(language)), None)

    def for_language(self, language: str) -> "Embedder | None":
        """Return the loaded model for a language; None if there is no such model or it cannot be loaded."""
        slot = next((slot for slot in self._slots if slot.spec.supports_language(language)), None)
        return self._load(slot) if slot else None

    def for_model(self, model_id: str) -> "Embedder | None":
        """Return the loaded model with this id; None if there is no such model or it cannot be loaded."""
        slot = next((slot for slot in self._slots if slot.spec.model_id == model_id), None)
        return self._load(slot) if slot else None

    def _load(self, slot: ModelSlot) -> "Embedder | None":
        with self._lock:
            if slot.embedder is None and not slot.load_error:
                try:
                    slot.embedder = load_model(slot.spec)
                except EmbeddingError as error:
                    slot.load_error = str(error)
                    self._warn(f"search uses keywords only: {error}")
            return slot.embedder


def main(arguments: Sequence[str]) -> int:
    """Fetch the default models into FOLDER, by default the user's cache folder; returns the exit status."""
    try:
        fetch_models(EmbedSettings(jars=next(iter(arguments), "")), print)
    except PlumblineError as error:
        print(f"{FAILURE_PREFIX}{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
