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

MAGIC = b"plumbline guide\n"
HASH = "sha256"
_SIZE = hashlib.new(HASH).digest_size
_ROOT = Path(__file__).parent.parent
_OURS = ("focused.", "crawler.guide", "text.word_weights")  # modules whose classes may be named
_DATA = {
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
_UNREADABLE = (
    *(OSError, EOFError, MemoryError, pickle.PickleError),
    *(AttributeError, ImportError, LookupError, TypeError, ValueError),
)


class Snapshot:
    """Where a guide's state is kept. `given` are objects that the state refers to and that are not kept with it: the
    topic, vectors, concepts; they are the same, in the same order, whenever the key is."""

    def __init__(self, path: Path, key: bytes, given: Sequence[object] = ()) -> None:
        self._path = path
        self._key = key
        self._given = given

    def save(self, state: object) -> None:
        """Write the state whole or not at all; a disk that does not take it is no fault of the crawl."""
        new = self._path.with_name(f"{self._path.name}.new")
        try:
            new.parent.mkdir(parents=True, exist_ok=True)
            with new.open("wb") as file:
                file.write(MAGIC + self._key + bytes(_SIZE))
                hashed = _Hashed(file)
                _Pickler(hashed, self._given).dump(state)
                file.seek(len(MAGIC) + _SIZE)
                file.write(hashed.digest())
            os.replace(new, self._path)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            logger.warning("%s cannot be written (%s): the next crawl reads its pages again", self._path, error)

    def load(self) -> Any | None:
        """The state as saved; None where there is none that can be used."""
        try:
            with self._path.open("rb") as file:
                head = file.read(len(MAGIC) + 2 * _SIZE)
                if head[:-_SIZE] != MAGIC + self._key or hashlib.file_digest(file, HASH).digest() != head[-_SIZE:]:
                    return None
                file.seek(len(head))
                return _Unpickler(file, self._given).load()
        except FileNotFoundError:
            return None
        except _UNREADABLE as error:
            logger.warning("%s cannot be read (%s): pages are read again", self._path, error)
            return None

    def discard(self) -> None:
        """The state is no longer that of the pages."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


@cache
def code_version() -> str:
    """A digest of the code and data that make a state of pages, and of the libraries whose arrays are in it."""
    versions = (sys.version, numpy.__version__, scipy.__version__, sklearn.__version__)
    found = hashlib.new(HASH, repr(versions).encode())
    folders = (_ROOT / "focused", _ROOT / "text")
    files = sorted(path for folder in folders for path in folder.rglob("*") if "__pycache__" not in path.parts)
    for path in (*files, _ROOT / "crawler" / "guide.py"):
        if path.is_file():
            found.update(path.name.encode() + hashlib.new(HASH, path.read_bytes()).digest())
    return found.hexdigest()


class _Hashed:
    """A file that is written, and the digest of what was."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.new(HASH)

    def write(self, data: Any) -> int:
        self._hash.update(data)
        return self._file.write(data)

    def digest(self) -> bytes:
        return self._hash.digest()


class _Pickler(pickle.Pickler):
    def __init__(self, file: Any, given: Sequence[object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._numbers = {id(one): number for number, one in enumerate(given) if one is not None}

    def persistent_id(self, obj: object) -> int | None:
        """The place of an object among those given."""
        return self._numbers.get(id(obj))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, given: Sequence[object]) -> None:
        super().__init__(file)
        self._given = given

    def persistent_load(self, pid: Any) -> object:
        """The object given at a place."""
        return self._given[pid]

    def find_class(self, module: str, name: str) -> Any:
        """A class of data; UnpicklingError for whatever else a pickle may name."""
        if (module, name) in _DATA:
            return super().find_class(module, name)
        if module.startswith(_OURS) and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} has no place in it")
