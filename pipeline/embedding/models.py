"""Which model reads which language: the default ones, which come as jars, or the operator's own.

    python -m pipeline.embedding.models      fetch the default models now, as `make install` does

`models.lock` lists the jars (artifacts/jars.py). What is in them, and its licence, is in NOTICE. Nothing is fetched
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

from artifacts.jars import Jar, JarSet, Note, cache_folder, is_whole, read_lock, resolve_jars
from docstore.errors import EmbedError, PlumblineError
from docstore.fields import VECTOR_SIZES
from pipeline.embedding.settings import DEFAULT, OFF, EmbedSettings
from text.embedding.spec import ModelSpec, Pooling
from text.scripts import LANGUAGES

if TYPE_CHECKING:
    from text.embedding.contract import Embedder
    from text.embedding.onnx_model import OnnxEmbedder

log = logging.getLogger(__name__)

LOCK = Path(__file__).with_name("models.lock")
PACKAGES = ("onnxruntime", "tokenizers")
INSTALL = "install them (pip install 'plumbline[meaning]', or make install), or set embed.model = 'off'"
ENGLISH_QUERIES = "Represent this sentence for searching relevant passages: "  # so the model was taught


def specs(settings: EmbedSettings, folder: Path) -> tuple[ModelSpec, ...]:
    """The models of these settings, whether or not their files are there; `folder` is the vertical's."""
    if settings.model == OFF:
        return ()
    if settings.model != DEFAULT:
        return (own_spec(settings, folder / settings.model),)
    chinese, english = locked()
    jars = jar_folder(settings)
    return (
        jar_spec(chinese, jars, "bge-small-zh-v1.5-q", ("zh",), near_enough=0.5),
        jar_spec(english, jars, "bge-small-en-v1.5-q", ("en",), near_enough=0.6, query_prefix=ENGLISH_QUERIES),
    )


def locked() -> tuple[Jar, ...]:
    """The jars of the lock: the Chinese model, the English model."""
    return read_lock(LOCK.read_text("utf-8"))


def jar_folder(settings: EmbedSettings) -> Path:
    """Where the default models' jars are kept."""
    return Path(settings.jars) if settings.jars else cache_folder("models", LOCK)


def jar_spec(
    jar: Jar, folder: Path, name: str, languages: tuple[str, ...], near_enough: float, query_prefix: str = ""
) -> ModelSpec:
    """The model in a jar of the lock."""
    return ModelSpec(
        f"{name}.{jar.sha256[:8]}",
        folder / jar.file_name,
        f"{name}.onnx",
        f"{name}-tokenizer.json",
        languages,
        query_prefix=query_prefix,
        near_enough=near_enough,
    )


def own_spec(settings: EmbedSettings, folder: Path) -> ModelSpec:
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
        near_enough=settings.near_enough,
    )


def as_text(models: Sequence[ModelSpec]) -> str:
    """Models as the store keeps them."""
    return json.dumps([{**asdict(one), "path": str(one.path)} for one in models])


def of_text(text: str) -> tuple[ModelSpec, ...]:
    """The models that `as_text` made a text of; none of those whose files are gone."""
    rows = [
        {**row, "path": Path(row["path"]), "languages": tuple(row["languages"]), "pooling": Pooling(row["pooling"])}
        for row in json.loads(text or "[]")
    ]
    found = tuple(ModelSpec(**row) for row in rows)
    return found if all(one.path.exists() for one in found) else ()


def fetch(settings: EmbedSettings, note: Note) -> None:
    """Have the default models' files, if those are wanted. Raises JarError."""
    if settings.model == DEFAULT:
        instead = "check the network, or set embed.model to a folder of your own or to 'off'"
        wanted = JarSet("the model", "models that find by meaning", 40, locked(), "embed.jars", instead)
        resolve_jars(wanted, jar_folder(settings), note)


