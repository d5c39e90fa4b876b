"""WARC files in an object store, in addition to a local folder in which they are written.

    write     folder/NAME, by one process, which locks the file; NAME contains the name of the machine
    upload    after closing: to URL/NAME, then the local file is deleted; files that remain after a crash or a failed
              upload are uploaded next time
    read      from the local folder if the file exists there, otherwise a byte range from the object store

The database stores NAME from the beginning, so its rows do not change on upload. If a file is in neither place, its
name tells on which machine it still is (`WarcRecordNotUploadedError`).

Keys and endpoint come from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL ...).
"""

import fcntl
import logging
import re
import socket
from pathlib import Path
from typing import Any

from domain.errors import StoreError

log = logging.getLogger(__name__)

READ_AHEAD_BYTES = 1 << 20  # consecutive pages are mostly read in order
MAX_MACHINE_NAME_CHARS = 40  # part of the machine's name that file names contain
_WARC_FILE_NAME = re.compile(r"plumbline-[0-9]+-(?P<machine>.+)-[0-9]+-[0-9a-f]{6}-[0-9]{5}\.warc\.gz")


def machine_name() -> str:
    """Return the name of this machine, restricted to characters that file names may contain."""
    return re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:MAX_MACHINE_NAME_CHARS] or "machine"


def machine_from_file_name(name: str) -> str:
    """Return the name of the machine that wrote a WARC file; "" if the file name does not contain it."""
    match = _WARC_FILE_NAME.fullmatch(name)
    return match["machine"] if match else ""


class WarcObjectStore:
    """The object store at `url`: `s3://bucket/prefix`, or any other URL that fsspec supports.

    Raises:
        StoreError: Raised by every method if the object store is not responding.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._filesystem: Any = None
        self._root = ""
        self._read_ahead: tuple[str, int, bytes] = ("", 0, b"")

    def read(self, name: str, offset: int, length: int) -> bytes:
        """Return up to `length` bytes of a file from `offset`; fewer at the end of the file.

        Raises:
            FileNotFoundError: The file does not exist in the object store.
        """
        cached_name, start, data = self._read_ahead
        if cached_name != name or not start <= offset <= offset + length <= start + len(data):
            start, data = offset, self._read_range(name, offset, offset + max(length, READ_AHEAD_BYTES))
            self._read_ahead = (name, start, data)
        return data[offset - start : offset - start + length]

    def file_sizes(self) -> dict[str, int]:
        """Return the size in bytes of each file, by file name."""
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
        """Upload every WARC file of `folder` that no process writes, and delete it locally after its size was verified.

        Returns the number of files that remain in the folder.
        """
        remaining, paths = 0, sorted(folder.glob("*.warc.gz"))
        for position, file in enumerate(paths):
            try:
                remaining += not self._upload_unless_locked(file)
            except StoreError as error:
                remaining += len(paths) - position
                log.warning("%d WARC files not uploaded; the next crawl tries again: %s", remaining, error)
                break
        return remaining

    def _upload_unless_locked(self, file: Path) -> bool:
        """Upload a file unless its writer has it locked. Returns True if the file was uploaded."""
        try:
            with file.open("rb") as locked_file:
                fcntl.flock(locked_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._upload_and_verify(file)
                file.unlink()
        except FileNotFoundError:  # another process uploaded it
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
            raise StoreError(
                f"the upload of {file} is incomplete: {uploaded_size} of {file.stat().st_size} bytes are at {self.url}"
            )

    def _read_range(self, name: str, start: int, end: int) -> bytes:
        try:
            return bytes(self._open_filesystem().cat_file(f"{self._root}/{name}", start=start, end=end))
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._to_store_error(error) from error

    def _open_filesystem(self) -> Any:
        """Return the fsspec file system; created on first use, in the process that uses it."""
        if self._filesystem is None:
            import fsspec

            self._filesystem, root = fsspec.core.url_to_fs(self.url, skip_instance_cache=True)
            self._root = str(root).rstrip("/")
        return self._filesystem

    def _to_store_error(self, error: Exception) -> StoreError:
        if isinstance(error, ImportError):
            return StoreError(f"{self.url} needs more packages: pip install 'plumbline-search[s3]'")
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return StoreError(
            f"the object store {self.url} is not responding ({reason}): check that it runs and that AWS_ENDPOINT_URL "
            "and the keys in the environment are correct, then run the same command again"
        )
