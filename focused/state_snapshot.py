"""Snapshot file of a topic policy's state, so that a start need not replay every page.

    magic | key (32 bytes) | SHA-256 of the rest (32 bytes) | pickle

The key is a digest of everything the state depends on in addition to the pages: topic, strategy, administrator input
and code. A missing or damaged file, or a file with another key, is ignored and all pages are replayed. Unpickling is
restricted to our data classes, arrays and collections, so a tampered file cannot execute code.
"""

import hashlib
import logging
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

from locks.private_files import replace_file

logger = logging.getLogger(__name__)

FILE_MAGIC = b"plumbline guide\n"
HASH_ALGORITHM = "sha256"
_DIGEST_BYTES = hashlib.new(HASH_ALGORITHM).digest_size
_PROJECT_ROOT = Path(__file__).parent.parent
_ALLOWED_MODULE_PREFIXES = (
    "focused.",
    "crawler.focused_policy",
    "domain.paper_settings",
)  # modules whose classes a snapshot may refer to
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


# Errors that unpickling of arbitrary bytes can raise.
_LOAD_ERRORS = (
    *(OSError, EOFError, MemoryError, pickle.PickleError),
    *(AttributeError, ImportError, LookupError, TypeError, ValueError),
)


class StateSnapshot:
    """Snapshot file at `path`.

    `external_objects` are objects that the state refers to but that are not stored with it: topic, vectors, concepts.
    For equal keys they must be equal and in equal order.
    """

    def __init__(self, path: Path, key: bytes, external_objects: Sequence[object] = ()) -> None:
        self._path = path
        self._key = key
        self._external_objects = external_objects

    def save(self, state: object) -> None:
        """Write the state atomically.

        Write errors are logged, not raised, because the crawl can continue without a snapshot.
        """
        try:
            with replace_file(self._path) as file:
                file.write(FILE_MAGIC + self._key + bytes(_DIGEST_BYTES))
                writer = _HashingWriter(file)
                _StatePickler(writer, self._external_objects).dump(state)
                file.seek(len(FILE_MAGIC) + _DIGEST_BYTES)
                file.write(writer.digest())
        except OSError as error:
            logger.warning("%s cannot be written (%s); the next start will replay all pages", self._path, error)

    def load(self) -> Any | None:
        """Return the saved state, or None if no usable snapshot exists."""
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
            logger.warning("%s cannot be read (%s); replaying all pages", self._path, error)
            return None

    def discard(self) -> None:
        """Delete the file because it no longer matches the stored pages."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


@cache
def code_digest() -> str:
    """Return a digest of the code and libraries that determine a state.

    It covers the code and data of focused/ and text/, the versions of Python and of the array libraries.
    """
    versions = (sys.version, numpy.__version__, scipy.__version__, sklearn.__version__)
    digest = hashlib.new(HASH_ALGORITHM, repr(versions).encode())
    folders = (_PROJECT_ROOT / "focused", _PROJECT_ROOT / "text")
    files = sorted(path for folder in folders for path in folder.rglob("*") if "__pycache__" not in path.parts)
    for path in (*files, _PROJECT_ROOT / "crawler" / "focused_policy.py"):
        if path.is_file():
            digest.update(path.name.encode() + hashlib.new(HASH_ALGORITHM, path.read_bytes()).digest())
    return digest.hexdigest()


class _HashingWriter:
    """Binary file writer that computes a digest of the written bytes."""

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
        """Return the index of `obj` among the external objects, or None if it is not an external object."""
        return self._external_ids.get(id(obj))


class _RestrictedUnpickler(pickle.Unpickler):
    def __init__(self, file: Any, external_objects: Sequence[object]) -> None:
        super().__init__(file)
        self._external_objects = external_objects

    def persistent_load(self, pid: Any) -> object:
        """Return the external object with index `pid`."""
        return self._external_objects[pid]

    def find_class(self, module: str, name: str) -> Any:
        """Return an allowed data class.

        Raises:
            pickle.UnpicklingError: the pickle refers to anything else.
        """
        if (module, name) in _ALLOWED_GLOBALS:
            return super().find_class(module, name)
        if module.startswith(_ALLOWED_MODULE_PREFIXES) and "." not in name:
            resolved_object = super().find_class(module, name)
            if isinstance(resolved_object, type) and resolved_object.__module__ == module:
                return resolved_object
        raise pickle.UnpicklingError(f"snapshot refers to {module}.{name}, which is not allowed")