def missing_packages() -> str:
    """What has to be installed before any model can be used, as a sentence; "" if nothing."""
    names = [name for name in PACKAGES if find_spec(name) is None]
    return f"finding by meaning needs {' and '.join(names)}: {INSTALL}" if names else ""


def make_usable(settings: EmbedSettings, note: Note) -> None:
    """Raise EmbedError or JarError unless the packages and files of the models are there; fetches the files."""
    if absent := missing_packages():
        raise EmbedError(absent)
    fetch(settings, note)


def load(spec: ModelSpec) -> "OnnxEmbedder":
    """The model of `spec`. Raises EmbedError, one line that says what to do, where it cannot be used."""
    from text.embedding.contract import EmbeddingError, EmbeddingUnavailableError
    from text.embedding.onnx_model import OnnxEmbedder  # numpy: who only names models does without

    try:
        if jar := next((jar for jar in locked() if jar.file_name == spec.path.name), None):
            check_jar(spec.path, jar)
        made = OnnxEmbedder(spec)
    except EmbeddingUnavailableError as error:
        raise EmbedError(f"finding by meaning is not installed ({error}): {INSTALL}") from error
    except EmbeddingError as error:
        raise EmbedError(f"{error}: put the right file there, or set embed.model = 'default' or 'off'") from error
    if made.dimensions not in VECTOR_SIZES:
        sizes = ", ".join(map(str, VECTOR_SIZES))
        raise EmbedError(
            f"{spec.path} makes vectors of {made.dimensions} numbers, the index has fields for {sizes}: "
            "name another model in embed.model"
        )
    return made


def check_jar(path: Path, jar: Jar) -> None:
    """Raise EmbedError unless the file is the jar of the lock."""
    if not is_whole(path, jar):
        raise EmbedError(f"{path} is missing or not the jar of the lock: delete {path.parent}, then run plumb embed")


def language_of_query(text: str) -> str:
    """The language whose model reads a query: Chinese with one Chinese character, else English."""
    return next((code for code, letters in LANGUAGES.items() if re.search(letters, text)), "en")


@dataclass
class Slot:
    """One model of a program, loaded when it is first asked for; `fault` says why it could not be."""

    spec: ModelSpec
    made: "Embedder | None" = None
    fault: str = ""


class Embedders:
    """The models of a vertical, each loaded once, when it is first needed. What cannot be loaded is said once.

    `say` hears the line for a person.
    """

    def __init__(self, wanted: Sequence[ModelSpec], say: Callable[[str], None] = log.warning) -> None:
        self._slots = [Slot(spec) for spec in wanted]
        self._say = say
        self._guard = threading.Lock()

    @property
    def specs(self) -> tuple[ModelSpec, ...]:
        """The models, loaded or not."""
        return tuple(slot.spec for slot in self._slots)

    def spec_for(self, language: str) -> ModelSpec | None:
        """The model that understands a language."""
        return next((slot.spec for slot in self._slots if slot.spec.knows(language)), None)

    def for_language(self, language: str) -> "Embedder | None":
        """The model that understands a language; None where there is none, or it cannot be used."""
        slot = next((slot for slot in self._slots if slot.spec.knows(language)), None)
        return self._loaded(slot) if slot else None

    def for_query(self, text: str) -> "Embedder | None":
        """The model that reads a query, see `language_of_query`."""
        return self.for_language(language_of_query(text))

    def _loaded(self, slot: Slot) -> "Embedder | None":
        with self._guard:
            if slot.made is None and not slot.fault:
                try:
                    slot.made = load(slot.spec)
                except EmbedError as error:
                    slot.fault = str(error)
                    self._say(f"ranking by words alone: {error}")
            return slot.made


def main() -> int:
    """Fetch the default models; a failure is said and no more: `plumb embed` tries again."""
    try:
        fetch(EmbedSettings(), print)
    except PlumblineError as error:
        print(f"not fetched yet: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
