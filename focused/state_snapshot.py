"""The state of a guide in a file, so that a start need not show the strategy every page again.

    magic | key (32 bytes) | SHA-256 of the rest (32 bytes) | pickle

The key stands for all that the state rests on beside the pages: topic, strategy, what the operator gave, the code.
Where a file has another key, is damaged or missing, all pages are shown again. The pickle may name our data classes,
arrays and collections, and nothing else: what somebody wrote into the file cannot run.
"""

import hashlib
import logging
import os
import pickle
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy
import scipy
import sklearn

logger = logging.getLogger(__name__)

FILE_MAGIC = b"plumbline guide\n"
HASH_ALGORITHM = "sha256"
_DIGEST_BYTES = hashlib.new(HASH_ALGORITHM).digest_size
_PROJECT_ROOT = Path(__file__).parent.parent
_ALLOWED_MODULE_PREFIXES = (
    "focused.",
    "crawler.focused_policy",
    "text.word_weights",
)  # modules whose classes may be named
_ALLOWED_GLOBALS = {
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("collections", "Counter"),
    ("collections", "deque"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("random", "Random"),
    ("scipy.sparse._csr", "csr_matrix"),
}


# What comes of bytes that another program wrote.
_LOAD_ERRORS = (
    *(OSError, EOFError, MemoryError, pickle.PickleError),
    *(AttributeError, ImportError, LookupError, TypeError, ValueError),
)


class StateSnapshot:
    """Where a guide's state is kept. `resources` are objects that the state refers to and that are not kept with it: the
    topic, vectors, concepts; they are the same, in the same order, whenever the key is."""

    def __init__(self, path: Path, key: bytes, external_objects: Sequence[object] = ()) -> None:
        self._path = path
        self._key = key
        self._external_objects = external_objects

    def save(self, state: object) -> None:
        """Write the state whole or not at all; a disk that does not take it is no fault of the crawl."""
        temporary_path = self._path.with_name(f"{self._path.name}.new")
        try:
            temporary_path.parent.mkdir(parents=True, exist_ok=True)
            with temporary_path.open("wb") as file:
                file.write(FILE_MAGIC + self._key + bytes(_DIGEST_BYTES))
                writer = _HashingWriter(file)
                _StatePickler(writer, self._external_objects).dump(state)
                file.seek(len(FILE_MAGIC) + _DIGEST_BYTES)
                file.write(writer.digest())
            os.replace(temporary_path, self._path)
        except OSError as error:
            with suppress(OSError):
                temporary_path.unlink(missing_ok=True)
            logger.warning("%s cannot be written (%s): the next crawl reads its pages again", self._path, error)

    def load(self) -> Any | None:
        """The state as saved; None where there is none that can be used."""
        try:
            with self._path.open("rb") as file:
                header = file.read(len(FILE_MAGIC) + 2 * _DIGEST_BYTES)
                if (
                    header[:-_DIGEST_BYTES] != FILE_MAGIC + self._key
                    or hashlib.file_digest(file, HASH_ALGORITHM).digest() != header[-_DIGEST_BYTES:]
                ):
                    return None
                file.seek(len(header))
                return _RestrictedUnpickler(file, self._external_objects).load()
        except FileNotFoundError:
            return None
        except _LOAD_ERRORS as error:
            logger.warning("%s cannot be read (%s): pages are read again", self._path, error)
            return None

    def discard(self) -> None:
        """The state is no longer that of the pages."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


@cache
def code_digest() -> str:
    """A digest of the code and data that make a state of pages, and of the libraries whose arrays are in it."""
    versions = (sys.version, numpy.__version__, scipy.__version__, sklearn.__version__)
    digest = hashlib.new(HASH_ALGORITHM, repr(versions).encode())
    folders = (_PROJECT_ROOT / "focused", _PROJECT_ROOT / "text")
    files = sorted(path for folder in folders for path in folder.rglob("*") if "__pycache__" not in path.parts)
    for path in (*files, _PROJECT_ROOT / "crawler" / "guide.py"):
        if path.is_file():
            digest.update(path.name.encode() + hashlib.new(HASH_ALGORITHM, path.read_bytes()).digest())
    return digest.hexdigest()


class _HashingWriter:
    """A file that is written, and the digest of what was."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.new(HASH_ALGORITHM)

    def write(self, data: Any) -> int:
        self._hash.update(data)
        return self._file.write(data)

    def digest(self) -> bytes:
        return self._hash.digest()


class _StatePickler(pickle.Pickler):
    def __init__(self, file: Any, external_objects: Sequence[object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._external_ids = {
            id(external): reference for reference, external in enumerate(external_objects) if external is not None
        }

    def persistent_id(self, obj: object) -> int | None:
        """The place of an object among those given."""
        return self._external_ids.get(id(obj))


class _RestrictedUnpickler(pickle.Unpickler):
    def __init__(self, file: Any, external_objects: Sequence[object]) -> None:
        super().__init__(file)
        self._external_objects = external_objects

    def persistent_load(self, pid: Any) -> object:
        """The object given at a place."""
        return self._external_objects[pid]

    def find_class(self, module: str, name: str) -> Any:
        """A class of data; UnpicklingError for whatever else a pickle may name."""
        if (module, name) in _ALLOWED_GLOBALS:
            return super().find_class(module, name)
        if module.startswith(_ALLOWED_MODULE_PREFIXES) and "." not in name:
            resolved_object = super().find_class(module, name)
            if isinstance(resolved_object, type) and resolved_object.__module__ == module:
                return resolved_object
        raise pickle.UnpicklingError(f"{module}.{name} has no place in it")
