"""WARC files in an object store, beside a folder of this machine in which they are written.

    written      folder/NAME, by one process, which holds a lock on it; NAME says which machine that is
    uploaded     when it is closed: URL/NAME, then the file here goes; what a killed process or a store that did not
                 answer has left is uploaded by the next one
    read         from the folder while it is here, else by range from the object store

A row of the database names the file from the beginning, so it need not change: whoever does not find it in either
place knows by its name on which machine it is still (`PageElsewhereError`).

Keys and endpoint are those of the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL ...).
"""

import fcntl
import logging
import re
import socket
from pathlib import Path
from typing import Any

from docstore.errors import StoreError

log = logging.getLogger(__name__)

PART = 1 << 20  # bytes that are read at once: pages that follow each other are mostly asked for in that order
MAX_NAME = 40  # characters of a machine's name in the name of a file
_MACHINE = re.compile(r"plumbline-[0-9]+-(?P<machine>.+)-[0-9]+-[0-9a-f]{6}-[0-9]{5}\.warc\.gz")


def this_machine() -> str:
    """The name of this machine as the name of a file can hold it."""
    return re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:MAX_NAME] or "machine"


def machine_of(name: str) -> str:
    """The machine that wrote a WARC file; "" where its name does not say."""
    found = _MACHINE.fullmatch(name)
    return found["machine"] if found else ""


class RemotePages:
    """The object store at `url`, as `s3://bucket/prefix`, or another that fsspec knows.

    Every method raises StoreError where it does not answer.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._files: Any = None
        self._root = ""
        self._part: tuple[str, int, bytes] = ("", 0, b"")

    def read(self, name: str, offset: int, length: int) -> bytes:
        """So many bytes of a file, fewer at its end. FileNotFoundError where there is no such file."""
        known, start, data = self._part
        if known != name or not start <= offset <= offset + length <= start + len(data):
            start, data = offset, self._fetch(name, offset, offset + max(length, PART))
            self._part = (name, start, data)
        return data[offset - start : offset - start + length]

    def sizes(self) -> dict[str, int]:
        """The files there are, with their bytes."""
        try:
            files = self._open()
            files.invalidate_cache()
            listed = files.ls(self._root, detail=True)
        except FileNotFoundError:
            return {}
        except Exception as error:
            raise self._fault(error) from error
        return {Path(one["name"]).name: int(one["size"]) for one in listed if one["type"] == "file"}

    def upload_left(self, folder: Path) -> int:
        """Upload every WARC file of `folder` that nobody writes, and delete it here once it is there whole; returns how
        many stay."""
        left, files = 0, sorted(folder.glob("*.warc.gz"))
        for number, file in enumerate(files):
            try:
                left += not self._upload(file)
            except StoreError as error:
                left += len(files) - number
                log.warning("%d WARC files stay on this machine until the next crawl: %s", left, error)
                break
        return left

    def _upload(self, file: Path) -> bool:
        """Whether it went. A file that is being written has its writer's lock."""
        try:
            with file.open("rb") as held:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._put(file)
                file.unlink()
        except FileNotFoundError:  # another process was faster
            return True
        except BlockingIOError:
            return False
        except OSError as error:
            raise StoreError(f"cannot read {file}: {error.strerror}") from error
        return True

    def _put(self, file: Path) -> None:
        try:
            files, target = self._open(), f"{self._root}/{file.name}"
            files.put_file(str(file), target)
            files.invalidate_cache()
            there = int(files.info(target)["size"])
        except Exception as error:
            raise self._fault(error) from error
        if there != file.stat().st_size:
            raise StoreError(f"{self.url}/{file.name} has {there} bytes, {file} has {file.stat().st_size}")

    def _fetch(self, name: str, start: int, end: int) -> bytes:
        try:
            return bytes(self._open().cat_file(f"{self._root}/{name}", start=start, end=end))
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._fault(error) from error

    def _open(self) -> Any:
        """The file system; made when it is first needed, in the process that needs it."""
        if self._files is None:
            import fsspec

            self._files, root = fsspec.core.url_to_fs(self.url, skip_instance_cache=True)
            self._root = str(root).rstrip("/")
        return self._files

    def _fault(self, error: Exception) -> StoreError:
        if isinstance(error, ImportError):
            return StoreError(f"{self.url} needs more packages: pip install 'plumbline[cluster]'")
        why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return StoreError(
            f"the object store {self.url} does not answer ({why}): see that it runs, that AWS_ENDPOINT_URL and the "
            "keys in the environment are right, then run the same command again"
        )
