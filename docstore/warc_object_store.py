"""WARC files in an object store, beside a folder of this machine in which they are written.

    written      folder/NAME, by one process, which holds a lock on it; NAME says which machine that is
    uploaded     when it is closed: URL/NAME, then the file here goes; what a killed process or a store that did not
                 answer has left is uploaded by the next one
    read         from the folder while it is here, else by range from the object store

A row of the database names the file from the beginning, so it need not change: whoever does not find it in either
place knows by its name on which machine it is still (`WarcRecordNotUploadedError`).

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

READ_AHEAD_BYTES = (
    1 << 20
)  # bytes that are read at once: pages that follow each other are mostly asked for in that order
MAX_MACHINE_NAME_CHARS = 40  # characters of a machine's name in the name of a file
_WARC_FILE_NAME = re.compile(r"plumbline-[0-9]+-(?P<machine>.+)-[0-9]+-[0-9a-f]{6}-[0-9]{5}\.warc\.gz")


def machine_name() -> str:
    """The name of this machine as the name of a file can hold it."""
    return re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:MAX_MACHINE_NAME_CHARS] or "machine"


def machine_from_file_name(name: str) -> str:
    """The machine that wrote a WARC file; "" where its name does not say."""
    match = _WARC_FILE_NAME.fullmatch(name)
    return match["machine"] if match else ""


class WarcObjectStore:
    """The object store at `url`, as `s3://bucket/prefix`, or another that fsspec knows.

    Every method raises StoreError where it does not answer.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._filesystem: Any = None
        self._root = ""
        self._read_ahead: tuple[str, int, bytes] = ("", 0, b"")

    def read(self, name: str, offset: int, length: int) -> bytes:
        """So many bytes of a file, fewer at its end. FileNotFoundError where there is no such file."""
        cached_name, start, data = self._read_ahead
        if cached_name != name or not start <= offset <= offset + length <= start + len(data):
            start, data = offset, self._read_range(name, offset, offset + max(length, READ_AHEAD_BYTES))
            self._read_ahead = (name, start, data)
        return data[offset - start : offset - start + length]

    def file_sizes(self) -> dict[str, int]:
        """The files there are, with their bytes."""
        try:
            filesystem = self._open_filesystem()
            filesystem.invalidate_cache()
            entries = filesystem.ls(self._root, detail=True)
        except FileNotFoundError:
            return {}
        except Exception as error:
            raise self._to_store_error(error) from error
        return {Path(entry["name"]).name: int(entry["size"]) for entry in entries if entry["type"] == "file"}

    def upload_closed_files(self, folder: Path) -> int:
        """Upload every WARC file of `folder` that nobody writes, and delete it here once it is there whole; returns how
        many stay."""
        remaining, paths = 0, sorted(folder.glob("*.warc.gz"))
        for position, file in enumerate(paths):
            try:
                remaining += not self._upload_unless_locked(file)
            except StoreError as error:
                remaining += len(paths) - position
                log.warning("%d WARC files stay on this machine until the next crawl: %s", remaining, error)
                break
        return remaining

    def _upload_unless_locked(self, file: Path) -> bool:
        """Whether it went. A file that is being written has its writer's lock."""
        try:
            with file.open("rb") as locked_file:
                fcntl.flock(locked_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._upload_and_verify(file)
                file.unlink()
        except FileNotFoundError:  # another process was faster
            return True
        except BlockingIOError:
            return False
        except OSError as error:
            raise StoreError(f"cannot read {file}: {error.strerror}") from error
        return True

    def _upload_and_verify(self, file: Path) -> None:
        try:
            filesystem, target = self._open_filesystem(), f"{self._root}/{file.name}"
            filesystem.put_file(str(file), target)
            filesystem.invalidate_cache()
            uploaded_size = int(filesystem.info(target)["size"])
        except Exception as error:
            raise self._to_store_error(error) from error
        if uploaded_size != file.stat().st_size:
            raise StoreError(f"{self.url}/{file.name} has {uploaded_size} bytes, {file} has {file.stat().st_size}")

    def _read_range(self, name: str, start: int, end: int) -> bytes:
        try:
            return bytes(self._open_filesystem().cat_file(f"{self._root}/{name}", start=start, end=end))
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._to_store_error(error) from error

    def _open_filesystem(self) -> Any:
        """The file system; made when it is first needed, in the process that needs it."""
        if self._filesystem is None:
            import fsspec

            self._filesystem, root = fsspec.core.url_to_fs(self.url, skip_instance_cache=True)
            self._root = str(root).rstrip("/")
        return self._filesystem

    def _to_store_error(self, error: Exception) -> StoreError:
        if isinstance(error, ImportError):
            return StoreError(f"{self.url} needs more packages: pip install 'plumbline[cluster]'")
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return StoreError(
            f"the object store {self.url} does not answer ({reason}): see that it runs, that AWS_ENDPOINT_URL and the "
            "keys in the environment are right, then run the same command again"
        )
